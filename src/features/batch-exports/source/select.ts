// Which rows and which columns a run hands on. The engine of runs asks here, once per attempt, and gets the same each time.
import { HogqlError } from '../../../hogql/errors.ts'
import type { ExportRows, Parameter, StoreValue } from '../../../platform/event-store/event-store.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import type { Bounds, Definition, OutputColumn } from '../definition.ts'
import { Refused, type ColumnSet } from '../destinations/destination.ts'
import { eventRows, eventTimes, type RowChoice } from './events.ts'
import { outputColumn, outputSql } from './output.ts'
import { personRows } from './persons.ts'
import { sessionRows } from './sessions.ts'
import { checkLengths } from './row-checks.ts'
import { rawColumn, type ExportedProject, type SourceRows } from './source-rows.ts'

/** Asked of the store once a run; the answer is one row. */
export type RowCheck = {
  sql: string
  parameters: readonly Parameter[]
  /** To be logged; null when all is well. */
  warning(answer: readonly StoreValue[]): string | null
}

export type SelectedRows = { rows: ExportRows; columns: OutputColumn[]; checks: RowCheck[] }

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
  const source = refusing(() => sourceRows(project, definition, columns_of, bounds, now))
  const outputs = source.columns.map((column) => outputColumn(column, target))
  const list = source.columns.map(
    (column, index) => `${outputSql(rawColumn(index), column, outputs[index]!, target)} AS c${index + 1}`,
  )
  const sql = `SELECT ${['r.c1 AS position', ...list].join(', ')} FROM (${source.sql}) AS r`
  const columns = outputs.map(({ name, kind }) => ({ name, kind }))
  return {
    rows: { project_id: project.id, sql, parameters: source.parameters, columns },
    columns: outputs,
    checks: checkLengths(source, outputs, target),
  }
}

/** Nothing is left out. */
export const EVERY_ROW: RowChoice = { config: {}, filters: null, hogql_query: null }

/** The times of the events that a definition lets through, to be measured by areas. Throws as selectRows does. */
export function selectTimes(project: ExportedProject, definition: RowChoice, now: Date): ExportRows {
  const { sql, parameters } = refusing(() => eventTimes(project, definition, now))
  return {
    project_id: project.id,
    sql: `SELECT r.c1 AS position, ${rawColumn(0)} AS c1 FROM (${sql}) AS r`,
    parameters,
    columns: [{ name: 'timestamp', kind: 'timestamp' }],
  }
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
  return model === 'persons' ? personRows(project, set, bounds.interval) : sessionRows(project, bounds)
}

function refusing<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof HogqlError || error instanceof ApiError) throw new Refused(error.message)
    throw error
  }
}
