// JSON whose whole numbers of up to 64 bits stay as they are: what a double cannot hold is read as a bigint.
import { randomUUID } from 'node:crypto'

/** Shorter numbers are exact as doubles. */
const DIGITS = 16
const END = 2n ** 64n

/** Stands before the digits while a number is a text. No text of anybody's begins so. */
const MARK = `${randomUUID()}:`

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs
const MARKED = new RegExp(`"${MARK}(-?\\d+)"`, 'g')

export function parseExactly(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (!hasManyDigits(text)) return value
  return JSON.parse(
    text.replaceAll(TOKEN, (token) => (isWide(token) ? `"${MARK}${token}"` : token)),
    (_key, each: unknown) =>
      typeof each === 'string' && each.startsWith(MARK) ? BigInt(each.slice(MARK.length)) : each,
  )
}

/** What `parseExactly` has read. */
export function stringifyExactly(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
  }
  const marked = (_key: string, each: unknown) => (typeof each === 'bigint' ? `${MARK}${each}` : each)
  return JSON.stringify(value, marked).replaceAll(MARKED, '$1')
}

/** Looks at every sixteenth character only: so many digits in a row cover one of them. */
function hasManyDigits(text: string): boolean {
  for (let at = DIGITS - 1; at < text.length; at += DIGITS) {
    if (!isDigit(text, at)) continue
    let [start, end] = [at, at + 1]
    while (isDigit(text, start - 1)) start--
    while (isDigit(text, end)) end++
    if (end - start >= DIGITS) return true
  }
  return false
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0x30 && code <= 0x39
}

function isWide(token: string): boolean {
  if (!/^-?\d{16,20}$/.test(token) || Number.isSafeInteger(Number(token))) return false
  const value = BigInt(token)
  return value < END && value > -END
}
