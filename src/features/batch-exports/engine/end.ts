// How an attempt's end is written down, with all that follows from it in one transaction.
import { closeBreaker } from '../breaker/queries.ts'
import { endRun, type RunEnd } from '../runs/queries.ts'
import { scrub } from '../scrub.ts'
import { afterRun } from './after-run.ts'
import type { Work } from './work.ts'

/** False: the run is no longer ours. */
export async function finish(work: Work, end: RunEnd): Promise<boolean> {
  const { services, lease, tally } = work
  const now = services.now()
  const wasOurs = await services.db.transaction(async (tx) => {
    const isOurs = await endRun(tx, lease, end, now)
    if (isOurs) await afterRun(tx, work, end, now)
    // A run without rows has not asked the destination.
    if (isOurs && (end.records_completed ?? 0) > 0) await closeBreaker(tx, work.row)
    return isOurs
  })
  if (wasOurs) tally.ended(end)
  else tally.attempted('stopped')
  return wasOurs
}

export async function fail(
  work: Work,
  status: 'Failed' | 'FailedRetryable' | 'TimedOut',
  message: string,
): Promise<void> {
  const latest_error = cleaned(work, message)
  const end = { status, records_completed: null, bytes_exported: null, files: null, latest_error }
  if (await finish(work, end)) work.log.write('ERROR', `${status}: ${latest_error}`)
}

/** Without the secrets of the destination. */
export function cleaned({ redactor }: Work, message: string): string {
  return scrub(message, redactor)
}
