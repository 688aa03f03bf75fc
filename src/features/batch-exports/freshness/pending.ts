// Which events of an export wait for its schedule: those that its runs have claimed and not delivered, and those that no
// run has come to. Pure; positions and times come from the caller.
import type { PositionRange } from '../../../platform/event-store/event-store.ts'
import { countEvents, firstEvent } from '../../../platform/event-store/holes.ts'
import { countBoundaries, earliest, intervalEndingAt, justBefore } from '../schedule/grid.ts'
import type { Debt, WatchedExport } from './queries.ts'

export type Pending = {
  rows: number
  /** Position of the first; null when there are none. */
  first: number | null
}

/** Start of the first interval that has no run yet; null when the schedule is over. */
export function openSince(row: WatchedExport): Date | null {
  return isOver(row) ? null : intervalEndingAt(row, row.next_due_at).start
}

/** Intervals that have ended and have no run yet. */
export function countUnmadeRuns(row: WatchedExport, now: Date): number {
  if (isOver(row)) return 0
  return countBoundaries(row, justBefore(row.next_due_at)!, earliest(now, row.end_at))
}

/** The times at which positions have to be known. */
export function edgesOf({ open_from, open_to }: Debt): Date[] {
  return [...open_from, ...open_to].filter((edge) => edge !== null)
}

/** `positionAt` gives the last position that arrived before an instant; null when that lies ahead. */
export function pendingOf(
  { claimed_rows, claimed_from, open_from, open_to }: Debt,
  { last_position, holes }: { last_position: number; holes: readonly PositionRange[] },
  positionAt: (edge: Date) => number | null,
): Pending {
  const stretches = open_from.flatMap((start, index) => {
    const end = open_to[index]!
    const from = start === null ? 0 : positionAt(start)
    const to = (end === null ? null : positionAt(end)) ?? last_position
    return from === null || from >= to ? [] : [{ from, to }]
  })
  const unclaimed = stretches.flatMap((stretch) => firstEvent(stretch, holes) ?? [])
  const firsts = [...unclaimed, ...(claimed_from === null ? [] : [claimed_from])]
  return {
    rows: stretches.reduce((sum, stretch) => sum + countEvents(stretch, holes), claimed_rows),
    first: firsts.length === 0 ? null : Math.min(...firsts),
  }
}

function isOver({ end_at, next_due_at }: WatchedExport): boolean {
  return end_at !== null && next_due_at > end_at
}
