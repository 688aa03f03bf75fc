// Log lines of apps are kept for a week. A timetable entry calls this.
import type { Db } from '../../../platform/db/database.ts'
import { deleteInBatches } from '../../../platform/db/in-batches.ts'
import { sql } from '../../../platform/db/sql.ts'

const KEPT_MS = 7 * 24 * 3_600_000

/** Over all projects; how many lines went. */
export function forgetOldPluginLogs(db: Db, now: Date): Promise<number> {
  const oldest_kept = new Date(now.getTime() - KEPT_MS)
  return deleteInBatches(
    db,
    (batch_size) => sql`
      DELETE FROM plugin_log WHERE id IN (
        SELECT id FROM plugin_log WHERE timestamp < ${oldest_kept} ORDER BY timestamp LIMIT ${batch_size})`,
  )
}
