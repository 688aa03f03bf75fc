// Quoted text: 'strings', "names", `names` and the text of f'…', with their escapes. Called by the lexer.
import { syntaxError } from '../errors.ts'

type Quoted = { end: number; value: string }

/** From the opening quote at `start` to the closing one. A doubled quote stands for the quote itself. */
export function scanQuoted(text: string, start: number): Quoted {
  const quote = text[start]!
  // Only double-quoted names and strings can escape their own quote; `…` can escape ' and keeps the backslash.
  const escapable = quote === '"' ? '"' : "'"
  const end = closingQuote(text, start, quote, escapable, '')
  if (end >= text.length) throw syntaxError('This quote is not closed', { start, end: start + 1 })
  return { end: end + 1, value: unescape(text.slice(start + 1, end), quote, escapable) }
}

/** The text of f'…' from `start` to the next `{` or closing quote, which `end` points at. */
export function scanTemplateText(text: string, start: number): Quoted {
  const end = closingQuote(text, start - 1, "'", "'{", '{')
  if (end >= text.length) throw syntaxError("This f'…' is not closed", { start: start - 1, end: start })
  return { end, value: unescape(text.slice(start, end), "'", "'{") }
}

function closingQuote(text: string, start: number, quote: string, escapable: string, stop: string): number {
  let at = start + 1
  for (; at < text.length; at++) {
    const character = text[at]!
    if (character === quote) {
      if (text[at + 1] !== quote) return at
      at++
    } else if (character === '\\') at = escapeEnd(text, at, escapable)
    else if (character === stop) return at
  }
  return at
}

const CONTROL_LETTERS: ReadonlyMap<string, string> = new Map([
  ['b', '\b'],
  ['f', '\f'],
  ['r', '\r'],
  ['n', '\n'],
  ['t', '\t'],
  ['a', '\x07'],
  ['v', '\v'],
  ['0', ''],
  ['\\', '\\'],
])

/** Index of the last character of the escape at `at`. */
function escapeEnd(text: string, at: number, escapable: string): number {
  const letter = text[at + 1] ?? ''
  if (letter !== '' && (CONTROL_LETTERS.has(letter.toLowerCase()) || escapable.includes(letter)))
    return at + 1
  if ((letter === 'x' || letter === 'X') && /^[0-9a-fA-F]{2}$/.test(text.slice(at + 2, at + 4))) return at + 3
  throw syntaxError('Unknown escape: write \\\\ for a backslash', { start: at, end: at + 2 })
}

function unescape(raw: string, quote: string, escapable: string): string {
  if (!raw.includes('\\') && !raw.includes(quote)) return raw
  let value = ''
  for (let at = 0; at < raw.length; at++) {
    const character = raw[at]!
    const next = raw[at + 1] ?? ''
    if (character === quote) at++
    if (character !== '\\') value += character
    else {
      at++
      // \x41 and capital letters pass the lexer but stay as they are written, and so does \' in `…`.
      value += CONTROL_LETTERS.get(next) ?? (escapable.includes(next) && quote !== '`' ? next : `\\${next}`)
    }
  }
  return value
}
