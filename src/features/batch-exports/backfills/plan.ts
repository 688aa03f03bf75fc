// Which intervals a backfill has: those of the export's own schedule that end after its start and not after its end.
import type { BackfillRow, ExportRow } from '../rows.ts'
import {
  boundaryAfter,
  boundaryAtOrBefore,
  countBoundaries,
  earliest,
  intervalEndingAt,
  justBefore,
  latest,
} from '../schedule/grid.ts'

/** A start of null is the first event; an end of null is now, after which the schedule takes over. */
export type BackfillRange = { start_at: Date | null; end_at: Date | null }

export type Plan = Pick<BackfillRow, 'adjusted_start_at' | 'total_runs' | 'next_end_at' | 'last_end_at'>

/**
 * Two years of five minutes. Intervals without events have their run too, as they have on the schedule: it says that
 * somebody looked. But one event of 1970, from a device without a clock, must not make six million of them.
 */
export const MAX_RUNS = 210_000

export const NOTHING: Plan = { adjusted_start_at: null, total_runs: 0, next_end_at: null, last_end_at: null }

/** The times of the first and the last event that is to go out; null when there is none. */
export type EventSpan = { first_at: Date | null; last_at: Date | null }

export function planBackfill(row: ExportRow, range: BackfillRange, span: EventSpan, now: Date): Plan {
  const until = lastEnd(row, range, span, now)
  if (isFromBeginningOfTime(row, range)) {
    const end = boundaryAtOrBefore(row, until)
    return { adjusted_start_at: null, total_runs: 1, next_end_at: end, last_end_at: end }
  }
  const from = beginning(row, range, span.first_at)
  const next_end_at = from && boundaryAfter(row, from)
  if (next_end_at === null || next_end_at > until) return NOTHING
  return {
    adjusted_start_at: from?.getTime() === range.start_at?.getTime() ? null : from,
    total_runs: countBoundaries(row, from!, until),
    next_end_at,
    last_end_at: until,
  }
}

/**
 * The intervals that ended during a pause, from the one that it cut on; `covered_until` is where those before it ended,
 * which is later than the pause began when the clock was set back in between.
 */
export function planUnpause(row: ExportRow, paused_at: Date, covered_until: Date | null, now: Date): Plan {
  const after = latest(paused_at, justBefore(row.start_at), covered_until)
  const until = earliest(now, row.end_at)
  const next_end_at = boundaryAfter(row, after)
  if (next_end_at > until) return NOTHING
  return {
    adjusted_start_at: latest(intervalEndingAt(row, next_end_at).start, covered_until),
    total_runs: countBoundaries(row, after, until),
    next_end_at,
    last_end_at: until,
  }
}

/** The times that the intervals of a range span; null when it holds none. */
export function timesOf(
  row: ExportRow,
  range: BackfillRange,
  now: Date,
): { from: Date | null; to: Date } | null {
  const to = boundaryAtOrBefore(row, lastPossibleEnd(row, { ...range, created_at: now }))
  const from = latestOrNull(
    range.start_at && intervalEndingAt(row, boundaryAfter(row, range.start_at)).start,
    row.start_at && boundaryAfter(row, justBefore(row.start_at)!),
  )
  return from === null || from < to ? { from, to } : null
}

function latestOrNull(one: Date | null, other: Date | null): Date | null {
  return one ? latest(one, other) : other
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

/** Intervals after the last event would be empty. */
function lastEnd(row: ExportRow, range: BackfillRange, { last_at }: EventSpan, now: Date): Date {
  const possible = lastPossibleEnd(row, { ...range, created_at: now })
  return last_at === null ? possible : earliest(possible, boundaryAfter(row, last_at))
}

/** Null: there is nothing to begin with. */
function beginning(row: ExportRow, range: BackfillRange, first_at: Date | null): Date | null {
  const allowed = row.start_at && boundaryAfter(row, justBefore(row.start_at)!)
  const filled = first_at && boundaryAtOrBefore(row, first_at)
  if (row.model !== 'persons') return filled && latest(filled, allowed, range.start_at)
  const start_at = range.start_at ?? allowed
  return start_at && latest(start_at, allowed)
}
