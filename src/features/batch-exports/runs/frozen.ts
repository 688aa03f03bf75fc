// A run whose input is fixed, and what follows from it. Runs begin with this; verification goes back to it.
import type { JsonObject } from '../../../lib/json-object.ts'
import type { Services } from '../../../platform/services.ts'
import { isAimedElsewhere } from '../config.ts'
import { Refused, type RunFacts } from '../destinations/destination.ts'
import type { Bounds, Definition } from '../definition.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import type { ExportRow, RunRow } from '../rows.ts'
import { configWithSecrets } from '../secrets.ts'
import { selectRows, type SelectedRows } from '../source/select.ts'

export type FrozenRun = RunRow & { definition: Definition; seq_from: number; seq_to: number }

export function isFrozen(run: RunRow): run is FrozenRun {
  return run.definition !== null && run.seq_from !== null && run.seq_to !== null
}

/** The rows, the same whenever they are asked for. */
export function selectionOf(run: FrozenRun): SelectedRows {
  const { project_id, definition, created_at } = run
  const { columns } = DESTINATIONS.get(definition.destination_type)!
  const project = { id: project_id, timezone: definition.timezone }
  return selectRows(project, definition, columns, boundsOf(run), created_at)
}

function boundsOf(run: FrozenRun): Bounds {
  const { selection, data_interval_start, data_interval_end, seq_from, seq_to } = run
  return { selection, interval: { start: data_interval_start, end: data_interval_end }, seq_from, seq_to }
}

export function factsOf(run: FrozenRun): RunFacts {
  return {
    id: run.id,
    attempt: run.attempt,
    batch_export_id: run.batch_export_id,
    project_id: run.project_id,
    model: run.definition.model,
    interval: { start: run.data_interval_start, end: run.data_interval_end },
    is_backfill: run.backfill_id !== null,
    has_custom_columns: run.definition.hogql_query !== null,
  }
}

/**
 * Its configuration with the secrets that are stored now. Those were sent for where the export goes now: a run that began
 * when it went elsewhere must not take them there.
 */
export function configOf(services: Pick<Services, 'secrets'>, row: ExportRow, run: FrozenRun): JsonObject {
  const { destination_type, config } = run.definition
  if (isAimedElsewhere(DESTINATIONS.get(destination_type)!, row.config, config)) {
    throw new Refused('The export goes elsewhere since this run began: retry the run, and it goes there too.')
  }
  return configWithSecrets(services, { ...row, config })
}
