// The suite for every event store on ClickHouse, and what is true of ClickHouse alone: several writers at once, writers that
// die or come too late, and what is read meanwhile.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLICKHOUSE_ADDRESS } from '../../../../test/harness/clickhouse.ts'
import { uuid7 } from '../../../lib/uuid.ts'
import { sql } from '../../db/sql.ts'
import { StoreBusy } from '../event-store.ts'
import { copiesOf, eventsOf, eventStoreSuite, storedEvent } from '../fixture/suite.ts'
import { hotColumn } from '../layout.ts'
import type { ClickHouse, Insertion } from './client.ts'
import { openTestStore, type TestStore } from './fixture/store.ts'
import { OwedCopies } from './owed-copies.ts'
import { Positions } from './positions.ts'
import { distinctIds, groups, livingPersons, visibleEvents } from './visible-sql.ts'
import { Writer } from './writer.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const NOW_MICROS = BigInt(NOW.getTime()) * 1000n

describe.skipIf(CLICKHOUSE_ADDRESS === null)('ClickHouse', () => {
  eventStoreSuite(async () => ({
    // chdb carries out one statement after the other: while one runs too long, other files wait, and their batches have 30 seconds.
    ...(await openTestStore(20_000)),
    selectEvents: (id) =>
      `SELECT seq, inserted_at, uuid, event, distinct_id, timestamp, created_at, elements_chain, person_mode, properties,
       ${hotColumn('$browser')}, ${hotColumn('$os')} FROM ${visibleEvents(String(id))} ORDER BY seq`,
    selectPersons: (id) =>
      `SELECT id, created_at, is_identified, properties FROM ${livingPersons(String(id))}`,
    selectDistinctIds: (id) => `SELECT distinct_id, person_id FROM ${distinctIds(String(id))}`,
    selectGroups: (id) => `SELECT index, key, created_at, properties FROM ${groups(String(id))}`,
    endless: 'SELECT count() FROM numbers(1000000000000000) WHERE sipHash64(number) = 7',
    faulty: `SELECT match(materialize('a'), concat('(', materialize('')))`,
  }))
})

