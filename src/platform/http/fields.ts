// Building blocks for request schemas: they take what PostHog's clients send (numbers and booleans as text, stray
// blanks) and refuse the rest. No block carries a default: defaults belong to the create schema alone.
import { z } from 'zod'
import { parseTimestamp } from '../../lib/timestamps.ts'

type TextOptions = { max: number; blank?: boolean }

/** Trimmed text of at most `max` characters. `blank: true` lets the empty text through. */
export function text({ max, blank = false }: TextOptions) {
  const trimmed = z.string().trim()
  return (blank ? trimmed : trimmed.min(1)).check(atMost(max)).meta({ maxLength: max })
}

/** Characters as people and JSON Schema count them: an emoji is one, though JavaScript sees two. */
function atMost(max: number): z.core.CheckFn<string> {
  return ({ value, issues }) => {
    if (value.length <= max || Array.from(value.slice(0, 2 * max + 1)).length <= max) return
    issues.push({ code: 'too_big', origin: 'string', maximum: max, inclusive: true, input: value })
  }
}

/** Taken as sent: blanks are part of a password, a message or a code. */
export function verbatim({ max }: { max: number }) {
  return z.string().min(1).max(max)
}

export function int({ min = -(2 ** 31), max = 2 ** 31 - 1 }: { min?: number; max?: number } = {}) {
  return z.preprocess(
    (value) => (typeof value === 'string' && /^\s*[+-]?\d{1,16}\s*$/.test(value) ? Number(value) : value),
    z.int().min(min).max(max),
  )
}

const TRUTH = new Map<unknown, boolean>([
  ['true', true],
  ['false', false],
  ['True', true],
  ['False', false],
  ['1', true],
  ['0', false],
  [1, true],
  [0, false],
])

export function bool() {
  return z.preprocess((value) => TRUTH.get(value) ?? value, z.boolean())
}

/** One of a few numbers, also written as text. */
export function intChoice<const Values extends readonly [number, ...number[]]>(values: Values) {
  return z.preprocess(
    (value) => (typeof value === 'string' && /^\d{1,3}$/.test(value.trim()) ? Number(value) : value),
    z.literal([...values] as Values[number][]),
  )
}

// Deliberately plain: one @, no blanks or control characters, a dotted domain. Delivery is the real test.
const EMAIL =
  /^[^\s@"(),:;<>[\]\\\p{Cc}]{1,64}@(?:[a-z0-9\u0080-\uffff](?:[a-z0-9\u0080-\uffff-]{0,61}[a-z0-9\u0080-\uffff])?\.)+[a-z0-9\u0080-\uffff-]{2,63}$/iu

/** The domain part is lower-cased, the local part kept as typed. */
export function email() {
  return z
    .string()
    .trim()
    .min(1)
    .max(254)
    .refine((address) => EMAIL.test(address), 'This is not an e-mail address.')
    .meta({ format: 'email' })
    .transform((address) => {
      const at = address.lastIndexOf('@')
      return address.slice(0, at) + address.slice(at).toLowerCase()
    })
}

export function instant() {
  return z
    .string()
    .transform((value, context) => {
      const date = parseTimestamp(value)
      if (date) return date
      context.addIssue({ code: 'custom', message: 'This is not a date or an instant.' })
      return z.NEVER
    })
    .meta({ type: 'string', format: 'date-time' })
}

/** An object that is kept as it came, of at most `max_bytes` as JSON. */
export function smallObject({ max_bytes }: { max_bytes: number }) {
  return z
    .record(z.string(), z.unknown())
    .refine((value) => storedBytes(value) <= max_bytes, `This has more than ${max_bytes} bytes as JSON.`)
}

const LONGEST_NUMBER = '0'.repeat(330)

/** PostgreSQL writes numbers in full: 1e300 has seven bytes here and 301 there. */
export function storedBytes(value: unknown): number {
  const written = JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'number' && String(part).includes('e') ? LONGEST_NUMBER : part,
  )
  return Buffer.byteLength(written)
}

/** Answer side: instants leave as ISO 8601 text in UTC. */
export const timestamp = z.string().meta({ format: 'date-time' })
export const uuid = z.string().meta({ format: 'uuid' })
