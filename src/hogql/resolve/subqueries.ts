// Queries inside expressions. They can use the columns of the row they are asked for.
import type { Call, Query } from '../ast.ts'
import { queryError } from '../errors.ts'
import type { Value } from '../value.ts'
import { isQuery, rowOf, type Scope } from './scope.ts'

export function scalarSubquery(query: Query, scope: Scope): Value {
  const { sql, columns } = scope.compilation.subquery(query, scope, rowOf(scope))
  const [column] = columns
  if (!column || columns.length > 1) {
    throw queryError(`A subquery used as a value has one column, not ${columns.length}`, query)
  }
  return { sql: `(${sql})`, type: column.type, estimate: column.estimate }
}

/** Whether the subquery has any row. */
export function exists(call: Call, scope: Scope): Value {
  const [query, ...others] = call.args
  if (!query || !isQuery(query) || others.length > 0) throw queryError(`'exists' takes a subquery`, call)
  const { sql } = scope.compilation.subquery(query, scope, rowOf(scope))
  return { sql: `EXISTS (${sql})`, type: { kind: 'boolean' } }
}
