// An attempt at a run from claim to end: does the work, and makes of its failure what the rules say.
import { sql } from '../../../platform/db/sql.ts'
import { StoreGone } from '../../../platform/event-store/event-store.ts'
import type { Services } from '../../../platform/services.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import type { ExportRow, RunRow } from '../rows.ts'
import {
  cancelRun,
  endRun,
  hasCompletedRun,
  releaseRun,
  returnRun,
  type Lease,
  type RunEnd,
} from '../runs/queries.ts'
import { scrub, secretValuesOf } from '../scrub.ts'
import { configWithSecrets } from '../secrets.ts'
import { settle } from './aftermath.ts'
import { delayMs, isLastAttempt, isUsedUp, judge } from './judge.ts'
import { RunLog } from './run-log.ts'
import { performRun } from './run.ts'
import { Stopped, type Work } from './work.ts'

const WORKERS_LOST =
  'The worker process was lost at the last of 15 attempts at this run. Check the memory and the log of this server, then retry the run.'
const TIME_IS_UP =
  'The run took longer than its time limit. Find out what makes the destination slow, or export shorter intervals.'

/** Never throws: what cannot be written down now is found by the next worker, once the lease has run out. */
export async function attemptRun(
  services: Services,
  run: RunRow,
  owner: string,
  attempt: Pick<Work, 'signal' | 'tally' | 'onProgress'>,
): Promise<void> {
  const lease: Lease = { run_id: run.id, owner, attempt: run.attempt }
  try {
    const row = await findExport(services, run)
    if (!row) await cancelRun(services.db, run, services.now())
    else await attemptWork({ ...startWork(services, row, run, lease), ...attempt })
  } catch (error) {
    services.log.error({ err: error, run_id: run.id }, 'an export run could not be settled')
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
): Omit<Work, 'signal' | 'tally' | 'onProgress'> {
  const secrets = secretsOf(services, row)
  const owner = { project_id: run.project_id, batch_export_id: run.batch_export_id, run_id: run.id }
  const log = new RunLog(services, owner, (text) => scrub(text, secrets))
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
  }
}

function secretsOf(services: Services, row: ExportRow): string[] {
  return secretValuesOf(DESTINATIONS.get(row.destination_type)!, configWithSecrets(services, row))
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

async function finish(work: Work, end: RunEnd): Promise<boolean> {
  const { services, lease, tally } = work
  const now = services.now()
  const wasOurs = await services.db.transaction(async (tx) => {
    const isOurs = await endRun(tx, lease, end, now)
    if (isOurs) await settle(tx, work, end, now)
    return isOurs
  })
  if (wasOurs) tally.ended(end)
  else tally.attempted('stopped')
  return wasOurs
}

async function answer(work: Work, error: unknown): Promise<void> {
  const { services, signal, run, lease } = work
  const stopped = signal.aborted && signal.reason instanceof Stopped ? signal.reason : error
  if (stopped instanceof Stopped) return answerStop(work, stopped)
  if (error instanceof StoreGone) return
  const verdict = judge(error)
  if (verdict.kind === 'ours')
    services.log.error({ err: error, run_id: run.id }, 'an attempt of an export failed on our side')
  const isTheirs =
    verdict.kind === 'theirs' ||
    (verdict.kind === 'unreachable' &&
      !(await hasCompletedRun(services.db, run.project_id, run.batch_export_id)))
  if (isTheirs) return fail(work, 'Failed', verdict.message)
  if (isLastAttempt(run.failures)) return fail(work, 'FailedRetryable', verdict.message)
  const wait_ms = delayMs(
    run.failures,
    'retry_after_ms' in verdict ? verdict.retry_after_ms : null,
    Math.random(),
  )
  const now = services.now()
  const latest_error = cleaned(work, verdict.message)
  const run_after = new Date(now.getTime() + wait_ms)
  if (!(await returnRun(services.db, lease, { run_after, latest_error, is_failure: true }, now))) return
  work.tally.attempted('retried')
  const seconds = Math.ceil(wait_ms / 1000)
  work.log.write(
    'WARNING',
    `Attempt ${run.attempt} failed, the next follows in ${seconds} s: ${latest_error}`,
  )
}

async function answerStop(work: Work, { why }: Stopped): Promise<void> {
  const { services, lease } = work
  const now = services.now()
  if (why === 'time is up') return fail(work, 'TimedOut', TIME_IS_UP)
  work.tally.attempted('stopped')
  if (why === 'closing') {
    await returnRun(services.db, lease, { run_after: now, latest_error: null, is_failure: false }, now)
  }
}

async function fail(
  work: Work,
  status: 'Failed' | 'FailedRetryable' | 'TimedOut',
  message: string,
): Promise<void> {
  const latest_error = cleaned(work, message)
  const end = { status, records_completed: null, bytes_exported: null, files: null, latest_error }
  if (await finish(work, end)) work.log.write('ERROR', `${status}: ${latest_error}`)
}

function cleaned({ services, row }: Work, message: string): string {
  return scrub(message, secretsOf(services, row))
}
