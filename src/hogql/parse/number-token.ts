// Where a number ends and which form it has. Called by the lexer at a digit or a dot.
import { syntaxError } from '../errors.ts'

export type NumberToken = { kind: 'digits' | 'octal' | 'number'; end: number }

/** Null when the dot at `start` begins no number. `1.5` is not one token here, because `t.1.5` must not be. */
export function scanNumber(text: string, start: number): NumberToken | null {
  if (text.charCodeAt(start) === DOT) {
    const exponent = exponentEnd(text, digitsEnd(text, start + 1))
    return exponent && isDigit(text.charCodeAt(start + 1)) ? { kind: 'number', end: exponent } : null
  }
  return scanPrefixed(text, start) ?? scanDecimal(text, start)
}

const DOT = 46
const isDigit = (code: number) => code >= 48 && code <= 57
const isHexDigit = (code: number) =>
  isDigit(code) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70)

function digitsEnd(text: string, at: number, belongs = isDigit): number {
  while (belongs(text.charCodeAt(at))) at++
  return at
}

/** End of `e5`, `E-5` at `at`; 0 when none is there. Hexadecimal floats write `p` instead. */
function exponentEnd(text: string, at: number, letter = 101): number {
  if ((text.charCodeAt(at) | 32) !== letter) return 0
  const sign = text.charCodeAt(at + 1)
  const from = sign === 43 || sign === 45 ? at + 2 : at + 1
  const end = digitsEnd(text, from)
  return end > from ? end : 0
}

/** 0x…, 0b… and the refused 0o…. */
function scanPrefixed(text: string, start: number): NumberToken | null {
  if (text.charCodeAt(start) !== 48) return null
  const letter = text.charCodeAt(start + 1) | 32
  if (letter === 120) return scanHexadecimal(text, start)
  if (letter !== 98 && letter !== 111) return null
  const end = digitsEnd(text, start + 2)
  if (end === start + 2) return null
  const isBinary = letter === 98 && /^[01]{1,64}$/.test(text.slice(start + 2, end))
  if (!isBinary) throw syntaxError('This is not a number: write it in decimal digits', { start, end })
  return { kind: 'number', end }
}

function scanHexadecimal(text: string, start: number): NumberToken | null {
  const end = digitsEnd(text, start + 2, isHexDigit)
  if (end === start + 2) return null
  const fractionEnd = text.charCodeAt(end) === DOT ? digitsEnd(text, end + 1, isHexDigit) : end
  const power = exponentEnd(text, fractionEnd, 112) || exponentEnd(text, end, 112)
  return { kind: 'number', end: power || end }
}

function scanDecimal(text: string, start: number): NumberToken {
  const end = digitsEnd(text, start)
  const fractionEnd = text.charCodeAt(end) === DOT ? digitsEnd(text, end + 1) : end
  const exponent = exponentEnd(text, fractionEnd)
  if (exponent) return { kind: 'number', end: exponent }
  return { kind: isOctal(text, start, end) ? 'octal' : 'digits', end }
}

function isOctal(text: string, start: number, end: number): boolean {
  if (end === start + 1 || text.charCodeAt(start) !== 48) return false
  return digitsEnd(text, start, (code) => code >= 48 && code <= 55) === end
}
