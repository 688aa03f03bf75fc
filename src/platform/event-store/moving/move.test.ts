// Everything of a store is in the other afterwards, and work goes on there as if nothing had happened. From the embedded
// store to another one everywhere; to ClickHouse and back where there is one.
// @module-tag slow
import { readFile, rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLICKHOUSE_ADDRESS } from '../../../../test/harness/clickhouse.ts'
import { uuid7 } from '../../../lib/uuid.ts'
import { sql } from '../../db/sql.ts'
import { StoreTaken, type EventStore } from '../event-store.ts'
import { PERSON_POSITION_BITS, PERSON_VALUES, SESSION_VALUES, type ExportRows } from '../export-rows.ts'
import { copiesOf, eventsOf, storedEvent } from '../fixture/suite.ts'
import { HOT_PROPERTIES } from '../layout.ts'
import type { Type } from '../value-type.ts'
import { COPY_KINDS, type MovedRow } from './columns.ts'
import { clickHouseWorld, duckDbWorld, within, type World } from './fixture/worlds.ts'
import { MoveDifference, moveEvents, type Move } from './move.ts'
import type { MoveSide, ReadSide } from './side.ts'

const ANN = '01890000-0000-7000-8000-00000000000a'
const BEN = '01890000-0000-7000-8000-00000000000b'
const SESSION = '01890000-0000-7000-8000-0000000000ff'
const time = (text: string) => new Date(`${text}Z`)
const micros = (date: Date) => BigInt(date.getTime()) * 1000n
const JANUARY = time('2026-01-31T23:59:00')
const FEBRUARY = time('2026-02-01T00:01:00')
const MARCH = time('2026-03-05T10:00:00')
const never = () => new AbortController().signal

/** Events of project 1, with all that texts may hold. */
const EVENTS = ['plain', 'Zoë 🎈', `it's "quoted", {?}, \\ and\ttabs\n`, '', 'a\u0000b'].map((event, index) =>
  storedEvent({
    uuid: uuid7(new Date(JANUARY.getTime() + index)),
    event,
    distinct_id: `${event} id`,
    timestamp: micros(JANUARY) + BigInt(index) * 1_000_001n,
    created_at: micros(JANUARY) + 7n,
    elements_chain: index === 1 ? 'a:nth-child="1"' : '',
    has_person: index !== 2,
    person_id: index === 0 ? BEN : ANN,
    person_properties: `{"index":${index}}`,
    properties: JSON.stringify({ text: event, $session_id: SESSION }),
    hot: HOT_PROPERTIES.map((name, at) =>
      name === '$session_id' ? SESSION : at % 2 === index % 2 ? `${event} ${name}` : at % 3 === 0 ? '' : null,
    ),
  }),
)

async function fill(store: EventStore): Promise<void> {
  await store.write([eventsOf(1, ...EVENTS.slice(0, 2)), eventsOf(2, storedEvent())], JANUARY)
  await store.write([eventsOf(1, ...EVENTS.slice(2))], FEBRUARY)
  const persons = [ANN, BEN].map((id, index) => ({
    id,
    created_at: micros(JANUARY) + 1n,
    is_identified: index === 0,
    properties: `{"name":"${id} é"}`,
    version: index + 3,
  }))
  const distinct_ids = [ANN, BEN].map((person_id) => ({
    distinct_id: `of ${person_id}`,
    person_id,
    version: 1,
  }))
  const groups = [{ index: 1, key: 'acme', created_at: micros(JANUARY), properties: '{"b":2}' }]
  await store.write([copiesOf(1, { persons, distinct_ids, groups })], FEBRUARY, { until: 41n, owed: [41n] })
  await store.write(
    [copiesOf(1, { persons: [{ ...persons[0]!, version: 9 }], deleted_persons: [BEN] })],
    MARCH,
    { until: 42n, owed: [42n] },
  )
  await store.write([eventsOf(3, storedEvent(), storedEvent())], MARCH)
  await store.deleteProject(3)
}

/** Rows of the side, as both engines tell them. */
async function contentOf(side: ReadSide, project_id: number): Promise<Record<string, MovedRow[]>> {
  const content: Record<string, MovedRow[]> = { events: [] }
  for await (const page of side.events(project_id, 0)) content.events!.push(...page)
  for (const kind of COPY_KINDS) {
    content[kind] = []
    for await (const page of side.copies(project_id, kind)) content[kind].push(...page)
    content[kind].sort((one, other) => String(one[0]).localeCompare(String(other[0])))
  }
  return content
}

async function linesOf(store: EventStore, rows: ExportRows): Promise<unknown[]> {
  const file = await store.exportRows(
    rows,
    { from: 0, to: 2 ** PERSON_POSITION_BITS },
    { kind: 'json-lines' },
    never(),
  )
  const lines = (await readFile(file.path, 'utf8')).split('\n').slice(0, -1)
  await rm(file.path)
  return lines.map((line): unknown => JSON.parse(line))
}

