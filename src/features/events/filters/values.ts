// The `value` of a filter: one or several texts, numbers or booleans, and how they read as text and as numbers.
import { isStorableText } from '../../../platform/http/body.ts'
import type { Complain } from './condition.ts'

// As the engines read numbers: with blanks round them, but no hexadecimals and no infinities.
const NUMBER = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i

/** The values as text, a single one as a list of one. Text is compared as JSON writes it: `true`, `5`, `{"a":1}`. */
export function textsOf(value: unknown, complain: Complain): string[] {
  const values = Array.isArray(value) ? value : [value]
  return values.map((each) => textOf(each, complain))
}

function textOf(value: unknown, complain: Complain): string {
  if (value === null || value === undefined) throw complain('A filter cannot have null among its values.')
  if (typeof value === 'number' && !Number.isFinite(value))
    throw complain('A number in a filter is too large.')
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (!isStorableText(text)) throw complain('A filter may not hold NUL or broken characters.')
  return text
}

/** Null when the text is no number. */
export function numberOf(text: string): number | null {
  const number = NUMBER.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(number) ? number : null
}

/**
 * The number that a text may be compared as when equality is asked for. Long ids are left out: as numbers, two that
 * differ in the last digits would be the same.
 */
export function comparableNumberOf(text: string): number | null {
  const number = numberOf(text)
  const isLongId = Number.isInteger(number) && !Number.isSafeInteger(number) && !/e/i.test(text)
  return isLongId ? null : number
}
