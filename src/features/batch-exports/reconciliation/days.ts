// The days that a calendar asks for, by the clocks of the project's zone.
import { invalid } from '../../../platform/http/errors.ts'
import { readMoment, type Clock } from '../../../platform/http/parameters.ts'
import { boundaries, boundaryAfter, boundaryAtOrBefore } from '../schedule/grid.ts'
import { offsetMs } from '../../../lib/time-zone.ts'

export type Day = { date: string; start: Date; end: Date }

const MAX_DAYS = 400

/** At least one, oldest first; both ends are part of it. */
export function readDays(
  asked: { after?: string | undefined; before?: string | undefined },
  clock: Clock,
): Day[] {
  const schedule = { interval: 'day', timezone: clock.timezone, offset_day: null, offset_hour: null } as const
  const first = new Date(readMoment('after', asked.after ?? '-30d', clock)!)
  const last = new Date(readMoment('before', asked.before, clock) ?? clock.now)
  if (last < first) throw invalid('before', 'invalid_input', 'The last day comes before the first.')
  const start = boundaryAtOrBefore(schedule, first)
  const ends = boundaries(schedule, start, boundaryAfter(schedule, last), MAX_DAYS + 1)
  if (ends.length > MAX_DAYS) throw invalid('after', 'invalid_input', `Ask for ${MAX_DAYS} days at most.`)
  // PostgreSQL writes other years otherwise.
  const isWritten = start.getUTCFullYear() >= 1 && ends.at(-1)!.getUTCFullYear() <= 9999
  if (!isWritten) throw invalid('after', 'invalid_input', 'Ask for days of the years 1 to 9999.')
  const starts = [start, ...ends.slice(0, -1)]
  return ends.map((end, index) => ({
    date: dateOf(starts[index]!, clock.timezone),
    start: starts[index]!,
    end,
  }))
}

/** What the zone's calendars show. */
function dateOf(instant: Date, timezone: string): string {
  return new Date(instant.getTime() + offsetMs(instant.getTime(), timezone)).toISOString().slice(0, 10)
}
