// One SELECT: what its parts mean, in the order in which they depend on each other, and then its SQL.
import { hasAggregate } from '../aggregation.ts'
import type { Alias, Cte, Expr, Field, OrderExpr, SelectQuery, SelectSetQuery, Span } from '../ast.ts'
import { queryError } from '../errors.ts'
import { assertGrowth, largestOf, sizeOf } from '../growth.ts'
import { printHogql } from '../print-hogql.ts'
import type { Value } from '../value.ts'
import { assertAlias, MAX_SQL_LENGTH } from './expressions.ts'
import { sourceColumn, starOf } from './fields.ts'
import { fromSql, renamed, resolveFrom } from './from.ts'
import { commonType } from './kinds.ts'
import {
  newScope,
  type Compilation,
  type NamedQuery,
  type Place,
  type Scope,
  type Source,
  type Subquery,
} from './scope.ts'

const MAX_COLUMNS = 500

/** A column of the result before it is resolved. */
type Slot = { name: string; title: string; aggregates: boolean; span: Span; resolve(scope: Scope): Value }
type Item = { slot: Slot; value: Value; column: string }

export function selectSql(query: SelectQuery, outer: Scope | null, compilation: Compilation): Subquery {
  const scope: Scope = {
    ...newScope(compilation, outer),
    windows: new Map(Object.entries(query.window_exprs ?? {})),
  }
  const ctes = resolveCtes(query.ctes ?? [], scope)
  const from = resolveFrom(query, scope)
  for (const [index, expr] of query.select.entries()) {
    if (expr.node === 'Alias' && !scope.aliases.has(expr.alias)) {
      scope.aliases.set(expr.alias, { expr: expr.expr, index, busy: false })
    }
  }
  const slots = query.select.flatMap((expr, index) => slotsOf(expr, index, scope))
  if (slots.length > MAX_COLUMNS) throw queryError(`A query has at most ${MAX_COLUMNS} columns`, query)
  // Keys come first: whatever is resolved after them knows what is grouped.
  const keys = groupKeys(query, slots, at(scope, 'group'))
  const asked = [query.prewhere, query.where]
    .filter((expr) => expr !== undefined)
    .map((expr) => compilation.condition(expr, at(scope, 'where')))
  const conditions = [...conditionOfExport(scope), ...asked]
  scope.grouping.loose.length = 0
  const items = resolveSlots(slots, query, at(scope, 'select'))
  const having =
    query.having && compilation.dialect.boolean(compilation.resolve(query.having, at(scope, 'having')))
  const order = orderSql(query.order_by ?? [], items, query.distinct === true, at(scope, 'order'))
  assertGrouped(scope, keys.length > 0 || having !== undefined)
  const sql = [
    withSql(ctes, compilation),
    `SELECT ${query.distinct ? 'DISTINCT ' : ''}${items.map(({ value, column }) => `${value.sql} AS ${column}`).join(', ')}`,
    fromSql(from, scope),
    conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : '',
    keys.length > 0 ? ` GROUP BY ${keys.join(', ')}` : '',
    having ? ` HAVING ${having}` : '',
    order,
    limitSql(query, scope),
  ].join('')
  if (sql.length > MAX_SQL_LENGTH) throw queryError('The query is too large', query)
  const columns = items.map(({ slot: { name, title }, value: { type, growth }, column }) => ({
    name,
    title,
    type,
    growth,
    column,
  }))
  return { sql, columns }
}

function resolveSlots(slots: readonly Slot[], span: Span, scope: Scope): Item[] {
  let length = 0
  let growth = 0
  return slots.map((slot) => {
    const value = slot.resolve(scope)
    length += value.sql.length
    if (length > MAX_SQL_LENGTH) throw queryError('The query is too large', span)
    // Several times the same is made once, but handed out several times.
    growth += Math.max(0, sizeOf(value.growth) - 1)
    assertGrowth(growth, slot.span)
    return { slot, value, column: scope.compilation.fresh('c') }
  })
}