describe.skipIf(CLICKHOUSE_ADDRESS === null)('writers', () => {
  // Each test has a project of its own.
  let opened: TestStore
  let positions: Positions
  beforeAll(async () => {
    opened = await openTestStore(60_000)
    positions = new Positions(opened.db, new OwedCopies(opened.db))
  })
  afterAll(() => opened.dispose())
  const writerWith = (insert: ClickHouse['insert']) => new Writer({ ...opened.clickhouse, insert }, positions)

  const namesOf = async (project_id: number) => {
    const answer = await opened.store.query({
      project_id,
      sql: `SELECT seq, event FROM ${visibleEvents(String(project_id))} ORDER BY seq`,
      parameters: [],
      timezone: 'UTC',
      max_rows: 1000,
    })
    return answer.rows
  }
  const named = (...names: string[]) => names.map((event) => storedEvent({ event }))
  const expire = () => opened.db.run(sql`UPDATE event_block SET leased_until = now() - interval '1 second'`)

  it('are seen in the order of their positions: nothing appears below what was seen', async () => {
    const { store } = opened
    await store.write([eventsOf(1, ...named('a', 'b'))], NOW)
    // Another writer has positions and has not stored yet.
    const wanted = [{ project_id: 1, uuids: [uuid7(NOW)] }]
    const { blocks } = await positions.open(randomUUID(), wanted, NOW_MICROS)
    expect(blocks).toEqual([{ project_id: 1, after: 2, arrived_at: NOW_MICROS }])
    const [written] = await store.write([eventsOf(1, ...named('d'))], NOW)
    expect(written).toMatchObject({ stored: 1, last_seq: 4 })
    expect(await store.lastPosition(1)).toBe(2)
    const before = [
      [1, 'a'],
      [2, 'b'],
    ]
    expect(await namesOf(1)).toEqual(before)
    // It turns out to have died: its position stays empty.
    await expire()
    expect(await namesOf(1)).toEqual([...before, [4, 'd']])
    expect(await store.lastPosition(1)).toBe(4)
    expect(await store.holes(1)).toEqual([{ from: 2, to: 3 }])
    expect(await store.positionAt(1, new Date(NOW.getTime() + 1))).toBe(4)
  })

  it('that come too late store nothing, however late their rows arrive', async () => {
    const { store, clickhouse } = opened
    const paused = writerWith(async (insertion) => {
      // The process stands still for longer than its lease; somebody looks meanwhile.
      await expire()
      expect(await namesOf(2)).toEqual([])
      await clickhouse.insert(insertion)
    })
    const late = named('late')
    await store.oweCopies(opened.db, { after: 1n, last: 7n })
    const copied = { until: 7n, owed: [7n] }
    await expect(paused.write([eventsOf(2, ...late)], NOW_MICROS, copied)).rejects.toBeInstanceOf(StoreBusy)
    const rows = { sql: 'SELECT event FROM events WHERE project_id = 2', parameters: [] }
    expect(await clickhouse.rows(rows)).toEqual([['late']])
    expect(await namesOf(2)).toEqual([])
    expect(await opened.db.rows(sql`SELECT last_change FROM owed_copies`)).toEqual([{ last_change: '7' }])
    // Its sender sends again, and it is there once.
    const [written] = await store.write([eventsOf(2, ...late)], NOW)
    expect(written).toMatchObject({ stored: 1, last_seq: 2 })
    expect(await namesOf(2)).toEqual([[2, 'late']])
  })

  it('that send the same event at the same time store it once', async () => {
    const { clickhouse, store } = opened
    const [shared, own] = named('shared', 'own')
    let second: Promise<unknown> = Promise.resolve()
    const first = writerWith(async (insertion) => {
      second = new Writer(clickhouse, positions).write([eventsOf(3, own!, shared!)], NOW_MICROS, null)
      await clickhouse.insert(insertion)
    })
    await first.write([eventsOf(3, shared!)], NOW_MICROS, null)
    expect(await second).toMatchObject([{ stored: 1, last_seq: 2 }])
    expect(await namesOf(3)).toEqual([
      [1, 'shared'],
      [2, 'own'],
    ])
    expect(await store.holes(3)).toEqual([{ from: 2, to: 3 }])
  })

  it('whose insert comes twice have stored it once', async () => {
    const { clickhouse } = opened
    const unlucky = writerWith(async (insertion) => {
      await clickhouse.insert(insertion)
      await clickhouse.insert(insertion)
    })
    await unlucky.write([eventsOf(4, ...named('a', 'b'))], NOW_MICROS, null)
    expect(await namesOf(4)).toEqual([
      [1, 'a'],
      [2, 'b'],
    ])
  })

  it('may bring more events at once than one value of a statement has room for', async () => {
    const { store } = opened
    const many = Array.from({ length: 5_000 }, (_, index) => storedEvent({ event: `number ${index}` }))
    const [written] = await store.write([eventsOf(9, ...many)], NOW)
    expect(written).toMatchObject({ stored: 5_000, last_seq: 5_000 })
    // Each of them is known, wherever it stands among the others.
    const [again] = await store.write([eventsOf(9, ...many.toReversed(), ...named('new'))], NOW)
    expect(again).toMatchObject({ stored: 1, last_seq: 5_001 })
    expect(await store.holes(9)).toEqual([{ from: 5_001, to: 10_001 }])
  })

  const hiddenOf = async (project_id: number) =>
    await opened.db.rows(sql`
      SELECT left_behind FROM event_hole WHERE project_id = ${project_id} AND left_behind IS NOT NULL`)

  it('that fail before they send a row leave nothing to hide', async () => {
    const { clickhouse, store } = opened
    const refused = async () => Promise.reject(new Error('not now'))
    const events = named('a', 'b')
    const group = { index: 0, key: 'acme', created_at: 0n, properties: '{}' }
    const write = { ...eventsOf(10, ...events), groups: [group] }
    // The look-up fails, then the insert of the copies.
    for (const faulty of [{ rows: refused }, { insert: refused }]) {
      const writer = new Writer({ ...clickhouse, ...faulty }, positions)
      await expect(writer.write([write], NOW_MICROS, null)).rejects.toBeInstanceOf(StoreBusy)
    }
    expect(await hiddenOf(10)).toEqual([])
    expect(await store.write([eventsOf(10, ...events)], NOW)).toMatchObject([{ stored: 2, last_seq: 6 }])
    expect(await store.holes(10)).toEqual([
      { from: 0, to: 2 },
      { from: 2, to: 4 },
    ])
  })

  it('may fail as often as they like: what they left behind is never seen, and the list of it stays short', async () => {
    const { clickhouse, store } = opened
    const [event, ...others] = named('again', 'x', 'y')
    const late: Insertion[] = []
    const lost = writerWith(async (insertion) => {
      // The answers are lost. One in ten arrives late.
      if (insertion.table === 'events' && ++times % 10 === 0) late.push(insertion)
      else await clickhouse.insert(insertion)
      if (insertion.table === 'events') throw new Error('lost')
    })
    let times = 0
    const fail = () =>
      expect(lost.write([eventsOf(11, event!)], NOW_MICROS, null)).rejects.toBeInstanceOf(StoreBusy)
    while (times < 51) await fail()
    expect(await hiddenOf(11)).toHaveLength(51)

    // While ClickHouse has no room for the list, nothing is sent that might lengthen it.
    const tables: string[] = []
    const full = writerWith(async ({ table }) => {
      tables.push(table)
      throw new Error('no room')
    })
    await expect(full.write([eventsOf(11, event!)], NOW_MICROS, null)).rejects.toBeInstanceOf(StoreBusy)
    expect(tables).toEqual(['closed_batches'])
    expect(await hiddenOf(11)).toHaveLength(51)

    await fail()
    expect(await hiddenOf(11)).toHaveLength(1)
    expect(late).toHaveLength(5)
    for (const insertion of late) await clickhouse.insert(insertion)
    const there = { sql: 'SELECT count() FROM events WHERE project_id = 11', parameters: [] }
    expect(await clickhouse.rows(there)).toEqual([['52']])
    expect(await namesOf(11)).toEqual([])
    expect(await store.positionAt(11, new Date(NOW.getTime() + 1))).toBe(0)

    // What was never stored can be sent again, and is there once.
    const [written] = await store.write([eventsOf(11, event!, ...others)], NOW)
    expect(written).toMatchObject({ stored: 3, last_seq: 56 })
    expect(await store.write([eventsOf(11, event!)], NOW)).toMatchObject([{ stored: 0 }])
    expect((await namesOf(11)).map(([, name]) => name)).toEqual(['again', 'x', 'y'])
  })

  it('that come too late for a project that was deleted have their rows deleted too', async () => {
    const { clickhouse, store } = opened
    let late: Insertion | undefined
    const slow = writerWith(async (insertion) => {
      late = insertion
      throw new Error('no answer')
    })
    await expect(slow.write([eventsOf(12, ...named('late'))], NOW_MICROS, null)).rejects.toBeInstanceOf(
      StoreBusy,
    )
    await store.deleteProject(12)
    await clickhouse.insert(late!)
    const there = { sql: 'SELECT count() FROM events WHERE project_id = 12', parameters: [] }
    expect(await clickhouse.rows(there)).toEqual([['1']])
    await store.deleteProject(12)
    expect(await clickhouse.rows(there)).toEqual([['0']])
  })

  it('bring copies in any order: those of the later state stay', async () => {
    const { store } = opened
    const [ada, bob] = [uuid7(NOW), uuid7(NOW)]
    const person = (id: string, n: number) => ({
      id,
      created_at: NOW_MICROS,
      is_identified: false,
      properties: `{"n":${n}}`,
      version: n,
    })
    const group = (n: number) => ({ index: 0, key: 'acme', created_at: 0n, properties: `{"n":${n}}` })
    const newer = {
      persons: [person(ada, 2)],
      deleted_persons: [bob],
      distinct_ids: [{ distinct_id: 'b', person_id: ada, version: 2 }],
      groups: [group(2)],
    }
    const older = {
      persons: [person(ada, 1), person(bob, 1)],
      distinct_ids: [{ distinct_id: 'b', person_id: bob, version: 1 }],
      groups: [group(1)],
    }
    // The older batch also has a project whose state has a higher number.
    await store.write([copiesOf(7, { head: 20n, ...newer })], NOW)
    await store.write([copiesOf(7, { head: 10n, ...older }), copiesOf(8, { head: 30n, ...older })], NOW)
    const read = (project_id: number, statement: string) =>
      store
        .query({ project_id, sql: statement, parameters: [], timezone: 'UTC', max_rows: 10 })
        .then(({ rows }) => rows)
    expect(await read(7, `SELECT id, version FROM ${livingPersons('7')}`)).toEqual([[ada, 2]])
    expect(await read(7, `SELECT person_id, version FROM ${distinctIds('7')}`)).toEqual([[ada, 2]])
    expect(await read(7, `SELECT properties FROM ${groups('7')}`)).toEqual([['{"n":2}']])
    expect(await read(8, `SELECT count() FROM ${livingPersons('8')}`)).toEqual([[2]])
  })

  it('of which one project was closed store nothing for the others', async () => {
    const { clickhouse, store } = opened
    const both = [eventsOf(5, ...named('one')), eventsOf(6, ...named('two'))]
    const slow = writerWith(async (insertion) => {
      await clickhouse.insert(insertion)
      await expire()
      // Whoever looks at the second project closes the batch as a whole.
      expect(await namesOf(6)).toEqual([])
    })
    await expect(slow.write(both, NOW_MICROS, null)).rejects.toBeInstanceOf(StoreBusy)
    expect([await namesOf(5), await namesOf(6)]).toEqual([[], []])
    await store.write(both, NOW)
    expect([await namesOf(5), await namesOf(6)]).toEqual([[[2, 'one']], [[2, 'two']]])
  })
})
