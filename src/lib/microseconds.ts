// Instants as microseconds since 1970: finer than a Date can hold, as clients send them and stores keep them.
import { parseTimestamp } from './timestamps.ts'

const MICROS_PER_SECOND = 1_000_000n
// No instant is longer; the patterns below would take their time over a long run of blanks.
const MAX_LENGTH = 64
const PLAIN_LENGTH = '2024-06-01T10:00:00.000Z'.length

/**
 * What `parseTimestamp` reads, to the microsecond (finer digits are dropped), and what else clients write: a small `t`,
 * `UTC` or `GMT` for the zone, and an offset whose `+` a form turned into a space. Null when it is no real instant.
 */
export function parseMicros(text: string): bigint | null {
  if (text.length > MAX_LENGTH) return null
  return parsePlain(text) ?? parseLenient(text)
}

/** As JavaScript writes instants and nearly all clients send them: three times as fast. Null for any other form. */
function parsePlain(text: string): bigint | null {
  if (text.length !== PLAIN_LENGTH || text.startsWith('0000')) return null
  const ms = Date.parse(text)
  return !Number.isNaN(ms) && new Date(ms).toISOString() === text ? BigInt(ms) * 1000n : null
}

function parseLenient(text: string): bigint | null {
  const usual = text
    .trim()
    .replace(/^([\d-]{10})t/, '$1T')
    .replace(/\s*(?:UTC|GMT)$/i, 'Z')
    .replace(/^(.+:\d\d(?:[.,]\d+)?) (\d\d:?\d\d)$/, '$1+$2')
  const date = parseTimestamp(usual)
  if (date === null) return null
  const fraction = /[.,](\d+)/.exec(usual)?.[1] ?? ''
  return BigInt(date.getTime()) * 1000n + BigInt(fraction.slice(3, 6).padEnd(3, '0'))
}

/** ISO 8601 in UTC with `Z`; the fraction has six digits and is left out when it is zero. */
export function formatMicros(micros: bigint): string {
  const fraction = ((micros % MICROS_PER_SECOND) + MICROS_PER_SECOND) % MICROS_PER_SECOND
  const seconds = (micros - fraction) / MICROS_PER_SECOND
  const whole = new Date(Number(seconds) * 1000).toISOString().replace('.000Z', '')
  return fraction === 0n ? `${whole}Z` : `${whole}.${String(fraction).padStart(6, '0')}Z`
}
