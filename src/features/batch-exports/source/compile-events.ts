// A SELECT over events as exports read them, compiled for the project. Whoever runs one or checks one comes here, so that
// what was accepted can be run.
import { field } from '../../events/tree.ts'
import type { Expr, SelectQuery } from '../../../hogql/ast.ts'
import { compileQuery } from '../../../hogql/compile.ts'
import type { Type } from '../../../hogql/value.ts'
import type { Parameter } from '../../../platform/event-store/event-store.ts'
import type { ExportedProject, SourceColumn } from './source-rows.ts'

type EventQuery = Pick<SelectQuery, 'select' | 'select_from' | 'where'>

/** What is asked for and how it is called; types come out of the compiler. */
export type AskedEvents = { query: EventQuery; columns: readonly Omit<SourceColumn, 'type'>[] }

export const FROM_EVENTS = { node: 'JoinExpr', table: field('events') } as const

/**
 * The position and the uuid come before what is selected, see SourceRows; `types` are of what is selected. Rows must also
 * meet `where`. Throws a HogqlError.
 */
export function compileEvents(
  project: ExportedProject,
  query: EventQuery,
  where: Expr,
  now: Date,
): { sql: string; parameters: readonly Parameter[]; types: readonly Type[] } {
  const { sql, parameters, outputs } = compileQuery(
    { ...query, node: 'SelectQuery', select: [field('seq'), field('uuid'), ...query.select] },
    { project_id: project.id, timezone: project.timezone, now, placeholders: new Map(), exported: { where } },
    'duckdb',
  )
  return { sql, parameters, types: outputs.slice(2).map(({ type }) => type) }
}
