// Log lines of apps are kept for a week. A timetable entry calls this.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'

const KEPT_MS = 7 * 24 * 3_600_000
/** Small enough that no statement holds locks, or the disk, for long. */
const BATCH_SIZE = 10_000

/** Over all projects; how many lines went. */
export async function forgetOldPluginLogs(db: Db, now: Date): Promise<number> {
  const oldest_kept = new Date(now.getTime() - KEPT_MS)
  for (let forgotten = 0; ;) {
    const count = await db.run(sql`
      DELETE FROM plugin_log WHERE id IN (
        SELECT id FROM plugin_log WHERE timestamp < ${oldest_kept} ORDER BY timestamp LIMIT ${BATCH_SIZE})`)
    forgotten += count
    if (count < BATCH_SIZE) return forgotten
  }
}
