// Brings ClickHouse up to this version: its tables, and what PostgreSQL must know of tables that were not there.
import type { Database } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { ClickHouse } from './client.ts'
import { OwedCopies } from './owed-copies.ts'
import { isWithoutTables, migrateTables } from './tables.ts'
import { readVersion } from './version.ts'

/** Any number, the same in every version. */
const LOCK = 5_807_113

/** One process after the other. Names of the migrations applied. */
export async function upgradeClickHouse(clickhouse: ClickHouse, db: Database): Promise<string[]> {
  await readVersion(clickhouse)
  return await db.transaction(async (tx) => {
    await tx.run(sql`SELECT pg_advisory_xact_lock(${LOCK})`)
    // Before there are tables, and committed by then: persons who were there earlier are copied even if this fails.
    if (await isWithoutTables(clickhouse)) await new OwedCopies(db).oweEverything()
    return await migrateTables(clickhouse)
  })
}
