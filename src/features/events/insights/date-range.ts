// The range of time that an insight is about. Dates without a zone are those of the project's; a day that is named alone
// is meant whole.
import type { Expr } from '../../../hogql/ast.ts'
import { parseMicros } from '../../../lib/microseconds.ts'
import { parseMoment } from '../../../lib/relative-time.ts'
import { instantOfLocal } from '../../../lib/time-zone.ts'
import { invalid } from '../../../platform/http/errors.ts'
import { runQuery, type AskedProject, type Asking } from '../run-query.ts'
import { allOf, call, compare, eventField, moment } from '../tree.ts'
import { clockOf, moved, startOf, type Interval } from './intervals.ts'

/** Instants in milliseconds; `to` is no longer part of it. */
export type Range = { from: number; to: number }
type Given = { date_from?: string | null | undefined; date_to?: string | null | undefined } | null | undefined
type Clock = { now: Date; timezone: string }

const BY_CLOCK = /^-?\d*[hM]/
const RELATIVE = /^-?\d{0,5}[hdwmqyM](Start|End)?$/
const DATE_ONLY = /^\d{4}-\d{2}-\d{2}$/
const WITH_ZONE = /(?:[zZ]|UTC|GMT|[+-]\d{2}:?\d{2})$/
const COMPARED = /^-(\d{1,4})([hdwmy])$/
const UNITS = { h: 'hour', d: 'day', w: 'week', m: 'month', y: 'year' } as const
/** PostHog's word for everything there is. */
const ALL = 'all'

export async function readRange(
  services: Asking,
  project: AskedProject,
  given: Given,
  interval: Interval,
): Promise<Range> {
  const clock = { now: services.now(), timezone: project.timezone }
  const to = readEnd(given?.date_to, interval, clock)
  const from =
    given?.date_from === ALL
      ? await firstEvent(services, project, to)
      : readStart(given?.date_from || '-7d', 'dateRange__date_from', clock)
  if (from < to) return { from, to }
  throw invalid('dateRange', 'invalid_input', 'The range ends before it begins.')
}

function readStart(text: string, attr: string, clock: Clock): number {
  const instant = readInstant(text.trim(), attr, clock)
  const isDay = RELATIVE.test(text.trim()) && !/Start|End/.test(text) && !BY_CLOCK.test(text.trim())
  return isDay ? dayStart(instant, clock.timezone) : instant
}

/** Where a range ends: the end of the day unless told otherwise. */
export function readEnd(text: string | null | undefined, interval: Interval, clock: Clock): number {
  const attr = 'dateRange__date_to'
  const { now, timezone } = clock
  if (!text || text === ALL) {
    const clock_ms = clockOf(now.getTime(), timezone)
    // An hour that comes twice is not told apart by the clock.
    if (interval === 'hour') return now.getTime() + moved('hour', 1, startOf('hour', clock_ms)) - clock_ms
    return nextDay(now.getTime(), timezone)
  }
  const given = text.trim()
  const instant = readInstant(given, attr, clock)
  const isDay =
    DATE_ONLY.test(given) || (RELATIVE.test(given) && !/Start|End/.test(given) && !BY_CLOCK.test(given))
  return isDay ? nextDay(instant, timezone) : instant + 1
}

function readInstant(text: string, attr: string, { now, timezone }: Clock): number {
  const micros = RELATIVE.test(text) ? parseMoment(text, now, timezone) : parseMicros(text)
  if (micros === null) {
    throw invalid(attr, 'invalid_input', 'This is neither a date nor a distance into the past such as -7d.')
  }
  const ms = Number(micros / 1000n)
  return RELATIVE.test(text) || WITH_ZONE.test(text) ? ms : instantOfLocal(ms, timezone)
}

const dayStart = (instant_ms: number, timezone: string) =>
  instantOfLocal(startOf('day', clockOf(instant_ms, timezone)), timezone)

const nextDay = (instant_ms: number, timezone: string) =>
  instantOfLocal(moved('day', 1, startOf('day', clockOf(instant_ms, timezone))), timezone)

/** The range before this one, as long as it, or moved by `-1m` and its like. */
export function comparedRange(
  { from, to }: Range,
  compare_to: string | null | undefined,
  timezone: string,
): Range {
  const [first, last] = [clockOf(from, timezone), clockOf(to, timezone)]
  if (!compare_to) return { from: instantOfLocal(first - (last - first), timezone), to: from }
  const [, count, unit] = COMPARED.exec(compare_to) ?? []
  if (unit === undefined) {
    throw invalid(
      'compareFilter__compare_to',
      'invalid_input',
      'This is no distance such as -7d, -1w or -1m.',
    )
  }
  const back = (clock_ms: number) =>
    instantOfLocal(moved(UNITS[unit as keyof typeof UNITS], -Number(count), clock_ms), timezone)
  return { from: back(first), to: back(last) }
}

export const within = ({ from, to }: Range): Expr =>
  allOf([
    compare(eventField('timestamp'), '>=', instant(from)),
    compare(eventField('timestamp'), '<', instant(to)),
  ])!

export const instant = (ms: number) => moment(BigInt(ms) * 1000n)

/** From the day of the first event on; without one, just the day of the end. */
async function firstEvent(services: Asking, project: AskedProject, to: number): Promise<number> {
  const { rows } = await runQuery(services, project, {
    query: {
      node: 'SelectQuery',
      select: [call('min', eventField('timestamp'))],
      select_from: { node: 'JoinExpr', table: { node: 'Field', chain: ['events'] } },
      where: compare(eventField('timestamp'), '<', instant(to)),
    },
    timezone: 'UTC',
    max_rows: 1,
  })
  const first = rows[0]?.[0]
  return dayStart(typeof first === 'string' ? Date.parse(first) : to - 1, project.timezone)
}
