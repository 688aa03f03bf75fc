// LIMIT and OFFSET.
import type { Expr } from '../ast.ts'
import {
  accept,
  acceptWord,
  atWord,
  notSupported,
  peek,
  peekAfter,
  startsOperand,
  type Cursor,
} from './cursor.ts'

export type Limit = { limit?: Expr; offset?: Expr }

/** `limit 1`, `limit 1, 2` (the second is the offset, as PostHog has it), `limit 1 offset 2`, `offset 2 limit 1`. */
export function parseLimit(cursor: Cursor): Limit {
  if (acceptWord(cursor, 'offset')) {
    const offset = cursor.rules.expression(cursor, 0)
    return acceptWord(cursor, 'limit') ? { limit: parseCount(cursor), offset } : { offset }
  }
  if (!acceptWord(cursor, 'limit')) return {}
  const limit = parseCount(cursor)
  if (!accept(cursor, ',') && !acceptWord(cursor, 'offset')) return { limit }
  const offset = cursor.rules.expression(cursor, 0)
  refuseAfterCount(cursor)
  return { limit, offset }
}

function parseCount(cursor: Cursor): Expr {
  const isPercent = peekAfter(cursor).kind === '%' && !startsOperand(peekAfter(cursor, 2))
  if (isPercent) throw notSupported('LIMIT in percent', peekAfter(cursor))
  const count = cursor.rules.expression(cursor, 0)
  refuseAfterCount(cursor)
  return count
}

function refuseAfterCount(cursor: Cursor) {
  if (atWord(cursor, 'by')) throw notSupported('LIMIT BY', peek(cursor))
  if (atWord(cursor, 'with')) throw notSupported('LIMIT WITH TIES', peek(cursor))
}
