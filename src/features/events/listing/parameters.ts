// Reading the listing's parameters. One that is there but empty counts as absent; given twice, the last one holds.
import { isUuid } from '../../../lib/uuid.ts'
import { formatMicros, parseMicros } from '../../../lib/microseconds.ts'
import { parseMoment } from '../../../lib/relative-time.ts'
import { invalid, notFound } from '../../../platform/http/errors.ts'
import type { RequestFacts } from '../../../platform/http/route.ts'
import { EARLIEST, LATEST, type Bound, type Direction, type Range } from './window.ts'

export type GivenQuery = Readonly<Record<string, unknown>>
export type Format = 'json' | 'csv'

/** Relative times are told by it. */
export type Clock = { now: Date; timezone: string }

const MAX_LIMIT = 50_000
const MAX_OFFSET = 100_000
/** Clocks of clients run ahead a little; what lies further in the future is hidden unless asked for. */
const AHEAD_MICROS = 5_000_000n

export function allTexts(query: GivenQuery, name: string): string[] {
  const value = Object.hasOwn(query, name) ? query[name] : undefined
  return [value].flat().filter((text): text is string => typeof text === 'string' && text !== '')
}

export function lastText(query: GivenQuery, name: string): string | null {
  const value = Object.hasOwn(query, name) ? query[name] : undefined
  const last = Array.isArray(value) ? value.at(-1) : value
  return typeof last === 'string' && last !== '' ? last : null
}

/** The suffix of the path rules, then `format`, then the Accept header. */
export function readFormat(
  query: GivenQuery,
  headers: RequestFacts['headers'],
  suffix: Format | null,
): Format {
  const given = lastText(query, 'format')
  if (given !== null && given !== 'json' && given !== 'csv')
    throw notFound('There is no such format: choose json or csv.')
  return suffix ?? given ?? (prefersCsv([headers.accept ?? ''].flat().join(',')) ? 'csv' : 'json')
}

function prefersCsv(accept: string): boolean {
  const weights = new Map(accept.split(',').map(readMediaRange))
  const csv = weights.get('text/csv') ?? 0
  return csv > 0 && csv > (weights.get('application/json') ?? weights.get('application/*') ?? 0)
}

function readMediaRange(text: string): [string, number] {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  return [type, weight === undefined ? 1 : Number(weight) || 0]
}

export function readLimit(query: GivenQuery, fallback: number): number {
  const limit = readWhole(query, 'limit') ?? fallback
  if (limit < 1) throw invalid('limit', 'invalid_input', 'The limit must be 1 or more.')
  return Math.min(limit, MAX_LIMIT)
}

/** Rows of values have no place to go on from, so all before the offset are computed again for each page. */
export function assertNearOffset(offset: number): void {
  if (offset <= MAX_OFFSET) return
  const detail = `With \`select\` the largest offset is ${MAX_OFFSET}: narrow the time range instead.`
  throw invalid('offset', 'invalid_input', detail)
}

export function readOffset(query: GivenQuery): number {
  const offset = readWhole(query, 'offset') ?? 0
  if (Number.isSafeInteger(offset)) return offset
  throw invalid('offset', 'invalid_input', 'This offset is too large.')
}

const NOT_ASKED = new Set(['limit', 'offset', 'format', 'personal_api_key'])

/** All parameters that decide which events are listed, and in which order. */
export function questionIn(query: GivenQuery): unknown[] {
  return Object.entries(query)
    .filter(([name]) => !NOT_ASKED.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

function readWhole(query: GivenQuery, name: string): number | null {
  const text = lastText(query, name)
  if (text === null) return null
  if (!/^\s*\d{1,300}\s*$/.test(text))
    throw invalid(name, 'invalid_input', 'A whole number is expected here.')
  return Number(text)
}

export function readRange(query: GivenQuery, clock: Clock): Range {
  const after = readBound(query, 'after', clock)
  const before = readBound(query, 'before', clock)
  return { after, before: before ?? { micros: defaultBefore(clock.now), id: null } }
}

function readBound(query: GivenQuery, name: 'after' | 'before', clock: Clock): Bound | null {
  const text = lastText(query, name)
  if (text === null) return null
  const micros = readMicros(text, name, clock)
  const id = lastText(query, `${name}_id`)
  if (id !== null && !isUuid(id))
    throw invalid(`${name}_id`, 'invalid_input', 'This is not the id of an event.')
  return { micros, id }
}

export function readMicros(text: string, attr: string, { now, timezone }: Clock): bigint {
  const micros = parseMoment(text, now, timezone)
  if (micros !== null && micros >= EARLIEST && micros <= LATEST) return micros
  throw invalid(attr, 'invalid_input', 'This is neither an instant nor a relative time such as -7d.')
}

export function defaultBefore(now: Date): bigint {
  return BigInt(now.getTime()) * 1000n + AHEAD_MICROS
}

/** Ends told relative to now, as the instants they meant: a link to the next page must not mean other ones later. */
export function fixedEnds(query: GivenQuery, { after, before }: Range): Record<string, string> {
  const ends = Object.entries({ after, before }).flatMap(([name, bound]) => {
    const text = lastText(query, name)
    const isRelative = text !== null && parseMicros(text) === null
    return isRelative && bound ? [[name, formatMicros(bound.micros)]] : []
  })
  return Object.fromEntries(ends)
}

const DIRECTIONS = new Map<string, Direction>([
  ['-timestamp', 'newest_first'],
  ['timestamp', 'oldest_first'],
])

/** `["-timestamp"]` or `["timestamp"]`. */
export function readDirection(query: GivenQuery): Direction {
  const names = readOrder(query)
  if (names.length === 0) return 'newest_first'
  const direction = names.length === 1 ? DIRECTIONS.get(names[0]!) : undefined
  if (direction !== undefined) return direction
  throw invalid('orderBy', 'invalid_input', 'Without `select` events can be ordered by timestamp only.')
}

/** A JSON list; these two are taken without the JSON around them, too. */
export function readOrder(query: GivenQuery): string[] {
  const text = lastText(query, 'orderBy')
  return text !== null && DIRECTIONS.has(text) ? [text] : (readTexts(query, 'orderBy') ?? [])
}

/** A JSON list of texts; null when absent. */
export function readTexts(query: GivenQuery, name: string): string[] | null {
  const text = lastText(query, name)
  if (text === null) return null
  const list = parseJson(text)
  if (Array.isArray(list) && list.every((item) => typeof item === 'string')) return list
  throw invalid(name, 'invalid_input', 'A JSON list of texts is expected here.')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
