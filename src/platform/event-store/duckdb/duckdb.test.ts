// The suite for every event store on DuckDB, and what is true of DuckDB alone: the locked-down file and its upgrades.
import { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { QueryFault, StoreGone } from '../event-store.ts'
import { eventsOf, eventStoreSuite, storedEvent, type OpenedStore } from '../fixture/suite.ts'
import { hotColumn, tablesOf } from '../layout.ts'
import { openDuckDb } from './open.ts'
import { createProjectTables, migrateFile } from './schema.ts'
import { Writer } from './writer.ts'

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

describe('the file', () => {
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
  ])('can be asked for nothing outside it: %s', async (sql) => {
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

  it('that is no database is refused with the reason', async () => {
    await writeFile(join(folder, 'events.duckdb'), 'this is not a database at all, not even remotely')
    await expect(openDuckDb({ folder, ...options })).rejects.toThrow(/not a valid DuckDB database/)
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
      'Array(Int32)',
      'Tuple(Int32, String)',
      'Int128',
      'Float64',
    ])
    await store.close()
  })

  it('packs properties, which are most of what there is', async () => {
    const store = await openDuckDb({ folder, ...options })
    const events = Array.from({ length: 5000 }, (_, index) =>
      storedEvent({ properties: `{"n":${index},"same":"for all"}` }),
    )
    await store.write([eventsOf(1, ...events)], new Date())
    await store.close()
    const instance = await DuckDBInstance.create(join(folder, 'events.duckdb'), { access_mode: 'READ_ONLY' })
    const connection = await instance.connect()
    const result = await connection.run(`
      SELECT DISTINCT compression FROM pragma_storage_info('${tablesOf(1).event_rows}')
      WHERE column_name = 'properties' AND segment_type = 'VARCHAR'`)
    expect(await result.getRows()).toEqual([['ZSTD']])
    connection.closeSync()
    instance.closeSync()
  })

  it('closes cleanly when a project is deleted after an answer that was cut short', async () => {
    const store = await openDuckDb({ folder, ...options })
    await store.write([eventsOf(1, ...Array.from({ length: 5000 }, () => storedEvent()))], new Date())
    const sql = `SELECT * FROM ${tablesOf(1).events} LIMIT 4000`
    await store.query({ project_id: 1, sql, parameters: [], timezone: 'UTC', max_rows: 10 })
    await store.deleteProject(1)
    await store.close()
    const left = await readdir(folder)
    expect(left, 'the log was moved into the file').not.toContain('events.duckdb.wal')
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
    const before = process.cpuUsage()
    await vi.waitFor(() => expect(process.cpuUsage(before).user).toBeGreaterThan(200_000), 10_000)
    await store.close()
    for (const answer of await answers)
      expect(answer).toMatchObject({ status: 'rejected', reason: expect.any(StoreGone) })
  })

  it('is closed under no statement, also in the moment in which it would tidy up by itself', async () => {
    const { run, closeSync } = DuckDBConnection.prototype
    let running = 0
    const running_at_close: number[] = []
    vi.spyOn(DuckDBConnection.prototype, 'run').mockImplementation(async function (
      this: DuckDBConnection,
      ...args
    ) {
      running++
      return run.apply(this, args).finally(() => running--)
    })
    vi.spyOn(DuckDBConnection.prototype, 'closeSync').mockImplementation(function (this: DuckDBConnection) {
      running_at_close.push(running)
      closeSync.call(this)
    })
    const instance = await DuckDBInstance.create(join(folder, 'events.duckdb'))
    const writer = await Writer.open(instance)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      await writer.makeTables(1)
      const closed = writer.close()
      await vi.advanceTimersByTimeAsync(10_000)
      await closed
    } finally {
      vi.useRealTimers()
      vi.restoreAllMocks()
      instance.closeSync()
    }
    expect(running_at_close).toEqual([0])
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

describe('upgrades', () => {
  const first = { once: ['CREATE TABLE store_state (copies_position BIGINT, inserted_at TIMESTAMP)'] }
  const addsColumn = {
    perProject: (id: number) => [`ALTER TABLE ${tablesOf(id).event_rows} ADD COLUMN p_city VARCHAR`],
  }
  const fails = { once: ['CREATE TABLE half_done (x INT)', 'SELECT no_such_function()'] }

  async function fileOfVersionOne() {
    const connection = await (await DuckDBInstance.create(':memory:')).connect()
    await migrateFile(connection, [first])
    for (const id of [3, 4]) for (const sql of createProjectTables(id)) await connection.run(sql)
    return connection
  }
  const columnsOf = async (connection: Awaited<ReturnType<typeof fileOfVersionOne>>, id: number) =>
    (await (await connection.run(`DESCRIBE ${tablesOf(id).event_rows}`)).getRows()).map(([name]) => name)

  it('reach the tables of every project, once', async () => {
    const connection = await fileOfVersionOne()
    await migrateFile(connection, [first, addsColumn])
    await migrateFile(connection, [first, addsColumn])
    for (const id of [3, 4]) expect(await columnsOf(connection, id)).toContain('p_city')
  })

  it('that fail leave the file as it was', async () => {
    const connection = await fileOfVersionOne()
    await expect(migrateFile(connection, [first, addsColumn, fails])).rejects.toThrow('no_such_function')
    expect(await columnsOf(connection, 3)).not.toContain('p_city')
    await expect(connection.run('SELECT * FROM half_done')).rejects.toThrow('does not exist')
    await migrateFile(connection, [first, addsColumn])
    expect(await columnsOf(connection, 3)).toContain('p_city')
  })

  it('put events, persons and groups behind views and lose none', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'longshore-store-'))
    const before = await openDuckDb({ folder, ...options })
    const old = { created_at: 0n, properties: '{}' }
    const person = { ...old, id: randomUUID(), is_identified: true, version: 1 }
    const group = { ...old, index: 0, key: 'old' }
    await before.write(
      [{ ...eventsOf(3, storedEvent({ event: 'old' })), persons: [person], groups: [group] }],
      new Date(),
    )
    await before.close()
    const instance = await DuckDBInstance.create(join(folder, 'events.duckdb'))
    const connection = await instance.connect()
    const { events, event_rows, persons, person_rows, groups, group_rows } = tablesOf(3)
    const views = [events, persons, groups]
    for (const [index, rows] of [event_rows, person_rows, group_rows].entries())
      await connection.run(`DROP VIEW ${views[index]}; ALTER TABLE ${rows} RENAME TO ${views[index]}`)
    await connection.run('UPDATE store_version SET version = 2')
    connection.closeSync()
    instance.closeSync()
    const after = await openDuckDb({ folder, ...options })
    await after.write([eventsOf(3, storedEvent({ event: 'new' }))], new Date())
    const ask = async (sql: string) =>
      (await after.query({ project_id: 3, sql, parameters: [], timezone: 'UTC', max_rows: 9 })).rows
    expect(await ask(`SELECT seq, event FROM ${events} ORDER BY seq`)).toEqual([
      [1, 'old'],
      [2, 'new'],
    ])
    expect(await ask(`SELECT id, properties FROM ${persons}`)).toEqual([[person.id, '{}']])
    expect(await ask(`SELECT key, properties FROM ${groups}`)).toEqual([['old', '{}']])
    await after.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('a file of a later version is refused', async () => {
    const connection = await fileOfVersionOne()
    await migrateFile(connection, [first, addsColumn])
    await expect(migrateFile(connection, [first])).rejects.toThrow('newer than this program')
  })
})
