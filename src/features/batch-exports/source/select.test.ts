// Which events belong to a run: positions or times, names, filters. And what becomes of texts that are too long.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Area } from '../../../platform/event-store/export-rows.ts'
import { Refused } from '../destinations/destination.ts'
import { cutWarning } from './cut-warning.ts'
import { DAY, openSource, select, type Asked, type OpenedSource } from './fixture/store.ts'

let source: OpenedSource

beforeAll(async () => {
  source = await openSource()
  // Positions 1 to 3 arrive first; `late` tells of a time long before.
  await source.write([
    { event: 'first', timestamp: '2026-03-01T00:00:00Z', properties: { plan: 'pro', n: 5 } },
    { event: 'second', timestamp: '2026-03-01T23:59:59.999999Z', properties: { plan: 'free' } },
    {
      event: 'ahead',
      timestamp: '2026-03-02T00:00:00Z',
      person_properties: '{"email":"ann@example.com"}',
      properties: { n: 7 },
    },
  ])
  await source.write([
    { event: 'late', timestamp: '2020-01-01T00:00:00Z' },
    { event: 'Second', timestamp: '2026-03-01T12:00:00Z', has_person: false },
  ])
})
afterAll(() => source.close())

async function names(asked: Asked): Promise<unknown[]> {
  return (await source.read(asked)).map(({ event }) => event)
}

const timestamp = (start: Date | null, end: Date, seq_to = 1000): Asked => ({
  bounds: { selection: 'timestamp', interval: { start, end }, seq_from: 0, seq_to },
})

const area = (seq_from: number, seq_to: number, time_from: Date | null, time_to: Date | null): Area => ({
  seq_from,
  seq_to,
  time_from,
  time_to,
})

describe('bounds', () => {
  it.each<[string, Asked, string[]]>([
    ['all positions', {}, ['first', 'second', 'ahead', 'late', 'Second']],
    [
      'after the first bound, up to and with the last',
      { bounds: { seq_from: 1, seq_to: 4 } },
      ['second', 'ahead', 'late'],
    ],
    ['no positions', { bounds: { seq_from: 2, seq_to: 2 } }, []],
    ['a day by time, however it arrived', timestamp(DAY.start, DAY.end), ['first', 'second', 'Second']],
    ['up to a position', timestamp(DAY.start, DAY.end, 4), ['first', 'second']],
    ['from the beginning of time', timestamp(null, DAY.end), ['first', 'second', 'late', 'Second']],
    ['of nothing that was claimed, nothing', { bounds: { areas: [] } }, []],
    [
      'of several areas, what lies in any of them, whatever the positions around them are',
      {
        bounds: {
          areas: [area(0, 2, DAY.start, DAY.end), area(3, 4, null, DAY.start), area(4, 5, DAY.end, null)],
        },
      },
      ['first', 'second', 'late'],
    ],
  ])('%s', async (_what, asked, expected) => {
    expect(await names(asked)).toEqual(expected)
  })

  it('neighbouring windows meet: each event is in one of them', async () => {
    const parts = await Promise.all(
      [
        [0, 2],
        [2, 3],
        [3, 1000],
      ].map(([seq_from = 0, seq_to = 0]) => names({ bounds: { seq_from, seq_to } })),
    )
    expect(parts.flat()).toEqual(['first', 'second', 'ahead', 'late', 'Second'])
  })

  it('are handed to the store as they are', () => {
    const areas = [area(1, 3, null, DAY.end)]
    const { rows } = select({ bounds: { areas } })
    expect(rows).toMatchObject({ project_id: 7, source: { model: 'events', areas } })
  })
})

describe('names of events', () => {
  it.each<[string, Record<string, unknown>, string[]]>([
    [
      'nothing given',
      { include_events: null, exclude_events: [] },
      ['first', 'second', 'ahead', 'late', 'Second'],
    ],
    ['include, by case', { include_events: ['second', 'late'] }, ['second', 'late']],
    ['exclude', { exclude_events: ['second', 'late'] }, ['first', 'ahead', 'Second']],
    ['both', { include_events: ['second', 'late'], exclude_events: ['late'] }, ['second']],
    ['a hostile name', { include_events: ["x' OR '1' = '1"] }, []],
  ])('%s', async (_what, config, expected) => {
    expect(await names({ definition: { config } })).toEqual(expected)
  })
})

