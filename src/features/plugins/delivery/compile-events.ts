// The SELECT by which stored events are read for delivery.
import { ascending, constant, field } from '../../events/tree.ts'
import type { Expr } from '../../../hogql/ast.ts'
import { compileQuery } from '../../../hogql/compile.ts'
import type { Parameter } from '../../../platform/event-store/event-store.ts'

/** In this order the rows have them, as `c1`, `c2` and so on. */
const FIELDS = ['seq', 'uuid', 'event', 'distinct_id', 'timestamp', 'properties'] as const

/** The first so many in the order of their positions, or all in any order. Throws a HogqlError. */
export function compileEvents(
  project: { id: number; timezone: string },
  where: Expr,
  now: Date,
  max_events: number | 'all',
): { sql: string; parameters: readonly Parameter[] } {
  return compileQuery(
    {
      node: 'SelectQuery',
      select: FIELDS.map((name) => field(name)),
      select_from: { node: 'JoinExpr', table: field('events') },
      ...(max_events === 'all' ? {} : { order_by: [ascending(field('seq'))], limit: constant(max_events) }),
    },
    {
      project_id: project.id,
      timezone: project.timezone,
      now,
      placeholders: new Map(),
      exported: { where },
    },
    'duckdb',
  )
}
