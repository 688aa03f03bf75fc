// The runs that a schedule makes next, told before they are made: by the same steps as the scheduler's own.
import type { DataInterval } from '../definition.ts'
import type { ExportRow } from '../rows.ts'
import { owedIntervals, type OwingSchedule } from './due.ts'
import { jitterMs } from './grid.ts'
import type { Standing } from './queries.ts'
import type { NextRun as Shown } from './schema.ts'
import { offsetMs } from '../../../lib/time-zone.ts'

const NEXT_RUNS = 5

export type NextRun = { interval: DataInterval & { start: Date }; due: Date }

/** In the years that ISO 8601 writes with four digits, whatever the zone. */
const LAST_INSTANT = new Date('9999-12-30T00:00:00Z')

/** None for an export that is paused or over. Without an id, as of an export to be made, runs are due at once. */
export function nextRuns(
  row: OwingSchedule & Pick<ExportRow, 'paused'> & { id?: string },
  covered_until: Standing['covered_until'],
): NextRun[] {
  if (row.paused) return []
  const delay_ms = row.id === undefined ? 0 : jitterMs(row.id)
  return owedIntervals(row, covered_until, LAST_INSTANT, NEXT_RUNS)
    .map((interval) => ({ interval, due: new Date(interval.end.getTime() + delay_ms) }))
    .filter(({ due }) => due <= LAST_INSTANT)
}

export function presentNextRun({ interval, due }: NextRun, timezone: string): Shown {
  const { start, end } = interval
  return {
    start: start.toISOString(),
    end: end.toISOString(),
    due: due.toISOString(),
    local: {
      start: localText(start, timezone),
      end: localText(end, timezone),
      due: localText(due, timezone),
    },
  }
}

/** `2026-03-29T03:00:00+02:00`: what the zone's clocks show. */
function localText(instant: Date, timezone: string): string {
  const offset_ms = offsetMs(instant.getTime(), timezone)
  const clock = new Date(instant.getTime() + offset_ms).toISOString().slice(0, 19)
  const minutes = Math.round(Math.abs(offset_ms) / 60_000)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${clock}${offset_ms < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}
