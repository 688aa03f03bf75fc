// One SELECT: what its parts mean, in the order in which they depend on each other, and then its SQL.
import type { SelectQuery } from '../ast.ts'
import { queryError } from '../errors.ts'
import { arranged } from './arrange.ts'
import { resolveCtes, withSql } from './ctes.ts'
import { MAX_SQL_LENGTH } from './expressions.ts'
import { fromSql, resolveFrom } from './from.ts'
import { assertGrouped, resolveGrouping } from './grouping.ts'
import { at, newScope, type Compilation, type Scope, type Subquery } from './scope.ts'
import { resolveSlots, slotsOf } from './slots.ts'

export function selectSql(
  query: SelectQuery,
  outer: Scope | null,
  row: Scope | null,
  compilation: Compilation,
): Subquery {
  const scope: Scope = {
    ...newScope(compilation, outer, row),
    windows: new Map(Object.entries(query.window_exprs ?? {})),
  }
  const ctes = resolveCtes(query.ctes ?? [], scope)
  const from = resolveFrom(query, scope)
  const slots = slotsOf(query.select, query, scope)
  // Keys come first: whatever is resolved after them knows what is grouped.
  const grouped = resolveGrouping(query, slots, at(scope, 'group'))
  const asked = [query.prewhere, query.where]
    .filter((expr) => expr !== undefined)
    .map((expr) => compilation.condition(expr, at(scope, 'where')))
  const conditions = [...conditionOfExport(scope), ...asked]
  scope.grouping.loose.length = 0
  const items = resolveSlots(slots, query, at(scope, 'select'))
  const having =
    query.having && compilation.dialect.boolean(compilation.resolve(query.having, at(scope, 'having')))
  const qualify = qualifySql(query, scope)
  const arrange = arranged(query, items, at(scope, 'order'))
  assertGrouped(scope, grouped.keys.length > 0 || having !== undefined)
  const rest = [
    fromSql(from, scope),
    conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : '',
    grouped.sql,
    having ? ` HAVING ${having}` : '',
    qualify,
  ].join('')
  const sql = withSql(ctes, compilation) + arrange(rest)
  if (sql.length > MAX_SQL_LENGTH) throw queryError('The query is too large', query)
  const columns = items.map(({ slot: { name, title }, value: { type, estimate }, column }) => ({
    name,
    title,
    type,
    estimate,
    column,
  }))
  return { sql, columns }
}

/** Its fields are found whatever name the query gives to them or to the table. */
function conditionOfExport(scope: Scope): string[] {
  const { context, condition } = scope.compilation
  const isOfTable = scope.sources.some(({ from }) => 'table' in from)
  if (!context.exported || !isOfTable) return []
  const sources = scope.sources.map((source) => ({ ...source, name: 'events' }))
  return [condition(context.exported.where, { ...at(scope, 'where'), aliases: new Map(), sources })]
}

/** Engines refuse it where there are no window functions. */
function qualifySql({ qualify }: SelectQuery, scope: Scope): string {
  if (!qualify) return ''
  const { dialect, resolve } = scope.compilation
  const condition = dialect.boolean(resolve(qualify, at(scope, 'qualify')))
  if (scope.grouping.windows === 0) {
    throw queryError('QUALIFY needs a window function: without one, write WHERE or HAVING', qualify)
  }
  return ` QUALIFY ${condition}`
}
