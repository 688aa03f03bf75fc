// Function calls: scalar functions, aggregates with DISTINCT, FILTER and …If, window functions, arrayJoin.
import type {
  Call,
  Expr,
  Lambda,
  OrderExpr,
  Span,
  WindowExpr,
  WindowFrameExpr,
  WindowFunction,
} from '../ast.ts'
import { findAggregate, type FoundAggregate } from '../aggregation.ts'
import { placedAt, queryError } from '../errors.ts'
import { scalarFunctions, windowFunctions } from '../functions/catalogue.ts'
import { withCertainty } from '../functions/certainty.ts'
import { finished, type Aggregate, type HogqlFunction } from '../functions/function.ts'
import { signed } from '../functions/unsigned.ts'
import { estimated, itemsOf, sumOf } from '../size-estimate.ts'
import type { Type, Value } from '../value.ts'
import { assertCount } from './argument-count.ts'
import { operatorOf } from './operator-calls.ts'
import type { Scope } from './scope.ts'
import { exists } from './subqueries.ts'
import { unknownName } from './suggest.ts'
import { ARRAY_JOIN, unknownFunction } from './unknown-function.ts'

type Entry = HogqlFunction & { name: string }

export function resolveCall(call: Call, scope: Scope): Value {
  const name = call.name.toLowerCase()
  if (name === ARRAY_JOIN.name.toLowerCase()) return arrayJoin(call, scope)
  if (name === 'exists') return exists(call, scope)
  const operator = operatorOf(call)
  if (operator) return scope.compilation.resolve(operator, scope)
  const aggregate = findAggregate(call.name)
  if (aggregate) return resolveAggregate(call, aggregate, scope)
  if (call.distinct || call.filter_expr || call.order_by) {
    throw queryError(`'${call.name}' is no aggregate: DISTINCT, FILTER and ORDER BY mean nothing in it`, call)
  }
  const entry = Object.hasOwn(scalarFunctions, name) ? scalarFunctions[name] : undefined
  if (!entry) throw unknownFunction(call)
  const args = resolveArguments(call.args, entry, scope)
  const value = printed(entry, call, args, resolveAll(call.params ?? [], scope), scope)
  return { ...value, sql: signed(entry, value.sql, scope.compilation.dialect.engine) }
}

const resolveAll = (exprs: readonly Expr[], scope: Scope) =>
  exprs.map((expr) => scope.compilation.resolve(expr, scope))

function printed(
  entry: Entry,
  { name, ...span }: Span & { name: string },
  args: readonly Value[],
  params: readonly Value[],
  scope: Scope,
): Value {
  const { dialect } = scope.compilation
  assertCount(name, 'argument', args.length, entry.args, span)
  assertCount(name, 'parameter', params.length, entry.params ?? [0, 0], span)
  // Functions do not know where they stand.
  return placedAt(span, () => {
    const plain = typeof entry.type === 'function' ? entry.type(args, dialect, params) : entry.type
    const type = withCertainty(plain, entry.certain?.(args) ?? false)
    const estimate = entry.estimate?.(args, params) ?? defaultEstimate(args, type)
    const value = { sql: spelled(entry, args, params, scope), type }
    return estimated(value, estimate, scope.compilation.made, span, entry.copies?.(args))
  })
}

/** Arrays and tuples that become text are written as JSON, where quotes get a backslash each. */
function defaultEstimate(args: readonly Value[], type: Type): number {
  const isWritten = ({ type: { kind } }: Value) =>
    type.kind === 'text' && (kind === 'array' || kind === 'tuple')
  return sumOf([...args, ...args.filter(isWritten)])
}

function spelled(entry: Entry, args: readonly Value[], params: readonly Value[], scope: Scope): string {
  const { dialect } = scope.compilation
  if (dialect.engine === 'duckdb') return entry.duckdb(args, dialect, params)
  if (entry.clickhouse) return entry.clickhouse(args, dialect, params)
  const list = (values: readonly Value[]) => `(${values.map(asArgument).join(', ')})`
  return `${entry.name}${params.length > 0 ? list(params) : ''}${list(args)}`
}

const asArgument = ({ sql, lambda }: Value) => (lambda ? `(${lambda.names.join(', ')}) -> ${sql}` : sql)

function resolveArguments(args: readonly Expr[], entry: Entry, scope: Scope): Value[] {
  const [first, ...rest] = args
  if (!entry.takes_lambda || first?.node !== 'Lambda') return resolveAll(args, scope)
  const arrays = resolveAll(rest, scope)
  const start = entry.folds ? arrays.at(-1) : undefined
  const named = start
    ? [{ ...start, type: { kind: 'array', item: start.type } as const }, ...arrays.slice(0, -1)]
    : arrays
  return [resolveLambda(first, named, scope), ...arrays]
}

