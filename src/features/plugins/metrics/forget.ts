// Counts and errors of apps are kept for 90 days. A timetable entry calls this.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'

const KEPT_MS = 90 * 24 * 3_600_000
/** Small enough that no statement holds locks, or the disk, for long. */
const BATCH_SIZE = 10_000

/** Over all projects; how many rows went. */
export async function forgetOldPluginMetrics(db: Db, now: Date): Promise<number> {
  const oldest_kept = new Date(now.getTime() - KEPT_MS)
  for (let forgotten = 0; ;) {
    const counts = await db.run(sql`
      DELETE FROM plugin_metric WHERE (plugin_config_id, category, hour, job_id) IN (
        SELECT plugin_config_id, category, hour, job_id FROM plugin_metric
        WHERE hour < ${oldest_kept} ORDER BY hour LIMIT ${BATCH_SIZE})`)
    const errors = await db.run(sql`
      DELETE FROM plugin_metric_error WHERE id IN (
        SELECT id FROM plugin_metric_error WHERE timestamp < ${oldest_kept} ORDER BY timestamp LIMIT ${BATCH_SIZE})`)
    forgotten += counts + errors
    if (counts < BATCH_SIZE && errors < BATCH_SIZE) return forgotten
  }
}
