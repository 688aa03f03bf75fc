// Persons of a run: which distinct ids, and what goes out of each.
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encode } from '../formats/encode.ts'
import { planPieces } from '../formats/plan.ts'
import { openSource, select, type Asked, type OpenedSource } from './fixture/store.ts'

const ANN = '01890000-0000-7000-8000-00000000000a'
const BOB = '01890000-0000-7000-8000-00000000000b'
const person = (id: string, version: number, plan: string) => ({
  id,
  created_at: 1_700_000_000_000_000n,
  is_identified: true,
  properties: JSON.stringify({ plan }),
  version,
})
const hour = (at: number) => new Date(Date.UTC(2026, 2, 1, at))

let source: OpenedSource

beforeAll(async () => {
  source = await openSource()
  const anns = ['b', 'a'].map((distinct_id) => ({ distinct_id, person_id: ANN, version: 1 }))
  await source.write([], { persons: [person(ANN, 1, 'free')], distinct_ids: anns }, hour(1))
  const bobs = [{ distinct_id: 'B', person_id: BOB, version: 4 }]
  await source.write([], { persons: [person(BOB, 2, 'pro')], distinct_ids: bobs }, hour(2))
  // The person changes, then the mapping of one of their ids; last comes an id whose person nobody knows.
  await source.write([], { persons: [person(ANN, 5, 'pro')] }, hour(3))
  await source.write([], { distinct_ids: [{ distinct_id: 'a', person_id: BOB, version: 6 }] }, hour(4))
  const ghosts = [{ distinct_id: 'ghost', person_id: '01890000-0000-7000-8000-00000000000c', version: 1 }]
  await source.write([], { distinct_ids: ghosts }, hour(4))
})
afterAll(() => source.close())

const during = (start: Date | null, end: Date, more: Asked = {}): Asked => ({
  definition: { model: 'persons' },
  bounds: { interval: { start, end } },
  ...more,
})

type Rows = Awaited<ReturnType<OpenedSource['read']>>
const byId = (one: Rows[number], other: Rows[number]) => (one.distinct_id! < other.distinct_id! ? -1 : 1)

describe('rows', () => {
  it('everything up to the end', async () => {
    expect((await source.read(during(null, hour(5)))).toSorted(byId)).toEqual([
      {
        team_id: 7,
        distinct_id: 'B',
        person_id: BOB,
        properties: '{"plan":"pro"}',
        person_distinct_id_version: 4,
        person_version: 2,
        created_at: '2023-11-14T22:13:20Z',
        is_deleted: false,
        _inserted_at: '2026-03-01T02:00:00Z',
      },
      expect.objectContaining({
        distinct_id: 'a',
        person_id: BOB,
        person_distinct_id_version: 6,
        person_version: 2,
        _inserted_at: '2026-03-01T04:00:00Z',
      }),
      expect.objectContaining({ distinct_id: 'b', properties: '{"plan":"pro"}', person_version: 5 }),
    ])
  })

  it.each<[string, Asked, string[]]>([
    ['a mapping that changed', during(hour(4), hour(5)), ['a']],
    ['a person who changed', during(hour(3), hour(4)), ['b']],
    ['the start belongs to it, the end does not', during(hour(2), hour(3)), ['B']],
    ['what changed again later belongs there', during(hour(1), hour(2)), []],
    ['a backfill looks at the same', { ...during(hour(2), hour(4)) }, ['B', 'b']],
  ])('%s', async (_what, asked, expected) => {
    const ids = (rows: Rows) => rows.toSorted(byId).map(({ distinct_id }) => distinct_id)
    expect(ids(await source.read(asked))).toEqual(expected)
    const backfill = { ...asked, bounds: { ...asked.bounds, selection: 'timestamp' as const } }
    expect(ids(await source.read(backfill))).toEqual(expected)
  })
})

it('loses nobody when some change between two pieces of a run', async () => {
  const own = await openSource()
  const ids = Array.from({ length: 60 }, (_, index) => `id-${index}`)
  const idsOf = (names: readonly string[]) =>
    names.map((distinct_id) => ({ distinct_id, person_id: ANN, version: 1 }))
  await own.write([], { persons: [person(ANN, 1, 'free')], distinct_ids: idsOf(ids) }, hour(1))
  const { signal } = new AbortController()
  const { rows } = select(during(null, hour(2)))
  const { pieces, rows: counted } = await planPieces(own.store, rows, signal)
  expect(counted).toBe(60)
  const encoding = { format: 'JSONLines', compression: null, max_bytes: null, max_rows: 2 } as const
  const found: string[] = []
  for await (const file of encode(own.store, rows, pieces, encoding, signal)) {
    for (const line of (await readFile(file.path, 'utf8')).split('\n').slice(0, -1)) {
      found.push((JSON.parse(line) as { distinct_id: string }).distinct_id)
    }
    if (file.index === 3) await own.write([], { distinct_ids: idsOf(found.slice(0, 5)) }, hour(3))
  }
  expect(found.toSorted()).toEqual(ids.toSorted())
  await own.close()
})

it('takes the types of the destination', () => {
  const { columns, rows } = select(during(null, hour(5), { set: 'redshift' }))
  const long = { kind: 'text', type: 'VARCHAR(65535)', max_characters: 65_535 }
  expect(columns).toEqual([
    { name: 'team_id', kind: 'integer', type: 'INTEGER' },
    { name: 'distinct_id', ...long },
    { name: 'person_id', ...long },
    { name: 'properties', ...long },
    { name: 'person_distinct_id_version', kind: 'integer' },
    { name: 'person_version', kind: 'integer' },
    { name: 'created_at', kind: 'timestamp' },
    { name: 'is_deleted', kind: 'boolean' },
  ])
  expect(rows.columns).toHaveLength(8)
})

it('has no query of its own', () => {
  const asked = {
    definition: { model: 'persons' as const, hogql_query: 'SELECT event AS event FROM events' },
  }
  expect(() => select(asked)).toThrow('only be used with the model events')
})
