// Reading instants the way API clients write them.

const FORM =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s*(Z|z|[+-]\d{2}(?::?\d{2})?)?$/

/** ISO 8601 with or without time, seconds, fraction and zone; no zone means UTC. Null when it is no real instant. */
export function parseTimestamp(text: string): Date | null {
  const match = FORM.exec(text.trim())
  if (!match) return null
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = match
  const date = new Date(0)
  // Not Date.UTC: it takes the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(+year!, +month! - 1, +day!)
  date.setUTCHours(+hour, +minute, +second, +fraction.padEnd(3, '0').slice(0, 3))
  // Date rolls 30 February over into March and 24:61 into the next hour: both are typing errors, not instants.
  const rolledOver =
    date.getUTCMonth() !== +month! - 1 ||
    date.getUTCDate() !== +day! ||
    +hour > 23 ||
    +minute > 59 ||
    +second > 59
  const offset_ms = zoneOffsetMs(zone)
  if (rolledOver || +year! < 1 || offset_ms === null) return null
  const instant = new Date(date.getTime() - offset_ms)
  // The zone may carry it beyond what four digits of a year can say.
  return instant.getUTCFullYear() > 9999 || instant.getUTCFullYear() < 1 ? null : instant
}

/** Null for an offset that no clock shows. */
function zoneOffsetMs(zone: string): number | null {
  if (zone === 'Z' || zone === 'z') return 0
  const sign = zone.startsWith('-') ? -1 : 1
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0')
  const [hours, minutes] = [+digits.slice(0, 2), +digits.slice(2)]
  return hours > 23 || minutes > 59 ? null : sign * (hours * 60 + minutes) * 60_000
}
