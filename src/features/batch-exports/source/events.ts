// Events of a run: the areas it has claimed, and of those what the names and filters of the export let through. Names and
// filters are HogQL trees, so that there is one fence and one meaning.
import { allOf, constant, field, oneOf } from '../../events/tree.ts'
import type { Expr } from '../../../hogql/ast.ts'
import type { EventChoice } from '../../../platform/event-store/export-rows.ts'
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
  const asked =
    definition.hogql_query === null
      ? ownColumns(set, definition, bounds)
      : customColumns(definition.hogql_query)
  const { query, outputs } = compileEvents(project, asked.query, choiceOf(project, definition, now), now)
  return {
    source: { model: 'events', query, areas: bounds.areas },
    columns: asked.columns.map((column, index) => {
      const { column: of, type } = outputs[index]!
      return { ...column, of, type }
    }),
    found_by: 'uuid',
  }
}

/** All events that the definition lets through, whichever run they belong to. */
export function chosenEvents(project: ExportedProject, definition: RowChoice, now: Date): EventChoice {
  const { hogql_query } = definition
  // The query's own columns stay: its condition may name them.
  const asked =
    hogql_query === null ? { select: [], select_from: FROM_EVENTS } : customColumns(hogql_query).query
  const { query } = compileEvents(project, asked, choiceOf(project, definition, now), now)
  return { project_id: project.id, query }
}

function ownColumns(set: ColumnSet, { config }: Definition, { interval }: Bounds): AskedEvents {
  const columns = eventColumns(set, config, interval.end)
  return { query: { select: columns.map(({ expr }) => expr), select_from: FROM_EVENTS }, columns }
}

/** What of a definition says which rows go out. */
export type RowChoice = Pick<Definition, 'config' | 'filters' | 'hogql_query'>

function choiceOf({ timezone }: ExportedProject, { config, filters }: RowChoice, now: Date): Expr {
  const include = namesIn(config.include_events)
  const exclude = namesIn(config.exclude_events)
  const filtered = filterCondition(filters ?? [], timezone, now)
  const conditions: Expr[] = [
    ...(include.length > 0 ? [oneOf(field('event'), include)] : []),
    ...(exclude.length > 0 ? [{ node: 'Not', expr: oneOf(field('event'), exclude) } as const] : []),
    ...(filtered === null ? [] : [filtered]),
  ]
  return allOf(conditions) ?? constant(true)
}

/** From a configuration that its schema has read. */
function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
}