/** Its fields are found whatever name the query gives to them or to the table. */
function conditionOfExport(scope: Scope): string[] {
  const { context, condition } = scope.compilation
  const isOfTable = scope.sources.some(({ from }) => 'table' in from)
  if (!context.exported || !isOfTable) return []
  const sources = scope.sources.map((source) => ({ ...source, name: 'events' }))
  return [condition(context.exported.where, { ...at(scope, 'where'), aliases: new Map(), sources })]
}

/** Exports know `team_id`, and may call it so. */
const isOwnName = ({ alias, expr }: Alias, { compilation: { context } }: Scope) =>
  context.exported !== undefined &&
  expr.node === 'Field' &&
  expr.chain.length === 1 &&
  expr.chain[0] === alias

const at = (scope: Scope, place: Place): Scope => ({ ...scope, place })

type NamedSql = { named: Extract<NamedQuery, { kind: 'subquery' }>; sql: string }

/** Adds the named queries to the scope, each seeing those before it. Gives those that are subqueries. */
function resolveCtes(ctes: readonly Cte[], scope: Scope): NamedSql[] {
  return ctes.flatMap((cte) => {
    assertAlias(cte.name, cte)
    if (cte.recursive) throw queryError('WITH RECURSIVE is not supported', cte)
    if (
      cte.cte_type === 'column' ||
      (cte.expr.node !== 'SelectQuery' && cte.expr.node !== 'SelectSetQuery')
    ) {
      scope.named_queries.set(cte.name, { kind: 'column', expr: cte.expr })
      return []
    }
    const { sql, columns } = scope.compilation.subquery(cte.expr, scope)
    const names = cte.columns ? { column_aliases: cte.columns } : {}
    const named: NamedSql['named'] = {
      kind: 'subquery',
      alias: scope.compilation.fresh('q'),
      columns: renamed(columns, { ...cte, ...names }),
      uses: 0,
    }
    scope.named_queries.set(cte.name, named)
    return [{ named, sql }]
  })
}

/** To be written last, when it is known how often each is used. */
function withSql(ctes: readonly NamedSql[], { dialect }: Compilation): string {
  if (ctes.length === 0) return ''
  const list = ctes.map(
    ({ named: { alias, uses }, sql }) => `${alias} AS ${uses > 1 ? dialect.made_once : ''}(${sql})`,
  )
  return `WITH ${list.join(', ')} `
}

function slotsOf(expr: Expr, index: number, scope: Scope): Slot[] {
  if (expr.node === 'Field' && expr.chain.at(-1) === '*') return starSlots(expr, scope)
  const isAlias = expr.node === 'Alias'
  if (isAlias && !isOwnName(expr, scope)) assertAlias(expr.alias, expr)
  const title = isAlias ? expr.alias : printHogql(expr)
  // Through its alias, so that it is resolved only once.
  const isFirst = isAlias && scope.aliases.get(expr.alias)?.index === index
  const target: Expr = isFirst ? { ...expr, node: 'Field', chain: [expr.alias] } : expr
  const aliases_before = isFirst ? Infinity : index
  return [
    {
      name: expr.node === 'Field' ? String(expr.chain.at(-1)) : title,
      title,
      aggregates: hasAggregate(expr),
      span: expr,
      resolve: (inside) => inside.compilation.resolve(target, { ...inside, aliases_before }),
    },
  ]
}

function starSlots(star: Field, scope: Scope): Slot[] {
  const [qualifier] = star.chain.length > 1 ? star.chain : []
  const sources = scope.sources.filter(({ name }) => qualifier === undefined || name === qualifier)
  if (sources.length === 0 || star.chain.length > 2) {
    throw queryError(`'${star.chain.join('.')}' stands for no columns: there is no such table here`, star)
  }
  return sources.flatMap((source) => [...starOf(source)].map((name) => starSlot(star, source, name)))
}

const starSlot = (star: Field, source: Source, name: string): Slot => ({
  name,
  title: name,
  aggregates: false,
  span: star,
  resolve(scope) {
    const value = sourceColumn(source, name, scope)
    if (!value) throw queryError(`Unknown field '${name}'`, star)
    if (!scope.grouping.keys.has(value.sql)) scope.grouping.loose.push({ ...star, chain: [name] })
    return value
  },
})

