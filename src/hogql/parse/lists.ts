// Lists of expressions: in brackets, and in clauses, where a comma may stand before the next clause.
import type { Expr } from '../ast.ts'
import { accept, at, isName, peek, peekAfter, startsOperand, type Cursor } from './cursor.ts'
import type { TokenKind } from './lexer.ts'

/** `a, b` with an optional last comma, up to but not including `close`. */
export function parseListUntil(cursor: Cursor, close: TokenKind): Expr[] {
  const exprs: Expr[] = []
  while (!at(cursor, close)) {
    exprs.push(cursor.rules.expression(cursor, 0))
    if (!accept(cursor, ',')) break
  }
  return exprs
}

/** `a, b` of a clause: at least one. */
export function parseClauseList(cursor: Cursor): Expr[] {
  const exprs: Expr[] = []
  do exprs.push(cursor.rules.expression(cursor, 0))
  while (accept(cursor, ',') && !atClauseEnd(cursor))
  return exprs
}

/** After a comma: whether the list ended there, because a clause begins or the query ends. */
export function atClauseEnd(cursor: Cursor): boolean {
  const token = peek(cursor)
  if (token.kind !== 'name') return token.kind === 'end' || token.kind === ')' || token.kind === ';'
  const after = peekAfter(cursor)
  switch (token.word) {
    case 'from':
      return after.kind !== 'digits' && after.kind !== '[' && startsOperand(after)
    case 'where':
    case 'prewhere':
    case 'having':
    case 'qualify':
    case 'limit':
    case 'offset':
      return startsOperand(after) && after.word !== 'from'
    case 'group':
    case 'order':
      return after.word === 'by'
    case 'window':
      return isName(after) && peekAfter(cursor, 2).word === 'as'
    case 'array':
      return after.word === 'join'
    case 'left':
    case 'inner':
      return after.word === 'array'
    case 'union':
      return after.word === 'all' || after.word === 'distinct' || after.word === 'select'
    case 'intersect':
    case 'except':
      return true
    case 'with':
      return after.word === 'totals' || after.word === 'rollup' || after.word === 'cube'
    default:
      return false
  }
}
