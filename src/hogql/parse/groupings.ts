// Several groupings in one GROUP BY, and what may follow it.
import type { Expr, GroupingSet, SelectQuery } from '../ast.ts'
import {
  accept,
  acceptWords,
  at,
  atWord,
  endOf,
  expect,
  nested,
  next,
  notSupported,
  peek,
  peekAfter,
  type Cursor,
} from './cursor.ts'
import { parseListUntil } from './lists.ts'

type Groupings = Pick<SelectQuery, 'group_by' | 'group_by_mode'>

/** `rollup(a, b)`, `cube(a, b)` and `grouping sets ((a), (b, c), ())`; null for an ordinary list. */
export function parseGroupings(cursor: Cursor): Groupings | null {
  const { word } = peek(cursor)
  const hasKeys = peekAfter(cursor).kind === '(' && peekAfter(cursor, 2).kind !== ')'
  if ((word === 'rollup' || word === 'cube') && hasKeys) {
    next(cursor)
    const group_by = parseInBrackets(cursor)
    if (at(cursor, ',')) throw notSupported(`${word.toUpperCase()} beside other keys`, peek(cursor))
    return { group_by, group_by_mode: word }
  }
  if (!acceptWords(cursor, 'grouping', 'sets')) return null
  expect(cursor, '(')
  const group_by: GroupingSet[] = []
  do {
    const { start } = peek(cursor)
    group_by.push({ node: 'GroupingSet', exprs: parseInBrackets(cursor), start, end: endOf(cursor) })
  } while (accept(cursor, ','))
  expect(cursor, ')')
  return { group_by, group_by_mode: 'grouping_sets' }
}

function parseInBrackets(cursor: Cursor): Expr[] {
  expect(cursor, '(')
  const exprs = nested(cursor, () => parseListUntil(cursor, ')'))
  expect(cursor, ')')
  return exprs
}

/** PostHog's parser reads these and leaves them out, so its answers have no such rows. */
export function refuseTotals(cursor: Cursor) {
  if (!atWord(cursor, 'with')) return
  for (const [word, instead] of [
    ['totals', 'GROUP BY GROUPING SETS ((…), ())'],
    ['rollup', 'GROUP BY ROLLUP(…)'],
    ['cube', 'GROUP BY CUBE(…)'],
  ] as const)
    if (peekAfter(cursor).word === word)
      throw notSupported(`WITH ${word.toUpperCase()}`, peek(cursor), `Write ${instead} instead.`)
}
