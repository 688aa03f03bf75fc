// Trends as one statement: a row for each series, period, interval and value of the breakdown that has events.
import type { Expr, Query } from '../../../hogql/ast.ts'
import { allOf, call, constant, eventField } from '../tree.ts'
import { NO_VALUE, OTHER_VALUES, type Breakdown } from './breakdown.ts'
import { filtersOf, isOf, type Clock } from './conditions.ts'
import { instant, within, type Range } from './date-range.ts'
import { clockOf, moved, startOfExpr, type Interval } from './intervals.ts'
import { ACTIVE_DAYS, actorOf, aggregateOf } from './maths.ts'
import type { EventsNode, TrendsQuery } from './schema.ts'
import { expression, statement } from './template.ts'
import { instantOfLocal } from '../../../lib/time-zone.ts'

export type Trends = {
  query: TrendsQuery
  interval: Interval
  /** One value for the whole range instead of one for each interval. */
  is_total: boolean
  /** The range itself, then the one that it is compared with, if any. */
  periods: readonly Range[]
  breakdown: Breakdown | null
}

/** The numbers of one result, before it is told what they are of. */
export type Line = { series: number; period: number; breakdown: string; values: number[] }

const NO_BREAKDOWN = constant('')

export function trendsStatement(trends: Trends, clock: Clock, max_rows: number): Query {
  const selects = trends.query.series.flatMap((node, series) =>
    trends.periods.map((_, period) => seriesStatement(trends, node, series, period, clock)),
  )
  const [first, ...others] = selects
  const limit = constant(max_rows)
  if (others.length === 0) return { ...first!, limit }
  return {
    node: 'SelectSetQuery',
    initial_select_query: first!,
    subsequent_select_queries: others.map((select_query) => ({
      node: 'SelectSetNode',
      select_query,
      set_operator: 'UNION ALL',
    })),
    limit,
  }
}

function seriesStatement(
  trends: Trends,
  node: EventsNode,
  series: number,
  period: number,
  clock: Clock,
): Query {
  const attr = `series__${series}`
  const isWanted = [isOf(node, clock, attr), ...filtersOf(trends.query.properties, clock, 'properties')]
  const where = (range: Range) => allOf([within(range), ...isWanted])!
  const range = trends.periods[period]!
  const aggregate = aggregateOf(node, attr)
  // The values that stand alone are those of the range itself, so that both periods show the same ones.
  const ranked = { where: where(trends.periods[0]!), aggregate }
  const given = {
    series: constant(series),
    period: constant(period),
    breakdown: trends.breakdown ? breakdownExpr(trends.breakdown, ranked) : NO_BREAKDOWN,
  }
  const days = ACTIVE_DAYS[node.math ?? 'total']
  if (days !== undefined && !trends.is_total) return activeStatement(trends, days, range, where, given, clock)
  const counted = days === undefined ? range : lastDays(range, days, clock)
  const bucket = trends.is_total ? constant('') : startOfExpr(trends.interval, eventField('timestamp'))
  return statement(
    `select {series} as series, {period} as period, {bucket} as bucket, {breakdown} as breakdown,
      toFloat({aggregate}) as value
    from events where {where} group by bucket, breakdown`,
    { ...given, bucket, aggregate, where: where(counted) },
  )
}

type Ranked = { where: Expr; aggregate: Expr }

/** The value itself if it is one of the largest, else the name for all others. */
function breakdownExpr({ value, limit }: Breakdown, { where, aggregate }: Ranked): Expr {
  const largest = statement(
    `select {value} as largest from events where ({where}) and isNotNull({value})
    group by largest order by {aggregate} desc, largest limit {limit}`,
    { value, where, aggregate, limit: constant(limit) },
  )
  return expression(`multiIf(isNull({value}), {none}, {value} in {largest}, {value}, {other})`, {
    value,
    largest,
    none: constant(NO_VALUE),
    other: constant(OTHER_VALUES),
  })
}

/**
 * Each interval counts who was active in the days before its end: a person counts on the day itself and on the days after
 * it. Only the last day of an interval is looked at.
 */
function activeStatement(
  { interval }: Trends,
  days: number,
  range: Range,
  where: (range: Range) => Expr,
  given: Readonly<Record<'series' | 'period' | 'breakdown', Expr>>,
  clock: Clock,
): Query {
  const day = (name: string) => startOfExpr(interval, expression(name))
  return statement(
    `select {series} as series, {period} as period, {bucket} as bucket, breakdown, toFloat(uniq(actor)) as value
    from (
      select addDays(active_on, arrayJoin(range(0, {days}))) as counted_on, actor, breakdown
      from (
        select distinct toDate(events.timestamp) as active_on, {actor} as actor, {breakdown} as breakdown
        from events where {where}
      )
    )
    where {bucket} != {next_bucket} and {bucket} >= {first_bucket} and {bucket} <= {last_bucket}
    group by bucket, breakdown`,
    {
      ...given,
      bucket: day('counted_on'),
      next_bucket: day('addDays(counted_on, 1)'),
      first_bucket: startOfExpr(interval, call('toDateTime', instant(range.from))),
      last_bucket: startOfExpr(interval, call('toDateTime', instant(range.to - 1))),
      days: constant(days),
      actor: actorOf(null),
      where: where({ from: daysEarlier(range.from, days - 1, clock), to: range.to }),
    },
  )
}

const daysEarlier = (instant_ms: number, days: number, { timezone }: Clock) =>
  instantOfLocal(moved('day', -days, clockOf(instant_ms, timezone)), timezone)

const lastDays = ({ from, to }: Range, days: number, clock: Clock): Range => ({
  from: Math.max(from, daysEarlier(to, days, clock)),
  to,
})
