// Counts and errors of apps are kept for 90 days. A timetable entry calls this.
import type { Db } from '../../../platform/db/database.ts'
import { deleteInBatches } from '../../../platform/db/in-batches.ts'
import { sql } from '../../../platform/db/sql.ts'

const KEPT_MS = 90 * 24 * 3_600_000

/** Over all projects; how many rows went. */
export async function forgetOldPluginMetrics(db: Db, now: Date): Promise<number> {
  const oldest_kept = new Date(now.getTime() - KEPT_MS)
  const counts = await deleteInBatches(
    db,
    (batch_size) => sql`
      DELETE FROM plugin_metric WHERE (plugin_config_id, category, hour, job_id) IN (
        SELECT plugin_config_id, category, hour, job_id FROM plugin_metric
        WHERE hour < ${oldest_kept} ORDER BY hour LIMIT ${batch_size})`,
  )
  const errors = await deleteInBatches(
    db,
    (batch_size) => sql`
      DELETE FROM plugin_metric_error WHERE id IN (
        SELECT id FROM plugin_metric_error WHERE timestamp < ${oldest_kept} ORDER BY timestamp LIMIT ${batch_size})`,
  )
  return counts + errors
}
