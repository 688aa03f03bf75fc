// The grid of an export's intervals: where one ends and the next begins, whatever the clocks do. Pure; the scheduler,
// backfills and the routes that move a schedule ask here.
import type { DataInterval } from '../definition.ts'
import type { ExportRow } from '../rows.ts'
import { instantOfLocal, offsetMs } from '../../../lib/time-zone.ts'

export type Schedule = Pick<ExportRow, 'interval' | 'timezone' | 'offset_day' | 'offset_hour'>

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
// 1970 began on a Thursday; this is its first Sunday, counted in days.
const FIRST_SUNDAY = 3
// A fifth of the shortest interval.
const MAX_JITTER_MS = MINUTE_MS

/** Boundaries counted by whole numbers: `at` never falls, and `near` is at most one step off. */
type Grid = { at(index: number): number; near(instant_ms: number): number }

/** The boundary may be any instant: then the interval is what lies between it and the last boundary before it. */
export function intervalEndingAt(schedule: Schedule, end: Date): DataInterval & { start: Date } {
  return { start: boundaryAtOrBefore(schedule, new Date(end.getTime() - 1)), end }
}

/** The first boundary later than the instant. */
export function boundaryAfter(schedule: Schedule, instant: Date): Date {
  const grid = gridOf(schedule)
  let index = grid.near(instant.getTime()) - 1
  while (grid.at(index) <= instant.getTime()) index++
  return new Date(grid.at(index))
}

export function boundaryAtOrBefore(schedule: Schedule, instant: Date): Date {
  const grid = gridOf(schedule)
  return new Date(grid.at(indexAtOrBefore(grid, instant)))
}

/** At most `limit` of the boundaries in (after, until], oldest first. */
export function boundaries(schedule: Schedule, after: Date, until: Date, limit: number): Date[] {
  const found: Date[] = []
  for (
    let next = boundaryAfter(schedule, after);
    next <= until && found.length < limit;
    next = boundaryAfter(schedule, next)
  )
    found.push(next)
  return found
}

/**
 * How many boundaries lie in (after, until], without going through them: a century of five minutes is ten million. A day
 * that a zone left out altogether (Samoa, 30 December 2011) counts.
 */
export function countBoundaries(schedule: Schedule, after: Date, until: Date): number {
  const grid = gridOf(schedule)
  return Math.max(0, indexAtOrBefore(grid, until) - indexAtOrBefore(grid, after))
}

/** End of the first interval that a new export, or one set going again, owes. */
export function firstDueAt(row: Schedule & Pick<ExportRow, 'start_at'>, now: Date): Date {
  return boundaryAfter(row, latest(now, justBefore(row.start_at)))
}

/** How long after its interval's end a run starts: the same for all runs of an export, so that they keep their pace. */
export function jitterMs(export_id: string): number {
  return Number.parseInt(export_id.slice(-8), 16) % MAX_JITTER_MS
}

/** Nothing lies between it and the instant, which makes "from there on" of "after it". */
export function justBefore(instant: Date | null): Date | null {
  return instant && new Date(instant.getTime() - 1)
}

export function latest(first: Date, ...others: (Date | null)[]): Date {
  return others.reduce<Date>((last, each) => (each !== null && each > last ? each : last), first)
}

export function earliest(first: Date, ...others: (Date | null)[]): Date {
  return others.reduce<Date>((last, each) => (each !== null && each < last ? each : last), first)
}

function indexAtOrBefore(grid: Grid, instant: Date): number {
  let index = grid.near(instant.getTime()) + 1
  while (grid.at(index) > instant.getTime()) index--
  return index
}

function gridOf(schedule: Schedule): Grid {
  switch (schedule.interval) {
    case 'every 5 minutes':
      return evenGrid(5 * MINUTE_MS)
    case 'every 15 minutes':
      return evenGrid(15 * MINUTE_MS)
    case 'hour':
      return evenGrid(HOUR_MS)
    case 'day':
      return calendarGrid(schedule, 1, 0)
    case 'week':
      return calendarGrid(schedule, 7, FIRST_SUNDAY + (schedule.offset_day ?? 0))
  }
}

/** The same all over the world, half-hour zones included. */
function evenGrid(step_ms: number): Grid {
  return { at: (index) => index * step_ms, near: (instant_ms) => Math.floor(instant_ms / step_ms) }
}

/** By the clocks of the zone: a step is an hour shorter or longer where they are moved. */
function calendarGrid({ timezone, offset_hour }: Schedule, days: number, first_day: number): Grid {
  const shift_ms = first_day * DAY_MS + (offset_hour ?? 0) * HOUR_MS
  const step_ms = days * DAY_MS
  return {
    at: (index) => instantOfLocal(index * step_ms + shift_ms, timezone),
    near: (instant_ms) => Math.floor((instant_ms + offsetMs(instant_ms, timezone) - shift_ms) / step_ms),
  }
}
