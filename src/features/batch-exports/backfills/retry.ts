// Repeats one run as a backfill of one interval: the old row stays as it is, the new one chooses its rows the same way.
import type { Db } from '../../../platform/db/database.ts'
import type { RunRow } from '../rows.ts'
import { insertRuns } from '../schedule/new-runs.ts'
import { assertRoomForBackfill } from './create.ts'
import { findRetry, insertBackfill, lockBackfills } from './queries.ts'

/** Gives the live one when the run is being repeated already. */
export async function retryRun(tx: Db, run: RunRow, now: Date): Promise<{ backfill_id: string }> {
  const { project_id, batch_export_id, selection, seq_from, seq_to } = run
  await lockBackfills(tx, project_id)
  const same = await findRetry(tx, project_id, run.id)
  if (same) return { backfill_id: same.id }
  await assertRoomForBackfill(tx, project_id)
  const interval = { start: run.data_interval_start, end: run.data_interval_end }
  const backfill_id = await insertBackfill(
    tx,
    {
      project_id,
      batch_export_id,
      start_at: interval.start,
      end_at: interval.end,
      adjusted_start_at: null,
      retry_of: run.id,
      // Not frozen yet: the run that is made here finds the same position by itself.
      seq_to: seq_to ?? 0,
      status: 'Running',
      total_runs: 1,
      next_end_at: null,
    },
    now,
  )
  const bounds = { interval, selection, seq_from, seq_to }
  await insertRuns(tx, [{ project_id, batch_export_id, backfill_id, ...bounds, run_after: now }], now)
  return { backfill_id }
}
