// An attempt at a run from claim to end: does the work; answer.ts says what becomes of its failure.
import { sql } from '../../../platform/db/sql.ts'
import type { Services } from '../../../platform/services.ts'
import type { ExportRow, RunRow } from '../rows.ts'
import { cancelRun, releaseRun, type Lease } from '../runs/queries.ts'
import { answer } from './answer.ts'
import { fail, finish } from './end.ts'
import { isUsedUp } from './classify-failure.ts'
import { RunLog } from './run-log.ts'
import { redactorOfExport } from './redactor-of-export.ts'
import { performRun } from './run.ts'
import type { Work } from './work.ts'

const WORKERS_LOST =
  'The worker process was lost at the last of 15 attempts at this run. Check the memory and the log of this server, then retry the run.'

/** Never throws: what cannot be written down now is found by the next worker, once the lease has run out. */
export async function attemptRun(
  services: Services,
  run: RunRow,
  owner: string,
  attempt: Pick<Work, 'signal' | 'watch' | 'tally' | 'onProgress'>,
): Promise<void> {
  const lease: Lease = { run_id: run.id, owner, attempt: run.attempt }
  try {
    const row = await findExport(services, run)
    if (!row) await cancelRun(services.db, run, services.now())
    else await attemptWork({ ...startWork(services, row, run, lease), ...attempt })
  } catch (error) {
    services.log.error({ err: error, run_id: run.id }, 'the end of an export run could not be recorded')
  } finally {
    const wasCancelled = await releaseRun(services.db, lease).catch(() => false)
    if (wasCancelled) attempt.tally.cancelled()
  }
}

type ExportOfProject = ExportRow & { project_timezone: string }

function findExport({ db }: Services, run: RunRow): Promise<ExportOfProject | undefined> {
  return db.row(sql`
    SELECT batch_export.*, project.timezone AS project_timezone
    FROM batch_export JOIN project ON project.id = batch_export.project_id
    WHERE batch_export.project_id = ${run.project_id} AND batch_export.id = ${run.batch_export_id}
      AND deleted_at IS NULL`)
}

function startWork(
  services: Services,
  row: ExportOfProject,
  run: RunRow,
  lease: Lease,
): Omit<Work, 'signal' | 'watch' | 'tally' | 'onProgress'> {
  const redactor = redactorOfExport(services, row)
  const owner = { project_id: run.project_id, batch_export_id: run.batch_export_id, run_id: run.id }
  const log = new RunLog(services, owner, redactor)
  const from = run.data_interval_start?.toISOString() ?? 'the beginning'
  const again = run.attempt > 1 ? `, attempt ${run.attempt}` : ''
  log.write('INFO', `Run started for ${from} to ${run.data_interval_end.toISOString()}${again}.`)
  return {
    services,
    row,
    project: { id: row.project_id, timezone: row.project_timezone },
    run,
    lease,
    log,
    redactor,
  }
}

async function attemptWork(work: Work): Promise<void> {
  const { services, log } = work
  try {
    if (isUsedUp(work.run.failures)) return await fail(work, 'FailedRetryable', WORKERS_LOST)
    const end = await performRun(work)
    if (await finish(work, end)) log.write('INFO', `Completed: ${end.records_completed} rows delivered.`)
  } catch (error) {
    await answer(work, error)
  } finally {
    await log.flush()
    services.log.debug({ run_id: work.run.id }, 'export run left')
  }
}
