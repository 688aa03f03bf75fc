// A store on ClickHouse for a test: a database of its own there, and one in PostgreSQL. CLICKHOUSE_URL says where
// (`npm run test:clickhouse`).
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeDatabase } from '../../../../test/harness/app.ts'
import type { Database } from '../../db/database.ts'
import type { EventStore } from '../event-store.ts'
import { openClickHouse, type ClickHouse } from './client.ts'
import { openClickHouseStore } from './open.ts'

/** Null: no ClickHouse is there to test with. */
export const CLICKHOUSE_ADDRESS = process.env.CLICKHOUSE_URL ?? null

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
  const name = `test_${randomBytes(6).toString('hex')}`
  const server = openClickHouse({ url: addressOf(null), cluster: null })
  await server.command(`CREATE DATABASE ${name}`)
  const url = addressOf(name)
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
      await server.command(`DROP DATABASE ${name}`)
      await server.close()
      await drop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function addressOf(database: string | null): string {
  const url = new URL(CLICKHOUSE_ADDRESS!)
  url.username ||= encodeURIComponent(process.env.CLICKHOUSE_USER ?? '')
  url.password ||= encodeURIComponent(process.env.CLICKHOUSE_PASSWORD ?? '')
  if (database !== null) url.pathname = `/${database}`
  return url.href
}
