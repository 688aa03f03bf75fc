// Instants as microseconds since 1970: finer than a Date can hold, as clients send them and stores keep them.
import { parseTimestamp } from './timestamps.ts'

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
  const { ms, rest } = inMilliseconds(micros)
  const text = new Date(ms).toISOString()
  if (rest === 0 && text.endsWith('.000Z')) return text.replace('.000Z', 'Z')
  return `${text.slice(0, -1)}${String(rest).padStart(3, '0')}Z`
}

/** Plain numbers take a tenth of the time, and are exact up to the year 2255. */
function inMilliseconds(micros: bigint): { ms: number; rest: number } {
  const number = Number(micros)
  if (Number.isSafeInteger(number)) {
    const ms = Math.floor(number / 1000)
    return { ms, rest: number - ms * 1000 }
  }
  const rest = ((micros % 1000n) + 1000n) % 1000n
  return { ms: Number((micros - rest) / 1000n), rest: Number(rest) }
}
