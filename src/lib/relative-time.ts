// Moments as clients name them: ISO 8601, or a distance into the past such as `-7d` or `mStart`.
import { parseMicros } from './microseconds.ts'
import { offsetMs } from './time-zone.ts'

type Unit = 'M' | 'h' | 'd' | 'w' | 'm' | 'q' | 'y'
/** What a wall clock with a calendar shows; months count from 0. */
type WallClock = [
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
  ms: number,
]

const RELATIVE = /^-?(\d{0,5})([Mhdwmqy])(Start|End)?$/
const HOUR_MS = 3_600_000
// Year 1: nothing earlier can be written as ISO 8601.
const EARLIEST_MS = -62_135_596_800_000

/**
 * Microseconds since 1970. A number with `h d w m M q y` lies that many hours, days, weeks, months, minutes, 13 weeks or
 * years back; `Start` and `End` move to the first or last instant of the hour, day, month or year it falls in. Calendars
 * are those of the zone; ISO text without an offset is UTC. Null when it is neither.
 */
export function parseMoment(text: string, now: Date, timezone: string): bigint | null {
  const trimmed = text.trim()
  const [, digits, unit, edge] = RELATIVE.exec(trimmed) ?? []
  if (unit === undefined) return parseMicros(trimmed)
  if (digits === '' && edge === undefined) return null
  const moment_ms = relativeMs(Number(digits), unit as Unit, edge, now, timezone)
  return moment_ms === null || moment_ms < EARLIEST_MS ? null : BigInt(moment_ms) * 1000n
}

function relativeMs(
  count: number,
  unit: Unit,
  edge: string | undefined,
  now: Date,
  timezone: string,
): number | null {
  const back_ms = goBack(count, unit, now, timezone)
  if (back_ms === null || back_ms < EARLIEST_MS || edge === undefined) return back_ms
  const start = startOf(unit, wallClock(back_ms, timezone))
  if (start === null) return null
  if (edge === 'Start') return instantOf(start, timezone)
  return instantOf(nextStart(unit, start), timezone) - 1
}

function goBack(count: number, unit: Unit, now: Date, timezone: string): number | null {
  if (unit === 'M') return now.getTime() - count * 60_000
  if (unit === 'h') return now.getTime() - count * HOUR_MS
  const [year, month, day, ...time] = wallClock(now.getTime(), timezone)
  if (unit === 'm' || unit === 'y') {
    const months = unit === 'm' ? count : 12 * count
    const first = utc([year, month - months, 1, 0, 0, 0, 0])
    if (first.getTime() < EARLIEST_MS) return null
    // A month back from 31 March is the last of February.
    const days = utc([first.getUTCFullYear(), first.getUTCMonth() + 1, 0, 0, 0, 0, 0]).getUTCDate()
    return instantOf([first.getUTCFullYear(), first.getUTCMonth(), Math.min(day, days), ...time], timezone)
  }
  const days = { d: 1, w: 7, q: 91 }[unit] * count
  return instantOf([year, month, day - days, ...time], timezone)
}

function startOf(unit: Unit, [year, month, day, hour]: WallClock): WallClock | null {
  if (unit === 'h') return [year, month, day, hour, 0, 0, 0]
  if (unit === 'd') return [year, month, day, 0, 0, 0, 0]
  if (unit === 'm') return [year, month, 1, 0, 0, 0, 0]
  return unit === 'y' ? [year, 0, 1, 0, 0, 0, 0] : null
}

function nextStart(unit: Unit, [year, month, day, hour]: WallClock): WallClock {
  if (unit === 'h') return [year, month, day, hour + 1, 0, 0, 0]
  if (unit === 'd') return [year, month, day + 1, 0, 0, 0, 0]
  return unit === 'm' ? [year, month + 1, 1, 0, 0, 0, 0] : [year + 1, 0, 1, 0, 0, 0, 0]
}

function wallClock(instant_ms: number, timezone: string): WallClock {
  const shown = new Date(instant_ms + offsetMs(instant_ms, timezone))
  return [
    shown.getUTCFullYear(),
    shown.getUTCMonth(),
    shown.getUTCDate(),
    shown.getUTCHours(),
    shown.getUTCMinutes(),
    shown.getUTCSeconds(),
    shown.getUTCMilliseconds(),
  ]
}

/** Fields out of their range roll over, as with Date. */
function instantOf(clock: WallClock, timezone: string): number {
  const as_utc = utc(clock).getTime()
  const guess = as_utc - offsetMs(as_utc, timezone)
  // Near a change of the clocks the first guess may have taken the offset of the other side.
  return as_utc - offsetMs(guess, timezone)
}

/** Not Date.UTC: it takes the years 0 to 99 for 1900 to 1999. */
function utc([year, month, day, ...time]: WallClock): Date {
  const date = new Date(0)
  date.setUTCFullYear(year, month, day)
  date.setUTCHours(...time)
  return date
}
