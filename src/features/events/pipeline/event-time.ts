// When an event happened: what the client says, freed of the error of its clock.
import { withCalendarDate } from '../../../lib/iso-dates.ts'
import { parseMicros } from '../../../lib/microseconds.ts'

/** What was sent about the time, unread. All instants are microseconds since 1970. */
export type TimeFacts = {
  /** Arrival. */
  now: bigint
  timestamp: unknown
  /** When the client sent the request, by the same clock as `timestamp`. */
  sent_at: bigint | null
  /** Milliseconds before now; counts only without `timestamp`. */
  offset: unknown
  ignore_sent_at: boolean
}

const MAX_AHEAD = 23n * 3600n * 1_000_000n
const EARLIEST = parseMicros('0001-01-01T00:00:00Z')!
const LATEST = parseMicros('9999-12-31T23:59:59.999999Z')!
// Beyond it an offset is no number of milliseconds any clock has counted, and no BigInt can be made of fractions.
const MAX_OFFSET_MS = Number.MAX_SAFE_INTEGER / 1000
const FIRST_NUMBERED_MS = Date.UTC(1975, 0, 1)
const FIRST_SENT_MS = Date.UTC(2021, 0, 1)
const LAST_SENT_MS = Date.UTC(10_000, 0, 1) - 1

export function eventTime(facts: TimeFacts): bigint {
  const { now } = facts
  const raw = readTimestamp(facts.timestamp)
  const time = correctedTime(facts, raw)
  if (time <= now + MAX_AHEAD) return time >= EARLIEST ? time : now
  // A wrong `sent_at` can push a good timestamp into the future.
  return raw !== null && raw <= now + MAX_AHEAD ? raw : now
}

function correctedTime(
  { now, timestamp, sent_at, offset, ignore_sent_at }: TimeFacts,
  raw: bigint | null,
): bigint {
  if (raw !== null) return sent_at === null || ignore_sent_at ? raw : now + (raw - sent_at)
  if (isGiven(timestamp) || typeof offset !== 'number' || !(Math.abs(offset) < MAX_OFFSET_MS)) return now
  return now - BigInt(Math.round(offset * 1000))
}

/** Milliseconds since 1970 as text; null when that can be no time of sending. */
export function readSentMs(text: string | undefined): bigint | null {
  const ms = Number(text)
  return ms >= FIRST_SENT_MS && ms <= LAST_SENT_MS ? BigInt(Math.round(ms * 1000)) : null
}

function readTimestamp(value: unknown): bigint | null {
  return isNumberedTime(value) ? BigInt(Math.round(value * 1000)) : readInstant(value)
}

/** Milliseconds since 1970, as `Date.now()` has them. Seconds, which some clients count, are too few to be any. */
export function isNumberedTime(value: unknown): value is number {
  return typeof value === 'number' && value >= FIRST_NUMBERED_MS && value <= LAST_SENT_MS
}

/** ISO text of the years 1 to 9999, by week or day of the year too; null for everything else. */
export function readInstant(value: unknown): bigint | null {
  const micros = typeof value === 'string' ? (parseMicros(value) ?? parseOtherDate(value)) : null
  return micros !== null && micros >= EARLIEST && micros <= LATEST ? micros : null
}

function parseOtherDate(text: string): bigint | null {
  const calendar = withCalendarDate(text.trim())
  return calendar === null ? null : parseMicros(calendar)
}

function isGiven(timestamp: unknown): boolean {
  return timestamp !== undefined && timestamp !== null && timestamp !== ''
}
