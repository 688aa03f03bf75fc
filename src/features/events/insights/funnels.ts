// Funnels: how many came to each step and how long it took them, or how long it took from one step to another.
import { printHogql } from '../../../hogql/print-hogql.ts'
import type { StoreValue } from '../../../platform/event-store/event-store.ts'
import { invalid } from '../../../platform/http/errors.ts'
import { runQuery, type AskedProject, type Asking } from '../run-query.ts'
import type { FunnelStep, FunnelTimes, InsightAnswered } from './answer.ts'
import { readBreakdown } from './breakdown.ts'
import { readRange } from './date-range.ts'
import { OTHER, stepsStatement, timesStatement, type Funnel } from './funnels-query.ts'
import type { FunnelsQuery } from './schema.ts'

const MAX_ROWS = 1001

export async function runFunnel(
  services: Asking,
  project: AskedProject,
  query: FunnelsQuery,
  signal: AbortSignal | undefined,
): Promise<InsightAnswered> {
  const range = await readRange(services, project, query.dateRange, query.interval ?? 'day')
  const isOfTimes = query.funnelsFilter?.funnelVizType === 'time_to_convert'
  const funnel: Funnel = { query, range, breakdown: isOfTimes ? null : readBreakdown(query.breakdownFilter) }
  const clock = { now: services.now(), timezone: project.timezone }
  const asked = isOfTimes
    ? timesStatement(funnel, ...stepsBetween(query), clock)
    : stepsStatement(funnel, clock)
  const { rows } = await runQuery(services, project, { query: asked, max_rows: MAX_ROWS, signal })
  const beside = { hogql: printHogql(asked), range }
  if (isOfTimes) return { ...beside, results: timesOf(rows), hasMore: false }
  const hasMore = rows.some(([shown]) => shown === OTHER)
  if (!funnel.breakdown) return { ...beside, results: stepsOf(query, rows[0] ?? []), hasMore }
  const { hides_others } = funnel.breakdown
  const shown = rows.filter(([value]) => !hides_others || value !== OTHER)
  // What is left over comes last, however much it is.
  const sorted = shown.toSorted(([a], [b]) => Number(a === OTHER) - Number(b === OTHER))
  const results = sorted.map((row) =>
    stepsOf(query, row).map((step) => ({
      ...step,
      breakdown: [String(row[0])],
      breakdown_value: [String(row[0])],
    })),
  )
  return { ...beside, results, hasMore }
}

/** `row` is the value of the breakdown, the counts, the averages and the medians. */
function stepsOf({ series, funnelsFilter }: FunnelsQuery, row: readonly StoreValue[]): FunnelStep[] {
  const isUnordered = funnelsFilter?.funnelOrderType === 'unordered'
  const seconds = (place: number) => {
    const value = row[place]
    return typeof value === 'number' ? value : null
  }
  return series.map((node, order) => ({
    action_id: node.event || null,
    name: isUnordered ? `Completed ${order + 1} step${order === 0 ? '' : 's'}` : node.event || 'All events',
    custom_name: node.custom_name ?? null,
    order,
    type: 'events',
    people: [],
    count: Number(row[1 + order] ?? 0),
    average_conversion_time: order === 0 ? null : seconds(series.length + order),
    median_conversion_time: order === 0 ? null : seconds(2 * series.length - 1 + order),
  }))
}

/** The two steps that the time is taken between, counted from 1. */
function stepsBetween({ series, funnelsFilter }: FunnelsQuery): [number, number] {
  const from = funnelsFilter?.funnelFromStep ?? 0
  const to = funnelsFilter?.funnelToStep ?? series.length - 1
  if (from < to && to < series.length) return [from + 1, to + 1]
  throw invalid(
    'funnelsFilter__funnelToStep',
    'invalid_input',
    'The time is taken between two steps, the earlier one first.',
  )
}

function timesOf(rows: readonly (readonly StoreValue[])[]): FunnelTimes {
  const [first] = rows
  if (!first) return { bins: [], average_conversion_time: null, median_conversion_time: null }
  const [low, width, average, median] = first.map(Number)
  const counts = new Map(rows.map((row) => [Number(row[4]), Number(row[5])]))
  const bins = Array.from({ length: Math.max(...counts.keys()) + 1 }, (_, bin): [number, number] => [
    low! + bin * width!,
    counts.get(bin) ?? 0,
  ])
  return { bins, average_conversion_time: average!, median_conversion_time: median! }
}
