// Comparisons. NULL on one side makes `=` false and `!=` true, so a result is kept with what NULL would mean in it:
// where NULL is as good as false (WHERE), the plain operator goes to the engine, which can then use its statistics.
import type { BetweenExpr, CompareOperation, Expr, Field, IsDistinctFrom, Query, Span } from '../ast.ts'
import type { Dialect } from '../engines/dialect.ts'
import { queryError } from '../errors.ts'
import type { Value } from '../value.ts'
import { into, together } from './kinds.ts'
import { findNamedQuery, isQuery, type Scope } from './scope.ts'
import { namedTables } from './tables.ts'

/** `when_null`: what a NULL of `sql` stands for; null when it cannot be NULL. */
export type Test = { sql: string; when_null: boolean | null }

export const certain = ({ sql, when_null }: Test): string =>
  when_null === null ? sql : `coalesce(${sql}, ${when_null})`

type Compare = (left: Value, right: Value, scope: Scope) => Test

const isWritten = ({ constant }: Value) => constant !== undefined && constant !== null

const equal: Compare = (left, right, scope) => {
  const { dialect } = scope.compilation
  if (right.constant === null) return { sql: `(${left.sql} IS NULL)`, when_null: null }
  if (left.constant === null) return { sql: `(${right.sql} IS NULL)`, when_null: null }
  const [a, b] = together(left, right, dialect)
  // In a join NULL meets nothing, not even NULL.
  if (isWritten(left) || isWritten(right) || scope.place === 'on')
    return { sql: `(${a} = ${b})`, when_null: false }
  return { sql: dialect.same(a, b), when_null: null }
}

const ordered =
  (operator: string): Compare =>
  (left, right, scope) => {
    const [a, b] = together(left, right, scope.compilation.dialect)
    return { sql: `(${a} ${operator} ${b})`, when_null: false }
  }

const like =
  (ignore_case: boolean): Compare =>
  (left, right, { compilation: { dialect } }) => ({
    sql: dialect.like(dialect.text(left), dialect.text(right), ignore_case),
    when_null: false,
  })

const matches =
  (ignore_case: boolean): Compare =>
  (left, right, { compilation: { dialect } }) => ({
    sql: dialect.matches(dialect.text(left), dialect.text(right), ignore_case),
    when_null: false,
  })

const not =
  (compare: Compare): Compare =>
  (left, right, scope) =>
    negated(compare(left, right, scope))

const negated = ({ sql, when_null }: Test): Test => ({
  sql: `(NOT ${sql})`,
  when_null: when_null === null ? null : !when_null,
})

const OPERATORS: Readonly<Record<Exclude<CompareOperation['op'], `${string}in${'' | ' cohort'}`>, Compare>> =
  {
    '==': equal,
    '!=': not(equal),
    '<': ordered('<'),
    '<=': ordered('<='),
    '>': ordered('>'),
    '>=': ordered('>='),
    like: like(false),
    'not like': not(like(false)),
    ilike: like(true),
    'not ilike': not(like(true)),
    '=~': matches(false),
    '!~': not(matches(false)),
    '=~*': matches(true),
    '!~*': not(matches(true)),
  }

/** `isCondition`: false and NULL are the same to whoever asks. */
export function compare(node: CompareOperation, scope: Scope, isCondition = false): Test {
  const { resolve } = scope.compilation
  switch (node.op) {
    case 'in':
      return isIn(node, scope, isCondition)
    case 'not in':
      return negated(isIn(node, scope))
    case 'in cohort':
    case 'not in cohort':
      // There are no cohorts yet: nobody is in one. Both sides must still make sense.
      resolve(node.left, scope)
      resolve(node.right, scope)
      return { sql: node.op === 'in cohort' ? 'false' : 'true', when_null: null }
    default: {
      const [left, right] = [resolve(node.left, scope), resolve(node.right, scope)]
      const isNarrow = isCondition && node.op === '=='
      return isNarrow
        ? equal(narrowed(left, [right]), narrowed(right, [left]), scope)
        : OPERATORS[node.op](left, right, scope)
    }
  }
}

/** A value that is compared with these alone, where NULL is as good as any other that is none of them. */
function narrowed(value: Value, others: readonly Value[]): Value {
  const texts = others.flatMap(({ constant }) => (typeof constant === 'string' ? [constant] : []))
  if (!value.only || texts.length < others.length || texts.length > MAX_TEXTS) return value
  return { ...value, sql: value.only(texts) }
}

