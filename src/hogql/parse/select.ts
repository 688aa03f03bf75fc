// One SELECT with its clauses, in the order they are written.
import type { Cte, Expr, SelectQuery } from '../ast.ts'
import { syntaxError } from '../errors.ts'
import {
  accept,
  acceptWord,
  acceptWords,
  at,
  atWord,
  expectAlias,
  expectName,
  expectWord,
  expected,
  isName,
  next,
  notSupported,
  peek,
  peekAfter,
  endOf,
  startsOperand,
  type Cursor,
} from './cursor.ts'
import { parseFrom } from './from.ts'
import { parseLimits } from './limit.ts'
import { MAX_COLUMNS } from './limits.ts'
import { atClauseEnd, parseClauseList } from './lists.ts'
import { parseGroupings, refuseTotals } from './groupings.ts'
import { isDistinctKeyword } from './lookahead.ts'
import { parseOrderBy } from './order.ts'
import { parseWindow } from './windows.ts'
import { COLUMN_ALIAS_WORDS } from './words.ts'

export function parseSelectStatement(cursor: Cursor, ctes: Cte[] | null, start: number): SelectQuery {
  expectWord(cursor, 'select')
  const query: SelectQuery = { node: 'SelectQuery', select: [], start }
  if (ctes) query.ctes = ctes
  if (isDistinctKeyword(cursor)) {
    next(cursor)
    query.distinct = true
  }
  query.select = parseColumns(cursor)
  if (acceptWord(cursor, 'from')) query.select_from = parseFrom(cursor)
  parseArrayJoin(cursor, query)
  if (acceptWord(cursor, 'prewhere')) query.prewhere = cursor.rules.expression(cursor, 0)
  if (acceptWord(cursor, 'where')) query.where = cursor.rules.expression(cursor, 0)
  parseGroupBy(cursor, query)
  if (acceptWord(cursor, 'having')) query.having = cursor.rules.expression(cursor, 0)
  if (acceptWord(cursor, 'qualify')) query.qualify = cursor.rules.expression(cursor, 0)
  parseWindows(cursor, query)
  const order_by = parseOrderBy(cursor)
  if (order_by) query.order_by = order_by
  Object.assign(query, parseLimits(cursor))
  refuseClauses(cursor)
  query.end = endOf(cursor)
  return query
}

function parseColumns(cursor: Cursor): Expr[] {
  const columns: Expr[] = []
  do {
    if (columns.length === MAX_COLUMNS)
      throw syntaxError(`More than ${MAX_COLUMNS} columns are selected`, peek(cursor))
    columns.push(parseColumn(cursor))
  } while (accept(cursor, ',') && !atClauseEnd(cursor))
  return columns
}

/** `expression`, `expression as name`, `expression name` and `name: expression`. */
function parseColumn(cursor: Cursor): Expr {
  const { start } = peek(cursor)
  if (isName(peek(cursor)) && peekAfter(cursor).kind === ':') {
    const alias = expectAlias(cursor)
    next(cursor)
    return { node: 'Alias', alias, expr: cursor.rules.expression(cursor, 0), start, end: endOf(cursor) }
  }
  if (atWord(cursor, 'from') && isColumnAlias(cursor, 1)) throw expected(cursor, 'a column')
  const expr = cursor.rules.expression(cursor, 0)
  if (!isColumnAlias(cursor)) return expr
  return { node: 'Alias', alias: expectAlias(cursor), expr, start, end: endOf(cursor) }
}

function isColumnAlias(cursor: Cursor, distance = 0): boolean {
  const token = peekAfter(cursor, distance)
  return isName(token) && (token.word === '' || COLUMN_ALIAS_WORDS.has(token.word))
}

const ARRAY_JOINS = { '': 'ARRAY JOIN', left: 'LEFT ARRAY JOIN', inner: 'INNER ARRAY JOIN' } as const

function parseArrayJoin(cursor: Cursor, query: SelectQuery) {
  const { start, end, word } = peek(cursor)
  const side = word === 'left' || word === 'inner' ? word : ''
  if (peekAfter(cursor, side ? 1 : 0).word !== 'array') return
  if (side) next(cursor)
  next(cursor)
  expectWord(cursor, 'join')
  if (!query.select_from) throw syntaxError('ARRAY JOIN needs a FROM before it', { start, end })
  query.array_join_op = ARRAY_JOINS[side]
  query.array_join_list = parseClauseList(cursor)
  const unnamed = query.array_join_list.find((expr) => expr.node !== 'Alias')
  if (unnamed) throw syntaxError('An array of ARRAY JOIN needs a name: write … as name', unnamed)
}

function parseGroupBy(cursor: Cursor, query: SelectQuery) {
  if (acceptWords(cursor, 'group', 'by')) {
    const sets = parseGroupings(cursor)
    if (sets) Object.assign(query, sets)
    else if (atWord(cursor, 'all') && isAloneInGroupBy(cursor)) {
      next(cursor)
      query.group_by_mode = 'all'
    } else query.group_by = parseClauseList(cursor)
  }
  refuseTotals(cursor)
}

/** GROUP BY ALL; with anything after it that goes on with an expression, `all` is a column. */
function isAloneInGroupBy(cursor: Cursor): boolean {
  const after = peekAfter(cursor)
  return (
    after.kind === 'end' ||
    after.kind === ')' ||
    after.kind === ';' ||
    (after.word !== '' && startsOperand(after))
  )
}

function parseWindows(cursor: Cursor, query: SelectQuery) {
  if (!acceptWord(cursor, 'window')) return
  // Names come from the user: no prototype for them to meet.
  const windows = Object.create(null) as Record<string, ReturnType<typeof parseWindow>>
  do {
    const name = expectName(cursor, 'the name of a window')
    expectWord(cursor, 'as')
    if (!at(cursor, '(')) throw expected(cursor, 'a window in brackets')
    windows[name] = parseWindow(cursor)
  } while (accept(cursor, ','))
  query.window_exprs = windows
}

/** Clauses PostHog's parser knows, here or further ahead, and this one does not. */
function refuseClauses(cursor: Cursor) {
  for (const word of ['settings', 'sample'])
    if (atWord(cursor, word)) throw notSupported(word.toUpperCase(), peek(cursor))
}
