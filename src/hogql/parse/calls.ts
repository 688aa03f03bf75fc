// Function calls in all their forms: f(x), f(p)(x), f(distinct x order by y) filter (where z), f(x) over (…), cast, trim.
import type { Call, Expr, OrderExpr } from '../ast.ts'
import {
  accept,
  acceptWord,
  at,
  atWord,
  expect,
  expectAlias,
  expectName,
  expectWord,
  expected,
  isName,
  nested,
  next,
  notSupported,
  peek,
  peekAfter,
  endOf,
  type Cursor,
} from './cursor.ts'
import { parseTemplate, parseText } from './literals.ts'
import { isDistinctKeyword, startsQuery } from './lookahead.ts'
import { LEVEL } from './operators.ts'
import { parseOrderBy } from './order.ts'
import { isQuery, parseExpressionOrQuery } from './subqueries.ts'
import { parseType } from './types.ts'
import { parseWindow } from './windows.ts'

type Brackets = {
  args: Expr[]
  distinct: boolean
  order_by: OrderExpr[] | null
  is_query: boolean
  /** Set by `cast(x as type)` only. */
  type_name: string | null
}

/** With the cursor at the name, before the bracket. */
export function parseCall(cursor: Cursor): Expr {
  if (atWord(cursor, 'trim') && startsTrim(cursor)) return parseTrim(cursor)
  const { start, value: name, word } = next(cursor)
  const first = parseBrackets(cursor, word === 'cast' || word === 'try_cast')
  const { type_name } = first
  if (type_name) {
    const node = word === 'cast' ? 'TypeCast' : 'TryCast'
    return { node, expr: first.args[0]!, type_name, start, end: endOf(cursor) }
  }
  const isPlain = !first.distinct && !first.order_by && !first.is_query
  const second = isPlain && at(cursor, '(') ? parseBrackets(cursor) : null
  if (second?.is_query) throw notSupported('Calling the result of an expression', peek(cursor))
  if (atWord(cursor, 'within')) throw notSupported('WITHIN GROUP', peek(cursor))
  const filter = parseFilter(cursor)
  if (isPlain && atWord(cursor, 'over')) {
    if (filter || second?.distinct || second?.order_by)
      throw notSupported('A window function with FILTER, DISTINCT or ORDER BY in its arguments', peek(cursor))
    return parseOver(cursor, { name, exprs: first.args, args: second?.args ?? [] }, start)
  }
  return callOf(cursor, name, first, second, filter, start)
}

function callOf(
  cursor: Cursor,
  name: string,
  first: Brackets,
  second: Brackets | null,
  filter: Expr | null,
  start: number,
): Call {
  const { args, distinct, order_by } = second ?? first
  const call: Call = { node: 'Call', name, args, start, end: endOf(cursor) }
  if (second) call.params = first.args
  if (distinct) call.distinct = true
  if (order_by) call.order_by = order_by
  if (filter) call.filter_expr = filter
  return call
}

function parseBrackets(cursor: Cursor, mayCast = false): Brackets {
  const { start } = expect(cursor, '(')
  return nested(cursor, () => {
    const distinct =
      isDistinctKeyword(cursor) || (atWord(cursor, 'distinct') && peekAfter(cursor).kind === ')')
    if (distinct) next(cursor)
    const isCast = mayCast && !distinct
    const brackets: Brackets = { args: [], distinct, order_by: null, is_query: false, type_name: null }
    if (!atArgumentsEnd(cursor)) {
      const isBare = !at(cursor, '(')
      const first = isCast
        ? parseBeforeAs(cursor)
        : parseExpressionOrQuery(cursor, start, { order_by: false })
      brackets.is_query = isBare && isQuery(first)
      brackets.args.push(first)
      if (isCast && acceptWord(cursor, 'as')) parseCastType(cursor, brackets)
      while (accept(cursor, ',') && !atArgumentsEnd(cursor))
        brackets.args.push(cursor.rules.expression(cursor, 0))
    }
    brackets.order_by = parseOrderBy(cursor)
    expect(cursor, ')')
    return brackets
  })
}

const atArgumentsEnd = (cursor: Cursor) =>
  at(cursor, ')') || (atWord(cursor, 'order') && peekAfter(cursor).word === 'by')

/** The x of `cast(x as type)`: leaves the AS alone, also at the end of a lambda. */
function parseBeforeAs(cursor: Cursor): Expr {
  if (startsQuery(cursor)) return cursor.rules.query(cursor)
  cursor.body_floor = LEVEL.ternary
  const expr = cursor.rules.expression(cursor, LEVEL.ternary)
  cursor.body_floor = 0
  return expr
}

/** Begins after the AS. When there are several, the last one belongs to the cast: `cast(x as name as type)`. */
function parseCastType(cursor: Cursor, brackets: Brackets) {
  let expr = brackets.args[0]!
  while (isName(peek(cursor)) && peekAfter(cursor).word === 'as') {
    const alias = expectAlias(cursor)
    expr = { node: 'Alias', alias, expr, start: expr.start!, end: endOf(cursor) }
    next(cursor)
  }
  brackets.args[0] = expr
  brackets.type_name = parseType(cursor)
  if (!at(cursor, ')')) throw expected(cursor, '")"')
}

function parseFilter(cursor: Cursor): Expr | null {
  if (!acceptWord(cursor, 'filter')) return null
  expect(cursor, '(')
  expectWord(cursor, 'where')
  const filter = nested(cursor, () => cursor.rules.expression(cursor, 0))
  expect(cursor, ')')
  return filter
}

function parseOver(cursor: Cursor, call: { name: string; exprs: Expr[]; args: Expr[] }, start: number): Expr {
  expectWord(cursor, 'over')
  if (isName(peek(cursor))) {
    const over_identifier = expectName(cursor, 'the name of a window')
    return { node: 'WindowFunction', ...call, over_identifier, start, end: endOf(cursor) }
  }
  if (!at(cursor, '(')) throw expected(cursor, 'a window in brackets or its name')
  const over_expr = parseWindow(cursor)
  return { node: 'WindowFunction', ...call, over_expr, start, end: endOf(cursor) }
}

const TRIM_SIDES: ReadonlyMap<string, string> = new Map([
  ['both', 'trim'],
  ['leading', 'trimLeft'],
  ['trailing', 'trimRight'],
])

/** `trim(both 'x' from y)`; `trim(both)` is an ordinary call. */
const startsTrim = (cursor: Cursor) =>
  TRIM_SIDES.has(peekAfter(cursor, 2).word) &&
  (peekAfter(cursor, 3).kind === 'string' || peekAfter(cursor, 3).kind === "f'")

function parseTrim(cursor: Cursor): Expr {
  const { start } = expectWord(cursor, 'trim')
  expect(cursor, '(')
  return nested(cursor, () => {
    const name = TRIM_SIDES.get(next(cursor).word)!
    const characters = at(cursor, 'string') ? parseText(cursor) : parseTemplate(cursor)
    expectWord(cursor, 'from')
    const text = cursor.rules.expression(cursor, 0)
    expect(cursor, ')')
    return { node: 'Call', name, args: [text, characters], start, end: endOf(cursor) }
  })
}
