// How a run comes by its events: it claims what is left of its area, once, under a lock on the export's ledger. Called when
// a run is frozen, and by whoever wants to know what would be left.
import type { Db } from '../../../platform/db/database.ts'
import type { PositionRange } from '../../../platform/event-store/event-store.ts'
import type { Area } from '../../../platform/event-store/export-rows.ts'
import { countEvents } from '../../../platform/event-store/holes.ts'
import type { RunRow } from '../rows.ts'
import { isOfAnyTime, subtract } from './areas.ts'
import { beginClaim, insertClaims, listClaims, listTaken } from './queries.ts'

type Claimant = Pick<RunRow, 'id' | 'repeats' | 'project_id' | 'batch_export_id'>

/** The first run of a delivery; those that repeat it have its names, its keys and its claims. */
export function deliveryIdOf({ id, repeats }: Pick<RunRow, 'id' | 'repeats'>): string {
  return repeats ?? id
}

/**
 * The areas that belong to the run, whether it is the first to ask or not. The caller holds the lock of the ledger; `holes`
 * are the project's positions without events.
 */
export async function claimAreas(
  tx: Db,
  run: Claimant,
  candidate: Area,
  holes: readonly PositionRange[],
): Promise<Area[]> {
  const delivery_id = deliveryIdOf(run)
  if (!(await beginClaim(tx, run.project_id, delivery_id, candidate))) {
    return listClaims(tx, run.batch_export_id, [delivery_id])
  }
  const areas = await unclaimed(tx, run.batch_export_id, candidate)
  const claims = areas.map((area) => ({ ...area, events: eventsWithoutCounting(area, holes) }))
  if (claims.length > 0) await insertClaims(tx, run.batch_export_id, delivery_id, claims)
  return areas
}

/** What no run of the export has claimed. */
export async function unclaimed(db: Db, batch_export_id: string, candidate: Area): Promise<Area[]> {
  if (candidate.seq_from >= candidate.seq_to) return []
  return subtract(candidate, await listTaken(db, batch_export_id, candidate))
}

/** The area that a run may choose from, by its selection. */
export function candidateOf(
  run: Pick<RunRow, 'selection' | 'data_interval_start' | 'data_interval_end'>,
  { seq_from, seq_to }: { seq_from: number; seq_to: number },
): Area {
  if (run.selection === 'arrival') return { seq_from, seq_to, time_from: null, time_to: null }
  return { seq_from, seq_to, time_from: run.data_interval_start, time_to: run.data_interval_end }
}

/** An area of any time holds an event at each of its positions but for the holes. */
function eventsWithoutCounting(area: Area, holes: readonly PositionRange[]): number | null {
  return isOfAnyTime(area) ? countEvents({ from: area.seq_from, to: area.seq_to }, holes) : null
}