function resolveLambda(lambda: Lambda, arrays: readonly Value[], scope: Scope): Value {
  // Named by depth, so that the same text gives the same SQL wherever it stands.
  const depth = scope.lambda_names.size
  const names = lambda.args.map((_, index) => `x${depth + index + 1}`)
  const lambda_names = new Map(scope.lambda_names)
  for (const [index, name] of lambda.args.entries()) {
    const array = arrays[Math.min(index, arrays.length - 1)]
    lambda_names.set(name, {
      sql: names[index] ?? '',
      type: array?.type.kind === 'array' ? array.type.item : { kind: 'unknown' },
      estimate: itemsOf(array).item,
    })
  }
  const body = scope.compilation.resolve(lambda.expr, { ...scope, lambda_names })
  return { ...body, lambda: { names } }
}

function resolveAggregate(call: Call, { entry, has_condition }: FoundAggregate, scope: Scope): Value {
  assertMayAggregate(call, scope)
  const { windows } = scope.grouping
  const inside: Scope = { ...scope, in_aggregate: true }
  const plain = has_condition ? call.args.slice(0, -1) : call.args
  if (has_condition && call.args.length === 0) throw queryError(`'${call.name}' needs a condition`, call)
  const conditions = [
    ...(has_condition ? call.args.slice(-1) : []),
    ...(call.filter_expr ? [call.filter_expr] : []),
  ]
  const args = aggregateArguments(plain, call, inside)
  const params = resolveAll(call.params ?? [], inside)
  const { sql, type, estimate } = printed(entry, call, args, params, scope)
  const complete = withAdditions(sql, {
    distinct: call.distinct === true,
    order: orderList(call.order_by ?? [], inside),
    conditions: conditions.map((expr) => scope.compilation.condition(expr, inside)),
  })
  if (scope.grouping.windows > windows)
    throw queryError(`A window function cannot stand inside the aggregate '${call.name}'`, call)
  scope.grouping.aggregates++
  return { sql: finished(entry, complete, args, params, type, scope.compilation.dialect), type, estimate }
}

function assertMayAggregate(call: Call, { in_aggregate, place }: Scope) {
  if (in_aggregate)
    throw queryError(`The aggregate '${call.name}' cannot stand inside another aggregate`, call)
  if (place === 'from' || place === 'on' || place === 'where' || place === 'group') {
    const where = { from: 'FROM', on: 'a join condition', where: 'WHERE', group: 'GROUP BY' }[place]
    throw queryError(`The aggregate '${call.name}' cannot stand in ${where}`, call)
  }
}

/** `count(*)` is `count()`; `count(distinct a, b)` counts pairs. */
function aggregateArguments(exprs: readonly Expr[], call: Call, inside: Scope): Value[] {
  const [first] = exprs
  if (exprs.length === 1 && first?.node === 'Field' && first.chain.join('.') === '*') {
    if (call.distinct) throw queryError('DISTINCT needs columns by name', first)
    return []
  }
  const args = resolveAll(exprs, inside)
  if (!call.distinct || args.length < 2) return args
  const items = args.map(({ type }) => type)
  return [
    { sql: inside.compilation.dialect.tuple(args.map(({ sql }) => sql)), type: { kind: 'tuple', items } },
  ]
}

/** A printed aggregate is a call, with parameters in brackets of their own, perhaps with a filter of its own behind, for example one that leaves NULLs out. */
function apart(sql: string): { call: string; filter: string } {
  let depth = 0
  for (const { 0: token, index } of sql.matchAll(/'(?:[^']|'')*'|[()]/g)) {
    if (token === '(') depth++
    if (token === ')' && --depth === 0 && sql[index + 1] !== '(')
      return { call: sql.slice(0, index + 1), filter: sql.slice(index + 1) }
  }
  return { call: sql, filter: '' }
}

type Additions = { distinct: boolean; order: string; conditions: readonly string[] }

function withAdditions(sql: string, { distinct, order, conditions }: Additions): string {
  const { call, filter } = apart(sql)
  const distinctCall = distinct && !call.includes('(DISTINCT ') ? call.replace('(', '(DISTINCT ') : call
  const orderedCall = order === '' ? distinctCall : `${distinctCall.slice(0, -1)} ORDER BY ${order})`
  if (conditions.length === 0) return orderedCall + filter
  const all = conditions.join(' AND ')
  return `${orderedCall}${filter === '' ? ` FILTER (WHERE ${all})` : `${filter.slice(0, -1)} AND ${all})`}`
}

const orderList = (order: readonly OrderExpr[], scope: Scope) =>
  order
    .map(
      ({ expr, order: direction }) => `${scope.compilation.resolve(expr, scope).sql} ${direction} NULLS LAST`,
    )
    .join(', ')

