// Retention: of those who did something in an interval, how many did something again in each of the next ones.
import type { Query } from '../../../hogql/ast.ts'
import { printHogql } from '../../../hogql/print-hogql.ts'
import { instantOfLocal } from '../../../lib/time-zone.ts'
import type { StoreValue } from '../../../platform/event-store/event-store.ts'
import { zonedText } from '../../../platform/event-store/zoned-time.ts'
import { runQuery, type AskedProject, type Asking } from '../run-query.ts'
import { allOf, compare, constant, eventField } from '../tree.ts'
import type { InsightAnswered, RetentionResult } from './answer.ts'
import { filtersOf, isOf, type Clock } from './conditions.ts'
import { instant, readEnd, within, type Range } from './date-range.ts'
import { bucketsOf, clockOf, moved, startOf, startOfExpr, type Bucket, type Interval } from './intervals.ts'
import { actorOf, isActor } from './maths.ts'
import type { RetentionQuery } from './schema.ts'
import { expression, statement } from './template.ts'

const DEFAULT_INTERVALS = 8
const DEFAULT_EVENT = '$pageview'
const INTERVALS = { Hour: 'hour', Day: 'day', Week: 'week', Month: 'month' } as const

export async function runRetention(
  services: Asking,
  project: AskedProject,
  query: RetentionQuery,
  signal: AbortSignal | undefined,
): Promise<InsightAnswered> {
  const { period, totalIntervals } = query.retentionFilter
  const interval = INTERVALS[period ?? 'Day']
  const count = totalIntervals ?? DEFAULT_INTERVALS
  const { timezone } = project
  const clock = { now: services.now(), timezone }
  const to = readEnd(query.dateRange?.date_to, interval, clock)
  const range = lastIntervals(to, interval, count, timezone)
  const buckets = bucketsOf(interval, range, timezone, count + 1)?.slice(0, count) ?? []
  const asked = retentionStatement(query, interval, range, clock)
  const max_rows = count * (count + 1)
  const { rows } = await runQuery(services, project, { query: asked, timezone: 'UTC', max_rows, signal })
  const results = resultsOf(rows, buckets, period ?? 'Day', timezone)
  return { results, hogql: printHogql(asked), hasMore: false, range }
}

/** So many intervals, the last of them with the end in it. */
function lastIntervals(to: number, interval: Interval, count: number, timezone: string): Range {
  const clock_ms = clockOf(to - 1, timezone)
  const last = startOf(interval, clock_ms)
  if (interval === 'hour') {
    const start = to - 1 - (clock_ms - last)
    return { from: moved('hour', 1 - count, start), to: moved('hour', 1, start) }
  }
  return {
    from: instantOfLocal(moved(interval, 1 - count, last), timezone),
    to: instantOfLocal(moved(interval, 1, last), timezone),
  }
}

/** Rows of the interval in which somebody began, the one in which they came again, and how many they are. */
function retentionStatement(query: RetentionQuery, interval: Interval, range: Range, clock: Clock): Query {
  const { retentionFilter, properties, aggregation_group_type_index } = query
  const at = 'retentionFilter__'
  const conditionOf = (entity: 'targetEntity' | 'returningEntity') => {
    const given = retentionFilter[entity]
    return isOf(
      { event: given ? given.id : DEFAULT_EVENT, properties: given?.properties },
      clock,
      `${at}${entity}`,
    )
  }
  const [target, returning] = [conditionOf('targetEntity'), conditionOf('returningEntity')]
  const isFirstTime = retentionFilter.retentionType === 'retention_first_time'
  const timestamp = eventField('timestamp')
  const actor = actorOf(aggregation_group_type_index)
  // Whether it was the first time is only known from everything before.
  const inTime = isFirstTime ? compare(timestamp, '<', instant(range.to)) : within(range)
  const given = {
    actor,
    target,
    returning,
    bucket: startOfExpr(interval, timestamp),
    first: startOfExpr(interval, expression('first_at')),
    from: instant(range.from),
    where: allOf([
      inTime,
      ...filtersOf(properties, clock, 'properties'),
      ...isActor(aggregation_group_type_index),
      expression('{target} or {returning}', { target, returning }),
    ])!,
  }
  const started = isFirstTime
    ? `select {first} as started, returns from (
        select {actor} as actor, minIf(events.timestamp, {target}) as first_at,
          groupUniqArrayIf({bucket}, ({returning}) and events.timestamp >= {from}) as returns
        from events where {where} group by actor
      ) where first_at >= {from}`
    : `select arrayJoin(starts) as started, returns from (
        select {actor} as actor, groupUniqArrayIf({bucket}, {target}) as starts,
          groupUniqArrayIf({bucket}, {returning}) as returns
        from events where {where} group by actor
      )`
  return statement(
    `select started, returned, count() as people from (
      select started, arrayJoin(arrayConcat([started], arrayFilter(again -> again > started, returns))) as returned
      from (${started})
    ) group by started, returned order by started, returned limit {limit}`,
    { ...given, limit: constant(100_000) },
  )
}

function resultsOf(
  rows: readonly (readonly StoreValue[])[],
  buckets: readonly Bucket[],
  period: string,
  timezone: string,
): RetentionResult[] {
  const counts = new Map(
    rows.map(([started, returned, people]) => [`${String(started)} ${String(returned)}`, Number(people)]),
  )
  return buckets.map((start, place) => ({
    date: zonedText(BigInt(start.starts_at) * 1000n, timezone),
    label: `${period} ${place}`,
    values: buckets.slice(place).map((bucket, later) => ({
      count: counts.get(`${start.key} ${bucket.key}`) ?? 0,
      label: `${period} ${later}`,
    })),
  }))
}
