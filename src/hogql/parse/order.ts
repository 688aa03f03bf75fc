// ORDER BY and its terms.
import type { OrderExpr, WithFillExpr } from '../ast.ts'
import {
  accept,
  acceptWord,
  acceptWords,
  atWord,
  expected,
  notSupported,
  peek,
  endOf,
  type Cursor,
} from './cursor.ts'

/** Null when no ORDER BY stands here. */
export function parseOrderBy(cursor: Cursor): OrderExpr[] | null {
  if (!acceptWords(cursor, 'order', 'by')) return null
  const terms: OrderExpr[] = []
  do terms.push(parseOrderTerm(cursor))
  while (accept(cursor, ','))
  if (atWord(cursor, 'interpolate')) {
    throw notSupported(
      'INTERPOLATE',
      peek(cursor),
      'Compute the values of added rows in a query round this one instead.',
    )
  }
  return terms
}

export function parseOrderTerm(cursor: Cursor): OrderExpr {
  const { start } = peek(cursor)
  const expr = cursor.rules.expression(cursor, 0)
  const isDescending = acceptWord(cursor, 'desc') || acceptWord(cursor, 'descending')
  if (!isDescending && !acceptWord(cursor, 'asc')) acceptWord(cursor, 'ascending')
  parseNulls(cursor)
  if (atWord(cursor, 'collate')) throw notSupported('COLLATE', peek(cursor))
  const with_fill = parseFill(cursor)
  return {
    node: 'OrderExpr',
    expr,
    order: isDescending ? 'DESC' : 'ASC',
    ...(with_fill && { with_fill }),
    start,
    end: endOf(cursor),
  }
}

/** NULLS LAST is what happens anyway, in either direction; PostHog ignores NULLS FIRST, we say so. */
function parseNulls(cursor: Cursor) {
  const token = peek(cursor)
  if (!acceptWord(cursor, 'nulls')) return
  if (atWord(cursor, 'first')) throw notSupported('NULLS FIRST', token)
  if (!acceptWord(cursor, 'last')) throw expected(cursor, 'FIRST or LAST')
}

/** `with fill from … to … step …`, each of them or none, in this order. */
function parseFill(cursor: Cursor): WithFillExpr | null {
  const { start } = peek(cursor)
  if (!acceptWords(cursor, 'with', 'fill')) return null
  const fill: WithFillExpr = { node: 'WithFillExpr', start }
  if (acceptWord(cursor, 'from')) fill.from_value = cursor.rules.expression(cursor, 0)
  if (acceptWord(cursor, 'to')) fill.to_value = cursor.rules.expression(cursor, 0)
  if (acceptWord(cursor, 'step')) fill.step_value = cursor.rules.expression(cursor, 0)
  fill.end = endOf(cursor)
  return fill
}
