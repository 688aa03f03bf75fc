// Text to tokens in one pass over character codes. Comments and blanks are dropped; strings arrive unescaped.
import { syntaxError } from '../errors.ts'
import { MAX_NESTING, MAX_TEXT_BYTES, nestedTooDeep } from './limits.ts'
import { scanNumber } from './number-token.ts'
import { scanQuoted, scanTemplateText } from './quoted-token.ts'
import { KEYWORDS } from './words.ts'

/** `digits`: 12. `octal`: 012, which may not be a tuple index. `number`: 0x1f, 0b1, 1e5. Else the sign itself. */
export type TokenKind =
  | ('name' | 'quoted' | 'digits' | 'octal' | 'number' | 'string' | 'text' | 'end')
  | ("f'" | "'" | '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' | '.' | '#')
  | ('?' | '?.' | '??' | ':' | '::' | ':=' | '->')
  | ('=' | '==' | '!=' | '<' | '<=' | '>' | '>=' | '~' | '~*' | '=~' | '=~*' | '!~' | '!~*')
  | ('+' | '-' | '*' | '/' | '%' | '||')

export type Token = {
  kind: TokenKind
  start: number
  end: number
  /** What a string, name or number says; empty for signs. */
  value: string
  /** The keyword in lower case; empty for everything else. */
  word: string
  /** For `(`: index of its `)`. For a name in `a, b -> …`: index of the `->`. Otherwise -1. */
  jump: number
}

type Lexing = {
  text: string
  at: number
  tokens: Token[]
  open_brackets: number[]
  braces: ('plain' | 'template')[]
}

export function tokenize(text: string): Token[] {
  assertReadable(text)
  const lexing: Lexing = { text, at: 0, tokens: [], open_brackets: [], braces: [] }
  while (skipBlank(lexing)) scanToken(lexing)
  if (lexing.braces.length > 0) throw syntaxError('Expected "}" before the end of the text', endOf(text))
  push(lexing, 'end', text.length)
  return lexing.tokens
}

function assertReadable(text: string) {
  // UTF-8 takes at most 3 bytes for each UTF-16 unit, so short texts need no counting.
  if (text.length * 3 > MAX_TEXT_BYTES && Buffer.byteLength(text) > MAX_TEXT_BYTES)
    throw syntaxError(`The text is longer than ${MAX_TEXT_BYTES} bytes`, endOf(text))
  const nul = text.indexOf('\0')
  if (nul >= 0) throw syntaxError('The text holds a NUL character', { start: nul, end: nul + 1 })
  if (text.isWellFormed()) return
  const broken = text.search(/\p{Surrogate}/u)
  throw syntaxError('The text holds half of a character', { start: broken, end: broken + 1 })
}

const endOf = (text: string) => ({ start: text.length, end: text.length })

function push(lexing: Lexing, kind: TokenKind, end: number, value = '', word = '') {
  lexing.tokens.push({ kind, start: lexing.at, end, value, word, jump: -1 })
  lexing.at = end
}

/** Moves to the next token. False at the end of the text. */
function skipBlank(lexing: Lexing): boolean {
  const { text } = lexing
  for (;;) {
    const code = text.charCodeAt(lexing.at)
    if (code === 32 || (code >= 9 && code <= 13)) lexing.at++
    else if (code !== code) return false
    else if (code > 127 && isWideBlank(code)) lexing.at++
    else if (!skipComment(lexing, code)) return true
  }
}

/** Blanks beyond ASCII: pasted text brings them along. */
const isWideBlank = (code: number) =>
  code === 0x85 ||
  code === 0xa0 ||
  code === 0x1680 ||
  (code >= 0x2000 && code <= 0x200a) ||
  code === 0x2028 ||
  code === 0x2029 ||
  code === 0x202f ||
  code === 0x205f ||
  code === 0x3000 ||
  code === 0xfeff

function skipComment(lexing: Lexing, code: number): boolean {
  const { text, at } = lexing
  const next = text.charCodeAt(at + 1)
  if (
    code === HASH ? !isDigit(next) : (code === DASH && next === DASH) || (code === SLASH && next === SLASH)
  ) {
    let end = at + 1
    while (end < text.length && text[end] !== '\n' && text[end] !== '\r') end++
    lexing.at = end
    return true
  }
  if (code !== SLASH || next !== STAR) return false
  const end = text.indexOf('*/', at + 2)
  if (end < 0) throw syntaxError('This comment is not closed', { start: at, end: at + 2 })
  lexing.at = end + 2
  return true
}

const HASH = 35
const STAR = 42
const DASH = 45
const DOT = 46
const SLASH = 47
const QUOTE = 39

const isDigit = (code: number) => code >= 48 && code <= 57
const isNameStart = (code: number) =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code === 36

function scanToken(lexing: Lexing) {
  const { text, at } = lexing
  const code = text.charCodeAt(at)
  if (isNameStart(code)) scanName(lexing, code)
  else if (isDigit(code) || code === DOT) scanNumberOrDot(lexing)
  else if (code === QUOTE) pushQuoted(lexing, 'string')
  else if (code === 34 || code === 96) pushQuoted(lexing, 'quoted')
  else scanSign(lexing, code)
}

