// The suite for every event store on DuckDB, and what is true of DuckDB alone: what questions cannot reach, and how it
// closes.
// @module-tag slow
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { QueryFault, StoreGone } from '../event-store.ts'
import { eventsOf, eventStoreSuite, storedEvent, type OpenedStore } from '../fixture/suite.ts'
import { hotColumn, tablesOf } from '../layout.ts'
import { openDuckDb } from './open.ts'

const ENDLESS = 'SELECT count(*) FROM range(100000000) a, range(100000000) b WHERE a.range + b.range = 7'
const options = { memory_mb: 256, query_timeout_ms: 1_500 }

describe('DuckDB', () => {
  eventStoreSuite(async (): Promise<OpenedStore> => {
    const folder = await mkdtemp(join(tmpdir(), 'longshore-store-'))
    let store = await openDuckDb({ folder, ...options })
    return {
      store,
      async reopen() {
        await store.close()
        return (store = await openDuckDb({ folder, ...options }))
      },
      selectEvents: (id) =>
        `SELECT seq, inserted_at, uuid, event, distinct_id, timestamp, created_at, elements_chain, person_mode, properties,
         ${hotColumn('$browser')}, ${hotColumn('$os')} FROM ${tablesOf(id).events} ORDER BY seq`,
      selectPersons: (id) => `SELECT id, created_at, is_identified, properties FROM ${tablesOf(id).persons}`,
      selectDistinctIds: (id) => `SELECT distinct_id, person_id FROM ${tablesOf(id).distinct_ids}`,
      selectGroups: (id) => `SELECT index, key, created_at, properties FROM ${tablesOf(id).groups}`,
      endless: ENDLESS,
      faulty: "SELECT regexp_matches('a', '(')",
      async dispose() {
        await store.close()
        await rm(folder, { recursive: true, force: true })
      },
    }
  })
})

describe('the store', () => {
  let folder: string
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'longshore-store-'))))
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it.each([
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "COPY (SELECT 1) TO '/tmp/longshore-must-not-be-there.csv'",
    "ATTACH '/tmp/longshore-must-not-be-there.db'",
    'INSTALL httpfs',
    'SET enable_external_access = true',
    'SET lock_configuration = false',
    "PRAGMA memory_limit = '100GB'",
  ])('can be asked for nothing outside its files: %s', async (sql) => {
    const store = await openDuckDb({ folder, ...options })
    const ask = store.query({ project_id: 1, sql, parameters: [], timezone: 'UTC', max_rows: 10 })
    await expect(ask).rejects.toThrow(/do not go together|disabled|Permission|locked|combines|cannot/i)
    await store.close()
    expect(await readdir(tmpdir())).not.toContain('longshore-must-not-be-there.csv')
    expect(await readdir(tmpdir())).not.toContain('longshore-must-not-be-there.db')
  })

  it('is opened once in a process, and again after it was closed', async () => {
    const store = await openDuckDb({ folder, ...options })
    await expect(openDuckDb({ folder, ...options })).rejects.toThrow('open in this process already')
    await store.close()
    const again = await openDuckDb({ folder, ...options })
    await again.close()
  })

  it('of an earlier version that is no database is refused with the reason', async () => {
    await writeFile(join(folder, 'events.duckdb'), 'this is not a database at all, not even remotely')
    await expect(openDuckDb({ folder, ...options })).rejects.toThrow(/not a valid DuckDB database/)
  })

  it('knows over a restart up to which change there are copies, and counts none of a call that fails', async () => {
    const store = await openDuckDb({ folder, ...options })
    expect(await store.missingCopies()).toEqual({ after: 0n, last: null, owed: [] })
    await store.write([eventsOf(1, storedEvent())], new Date(), { until: 41n, owed: [] })
    const broken = storedEvent({ uuid: 'not a uuid' })
    await expect(store.write([eventsOf(1, broken)], new Date(), { until: 42n, owed: [] })).rejects.toThrow(
      'no uuid',
    )
    await store.write([eventsOf(1, storedEvent())], new Date())
    await store.close()
    const again = await openDuckDb({ folder, ...options })
    expect(await again.missingCopies()).toEqual({ after: 41n, last: null, owed: [] })
    await again.close()
  })

  it('has room for parameters of every kind', async () => {
    const store = await openDuckDb({ folder, ...options })
    const sql =
      'SELECT $1, $2, $3, $4, $5, [1, NULL], struct_pack(f1 := 1, f2 := $1), 170141183460469231731687303715884105727, 1.5::DECIMAL(4,1)'
    const parameters = ['text', 7, 1.5, true, 9_007_199_254_740_993n]
    const { rows, columns } = await store.query({
      project_id: 1,
      sql,
      parameters,
      timezone: 'UTC',
      max_rows: 1,
    })
    expect(rows).toEqual([
      [
        'text',
        7,
        1.5,
        true,
        '9007199254740993',
        [1, null],
        [1, 'text'],
        '170141183460469231731687303715884105727',
        1.5,
      ],
    ])
    expect(columns.map(({ type }) => type)).toEqual([
      'String',
      'Int64',
      'Float64',
      'Bool',
      'Int64',
      'Array(Int64)',
      'Tuple(Int64, String)',
      'Int64',
      'Float64',
    ])
    await store.close()
  })

  it('has room for hundreds of projects in little memory', async () => {
    const store = await openDuckDb({ folder, ...options, memory_mb: 96 })
    for (let first = 1; first <= 200; first += 20) {
      const ids = Array.from({ length: 20 }, (_, index) => first + index)
      const written = await store.write(
        ids.map((id) => eventsOf(id, storedEvent())),
        new Date(),
      )
      expect(written.map(({ stored }) => stored)).toEqual(ids.map(() => 1))
    }
    await store.close()
  })

  it('closes while queries run and wait, which are told so', async () => {
    const store = await openDuckDb({ folder, ...options, query_timeout_ms: 60_000 })
    const asked = Array.from({ length: 8 }, () =>
      store.query({ project_id: 1, sql: ENDLESS, parameters: [], timezone: 'UTC', max_rows: 10 }),
    )
    const answers = Promise.allSettled(asked)
    await store.write([eventsOf(1, storedEvent())], new Date())
    await store.close()
    for (const answer of await answers)
      expect(answer).toMatchObject({ status: 'rejected', reason: expect.any(StoreGone) })
  })

  it('answers nothing more once it is closed', async () => {
    const store = await openDuckDb({ folder, ...options })
    await store.close()
    await expect(store.write([eventsOf(1, storedEvent())], new Date())).rejects.toThrow('closed')
    await expect(
      store.query({ project_id: 1, sql: 'SELECT 1', parameters: [], timezone: 'UTC', max_rows: 1 }),
    ).rejects.not.toBeInstanceOf(QueryFault)
  })
})
