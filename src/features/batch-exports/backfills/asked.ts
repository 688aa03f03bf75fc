// A backfill that the command line asks a running server for: it alone has the events open, which an estimate needs.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { job } from '../../../platform/jobs/jobs.ts'
import type { ProjectRow } from '../../projects/schema.ts'
import { writeLog } from '../logs/write.ts'
import type { ExportRow } from '../rows.ts'
import { backfillExport } from '../actions.ts'

export type AskedBackfill = {
  project_id: number
  batch_export_id: string
  start_at: string | null
  end_at: string
  asked_at: string
}

/** Whoever asked has given up by then: a server that comes back an hour later must not begin. */
export const PATIENCE_MS = 60_000

const REFUSED = 'A backfill that the command line asked for was refused: '

export const startAskedBackfill = job<AskedBackfill>({
  name: 'start-asked-backfill',
  async handle(services, { project_id, batch_export_id, start_at, end_at, asked_at }, now) {
    const { db } = services
    if (now.getTime() - Date.parse(asked_at) > PATIENCE_MS) return
    const project = await db.row<ProjectRow>(sql`SELECT * FROM project WHERE id = ${project_id}`)
    const row = await db.row<ExportRow>(sql`
      SELECT * FROM batch_export WHERE project_id = ${project_id} AND id = ${batch_export_id} AND deleted_at IS NULL`)
    if (!project || !row) return
    const asked = { services, db, caller: null, request: { ip: '' }, now }
    await backfillExport(asked, { project, row }, { start_at, end_at }).catch((error: unknown) => {
      // Trying again would not help, and whoever asked reads it there.
      if (!(error instanceof ApiError) || error.status >= 500) throw error
      const message = `${REFUSED}${error.detail}`
      return writeLog(db, { project_id, batch_export_id, run_id: null }, 'ERROR', message, now)
    })
  },
})

/** Why none came of it; null when it was not refused. */
export async function findRefusal(
  db: Db,
  { project_id, batch_export_id, asked_at }: AskedBackfill,
): Promise<string | null> {
  const line = await db.row<{ message: string }>(sql`
    SELECT message FROM batch_export_log
    WHERE project_id = ${project_id} AND batch_export_id = ${batch_export_id} AND run_id IS NULL AND level = 'ERROR'
      AND timestamp >= ${asked_at}::timestamptz AND starts_with(message, ${REFUSED})
    ORDER BY timestamp DESC LIMIT 1`)
  return line ? line.message.slice(REFUSED.length) : null
}

/** The one that came of it: made since, or a live one over the same range. */
export function findAskedBackfill(
  db: Db,
  { project_id, batch_export_id, start_at, end_at, asked_at }: AskedBackfill,
): Promise<{ id: string } | undefined> {
  return db.row(sql`
    SELECT id FROM batch_export_backfill
    WHERE project_id = ${project_id} AND batch_export_id = ${batch_export_id} AND kind = 'backfill'
      AND start_at IS NOT DISTINCT FROM ${start_at}::timestamptz AND end_at = ${end_at}::timestamptz
      AND (created_at >= ${asked_at}::timestamptz OR status IN ('Starting', 'Running'))
    ORDER BY created_at DESC LIMIT 1`)
}
