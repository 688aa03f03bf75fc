// What a backfill would deliver, asked of the ledger and the event store: what the export has not delivered of a range,
// however it got lost. The answer is an estimate only in that more may be delivered before the backfill comes to it.
import { sql } from '../../../platform/db/sql.ts'
import type { Measured } from '../../../platform/event-store/event-store.ts'
import type { Area, EventChoice } from '../../../platform/event-store/export-rows.ts'
import type { Services } from '../../../platform/services.ts'
import { intersect } from '../ledger/areas.ts'
import { unclaimed } from '../ledger/claim.ts'
import { listClaims, listUnfinished } from '../ledger/queries.ts'
import type { ExportRow } from '../rows.ts'
import { EVERY_ROW, selectEvents } from '../source/select.ts'
import type { ExportedProject } from '../source/source-rows.ts'
import { timesOf, type BackfillRange, type EventSpan } from './plan.ts'

export type Estimate = {
  /** The last position that counts. */
  seq_to: number
  /** Rows that the backfill has to deliver, and rows of the range that were; null where they could not be counted. */
  rows: number | null
  delivered_before: number | null
  /** When the events happened that no run has claimed. */
  span: EventSpan
  /** Runs that have claimed events of the range and ended without delivering them. */
  unfinished: string[]
}

type Stores = Pick<Services, 'db' | 'eventStore'>

const NO_SPAN: EventSpan = { first_at: null, last_at: null }
/** Somebody waits for the answer, and other exports for the store: a filter that takes longer is not asked. */
const LIMIT_MS = 10_000

export async function estimateBackfill(
  stores: Stores,
  row: ExportRow,
  range: BackfillRange,
  now: Date,
): Promise<Estimate> {
  const seq_to = await stores.eventStore.lastPosition(row.project_id)
  const none = { seq_to, rows: 0, delivered_before: 0, span: NO_SPAN, unfinished: [] }
  const times = timesOf(row, range, now)
  if (row.model === 'persons') return { ...none, rows: null, delivered_before: null }
  if (times === null || seq_to === 0) return row.model === 'events' ? none : { ...none, rows: null }
  const area: Area = { seq_from: 0, seq_to, time_from: times.from, time_to: times.to }
  const project = await projectOf(stores, row)
  const every = selectEvents(project, EVERY_ROW, now)
  if (row.model === 'sessions') {
    // Sessions are chosen by their events, whether a run has claimed those or not.
    const { first_at } = totalOf(await measure(stores, every, [{ ...area, time_from: null, time_to: null }]))
    return { ...none, rows: null, delivered_before: null, span: { first_at, last_at: null } }
  }
  try {
    return await countRows(stores, row, area, selectEvents(project, row, now))
  } catch (error) {
    if (!isTimeout(error)) throw error
    return { ...(await countRows(stores, row, area, every)), rows: null, delivered_before: null }
  }
}

async function countRows(stores: Stores, row: ExportRow, area: Area, events: EventChoice): Promise<Estimate> {
  const { db } = stores
  const whole = totalOf(await measure(stores, events, [area]))
  const free = totalOf(await measure(stores, events, await unclaimed(db, row.id, area)))
  const claims = await listUnfinished(db, row.id, area)
  const parts = await measure(
    stores,
    events,
    claims.map((claim) => intersect(claim, area)!),
  )
  const holders = claims.filter((_, index) => parts[index]!.rows > 0).map(({ run_id }) => run_id)
  const unfinished = [...new Set(holders)]
  // Those runs are done again as a whole: what they claimed beyond the range goes out as well.
  const again = await measure(stores, events, await listClaims(db, row.id, unfinished))
  return {
    seq_to: area.seq_to,
    rows: free.rows + totalOf(again).rows,
    delivered_before: whole.rows - free.rows - totalOf(parts).rows,
    span: { first_at: free.first_at, last_at: free.last_at },
    unfinished,
  }
}

async function measure(
  { eventStore }: Stores,
  events: EventChoice,
  areas: readonly Area[],
): Promise<Measured[]> {
  return areas.length === 0 ? [] : eventStore.measureAreas(events, areas, AbortSignal.timeout(LIMIT_MS))
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError'
}

async function projectOf({ db, eventStore }: Stores, { project_id }: ExportRow): Promise<ExportedProject> {
  const project = await db.only<{ id: number; timezone: string }>(
    sql`SELECT id, timezone FROM project WHERE id = ${project_id}`,
  )
  return { ...project, engine: eventStore.engine }
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
