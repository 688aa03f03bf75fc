// Funnels as statements over one row per person: when they reached each step, and their value of the breakdown.
import type { Expr, Query } from '../../../hogql/ast.ts'
import { invalid } from '../../../platform/http/errors.ts'
import { allOf, anyOf, call, constant, eventField } from '../tree.ts'
import type { Breakdown } from './breakdown.ts'
import { filtersOf, isOf, type Clock } from './conditions.ts'
import { within, type Range } from './date-range.ts'
import { actorOf, isActor } from './maths.ts'
import type { FunnelsQuery } from './schema.ts'
import { expression, statement } from './template.ts'

const SECONDS = { second: 1, minute: 60, hour: 3600, day: 86_400, week: 604_800, month: 2_592_000 } as const
const DEFAULT_WINDOW = 14
/** How PostHog calls the values that are left over in funnels. */
export const OTHER = 'Other'

export type Funnel = { query: FunnelsQuery; range: Range; breakdown: Breakdown | null }

/** A column for how many came to each step, then for each step but the first the average and median seconds to it. */
export function stepsStatement(funnel: Funnel, clock: Clock): Query {
  const places = [...funnel.query.series.keys()].map((index) => index + 1)
  const reached = places.map((place) => `countIf(length(path) >= ${place}) as reached_${place}`)
  const times = ['avg', 'median'].flatMap((name) =>
    places
      .slice(1)
      .map((place) => `${name}If(${secondsBetween(place - 1, place)}, length(path) >= ${place})`),
  )
  const columns = [...reached, ...times].join(', ')
  const people = peopleOf(funnel, clock)
  if (!funnel.breakdown) {
    return statement(`select '' as shown, ${columns} from {people} where length(path) >= 1`, { people })
  }
  return statement(
    `with people as (select breakdown, path from {people} where length(path) >= 1)
    select if(breakdown in (
        select breakdown from people
        group by breakdown order by count() desc, breakdown limit {limit}
      ), breakdown, {other}) as shown, ${columns}
    from people
    group by shown order by reached_1 desc, shown limit {rows}`,
    {
      people,
      limit: constant(funnel.breakdown.limit),
      rows: constant(funnel.breakdown.limit + 1),
      other: constant(OTHER),
    },
  )
}

/** Rows of low, width, average, median, number of the bin and how many took so long. */
export function timesStatement(funnel: Funnel, from: number, to: number, clock: Clock): Query {
  const bins = funnel.query.funnelsFilter?.binCount
  return statement(
    `with times as (
        select ${secondsBetween(from, to)} as seconds from {people} where length(path) >= ${to}
      ),
      span as (
        select min(seconds) as low, avg(seconds) as average, median(seconds) as middle,
          greatest(ceil((max(seconds) - min(seconds)) / {bins}), 1) as width
        from times
      )
    select low, width, average, middle, toInt(floor((seconds - low) / width)) as bin, count() as people
    from times cross join span
    group by low, width, average, middle, bin order by bin limit 1000`,
    {
      people: peopleOf(funnel, clock),
      // As many as PostHog takes: the cube root of how many there are.
      bins:
        typeof bins === 'number'
          ? constant(bins)
          : expression('least(60, greatest(1, ceil(pow(count(), 1 / 3))))'),
    },
  )
}

const secondsBetween = (from: number, to: number) =>
  `dateDiff('microsecond', path[${from}], path[${to}]) / 1000000`

function peopleOf({ query, range, breakdown }: Funnel, clock: Clock): Query {
  const { series, funnelsFilter, properties, aggregation_group_type_index } = query
  const order = funnelsFilter?.funnelOrderType ?? 'ordered'
  const steps = series.map((node, index) => isOf(node, clock, `series__${index}`))
  const between = exclusionsOf(query, clock)
  const actor = actorOf(aggregation_group_type_index)
  const isRelevant = order === 'strict' ? [] : [anyOf(...steps, ...between)]
  const where = allOf([
    within(range),
    ...filtersOf(properties, clock, 'properties'),
    ...isActor(aggregation_group_type_index),
    ...isRelevant,
  ])!
  const path: Expr = {
    node: 'Call',
    name: 'funnelPath',
    params: [constant(windowOf(query)), constant(order), constant(steps.length)],
    args: [eventField('timestamp'), ...steps, ...between],
  }
  if (!breakdown) {
    return statement('select {actor} as actor, {path} as path from events where {where} group by actor', {
      actor,
      path,
      where,
    })
  }
  const value = call('ifNull', breakdown.value, constant(''))
  const type = funnelsFilter?.breakdownAttributionType ?? 'first_touch'
  if (type === 'all_events') {
    return statement(
      'select {actor} as actor, {value} as breakdown, {path} as path from events where {where} group by actor, breakdown',
      { actor, path, where, value },
    )
  }
  return statement(
    'select {actor} as actor, {attributed} as breakdown, {path} as path from events where {where} group by actor',
    { actor, path, where, attributed: attributed(query, type, breakdown.value, steps) },
  )
}

/** The value that a person counts under: that of the first or last event that has one, or of a step. */
function attributed(
  { funnelsFilter }: FunnelsQuery,
  type: 'first_touch' | 'last_touch' | 'step',
  value: Expr,
  steps: readonly Expr[],
): Expr {
  const step = steps[funnelsFilter?.breakdownAttributionValue ?? 0]
  if (!step) {
    const attr = 'funnelsFilter__breakdownAttributionValue'
    throw invalid(attr, 'invalid_input', 'There is no such step.')
  }
  return expression(
    `ifNull(${type === 'last_touch' ? 'argMaxIf' : 'argMinIf'}({value}, events.timestamp, isNotNull({value}) and {counts}), '')`,
    { value, counts: type === 'step' ? step : constant(true) },
  )
}

function windowOf({ funnelsFilter }: FunnelsQuery): number {
  const { funnelWindowInterval, funnelWindowIntervalUnit } = funnelsFilter ?? {}
  return (funnelWindowInterval ?? DEFAULT_WINDOW) * SECONDS[funnelWindowIntervalUnit ?? 'day']
}

/** What excludes between each two steps. None at all when nothing does. */
function exclusionsOf({ series, funnelsFilter }: FunnelsQuery, clock: Clock): Expr[] {
  const given = funnelsFilter?.exclusions ?? []
  if (given.length === 0) return []
  const at = 'funnelsFilter__exclusions'
  if (funnelsFilter?.funnelOrderType === 'unordered') {
    throw invalid(at, 'invalid_input', 'Steps in any order have nothing between them that could exclude.')
  }
  const read = given.map((node, index) => {
    const { funnelFromStep: from, funnelToStep: to } = node
    if (from >= to || to >= series.length) {
      throw invalid(
        `${at}__${index}`,
        'invalid_input',
        'An exclusion lies between two steps, the earlier one first.',
      )
    }
    return { from, to, condition: isOf(node, clock, `${at}__${index}`) }
  })
  return series.slice(1).map((_, gap) => {
    const own = read.filter(({ from, to }) => from <= gap && gap < to).map(({ condition }) => condition)
    return own.length > 1 ? anyOf(...own) : (own[0] ?? constant(false))
  })
}
