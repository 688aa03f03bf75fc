// The stretch of time that metrics are asked for, and the hours or days it is cut into. Days are those of UTC, as the
// hours that are counted by are.
import { invalid } from '../../../platform/http/errors.ts'
import { readMoment, type Clock } from '../../../platform/http/parameters.ts'

export type Range = {
  /** Where its first bucket begins. */
  from: Date
  /** Where its last bucket ends. */
  to: Date
  bucket: 'hour' | 'day'
}

/** As charts take it: a list for each outcome, of the same length as `dates`. */
export type Series = {
  dates: string[]
  successes: number[]
  successes_on_retry: number[]
  failures: number[]
  totals: Outcomes
}

export type Outcomes = { successes: number; successes_on_retry: number; failures: number }
export type Bucket = Outcomes & { begins_at: Date }

const HOUR_MS = 3_600_000
const BUCKET_MS = { hour: HOUR_MS, day: 24 * HOUR_MS } as const
const HOURLY_UNDER_MS = 2 * BUCKET_MS.day
const MAX_RANGE_MS = 366 * BUCKET_MS.day
const DEFAULT_FROM = '-30d'

export function readRange(
  { date_from, date_to }: { date_from?: string; date_to?: string },
  clock: Clock,
): Range {
  const from_ms = Date.parse(readMoment('date_from', date_from ?? DEFAULT_FROM, clock)!)
  const to_ms =
    date_to === undefined ? clock.now.getTime() : Date.parse(readMoment('date_to', date_to, clock)!)
  if (to_ms - from_ms > MAX_RANGE_MS)
    throw invalid('date_from', 'invalid_input', 'The range can be one year at most.')
  const bucket = to_ms - from_ms < HOURLY_UNDER_MS ? 'hour' : 'day'
  const size_ms = BUCKET_MS[bucket]
  const end_ms = Math.max(from_ms, to_ms)
  return {
    from: new Date(Math.floor(from_ms / size_ms) * size_ms),
    to: new Date((Math.floor(end_ms / size_ms) + 1) * size_ms),
    bucket,
  }
}

/** Buckets in which nothing happened are there too. */
export function toSeries({ from, to, bucket }: Range, found: readonly Bucket[]): Series {
  const series: Series = {
    dates: [],
    successes: [],
    successes_on_retry: [],
    failures: [],
    totals: { ...NOTHING },
  }
  const byTime = new Map(found.map((each) => [each.begins_at.getTime(), each]))
  for (let time = from.getTime(); time < to.getTime(); time += BUCKET_MS[bucket]) {
    series.dates.push(
      new Date(time)
        .toISOString()
        .replace('T', ' ')
        .slice(0, bucket === 'hour' ? 19 : 10),
    )
    const counts = byTime.get(time) ?? NOTHING
    for (const outcome of OUTCOMES) {
      series[outcome].push(counts[outcome])
      series.totals[outcome] += counts[outcome]
    }
  }
  return series
}

const NOTHING: Outcomes = { successes: 0, successes_on_retry: 0, failures: 0 }
const OUTCOMES = ['successes', 'successes_on_retry', 'failures'] as const
