// Whole queries: WITH, brackets, and several SELECTs joined by UNION, INTERSECT and EXCEPT.
import type { Cte, OrderExpr, Query, SelectSetNode, SetOperator } from '../ast.ts'
import {
  acceptWord,
  acceptWords,
  at,
  atWord,
  expect,
  expected,
  nested,
  notSupported,
  peek,
  endOf,
  type Cursor,
} from './cursor.ts'
import { parseLimit, type Limit } from './limit.ts'
import { parseOrderBy } from './order.ts'
import { parseSelectStatement } from './select.ts'
import { parseWith } from './with.ts'

type Term = { query: Query; bracketed: boolean }

export function parseQuery(cursor: Cursor): Query {
  const { start } = peek(cursor)
  return parseAfterTerm(cursor, parseTerm(cursor), start)
}

/** Goes on after a query in brackets that was read already. */
export const parseQueryAfter = (cursor: Cursor, first: Query, start: number): Query =>
  parseAfterTerm(cursor, { query: first, bracketed: true }, start)

function parseAfterTerm(cursor: Cursor, first: Term, start: number): Query {
  const following: SelectSetNode[] = []
  let last = first
  for (;;) {
    const operatorStart = peek(cursor).start
    const set_operator = parseSetOperator(cursor)
    if (!set_operator) break
    last = parseTerm(cursor)
    following.push({
      node: 'SelectSetNode',
      set_operator,
      select_query: last.query,
      start: operatorStart,
      end: endOf(cursor),
    })
  }
  const query: Query =
    following.length === 0
      ? first.query
      : {
          node: 'SelectSetQuery',
          initial_select_query: first.query,
          subsequent_select_queries: following,
          start,
          end: endOf(cursor),
        }
  // After a bare SELECT these clauses were its own.
  return last.bracketed ? parseOuterClauses(cursor, query) : query
}

/** What stands between SET operators: a SELECT, or a query in brackets, each with WITH or without. */
function parseTerm(cursor: Cursor): Term {
  const { start } = peek(cursor)
  const ctes = parseWith(cursor)
  if (at(cursor, '(')) {
    const query = nested(cursor, parseBracketedQuery)
    return { query: ctes ? withCtes(query, ctes) : query, bracketed: true }
  }
  if (at(cursor, '{')) throw notSupported('A placeholder in place of a query', peek(cursor))
  if (at(cursor, '<')) throw notSupported('A HogQLX tag', peek(cursor))
  if (!atWord(cursor, 'select')) throw expected(cursor, 'SELECT')
  return { query: parseSelectStatement(cursor, ctes, start), bracketed: false }
}

function parseBracketedQuery(cursor: Cursor): Query {
  expect(cursor, '(')
  const query = parseQuery(cursor)
  expect(cursor, ')')
  return query
}

/** The names belong to the first SELECT, as if the brackets were not there. */
function withCtes(query: Query, ctes: Cte[]): Query {
  if (query.node === 'SelectSetQuery')
    return { ...query, initial_select_query: withCtes(query.initial_select_query, ctes) }
  if (query.ctes) throw notSupported('WITH before brackets that begin with another WITH', query.ctes[0]!)
  return { ...query, ctes }
}

function parseSetOperator(cursor: Cursor): SetOperator | null {
  const operator = parseOperatorWords(cursor)
  if (!operator) return null
  for (const word of ['all', 'by'])
    if (atWord(cursor, word))
      throw notSupported(`${operator} ${word === 'by' ? 'BY NAME' : 'ALL'}`, peek(cursor))
  return operator
}

function parseOperatorWords(cursor: Cursor): SetOperator | null {
  if (acceptWord(cursor, 'union')) {
    if (acceptWord(cursor, 'all')) return 'UNION ALL'
    acceptWord(cursor, 'distinct')
    return 'UNION DISTINCT'
  }
  if (acceptWords(cursor, 'intersect', 'distinct')) return 'INTERSECT DISTINCT'
  if (acceptWord(cursor, 'intersect')) return 'INTERSECT'
  return acceptWord(cursor, 'except') ? 'EXCEPT' : null
}

/** ORDER BY, LIMIT and OFFSET after brackets: they apply to all that is inside. */
function parseOuterClauses(cursor: Cursor, query: Query): Query {
  const { start } = peek(cursor)
  const order_by = parseOrderBy(cursor)
  const limit = parseLimit(cursor)
  if (!order_by && !limit.limit && !limit.offset) return query
  assertRoom(query, order_by, limit, start)
  return { ...query, ...(order_by && { order_by }), ...limit, end: endOf(cursor) }
}

/** One node can only say once how it is sorted and cut, and sorts before it skips, and skips before it counts. */
function assertRoom(query: Query, order_by: OrderExpr[] | null, limit: Limit, start: number) {
  const isRefused =
    (order_by && (query.order_by || query.limit || query.offset)) ||
    (limit.offset && (query.limit || query.offset)) ||
    (limit.limit && query.limit)
  if (isRefused) throw notSupported('A second ORDER BY or LIMIT', { start, end: start })
}