function scanName(lexing: Lexing, first: number) {
  const { text, at } = lexing
  let end = at + 1
  for (;;) {
    const code = text.charCodeAt(end)
    if (!isNameStart(code) && !isDigit(code)) break
    end++
  }
  if (end === at + 1 && text.charCodeAt(end) === QUOTE) {
    if (first === 102) {
      push(lexing, "f'", end + 1)
      return scanTemplate(lexing)
    }
    if (first === 70) throw syntaxError("Write f'…' with a small f", { start: at, end: end + 1 })
  }
  const value = text.slice(at, end)
  // No keyword is longer than this, so longer names need no lower case.
  const lower = value.length <= 12 ? value.toLowerCase() : ''
  push(lexing, 'name', end, value, KEYWORDS.has(lower) ? lower : '')
}

function scanNumberOrDot(lexing: Lexing) {
  const number = scanNumber(lexing.text, lexing.at)
  if (!number) return push(lexing, '.', lexing.at + 1)
  push(lexing, number.kind, number.end, lexing.text.slice(lexing.at, number.end))
}

function pushQuoted(lexing: Lexing, kind: 'string' | 'quoted') {
  const { end, value } = scanQuoted(lexing.text, lexing.at)
  push(lexing, kind, end, value)
}

/** The text of f'…' up to the next `{` or the closing quote. */
function scanTemplate(lexing: Lexing) {
  const { end, value } = scanTemplateText(lexing.text, lexing.at)
  if (end > lexing.at) push(lexing, 'text', end, value)
  if (lexing.text.charCodeAt(end) === QUOTE) return push(lexing, "'", end + 1)
  lexing.braces.push('template')
  push(lexing, '{', end + 1)
  if (lexing.braces.length > MAX_NESTING) throw nestedTooDeep({ start: end, end: end + 1 })
}

/** Signs by the code of their first character, longest first; `<>` is another way to write `!=`. */
const SIGNS: readonly (readonly TokenKind[] | undefined)[] = (() => {
  const table: TokenKind[][] = []
  const signs = '=~* =~ == = !~* !~ != <= < >= > ~* ~ ?? ?. ? :: := : -> - + * / % || , ; ( ) [ ] { } #'
  for (const sign of signs.split(' ') as TokenKind[]) (table[sign.charCodeAt(0)] ??= []).push(sign)
  return table
})()

function scanSign(lexing: Lexing, code: number) {
  const { text, at } = lexing
  const candidates = SIGNS[code]
  if (!candidates) throw unexpectedCharacter(text, at)
  // Most signs are one character that begins no other sign.
  const only = candidates.length === 1 ? candidates[0]! : null
  if (only?.length === 1) push(lexing, only, at + 1)
  else if (text.startsWith('<>', at)) push(lexing, '!=', at + 2)
  else {
    const sign = candidates.find((candidate) => text.startsWith(candidate, at))
    if (!sign) throw unexpectedCharacter(text, at)
    push(lexing, sign, at + sign.length)
  }
  remember(lexing, code)
}

/** What later tokens and the parser need to know of brackets, braces and arrows. */
function remember(lexing: Lexing, code: number) {
  const { tokens, open_brackets, braces } = lexing
  if (code === 40) open_brackets.push(tokens.length - 1)
  else if (code === 41) closeBracket(lexing)
  else if (code === 123) braces.push('plain')
  else if (code === 125) closeBrace(lexing)
  else if (code === DASH && tokens[tokens.length - 1]!.kind === '->') markParameters(tokens)
  if (open_brackets.length + braces.length > MAX_NESTING) throw nestedTooDeep(tokens[tokens.length - 1]!)
}

function closeBracket({ tokens, open_brackets }: Lexing) {
  const open = open_brackets.pop()
  if (open !== undefined) tokens[open]!.jump = tokens.length - 1
}

function closeBrace(lexing: Lexing) {
  const brace = lexing.braces.pop()
  if (!brace) throw syntaxError('This "}" closes nothing', { start: lexing.at - 1, end: lexing.at })
  if (brace === 'template') scanTemplate(lexing)
}

/** Lets the parser recognise `a, b -> …` at its first name, without searching ahead from every name. */
function markParameters(tokens: Token[]) {
  const arrow = tokens.length - 1
  let at = arrow - 1
  if (tokens[at]?.kind === ',') at--
  while (tokens[at]?.kind === 'name' || tokens[at]?.kind === 'quoted') {
    tokens[at]!.jump = arrow
    if (tokens[at - 1]?.kind !== ',') return
    at -= 2
  }
}

function unexpectedCharacter(text: string, at: number) {
  const character = String.fromCodePoint(text.codePointAt(at)!)
  const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
  const shown = /[\p{L}\p{N}\p{P}\p{S}]/u.test(character) ? `"${character}"` : `U+${code}`
  return syntaxError(`Unexpected character ${shown}`, { start: at, end: at + character.length })
}
