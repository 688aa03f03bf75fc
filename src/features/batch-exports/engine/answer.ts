// What becomes of a run whose attempt has failed or was stopped, as classify-failure.ts and the breaker say.
import { StoreGone } from '../../../platform/event-store/event-store.ts'
import { countFailure, type Opened } from '../breaker/queries.ts'
import { hasCompletedRun, returnRun } from '../runs/queries.ts'
import { cleaned, fail } from './end.ts'
import { askedMs, classifyFailure, delayMs, isLastAttempt, type FailureClass } from './classify-failure.ts'
import { Stopped, type Work } from './work.ts'

const TIME_IS_UP =
  'The run took longer than its time limit. Find out what makes the destination slow, or export shorter intervals.'

export async function answer(work: Work, error: unknown): Promise<void> {
  const { services, signal, run } = work
  const failure: unknown = signal.aborted ? signal.reason : error
  if (failure instanceof Stopped) return answerStop(work, failure)
  if (failure instanceof StoreGone) return
  const verdict = classifyFailure(failure)
  if (verdict.kind === 'ours')
    services.log.error(
      { err: work.redactor.cleanError(failure), run_id: run.id },
      'an attempt of an export failed on our side',
    )
  if (await isTheirs(work, verdict)) return fail(work, 'Failed', verdict.message)
  const opened = await tellBreaker(work, verdict)
  if (verdict.kind !== 'locked' && isLastAttempt(run.failures))
    return fail(work, 'FailedRetryable', verdict.message)
  if (await tryLater(work, verdict)) tellOpened(work, opened)
}

async function isTheirs({ services, run }: Work, { kind }: FailureClass): Promise<boolean> {
  if (kind !== 'unreachable') return kind === 'theirs'
  return !(await hasCompletedRun(services.db, run.project_id, run.batch_export_id))
}

/** Not of a lock on one table, nor of what went wrong on this server: others could get through all the same. */
async function tellBreaker({ services, row, run }: Work, verdict: FailureClass): Promise<Opened | null> {
  if (verdict.kind !== 'passing' && verdict.kind !== 'unreachable') return null
  // The last change of the run as it was claimed is the claim.
  const failure = { began_at: run.last_updated_at, asked_ms: askedMs(verdict) }
  return countFailure(services.db, row, failure, services.now())
}

/** False: the run is no longer ours. */
async function tryLater(work: Work, verdict: FailureClass): Promise<boolean> {
  const { services, run, lease } = work
  const wait_ms = delayMs(run.failures, askedMs(verdict), Math.random())
  const now = services.now()
  const latest_error = cleaned(work, verdict.message)
  const waiting_for = verdict.kind === 'locked' ? cleaned(work, verdict.lock) : null
  const failure = { latest_error, is_counted: verdict.kind !== 'locked', waiting_for }
  const run_after = new Date(now.getTime() + wait_ms)
  if (!(await returnRun(services.db, lease, { run_after, failure }, now))) return false
  work.tally.attempted('retried')
  const seconds = Math.ceil(wait_ms / 1000)
  const message = `Attempt ${run.attempt} failed, the next follows in ${seconds} s: ${latest_error}`
  work.log.write('WARNING', message)
  return true
}

function tellOpened({ log }: Work, opened: Opened | null): void {
  if (!opened) return
  const { failures, probe_at } = opened
  const next = `the runs to it wait, and one tries it again at ${probe_at.toISOString()}`
  log.write('WARNING', `The destination has failed ${failures} times in a row: ${next}.`)
}

async function answerStop(work: Work, { why }: Stopped): Promise<void> {
  const { services, lease } = work
  const now = services.now()
  if (why === 'time is up') return fail(work, 'TimedOut', TIME_IS_UP)
  work.tally.attempted('stopped')
  if (why === 'closing') await returnRun(services.db, lease, { run_after: now, failure: null }, now)
}
