// What a run waits for, and since when: said with every run, so that nobody has to guess why nothing happens.
import type { RunRow } from '../rows.ts'
import { RUNS_OF_BACKFILLS, RUNS_PER_PROJECT } from './claimable.ts'

/** What stands in the way of a run that nobody works on. */
export type Obstacles = {
  /** The breaker of its destination, when it is open. */
  breaker: { failures: number; probe_at: Date } | null
  /** Runs of its project that are at work, and how many of them at the same destination. */
  active: number
  at_destination: number
  is_interval_taken: boolean
}

export type Waiting = { waiting_for: string | null; waiting_since: Date | null }

const NOTHING: Waiting = { waiting_for: null, waiting_since: null }

/** `obstacles` of a run that has not ended and that nobody works on; without any it is about to begin. */
export function waitingOf(run: RunRow, obstacles: Obstacles | undefined, now: Date): Waiting {
  if (run.finished_at !== null) return NOTHING
  if (run.lease_owner !== null) {
    return run.waiting_since === null
      ? NOTHING
      : { waiting_for: 'the destination to answer', waiting_since: run.waiting_since }
  }
  const reason =
    breakerReason(obstacles, now) ?? timeReason(run, now) ?? slotReason(run, obstacles) ?? 'a free worker'
  // Its last change was to be made, or to be given back.
  return { waiting_for: reason, waiting_since: run.last_updated_at }
}

function breakerReason(obstacles: Obstacles | undefined, now: Date): string | null {
  if (!obstacles?.breaker) return null
  const { breaker, at_destination } = obstacles
  const failed = `the destination: it failed ${breaker.failures} times in a row`
  if (breaker.probe_at > now) return `${failed}, the next try is at ${breaker.probe_at.toISOString()}`
  return at_destination > 0 ? `${failed}, and another run is trying it` : null
}

function timeReason({ run_after, attempt, waiting_for }: RunRow, now: Date): string | null {
  if (run_after <= now) return null
  const at = run_after.toISOString()
  if (waiting_for !== null) return `${waiting_for}; the next attempt is at ${at}`
  return attempt === 0 ? `its start at ${at}` : `the next attempt at ${at}`
}

function slotReason({ backfill_id }: RunRow, obstacles: Obstacles | undefined): string | null {
  if (!obstacles) return null
  const { active, at_destination, is_interval_taken } = obstacles
  if (is_interval_taken) return 'its turn: another run of the same interval is running'
  if (backfill_id !== null) {
    const all = `all ${RUNS_OF_BACKFILLS} that backfills of this project may use are taken`
    return active < RUNS_OF_BACKFILLS ? null : `a free slot: ${all}`
  }
  const hasSlot = active < RUNS_PER_PROJECT || at_destination === 0
  return hasSlot ? null : `a free slot: all ${RUNS_PER_PROJECT} of this project are taken`
}
