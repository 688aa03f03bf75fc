// Who may begin another run in this process. A run that only waits for its destination costs a connection and no more, so
// it does not keep others from working: places are counted by the runs that are at work, and waiting ones are bounded.
import { MOST_RUNS_PER_PROJECT } from '../runs/claimable.ts'

/** Runs at work and waiting together, for each run that may be at work. */
const LIVE_PER_PLACE = 8
/** The part of all room that is kept for projects with nothing at work. */
const KEPT_FREE = 1 / 4
/** One of the schedule and one of a backfill, say: while others hold all the room there is, each project may have these. */
const SHARE = 2

export type Load = {
  /** Runs that read, encode or send. */
  working: number
  /** Those and the ones that wait for their destination. */
  live: number
}

/** Projects with fewer runs than this may begin another; 0: none may. */
export function admittedBelow({ working, live }: Load, max_runs: number): number {
  const most_live = LIVE_PER_PLACE * max_runs
  if (working >= max_runs || live >= most_live) return 0
  if (working >= max_runs - keptFree(max_runs) || live >= most_live - keptFree(most_live)) return 1
  return live >= max_runs ? SHARE : MOST_RUNS_PER_PROJECT
}

/** A single place cannot be kept for others. */
function keptFree(room: number): number {
  return room === 1 ? 0 : Math.max(1, Math.floor(room * KEPT_FREE))
}
