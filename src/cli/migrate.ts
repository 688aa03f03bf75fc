// `longshore migrate`: brings the database, and ClickHouse where it is used, up to this version without starting the server.
import { explainClickHouseFault } from '../app/start-faults.ts'
import type { Database } from '../platform/db/database.ts'
import { sql } from '../platform/db/sql.ts'
import { openClickHouse } from '../platform/event-store/clickhouse/client.ts'
import { migrateTables } from '../platform/event-store/clickhouse/tables.ts'
import type { Command } from './command.ts'
import { takeConfig } from './environment.ts'
import { withDatabase } from './with-database.ts'

/** Any number, the same in every version: one of these commands at a time is at ClickHouse's tables. */
const LOCK = 5_807_114

export const migrate: Command = {
  name: 'migrate',
  description: 'upgrade the database to this version, and the tables in ClickHouse if CLICKHOUSE_URL is set',
  async run() {
    const applied = await withDatabase(async (db, names) => [
      ...names.map((name) => `applied ${name}`),
      ...(await migrateClickHouse(db)).map((name) => `applied ${name} to ClickHouse`),
    ])
    const lines = applied.length === 0 ? ['nothing to do, the database is up to date'] : applied
    process.stdout.write(`${lines.join('\n')}\n`)
  },
}

async function migrateClickHouse(db: Database): Promise<string[]> {
  const { CLICKHOUSE_URL: url, CLICKHOUSE_CLUSTER: cluster } = takeConfig()
  if (url === null) return []
  const clickhouse = openClickHouse({ url, cluster })
  try {
    return await db.transaction(async (tx) => {
      await tx.run(sql`SELECT pg_advisory_xact_lock(${LOCK})`)
      return await migrateTables(clickhouse)
    })
  } catch (error) {
    throw explainClickHouseFault(url, error)
  } finally {
    await clickhouse.close()
  }
}
