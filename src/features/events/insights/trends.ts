// Trends: one statement, and its rows as PostHog shows them: a result for each series, period and value of the breakdown.
import { printHogql } from '../../../hogql/print-hogql.ts'
import type { StoreValue } from '../../../platform/event-store/event-store.ts'
import { invalid } from '../../../platform/http/errors.ts'
import { runQuery, type AskedProject, type Asking } from '../run-query.ts'
import { NO_VALUE, OTHER_VALUES, readBreakdown } from './breakdown.ts'
import { comparedRange, readRange, type Range } from './date-range.ts'
import { bucketsOf, clockOf, startOf, type Bucket, type Interval } from './intervals.ts'
import { ACTIVE_DAYS } from './maths.ts'
import type { TrendsQuery } from './schema.ts'
import { trendsStatement, type Line, type Trends } from './trends-query.ts'
import { applyFormulas, readFormulas } from './trends-formulas.ts'
import type { InsightAnswered, TrendResult } from './answer.ts'
import { instantOfLocal } from '../../../lib/time-zone.ts'

/** Over a hundred days by the hour: each is asked of the time-zone database. */
const MOST_BUCKETS = 2500
/** All numbers of an answer together. */
const MOST_POINTS = 200_000
const TOTALS = new Set(['BoldNumber', 'ActionsPie', 'ActionsBarValue', 'ActionsTable', 'WorldMap'])

export async function runTrends(
  services: Asking,
  project: AskedProject,
  query: TrendsQuery,
  signal: AbortSignal | undefined,
): Promise<InsightAnswered> {
  const trends = await readTrends(services, project, query)
  const buckets = trends.periods.map((period) => readBuckets(trends, period, project.timezone))
  const max_rows = assertSmall(trends, buckets)
  const formulas = readFormulas(query)
  const clock = { now: services.now(), timezone: project.timezone }
  const asked = trendsStatement(trends, clock, max_rows)
  // Instants in UTC, as buckets have them.
  const { rows } = await runQuery(services, project, { query: asked, timezone: 'UTC', max_rows, signal })
  const found = linesOf(trends, buckets, rows)
  const lines = found.filter(({ breakdown }) => !trends.breakdown?.hides_others || breakdown !== OTHER_VALUES)
  const isCumulative = query.trendsFilter?.display === 'ActionsLineGraphCumulative'
  const shown = isCumulative ? lines.map(accumulated) : lines
  const results =
    formulas.length === 0
      ? shown.map((line) => presentLine(line, trends, buckets, isCumulative))
      : applyFormulas(formulas, shown, trends).map((line) => ({
          ...presentValues(line, trends, buckets, isCumulative),
          label: line.label,
          action: null,
        }))
  return {
    results,
    hogql: printHogql(asked),
    hasMore: found.some(({ breakdown }) => breakdown === OTHER_VALUES),
    range: trends.periods[0]!,
  }
}

async function readTrends(services: Asking, project: AskedProject, query: TrendsQuery): Promise<Trends> {
  const interval = query.interval ?? 'day'
  const is_total = TOTALS.has(query.trendsFilter?.display ?? '')
  const active = query.series.findIndex(({ math }) => math && ACTIVE_DAYS[math] !== undefined)
  if (active !== -1 && interval === 'hour' && !is_total) {
    const detail = 'Active users of the last days are counted by day, week or month.'
    throw invalid(`series__${active}__math`, 'invalid_input', detail)
  }
  const asked = await readRange(services, project, query.dateRange, interval)
  const range = is_total ? asked : fromStart(asked, interval, project.timezone)
  const { compare, compare_to } = query.compareFilter ?? {}
  const before = compare ? [comparedRange(range, compare_to, project.timezone)] : []
  const periods = [
    range,
    ...before.map((each) => (is_total ? each : fromStart(each, interval, project.timezone))),
  ]
  return { query, interval, is_total, periods, breakdown: readBreakdown(query.breakdownFilter) }
}

/** The first interval is counted whole. */
function fromStart({ from, to }: Range, interval: Interval, timezone: string): Range {
  const clock_ms = clockOf(from, timezone)
  const start = startOf(interval, clock_ms)
  return { from: interval === 'hour' ? from - (clock_ms - start) : instantOfLocal(start, timezone), to }
}

function readBuckets({ is_total, interval }: Trends, period: Range, timezone: string): Bucket[] {
  const buckets = is_total ? [] : bucketsOf(interval, period, timezone, MOST_BUCKETS)
  if (buckets) return buckets
  throw invalid('dateRange', 'invalid_input', `The range has more than ${MOST_BUCKETS} intervals.`)
}

