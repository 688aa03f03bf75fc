// Hours, days, weeks and months of a project's zone: where each begins, here and in HogQL, and how it is shown. Clock
// readings are milliseconds as if the clock were set to UTC. Weeks begin on Sunday, as PostHog's do unless told.
import type { Expr } from '../../../hogql/ast.ts'
import { instantOfLocal, offsetMs } from '../../../lib/time-zone.ts'
import { call, constant } from '../tree.ts'

export type Interval = 'hour' | 'day' | 'week' | 'month'
export const INTERVALS = ['hour', 'day', 'week', 'month'] as const satisfies readonly Interval[]

/** One of the stretches that an insight counts by. */
export type Bucket = {
  /** As the store writes the beginning: a date, or for hours an instant. */
  key: string
  starts_at: number
  /** `2024-06-01`, for hours `2024-06-01 13:00:00`. */
  day: string
  /** `1-Jun-2024`, for hours `1-Jun-2024 13:00`. */
  label: string
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

export const clockOf = (instant_ms: number, timezone: string) => instant_ms + offsetMs(instant_ms, timezone)

/** The beginning of the interval that the clock is in. */
export function startOf(interval: Interval, clock_ms: number): number {
  if (interval === 'hour') return clock_ms - modulo(clock_ms, HOUR_MS)
  const day_ms = clock_ms - modulo(clock_ms, DAY_MS)
  if (interval === 'day') return day_ms
  const date = new Date(day_ms)
  if (interval === 'week') return day_ms - date.getUTCDay() * DAY_MS
  return date.setUTCDate(1)
}

const modulo = (value: number, by: number) => ((value % by) + by) % by

/** So many intervals later, or earlier. A month from the 31st is the last day of a shorter month. */
export function moved(interval: Interval | 'year', count: number, clock_ms: number): number {
  if (interval === 'hour') return clock_ms + count * HOUR_MS
  if (interval === 'day') return clock_ms + count * DAY_MS
  if (interval === 'week') return clock_ms + count * 7 * DAY_MS
  const date = new Date(clock_ms)
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() + count * (interval === 'year' ? 12 : 1))
  const last = new Date(date)
  last.setUTCMonth(last.getUTCMonth() + 1, 0)
  return date.setUTCDate(Math.min(day, last.getUTCDate()))
}

/** The beginning of the interval that an expression lies in, as `Bucket.key` has it. */
export function startOfExpr(interval: Interval, expr: Expr): Expr {
  if (interval === 'hour') return call('toStartOfHour', expr)
  if (interval === 'day') return call('toDate', expr)
  return interval === 'week' ? call('toStartOfWeek', expr, constant(0)) : call('toStartOfMonth', expr)
}

/** All from the one that holds `from` up to `to`, which is no longer part of it. Null when there are more than `most`. */
export function bucketsOf(
  interval: Interval,
  { from, to }: { from: number; to: number },
  timezone: string,
  most: number,
): Bucket[] | null {
  const buckets: Bucket[] = []
  let clock = startOf(interval, clockOf(from, timezone))
  // Hours pass one by one whatever the clocks are set to; days and longer begin when the clocks say so.
  let instant =
    interval === 'hour' ? from - (clockOf(from, timezone) - clock) : instantOfLocal(clock, timezone)
  while (instant < to) {
    if (buckets.length === most) return null
    buckets.push(bucketAt(interval, instant, clock))
    if (interval === 'hour') {
      instant += HOUR_MS
      clock = clockOf(instant, timezone)
    } else {
      clock = moved(interval, 1, clock)
      instant = instantOfLocal(clock, timezone)
    }
  }
  return buckets
}

function bucketAt(interval: Interval, instant_ms: number, clock_ms: number): Bucket {
  const date = new Date(clock_ms)
  const [day, time] = [date.toISOString().slice(0, 10), date.toISOString().slice(11, 19)]
  const label = `${date.getUTCDate()}-${MONTHS[date.getUTCMonth()]}-${date.getUTCFullYear()}`
  if (interval !== 'hour') return { key: day, starts_at: instant_ms, day, label }
  const key = new Date(instant_ms).toISOString().replace('.000Z', 'Z')
  return { key, starts_at: instant_ms, day: `${day} ${time}`, label: `${label} ${time.slice(0, 5)}` }
}
