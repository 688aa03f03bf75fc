// Whether a word at the cursor is meant as a keyword or as a name: each question looks a fixed few tokens ahead.
import { isName, peek, peekAfter, startsOperand, type Cursor } from './cursor.ts'
import type { Token } from './lexer.ts'
import { INTERVAL_UNITS, OPERATOR_WORDS } from './words.ts'

const isSign = (token: Token) => token.kind === '-' || token.kind === '+'

const isDigits = (token: Token) => token.kind === 'digits' || token.kind === 'octal'

const isNumber = (token: Token) =>
  isDigits(token) ||
  token.kind === 'number' ||
  token.word === 'inf' ||
  token.word === 'infinity' ||
  token.word === 'nan'

/** A number with its sign, if any: `5`, `-5`, `+ .5`. */
export function isSignedNumber(cursor: Cursor): boolean {
  const signs = isSign(peek(cursor)) ? 1 : 0
  const first = peekAfter(cursor, signs)
  return isNumber(first) || (first.kind === '.' && isDigits(peekAfter(cursor, signs + 1)))
}

/** SELECT or WITH as the beginning of a query, `distance` tokens ahead; both can also be names. */
export function startsQuery(cursor: Cursor, distance = 0): boolean {
  const { word } = peekAfter(cursor, distance)
  const after = peekAfter(cursor, distance + 1)
  if (word === 'select') return startsOperand(after) || isSign(after) || after.kind === '*'
  return word === 'with' && startsOperand(after)
}

/** `(a, b) -> …` with the cursor, or the token `distance` ahead, at the bracket. */
export function startsBracketedLambda(cursor: Cursor, distance = 0): boolean {
  const { kind, jump } = peekAfter(cursor, distance)
  return kind === '(' && jump >= 0 && cursor.tokens[jump + 1]?.kind === '->'
}

/** NOT before an operand; `not (a)` calls the function not, as everywhere else, unless a query is in the brackets. */
export function isNotOperator(cursor: Cursor): boolean {
  const after = peekAfter(cursor)
  if (after.kind === '(') return startsQuery(cursor, 2) || startsBracketedLambda(cursor, 1)
  if (OPERATOR_WORDS.has(after.word)) return peekAfter(cursor, 2).kind === '('
  return startsOperand(after) || isSign(after)
}

/** `in cohort 5`, but `in cohort = 1` compares with a column of that name. */
export function isCohortOperator(cursor: Cursor): boolean {
  const after = peekAfter(cursor)
  return peek(cursor).word === 'cohort' && (startsOperand(after) || isSign(after))
}

/** DISTINCT before what it makes distinct. */
export function isDistinctKeyword(cursor: Cursor): boolean {
  const after = peekAfter(cursor)
  return (
    peek(cursor).word === 'distinct' &&
    (after.kind === 'name' || startsOperand(after) || isSign(after) || after.kind === '*')
  )
}

/** `interval 1 day` and its kind; `interval - 1` and `interval(1)` use the word as a name. */
export const startsInterval = (cursor: Cursor) =>
  opensConstruct(cursor, (token) => INTERVAL_UNITS.has(token.word))

/** `case when …` and `case x when …`. */
export const startsCase = (cursor: Cursor) => opensConstruct(cursor, (token) => token.word === 'when')

/** Whether the keyword at the cursor opens a construct: an operand follows that cannot be an operator's. */
function opensConstruct(cursor: Cursor, isContinuation: (token: Token) => boolean): boolean {
  const after = peekAfter(cursor)
  if (after.kind === '(') return after.jump >= 0 && isContinuation(cursor.tokens[after.jump + 1]!)
  if (isSign(after)) return isContinuation(peekAfter(cursor, 3))
  if (after.kind === '[') return false
  return startsOperand(after) && after.word !== 'from'
}

/** `lambda x, y: …`. */
export function startsWordLambda(cursor: Cursor): boolean {
  const second = peekAfter(cursor, 2).kind
  return isName(peekAfter(cursor)) && (second === ',' || second === ':')
}
