// Events of a run: its positions or its time, the names and filters of the export, as HogQL trees so that there is one
// fence and one meaning. The table lies in the order of positions and the engine keeps that order, so nothing is sorted.
// Nor is anything joined, or freed of repeats: the writer stores a uuid once within a day of its time.
import { allOf, compare, constant, field, moment, oneOf } from '../../events/tree.ts'
import type { Expr } from '../../../hogql/ast.ts'
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
    definition.hogql_query === null ? ownColumns(set, bounds) : customColumns(definition.hogql_query)
  const where = rowCondition(project, definition, bounds, now)
  const { types, ...compiled } = compileEvents(project, query, where, now)
  return {
    ...compiled,
    columns: columns.map((column, index) => ({ ...column, type: types[index]! })),
    found_by: 'uuid',
  }
}

function ownColumns(set: ColumnSet, { interval }: Bounds): AskedEvents {
  const columns = eventColumns(set, interval.end)
  return { query: { select: columns.map(({ expr }) => expr), select_from: FROM_EVENTS }, columns }
}

function rowCondition(
  { timezone }: ExportedProject,
  { config, filters }: Definition,
  bounds: Bounds,
  now: Date,
): Expr {
  const include = namesIn(config.include_events)
  const exclude = namesIn(config.exclude_events)
  const filtered = filterCondition(filters ?? [], timezone, now)
  return allOf([
    ...boundConditions(bounds),
    ...(include.length > 0 ? [oneOf(field('event'), include)] : []),
    ...(exclude.length > 0 ? [{ node: 'Not', expr: oneOf(field('event'), exclude) } as const] : []),
    ...(filtered === null ? [] : [filtered]),
  ])!
}

function boundConditions({ selection, interval: { start, end }, seq_from, seq_to }: Bounds): Expr[] {
  const last = compare(field('seq'), '<=', constant(seq_to))
  if (selection === 'arrival') return [compare(field('seq'), '>', constant(seq_from)), last]
  const before = compare(field('timestamp'), '<', instant(end))
  return start === null ? [before, last] : [compare(field('timestamp'), '>=', instant(start)), before, last]
}

const instant = (date: Date) => moment(BigInt(date.getTime()) * 1000n)

/** From a configuration that its schema has read. */
function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
}
