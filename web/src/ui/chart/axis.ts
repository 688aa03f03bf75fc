// What stands at the axes of a chart.
import { timeText } from '../format'

const MINUTE_S = 60
const DAY_S = 86_400
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 })
const plain = new Intl.NumberFormat('en', { maximumFractionDigits: 6 })
const formats = new Map<string, Intl.DateTimeFormat>()

/** One text for each tick, in seconds since 1970, so many seconds apart. Midnight is told by its day. */
export function tickTexts(ticks: readonly number[], step: number, zone: string | undefined): string[] {
  return ticks.map((tick) => {
    const date = new Date(tick * 1000)
    if (step >= 300 * DAY_S) return formatted(zone, 'year', date)
    if (step >= 25 * DAY_S) return formatted(zone, 'month', date)
    if (step >= DAY_S) return formatted(zone, 'day', date)
    const clock = formatted(zone, step >= MINUTE_S ? 'minute' : 'second', date)
    return /^00:00(:00)?$/.test(clock) ? formatted(zone, 'day', date) : clock
  })
}

export const numberTick = (value: number): string =>
  Math.abs(value) >= 10_000 ? compact.format(value) : plain.format(value)

/** One point of the bottom axis, told in full. */
export function pointText(value: number, kind: 'time' | 'day' | 'number', zone: string | undefined): string {
  if (kind === 'number') return plain.format(value)
  const style = kind === 'day' ? 'day' : value % 60_000 === 0 ? 'minute' : 'second'
  return timeText(new Date(value).toISOString(), zone, style)
}

const PARTS = {
  year: { year: 'numeric' },
  month: { month: 'short', year: 'numeric' },
  day: { day: 'numeric', month: 'short' },
  minute: { hour: '2-digit', minute: '2-digit' },
  second: { hour: '2-digit', minute: '2-digit', second: '2-digit' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>

function formatted(zone: string | undefined, parts: keyof typeof PARTS, date: Date): string {
  const key = `${zone} ${parts}`
  let format = formats.get(key)
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      ...PARTS[parts],
      hourCycle: 'h23',
      ...(zone === undefined ? {} : { timeZone: zone }),
    })
    formats.set(key, format)
  }
  return format.format(date)
}
