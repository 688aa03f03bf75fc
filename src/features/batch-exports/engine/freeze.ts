// The first step of a run: what it is about is written down before a row is read, so that every attempt, by whichever
// worker, sees the same rows in the same order.
import type { Definition } from '../definition.ts'
import type { ExportRow, RunRow } from '../rows.ts'
import { isFrozen, type FrozenRun } from '../runs/frozen.ts'
import { freezeRun } from '../runs/queries.ts'
import { positionBefore } from './positions.ts'
import { Stopped, type Work } from './work.ts'

export async function freeze({ services, row, project, run, lease }: Work): Promise<FrozenRun> {
  const definition = run.definition ?? definitionOf(row, project)
  const positions = await positionsOf(services, run)
  const frozen = await freezeRun(services.db, lease, { definition, ...positions }, services.now())
  if (!frozen || !isFrozen(frozen)) throw new Stopped('lost')
  return frozen
}

/** Those of a backfill, or of a run that is repeated, are there already. */
async function positionsOf(services: Work['services'], run: RunRow) {
  if (run.seq_from !== null && run.seq_to !== null) return { seq_from: run.seq_from, seq_to: run.seq_to }
  const { project_id, data_interval_start, data_interval_end } = run
  return {
    seq_from:
      data_interval_start === null ? 0 : await positionBefore(services, project_id, data_interval_start),
    seq_to: await positionBefore(services, project_id, data_interval_end),
  }
}

function definitionOf(
  { model, destination_type, config, hogql_query, filters }: ExportRow,
  { timezone }: Work['project'],
): Definition {
  return { model, destination_type, config, hogql_query, filters, timezone }
}
