// The event store of an installation that has a ClickHouse and a PostgreSQL of its own.
import { mkdir } from 'node:fs/promises'
import type { Database } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { EventStore } from '../event-store.ts'
import { openClickHouse, type ClickHouseOptions } from './client.ts'
import { holdOpen } from './in-use.ts'
import { OwedCopies } from './owed-copies.ts'
import { storeOf } from './store.ts'
import { isWithoutTables, migrateTables } from './tables.ts'
import { readVersion } from './version.ts'

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

/** Any number, the same in every version. */
const MIGRATION_LOCK = 5_807_113

export async function openClickHouseStore(options: ClickHouseStoreOptions): Promise<EventStore> {
  const { db, staging, memory_mb, query_timeout_ms, onLost } = options
  await mkdir(staging, { recursive: true })
  const held = await holdOpen(db, onLost)
  const clickhouse = openClickHouse(options)
  try {
    await readVersion(clickhouse)
    await db.transaction(async (tx) => {
      await tx.run(sql`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`)
      // Before there are tables, and committed by then: persons who were there earlier are copied even if this start fails.
      if (await isWithoutTables(clickhouse)) await new OwedCopies(db).oweEverything()
      await migrateTables(clickhouse)
    })
  } catch (error) {
    await clickhouse.close()
    await held.release()
    throw error
  }
  const limits = { timeout_ms: query_timeout_ms, memory_mb }
  return storeOf({ clickhouse, db, staging, limits, onClosed: () => held.release() })
}
