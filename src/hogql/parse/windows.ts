// What stands in the brackets of OVER (…) and of WINDOW w AS (…).
import type { Expr, WindowExpr, WindowFrameExpr } from '../ast.ts'
import {
  acceptWord,
  acceptWords,
  atWord,
  expect,
  expectWord,
  expected,
  nested,
  next,
  notSupported,
  peek,
  endOf,
  type Cursor,
} from './cursor.ts'
import { parseClauseList } from './lists.ts'
import { LEVEL } from './operators.ts'
import { parseOrderBy } from './order.ts'

export function parseWindow(cursor: Cursor): WindowExpr {
  const { start } = expect(cursor, '(')
  return nested(cursor, () => {
    const window: WindowExpr = { node: 'WindowExpr', start }
    if (acceptWords(cursor, 'partition', 'by')) window.partition_by = parseClauseList(cursor)
    const order_by = parseOrderBy(cursor)
    if (order_by) window.order_by = order_by
    parseFrame(cursor, window)
    expect(cursor, ')')
    window.end = endOf(cursor)
    return window
  })
}

function parseFrame(cursor: Cursor, window: WindowExpr) {
  if (!atWord(cursor, 'rows') && !atWord(cursor, 'range')) return
  window.frame_method = next(cursor).word === 'rows' ? 'ROWS' : 'RANGE'
  const isBetween = acceptWord(cursor, 'between')
  window.frame_start = parseBound(cursor)
  if (!isBetween) return
  expectWord(cursor, 'and')
  window.frame_end = parseBound(cursor)
}

function parseBound(cursor: Cursor): WindowFrameExpr {
  const { start } = peek(cursor)
  if (acceptWords(cursor, 'current', 'row'))
    return { node: 'WindowFrameExpr', frame_type: 'CURRENT ROW', start, end: endOf(cursor) }
  const frame_value = acceptWord(cursor, 'unbounded') ? null : parseDistance(cursor)
  if (!atWord(cursor, 'preceding') && !atWord(cursor, 'following'))
    throw expected(cursor, 'PRECEDING or FOLLOWING')
  const frame_type = next(cursor).word === 'preceding' ? 'PRECEDING' : 'FOLLOWING'
  const distance = frame_value === null ? {} : { frame_value }
  return { node: 'WindowFrameExpr', frame_type, ...distance, start, end: endOf(cursor) }
}

function parseDistance(cursor: Cursor): number {
  const distance: Expr = cursor.rules.expression(cursor, LEVEL.between + 1)
  if (distance.node === 'Constant' && typeof distance.value === 'number' && Number.isInteger(distance.value))
    return distance.value
  throw notSupported('A bound that is not a whole number', distance)
}