describe('filters', () => {
  it.each<[string, unknown[], string[]]>([
    ['none', [], ['first', 'second', 'ahead', 'late', 'Second']],
    ['event', [{ key: 'plan', type: 'event', operator: 'exact', value: 'pro' }], ['first']],
    ['a type is that of events unless told', [{ key: 'plan', value: ['pro', 'free'] }], ['first', 'second']],
    ['not', [{ key: 'plan', operator: 'is_not', value: 'pro' }], ['second', 'ahead', 'late', 'Second']],
    ['numbers', [{ key: 'n', operator: 'gt', value: 5 }], ['ahead']],
    ['is set', [{ key: 'n', operator: 'is_set' }], ['first', 'ahead']],
    [
      'person, as stored',
      [{ key: 'email', type: 'person', operator: 'icontains', value: 'ANN@' }],
      ['ahead'],
    ],
    ['hogql', [{ key: "lower(event) = 'second'", type: 'hogql' }], ['second', 'Second']],
    ['hogql on the person', [{ key: "person.properties.email like 'ann%'", type: 'hogql' }], ['ahead']],
    [
      'all of them hold',
      [
        { key: 'n', operator: 'is_set' },
        { key: "event = 'first'", type: 'hogql' },
      ],
      ['first'],
    ],
  ])('%s', async (_what, filters, expected) => {
    expect(await names({ definition: { filters } })).toEqual(expected)
  })

  it('look at fields, whatever a query calls by the same name', async () => {
    const rows = await source.read({
      definition: {
        hogql_query: "SELECT concat('x', event) AS event, toDate(timestamp) AS timestamp FROM events AS e",
        filters: [{ key: "event = 'first' and events.timestamp < '2026-03-01 00:00:01'", type: 'hogql' }],
        config: { include_events: ['first', 'second'] },
      },
    })
    expect(rows).toEqual([{ event: 'xfirst', timestamp: '2026-03-01T00:00:00Z' }])
  })

  it.each([
    ["SELECT event AS event FROM events WHERE event = 'first'", 1],
    ["SELECT e.event AS name, toDate(e.timestamp) AS timestamp FROM events AS e WHERE name != 'first'", 4],
  ])('of a query count without a run: %s', async (hogql_query, expected) => {
    expect(await source.count(hogql_query)).toBe(expected)
  })

  it.each(['persons', 'sessions'] as const)('are refused with the model %s, not forgotten', (model) => {
    expect(() => select({ definition: { model, filters: [{ key: 'a', value: 1 }] } })).toThrow(Refused)
    expect(() => select({ definition: { model, filters: [] } })).not.toThrow()
  })

  it('that cannot be read any more end the run', () => {
    expect(() => select({ definition: { filters: [{ key: 'a', operator: 'gone', value: 1 }] } })).toThrow(
      Refused,
    )
    expect(() => select({ definition: { hogql_query: 'SELECT gone AS gone FROM events' } })).toThrow(
      new Refused("Unknown field 'gone' (at character 8)."),
    )
  })
})

describe('texts that are too long', () => {
  const UUID = '01890000-0000-7000-8000-00000000000'
  let long: OpenedSource

  beforeAll(async () => {
    long = await openSource()
    await long.write([
      { uuid: `${UUID}1`, event: 'e'.repeat(200), distinct_id: '\u0000a\u0000', properties: {} },
      { uuid: `${UUID}2`, event: '😀'.repeat(201), distinct_id: 'é'.repeat(100), properties: {} },
      {
        uuid: `${UUID}3`,
        event: 'e',
        distinct_id: `x${'é'.repeat(100)}`,
        properties: { words: 'é'.repeat(40_000) },
      },
    ])
  })
  afterAll(() => long.close())

  const texts = async (set: Asked['set']) =>
    (await long.read({ set: set! })).map(({ event, distinct_id }) => [event, distinct_id])

  it('PostgreSQL: 200 characters, none of them cut in half, and no NUL', async () => {
    expect(await texts('postgres')).toEqual([
      ['e'.repeat(200), 'a'],
      ['😀'.repeat(200), 'é'.repeat(100)],
      ['e', `x${'é'.repeat(100)}`],
    ])
    expect(await long.warning({ set: 'postgres' })).toBe(
      `Texts longer than their column were cut in 1 row (event VARCHAR(200)), the first with the uuid ${UUID}2.`,
    )
  })

  it('Redshift: 200 bytes, none of them half a character', async () => {
    expect(await texts('redshift')).toEqual([
      ['e'.repeat(200), 'a'],
      ['😀'.repeat(50), 'é'.repeat(100)],
      ['e', `x${'é'.repeat(99)}`],
    ])
    const rows = await long.read({ set: 'redshift' })
    const properties = String(rows[2]!.properties)
    expect(Buffer.byteLength(properties)).toBe(65_534)
    expect(properties).toMatch(/^\{"words":"é+$/)
    expect(await long.warning({ set: 'redshift' })).toBe(
      'Texts longer than their column were cut in 2 rows (event VARCHAR(200), properties VARCHAR(65535),' +
        ` distinct_id VARCHAR(200)), the first with the uuid ${UUID}2.`,
    )
  })

  it('only rows of the run are counted', async () => {
    expect(await long.warning({ set: 'postgres', bounds: { seq_to: 1 } })).toBeNull()
  })

  it('elsewhere any length goes out, and nothing is asked', async () => {
    expect((await texts('files'))[1]).toEqual(['😀'.repeat(201), 'é'.repeat(100)])
    const unasked = { findCutTexts: () => Promise.reject(new Error('asked')) }
    expect(await cutWarning(unasked, select({ set: 'files' }))).toBeNull()
    expect(await cutWarning(unasked, select({ set: 'bigquery' }))).toBeNull()
  })
})
