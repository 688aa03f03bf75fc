// What follows from the end of a run: the export is fresher, its backfill may be over, and an export that keeps failing is
// paused and its owners told. All in the transaction that ends the run.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import { advanceBackfill } from '../backfills/advance.ts'
import { cancelLiveBackfills } from '../backfills/cancel.ts'
import { enqueueFailureEmails } from '../failure-email.ts'
import { keepProgress } from '../freshness/queries.ts'
import { writeLog } from '../logs/write.ts'
import { countRecentFailures, type RunEnd } from '../runs/queries.ts'
import { pauseExport } from '../schedule/actions.ts'
import { enqueueAfterRun } from '../verification/queries.ts'
import type { Work } from './work.ts'

const FAILURES_TO_PAUSE = 10
const RUNS_LOOKED_AT = 50

export async function afterRun(tx: Db, work: Work, end: RunEnd, now: Date): Promise<void> {
  const { run } = work
  if (end.status === 'Completed') await keepProgress(tx, run, end.newest_arrival ?? null)
  if (end.status === 'Failed') await answerFailure(tx, work, now)
  if (end.status === 'Completed') await enqueueAfterRun(tx, run, now)
  if (run.backfill_id !== null) await advanceBackfill(tx, run.backfill_id, now)
}

async function answerFailure(tx: Db, { services, row, run }: Work, now: Date): Promise<void> {
  const { project_id, id: batch_export_id } = row
  const failures = await countRecentFailures(tx, project_id, batch_export_id, RUNS_LOOKED_AT)
  const isPaused = failures >= FAILURES_TO_PAUSE && (await pauseFailing(tx, project_id, batch_export_id, now))
  if (isPaused) {
    const message = `Paused: ${failures} of the last ${RUNS_LOOKED_AT} runs have failed.`
    await writeLog(tx, { project_id, batch_export_id, run_id: null }, 'WARNING', message, now)
  }
  await enqueueFailureEmails(services, tx, { run_id: run.id, row, is_paused: isPaused }, now)
}

async function pauseFailing(tx: Db, project_id: number, id: string, now: Date): Promise<boolean> {
  const row = await tx.row<Work['row']>(sql`
    SELECT * FROM batch_export WHERE project_id = ${project_id} AND id = ${id} AND deleted_at IS NULL AND NOT paused
    FOR NO KEY UPDATE`)
  if (!row) return false
  await pauseExport(tx, row, now)
  await cancelLiveBackfills(tx, row, now)
  return true
}