/** More texts than this are not tested by the store. */
const MAX_TEXTS = 4

function isIn(node: CompareOperation, scope: Scope, isCondition = false): Test {
  const { dialect, resolve } = scope.compilation
  const left = resolve(node.left, scope)
  const query = asQuery(node.right, scope)
  if (query) return isInQuery(left, query, node, scope)
  const right = resolve(node.right, scope)
  if (right.items) {
    const items = itemsFor(left, right)
    return isInList(isCondition ? narrowed(left, items) : left, items, dialect)
  }
  if (right.constant !== undefined) return isInList(left, [right], dialect)
  if (right.type.kind === 'array') {
    return { sql: dialect.contains(right.sql, into(right.type.item, left, dialect)), when_null: false }
  }
  throw queryError('IN needs a list, an array or a subquery on its right side', node.right)
}

/** `(1, 2) in (1, 2)` asks for one tuple; `1 in (1, 2)` for one of two numbers. */
function itemsFor(left: Value, right: Value): readonly Value[] {
  const items = right.items ?? []
  const areTuples = items.some(({ type }) => type.kind === 'tuple')
  return left.type.kind === 'tuple' && right.type.kind === 'tuple' && !areTuples ? [right] : items
}

function isInList(left: Value, items: readonly Value[], dialect: Dialect): Test {
  // Items of different kinds see the left side differently, so each kind gets an IN of its own.
  const lists = new Map<string, string[]>()
  for (const item of items) {
    if (item.type.kind === 'null') continue
    const [a, b] = together(left, item, dialect)
    const list = lists.get(a)
    if (list) list.push(b)
    else lists.set(a, [b])
  }
  const tests = [...lists].map(([a, list]) => `${a} IN (${list.join(', ')})`)
  if (tests.length === 0) return { sql: 'false', when_null: null }
  return { sql: `(${tests.join(' OR ')})`, when_null: false }
}

/** A name on the right side of IN can be that of a CTE or a table. */
function asQuery(expr: Expr, scope: Scope): Query | null {
  if (isQuery(expr)) return expr
  if (expr.node !== 'Field' || expr.chain.length !== 1) return null
  const name = String(expr.chain[0])
  const { context } = scope.compilation
  // Exports know no subqueries.
  const isTable = context.exported === undefined && namedTables(context).has(name)
  if (findNamedQuery(scope, name)?.kind !== 'subquery' && !isTable) return null
  const star: Field = { node: 'Field', chain: ['*'] }
  return { node: 'SelectQuery', select: [star], select_from: { node: 'JoinExpr', table: expr } }
}

function isInQuery(left: Value, query: Query, span: Span, scope: Scope): Test {
  const { dialect, subquery, fresh } = scope.compilation
  // ClickHouse lets it see no row here.
  const { sql, columns } = subquery(query, scope)
  const lefts = left.type.kind === 'tuple' && left.items && columns.length > 1 ? left.items : [left]
  if (lefts.length !== columns.length) {
    throw queryError(`The subquery has ${columns.length} columns where ${lefts.length} are compared`, span)
  }
  const alias = fresh('q')
  const pairs = lefts.map((value, index) => {
    const { column = '', type = { kind: 'unknown' as const } } = columns[index] ?? {}
    return together(value, { sql: `${alias}.${column}`, type }, dialect)
  })
  const asked = pairs.map(([a]) => a)
  const given = pairs.map(([, b]) => b)
  const [one, many] = [asked.length === 1 ? asked[0] : dialect.tuple(asked), given.length > 1]
  return {
    sql: `(${one} IN (SELECT ${many ? dialect.tuple(given) : given[0]} FROM (${sql}) AS ${alias}))`,
    when_null: false,
  }
}

export function between(node: BetweenExpr, scope: Scope): Test {
  const { resolve } = scope.compilation
  const value = resolve(node.expr, scope)
  const low = ordered('>=')(value, resolve(node.low, scope), scope)
  const high = ordered('<=')(value, resolve(node.high, scope), scope)
  const sql = `(${low.sql} AND ${high.sql})`
  // As with the filter `not_between`: what is missing is neither inside nor outside.
  return { sql: node.negated ? `(NOT ${sql})` : sql, when_null: false }
}

export function isDistinct(node: IsDistinctFrom, scope: Scope): Test {
  const { dialect, resolve } = scope.compilation
  const same = dialect.same(...together(resolve(node.left, scope), resolve(node.right, scope), dialect))
  return { sql: node.negated ? same : `(NOT ${same})`, when_null: null }
}
