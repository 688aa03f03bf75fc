// When a zone's clocks show what: offsets from the time-zone database that Node carries.

const DAY_MS = 86_400_000

// Making one costs fifty times as much as asking it.
const formats = new Map<string, Intl.DateTimeFormat>()

/** How far the zone's clocks are ahead of UTC. */
export function offsetMs(instant_ms: number, timezone: string): number {
  if (timezone === 'UTC') return 0
  const name = formatOf(timezone)
    .formatToParts(instant_ms)
    .find(({ type }) => type === 'timeZoneName')?.value
  const [, sign, hours = '0', minutes = '0', seconds = '0'] =
    /([+-])(\d+)(?::(\d+))?(?::(\d+))?/.exec(name ?? '') ?? []
  const offset_ms = (+hours * 3600 + +minutes * 60 + +seconds) * 1000
  return sign === '-' ? -offset_ms : offset_ms
}

/**
 * The instant at which the zone's clocks show a time, given as if it were UTC. A time that comes twice, when clocks are
 * set back, is the first of the two; one that never comes, when they are set forward, is as much later as they were
 * moved. A day later is never an earlier instant.
 */
export function instantOfLocal(local_ms: number, timezone: string): number {
  // No zone is a day away from UTC, so these are the offsets on either side of whatever change there is.
  const before_ms = offsetMs(local_ms - DAY_MS, timezone)
  const after_ms = offsetMs(local_ms + DAY_MS, timezone)
  const earlier = local_ms - before_ms
  if (before_ms === after_ms || offsetMs(earlier, timezone) === before_ms) return earlier
  const later = local_ms - after_ms
  return offsetMs(later, timezone) === after_ms ? later : earlier
}

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' })
  formats.set(timezone, format)
  return format
}
