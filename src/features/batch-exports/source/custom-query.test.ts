// `hogql_query`: what is accepted, its normal form and schema, and the columns that come of it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiError } from '../../../platform/http/errors.ts'
import { readCustomQuery } from './custom-query.ts'
import { NOW, openSource, PROJECT, select, type Asked, type OpenedSource } from './fixture/store.ts'

const readQuery = (text: string) => readCustomQuery(text, PROJECT, NOW)

describe('the normal form', () => {
  it.each([
    ['select event from events', 'SELECT event AS event FROM events'],
    ['SELECT\n  event AS name ,\tuuid\nFROM events;', 'SELECT event AS name, uuid AS uuid FROM events'],
    ['select properties.$browser from events', 'SELECT properties.$browser AS $browser FROM events'],
    ['select person.properties.a.b from events', 'SELECT person.properties.a.b AS b FROM events'],
    [
      "select properties['a b'], set from events",
      "SELECT properties['a b'] AS `a b`, set AS set FROM events",
    ],
    [
      'select toString(uuid) as uuid, event from events',
      'SELECT toString(uuid) AS uuid, event AS event FROM events',
    ],
    [
      'select lower(assumeNotNull(toUUID(e.uuid))) as UUID from events e',
      'SELECT lower(assumeNotNull(toUUID(e.uuid))) AS UUID FROM events AS e',
    ],
    ['select e.event from events e', 'SELECT e.event AS event FROM events AS e'],
    ['select team_id from events', 'SELECT `team_id` AS `team_id` FROM events'],
    ['select 1+1 from events', 'SELECT 1 + 1 AS `1 + 1` FROM events'],
    [
      "select lower(event) as e from events where e != 'a\nb' and timestamp > now()",
      "SELECT lower(event) AS e FROM events WHERE e != 'a\\nb' AND timestamp > now()",
    ],
    [
      'select *, _inserted_at from events',
      'SELECT uuid AS uuid, event AS event, timestamp AS timestamp, created_at AS created_at, distinct_id AS distinct_id,' +
        ' person_id AS person_id, `team_id` AS `team_id`, elements_chain AS elements_chain, properties AS properties,' +
        ' person_properties AS person_properties, _inserted_at AS _inserted_at FROM events',
    ],
  ])('%s', (text, normal) => {
    const { hogql_query, schema } = readQuery(text)
    expect(hogql_query).toBe(text)
    expect(schema.hogql_query).toBe(normal)
    expect(readQuery(normal)).toEqual({ hogql_query: normal, schema })
  })

  it('keeps literals out of the expressions of the schema', () => {
    const { schema } = readQuery(
      "select event, if(event = 'it''s', 1.5, null) as x, true from events where event = 'w'",
    )
    expect(schema.fields).toEqual([
      { expression: 'event', alias: 'event' },
      { expression: 'if(event = {hogql_val_0}, {hogql_val_1}, {hogql_val_2})', alias: 'x' },
      { expression: '{hogql_val_3}', alias: 'true' },
    ])
    expect(schema.values).toEqual({
      hogql_val_0: "it's",
      hogql_val_1: 1.5,
      hogql_val_2: null,
      hogql_val_3: true,
    })
  })
})

