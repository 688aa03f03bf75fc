// How times, numbers and sizes are written everywhere.

export type TimeStyle = 'minute' | 'second' | 'day'

const PARTS: Record<TimeStyle, Intl.DateTimeFormatOptions> = {
  day: { day: 'numeric', month: 'short' },
  minute: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  second: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' },
}
const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const counts = new Intl.NumberFormat('en')
const formats = new Map<string, Intl.DateTimeFormat>()

/** `16 Nov, 14:02`; with the year when it is not this one, and the zone when it is not the browser's. */
export function timeText(
  value: string,
  zone: string | undefined,
  style: TimeStyle,
  now = new Date(),
): string {
  const date = new Date(value)
  const isThisYear = date.getFullYear() === now.getFullYear()
  const isForeign = zone !== undefined && style !== 'day' && zone !== browserZone()
  return formatOf(zone, style, isThisYear, isForeign).format(date)
}

/** For hovering: in UTC, and how long ago. */
export function timeTitle(value: string, now = new Date()): string {
  return `${value.replace('T', ' ').replace(/(\.\d+)?(Z|\+00:00)$/, '')} UTC, ${agoText(value, now)}`
}

/** `3 minutes ago`, `in 2 hours`. */
export function agoText(value: string, now = new Date()): string {
  const seconds = Math.round((Date.parse(value) - now.getTime()) / 1000)
  const unit = UNITS.find(([, size]) => Math.abs(seconds) >= size)
  return unit ? relative.format(Math.trunc(seconds / unit[1]), unit[0]) : relative.format(seconds, 'second')
}

/** `4 min`, `2 h 5 min`, `3 d`: how long something took or is behind. */
export function durationText(seconds: number): string {
  if (seconds < 1) return `${Math.max(0, Math.round(seconds * 1000))} ms`
  if (seconds < 60) return `${Math.round(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return `${Math.floor(hours / 24)} d`
}

export const countText = (value: number): string => counts.format(value)

/** `1 run`, `2 runs`. */
export const countOf = (value: number, noun: string): string =>
  `${countText(value)} ${value === 1 ? noun : `${noun}s`}`

export function bytesText(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let size = value
  let unit = 0
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000
    unit += 1
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`
}

function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

function formatOf(zone: string | undefined, style: TimeStyle, isThisYear: boolean, isForeign: boolean) {
  const key = `${zone} ${style} ${isThisYear} ${isForeign}`
  let format = formats.get(key)
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      ...PARTS[style],
      ...(isThisYear ? {} : { year: 'numeric' }),
      ...(isForeign ? { timeZoneName: 'short' } : {}),
      ...(zone === undefined ? {} : { timeZone: zone }),
      hourCycle: 'h23',
    })
    formats.set(key, format)
  }
  return format
}
