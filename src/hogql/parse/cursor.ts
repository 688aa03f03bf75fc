// The place in the token list, and the few moves every rule is made of.
import type { Expr, Query, Span } from '../ast.ts'
import { HogqlError, queryError, syntaxError } from '../errors.ts'
import { nearestTo } from '../nearest.ts'
import { tokenize, type Token, type TokenKind } from './lexer.ts'
import { MAX_NESTING, MAX_TREE_HEIGHT, nestedTooDeep, treeTooHigh } from './limits.ts'
import { CLAUSE_WORDS, FORBIDDEN_ALIASES, OPERAND_FOLLOWS, OPERATOR_WORDS, RESERVED } from './words.ts'

export type Cursor = {
  tokens: readonly Token[]
  at: number
  /** Constructs open around the cursor. */
  nesting: number
  /** Levels of the tree above the cursor: those constructs, and operators whose right side it is in. */
  depth: number
  /** Levels of the tree below: of what was built so far inside the innermost construct or operand. */
  height: number
  /** Weakest operator a lambda's body may take: inside `cast(x -> y as int)` the AS is not the body's. */
  body_floor: number
  /** Expressions hold queries and queries expressions; their files meet here instead of importing each other. */
  rules: Rules
}

export type Rules = {
  /** An expression of operators that bind at least as strongly as `floor`; 0 takes all. */
  expression(cursor: Cursor, floor: number): Expr
  query(cursor: Cursor): Query
  /** Goes on after a bracketed query: `… union all …`, `… limit 5`. */
  queryAfter(cursor: Cursor, first: Query, start: number): Query
}

/** Parses the whole text by one rule; what is left over is an error. */
export function parseWhole<Tree>(text: string, rules: Rules, rule: (cursor: Cursor) => Tree): Tree {
  const cursor: Cursor = {
    tokens: tokenize(text),
    at: 0,
    nesting: 0,
    depth: 0,
    height: 0,
    body_floor: 0,
    rules,
  }
  const tree = rule(cursor)
  if (peek(cursor).kind !== 'end') throw expected(cursor, 'the end of the text')
  return tree
}

/** The last token is `end`, which nothing moves past; so any token ahead exists. */
export const peek = (cursor: Cursor): Token => cursor.tokens[cursor.at]!
export const peekAfter = (cursor: Cursor, distance = 1): Token =>
  cursor.tokens[cursor.at + distance] ?? cursor.tokens[cursor.tokens.length - 1]!

export const at = (cursor: Cursor, kind: TokenKind): boolean => peek(cursor).kind === kind
export const atWord = (cursor: Cursor, word: string): boolean => peek(cursor).word === word

export function next(cursor: Cursor): Token {
  const token = peek(cursor)
  if (token.kind !== 'end') cursor.at++
  return token
}

export function accept(cursor: Cursor, kind: TokenKind): boolean {
  if (peek(cursor).kind !== kind) return false
  cursor.at++
  return true
}

export function acceptWord(cursor: Cursor, word: string): boolean {
  if (peek(cursor).word !== word) return false
  cursor.at++
  return true
}

/** Both words or neither. */
export function acceptWords(cursor: Cursor, first: string, second: string): boolean {
  if (peek(cursor).word !== first || peekAfter(cursor).word !== second) return false
  cursor.at += 2
  return true
}

export function expect(cursor: Cursor, kind: TokenKind): Token {
  if (peek(cursor).kind !== kind) throw expected(cursor, `"${kind}"`)
  return next(cursor)
}

export function expectWord(cursor: Cursor, word: string): Token {
  if (peek(cursor).word !== word) throw expected(cursor, word.toUpperCase())
  return next(cursor)
}

export const isName = (token: Token): boolean =>
  token.kind === 'quoted' || (token.kind === 'name' && !(token.word !== '' && RESERVED.has(token.word)))

export function expectName(cursor: Cursor, what: string): string {
  if (!isName(peek(cursor))) throw expected(cursor, what)
  return next(cursor).value
}

