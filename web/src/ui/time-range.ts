// Ranges of time as addresses and the API name them: `-24h`, `dStart`, or an instant in ISO 8601.
import { timeText } from './format'

export type Range = { after?: string; before?: string }

export const PRESETS: readonly { label: string; after: string }[] = [
  { label: 'Last 15 minutes', after: '-15M' },
  { label: 'Last hour', after: '-1h' },
  { label: 'Last 24 hours', after: '-24h' },
  { label: 'Today', after: 'dStart' },
  { label: 'Last 7 days', after: '-7d' },
  { label: 'Last 30 days', after: '-30d' },
  { label: 'Last 90 days', after: '-90d' },
]

/** `Last 24 hours`, `16 Nov, 14:00 to 17 Nov, 14:00`, `any` when there is no bound. */
export function rangeText({ after, before }: Range, zone: string | undefined, any = 'Any time'): string {
  if (after === undefined && before === undefined) return any
  const preset = PRESETS.find((each) => each.after === after)
  if (before === undefined) return preset?.label ?? `Since ${momentText(after!, zone)}`
  if (after === undefined) return `Until ${momentText(before, zone)}`
  return `${momentText(after, zone)} to ${momentText(before, zone)}`
}

function momentText(moment: string, zone: string | undefined): string {
  return isInstant(moment) ? timeText(moment, zone, 'minute') : moment
}

export const isInstant = (moment: string | undefined): moment is string =>
  moment !== undefined && !Number.isNaN(Date.parse(moment)) && /^\d{4}-/.test(moment)

/** What a clock in the zone shows, as a field for dates and times takes it: `2026-11-16T14:02`. */
export function wallClock(instant: string, zone: string | undefined): string {
  const parts = new Intl.DateTimeFormat('en-GB', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(zone === undefined ? {} : { timeZone: zone }),
  }).formatToParts(new Date(instant))
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((each) => each.type === type)!.value
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}`
}

/** The instant at which a clock in the zone shows this. Where clocks are put forward the time after the gap is taken. */
export function instantOf(wall: string, zone: string | undefined): string | null {
  const wanted = Date.parse(`${wall}Z`)
  if (Number.isNaN(wanted)) return null
  // Twice, because the offset may differ between the first guess and the instant itself.
  let guess = wanted
  for (let turn = 0; turn < 2; turn += 1) {
    const shown = Date.parse(`${wallClock(new Date(guess).toISOString(), zone)}Z`)
    guess += wanted - shown
  }
  return new Date(guess).toISOString()
}
