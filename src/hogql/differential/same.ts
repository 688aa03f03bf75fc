// When two engines' answers are the same to a client.
import type { Answer } from './cases.ts'

type Family = string

/** Widths of numbers, precisions of times and whether NULL is possible are left out. */
export function familyOf(type: string): Family {
  const [, outer, inner = ''] = /^(\w+)(?:\((.*)\))?$/s.exec(type) ?? []
  if (outer === 'Nullable' || outer === 'LowCardinality') return familyOf(inner)
  if (outer === 'Array') return `array of ${familyOf(inner)}`
  if (outer === 'Tuple') return `(${partsOf(inner).map(familyOf).join(', ')})`
  if (/^U?Int\d+$/.test(type)) return 'integer'
  if (/^(Float\d+|Decimal)/.test(type)) return 'float'
  if (outer === 'Enum8' || outer === 'FixedString') return 'String'
  if (type.startsWith('DateTime')) return 'datetime'
  return type.startsWith('Date') ? 'date' : type
}

/** `Int64, Array(String)` taken apart. */
export function partsOf(list: string): string[] {
  const parts = ['']
  let depth = 0
  for (const letter of list) {
    if (letter === '(') depth++
    if (letter === ')') depth--
    if (letter === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += letter
  }
  return parts.map((part) => part.trim())
}

/** ClickHouse says 1 and 0 for conditions, and has a type for what is always NULL. */
function isSameType(ours: string, theirs: string): boolean {
  const asOne = (type: string) => familyOf(type).replaceAll(/\bBool\b/g, 'integer')
  return theirs.includes('Nothing') || ours.includes('Nothing') || asOne(ours) === asOne(theirs)
}

const isClose = (left: number, right: number) =>
  left === right || Math.abs(left - right) <= 1e-12 * Math.max(Math.abs(left), Math.abs(right))

/** `2024-03-10T14:35:27.5+01:00`, as the API tells instants, … */
const INSTANT = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/
/** … and `2024-03-10 14:35:27.500000`, as ClickHouse does by the clock of the zone in the type. */
const CLOCK = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?$/

function isSameInstant(ours: string, theirs: string, zone: string): boolean {
  const [, day = '', time = '', fraction = '', offset = ''] = INSTANT.exec(ours) ?? []
  const clock = new Date(`${day}T${time}${offset}`).toLocaleString('sv', { timeZone: zone })
  return withoutZeros(`${clock}${fraction}`) === withoutZeros(theirs)
}
const withoutZeros = (text: string) => text.replace(/(\.\d*?)0*$/, '$1').replace(/\.$/, '')

function isSameValue(ours: unknown, theirs: unknown, zone: string): boolean {
  if (Array.isArray(ours) && Array.isArray(theirs))
    return (
      ours.length === theirs.length && ours.every((item, index) => isSameValue(item, theirs[index], zone))
    )
  if (typeof ours === 'number' && typeof theirs === 'number') return isClose(ours, theirs)
  if (typeof ours === 'boolean' && typeof theirs === 'number') return Number(ours) === theirs
  if (typeof ours === 'string' && typeof theirs === 'number') return Number(ours) === theirs
  if (typeof ours === 'string' && typeof theirs === 'string' && INSTANT.test(ours) && CLOCK.test(theirs))
    return isSameInstant(ours, theirs, zone)
  return ours === theirs
}

const zoneIn = (type: string) => /DateTime.*?'([^']+)'/.exec(type)?.[1] ?? 'UTC'

export function isSame(ours: Answer, theirs: Answer): boolean {
  if ('error' in ours || 'error' in theirs) return false
  if (!ours.types.every((type, index) => isSameType(type, theirs.types[index] ?? ''))) return false
  const isSameRow = (row: readonly unknown[], other: readonly unknown[] = []) =>
    row.length === other.length &&
    row.every((value, index) => isSameValue(value, other[index], zoneIn(theirs.types[index] ?? '')))
  return (
    ours.rows.length === theirs.rows.length &&
    ours.rows.every((row, index) => isSameRow(row, theirs.rows[index]))
  )
}
