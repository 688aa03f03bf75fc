// One function per kind of node: from an expression to a value.
import type { And, ArrayAccess, Constant, Expr, Or, TryCast, TypeCast } from '../ast.ts'
import { queryError } from '../errors.ts'
import { estimated, estimateOfConstant, partOf, sumOf, writtenItems } from '../size-estimate.ts'
import { areCertain, withCertainty } from '../functions/certainty.ts'
import type { Value } from '../value.ts'
import { access, itemOf, type Key } from './access.ts'
import { arithmetic } from './arithmetic.ts'
import { resolveCall, resolveWindowFunction } from './calls.ts'
import { castFunction } from './casts.ts'
import { between, certain, compare, isDistinct, type Test } from './comparisons.ts'
import { resolveField } from './fields.ts'
import { unify } from './kinds.ts'
import type { Scope } from './scope.ts'
import { scalarSubquery } from './subqueries.ts'

type Resolve<Node extends Expr['node']> = (expr: Extract<Expr, { node: Node }>, scope: Scope) => Value
type Handlers = { readonly [Node in Expr['node']]: Resolve<Node> }

/** Aliases are put in where they are used, so a few of them can double into anything. */
export const MAX_SQL_LENGTH = 1_000_000
/** What named expressions are resolved to wherever they stand; some 50 ms of work. Those that double grow without end. */
const MAX_EXPANDED = 5_000

const truth = (test: Test): Value => ({ sql: certain(test), type: { kind: 'boolean', certain: true } })

const HANDLERS: Handlers = {
  Field: resolveField,
  Constant(expr, scope) {
    const value = constant(expr, scope)
    const type = withCertainty(value.type, value.constant !== null)
    return { ...value, type, estimate: estimateOfConstant(String(value.constant)) }
  },
  Call: resolveCall,
  // What a lambda goes through is not there for it: rows are looked at as a whole, before any item.
  WindowFunction: (expr, scope) => resolveWindowFunction(expr, { ...scope, lambda_names: new Map() }),
  CompareOperation: (expr, scope) => truth(compare(expr, scope)),
  BetweenExpr: (expr, scope) => truth(between(expr, scope)),
  IsDistinctFrom: (expr, scope) => truth(isDistinct(expr, scope)),
  ArithmeticOperation: arithmetic,
  And: (expr, scope) => joined(expr, 'AND', scope),
  Or: (expr, scope) => joined(expr, 'OR', scope),
  Not: (expr, scope) => ({ sql: `(NOT ${booleanOf(expr.expr, scope)})`, type: { kind: 'boolean' } }),
  Array(expr, scope) {
    const { dialect, resolve } = scope.compilation
    const items = expr.exprs.map((item) => resolve(item, scope))
    const { sqls, type } = unify(items, dialect)
    const value: Value = {
      sql: dialect.array(sqls),
      type: { kind: 'array', item: withCertainty(type, areCertain(items)) },
      items,
    }
    return estimated(value, writtenItems(items), scope.compilation.made, expr)
  },
  Tuple(expr, scope) {
    const items = expr.exprs.map((item) => scope.compilation.resolve(item, scope))
    const sql = scope.compilation.dialect.tuple(items.map((item) => item.sql))
    const value: Value = { sql, type: { kind: 'tuple', items: items.map(({ type }) => type) }, items }
    return estimated(value, sumOf(items), scope.compilation.made, expr)
  },
  ArrayAccess: arrayAccess,
  TupleAccess: (expr, scope) =>
    access(scope.compilation.resolve(expr.tuple, scope), expr.index, scope.compilation.dialect, expr),
  ArraySlice(expr, scope) {
    const { dialect, resolve } = scope.compilation
    const array = resolve(expr.array, scope)
    if (array.type.kind !== 'array') throw queryError('Only an array can be sliced', expr)
    const bound = (part: Expr | undefined) => (part ? dialect.number(resolve(part, scope)) : null)
    const sql = dialect.slice(array.sql, bound(expr.start_expr), bound(expr.end_expr))
    return { sql, type: array.type, estimate: array.estimate }
  },
  Alias(expr, scope) {
    assertAlias(expr.alias, expr)
    if (!scope.aliases.has(expr.alias))
      scope.aliases.set(expr.alias, { expr: expr.expr, index: -1, busy: false })
    return scope.compilation.resolve(expr.expr, scope)
  },
  Lambda: (expr) => {
    throw queryError('A lambda can only be the first argument of a function over arrays', expr)
  },
  Dict: (expr) => {
    throw queryError('Dictionaries are not supported', expr)
  },
  TypeCast: cast,
  TryCast: cast,
  Placeholder: (expr) => {
    throw queryError('A placeholder cannot stand here', expr)
  },
  SelectQuery: scalarSubquery,
  SelectSetQuery: scalarSubquery,
}

