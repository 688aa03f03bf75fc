// The newest event of a run, by its arrival: what the freshness of its export is told by once the run has completed.
import type { EventStore, PositionBlock } from '../../../platform/event-store/event-store.ts'
import type { FrozenRun } from '../runs/frozen.ts'

/** `pieces` are in order, and end where their last row is. Null without rows, or where those are no events. */
export async function findNewestArrival(
  store: Pick<EventStore, 'arrivalsOf'>,
  { project_id, definition }: FrozenRun,
  pieces: readonly PositionBlock[],
): Promise<Date | null> {
  const last = pieces.at(-1)
  if (!last || definition.model !== 'events') return null
  const [arrival] = await store.arrivalsOf(project_id, [last.to])
  return arrival ?? null
}
