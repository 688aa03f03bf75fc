// Queries inside brackets of an expression.
import type { Expr, Query } from '../ast.ts'
import { notSupported, peek, type Cursor } from './cursor.ts'
import { startsQuery } from './lookahead.ts'

export const isQuery = (expr: Expr): expr is Query =>
  expr.node === 'SelectQuery' || expr.node === 'SelectSetQuery'

/**
 * What can open a pair of brackets: an expression or a query. A bracketed query may turn out to be the first of
 * several: `((select 1) union all (select 2))`. In a call ORDER BY belongs to the call instead.
 */
export function parseExpressionOrQuery(cursor: Cursor, start: number, belongs: { order_by: boolean }): Expr {
  if (startsQuery(cursor)) return cursor.rules.query(cursor)
  const first = cursor.rules.expression(cursor, 0)
  const { word } = peek(cursor)
  const goesOn = SET_WORDS.has(word) || CUT_WORDS.has(word) || (belongs.order_by && word === 'order')
  if (isQuery(first) && goesOn) return cursor.rules.queryAfter(cursor, first, start)
  refuseSetOfPlaceholder(cursor, first)
  return first
}

const SET_WORDS: ReadonlySet<string> = new Set(['union', 'intersect', 'except'])
const CUT_WORDS: ReadonlySet<string> = new Set(['limit', 'offset'])

/** `({a} union all {b})`. */
export function refuseSetOfPlaceholder(cursor: Cursor, first: Expr) {
  if (first.node === 'Placeholder' && SET_WORDS.has(peek(cursor).word))
    throw notSupported('A placeholder in place of a query', first)
}
