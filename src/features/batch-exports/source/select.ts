// Which rows and which columns a run hands on. The engine of runs asks here, once per attempt, and gets the same each time.
import { HogqlError } from '../../../hogql/errors.ts'
import type { EventChoice, ExportedColumn, ExportRows } from '../../../platform/event-store/export-rows.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import type { Bounds, Definition, OutputColumn } from '../definition.ts'
import { Refused, type ColumnSet } from '../destinations/destination.ts'
import { chosenEvents, eventRows, type RowChoice } from './events.ts'
import { formOf, outputColumn } from './output.ts'
import { personRows } from './persons.ts'
import { sessionRows } from './sessions.ts'
import type { ExportedProject, SourceRows } from './source-rows.ts'

export type SelectedRows = {
  rows: ExportRows
  columns: OutputColumn[]
  /** By what people find a row. */
  found_by: string
}

/**
 * `now` is what relative times count from, and must be the same at every attempt of a run. Throws Refused for what was
 * accepted once and can no longer be read.
 */
export function selectRows(
  project: ExportedProject,
  definition: Definition,
  columns_of: ColumnSet,
  bounds: Bounds,
  now: Date,
): SelectedRows {
  const target = { columns: columns_of, config: definition.config }
  const { source, found_by, ...raw } = refusing(() =>
    sourceRows(project, definition, columns_of, bounds, now),
  )
  const outputs = raw.columns.map((column) => outputColumn(column, target))
  const columns = raw.columns.map((column, index): ExportedColumn => {
    const { name, kind } = outputs[index]!
    return { name, kind, value: { of: column.of, form: formOf(column, outputs[index]!, target) } }
  })
  return {
    rows: { project_id: project.id, source, columns },
    columns: outputs,
    found_by,
  }
}

/** Nothing is left out. */
export const EVERY_ROW: RowChoice = { config: {}, filters: null, hogql_query: null }

/** The events that a definition lets through, to be measured by areas. Throws as selectRows does. */
export function selectEvents(project: ExportedProject, definition: RowChoice, now: Date): EventChoice {
  return refusing(() => chosenEvents(project, definition, now))
}

function sourceRows(
  project: ExportedProject,
  definition: Definition,
  set: ColumnSet,
  bounds: Bounds,
  now: Date,
): SourceRows {
  const { model, hogql_query, filters } = definition
  if (model === 'events') return eventRows(project, definition, set, bounds, now)
  // Left out in silence, they would let through what was to stay.
  if (hogql_query !== null || (filters !== null && filters.length > 0)) {
    throw new Refused('A query and filters can only be used with the model events.')
  }
  return model === 'persons' ? personRows(set, bounds.interval) : sessionRows(bounds)
}

function refusing<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof HogqlError || error instanceof ApiError) throw new Refused(error.detail)
    throw error
  }
}
