// CASE, INTERVAL and lambdas.
import type { Expr } from '../ast.ts'
import { queryError } from '../errors.ts'
import {
  accept,
  acceptWord,
  at,
  atWord,
  deeper,
  expect,
  expectName,
  expectWord,
  expected,
  nested,
  next,
  peek,
  peekAfter,
  endOf,
  type Cursor,
} from './cursor.ts'
import { INTERVAL_UNITS } from './words.ts'

/** Becomes a call: if(…) for one WHEN, multiIf(…) for more, _caseWithExpression(x, …) for `case x when …`. */
export function parseCase(cursor: Cursor): Expr {
  const { start } = expectWord(cursor, 'case')
  return nested(cursor, () => {
    const expression = () => cursor.rules.expression(cursor, 0)
    // `case when when 1 then 2 end` compares a column called when.
    const isSimple = !atWord(cursor, 'when') || (peekAfter(cursor).word === 'when' && !isThen(cursor))
    const args: Expr[] = isSimple ? [expression()] : []
    do {
      expectWord(cursor, 'when')
      args.push(expression())
      expectWord(cursor, 'then')
      args.push(expression())
    } while (atWord(cursor, 'when'))
    args.push(acceptWord(cursor, 'else') ? expression() : nullHere(cursor))
    expectWord(cursor, 'end')
    const name = isSimple ? '_caseWithExpression' : args.length > 3 ? 'multiIf' : 'if'
    return { node: 'Call', name, args, start, end: endOf(cursor) }
  })
}

const isThen = (cursor: Cursor) => peekAfter(cursor, 2).word === 'then'

const nullHere = (cursor: Cursor): Expr => {
  const { start } = peek(cursor)
  return { node: 'Constant', value: null, start, end: start }
}

/** `interval 1 day` and `interval '1 day'` become toIntervalDay(1). */
export function parseInterval(cursor: Cursor): Expr {
  const { start } = expectWord(cursor, 'interval')
  if (at(cursor, 'string') && !INTERVAL_UNITS.has(peekAfter(cursor).word))
    return parseIntervalString(cursor, start)
  const amount = nested(cursor, () => cursor.rules.expression(cursor, 0))
  const name = INTERVAL_UNITS.get(peek(cursor).word)
  if (!name) throw expected(cursor, 'a unit of time (second, minute, hour, day, week, month, quarter, year)')
  next(cursor)
  return { node: 'Call', name, args: [amount], start, end: endOf(cursor) }
}

function parseIntervalString(cursor: Cursor, start: number): Expr {
  const token = next(cursor)
  const [, count, unit = ''] = /^(\d+) ([a-z]+?)s?$/.exec(token.value) ?? []
  const name = INTERVAL_UNITS.get(unit)
  const value = Number(count)
  if (!name || unit === 'yyyy' || !Number.isSafeInteger(value))
    throw queryError(`An interval in quotes must read like '7 days'`, token)
  const amount: Expr = { node: 'Constant', value, start: token.start, end: token.end }
  return { node: 'Call', name, args: [amount], start, end: endOf(cursor) }
}

/** `x -> …` and `x, y -> …`. */
export function parseArrowLambda(cursor: Cursor): Expr {
  const { start } = peek(cursor)
  const args = parseParameters(cursor, '->')
  return parseBody(cursor, args, start)
}

/** `(x, y) -> …` and `() -> …`. */
export function parseBracketedLambda(cursor: Cursor): Expr {
  const { start } = expect(cursor, '(')
  const args = parseParameters(cursor, ')')
  expect(cursor, '->')
  return parseBody(cursor, args, start)
}

/** `lambda x, y: …`. */
export function parseWordLambda(cursor: Cursor): Expr {
  const { start } = expectWord(cursor, 'lambda')
  const args = parseParameters(cursor, ':')
  return parseBody(cursor, args, start)
}

function parseParameters(cursor: Cursor, close: '->' | ')' | ':'): string[] {
  const names: string[] = []
  while (!at(cursor, close)) {
    names.push(expectName(cursor, 'the name of a parameter'))
    if (!accept(cursor, ',')) break
  }
  expect(cursor, close)
  return names
}

function parseBody(cursor: Cursor, args: string[], start: number): Expr {
  const expr = deeper(cursor, () => cursor.rules.expression(cursor, cursor.body_floor))
  return { node: 'Lambda', args, expr, start, end: endOf(cursor) }
}
