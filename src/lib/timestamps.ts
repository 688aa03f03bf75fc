// Reading instants the way API clients write them.

const FORM =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s*(Z|z|[+-]\d{2}(?::?\d{2})?)?$/

/** ISO 8601 with or without time, seconds, fraction and zone; no zone means UTC. Null when it is no real instant. */
export function parseTimestamp(text: string): Date | null {
  const match = FORM.exec(text.trim())
  if (!match) return null
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = match
  const ms = Number(`0.${fraction || '0'}`) * 1000
  const utc = Date.UTC(+year!, +month! - 1, +day!, +hour, +minute, +second, Math.trunc(ms))
  const date = new Date(utc)
  // Date.UTC rolls 30 February over into March and 24:61 into the next hour: both are typing errors, not instants.
  const rolledOver =
    date.getUTCMonth() !== +month! - 1 ||
    date.getUTCDate() !== +day! ||
    +hour > 23 ||
    +minute > 59 ||
    +second > 59
  if (rolledOver || +year! < 1) return null
  return new Date(utc - zoneOffsetMs(zone))
}

function zoneOffsetMs(zone: string): number {
  if (zone === 'Z' || zone === 'z') return 0
  const sign = zone.startsWith('-') ? -1 : 1
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0')
  return sign * (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2))) * 60_000
}
