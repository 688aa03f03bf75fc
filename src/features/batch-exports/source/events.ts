// Events of a run: the areas it has claimed, the names and filters of the export, as HogQL trees so that there is one
// fence and one meaning. The table lies in the order of positions and the engine keeps that order, so nothing is sorted.
// Nor is anything joined, or freed of repeats: the writer stores a uuid once within a day of its time.
import { allOf, anyOf, compare, constant, eventField, field, moment, oneOf } from '../../events/tree.ts'
import type { Expr } from '../../../hogql/ast.ts'
import type { Area } from '../../../platform/event-store/event-store.ts'
import type { Bounds, Definition } from '../definition.ts'
import type { ColumnSet } from '../destinations/destination.ts'
import { eventColumns } from './columns.ts'
import { compileEvents, FROM_EVENTS, type AskedEvents } from './compile-events.ts'
import { customColumns } from './custom-query.ts'
import { filterCondition } from './filters.ts'
import type { ExportedProject, SourceRows } from './source-rows.ts'

export function eventRows(
  project: ExportedProject,
  definition: Definition,
  set: ColumnSet,
  bounds: Bounds,
  now: Date,
): SourceRows {
  const { query, columns } =
    definition.hogql_query === null
      ? ownColumns(set, definition, bounds)
      : customColumns(definition.hogql_query)
  const where = allOf([...areaConditions(bounds.areas), ...choiceConditions(project, definition, now)])!
  const { types, ...compiled } = compileEvents(project, query, where, now)
  return {
    ...compiled,
    columns: columns.map((column, index) => ({ ...column, type: types[index]! })),
    found_by: 'uuid',
  }
}

/** Position and time of all events that the definition lets through, whichever run they belong to. */
export function eventTimes(
  project: ExportedProject,
  definition: RowChoice,
  now: Date,
): Pick<SourceRows, 'sql' | 'parameters'> {
  const { hogql_query } = definition
  const query =
    hogql_query === null ? { select: [], select_from: FROM_EVENTS } : customColumns(hogql_query).query
  // The query's own columns stay: its condition may name them.
  const select = [eventField('timestamp'), ...query.select]
  const where = allOf(choiceConditions(project, definition, now)) ?? constant(true)
  const { sql, parameters } = compileEvents(project, { ...query, select }, where, now)
  return { sql, parameters }
}

function ownColumns(set: ColumnSet, { config }: Definition, { interval }: Bounds): AskedEvents {
  const columns = eventColumns(set, config, interval.end)
  return { query: { select: columns.map(({ expr }) => expr), select_from: FROM_EVENTS }, columns }
}

/** What of a definition says which rows go out. */
export type RowChoice = Pick<Definition, 'config' | 'filters' | 'hogql_query'>

function choiceConditions({ timezone }: ExportedProject, { config, filters }: RowChoice, now: Date): Expr[] {
  const include = namesIn(config.include_events)
  const exclude = namesIn(config.exclude_events)
  const filtered = filterCondition(filters ?? [], timezone, now)
  return [
    ...(include.length > 0 ? [oneOf(field('event'), include)] : []),
    ...(exclude.length > 0 ? [{ node: 'Not', expr: oneOf(field('event'), exclude) } as const] : []),
    ...(filtered === null ? [] : [filtered]),
  ]
}

/** Nearly always one area. Of several, the engine first passes over the blocks that none of them can be in. */
function areaConditions(areas: readonly Area[]): Expr[] {
  const [first, ...others] = areas
  if (!first) return [constant(false)]
  if (others.length === 0) return conditionsOf(first)
  const lowest = Math.min(...areas.map(({ seq_from }) => seq_from))
  const highest = Math.max(...areas.map(({ seq_to }) => seq_to))
  return [
    compare(field('seq'), '>', constant(lowest)),
    compare(field('seq'), '<=', constant(highest)),
    anyOf(...areas.map((area) => allOf(conditionsOf(area))!)),
  ]
}

function conditionsOf({ seq_from, seq_to, time_from, time_to }: Area): Expr[] {
  return [
    compare(field('seq'), '>', constant(seq_from)),
    compare(field('seq'), '<=', constant(seq_to)),
    ...(time_from === null ? [] : [compare(field('timestamp'), '>=', instant(time_from))]),
    ...(time_to === null ? [] : [compare(field('timestamp'), '<', instant(time_to))]),
  ]
}

const instant = (date: Date) => moment(BigInt(date.getTime()) * 1000n)

/** From a configuration that its schema has read. */
function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
}
