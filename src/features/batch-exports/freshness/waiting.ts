// How many events wait for each export, and since when the oldest does: from the times that its schedule has not covered to
// positions, and from the first position to its time of arrival.
import type { Services } from '../../../platform/services.ts'
import { positionBefore } from '../engine/positions.ts'
import { edgesOf, pendingOf, type Pending } from './pending.ts'
import { listBounds, type Debt, type WatchedExport } from './queries.ts'

export type Stores = Pick<Services, 'db' | 'eventStore'>
export type Waiting = { rows: number; oldest_at: Date | null }

/** Waiting events by export id, for exports of events: other models are no stream. */
export async function measureWaiting(
  stores: Stores,
  exports: readonly WatchedExport[],
  debts: ReadonlyMap<string, Debt>,
  now: Date,
): Promise<Map<string, Waiting>> {
  const ofEvents = exports.filter(({ model }) => model === 'events')
  const bounds = await findBounds(stores, ofEvents, debts, now)
  const waiting = new Map<string, Waiting>()
  for (const project_id of new Set(ofEvents.map((row) => row.project_id))) {
    const rows = ofEvents.filter((row) => row.project_id === project_id)
    const last_position = await stores.eventStore.lastPosition(project_id)
    const positions = { last_position, holes: await stores.eventStore.holes(project_id) }
    const pending = rows.map((row) =>
      pendingOf(debts.get(row.id)!, positions, (edge) => bounds.get(boundKey(project_id, edge)) ?? null),
    )
    const arrivals = await arrivalsOf(stores, project_id, pending)
    for (const [index, { id }] of rows.entries()) {
      const { rows: count, first } = pending[index]!
      waiting.set(id, { rows: count, oldest_at: first === null ? null : (arrivals.get(first) ?? null) })
    }
  }
  return waiting
}

/** Arrival times by position. Exports of a project mostly wait for the same event, which is looked up once. */
async function arrivalsOf(
  { eventStore }: Stores,
  project_id: number,
  pending: readonly Pending[],
): Promise<Map<number, Date | null>> {
  const positions = [...new Set(pending.flatMap(({ first }) => first ?? []))]
  const arrivals = await eventStore.arrivalsOf(project_id, positions)
  return new Map(positions.map((position, index) => [position, arrivals[index] ?? null]))
}

/** Positions at the edges of the open times. Nearly all are known: a run has begun, or ended, there. */
async function findBounds(
  stores: Stores,
  exports: readonly WatchedExport[],
  debts: ReadonlyMap<string, Debt>,
  now: Date,
): Promise<Map<string, number>> {
  const edges = exports.flatMap(({ id, project_id }) =>
    edgesOf(debts.get(id)!).map((at) => ({ project_id, at })),
  )
  const asked = new Map(edges.map((edge) => [boundKey(edge.project_id, edge.at), edge]))
  const known = await listBounds(stores.db, [...asked.values()])
  const bounds = new Map(known.map(({ project_id, at, seq }) => [boundKey(project_id, at), seq]))
  for (const [key, { project_id, at }] of asked) {
    // To ask the store for one that lies ahead would move its clock there.
    if (!bounds.has(key) && at <= now) bounds.set(key, await positionBefore(stores, project_id, at))
  }
  return bounds
}

function boundKey(project_id: number, at: Date): string {
  return `${project_id} ${at.getTime()}`
}