/** A whole number means the column with that number. */
function slotAt(expr: Expr, slots: readonly Slot[]): Slot | null {
  if (expr.node !== 'Constant' || typeof expr.value !== 'number') return null
  const slot = slots[expr.value - 1]
  if (!slot) throw queryError(`There is no column ${expr.value}`, expr)
  return slot
}

function groupKeys(query: SelectQuery, slots: readonly Slot[], scope: Scope): string[] {
  const exprs = query.group_by ?? []
  const values =
    query.group_by_mode === 'all'
      ? slots.filter(({ aggregates }) => !aggregates).map((slot) => slot.resolve(scope))
      : exprs.map((expr) => slotAt(expr, slots)?.resolve(scope) ?? scope.compilation.resolve(expr, scope))
  for (const { sql } of values) scope.grouping.keys.add(sql)
  return values.map(({ sql }) => sql)
}

function assertGrouped({ grouping: { loose, aggregates } }: Scope, is_grouped: boolean) {
  const [field] = loose
  if (field && (is_grouped || aggregates > 0)) {
    throw queryError(`'${field.chain.join('.')}' must stand in GROUP BY or inside an aggregate`, field)
  }
}

function orderSql(
  order: readonly OrderExpr[],
  items: readonly Item[],
  is_distinct: boolean,
  scope: Scope,
): string {
  const slots = items.map(({ slot }) => slot)
  const terms = order.flatMap(({ expr, order: direction }) => {
    const position = slotAt(expr, slots)
    const value = position ? null : scope.compilation.resolve(expr, scope)
    const item = items.find(({ slot, value: { sql } }) => slot === position || sql === value?.sql)
    if (is_distinct && !item)
      throw queryError('With DISTINCT, rows can only be ordered by what is selected', expr)
    // Nothing is ordered by a constant, and engines refuse it.
    if (value?.constant !== undefined) return []
    return [`${item?.column ?? value?.sql} ${direction} NULLS LAST`]
  })
  return terms.length > 0 ? ` ORDER BY ${terms.join(', ')}` : ''
}

type Limits = Pick<SelectQuery, 'limit' | 'offset'>

function limitSql({ limit, offset }: Limits, { compilation: { dialect } }: Scope): string {
  const count = (expr: Expr, what: string) => {
    const value = expr.node === 'Constant' ? expr.value : null
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return dialect.bind(value)
    throw queryError(`${what} must be a whole number`, expr)
  }
  return (
    (limit ? ` LIMIT ${count(limit, 'LIMIT')}` : '') + (offset ? ` OFFSET ${count(offset, 'OFFSET')}` : '')
  )
}

export function setSql(query: SelectSetQuery, outer: Scope | null, compilation: Compilation): Subquery {
  const scope = newScope(compilation, outer)
  // What the first part names, the others may use too.
  const { ctes: shared = [], ...initial } = query.initial_select_query
  const ctes = resolveCtes([...(query.ctes ?? []), ...shared], scope)
  const first = compilation.subquery(initial, scope)
  const rest = query.subsequent_select_queries.map(({ select_query, set_operator }) => {
    const part = compilation.subquery(select_query, scope)
    assertSameWidth(first, part, select_query)
    return { part, operator: compilation.dialect.set_operators[set_operator] }
  })
  const columns = first.columns.map((column, index) => ({
    ...column,
    type: rest.reduce((type, { part }) => commonType(type, part.columns[index]?.type ?? type), column.type),
    growth: largestOf([first, ...rest.map(({ part }) => part)].map((part) => part.columns[index] ?? column)),
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
  const items = inner.columns.map(({ name, title, column, type, growth }): Item => {
    const value: Value = { sql: `${alias}.${column}`, type, growth }
    return {
      slot: { name, title, aggregates: false, span: query, resolve: () => value },
      value,
      column: compilation.fresh('c'),
    }
  })
  const list = items.map(({ value, column }) => `${value.sql} AS ${column}`).join(', ')
  const order = orderSql(query.order_by ?? [], items, false, at(scope, 'order'))
  const sql = `${withSql(ctes, compilation)}SELECT ${list} FROM (${inner.sql}) AS ${alias}${order}${limitSql(query, scope)}`
  return {
    sql,
    columns: inner.columns.map((column, index) => ({ ...column, column: items[index]?.column ?? '' })),
  }
}