describe('refused', () => {
  it.each([
    ['', 'hogql_syntax_error', ''],
    ['SELECT event AS uuid FROM events', 'hogql_query_error', 'own uuid'],
    ['SELECT toString(event) AS uuid FROM events', 'hogql_query_error', 'own uuid'],
    ['SELECT upper(toString(uuid)) AS uuid FROM events', 'hogql_query_error', 'not in capitals'],
    ['SELECT substring(toString(uuid), 1, 4) AS uuid FROM events', 'hogql_query_error', 'own uuid'],
    ['SELECT lower(properties.uuid) AS UUID FROM events', 'hogql_query_error', 'own uuid'],
    ['SELECT', 'hogql_syntax_error', ''],
    ['SELECT event,, FROM events', 'hogql_syntax_error', ''],
    ['SELECT event', 'hogql_query_error', 'FROM events'],
    [
      'SELECT evnt FROM events',
      'hogql_query_error',
      "Unknown field 'evnt' (at character 8). Did you mean 'event'?",
    ],
    ['SELECT person.id FROM events', 'hogql_query_error', "Unknown field 'person.id'"],
    ['SELECT person FROM events', 'hogql_query_error', "Unknown field 'person'"],
    ['SELECT $session_id FROM events', 'hogql_query_error', "Unknown field '$session_id'"],
    ['SELECT foo(event) FROM events', 'hogql_query_error', "Unknown function 'foo'"],
    ['SELECT toInt32(1) AS x FROM events', 'hogql_query_error', "Unknown function 'toInt32'"],
    ["SELECT event FROM events WHERE toUInt8OrNull('1') = 1", 'hogql_query_error', 'Unknown function'],
    ['SELECT id FROM persons', 'hogql_query_error', 'only be given for the model events'],
    ['SELECT 1 FROM exported_events', 'hogql_query_error', 'only be given for the model events'],
    [
      'SELECT event FROM (SELECT event FROM events)',
      'hogql_query_error',
      'only be given for the model events',
    ],
    ['SELECT event FROM events JOIN persons p ON 1 = 1', 'hogql_query_error', 'no JOIN'],
    ['SELECT event FROM events, events e', 'hogql_query_error', 'no JOIN'],
    ['SELECT event FROM events UNION ALL SELECT event FROM events', 'hogql_query_error', 'one SELECT'],
    ['WITH x AS (SELECT 1) SELECT event FROM events', 'hogql_query_error', 'WITH cannot'],
    ['WITH 1 AS x SELECT x FROM events', 'hogql_query_error', 'WITH cannot'],
    ['SELECT (SELECT 1) AS x FROM events', 'hogql_query_error', 'A subquery cannot stand here'],
    ['SELECT event FROM events WHERE event IN (SELECT event FROM events)', 'hogql_query_error', 'A subquery'],
    ['SELECT DISTINCT event FROM events', 'hogql_query_error', 'DISTINCT cannot'],
    ['SELECT event FROM events GROUP BY event', 'hogql_query_error', 'GROUP BY cannot'],
    ['SELECT event FROM events GROUP BY ALL', 'hogql_query_error', 'GROUP BY cannot'],
    ['SELECT 1 AS x FROM events HAVING 1 = 1', 'hogql_query_error', 'HAVING cannot'],
    ['SELECT event FROM events ORDER BY event', 'hogql_query_error', 'ORDER BY cannot'],
    ['SELECT event FROM events LIMIT 5', 'hogql_query_error', 'LIMIT cannot'],
    ['SELECT event FROM events LIMIT 5 BY event', 'hogql_query_error', 'LIMIT BY cannot'],
    ['SELECT event FROM events QUALIFY 1', 'hogql_query_error', 'QUALIFY cannot'],
    ['SELECT event FROM events SAMPLE 0.1', 'hogql_query_error', 'SAMPLE cannot'],
    ['SELECT 1 AS x FROM events(1)', 'hogql_query_error', 'only be given for the model events'],
    ['SELECT x FROM events ARRAY JOIN [1, 2] AS x', 'hogql_query_error', 'ARRAY JOIN cannot'],
    ['SELECT arrayJoin([1, 2]) AS x FROM events', 'hogql_query_error', 'several rows of one'],
    ['SELECT count() FROM events', 'hogql_query_error', "The aggregate 'count' cannot stand here"],
    ['SELECT 1 + countIf(event = 1) AS x FROM events', 'hogql_query_error', "The aggregate 'countIf'"],
    ['SELECT row_number() OVER () AS x FROM events', 'hogql_query_error', 'A window function'],
    ['SELECT generateUUIDv4() AS x FROM events', 'hogql_query_error', 'something else every time'],
    ['SELECT {x} AS x FROM events', 'hogql_query_error', 'Nothing was given for the placeholder'],
    ['SELECT event, event FROM events', 'hogql_query_error', "There are two columns 'event'"],
    ['SELECT event, properties.Event FROM events', 'hogql_query_error', "There are two columns 'Event'"],
    ['SELECT *, uuid FROM events', 'hogql_query_error', "There are two columns 'uuid'"],
    ['SELECT x.* FROM events', 'hogql_query_error', "'x.*' stands for no columns"],
    ['SELECT event AS `team_id` FROM events', 'hogql_query_error', "'team_id' cannot be used as a name"],
    [
      'SELECT properties.event, lower(event) FROM events',
      'hogql_query_error',
      "'event' is also a field here",
    ],
    [
      "SELECT properties.event FROM events WHERE event = 'a'",
      'hogql_query_error',
      "'event' is also a field here",
    ],
    ['SELECT event AS `a\nb` FROM events', 'hogql_query_error', 'no control characters'],
    [`SELECT event AS ${'x'.repeat(301)} FROM events`, 'hogql_query_error', '1 to 300 characters'],
    [
      `SELECT ${Array.from({ length: 499 }, (_, at) => `1 AS x${at}`).join(', ')} FROM events`,
      'hogql_query_error',
      'at most 500',
    ],
    [`SELECT ${'*'.repeat(70_000)} FROM events`, 'hogql_syntax_error', ''],
  ])('%s', (text, code, message) => {
    let fault: unknown
    try {
      readQuery(text)
    } catch (error) {
      fault = error
    }
    expect(fault).toBeInstanceOf(ApiError)
    expect(fault).toMatchObject({ status: 400, attr: 'hogql_query', code })
    expect((fault as ApiError).message).toContain(message)
  })

  it('what grows beyond the length of a query in its normal form', () => {
    const columns = Array.from({ length: 400 }, (_, at) => `lower('${'x'.repeat(90)}${at}')`)
    expect(() => readQuery(`SELECT ${columns.join(',')} FROM events`)).toThrow(/longer/)
  })
})

