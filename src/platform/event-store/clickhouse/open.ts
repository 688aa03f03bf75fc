// The event store of an installation that has a ClickHouse and a PostgreSQL of its own.
import { mkdir } from 'node:fs/promises'
import type { Database } from '../../db/database.ts'
import type { EventStore } from '../event-store.ts'
import { openClickHouse, type ClickHouseOptions } from './client.ts'
import { holdOpen } from './in-use.ts'
import { storeOf } from './store.ts'
import { upgradeClickHouse } from './upgrade.ts'

export type ClickHouseStoreOptions = ClickHouseOptions & {
  db: Database
  /** Where files of exports are written. */
  staging: string
  /** For one question. */
  memory_mb: number
  query_timeout_ms: number
  /** Events are being moved to another store: nothing can be stored any more. */
  onLost?(error: Error): void
}

export async function openClickHouseStore(options: ClickHouseStoreOptions): Promise<EventStore> {
  const { db, staging, memory_mb, query_timeout_ms, onLost } = options
  await mkdir(staging, { recursive: true })
  const held = await holdOpen(db, onLost)
  const clickhouse = openClickHouse(options)
  try {
    await upgradeClickHouse(clickhouse, db)
  } catch (error) {
    await clickhouse.close()
    await held.release()
    throw error
  }
  const limits = { timeout_ms: query_timeout_ms, memory_mb }
  return storeOf({ clickhouse, db, staging, limits, onClosed: () => held.release() })
}
