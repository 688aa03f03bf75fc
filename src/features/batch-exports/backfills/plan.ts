// Which intervals a backfill has: those of the export's own schedule that end after its start and not after its end.
import type { BackfillRow, ExportRow } from '../rows.ts'
import {
  boundaryAfter,
  boundaryAtOrBefore,
  countBoundaries,
  earliest,
  justBefore,
  latest,
} from '../schedule/grid.ts'

/** A start of null is the first event; an end of null is now, after which the schedule takes over. */
export type BackfillRange = { start_at: Date | null; end_at: Date | null }

type Plan = Pick<BackfillRow, 'adjusted_start_at' | 'total_runs' | 'next_end_at'>

const NOTHING: Plan = { adjusted_start_at: null, total_runs: 0, next_end_at: null }

/** `first_event_at` is null when there are no events. */
export function planBackfill(
  row: ExportRow,
  range: BackfillRange,
  first_event_at: Date | null,
  now: Date,
): Plan {
  const until = lastPossibleEnd(row, { ...range, created_at: now })
  if (isFromBeginningOfTime(row, range)) {
    return { adjusted_start_at: null, total_runs: 1, next_end_at: boundaryAtOrBefore(row, until) }
  }
  const from = beginning(row, range, first_event_at)
  const next_end_at = from && boundaryAfter(row, from)
  if (next_end_at === null || next_end_at > until) return NOTHING
  return {
    adjusted_start_at: from?.getTime() === range.start_at?.getTime() ? null : from,
    total_runs: countBoundaries(row, from!, until),
    next_end_at,
  }
}

/** No run of the backfill ends later. */
export function lastPossibleEnd(
  row: Pick<ExportRow, 'end_at'>,
  backfill: Pick<BackfillRow, 'end_at' | 'created_at'>,
): Date {
  return earliest(backfill.end_at ?? backfill.created_at, row.end_at)
}

/** People have no first event to begin with: all of them go out at once, as they are at the end. */
export function isFromBeginningOfTime(
  row: Pick<ExportRow, 'model' | 'start_at'>,
  range: BackfillRange,
): boolean {
  return row.model === 'persons' && range.start_at === null && row.start_at === null
}

/** Null: there is nothing to begin with. */
function beginning(row: ExportRow, range: BackfillRange, first_event_at: Date | null): Date | null {
  const allowed = row.start_at && boundaryAfter(row, justBefore(row.start_at)!)
  const filled = first_event_at && boundaryAtOrBefore(row, first_event_at)
  if (row.model !== 'persons') return filled && latest(filled, allowed, range.start_at)
  const start_at = range.start_at ?? allowed
  return start_at && latest(start_at, allowed)
}
