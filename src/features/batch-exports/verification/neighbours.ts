// Other exports of this server that may have brought something to the same place: deleted ones too, and those of other
// projects. What they brought there is not ours to check. Asked only once something was found that might be theirs.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { Definition } from '../definition.ts'
import { isSamePlace } from '../destinations/same-place.ts'
import type { DeliveryPlace } from './deliveries.ts'
import type { Owner } from './queries.ts'

type Config = Definition['config']

/** A run that may have brought something. */
const HAS_BROUGHT = sql`
  (CASE WHEN status = 'Completed' THEN records_completed > 0 ELSE published IS NOT NULL OR progress IS NOT NULL END)`

/** Those whose rows may be in the same table. */
export async function listTableNeighbours(db: Db, owner: Owner, place: DeliveryPlace): Promise<Owner[]> {
  const { kind, configs } = place
  const target = kind.target(configs[0]!)
  return listNeighbours(db, owner, place, (config) => kind.target(config) === target)
}

/** Whether this export may have brought rows to a table under another address: of a server that was renamed, for one. */
export async function hasDeliveredElsewhere(
  db: Db,
  { id, project_id }: Owner,
  { kind, configs }: DeliveryPlace,
): Promise<boolean> {
  const rows = await db.rows<{ config: Config }>(sql`
    SELECT DISTINCT definition -> 'config' AS config FROM batch_export_run
    WHERE project_id = ${project_id} AND batch_export_id = ${id}
      AND definition ->> 'destination_type' = ${kind.type} AND ${HAS_BROUGHT}`)
  const target = kind.target(configs[0]!)
  return rows.some(({ config }) => kind.target(config) !== target)
}

/** Those that may write files to the same bucket. On this machine each project has a folder of its own. */
export async function listFileNeighbours(db: Db, owner: Owner, place: DeliveryPlace): Promise<Owner[]> {
  const { kind, configs } = place
  const found = await listNeighbours(db, owner, place, (config) => isSamePlace(kind, configs[0]!, config))
  return kind.aims.length > 0 ? found : found.filter(({ project_id }) => project_id === owner.project_id)
}

async function listNeighbours(
  db: Db,
  { id }: Owner,
  { kind }: DeliveryPlace,
  isThere: (config: Config) => boolean,
): Promise<Owner[]> {
  const rows = await db.rows<Owner & { config: Config }>(sql`
    SELECT DISTINCT batch_export_id AS id, project_id, definition -> 'config' AS config FROM batch_export_run
    WHERE definition ->> 'destination_type' = ${kind.type} AND batch_export_id <> ${id}
      AND ${HAS_BROUGHT}`)
  const found = rows.filter(({ config }) => isThere(config))
  return [...new Map(found.map((row) => [row.id, { id: row.id, project_id: row.project_id }])).values()]
}
