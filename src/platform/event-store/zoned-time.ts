// Instants as ISO 8601 text in a time zone, to the microsecond.
import { formatMicros } from '../../lib/microseconds.ts'

const MICROS_PER_MINUTE = 60_000_000n
// Every change of a zone's offset known to the time-zone database happens on a quarter of an hour.
const MICROS_PER_QUARTER = 15n * MICROS_PER_MINUTE
const MAX_KNOWN_OFFSETS = 100_000

const offsets = new Map<string, number>()
const formats = new Map<string, Intl.DateTimeFormat>()

/** `2024-06-01T12:00:00.123456+02:00`; in UTC the offset is written `Z`. */
export function zonedText(micros: bigint, timezone: string): string {
  const offset = timezone === 'UTC' ? 0 : offsetMinutes(micros, timezone)
  if (offset === 0) return formatMicros(micros)
  const local = formatMicros(micros + BigInt(offset) * MICROS_PER_MINUTE).slice(0, -1)
  const [sign, minutes] = offset < 0 ? ['-', -offset] : ['+', offset]
  return `${local}${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

function offsetMinutes(micros: bigint, timezone: string): number {
  const quarter = micros / MICROS_PER_QUARTER
  const name = `${timezone} ${quarter}`
  const known = offsets.get(name)
  if (known !== undefined) return known
  if (offsets.size >= MAX_KNOWN_OFFSETS) offsets.clear()
  const offset = readOffset(Number((quarter * MICROS_PER_QUARTER) / 1000n), timezone)
  offsets.set(name, offset)
  return offset
}

function readOffset(ms: number, timezone: string): number {
  const format =
    formats.get(timezone) ?? new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' })
  formats.set(timezone, format)
  const text = format.formatToParts(ms).find((part) => part.type === 'timeZoneName')!.value
  const [, sign, hours, minutes] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(text) ?? []
  if (sign === undefined) return 0
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}

function two(number: number): string {
  return String(number).padStart(2, '0')
}
