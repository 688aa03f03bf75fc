// A backfill is asked for: what the request may say, and what becomes of it. Called by the routes.
import { isObject } from '../../../lib/json-object.ts'
import { parseTimestamp } from '../../../lib/timestamps.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { EventStore } from '../../../platform/event-store/event-store.ts'
import { tablesOf } from '../../../platform/event-store/layout.ts'
import { ApiError, invalid } from '../../../platform/http/errors.ts'
import type { Services } from '../../../platform/services.ts'
import type { ExportRow } from '../rows.ts'
import { boundaryAtOrBefore } from '../schedule/grid.ts'
import { instantOfLocal } from '../schedule/zone.ts'
import { planBackfill, type BackfillRange } from './plan.ts'
import { countLiveBackfills, findSameBackfill, insertBackfill, lockBackfills } from './queries.ts'
import { settleBackfill } from './settle.ts'

const MAX_LIVE_BACKFILLS = 10
/** When one of them ends is not known; some do within a minute. */
const TRY_AGAIN_S = 60
/** Destinations that a backfill may feed until it has caught up. */
const OPEN_ENDED = new Set(['HTTP', 'NoOp'])
const BARE_DATE = /^\s*\d{4}-\d{2}-\d{2}\s*$/
const WITH_ZONE = /(?:z|[+-]\d{2}(?::?\d{2})?)\s*$/i

export function readBackfillRange(body: unknown, row: ExportRow, now: Date): BackfillRange {
  const given = isObject(body) ? body : {}
  const start_at = readInstant('start_at', given.start_at, row)
  const end_at = readInstant('end_at', given.end_at, row)
  if (!start_at && !end_at) throw invalid('start_at', 'required', 'Give start_at and end_at.')
  if (!end_at && !OPEN_ENDED.has(row.destination_type)) {
    throw invalid(
      'end_at',
      'required',
      `An export to ${row.destination_type} needs an end_at for its backfills.`,
    )
  }
  if (end_at && end_at > now) throw invalid('end_at', 'invalid_input', 'end_at lies in the future.')
  if (start_at && start_at >= (end_at ?? now)) {
    throw invalid('start_at', 'invalid_input', `start_at must lie before ${end_at ? 'end_at' : 'now'}.`)
  }
  return { start_at, end_at }
}

/** A bare date is the export's hour of that day in its own zone: where its interval begins and ends. */
function readInstant(attr: 'start_at' | 'end_at', value: unknown, row: ExportRow): Date | null {
  if (value === undefined || value === null) return null
  const instant = typeof value === 'string' ? parseTimestamp(value) : null
  if (typeof value !== 'string' || !instant) {
    throw invalid(attr, 'invalid_input', 'This is not a date or an instant in ISO 8601.')
  }
  if (BARE_DATE.test(value)) {
    const local_ms = instant.getTime() + (row.offset_hour ?? 0) * 3_600_000
    return new Date(instantOfLocal(local_ms, row.timezone))
  }
  if (!WITH_ZONE.test(value)) throw invalid(attr, 'invalid_input', 'The time needs a zone: Z, or +02:00.')
  return instant
}

/** Gives the live one when the same range is being backfilled already. */
export async function createBackfill(
  { eventStore }: Pick<Services, 'eventStore'>,
  tx: Db,
  row: ExportRow,
  range: BackfillRange,
  now: Date,
): Promise<{ backfill_id: string }> {
  const { project_id, id: batch_export_id } = row
  const seq_to = await lastPositionThatCounts(eventStore, row, range, now)
  const plan = planBackfill(row, range, await firstEventAt(eventStore, row), now)
  await lockBackfills(tx, project_id)
  const same = await findSameBackfill(tx, row, range)
  if (same) return { backfill_id: same.id }
  await assertRoomForBackfill(tx, project_id)
  const fields = { project_id, batch_export_id, ...range, ...plan, seq_to }
  const backfill_id = await insertBackfill(tx, { ...fields, retry_of: null, status: 'Starting' }, now)
  // Its first runs, or its end when there is nothing to do.
  await settleBackfill(tx, backfill_id, now)
  return { backfill_id }
}

export async function assertRoomForBackfill(tx: Db, project_id: number): Promise<void> {
  if ((await countLiveBackfills(tx, project_id)) < MAX_LIVE_BACKFILLS) return
  throw new ApiError(
    'too_many_concurrent_backfills',
    `The project has ${MAX_LIVE_BACKFILLS} backfills at work: wait for one to end, or cancel it.`,
    null,
    { 'retry-after': String(TRY_AGAIN_S) },
  )
}

/**
 * The last of all; but where the schedule goes on from the backfill, as it does without an end and after a pause that is
 * made up for, what arrived since its current interval began is the schedule's.
 */
function lastPositionThatCounts(
  eventStore: EventStore,
  row: ExportRow,
  { end_at }: BackfillRange,
  now: Date,
): Promise<number> {
  const goesOn = end_at === null || (end_at >= now && !row.paused)
  if (!goesOn) return eventStore.lastPosition(row.project_id)
  return eventStore.positionAt(row.project_id, boundaryAtOrBefore(row, now))
}

/** By its own time. Null without events, and for people, who are not chosen by events. */
async function firstEventAt(eventStore: EventStore, { project_id, model }: ExportRow): Promise<Date | null> {
  // A project has no tables before its first event.
  if (model === 'persons' || (await eventStore.lastPosition(project_id)) === 0) return null
  const { rows } = await eventStore.query({
    project_id,
    sql: `SELECT min(timestamp) FROM ${tablesOf(project_id).events}`,
    parameters: [],
    timezone: 'UTC',
    max_rows: 1,
  })
  const first = rows[0]?.[0]
  return typeof first === 'string' ? parseTimestamp(first) : null
}
