// The first step of a run: what it is about is written down before a row is read, so that every attempt, by whichever
// worker, sees the same rows in the same order. Its events are claimed in the ledger in the same transaction.
import type { Area } from '../../../platform/event-store/export-rows.ts'
import { candidateOf, claimAreas } from '../ledger/claim.ts'
import { lockLedger } from '../ledger/queries.ts'
import { definitionOf } from '../defined.ts'
import type { RunRow } from '../rows.ts'
import { isBegun, type FrozenRun } from '../runs/frozen.ts'
import { readPast, type Past } from '../runs/past.ts'
import { freezeRun } from '../runs/queries.ts'
import { positionBefore } from './positions.ts'
import { redefine } from './redefine.ts'
import { Stopped, type Work } from './work.ts'

export async function freeze({ services, row, project, run, lease }: Work): Promise<FrozenRun> {
  const past = await readPast(services.db, run)
  const definition = run.definition ?? redefine(definitionOf(row, project), past)
  const positions = await positionsOf(services, run, past)
  const holes = await services.eventStore.holes(run.project_id)
  return services.db.transaction(async (tx) => {
    await lockLedger(tx, run.project_id, run.batch_export_id)
    const begun = await freezeRun(tx, lease, { definition, ...positions }, services.now())
    if (!begun || !isBegun(begun)) throw new Stopped('lost')
    const candidate = candidateOf(begun, begun)
    const isOfEvents = begun.definition.model === 'events'
    const areas: Area[] = isOfEvents ? await claimAreas(tx, begun, candidate, holes) : [candidate]
    return { ...begun, areas, past }
  })
}

/** Those of a backfill, or of a run that is repeated, are there already. */
async function positionsOf(services: Work['services'], run: RunRow, { first }: Past) {
  const { seq_from, seq_to } = run.seq_to === null ? first : run
  if (seq_from !== null && seq_to !== null) return { seq_from, seq_to }
  const { project_id, data_interval_start, data_interval_end } = run
  return {
    seq_from:
      data_interval_start === null ? 0 : await positionBefore(services, project_id, data_interval_start),
    seq_to: await positionBefore(services, project_id, data_interval_end),
  }
}