export function resolveWindowFunction(node: WindowFunction, scope: Scope): Value {
  if (scope.place !== 'select' && scope.place !== 'qualify' && scope.place !== 'order') {
    throw queryError(`'${node.name}' with OVER can only stand in SELECT, QUALIFY and ORDER BY`, node)
  }
  const name = node.name.toLowerCase()
  const aggregate = findAggregate(node.name)
  const own = Object.hasOwn(windowFunctions, name) ? windowFunctions[name] : undefined
  const entry = own ?? aggregate?.entry
  if (!entry) throw queryError(`Unknown window function '${node.name}'.`, node)
  const has_condition = !own && aggregate?.has_condition === true
  // In `quantile(0.9)(x) over …` the first brackets are `exprs`, the second `args`.
  const [params, given] = node.args.length > 0 ? [node.exprs, node.args] : [[], node.exprs]
  const exprs = has_condition ? given.slice(0, -1) : given
  const conditions = has_condition ? given.slice(-1) : []
  const call: Call = { node: 'Call', name: node.name, args: exprs }
  const { windows } = scope.grouping
  const args = aggregateArguments(exprs, call, scope)
  const levels = resolveAll(params, scope)
  const { sql, type, estimate } = printed(entry, node, args, levels, scope)
  const tests = conditions.map((expr) => scope.compilation.condition(expr, scope))
  const plain =
    overCall(entry, args, tests, scope) ??
    withAdditions(sql, { distinct: false, order: '', conditions: tests })
  const over = windowSql(node, scope)
  if (scope.grouping.windows > windows)
    throw queryError(`A window function cannot stand inside the window function '${node.name}'`, node)
  scope.grouping.windows++
  return {
    sql: finished(entry, `${plain} OVER (${over})`, args, levels, type, scope.compilation.dialect),
    type,
    estimate,
  }
}

/** What the condition leaves out becomes NULL, which is left out anyway. */
function overCall(entry: Aggregate, [arg]: readonly Value[], conditions: readonly string[], scope: Scope) {
  if (!entry.duckdb_over || !arg || scope.compilation.dialect.engine !== 'duckdb') return undefined
  const [condition] = conditions
  return entry.duckdb_over(condition === undefined ? arg.sql : `CASE WHEN ${condition} THEN ${arg.sql} END`)
}

function windowSql(node: WindowFunction, scope: Scope): string {
  const named = node.over_identifier === undefined ? undefined : scope.windows.get(node.over_identifier)
  if (node.over_identifier !== undefined && !named) {
    throw unknownName('window', node.over_identifier, scope.windows.keys(), node)
  }
  const window: WindowExpr = named ?? node.over_expr ?? { node: 'WindowExpr' }
  const partition = (window.partition_by ?? []).map((expr) => scope.compilation.resolve(expr, scope).sql)
  return [
    partition.length > 0 ? `PARTITION BY ${partition.join(', ')}` : '',
    window.order_by?.length ? `ORDER BY ${orderList(window.order_by, scope)}` : '',
    frameSql(window),
  ]
    .filter((part) => part !== '')
    .join(' ')
}

function frameSql({ frame_method, frame_start, frame_end }: WindowExpr): string {
  if (!frame_method || !frame_start) return ''
  const start = boundSql(frame_start)
  return frame_end
    ? `${frame_method} BETWEEN ${start} AND ${boundSql(frame_end)}`
    : `${frame_method} ${start}`
}

function boundSql({ frame_type, frame_value, ...span }: WindowFrameExpr): string {
  if (frame_type === 'CURRENT ROW' || frame_type === undefined) return 'CURRENT ROW'
  if (frame_value === undefined) return `UNBOUNDED ${frame_type}`
  if (!Number.isSafeInteger(frame_value) || frame_value < 0) {
    throw queryError('The frame of a window is counted in whole rows', span)
  }
  return `${frame_value} ${frame_type}`
}

/** One row per item. The array is unfolded in FROM, so that the item can stand anywhere in the query. */
function arrayJoin(call: Call, scope: Scope): Value {
  const [arg, ...others] = call.args
  if (!arg || others.length > 0)
    throw queryError(`'arrayJoin' takes 1 argument, not ${call.args.length}`, call)
  if (scope.place === 'on' || scope.place === 'from') {
    throw queryError(`'arrayJoin' cannot stand in FROM`, call)
  }
  const before = scope.grouping.aggregates
  const array = scope.compilation.resolve(arg, scope)
  const { sql, type } = array
  const estimate = itemsOf(array).item
  if (type.kind !== 'array' && type.kind !== 'unknown') throw queryError(`'arrayJoin' needs an array`, arg)
  const item = type.kind === 'array' ? type.item : type
  if (scope.compilation.dialect.engine === 'clickhouse')
    return { sql: `arrayJoin(${sql})`, type: item, estimate }
  if (scope.grouping.aggregates > before) return { sql: `unnest(${sql})`, type: item, estimate }
  const known = scope.array_joins.get(sql) ?? scope.compilation.fresh('t')
  scope.array_joins.set(sql, known)
  return { sql: `${known}.item`, type: item, estimate }
}
