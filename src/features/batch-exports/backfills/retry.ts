// Repeats one run: the old row stays as it is, the new one delivers the same events under the same names and keys.
import type { Db } from '../../../platform/db/database.ts'
import { deliveryIdOf } from '../ledger/claim.ts'
import type { RunRow } from '../rows.ts'
import { assertRoomForBackfill } from './create.ts'
import { NOTHING } from './plan.ts'
import { findRetry, insertBackfill, lockBackfills } from './queries.ts'
import { advanceBackfill } from './advance.ts'

/** Gives the live one when the run is being repeated already. */
export async function retryRun(tx: Db, run: RunRow, now: Date): Promise<{ backfill_id: string }> {
  const { project_id, batch_export_id } = run
  await lockBackfills(tx, project_id)
  const same = await findRetry(tx, project_id, run.id)
  if (same) return { backfill_id: same.id }
  await assertRoomForBackfill(tx, project_id)
  const backfill_id = await insertBackfill(
    tx,
    {
      project_id,
      batch_export_id,
      kind: 'retry',
      start_at: run.data_interval_start,
      end_at: run.data_interval_end,
      ...NOTHING,
      retry_of: run.id,
      seq_to: 0,
      status: 'Starting',
      queue: [deliveryIdOf(run)],
      total_runs: 1,
      rows_to_deliver: run.records_total_count,
      rows_delivered_before: run.records_completed,
    },
    now,
  )
  await advanceBackfill(tx, backfill_id, now)
  return { backfill_id }
}
