// A run whose input is fixed, and what follows from it. Runs begin with this; verification goes back to it.
import type { JsonObject } from '../../../lib/json-object.ts'
import { uuid5 } from '../../../lib/uuid.ts'
import type { Db } from '../../../platform/db/database.ts'
import type { EventStore } from '../../../platform/event-store/event-store.ts'
import type { Area } from '../../../platform/event-store/export-rows.ts'
import type { Services } from '../../../platform/services.ts'
import { isAimedElsewhere } from '../config.ts'
import { OWN_COLUMNS, Refused, type OwnColumn, type RunFacts } from '../destinations/destination.ts'
import type { Definition } from '../definition.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import { targetKey } from '../destinations/same-place.ts'
import { candidateOf, deliveryIdOf } from '../ledger/claim.ts'
import { listClaims } from '../ledger/queries.ts'
import type { ExportRow, RunRow } from '../rows.ts'
import { configWithSecrets } from '../secrets.ts'
import { hasOwn } from '../source/own-columns.ts'
import { selectRows, type SelectedRows } from '../source/select.ts'
import { readPast, type Past } from './past.ts'

/** Positions and definition are written down. */
type Begun = RunRow & { definition: Definition; seq_from: number; seq_to: number }

export type FrozenRun = Begun & {
  /** What it has claimed of the events. */
  areas: readonly Area[]
  past: Past
}

export function isBegun(run: RunRow): run is Begun {
  return run.definition !== null && run.seq_from !== null && run.seq_to !== null
}

/** A run that was begun before, as it was then. */
export async function readFrozen(db: Db, run: Begun): Promise<FrozenRun> {
  const isOfEvents = run.definition.model === 'events'
  const areas = isOfEvents
    ? await listClaims(db, run.batch_export_id, [deliveryIdOf(run)])
    : [candidateOf(run, run)]
  return { ...run, areas, past: await readPast(db, run) }
}

/** The rows, the same whenever they are asked for. Relative times count from the making of the first run. */
export function selectionOf({ engine }: Pick<EventStore, 'engine'>, run: FrozenRun): SelectedRows {
  const { project_id, definition, selection, seq_from, seq_to, areas, past } = run
  const { columns } = DESTINATIONS.get(definition.destination_type)!
  const project = { id: project_id, timezone: definition.timezone, engine }
  const bounds = { selection, interval: intervalOf(run), seq_from, seq_to, areas }
  return selectRows(project, definition, columns, bounds, past.first.created_at)
}

export function factsOf(run: FrozenRun): RunFacts {
  const { past, definition } = run
  return {
    ...idsAtTarget(run),
    attempt: past.attempts + run.attempt,
    batch_export_id: run.batch_export_id,
    project_id: run.project_id,
    model: definition.model,
    interval: intervalOf(run),
    backfill_id: run.selection === 'timestamp' ? past.first.backfill_id : null,
    is_repair: past.completed !== null,
    told_apart_by: toldApartBy(run),
    has_custom_columns: definition.hogql_query !== null,
  }
}

/** Rows of any run of the delivery may be there: one that brought another time, or none, would have hidden its rows. */
function toldApartBy(run: FrozenRun): OwnColumn[] {
  if (run.definition.model !== 'events') return []
  const has = (name: OwnColumn, { definition, left_out }: RunRow) =>
    definition === null || (hasOwn(name, definition) && left_out?.includes(name) !== true)
  return OWN_COLUMNS.filter((name) => [run, ...run.past.others].every((each) => has(name, each)))
}

/**
 * What the destination knows the run by: the id of the delivery. Should the export go to another table since the delivery
 * began, an id of its own for that table, so that each says of its own rows alone whether it has them.
 */
function idsAtTarget({ definition, past }: FrozenRun): Pick<RunFacts, 'id' | 'other_ids'> {
  const { columns } = DESTINATIONS.get(definition.destination_type)!
  if (columns === 'files' || columns === 'http') return { id: past.first.id, other_ids: [] }
  const before = [past.first, ...past.others].flatMap((run) => run.definition ?? [])
  const [began = definition] = before
  const idAt = (target: string) => (target === keyOf(began) ? past.first.id : uuid5(past.first.id, target))
  const id = idAt(keyOf(definition))
  const others = new Set(before.map((each) => idAt(keyOf(each))))
  others.delete(id)
  return { id, other_ids: [...others] }
}

const keyOf = ({ destination_type, config }: Definition) =>
  targetKey(DESTINATIONS.get(destination_type)!, config)

function intervalOf({ data_interval_start, data_interval_end }: RunRow) {
  return { start: data_interval_start, end: data_interval_end }
}

/**
 * Its configuration with the secrets that are stored now. Those were sent for where the export goes now: a run that began
 * when it went elsewhere must not take them there.
 */
export function configOf(services: Pick<Services, 'secrets'>, row: ExportRow, run: Begun): JsonObject {
  const { destination_type, config } = run.definition
  if (isAimedElsewhere(DESTINATIONS.get(destination_type)!, row.config, config)) {
    throw new Refused('The export goes elsewhere since this run began: retry the run, and it goes there too.')
  }
  return configWithSecrets(services, { ...row, config })
}
