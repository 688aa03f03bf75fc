// Compiles a SELECT over events, as exports read them, for the project. Checks and runs both come here, so that
// whatever was accepted can be run.
import { field } from '../../events/tree.ts'
import type { Expr, SelectQuery } from '../../../hogql/ast.ts'
import { compileQuery, type CompiledQuery } from '../../../hogql/compile.ts'
import type { EventQuery } from '../../../platform/event-store/export-rows.ts'
import type { ExportedProject, SourceColumn } from './source-rows.ts'

type AskedQuery = Pick<SelectQuery, 'select' | 'select_from' | 'where'>

/** The query and the names of its columns; the rest comes from the compiler. */
export type AskedEvents = { query: AskedQuery; columns: readonly Pick<SourceColumn, 'name' | 'hint'>[] }

export const FROM_EVENTS = { node: 'JoinExpr', table: field('events') } as const

/** `outputs` are what is selected. Rows must also meet `where`. Throws a HogqlError. */
export function compileEvents(
  { id, timezone, engine }: ExportedProject,
  query: AskedQuery,
  where: Expr,
  now: Date,
): { query: EventQuery; outputs: CompiledQuery['outputs'] } {
  // The table's own columns, whatever the query calls by the same names.
  const table = query.select_from?.alias ?? 'events'
  const select = [...['seq', 'uuid', 'timestamp'].map((name) => field(table, name)), ...query.select]
  const compiled = compileQuery(
    { ...query, node: 'SelectQuery', select },
    { project_id: id, timezone, now, placeholders: new Map(), exported: { where } },
    engine,
  )
  const [position, uuid, time, ...outputs] = compiled.outputs
  const { sql, parameters, properties } = compiled
  const own = { position: position!.column, uuid: uuid!.column, time: time!.column }
  return { query: { sql, parameters, properties, ...own }, outputs }
}
