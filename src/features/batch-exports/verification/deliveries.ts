// SQL statements about what an export has delivered. The last completed run of each delivery counts, because it
// replaced what earlier ones had brought.
import type { Db } from '../../../platform/db/database.ts'
import { joinSql, sql, type Statement } from '../../../platform/db/sql.ts'
import type { Definition } from '../definition.ts'
import type { DestinationKind } from '../destinations/destination.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import { targetKey } from '../destinations/same-place.ts'
import { deliveryIdOf } from '../ledger/claim.ts'
import type { RunRow } from '../rows.ts'
import { RUN_COLUMNS } from '../runs/columns.ts'
import { isBegun, type FrozenRun } from '../runs/frozen.ts'
import type { Owner } from './queries.ts'
import type { Subject } from './rows.ts'

/** A place that deliveries went to, with all configurations that lead there. */
export type DeliveryPlace = {
  kind: DestinationKind
  configs: Definition['config'][]
}

const PAGE = 200

/** The places that the deliveries of a subject went to. */
export async function listPlaces(db: Db, owner: Owner, subject: Subject): Promise<DeliveryPlace[]> {
  const rows = await db.rows<Pick<Definition, 'destination_type' | 'config'>>(sql`
    SELECT DISTINCT definition ->> 'destination_type' AS destination_type, definition -> 'config' AS config
    FROM batch_export_run AS run WHERE ${isDelivered(owner, subject)}`)
  const places = new Map<string, DeliveryPlace>()
  for (const { destination_type, config } of rows) {
    const kind = DESTINATIONS.get(destination_type)!
    const key = targetKey(kind, config)
    const place = places.get(key) ?? { kind, configs: [] }
    places.set(key, place)
    place.configs.push(config)
  }
  return [...places.values()]
}

type Begun = Omit<FrozenRun, 'areas' | 'past'>

/** Reads deliveries a page at a time, oldest first. */
export async function* eachDelivery(
  db: Db,
  owner: Owner,
  subject: Subject,
  place: DeliveryPlace,
): AsyncGenerator<Begun> {
  for (let last: RunRow | null = null; ;) {
    const after: Statement[] = last ? [sql`(created_at, id) > (${last.created_at}, ${last.id})`] : []
    const runs: RunRow[] = await db.rows<RunRow>(sql`
      SELECT ${RUN_COLUMNS} FROM batch_export_run AS run
      WHERE ${joinSql([isDelivered(owner, subject), isAt(place), ...after], ' AND ')}
      ORDER BY created_at, id LIMIT ${PAGE}`)
    for (const run of runs) if (isBegun(run)) yield run
    if (runs.length < PAGE) return
    last = runs.at(-1)!
  }
}

export async function countDeliveries(
  db: Db,
  owner: Owner,
  subject: Subject,
  place: DeliveryPlace,
): Promise<number> {
  const { count } = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM batch_export_run AS run WHERE ${isDelivered(owner, subject)} AND ${isAt(place)}`)
  return count
}

/** The folders of files that runs have delivered, or may have left without getting through. */
export async function listFolders(
  db: Db,
  { id, project_id }: Owner,
  { start_at, end_at }: Subject,
  { kind, configs }: DeliveryPlace,
): Promise<string[]> {
  const rows = await db.rows<{ folder: string; config: Definition['config'] }>(sql`
    SELECT DISTINCT regexp_replace(name, '/?[^/]*$', '') AS folder, definition -> 'config' AS config
    FROM batch_export_run AS run CROSS JOIN LATERAL (
      SELECT file ->> 'name' FROM jsonb_array_elements(files) AS file
      UNION SELECT * FROM jsonb_array_elements_text(published)) AS named (name)
    WHERE project_id = ${project_id} AND batch_export_id = ${id} AND definition ->> 'destination_type' = ${kind.type}
      AND (data_interval_end > ${start_at} OR ${start_at}::timestamptz IS NULL)
      AND (data_interval_end <= ${end_at} OR ${end_at}::timestamptz IS NULL)`)
  const key = targetKey(kind, configs[0]!)
  const here = rows.filter(({ config }) => targetKey(kind, config) === key)
  return [...new Set(here.map(({ folder }) => folder))]
}

/**
 * Whether a later run has replaced this one, or another over the same events has begun: what lies there may be
 * changing.
 */
export async function hasMoved(db: Db, run: Begun): Promise<boolean> {
  const delivery_id = deliveryIdOf(run)
  const { found } = await db.only<{ found: boolean }>(sql`
    SELECT EXISTS (SELECT 1 FROM batch_export_run AS other
      WHERE other.project_id = ${run.project_id} AND (other.id = ${delivery_id} OR other.repeats = ${delivery_id})
        AND other.id <> ${run.id} AND (finished_at IS NULL AND attempt > 0
          OR status = 'Completed' AND (created_at, id) > (${run.created_at}, ${run.id}))) AS found`)
  return found
}

/** Condition on `run`: it brought rows, it belongs to the subject, and no later run of its delivery has completed. */
export function isDelivered({ id, project_id }: Owner, { run_id, start_at, end_at }: Subject): Statement {
  return sql`run.project_id = ${project_id} AND run.batch_export_id = ${id} AND run.status = 'Completed'
    AND run.records_completed > 0 AND run.definition IS NOT NULL
    AND (run.data_interval_end > ${start_at} OR ${start_at}::timestamptz IS NULL)
    AND (run.data_interval_end <= ${end_at} OR ${end_at}::timestamptz IS NULL)
    AND (coalesce(run.repeats, run.id) = (
        SELECT coalesce(asked.repeats, asked.id) FROM batch_export_run AS asked WHERE asked.id = ${run_id}::uuid)
      OR ${run_id}::uuid IS NULL)
    AND NOT EXISTS (SELECT 1 FROM batch_export_run AS later
      WHERE later.repeats = coalesce(run.repeats, run.id) AND later.status = 'Completed'
        AND (later.created_at, later.id) > (run.created_at, run.id))`
}

/** Condition on `run`: it delivered to this place. */
export function isAt({ kind, configs }: DeliveryPlace): Statement {
  return sql`run.definition ->> 'destination_type' = ${kind.type}
    AND run.definition -> 'config' = ANY(${configs.map((config) => JSON.stringify(config))}::jsonb[])`
}
