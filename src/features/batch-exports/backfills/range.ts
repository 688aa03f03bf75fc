// The range that a backfill or a repair is asked for: what a request may say.
import { isObject } from '../../../lib/json-object.ts'
import { parseTimestamp } from '../../../lib/timestamps.ts'
import { invalid } from '../../../platform/http/errors.ts'
import type { ExportRow } from '../rows.ts'
import { boundaryAfter, boundaryAtOrBefore } from '../schedule/grid.ts'
import { instantOfLocal, offsetMs } from '../../../lib/time-zone.ts'
import type { BackfillRange } from './plan.ts'

/** Destinations that a backfill may feed until it has caught up. */
const OPEN_ENDED = new Set(['HTTP', 'NoOp'])
const BARE_DATE = /^\s*\d{4}-\d{2}-\d{2}\s*$/
const WITH_ZONE = /(?:z|[+-]\d{2}(?::?\d{2})?)\s*$/i
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

export function readBackfillRange(body: unknown, row: ExportRow, now: Date): BackfillRange {
  const range = readRange(body, row, now)
  if (range.end_at || OPEN_ENDED.has(row.destination_type)) return range
  throw invalid(
    'end_at',
    'required',
    `An export to ${row.destination_type} needs an end_at for its backfills.`,
  )
}

/** What was delivered has an end. Runs begin and end at `bounds`, on whichever day that was. */
export function readRepairRange(
  body: unknown,
  row: ExportRow,
  now: Date,
  bounds: readonly Date[],
): BackfillRange {
  const range = readRange(body, row, now, bounds)
  if (range.end_at) return range
  throw invalid('end_at', 'required', `A repair needs an end_at: ${now.toISOString()} at the latest.`)
}

function readRange(body: unknown, row: ExportRow, now: Date, bounds: readonly Date[] = []): BackfillRange {
  const given = isObject(body) ? body : {}
  const start_at = readInstant('start_at', given.start_at, row, now, bounds)
  const end_at = readInstant('end_at', given.end_at, row, now, bounds)
  if (!start_at && !end_at) throw invalid('start_at', 'required', 'Give start_at and end_at.')
  if (end_at && end_at > now) {
    throw invalid('end_at', 'invalid_input', `end_at lies in the future: it is ${now.toISOString()} now.`)
  }
  if (start_at && start_at >= (end_at ?? now)) {
    throw invalid('start_at', 'invalid_input', `start_at must lie before ${end_at ? 'end_at' : 'now'}.`)
  }
  if (start_at && end_at) assertHoldsInterval(row, start_at, end_at, bounds)
  return { start_at, end_at }
}

/** Runs deliver whole intervals. For some hours of a day there is none, and "nothing to do" would sound as if all were well. */
function assertHoldsInterval(row: ExportRow, start_at: Date, end_at: Date, bounds: readonly Date[]): void {
  const next = boundaryAfter(row, start_at)
  if (next <= end_at || bounds.some((bound) => bound > start_at && bound <= end_at)) return
  const [from, to] = [boundaryAtOrBefore(row, start_at), next].map((boundary) => boundary.toISOString())
  const detail = `The range holds no whole interval of this export: the one it lies in goes from ${from} to ${to}.`
  throw invalid('end_at', 'invalid_input', detail)
}

/** A bare date is the export's hour of that day in its own zone: where its interval begins and ends. */
function readInstant(
  attr: 'start_at' | 'end_at',
  value: unknown,
  row: ExportRow,
  now: Date,
  bounds: readonly Date[],
): Date | null {
  if (value === undefined || value === null) return null
  const given = typeof value === 'string' ? parseTimestamp(value) : null
  if (typeof value !== 'string' || !given) {
    throw invalid(attr, 'invalid_input', 'This is not a date or an instant in ISO 8601.')
  }
  const isDate = BARE_DATE.test(value)
  if (!isDate && !WITH_ZONE.test(value)) {
    throw invalid(attr, 'invalid_input', 'The time needs a zone: Z, or +02:00.')
  }
  const local_ms = given.getTime() + (row.offset_hour ?? 0) * 3_600_000
  const instant = isDate ? new Date(instantOfLocal(local_ms, row.timezone)) : given
  const isBound = bounds.some((bound) => bound.getTime() === instant.getTime())
  // One that has not come is refused for that.
  if (!isBound && instant <= now) assertWeekday(attr, instant, row, now)
  return instant
}

/** A week that is asked for from another day on would be two halves of the export's own weeks. */
function assertWeekday(attr: string, instant: Date, row: ExportRow, now: Date): void {
  if (row.interval !== 'week') return
  const wanted = row.offset_day ?? 0
  const local = new Date(instant.getTime() + offsetMs(instant.getTime(), row.timezone))
  if (local.getUTCDay() === wanted) return
  const around = [boundaryAtOrBefore(row, instant), boundaryAfter(row, instant)]
    .filter((boundary) => boundary <= now)
    .map((boundary) =>
      new Date(boundary.getTime() + offsetMs(boundary.getTime(), row.timezone)).toISOString().slice(0, 10),
    )
  const detail = `The weeks of this export begin on ${DAYS[wanted]}: use ${around.join(' or ')}.`
  throw invalid(attr, 'invalid_input', detail)
}