/** The most rows that there can be. */
function assertSmall({ query, is_total, breakdown }: Trends, buckets: readonly Bucket[][]): number {
  const lines = query.series.length * (breakdown ? breakdown.limit + 2 : 1)
  const points = buckets.reduce((sum, each) => sum + (is_total ? 1 : each.length), 0) * lines
  if (points <= MOST_POINTS) return points
  const detail = `The answer would have more than ${MOST_POINTS} numbers: shorten the range, or take longer intervals or fewer values.`
  throw invalid('dateRange', 'invalid_input', detail)
}

function linesOf(
  trends: Trends,
  buckets: readonly Bucket[][],
  rows: readonly (readonly StoreValue[])[],
): Line[] {
  const { query, periods, is_total, breakdown } = trends
  const size = (period: number) => (is_total ? 1 : buckets[period]!.length)
  const places = buckets.map((each) => new Map(each.map(({ key }, place) => [key, place])))
  const lines = new Map<string, Line>()
  const lineAt = (series: number, period: number, value: string) => {
    const key = JSON.stringify([period, series, value])
    const line = lines.get(key) ?? {
      series,
      period,
      breakdown: value,
      values: Array.from({ length: size(period) }, () => 0),
    }
    lines.set(key, line)
    return line
  }
  if (!breakdown)
    for (const period of periods.keys()) for (const series of query.series.keys()) lineAt(series, period, '')
  for (const [series, period, bucket, value, count] of rows) {
    const line = lineAt(Number(series), Number(period), String(value))
    const place = is_total ? 0 : placeOf(String(bucket), buckets[line.period]!, places[line.period]!)
    if (place in line.values) line.values[place]! += Number(count ?? 0)
  }
  return [...lines.values()].toSorted(inOrder)
}

/** Where clocks are moved by half an hour, an hour of the clock begins within one of ours. */
function placeOf(key: string, buckets: readonly Bucket[], places: ReadonlyMap<string, number>): number {
  return places.get(key) ?? buckets.findLastIndex(({ starts_at }) => starts_at <= Date.parse(key))
}

/** Largest first; then those without a value, then what is left over. */
function inOrder(a: Line, b: Line): number {
  const last = ({ breakdown }: Line) => (breakdown === OTHER_VALUES ? 2 : breakdown === NO_VALUE ? 1 : 0)
  return (
    a.period - b.period ||
    a.series - b.series ||
    last(a) - last(b) ||
    total(b.values) - total(a.values) ||
    (a.breakdown < b.breakdown ? -1 : 1)
  )
}

const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)

function accumulated(line: Line): Line {
  let sum = 0
  return { ...line, values: line.values.map((value) => (sum += value)) }
}

function presentValues(
  line: Line,
  trends: Trends,
  buckets: readonly Bucket[][],
  is_cumulative: boolean,
): Omit<TrendResult, 'label' | 'action'> {
  const { breakdown, is_total, periods } = trends
  const own = buckets[line.period]!
  const [first = 0] = line.values
  return {
    ...(is_total
      ? { data: [], days: [], labels: [], count: 0, aggregated_value: first }
      : {
          data: line.values,
          days: own.map(({ day }) => day),
          labels: own.map(({ label }) => label),
          count: is_cumulative ? (line.values.at(-1) ?? 0) : total(line.values),
        }),
    ...(breakdown ? { breakdown_value: breakdown.is_list ? [line.breakdown] : line.breakdown } : {}),
    ...(periods.length > 1
      ? { compare: true, compare_label: line.period === 0 ? 'current' : 'previous' }
      : {}),
  }
}

function presentLine(
  line: Line,
  trends: Trends,
  buckets: readonly Bucket[][],
  is_cumulative: boolean,
): TrendResult {
  const node = trends.query.series[line.series]!
  const name = node.event || null
  const label = name ?? 'All events'
  const isAlone = trends.query.series.length === 1
  return {
    ...presentValues(line, trends, buckets, is_cumulative),
    label: trends.breakdown ? (isAlone ? line.breakdown : `${label} - ${line.breakdown}`) : label,
    action: {
      id: name,
      type: 'events',
      order: line.series,
      name: label,
      custom_name: node.custom_name ?? null,
      math: node.math ?? null,
      math_property: node.math_property ?? null,
      math_group_type_index: node.math_group_type_index ?? null,
    },
  }
}
