// What the clockwork of this process has done since it started: counts for the metrics. They begin anew with every start,
// which those who read them expect.
import { END_STATUSES, type EndStatus } from '../rows.ts'
import type { RunEnd } from '../runs/queries.ts'

/** `retried`: the run was given back for another attempt. `stopped`: by whoever cancelled it, took it over or ended us. */
const ATTEMPT_OUTCOMES = ['completed', 'failed', 'retried', 'stopped'] as const
type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number]

export class RunTally {
  readonly runs = zeros<EndStatus>(END_STATUSES)
  readonly attempts = zeros<AttemptOutcome>(ATTEMPT_OUTCOMES)
  rows = 0
  bytes = 0

  /** An attempt that ended its run. */
  ended({ status, records_completed, bytes_exported }: RunEnd): void {
    this.runs[status]++
    this.attempted(status === 'Completed' ? 'completed' : 'failed')
    this.rows += records_completed ?? 0
    this.bytes += bytes_exported ?? 0
  }

  attempted(outcome: AttemptOutcome): void {
    this.attempts[outcome]++
  }

  /** A run that somebody cancelled while this process worked on it. */
  cancelled(): void {
    this.runs.Cancelled++
  }
}

function zeros<Key extends string>(keys: readonly Key[]): Record<Key, number> {
  return Object.fromEntries(keys.map((key) => [key, 0])) as Record<Key, number>
}
