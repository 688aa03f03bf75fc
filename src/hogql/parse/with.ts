// WITH: named queries and named expressions.
import type { Cte } from '../ast.ts'
import {
  accept,
  acceptWord,
  acceptWords,
  at,
  atWord,
  expect,
  expectName,
  expectWord,
  expected,
  isName,
  nested,
  notSupported,
  peek,
  peekAfter,
  endOf,
  type Cursor,
} from './cursor.ts'
import { parseNames } from './from.ts'
import { startsQuery } from './lookahead.ts'
import { LEVEL } from './operators.ts'
import { parseExpressionOrQuery } from './subqueries.ts'

/** Null when no WITH stands here. */
export function parseWith(cursor: Cursor): Cte[] | null {
  if (!acceptWord(cursor, 'with')) return null
  if (atWord(cursor, 'recursive') && peekAfter(cursor).word !== 'as')
    throw notSupported('WITH RECURSIVE', peek(cursor))
  const ctes: Cte[] = []
  do ctes.push(namesQuery(cursor) ? parseQueryCte(cursor) : parseColumnCte(cursor))
  while (accept(cursor, ',') && !startsQuery(cursor))
  return ctes
}

/** `name as (`, `name (a, b) as (`; anything else is `expression as name`. */
function namesQuery(cursor: Cursor): boolean {
  if (!isName(peek(cursor))) return false
  const bracket = peekAfter(cursor)
  const hasColumns = bracket.kind === '(' && bracket.jump >= 0
  const after = hasColumns ? bracket.jump + 1 - cursor.at : 1
  const word = peekAfter(cursor, after).word
  if (word === 'using') return true
  const body = peekAfter(cursor, after + 1)
  return word === 'as' && (body.kind === '(' || body.word === 'materialized' || body.word === 'not')
}

function parseQueryCte(cursor: Cursor): Cte {
  const { start } = peek(cursor)
  const name = expectName(cursor, 'a name')
  const columns = at(cursor, '(') ? { columns: parseNames(cursor) } : {}
  if (atWord(cursor, 'using')) throw notSupported('USING KEY', peek(cursor))
  expectWord(cursor, 'as')
  const materialized = parseMaterialized(cursor)
  const bracket = expect(cursor, '(')
  const expr = nested(cursor, () => parseExpressionOrQuery(cursor, bracket.start, { order_by: true }))
  if (expr.node !== 'SelectQuery' && expr.node !== 'SelectSetQuery' && expr.node !== 'Placeholder')
    throw expected(cursor, 'a query in these brackets')
  expect(cursor, ')')
  return {
    node: 'CTE',
    name,
    expr,
    cte_type: 'subquery',
    ...columns,
    ...materialized,
    start,
    end: endOf(cursor),
  }
}

function parseMaterialized(cursor: Cursor): Pick<Cte, 'materialized'> {
  if (acceptWord(cursor, 'materialized')) return { materialized: true }
  return acceptWords(cursor, 'not', 'materialized') ? { materialized: false } : {}
}

function parseColumnCte(cursor: Cursor): Cte {
  const { start } = peek(cursor)
  cursor.body_floor = LEVEL.ternary
  let expr = cursor.rules.expression(cursor, LEVEL.ternary)
  cursor.body_floor = 0
  expectWord(cursor, 'as')
  while (isName(peek(cursor)) && peekAfter(cursor).word === 'as') {
    expr = { node: 'Alias', alias: expectName(cursor, 'a name'), expr, start, end: endOf(cursor) }
    expectWord(cursor, 'as')
  }
  const name = expectName(cursor, 'a name')
  return { node: 'CTE', name, expr, cte_type: 'column', start, end: endOf(cursor) }
}
