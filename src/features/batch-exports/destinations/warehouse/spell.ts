// Values of JSON lines as the statements of digest-sql.ts spell them.
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

function spellFloat(value: number): string {
  if (Math.abs(value) < 1e12) return `${BigInt(Math.floor(value * 1_000_000 + 0.5))}e-6`
  return Math.abs(value) < 1e18 ? String(BigInt(Math.floor(value))) : 'huge'
}

/** To the second, then six digits. */
const INSTANT = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})\.(\d{6})Z$/

/** Whole microseconds since 1970. */
function spellTimestamp(text: string): string {
  const [, second, micros] = INSTANT.exec(text) ?? []
  // A year that has more digits; no warehouse takes it.
  if (second === undefined) return text
  return String(BigInt(Date.parse(`${second}Z`)) * 1000n + BigInt(micros!))
}

/** Keys in the order of their bytes, no blanks: as warehouses print JSON that they keep in a form of their own. */
export function sortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    .toSorted(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
    .map(([key, member]) => `${JSON.stringify(key)}:${sortedJson(member)}`)
  return `{${members.join(',')}}`
}
