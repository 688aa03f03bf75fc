// A store on ClickHouse for a test: a database of its own there, and one in PostgreSQL.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeDatabase } from '../../../../test/harness/app.ts'
import { makeClickHouseDatabase } from '../../../../test/harness/clickhouse.ts'
import type { Database } from '../../db/database.ts'
import type { EventStore } from '../event-store.ts'
import { openClickHouse, type ClickHouse } from './client.ts'
import { openClickHouseStore } from './open.ts'

export type TestStore = {
  store: EventStore
  db: Database
  clickhouse: ClickHouse
  /** Closes the store and opens the same data again. */
  reopen(): Promise<EventStore>
  /** Names of what lies in the staging folder. */
  staged(): Promise<string[]>
  dispose(): Promise<void>
}

export async function openTestStore(query_timeout_ms: number): Promise<TestStore> {
  const { db, drop } = await makeDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'longshore-clickhouse-'))
  const { url, drop: dropTables } = await makeClickHouseDatabase()
  const options = { url, cluster: null, db, staging: folder, memory_mb: 256, query_timeout_ms }
  let store = await openClickHouseStore(options)
  const clickhouse = openClickHouse({ url, cluster: null })
  return {
    store,
    db,
    clickhouse,
    async reopen() {
      await store.close()
      return (store = await openClickHouseStore(options))
    },
    staged: () => readdir(folder),
    async dispose() {
      await store.close()
      await clickhouse.close()
      await dropTables()
      await drop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
