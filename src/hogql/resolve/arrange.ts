// The end of a SELECT: in which order its rows come, which gaps are filled, and which rows are kept.
import type { Expr, LimitByExpr, OrderExpr, SelectQuery } from '../ast.ts'
import { queryError } from '../errors.ts'
import type { Value } from '../value.ts'
import { wholeNumber } from '../whole-number.ts'
import { fillClause, filled, resolveFill, type Fill } from './fill.ts'
import type { Scope } from './scope.ts'
import { slotAt, type Item } from './slots.ts'

type Arrangement = Pick<
  SelectQuery,
  'distinct' | 'order_by' | 'limit_by' | 'limit' | 'limit_with_ties' | 'offset'
>

/** Something rows are ordered or counted by; without an item nobody sees it. */
type Key = { value: Value; item: Item | undefined }
type Term = Key & { direction: 'ASC' | 'DESC'; fill: Fill | null }
type Cut = { count: number; skipped: number; keys: readonly Key[] }

type Arranged = {
  distinct: boolean
  items: readonly Item[]
  terms: readonly Term[]
  limitBy: Cut | null
  limit: number | null
  offset: number | null
  hasTies: boolean
}

/** What makes the whole SELECT out of what stands behind its list. */
export function arranged(query: Arrangement, items: readonly Item[], scope: Scope): (rest: string) => string {
  const distinct = query.distinct === true
  const parts: Arranged = {
    distinct,
    items,
    terms: termsOf(query.order_by ?? [], items, distinct, scope),
    limitBy: query.limit_by ? limitByOf(query.limit_by, items, distinct, scope) : null,
    limit: query.limit ? wholeNumber(query.limit, 'LIMIT') : null,
    offset: query.offset ? wholeNumber(query.offset, 'OFFSET') : null,
    hasTies: query.limit_with_ties === true,
  }
  if (parts.hasTies && parts.terms.length === 0)
    throw queryError('WITH TIES needs ORDER BY', query.limit ?? {})
  const isPlain = !parts.limitBy && !parts.hasTies && parts.terms.every(({ fill }) => !fill)
  const print = isPlain || scope.compilation.dialect.has_limit_by ? inClauses : inSteps
  return (rest) => print(parts, rest, scope)
}

function keyOf(expr: Expr, items: readonly Item[], distinct: boolean, scope: Scope): Key {
  const position = slotAt(
    expr,
    items.map(({ slot }) => slot),
  )
  const resolved = position ? null : scope.compilation.resolve(expr, scope)
  const item = items.find(({ slot, value: { sql } }) => slot === position || sql === resolved?.sql)
  if (distinct && !item) throw queryError('With DISTINCT, rows can only be ordered by what is selected', expr)
  return { value: resolved ?? item!.value, item }
}

function termsOf(
  order: readonly OrderExpr[],
  items: readonly Item[],
  distinct: boolean,
  scope: Scope,
): Term[] {
  return order.flatMap(({ expr, order: direction, with_fill }, index) => {
    const isPosition = expr.node === 'Constant' && typeof expr.value === 'number'
    const key = keyOf(expr, items, distinct, scope)
    if (with_fill && index > 0)
      throw queryError('WITH FILL is supported at the first term of ORDER BY alone', with_fill)
    const fill = with_fill ? resolveFill(with_fill, key.value, direction, scope) : null
    // Nothing is ordered by a constant, and engines refuse it.
    return key.value.constant !== undefined && !isPosition ? [] : [{ ...key, direction, fill }]
  })
}

function limitByOf(
  { n, offset_value, exprs }: LimitByExpr,
  items: readonly Item[],
  distinct: boolean,
  scope: Scope,
): Cut {
  return {
    count: wholeNumber(n, 'LIMIT'),
    skipped: offset_value ? wholeNumber(offset_value, 'OFFSET') : 0,
    keys: exprs.map((expr) => keyOf(expr, items, distinct, scope)),
  }
}

const orderedBy = (terms: readonly { sql: string; direction: string; fill?: string }[]) =>
  terms.map(({ sql, direction, fill = '' }) => `${sql} ${direction} NULLS LAST${fill}`).join(', ')

const listed = (items: readonly { value: Value; column: string }[]) =>
  items.map(({ value, column }) => `${value.sql} AS ${column}`).join(', ')

function limits({ limit, offset }: Arranged, { compilation: { dialect } }: Scope): string {
  return (
    (limit === null ? '' : ` LIMIT ${dialect.bind(limit)}`) +
    (offset === null ? '' : ` OFFSET ${dialect.bind(offset)}`)
  )
}

/** One clause for each, where the engine has them. */
function inClauses(parts: Arranged, rest: string, scope: Scope): string {
  const { distinct, items, terms, limitBy, hasTies } = parts
  const { dialect } = scope.compilation
  const written = ({ item, value }: Key) => item?.column ?? value.sql
  const order = terms.map((term) => ({
    sql: written(term),
    direction: term.direction,
    fill: term.fill ? fillClause(term.fill) : '',
  }))
  const by =
    limitBy &&
    ` LIMIT ${dialect.bind(limitBy.count)} OFFSET ${dialect.bind(limitBy.skipped)} BY ${limitBy.keys.map(written).join(', ')}`
  return [
    `SELECT ${distinct ? 'DISTINCT ' : ''}${listed(items)}${rest}`,
    order.length > 0 ? ` ORDER BY ${orderedBy(order)}` : '',
    by ?? '',
    limits(parts, scope),
    hasTies ? ' WITH TIES' : '',
  ].join('')
}

/** One SELECT round the other for each, with the keys as columns: rows are counted by window functions. */
function inSteps(parts: Arranged, rest: string, scope: Scope): string {
  const { distinct, items, terms, limitBy, limit, offset, hasTies } = parts
  const { fresh } = scope.compilation
  const hidden: { value: Value; column: string }[] = []
  const columnOf = ({ item, value }: Key) => {
    const known = item ?? hidden.find((other) => other.value.sql === value.sql)
    if (known) return known.column
    const column = fresh('c')
    hidden.push({ value, column })
    return column
  }
  const order = terms.map((term) => ({ sql: columnOf(term), direction: term.direction }))
  const by = limitBy?.keys.map(columnOf)
  const columns = [...items, ...hidden]
  let sql = `SELECT ${distinct ? 'DISTINCT ' : ''}${listed(columns)}${rest}`
  const kept = (condition: string) => {
    sql = `SELECT * FROM (${sql}) AS ${fresh('t')} QUALIFY ${condition}`
  }
  const sorted = order.length > 0 ? `ORDER BY ${orderedBy(order)}` : ''
  if (limitBy && by) {
    const { count, skipped } = limitBy
    const row = `row_number() OVER (PARTITION BY ${by.join(', ')} ${sorted})`
    kept(`${row} BETWEEN ${skipped + 1} AND ${skipped + count}`)
  }
  const [first] = terms
  if (first?.fill) sql = filled(first.fill, { sql, columns, column: columnOf(first) }, scope)
  if (hasTies && limit !== null) {
    const last = limit === 0 ? 0 : limit + (offset ?? 0)
    kept(`rank() OVER (${sorted}) <= ${last} AND row_number() OVER (${sorted}) > ${offset ?? 0}`)
  }
  const list = items.map(({ column }) => column).join(', ')
  const cut = hasTies ? '' : limits(parts, scope)
  return `SELECT ${list} FROM (${sql}) AS ${fresh('t')}${sorted && ` ${sorted}`}${cut}`
}
