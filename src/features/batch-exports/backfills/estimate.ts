// What a backfill would deliver, asked of the ledger and the event store: what the export has not delivered of a range,
// however it got lost. The answer is an estimate only in that more may be delivered before the backfill comes to it.
import { sql } from '../../../platform/db/sql.ts'
import type { Area, ExportRows, Measured } from '../../../platform/event-store/event-store.ts'
import type { Services } from '../../../platform/services.ts'
import { intersect } from '../ledger/areas.ts'
import { unclaimed } from '../ledger/claim.ts'
import { listUnfinished } from '../ledger/queries.ts'
import type { ExportRow } from '../rows.ts'
import { EVERY_ROW, selectTimes } from '../source/select.ts'
import { timesOf, type BackfillRange, type EventSpan } from './plan.ts'

export type Estimate = {
  /** The last position that counts. */
  seq_to: number
  /** Rows that the backfill has to deliver, and rows of the range that were; null where they are no events. */
  rows: number | null
  delivered_before: number | null
  /** When the events happened that no run has claimed. */
  span: EventSpan
  /** Runs that have claimed events of the range and ended without delivering them. */
  unfinished: string[]
}

type Stores = Pick<Services, 'db' | 'eventStore'>

const NO_SPAN: EventSpan = { first_at: null, last_at: null }

export async function estimateBackfill(
  stores: Stores,
  row: ExportRow,
  range: BackfillRange,
  now: Date,
): Promise<Estimate> {
  const { db, eventStore } = stores
  const seq_to = await eventStore.lastPosition(row.project_id)
  const none = { seq_to, rows: 0, delivered_before: 0, span: NO_SPAN, unfinished: [] }
  const times = timesOf(row, range, now)
  if (row.model !== 'events') {
    const span = row.model === 'sessions' && times ? await spanOfAll(stores, row, seq_to, now) : NO_SPAN
    return { ...none, rows: null, delivered_before: null, span }
  }
  if (times === null || seq_to === 0) return none
  const area: Area = { seq_from: 0, seq_to, time_from: times.from, time_to: times.to }
  const rows = selectTimes(await projectOf(stores, row), row, now)
  const measure = (areas: readonly Area[]) => measured(stores, rows, areas)
  const whole = totalOf(await measure([area]))
  const free = totalOf(await measure(await unclaimed(db, row.id, area)))
  const claims = await listUnfinished(db, row.id, area)
  const parts = await measure(claims.map((claim) => intersect(claim, area)!))
  const unfinished = claims.filter((_, index) => parts[index]!.rows > 0).map(({ run_id }) => run_id)
  const to_deliver = free.rows + totalOf(parts).rows
  return {
    seq_to,
    rows: to_deliver,
    delivered_before: whole.rows - to_deliver,
    span: { first_at: free.first_at, last_at: free.last_at },
    unfinished: [...new Set(unfinished)],
  }
}

function measured({ eventStore }: Stores, rows: ExportRows, areas: readonly Area[]): Promise<Measured[]> {
  return areas.length === 0
    ? Promise.resolve([])
    : eventStore.measureAreas(rows, areas, new AbortController().signal)
}

/** Sessions are chosen by their events, whether a run has claimed those or not. */
async function spanOfAll(stores: Stores, row: ExportRow, seq_to: number, now: Date): Promise<EventSpan> {
  const all: Area = { seq_from: 0, seq_to, time_from: null, time_to: null }
  if (seq_to === 0) return NO_SPAN
  const { first_at } = totalOf(
    await measured(stores, selectTimes(await projectOf(stores, row), EVERY_ROW, now), [all]),
  )
  return { first_at, last_at: null }
}

function projectOf({ db }: Stores, { project_id }: ExportRow): Promise<{ id: number; timezone: string }> {
  return db.only(sql`SELECT id, timezone FROM project WHERE id = ${project_id}`)
}

function totalOf(parts: readonly Measured[]): Measured {
  const instants = parts.flatMap(({ first_at, last_at }) => (first_at && last_at ? [first_at, last_at] : []))
  const at = (choose: (...times: number[]) => number) =>
    instants.length === 0 ? null : new Date(choose(...instants.map((instant) => instant.getTime())))
  return {
    rows: parts.reduce((sum, part) => sum + part.rows, 0),
    first_at: at(Math.min),
    last_at: at(Math.max),
  }
}
