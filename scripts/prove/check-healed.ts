// After a last backfill over everything, without faults: whatever got lost, and however, is at its destination.
import { boundaryAtOrBefore } from '../../src/features/batch-exports/schedule/grid.ts'
import type { ExportRow } from '../../src/features/batch-exports/rows.ts'
import { isClaimed, passes, type Facts } from './facts.ts'

export function checkHealed(facts: Facts): void {
  const { world } = facts
  for (const row of facts.exports) {
    const healed_at = world.healed.get(row.id)
    if (healed_at && row.deleted_at === null) checkExport(facts, row, healed_at)
  }
}

function checkExport({ world, deliveries }: Facts, row: ExportRow, healed_at: Date): void {
  const until = boundaryAtOrBefore(row, healed_at)
  const own = [...deliveries.values()].filter(({ first }) => first.batch_export_id === row.id)
  for (const event of world.store.events) {
    if (event.timestamp >= until || !passes(event, row.config)) continue
    const holder = own.find(({ claims }) => claims.some((claim) => isClaimed(event, claim)))
    if (!holder)
      world.wrong(`event ${event.uuid} belongs to no run of export ${row.id}, though all was backfilled`)
    // A run that ends every process takes with it whatever else these were at.
    else if (!holder.completed && world.faults.poison === null)
      world.wrong(`event ${event.uuid} was not delivered, though all was backfilled`)
  }
}
