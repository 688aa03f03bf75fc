// What a query means when it is for an export: one table, persons as stored, and a condition that no name can escape.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Expr } from './ast.ts'
import { compileQuery } from './compile.ts'
import { HogqlError } from './errors.ts'
import { PROJECT } from './fixture/rows.ts'
import { NOW, openFixture, STORED_PERSON } from './fixture/store.ts'
import { parseExpression, parseSelect } from './parser.ts'
import { assertPerRow } from './per-row.ts'

const compile = (hogql: string, where = 'true', engine: 'duckdb' | 'clickhouse' = 'duckdb') =>
  compileQuery(
    parseSelect(hogql),
    {
      project_id: PROJECT,
      timezone: 'UTC',
      now: NOW,
      placeholders: new Map(),
      exported: { where: parseExpression(where) },
    },
    engine,
  )

describe('SQL', () => {
  it.each([
    [
      'select person_id, person_properties, person.properties.a, team_id from events',
      `SELECT t1.person_id AS c1, t1.person_properties AS c2, json_extract_string(t1.person_properties, $1::VARCHAR) AS c3, $2::BIGINT AS c4 FROM ev_${PROJECT} AS t1 WHERE (t1.seq > $3::BIGINT)`,
    ],
    [
      'select seq, _inserted_at, properties.$ip from events',
      `SELECT t1.seq AS c1, t1.inserted_at AS c2, t1.p_ip AS c3 FROM ev_${PROJECT} AS t1 WHERE (t1.seq > $1::BIGINT)`,
    ],
    [
      "select event as seq from events e where seq = 'a'",
      `SELECT t1.event AS c1 FROM ev_${PROJECT} AS t1 WHERE (t1.seq > $1::BIGINT) AND (t1.event = $2::VARCHAR)`,
    ],
    [
      'select n from (select length(event) as n, seq from events) where n in (select 1)',
      `SELECT t1.c1 AS c4 FROM (SELECT strlen(t2.event) AS c1, t2.seq AS c2 FROM ev_${PROJECT} AS t2 WHERE (t2.seq > $1::BIGINT)) AS t1 WHERE (t1.c1 IN (SELECT q1.c3 FROM (SELECT $2::BIGINT AS c3) AS q1))`,
    ],
  ])('%s', (hogql, sql) => {
    expect(compile(hogql, 'seq > 3').sql).toBe(sql)
  })

  it('reads the same in the other engine', () => {
    const { sql } = compile('select person_id, set from events', 'events.seq > 3', 'clickhouse')
    expect(sql).toContain('SELECT t1.person_id AS c1')
    expect(sql).toContain(`JSONExtractRaw(t1.properties`)
    expect(sql).toContain('WHERE (t1.seq > {p')
    expect(sql).not.toContain('JOIN')
  })

  it('tells the columns with their types', () => {
    const { outputs } = compile("select event, set, [1], timestamp, event = 'a' from events")
    expect(outputs).toMatchObject([
      { column: 'c1', type: { kind: 'text' } },
      { column: 'c2', type: { kind: 'json' } },
      { column: 'c3', type: { kind: 'array', item: { kind: 'integer' } } },
      { column: 'c4', type: { kind: 'datetime' } },
      { column: 'c5', type: { kind: 'boolean' } },
    ])
  })
})

describe('faults', () => {
  it.each([
    ['select id from persons', "Unknown table 'persons'"],
    ['select session_id from sessions', "Unknown table 'sessions'"],
    ['select 1 from exported_events', "Unknown table 'exported_events'"],
    ['select person.id from events', "Unknown field 'person.id'"],
    ['select $session_id from events', "Unknown field '$session_id'"],
    ['select event as `team_id` from events', "'team_id' cannot be used as a name"],
    ['select properties.team_id as `team_id` from events', "'team_id' cannot be used as a name"],
  ])('%s', (hogql, message) => {
    expect(() => compile(hogql)).toThrow(message)
  })

  it('exports have their own fields, other queries do not', () => {
    const plain = { project_id: PROJECT, timezone: 'UTC', now: NOW, placeholders: new Map<string, Expr>() }
    for (const name of ['seq', 'team_id', '_inserted_at', 'set', 'set_once', 'person_properties']) {
      expect(() => compile(`select ${name} from events`)).not.toThrow()
      const query = parseSelect(`select ${name} from events`)
      expect(() => compileQuery(query, plain, 'duckdb')).toThrow(`Unknown field '${name}'`)
    }
    expect(() => compileQuery(parseSelect('select 1 from exported_events'), plain, 'duckdb')).toThrow(
      'Unknown table',
    )
  })

  it('does not suggest the name that is not there', () => {
    expect(() => compile('select evnt as evnt from events')).toThrow(
      "Unknown field 'evnt'. Did you mean 'event'?",
    )
  })
})

describe('persons', () => {
  let fixture: Awaited<ReturnType<typeof openFixture>>
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  const QUERY = `select person_id, person.properties.plan from events where event = 'signup'`

  it('are those of the event in exports, those of today elsewhere', async () => {
    expect(await fixture.run(compile(QUERY))).toEqual([[STORED_PERSON.id, STORED_PERSON.properties.plan]])
    const today = await fixture.ask(QUERY)
    expect(today).toHaveLength(1)
    expect(today[0]).not.toContain(STORED_PERSON.id)
    expect(today[0]).not.toContain(STORED_PERSON.properties.plan)
  })
})

describe('one value for each row', () => {
  it.each(['event', "lower(event) = 'a' and properties.n > 5", 'arrayMap(x -> x + 1, [1])', 'now()'])(
    '%s',
    (text) => {
      expect(() => assertPerRow(parseExpression(text))).not.toThrow()
    },
  )

  it.each([
    'count()',
    '1 + sumIf(1, true)',
    'arrayMap(x -> max(x), [1])',
    'rank() over ()',
    '(select 1)',
    'event in (select 1 union all select 2)',
    'arrayJoin([1])',
    'if(true, rand(), 1)',
    'generateUUIDv4()',
    'cast(avg(1) as text)',
    '[count()][1]',
    '(1, count()).2',
  ])('not %s', (text) => {
    expect(() => assertPerRow(parseExpression(text))).toThrow(HogqlError)
  })
})
