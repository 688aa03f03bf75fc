// SAMPLE after a table: a part of it, and where that part begins.
import type { RatioExpr, SampleExpr } from '../ast.ts'
import { accept, acceptWord, at, atWord, endOf, expected, notSupported, peek, type Cursor } from './cursor.ts'
import { parseNumber } from './literals.ts'
import { isSignedNumber } from './lookahead.ts'

/** Null when none stands here. */
export function parseSample(cursor: Cursor): SampleExpr | null {
  if (!atWord(cursor, 'sample')) return null
  const { start } = peek(cursor)
  cursor.at++
  const sample_value = parseRatio(cursor)
  if (at(cursor, '%'))
    throw notSupported('SAMPLE in percent', peek(cursor), 'Write a share instead, such as SAMPLE 0.1.')
  const offset = acceptWord(cursor, 'offset') ? { offset_value: parseRatio(cursor) } : {}
  return { node: 'SampleExpr', sample_value, ...offset, start, end: endOf(cursor) }
}

function parseRatio(cursor: Cursor): SampleExpr['sample_value'] {
  if (at(cursor, '{')) {
    const placeholder = cursor.rules.expression(cursor, 0)
    if (placeholder.node !== 'Placeholder') throw expected(cursor, 'a number')
    return placeholder
  }
  const { start } = peek(cursor)
  const ratio: RatioExpr = { node: 'RatioExpr', left: parsePart(cursor), start }
  if (accept(cursor, '/')) ratio.right = parsePart(cursor)
  ratio.end = endOf(cursor)
  return ratio
}

function parsePart(cursor: Cursor) {
  if (!isSignedNumber(cursor)) throw expected(cursor, 'a number')
  return parseNumber(cursor)
}
