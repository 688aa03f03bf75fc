// Values of JSON lines as the statements of digest-sql.ts spell them.
import { stringifyExactly } from '../../../../lib/exact-json.ts'
import type { ColumnKind } from '../../../../platform/event-store/export-rows.ts'

/** JSON is spelled by each warehouse in its own way. */
export function spellValue(kind: Exclude<ColumnKind, 'json'>, value: unknown): string {
  switch (kind) {
    case 'float':
      return spellFloat(Number(value))
    case 'timestamp':
      return spellTimestamp(String(value))
    default:
      return String(value)
  }
}

/** 2^60: larger than any whole part that is spelled out, and a whole number of 64 bits. */
export const FLOAT_UNIT = 2n ** 60n
const UNIT = Number(FLOAT_UNIT)

function spellFloat(value: number): string {
  const sign = value < 0 ? '-' : ''
  const size = Math.abs(value)
  const parts = (of: number) =>
    `${BigInt(Math.floor(of))}:${BigInt(Math.floor((of - Math.floor(of)) * UNIT))}`
  if (size < 1e18) return sign + parts(size)
  return sign + (size < 1e36 ? `${parts(size / UNIT)}u` : 'huge')
}

/** The float that was spelled so; null for what was not compared. */
export function readFloat(text: string): number | null {
  const [, sign, whole, rest, unit] = /^(-?)(\d+):(\d+)(u?)$/.exec(text) ?? []
  if (whole === undefined) return null
  const size = (Number(whole) + Number(rest) / UNIT) * (unit ? UNIT : 1)
  return sign ? -size : size
}

const INSTANT = /^(\d{4,6})(-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3})(\d{3})Z$/

/** Whole microseconds since 1970. Milliseconds that were taken for seconds give years of five digits. */
function spellTimestamp(text: string): string {
  const [, year, to_millis, below] = INSTANT.exec(text) ?? []
  if (year === undefined) return text
  const millis = Date.parse(`${year.length > 4 ? `+${year.padStart(6, '0')}` : year}${to_millis}Z`)
  if (Number.isNaN(millis)) return text
  const rest = Number(below)
  const micros = millis * 1000 + rest
  // Beyond three centuries around 1970 numbers are no longer exact.
  return String(Number.isSafeInteger(micros) ? micros : BigInt(millis) * 1000n + BigInt(rest))
}

/** Keys in the order of their bytes, no blanks: as warehouses print JSON that they keep in a form of their own. */
export function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return stringifyExactly(value)
  const members = Object.entries(value)
    .toSorted(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
    .map(([key, member]) => `${JSON.stringify(key)}:${sortedJson(member)}`)
  return `{${members.join(',')}}`
}
