// The words before JOIN, and the order in which PostHog's tree names them.
import {
  accept,
  acceptWord,
  acceptWords,
  atWord,
  expectWord,
  expected,
  notSupported,
  peek,
  peekAfter,
  type Cursor,
} from './cursor.ts'

const INNER_STRICTNESS: readonly string[] = ['all', 'any', 'asof']
const STRICTNESS = ['all', 'any', 'asof', 'semi', 'anti'] as const

/** `LEFT JOIN`, `ANY INNER JOIN`, …; null when no join follows. A comma joins as well. */
export function parseJoinType(cursor: Cursor): string | null {
  if (accept(cursor, ',') || acceptWords(cursor, 'cross', 'join')) return 'CROSS JOIN'
  if (acceptWords(cursor, 'positional', 'join')) return 'POSITIONAL JOIN'
  if (atWord(cursor, 'natural')) throw notSupported('NATURAL JOIN', peek(cursor))
  if (!startsJoin(cursor)) return null
  const before = acceptStrictness(cursor)
  const type = parseSide(cursor, before)
  expectWord(cursor, 'join')
  return type
}

/** LEFT and INNER may also begin an ARRAY JOIN, which is another clause. */
function startsJoin(cursor: Cursor): boolean {
  const { word } = peek(cursor)
  if (word === 'left' || word === 'inner') return peekAfter(cursor).word !== 'array'
  return word === 'join' || word === 'right' || word === 'full' || STRICTNESS.some((each) => each === word)
}

function acceptStrictness(cursor: Cursor): string[] {
  const first = STRICTNESS.find((word) => acceptWord(cursor, word))
  if (!first) return []
  const second = first === 'asof' ? STRICTNESS.slice(3).find((word) => acceptWord(cursor, word)) : undefined
  return second ? [first, second] : [first]
}

function parseSide(cursor: Cursor, before: string[]): string {
  const name = (...words: string[]) => [...words, 'join'].join(' ').toUpperCase()
  if (acceptWord(cursor, 'inner')) {
    const strictness = before.length > 0 ? before : acceptStrictness(cursor)
    assertFits(cursor, strictness, INNER_STRICTNESS)
    return name(...strictness, 'inner')
  }
  for (const side of ['left', 'right', 'full'])
    if (acceptWord(cursor, side)) {
      const outer = acceptWord(cursor, 'outer') ? ['outer'] : []
      const strictness = before.length > 0 ? before : acceptStrictness(cursor)
      assertFits(cursor, strictness, side === 'full' ? INNER_STRICTNESS : STRICTNESS)
      return name(side, ...outer, ...strictness.toReversed())
    }
  // ANY, ALL and ASOF alone mean an inner join; SEMI and ANTI stand by themselves.
  const isInner = before.length === 1 && INNER_STRICTNESS.includes(before[0]!)
  return name(...before, ...(isInner ? ['inner'] : []))
}

function assertFits(cursor: Cursor, strictness: readonly string[], allowed: readonly string[]) {
  if (!strictness.every((word) => allowed.includes(word))) throw expected(cursor, 'another kind of join')
}
