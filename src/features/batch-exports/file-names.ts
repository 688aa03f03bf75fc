// No two live exports of an organization may have files of the same names: each would overwrite the other's, and both say
// Completed. Asked when an export is made, and when a change moves its files. Other organizations are not asked about: who
// names a bucket first could keep its owner out.
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import type { ProjectInReach } from '../../platform/http/access.ts'
import { invalid } from '../../platform/http/errors.ts'
import { DESTINATIONS } from './destinations/index.ts'
import { couldShareNames, type Named } from './destinations/shared-names.ts'
import type { ExportRow } from './rows.ts'

type NamedExport = Pick<ExportRow, 'id' | 'project_id' | 'name' | 'model' | 'destination_type' | 'config'>

/** Names the advisory lock under which names are compared, with a number for the organization. */
const LOCK = 0x66_69_6c

/** In a transaction: until it ends nobody else of the organization makes or moves an export of files. */
export async function assertNamesAreFree(
  tx: Db,
  project: Pick<ProjectInReach, 'organization_id'>,
  row: NamedExport,
): Promise<void> {
  const named = namesOf(row)
  if (named === null) return
  await tx.run(sql`SELECT pg_advisory_xact_lock(${LOCK}, hashtext(${project.organization_id}))`)
  const others = await tx.rows<NamedExport>(sql`
    SELECT batch_export.id, project_id, batch_export.name, model, destination_type, config
    FROM batch_export JOIN project ON project.id = batch_export.project_id
    WHERE organization_id = ${project.organization_id} AND destination_type = ${row.destination_type}
      AND batch_export.id <> ${row.id} AND deleted_at IS NULL
    ORDER BY batch_export.created_at, batch_export.id`)
  const other = others.find((each) => couldShareNames(named, namesOf(each)!))
  if (!other) return
  const whose =
    other.project_id === row.project_id ? `"${other.name}"` : `${other.id} of project ${other.project_id}`
  throw invalid(
    'destination__prefix',
    'invalid_input',
    `Its files could get the same names as those of the export ${whose}. Choose another prefix, for example one with {export_id}.`,
  )
}

/** Whether a change could give its files other names. */
export function isRenamed(before: NamedExport, after: NamedExport): boolean {
  const [one, other] = [namesOf(before), namesOf(after)]
  return one?.place !== other?.place || one?.prefix !== other?.prefix || one?.model !== other?.model
}

/** Null for tables and the like. */
function namesOf({ id, project_id, destination_type, model, config }: NamedExport): Named | null {
  const place = DESTINATIONS.get(destination_type)!.place?.(config, project_id) ?? null
  return place === null ? null : { place, prefix: String(config.prefix), model, batch_export_id: id }
}
