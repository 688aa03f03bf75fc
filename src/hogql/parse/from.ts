// FROM: tables, subqueries and joins. Joins come out as a linked list, as PostHog's do.
import type { Expr, Field, JoinConstraint, JoinExpr, Placeholder, Query } from '../ast.ts'
import { syntaxError } from '../errors.ts'
import {
  accept,
  acceptWord,
  at,
  atWord,
  expect,
  expectAlias,
  expectName,
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
import { parseJoinType } from './join-types.ts'
import { MAX_JOINS } from './limits.ts'
import { parseClauseList, parseListUntil } from './lists.ts'
import { startsQuery } from './lookahead.ts'
import { parseSample } from './sample.ts'
import { isQuery, refuseSetOfPlaceholder } from './subqueries.ts'
import { TABLE_ALIAS_WORDS } from './words.ts'

export function parseFrom(cursor: Cursor): JoinExpr {
  const joins = parseJoins(cursor)
  for (let last = joins.length - 1; last > 0; last--) joins[last - 1]!.next_join = joins[last]!
  return joins[0]!
}

function parseJoins(cursor: Cursor, first = parseTable(cursor)): JoinExpr[] {
  const joins = first
  for (;;) {
    const join_type = parseJoinType(cursor)
    if (!join_type) return joins
    const { start } = peek(cursor)
    const [head, ...rest] = parseTable(cursor)
    joins.push(Object.assign(head!, { join_type, start }), ...rest)
    if (joins.length > MAX_JOINS)
      throw syntaxError(`More than ${MAX_JOINS} tables are joined`, { start, end: start })
    parseConstraints(cursor, joins)
  }
}

/** Each belongs to the nearest join before it that waits for one: `a join b join c on … on …`. */
function parseConstraints(cursor: Cursor, joins: JoinExpr[]) {
  while (atWord(cursor, 'on') || atWord(cursor, 'using')) {
    const waiting = joins.findLast(
      (join) => join.join_type && join.join_type !== 'CROSS JOIN' && !join.constraint,
    )
    if (!waiting) throw expected(cursor, 'no further condition')
    waiting.constraint = parseConstraint(cursor)
    waiting.end = waiting.constraint.end
  }
}

function parseConstraint(cursor: Cursor): JoinConstraint {
  const { start, word } = next(cursor)
  if (word === 'on') {
    const [expr, second] = parseClauseList(cursor)
    if (second) throw notSupported('ON with several conditions', second)
    return { node: 'JoinConstraint', constraint_type: 'ON', expr: expr!, start, end: endOf(cursor) }
  }
  const exprs = parseUsing(cursor)
  const expr: Expr = exprs.length === 1 ? exprs[0]! : { node: 'Tuple', exprs, start, end: endOf(cursor) }
  return { node: 'JoinConstraint', constraint_type: 'USING', expr, start, end: endOf(cursor) }
}

function parseUsing(cursor: Cursor): Expr[] {
  if (!accept(cursor, '(')) return parseClauseList(cursor)
  const exprs = nested(cursor, () => parseListUntil(cursor, ')'))
  if (exprs.length === 0) throw expected(cursor, 'a column')
  expect(cursor, ')')
  return exprs
}

/** A table with its alias, or joins in brackets, which can have none. */
function parseTable(cursor: Cursor): JoinExpr[] {
  const { start } = peek(cursor)
  if (at(cursor, '(')) {
    const inner = nested(cursor, parseBracketedTable)
    return Array.isArray(inner) ? inner : [parseTableEnd(cursor, { table: inner }, start)]
  }
  if (at(cursor, '<')) throw notSupported('A HogQLX tag', peek(cursor))
  if (at(cursor, '{')) return [parseTableEnd(cursor, { table: parsePlaceholder(cursor) }, start)]
  const table = parseTableName(cursor)
  const isFunction = table.chain.length === 1 && accept(cursor, '(')
  if (!isFunction) return [parseTableEnd(cursor, { table }, start)]
  const table_args = nested(cursor, () => parseListUntil(cursor, ')'))
  expect(cursor, ')')
  return [parseTableEnd(cursor, { table, table_args }, start)]
}

/** A query stands for a table of its own; anything else in brackets is a group of joins. */
function parseBracketedTable(cursor: Cursor): JoinExpr[] | Query | Placeholder {
  const { start } = expect(cursor, '(')
  const inner = parseInBrackets(cursor, start)
  expect(cursor, ')')
  return inner
}

function parseInBrackets(cursor: Cursor, start: number): JoinExpr[] | Query | Placeholder {
  if (startsQuery(cursor)) return cursor.rules.query(cursor)
  if (atWord(cursor, 'values') && peekAfter(cursor).kind === '(') throw notSupported('VALUES', peek(cursor))
  if (!at(cursor, '(') && !at(cursor, '{')) return parseJoins(cursor)
  const innerStart = peek(cursor).start
  const first = at(cursor, '{') ? parsePlaceholder(cursor) : nested(cursor, parseBracketedTable)
  if (Array.isArray(first)) return parseJoins(cursor, first)
  if (at(cursor, ')')) return first
  if (isQuery(first) && QUERY_GOES_ON.has(peek(cursor).word))
    return cursor.rules.queryAfter(cursor, first, start)
  refuseSetOfPlaceholder(cursor, first)
  return parseJoins(cursor, [parseTableEnd(cursor, { table: first }, innerStart)])
}

const QUERY_GOES_ON: ReadonlySet<string> = new Set([
  'union',
  'intersect',
  'except',
  'order',
  'limit',
  'offset',
])

function parsePlaceholder(cursor: Cursor): Placeholder {
  const { start } = expect(cursor, '{')
  const expr = nested(cursor, () => cursor.rules.expression(cursor, 0))
  expect(cursor, '}')
  return { node: 'Placeholder', expr, start, end: endOf(cursor) }
}

function parseTableName(cursor: Cursor): Field {
  const { start } = peek(cursor)
  const chain = [expectName(cursor, 'a table')]
  while (accept(cursor, '.')) chain.push(expectName(cursor, 'a table'))
  return { node: 'Field', chain, start, end: endOf(cursor) }
}

/** Alias, FINAL, SAMPLE, and what is refused after a table. */
function parseTableEnd(
  cursor: Cursor,
  table: Pick<JoinExpr, 'table' | 'table_args'>,
  start: number,
): JoinExpr {
  const join: JoinExpr = { node: 'JoinExpr', ...table, start }
  if (acceptWord(cursor, 'as') || isTableAlias(cursor)) {
    join.alias = expectAlias(cursor)
    if (at(cursor, '(')) join.column_aliases = parseNames(cursor)
  }
  for (const word of ['pivot', 'unpivot'])
    if (atWord(cursor, word)) throw notSupported(word.toUpperCase(), peek(cursor))
  if (acceptWord(cursor, 'final')) join.table_final = true
  const sample = parseSample(cursor)
  if (sample) join.sample = sample
  join.end = endOf(cursor)
  return join
}

function isTableAlias(cursor: Cursor): boolean {
  const token = peek(cursor)
  return isName(token) && (token.word === '' || TABLE_ALIAS_WORDS.has(token.word))
}

/** `(a, b)`: names of columns. */
export function parseNames(cursor: Cursor): string[] {
  expect(cursor, '(')
  const names: string[] = []
  do names.push(expectName(cursor, 'the name of a column'))
  while (accept(cursor, ','))
  expect(cursor, ')')
  return names
}