describe('rows', () => {
  let source: OpenedSource
  const UUID = '01890000-0000-7000-8000-000000000001'

  beforeAll(async () => {
    source = await openSource()
    await source.write([
      {
        uuid: UUID,
        event: 'Buy',
        timestamp: '2026-03-01T23:30:00Z',
        person_id: UUID,
        person_properties: '{"plan":"free"}',
        properties: {
          n: 2,
          long: 'é'.repeat(40_000),
          $browser: 'Chrome',
          list: [1, 2],
          $set: { a: 1 },
          timestamp: 'own',
        },
      },
      { event: 'other', properties: { n: 'x' }, person_properties: '{}' },
    ])
  })
  afterAll(() => source.close())

  const asking = (text: string, more: Asked = {}): Asked => ({
    ...more,
    definition: { ...more.definition, hogql_query: readQuery(text).schema.hogql_query },
  })

  it.each<[string, string, unknown]>([
    ['event', 'text', 'Buy'],
    ['uuid', 'text', UUID],
    ['person_id', 'text', UUID],
    ['properties.$browser', 'text', 'Chrome'],
    ['person.properties.plan', 'text', 'free'],
    ['person_properties.plan', 'text', 'free'],
    ['properties.missing', 'text', null],
    ['null', 'text', null],
    ['interval 1 day', 'text', '1 day'],
    ['person_properties', 'json', '{"plan":"free"}'],
    ['set', 'json', '{"a":1}'],
    ['set.a', 'text', '1'],
    ['set_once', 'json', null],
    ['[1, 2]', 'json', '[1,2]'],
    ['[1 / 0, 0.5]', 'json', '[null,0.5]'],
    ['[(1, 1 / 0, [event])]', 'json', '[[1,null,["Buy"]]]'],
    ['properties.list', 'text', '[1,2]'],
    ["('a', properties.n, [event])", 'json', '["a","2",["Buy"]]'],
    ['seq', 'integer', 1],
    ['team_id', 'integer', 7],
    ['toInt(properties.n) * 2', 'integer', 4],
    ['12345678901234567890123456789012345678', 'integer', null],
    ['toFloat(properties.n) / 4', 'float', 0.5],
    ['1 / 0', 'float', null],
    ["event = 'Buy'", 'boolean', true],
    ['timestamp', 'timestamp', '2026-03-01T23:30:00Z'],
    ["toDateTime('infinity')", 'timestamp', null],
    ['now()', 'timestamp', '2026-03-02T00:00:00Z'],
    ['toDate(timestamp)', 'timestamp', '2026-03-01T00:00:00Z'],
  ])('%s is %s', async (expression, kind, value) => {
    const asked = asking(`select ${expression} as x from events where event = 'Buy'`)
    expect(select(asked).columns).toEqual([{ name: 'x', kind }])
    expect(await source.read(asked)).toEqual([{ x: value }])
  })

  it('the condition chooses rows, by aliases too, within the bounds', async () => {
    expect(await source.read(asking('select lower(event) as event from events'))).toEqual([
      { event: 'buy' },
      { event: 'other' },
    ])
    expect(await source.read(asking("select lower(event) as e from events where e = 'buy'"))).toEqual([
      { e: 'buy' },
    ])
    const empty = asking("select event from events where event = 'Buy' or 1 = 1", { bounds: { seq_from: 5 } })
    expect(await source.read(empty)).toEqual([])
  })

  it('the uuid may be written as text, and its condition too', async () => {
    const query = `select toString(uuid) as uuid from events where uuid = '${UUID}'`
    expect(await source.read(asking(query))).toEqual([{ uuid: UUID }])
  })

  it('a property may be called like a field', async () => {
    expect(await source.read(asking('select event, properties.timestamp from events'))).toEqual([
      { event: 'Buy', timestamp: 'own' },
      { event: 'other', timestamp: null },
    ])
  })

  it("follows the project's zone", async () => {
    const asked = asking(
      "select toDate(timestamp) as day, toString(timestamp) as t from events where event = 'Buy'",
    )
    expect(await source.read({ ...asked, timezone: 'Europe/Berlin' })).toEqual([
      { day: '2026-03-02T00:00:00Z', t: '2026-03-02 00:30:00' },
    ])
  })

  it.each<[string, Asked, string | undefined, string, unknown]>([
    ['text', {}, undefined, 'json', '"Buy"'],
    ['Postgres', { set: 'postgres' }, undefined, 'json', '"Buy"'],
    ['Redshift', { set: 'redshift' }, 'VARCHAR(65535)', 'text', '"Buy"'],
    [
      'Redshift',
      { set: 'redshift', definition: { config: { properties_data_type: 'super' } } },
      'SUPER',
      'json',
      '"Buy"',
    ],
    ['BigQuery', { set: 'bigquery' }, 'STRING', 'text', '"Buy"'],
  ])('text called properties is JSON: %s', async (_name, more, type, kind, value) => {
    const asked = asking("select event as properties from events where event = 'Buy'", more)
    expect(select(asked).columns[0]).toMatchObject({ kind, ...(type ? { type } : {}) })
    expect(await source.read(asked)).toEqual([{ properties: value }])
  })

  it('Redshift: any text is cut to what its longest type takes', async () => {
    const asked = asking("select properties.long as t, event from events where event = 'Buy'", {
      set: 'redshift',
    })
    expect(select(asked).columns).toEqual([
      { name: 't', kind: 'text', type: 'VARCHAR(65535)', max_characters: 65_535 },
      { name: 'event', kind: 'text', type: 'VARCHAR(65535)', max_characters: 65_535 },
    ])
    const [row] = await source.read(asked)
    expect(Buffer.byteLength(String(row!.t))).toBe(65_534)
    expect(await source.warning(asked)).toContain(`1 row (t VARCHAR(65535)), the first with the uuid ${UUID}`)
  })
})
