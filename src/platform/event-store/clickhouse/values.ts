// From ClickHouse's values, as its JSON has them, to those of the API.
import { parseMicros } from '../../../lib/microseconds.ts'
import type { StoreValue } from '../event-store.ts'
import { zonedText } from '../zoned-time.ts'

export type Read = (value: unknown) => StoreValue

/** What an answer calls the type: whether a value may be missing is of no interest, and how texts are stored neither. */
export function shownType(type: string, timezone: string): string {
  const inner = /^(?:Nullable|LowCardinality)\((.+)\)$/s.exec(type)?.[1]
  if (inner !== undefined) return inner === 'Nothing' ? 'Nullable(Nothing)' : shownType(inner, timezone)
  const array = /^Array\((.+)\)$/s.exec(type)?.[1]
  if (array !== undefined) return `Array(${shownType(array, timezone)})`
  const tuple = /^Tuple\((.+)\)$/s.exec(type)?.[1]
  if (tuple !== undefined)
    return `Tuple(${partsOf(tuple)
      .map((part) => shownType(part, timezone))
      .join(', ')})`
  return isTime(type) ? `DateTime64(6, '${timezone}')` : type
}

/** Made once for a column. Times come in ISO 8601, 64-bit integers as text. */
export function reader(type: string, timezone: string): Read {
  const inner = /^(?:Nullable|LowCardinality)\((.+)\)$/s.exec(type)?.[1]
  if (inner !== undefined) return reader(inner, timezone)
  const array = /^Array\((.+)\)$/s.exec(type)?.[1]
  if (array !== undefined) {
    const item = reader(array, timezone)
    return orNull((value) => (value as unknown[]).map(item))
  }
  const tuple = /^Tuple\((.+)\)$/s.exec(type)?.[1]
  if (tuple !== undefined) {
    const parts = partsOf(tuple).map((part) => reader(part, timezone))
    return orNull((value) => Object.values(value as object).map((part, index) => parts[index]!(part)))
  }
  if (isTime(type)) return orNull((value) => timeOf(String(value), timezone))
  if (/^U?Int(?:64|128|256)$/.test(type)) return orNull(integerOf)
  if (type.startsWith('Decimal')) return orNull(Number)
  if (type.startsWith('Map(')) return orNull((value) => JSON.stringify(value))
  return (value) => value as StoreValue
}

function orNull(read: Read): Read {
  return (value) => (value === null || value === undefined ? null : read(value))
}

const isTime = (type: string) => /^DateTime(?:64)?(?:\(|$)/.test(type)

function timeOf(text: string, timezone: string): string {
  const micros = parseMicros(text)
  return micros === null ? text : zonedText(micros, timezone)
}

function integerOf(value: unknown): StoreValue {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

/** The types within a tuple's brackets, without the names that its parts may have. */
function partsOf(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let part = ''
  for (const letter of text) {
    if (letter === '(') depth++
    if (letter === ')') depth--
    if (letter === ',' && depth === 0) {
      parts.push(part)
      part = ''
    } else part += letter
  }
  return [...parts, part].map((each) => each.trim().replace(/^(?:`[^`]*`|\w+) (?=[A-Z])/, ''))
}
