// LIMIT BY, LIMIT and OFFSET.
import type { Expr, LimitByExpr } from '../ast.ts'
import {
  accept,
  acceptWord,
  acceptWords,
  endOf,
  notSupported,
  peek,
  peekAfter,
  startsOperand,
  type Cursor,
} from './cursor.ts'
import { parseClauseList } from './lists.ts'

export type Limit = { limit?: Expr; limit_with_ties?: true; offset?: Expr }
type Limits = Limit & { limit_by?: LimitByExpr }

/** What stands at the end of a SELECT: one of each at most. */
export function parseLimits(cursor: Cursor): Limits {
  const { start } = peek(cursor)
  const { order, ...first } = parseCounts(cursor)
  const { limit: given, offset: second } = first
  const isLast = !given || first.limit_with_ties || order === 'offset first'
  if (isLast || !acceptWord(cursor, 'by')) return first
  const exprs = parseClauseList(cursor)
  // After a comma the first number is the offset, as in ClickHouse; elsewhere PostHog has it the other way round.
  const [n, offset_value] = order === 'comma' && second ? [second, given] : [given, second]
  const limit_by: LimitByExpr = {
    node: 'LimitByExpr',
    n,
    ...(offset_value && { offset_value }),
    exprs,
    start,
    end: endOf(cursor),
  }
  return { limit_by, ...parseLimit(cursor) }
}

export function parseLimit(cursor: Cursor): Limit {
  const { order: _order, ...limit } = parseCounts(cursor)
  return limit
}

type Counts = Limit & { order?: 'comma' | 'offset first' }

/** `limit 1`, `limit 1, 2` (the second is the offset, as PostHog has it), `limit 1 offset 2`, `offset 2 limit 1`. */
function parseCounts(cursor: Cursor): Counts {
  if (acceptWord(cursor, 'offset')) {
    const offset = cursor.rules.expression(cursor, 0)
    if (!acceptWord(cursor, 'limit')) return { offset }
    const limit = parseCount(cursor)
    if (limit.limit_with_ties) throw notSupported('WITH TIES where OFFSET stands first', limit.limit)
    return { ...limit, offset, order: 'offset first' }
  }
  if (!acceptWord(cursor, 'limit')) return {}
  const limit = parseCount(cursor)
  if (!limit.limit_with_ties && accept(cursor, ',')) {
    const offset = cursor.rules.expression(cursor, 0)
    return { ...limit, ...parseTies(cursor), offset, order: 'comma' }
  }
  if (!acceptWord(cursor, 'offset')) return limit
  return { ...limit, offset: cursor.rules.expression(cursor, 0) }
}

function parseCount(cursor: Cursor): { limit: Expr; limit_with_ties?: true } {
  const isPercent = peekAfter(cursor).kind === '%' && !startsOperand(peekAfter(cursor, 2))
  if (isPercent) throw notSupported('LIMIT in percent', peekAfter(cursor), 'Write a number of rows instead.')
  const limit = cursor.rules.expression(cursor, 0)
  return { limit, ...parseTies(cursor) }
}

const parseTies = (cursor: Cursor): { limit_with_ties?: true } =>
  acceptWords(cursor, 'with', 'ties') ? { limit_with_ties: true } : {}
