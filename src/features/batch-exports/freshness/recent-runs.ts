// The newest runs of exports, as far as a strip of bars shows them: one statement for all exports of a project.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { RunRow } from '../rows.ts'
import type { WatchedExport } from './queries.ts'

export type RecentRunRow = Pick<
  RunRow,
  | 'id'
  | 'batch_export_id'
  | 'status'
  | 'data_interval_start'
  | 'data_interval_end'
  | 'records_completed'
  | 'records_total_count'
  | 'finished_at'
  | 'backfill_id'
>

/**
 * By export id, newest first. Reads `count` entries of an index for each export, however many runs there were. The project
 * is not asked for besides: PostgreSQL would take few runs to be left, and sort all there are.
 */
export async function listRecentRuns(
  db: Db,
  exports: readonly Pick<WatchedExport, 'id'>[],
  count: number,
): Promise<Map<string, RecentRunRow[]>> {
  if (count === 0 || exports.length === 0) return new Map()
  const rows = await db.rows<RecentRunRow>(sql`
    SELECT run.* FROM unnest(${exports.map(({ id }) => id)}::uuid[]) AS export (id)
    CROSS JOIN LATERAL (
      SELECT id, batch_export_id, status, data_interval_start, data_interval_end,
        records_completed, records_total_count, finished_at, backfill_id, created_at
      FROM batch_export_run WHERE batch_export_id = export.id
      ORDER BY created_at DESC, id DESC LIMIT ${count}) AS run
    ORDER BY run.created_at DESC, run.id DESC`)
  const runsOf = new Map(exports.map(({ id }) => [id, [] as RecentRunRow[]]))
  for (const row of rows) runsOf.get(row.batch_export_id)!.push(row)
  return runsOf
}