/** Times without a form are the engine's own text. */
const columnsOf = (values: Readonly<Record<string, Type>>) =>
  Object.entries(values)
    .filter(([, { kind }]) => kind !== 'datetime')
    .map(([name]) => ({ name, kind: 'text' as const, value: { of: name, form: null } }))
const PERSONS: ExportRows = {
  project_id: 1,
  source: { model: 'persons', changed_from: FEBRUARY, changed_to: new Date(MARCH.getTime() + 1) },
  columns: columnsOf(PERSON_VALUES),
}
const { session_id } = SESSION_VALUES
const SESSIONS: ExportRows = {
  project_id: 1,
  source: { model: 'sessions', own: { seq_from: 0, seq_to: 9, time_from: null, time_to: null }, since: null },
  columns: columnsOf({ session_id }),
}

const quiet = (source: ReadSide, target: MoveSide): Move => ({
  source,
  target,
  signal: never(),
  onProgress: () => undefined,
})

/** Everything of one world into the other. */
const move = (from: World, to: World, more: (move: Move) => Partial<Move> = () => ({})) =>
  within(from.side, (source) =>
    within(to.side, async (target) => {
      const given = quiet(source, target)
      return await moveEvents({ ...given, ...more(given) })
    }),
  )

type Kind = 'duckdb' | 'clickhouse'
const worldOf = (kind: Kind) => (kind === 'duckdb' ? duckDbWorld() : clickHouseWorld())
const ways: [Kind, Kind][] = [
  ['duckdb', 'duckdb'],
  ...(CLICKHOUSE_ADDRESS === null
    ? []
    : [['duckdb', 'clickhouse'] as [Kind, Kind], ['clickhouse', 'duckdb'] as [Kind, Kind]]),
]

describe.each(ways)('from %s to %s', (from_kind, to_kind) => {
  let from: World
  let to: World
  beforeAll(async () => {
    from = await worldOf(from_kind)
    to = await worldOf(to_kind)
    await within(from.store, fill)
    // The last change of persons that the copies above are of.
    for (const { db } of [from, to]) await db?.run(sql`SELECT setval('people_change', 42)`)
  })
  afterAll(async () => {
    await from.dispose()
    await to.dispose()
  })

  it('stops at a batch that fails, goes on after it, and everything is there once', async () => {
    expect(await within(to.side, (side) => side.isEmpty())).toBe(true)
    await within(to.side, (side) => side.begin())
    let batches = 0
    const failing = ({ target }: Move) => ({
      target: {
        ...target,
        addEvents: async (project_id: number, rows: readonly MovedRow[]) => {
          // The second batch of project 1: another month.
          if (++batches === 2) throw new Error('the power went')
          await target.addEvents(project_id, rows)
        },
      },
    })
    await expect(move(from, to, failing)).rejects.toThrow('the power went')
    expect(await within(to.side, (side) => side.isEmpty())).toBe(false)
    const shares: number[] = []
    let events = 0
    const counted = () => ({
      onProgress: (so_far: { share: number; events: number }) => {
        shares.push(so_far.share)
        events = so_far.events
      },
    })
    expect(await move(from, to, counted)).toEqual([
      { project_id: 1, events: 5, first: 1, last: 5, persons: 1 },
      { project_id: 2, events: 1, first: 1, last: 1, persons: 0 },
    ])
    expect([events, shares.at(-1)]).toEqual([4, 1])
    expect(shares).toEqual(shares.toSorted((a, b) => a - b))
  })

  it('both hold the same, and a further call moves nothing', async () => {
    const added: number[] = []
    const watched = ({ target }: Move) => ({
      target: {
        ...target,
        addEvents: async (_: number, rows: readonly MovedRow[]) => void added.push(rows.length),
        addCopies: async () => void added.push(-1),
      },
    })
    await move(from, to, watched)
    expect(added).toEqual([])
    const contents = async (world: World) =>
      within(world.side, async (side) => ({
        one: await contentOf(side, 1),
        two: await contentOf(side, 2),
        three: await contentOf(side, 3),
        state: await side.state(),
        project: { ...(await side.project(1)), arrived_at: null },
      }))
    const [here, there] = [await contents(from), await contents(to)]
    expect(there).toEqual(here)
    expect(here.one.events!.map(([, , , event]) => event)).toEqual(EVENTS.map(({ event }) => event))
    expect(here.one.events!.map(([, inserted_at]) => inserted_at)).toEqual(
      [JANUARY, JANUARY, FEBRUARY, FEBRUARY, FEBRUARY].map(micros),
    )
    expect(here.three.events).toEqual([])
    expect(here.state).toEqual({ deleted: [3], copies_position: 42n })
  })

  it('exports are the same, and the store goes on from where the other was', async () => {
    const exported = (world: World) =>
      within(world.store, async (store) => ({
        persons: await linesOf(store, PERSONS),
        sessions: await linesOf(store, SESSIONS),
        arrivals: await store.arrivalsOf(1, [1, 3, 6]),
        at: await store.positionAt(1, FEBRUARY),
        last: [await store.lastPosition(1), await store.lastPosition(2)],
        holes: await store.holes(1),
      }))
    const before = await exported(from)
    expect(before).toMatchObject({ arrivals: [JANUARY, FEBRUARY, null], at: 2, last: [5, 1], holes: [] })
    expect(before.persons).toHaveLength(1)
    expect(before.sessions).toHaveLength(1)
    expect(await exported(to)).toEqual(before)
    await within(to.store, async (store) => {
      // One is there already, the clock was set back, and the third project stays deleted.
      const written = await store.write(
        [eventsOf(1, EVENTS[4]!, storedEvent()), eventsOf(3, storedEvent())],
        JANUARY,
      )
      expect(written).toEqual([{ project_id: 1, stored: 1, last_seq: 6, inserted_at: micros(MARCH) }])
      expect(await store.lastPosition(3)).toBe(0)
    })
  })

  it('names what is not the same', async () => {
    // The sixth event is only in the target.
    const error: unknown = await move(from, to).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(MoveDifference)
    expect(String(error)).toContain('project 1: events at positions 1 to 1000000 are 6 instead of 5')
    expect(String(error)).not.toContain('project 2')
  })
})