export function resolveExpression(expr: Expr, scope: Scope): Value {
  const { keys, loose } = scope.grouping
  if (scope.expanding.size > 0 && ++scope.compilation.expansion.steps > MAX_EXPANDED) {
    throw queryError('The query is too large', expr)
  }
  const before = loose.length
  const handler = HANDLERS[expr.node] as ((expr: Expr, scope: Scope) => Value) | undefined
  if (!handler) throw queryError('This is not supported', expr as Expr)
  const value = handler(expr, scope)
  if (value.sql.length > MAX_SQL_LENGTH) throw queryError('The query is too large', expr)
  // What the query groups by may stand beside aggregates.
  if (keys.has(value.sql)) loose.length = before
  return value
}

/** `team_id` is what fences projects from each other elsewhere; nobody is to take ours for it. */
export function assertAlias(alias: string, span: { start?: number; end?: number }) {
  if (alias.toLowerCase() === 'team_id') throw queryError(`'team_id' cannot be used as a name`, span)
}

const booleanOf = (expr: Expr, scope: Scope) =>
  scope.compilation.dialect.boolean(scope.compilation.resolve(expr, scope))

function joined(expr: And | Or, operator: 'AND' | 'OR', scope: Scope): Value {
  const parts = expr.exprs.map((part) => booleanOf(part, scope))
  return { sql: `(${parts.join(` ${operator} `)})`, type: { kind: 'boolean' } }
}

/** A condition of WHERE or ON: like the value, only that NULL may stay where false is meant. */
export function resolveCondition(expr: Expr, scope: Scope): string {
  const plain = (test: Test) => (test.when_null === true ? certain(test) : test.sql)
  switch (expr.node) {
    case 'And':
      return `(${expr.exprs.map((part) => resolveCondition(part, scope)).join(' AND ')})`
    case 'Or':
      return `(${expr.exprs.map((part) => resolveCondition(part, scope)).join(' OR ')})`
    case 'CompareOperation':
      return plain(compare(expr, scope, true))
    case 'BetweenExpr':
      return plain(between(expr, scope))
    case 'IsDistinctFrom':
      return plain(isDistinct(expr, scope))
    default:
      return booleanOf(expr, scope)
  }
}

function constant(expr: Constant, { compilation: { dialect } }: Scope): Value {
  const { value } = expr
  if (value === null) return { sql: 'NULL', type: { kind: 'null' }, constant: null }
  if (typeof value === 'boolean') return { sql: String(value), type: { kind: 'boolean' }, constant: value }
  if (expr.value_type === 'number') return largeNumber(String(value), dialect.bind)
  if (typeof value === 'string') return { sql: dialect.bind(value), type: { kind: 'text' }, constant: value }
  if (Number.isSafeInteger(value))
    return { sql: dialect.bind(value), type: { kind: 'integer' }, constant: value }
  // Drivers take a whole number for a 64-bit integer; as text it arrives whatever its size.
  const sql = Number.isInteger(value) ? `CAST(${dialect.bind(String(value))} AS DOUBLE)` : dialect.bind(value)
  return { sql, type: { kind: 'float' }, constant: value }
}

/** What a JavaScript number cannot hold: infinities, NaN and long integers. Past 38 digits only a float is left. */
function largeNumber(text: string, bind: (value: number | bigint) => string): Value {
  if (/^[+-]?\d{1,38}$/.test(text)) {
    return { sql: bind(BigInt(text)), type: { kind: 'integer' }, constant: Number(text) }
  }
  return { sql: bind(Number(text)), type: { kind: 'float' }, constant: Number(text) }
}

function arrayAccess(expr: ArrayAccess, scope: Scope): Value {
  const { dialect, resolve } = scope.compilation
  const key = constantKey(expr.property)
  // `properties['x']` is `properties.x`.
  if (key !== null && expr.array.node === 'Field') {
    return resolve({ ...expr.array, chain: [...expr.array.chain, key] }, scope)
  }
  const value = resolve(expr.array, scope)
  if (key !== null) return access(value, key, dialect, expr)
  const index = resolve(expr.property, scope)
  if (value.type.kind === 'json' || value.type.kind === 'property') {
    const sql = dialect.propertyNamed(dialect.asJson(value), dialect.text(index))
    return { sql, type: { kind: 'property' }, estimate: partOf(value) }
  }
  if (value.type.kind !== 'array') throw queryError('Only arrays and properties can be indexed', expr)
  return itemOf(value, dialect.number(index), dialect)
}

function constantKey(expr: Expr): Key | null {
  if (expr.node !== 'Constant') return null
  const { value } = expr
  return typeof value === 'string' || (typeof value === 'number' && Number.isSafeInteger(value))
    ? value
    : null
}

function cast(expr: TypeCast | TryCast, scope: Scope): Value {
  const name = castFunction(expr.type_name)
  if (!name) throw queryError(`Unknown type '${expr.type_name}'`, expr)
  return scope.compilation.resolve({ ...expr, node: 'Call', name, args: [expr.expr] }, scope)
}
