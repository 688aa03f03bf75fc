// The exports that a command names.
import type { ExportRow } from '../../features/batch-exports/rows.ts'
import { isUuid } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import { UserError } from '../command.ts'

/** All of them without an id, oldest first; with one, exactly that. */
export async function findExports(db: Db, id?: string): Promise<ExportRow[]> {
  if (id !== undefined && !isUuid(id)) throw new UserError('the id of an export is a UUID')
  const rows = await db.rows<ExportRow>(sql`
    SELECT * FROM batch_export WHERE deleted_at IS NULL AND (id = ${id ?? null}::uuid OR ${id ?? null}::uuid IS NULL)
    ORDER BY created_at, id`)
  if (id !== undefined && rows.length === 0) throw new UserError(`there is no export ${id}`)
  return rows
}
