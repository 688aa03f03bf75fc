// Stored events as deliveries read them: page by page behind the cursor, or some by their positions.
import { allOf, compare, constant, field } from '../../events/tree.ts'
import type { Expr } from '../../../hogql/ast.ts'
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import type { EventStore, StoreValue } from '../../../platform/event-store/event-store.ts'
import { compileAtPositions, compilePage } from './compile-events.ts'

export type StoredEvent = {
  seq: number
  uuid: string
  event: string
  distinct_id: string
  timestamp: string
  properties: JsonObject
}

/** Everything wanted in (from, to]. */
export type Page = {
  events: readonly StoredEvent[]
  to: number
  /** It holds as much as was allowed. */
  is_full: boolean
}

export type PageRequest = {
  project: { id: number; timezone: string }
  from: number
  /** The project's last position. */
  last: number
  condition: Expr | null
  max_events: number
  max_bytes: number
  now: Date
}

/** Positions looked at in one query: with filters that let little through, a query must still end soon. */
const STRETCH = 50_000

export async function readPage(store: EventStore, request: PageRequest): Promise<Page> {
  const { project, from, last, condition, max_events, max_bytes, now } = request
  const end = Math.min(last, from + STRETCH)
  const bounds = between(from, end)
  const where = condition === null ? bounds : allOf([bounds, condition])!
  const { engine } = store
  const { sql, parameters } = compilePage({ ...project, engine }, where, now, { max_events, max_bytes })
  const { rows } = await store.query({
    project_id: project.id,
    sql,
    parameters,
    timezone: 'UTC',
    max_rows: max_events,
  })
  const found = Number(rows[0]?.[6] ?? 0)
  const is_full = found === max_events || rows.length < found
  const events = rows.map(toEvent)
  return { events, to: is_full ? events.at(-1)!.seq : end, is_full }
}

/** Those that are there, by position. */
export async function readEvents(
  store: EventStore,
  project_id: number,
  seqs: readonly number[],
  now: Date,
): Promise<Map<number, StoredEvent>> {
  if (seqs.length === 0) return new Map()
  const where = between(Math.min(...seqs) - 1, Math.max(...seqs))
  const project = { id: project_id, timezone: 'UTC', engine: store.engine }
  const { sql, parameters } = compileAtPositions(project, seqs, where, now)
  const { rows } = await store.query({
    project_id,
    sql,
    parameters,
    timezone: 'UTC',
    max_rows: seqs.length,
  })
  return new Map(rows.map(toEvent).map((event) => [event.seq, event]))
}

const between = (from: number, to: number) =>
  allOf([compare(field('seq'), '>', constant(from)), compare(field('seq'), '<=', constant(to))])!

function toEvent([seq, uuid, event, distinct_id, timestamp, properties]: readonly StoreValue[]): StoredEvent {
  const parsed: unknown = JSON.parse(String(properties))
  return {
    seq: Number(seq),
    uuid: String(uuid),
    event: String(event),
    distinct_id: String(distinct_id),
    timestamp: new Date(String(timestamp)).toISOString(),
    properties: isObject(parsed) ? parsed : {},
  }
}