// The lock of DuckDB's folder is for processes: this one may have it twice.
it.skipIf(CLICKHOUSE_ADDRESS === null)(
  'is refused while somebody has the store on ClickHouse, and the other way round',
  async () => {
    const { store, side, dispose } = await clickHouseWorld()
    await within(store, () => expect(side()).rejects.toThrow(StoreTaken))
    await within(side, () => expect(store()).rejects.toThrow(StoreTaken))
    await dispose()
  },
)

it('a value that changed on the way is named, though the number is the same', async () => {
  const [from, to] = [await duckDbWorld(), await duckDbWorld()]
  await within(from.store, fill)
  const changing = ({ source }: Move) => ({
    source: {
      ...source,
      async *events(project_id: number, after: number) {
        for await (const page of source.events(project_id, after))
          yield page.map((row) => row.with(-1, project_id === 2 ? 'another' : row.at(-1)))
      },
    },
  })
  const moved = move(from, to, changing)
  await expect(moved).rejects.toThrow(
    'project 2: events at positions 1 to 1000000 are not the same, though there are as many (1)',
  )
  await from.dispose()
  await to.dispose()
})

const HOLES = [
  { from: 0, to: 2 },
  { from: 4, to: 5 },
  { from: 6, to: 9 },
]

describe('positions without events', () => {
  it.each(ways)('%s to %s: stay free, and are not given again', async (from_kind, to_kind) => {
    const [origin, from, to] = [await duckDbWorld(), await worldOf(from_kind), await worldOf(to_kind)]
    await within(origin.store, fill)
    // Positions 3, 4 and 6.
    const rows = (await within(origin.side, (side) => contentOf(side, 1))).events!
    await within(from.side, async (side) => {
      await side.prepare(1)
      await side.addEvents(
        1,
        [3n, 4n, 6n].map((seq, index) => rows[index + 2]!.with(0, seq)),
      )
      await side.finishProject(1, { last_position: 9, arrived_at: micros(MARCH), holes: HOLES })
    })
    expect(await move(from, to)).toEqual([{ project_id: 1, events: 3, first: 3, last: 6, persons: 0 }])
    await within(to.store, async (store) => {
      expect([await store.holes(1), await store.lastPosition(1)]).toEqual([HOLES, 9])
      const [written] = await store.write([eventsOf(1, storedEvent())], MARCH)
      expect(written).toMatchObject({ stored: 1, last_seq: 10 })
      expect(await store.arrivalsOf(1, [6, 7, 10])).toEqual([FEBRUARY, null, MARCH])
      expect(await store.holes(1)).toEqual(HOLES)
    })
    for (const world of [origin, from, to]) await world.dispose()
  })
})

describe.skipIf(CLICKHOUSE_ADDRESS === null)('a batch whose sender was killed before it counted', () => {
  it('is sent again, and what came first is never read', async () => {
    const [from, to] = [await duckDbWorld(), await clickHouseWorld()]
    await within(from.store, fill)
    await move(from, to)
    // As it was a moment before the last batch of project 2 counted.
    await to.db!.run(sql`UPDATE event_head SET last_position = 0 WHERE project_id = 2`)
    const batches = await within(to.store, async (store) => {
      const select = 'SELECT DISTINCT batch FROM events WHERE project_id = 2'
      return (
        await store.query({ project_id: 2, sql: select, parameters: [], timezone: 'UTC', max_rows: 9 })
      ).rows.map(([batch]) => String(batch))
    })
    await to.db!.run(sql`
      INSERT INTO event_hole (project_id, after_position, last_position, left_behind) VALUES (2, 0, 0, ${batches[0]!}::uuid)`)
    expect(await move(from, to)).toContainEqual({ project_id: 2, events: 1, first: 1, last: 1, persons: 0 })
    for (const world of [from, to]) await world.dispose()
  })
})
