// A SELECT over events as exports read them, compiled for the project. Whoever runs one or checks one comes here, so that
// what was accepted can be run.
import { field } from '../../events/tree.ts'
import type { Expr, SelectQuery } from '../../../hogql/ast.ts'
import { compileQuery, type CompiledQuery } from '../../../hogql/compile.ts'
import type { EventQuery } from '../../../platform/event-store/export-rows.ts'
import type { ExportedProject, SourceColumn } from './source-rows.ts'

type AskedQuery = Pick<SelectQuery, 'select' | 'select_from' | 'where'>

/** What is asked for and how it is called; the rest comes out of the compiler. */
export type AskedEvents = { query: AskedQuery; columns: readonly Pick<SourceColumn, 'name' | 'hint'>[] }

export const FROM_EVENTS = { node: 'JoinExpr', table: field('events') } as const

/** `outputs` are what is selected. Rows must also meet `where`. Throws a HogqlError. */
export function compileEvents(
  { id, timezone, engine }: ExportedProject,
  query: AskedQuery,
  where: Expr,
  now: Date,
): { query: EventQuery; outputs: CompiledQuery['outputs'] } {
  // Of the table, whatever the query may call by the same name.
  const table = query.select_from?.alias ?? 'events'
  const select = [...['seq', 'uuid', 'timestamp'].map((name) => field(table, name)), ...query.select]
  const compiled = compileQuery(
    { ...query, node: 'SelectQuery', select },
    { project_id: id, timezone, now, placeholders: new Map(), exported: { where } },
    engine,
  )
  const [position, uuid, time, ...outputs] = compiled.outputs
  const { sql, parameters } = compiled
  return {
    query: { sql, parameters, position: position!.column, uuid: uuid!.column, time: time!.column },
    outputs,
  }
}
