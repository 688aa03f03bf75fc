// Names, texts and numbers of HogQL, as its parser reads them again.
import { FORBIDDEN_ALIASES, KEYWORDS, RESERVED } from './parse/words.ts'

/** Words that read as names wherever a name can stand, and are too common as such to be put in quotes. */
const PLAIN_WORDS: ReadonlySet<string> = new Set(
  'date day first hour id key last minute month name quarter second time timestamp week year'.split(' '),
)
/** Words that are no names even in front of a bracket. */
const NO_FUNCTIONS: ReadonlySet<string> = new Set([
  ...RESERVED,
  'columns',
  'distinct',
  'from',
  'not',
  'true',
  'false',
])

const isWord = (name: string) => /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(name)

export function printName(name: string | number): string {
  if (typeof name === 'number') return String(name)
  const word = name.toLowerCase()
  const isTaken = (KEYWORDS.has(word) && !PLAIN_WORDS.has(word)) || FORBIDDEN_ALIASES.has(word)
  return isWord(name) && !isTaken ? name : quotedName(name)
}

export const printFunction = (name: string) =>
  isWord(name) && !NO_FUNCTIONS.has(name.toLowerCase()) ? name : quotedName(name)

const ESCAPES: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\\': '\\\\',
  "'": "\\'",
}

const quotedName = (name: string) => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '``')}\``
export const quotedText = (text: string) =>
  `'${text.replaceAll(/[\\\n\r\t']/g, (letter) => ESCAPES[letter] ?? letter)}'`

export function printNumber(value: number | string): string {
  if (value === 'Infinity') return 'inf'
  if (value === '-Infinity') return '-inf'
  if (typeof value === 'string') return value.toLowerCase()
  // Without a point or exponent it would be read as one of the integers a JavaScript number cannot hold.
  const isLarge = Number.isInteger(value) && !Number.isSafeInteger(value)
  return (isLarge ? value.toExponential() : String(value)).replace('e+', 'e')
}