/** A name the user gives to a column or a table. */
export function expectAlias(cursor: Cursor): string {
  const token = peek(cursor)
  if (token.kind === 'name' && FORBIDDEN_ALIASES.has(token.value.toLowerCase()))
    throw syntaxError(`"${token.value}" cannot be an alias`, token)
  return expectName(cursor, 'a name')
}

/** Whether an operand can begin with this token. A sign may also be an operator: that is for the caller to know. */
export function startsOperand(token: Token): boolean {
  switch (token.kind) {
    case 'name':
      return !OPERATOR_WORDS.has(token.word)
    case 'quoted':
    case 'digits':
    case 'octal':
    case 'number':
    case 'string':
    case "f'":
    case '(':
    case '[':
    case '{':
      return true
    default:
      return false
  }
}

/** Where the last token taken ends, and with it the node that is being made. */
export const endOf = (cursor: Cursor): number => cursor.tokens[cursor.at - 1]?.end ?? 0

/** Runs a rule one level deeper. The limit keeps the recursion, and that of later steps, far from the stack's end. */
export function deeper<Result>(cursor: Cursor, rule: (cursor: Cursor) => Result): Result {
  if (++cursor.nesting > MAX_NESTING) throw nestedTooDeep(peek(cursor))
  const { height } = cursor
  descend(cursor)
  cursor.height = 0
  const result = rule(cursor)
  cursor.nesting--
  cursor.depth--
  raise(cursor)
  cursor.height = Math.max(height, cursor.height)
  return result
}

export function descend(cursor: Cursor) {
  if (++cursor.depth > MAX_TREE_HEIGHT) throw treeTooHigh(peek(cursor))
}

/** The tree grew by a level above all that was built since the innermost rule began. */
export function raise(cursor: Cursor) {
  if (++cursor.height > MAX_TREE_HEIGHT) throw treeTooHigh(peek(cursor))
}

/** The same for what brackets or closing words hold together. */
export function nested<Result>(cursor: Cursor, rule: (cursor: Cursor) => Result): Result {
  const { body_floor } = cursor
  cursor.body_floor = 0
  const result = deeper(cursor, rule)
  cursor.body_floor = body_floor
  return result
}

/** A misspelt word that goes on with a query is often taken for an alias, so that what follows it is at fault. */
export function expected(cursor: Cursor, what: string): HogqlError {
  const token = peek(cursor)
  const before = cursor.tokens[cursor.at - 1]
  if (before !== undefined && meantWord(token) === null) {
    // An alias has something to name: `form` in `count(form from` is a column.
    const word = endsOperand(cursor.tokens[cursor.at - 2]) ? meantWord(before) : null
    if (word !== null) return misspelt(`Unexpected ${describe(before)}`, before, word)
  }
  return misspelt(`Expected ${what}, found ${describe(token)}`, token, meantWord(token))
}

const OPERAND_ENDS: ReadonlySet<TokenKind> = new Set([
  ...(['quoted', 'digits', 'octal', 'number', 'string'] as const),
  ...([')', ']', '}', "'", '*'] as const),
])

const endsOperand = (token: Token | undefined) =>
  token !== undefined &&
  (token.kind === 'name' ? !OPERAND_FOLLOWS.has(token.word) : OPERAND_ENDS.has(token.kind))

const misspelt = (fault: string, token: Token, word: string | null) =>
  new HogqlError('syntax', fault, token, {
    did_you_mean: word,
    advice: word === null ? null : `Did you mean '${word}'?`,
  })

/** Shorter names are near to everything. */
const meantWord = ({ kind, value, word }: Token) =>
  kind === 'name' && word === '' && value.length >= 3 ? nearestTo(value, CLAUSE_WORDS, 1) : null

export const notSupported = (what: string, span: Span, advice?: string) =>
  queryError(`${what} is not supported`, span, advice)

function describe(token: Token): string {
  if (token.kind === 'end') return 'the end of the text'
  if (token.kind === 'string' || token.kind === 'text') return 'a string'
  const text = token.value || token.kind
  return text.length > 40 ? `"${text.slice(0, 40)}…"` : `"${text}"`
}
