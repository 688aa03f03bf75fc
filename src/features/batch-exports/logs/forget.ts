// Log lines are kept for 30 days. A timetable entry calls this.
import type { Db } from '../../../platform/db/database.ts'
import { deleteInBatches } from '../../../platform/db/in-batches.ts'
import { sql } from '../../../platform/db/sql.ts'

const KEPT_MS = 30 * 24 * 3_600_000

/** Over all projects; how many lines went. */
export function forgetOldLogs(db: Db, now: Date): Promise<number> {
  const oldest_kept = new Date(now.getTime() - KEPT_MS)
  return deleteInBatches(
    db,
    (batch_size) => sql`
      DELETE FROM batch_export_log WHERE (batch_export_id, id) IN (
        SELECT batch_export_id, id FROM batch_export_log WHERE timestamp < ${oldest_kept}
        ORDER BY timestamp LIMIT ${batch_size})`,
  )
}
