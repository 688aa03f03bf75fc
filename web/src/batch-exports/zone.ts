// Local times of a zone, as fields of forms hold them, and the instants they stand for. Pure.

const formats = new Map<string, Intl.DateTimeFormat>()

export type LocalParts = { year: number; month: number; day: number; hour: number; minute: number }

/** What clocks in the zone show at an instant. */
export function partsIn(instant: string | number, zone: string): LocalParts {
  let format = formats.get(zone)
  if (!format) {
    format = new Intl.DateTimeFormat('en', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    })
    formats.set(zone, format)
  }
  const parts = Object.fromEntries(
    format.formatToParts(new Date(instant)).map(({ type, value }) => [type, Number(value)]),
  )
  return parts as LocalParts
}

const two = (part: number) => String(part).padStart(2, '0')

/** `2026-11-17T14:02`, as `<input type="datetime-local">` has it. */
export function localText(instant: string, zone: string): string {
  const { year, month, day, hour, minute } = partsIn(instant, zone)
  return `${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}`
}

/** The instant of a local text; null for what is none. In the hour that a zone leaves out, the hour after it. */
export function instantOf(text: string, zone: string): string | null {
  const asUtc = Date.parse(`${text}Z`)
  if (Number.isNaN(asUtc)) return null
  const offsetAt = (instant: number) => {
    const { year, month, day, hour, minute } = partsIn(instant, zone)
    return Date.UTC(year, month - 1, day, hour, minute) - Math.floor(instant / 60_000) * 60_000
  }
  const guess = asUtc - offsetAt(asUtc)
  // Near a change of the clocks the offset at the guess is the right one.
  return new Date(asUtc - offsetAt(guess)).toISOString()
}
