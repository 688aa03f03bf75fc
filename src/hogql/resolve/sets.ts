// Several queries as one: UNION, INTERSECT and EXCEPT.
import type { SelectSetQuery, Span } from '../ast.ts'
import { queryError } from '../errors.ts'
import { largestOf } from '../size-estimate.ts'
import type { Value } from '../value.ts'
import { arranged } from './arrange.ts'
import { resolveCtes, withSql, type NamedSql } from './ctes.ts'
import { renamed } from './from.ts'
import { commonType } from './kinds.ts'
import { at, newScope, type Compilation, type Scope, type Subquery } from './scope.ts'
import type { Item } from './slots.ts'

export function setSql(
  query: SelectSetQuery,
  outer: Scope | null,
  row: Scope | null,
  compilation: Compilation,
): Subquery {
  const scope = newScope(compilation, outer, row)
  // What the first part names, the others may use too.
  const { ctes: shared = [], ...initial } = query.initial_select_query
  const ctes = resolveCtes([...(query.ctes ?? []), ...shared], scope)
  const first = compilation.subquery(initial, scope, row)
  const rest = query.subsequent_select_queries.map(({ select_query, set_operator }) => {
    const part = compilation.subquery(select_query, scope, row)
    assertSameWidth(first, part, select_query)
    return { part, operator: compilation.dialect.set_operators[set_operator] }
  })
  const columns = first.columns.map((column, index) => ({
    ...column,
    type: rest.reduce((type, { part }) => commonType(type, part.columns[index]?.type ?? type), column.type),
    estimate: largestOf(
      [first, ...rest.map(({ part }) => part)].map((part) => part.columns[index] ?? column),
    ),
  }))
  const sql = `(${first.sql})${rest.map(({ part, operator }) => ` ${operator} (${part.sql})`).join('')}`
  if (!query.order_by && !query.limit && !query.offset)
    return { sql: withSql(ctes, compilation) + sql, columns }
  return ordered(query, { sql, columns }, ctes, scope)
}

function assertSameWidth(first: Subquery, part: Subquery, span: Span) {
  if (first.columns.length === part.columns.length) return
  throw queryError(`The parts have ${first.columns.length} and ${part.columns.length} columns`, span)
}

/** ORDER BY and LIMIT of the whole: a SELECT round it, so that it can be ordered by any expression of its columns. */
function ordered(query: SelectSetQuery, inner: Subquery, ctes: readonly NamedSql[], scope: Scope): Subquery {
  const { compilation } = scope
  const alias = compilation.fresh('t')
  scope.sources.push({ name: null, alias, from: { sql: '', columns: renamed(inner.columns, {}) } })
  const items = inner.columns.map(({ name, title, column, type, estimate }): Item => {
    const value: Value = { sql: `${alias}.${column}`, type, estimate }
    return {
      slot: { name, title, aggregates: false, span: query, resolve: () => value },
      value,
      column: compilation.fresh('c'),
    }
  })
  const arrange = arranged(query, items, at(scope, 'order'))
  return {
    sql: withSql(ctes, compilation) + arrange(` FROM (${inner.sql}) AS ${alias}`),
    columns: inner.columns.map((column, index) => ({ ...column, column: items[index]?.column ?? '' })),
  }
}
