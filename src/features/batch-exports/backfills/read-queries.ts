// SQL statements that read backfills for the API, each with what its runs say. Those that move them on are in queries.ts.
import { isUuid } from '../../../lib/uuid.ts'
import type { Db } from '../../../platform/db/database.ts'
import { joinSql, sql, type Statement } from '../../../platform/db/sql.ts'
import { notFound } from '../../../platform/http/errors.ts'
import type { BackfillRow } from '../rows.ts'
import { BACKFILL_COLUMNS } from '../runs/columns.ts'
import { invalidCursor, type Cursor } from '../runs/cursor.ts'
import type { RunOwner } from '../runs/read-queries.ts'

export type ShownBackfill = BackfillRow & { finished_runs: number; total_records_count: number | null }

export type BackfillOrder = { by: 'created_at' | 'start_at'; is_newest_first: boolean }

export async function getBackfill(db: Db, owner: RunOwner, id: string): Promise<ShownBackfill> {
  const row = isUuid(id) ? await findBackfill(db, owner, id) : undefined
  if (!row) throw notFound()
  return row
}

function findBackfill(db: Db, owner: RunOwner, id: string): Promise<ShownBackfill | undefined> {
  return db.row(sql`${shownBackfills(owner)} WHERE ${ofExport(owner)} AND id = ${id}`)
}

/** Those next to the cursor in its direction, nearest first; from the beginning without one. */
export async function listBackfills(
  db: Db,
  owner: RunOwner,
  order: BackfillOrder,
  cursor: Cursor | null,
  limit: number,
): Promise<ShownBackfill[]> {
  if (cursor && !(await findBackfill(db, owner, cursor.id))) throw invalidCursor()
  // Without a start it begins before all others.
  const by = order.by === 'created_at' ? sql`created_at` : sql`coalesce(start_at, '-infinity')`
  const goesDown = order.is_newest_first === (cursor?.towards !== 'previous')
  const place =
    cursor &&
    sql`(SELECT ${by}, id FROM batch_export_backfill WHERE ${ofExport(owner)} AND id = ${cursor.id})`
  const beyond = place === null ? [] : [goesDown ? sql`(${by}, id) < ${place}` : sql`(${by}, id) > ${place}`]
  const sorted = goesDown ? sql`${by} DESC, id DESC` : sql`${by}, id`
  return db.rows(sql`
    ${shownBackfills(owner)} WHERE ${joinSql([ofExport(owner), ...beyond], ' AND ')}
    ORDER BY ${sorted} LIMIT ${limit}`)
}

function shownBackfills({ project_id }: RunOwner): Statement {
  return sql`
    SELECT ${BACKFILL_COLUMNS}, finished_runs, total_records_count FROM batch_export_backfill
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE run.finished_at IS NOT NULL)::int AS finished_runs,
        sum(records_total_count)::float8 AS total_records_count
      FROM batch_export_run AS run
      WHERE run.project_id = ${project_id} AND run.backfill_id = batch_export_backfill.id) AS runs`
}

function ofExport({ id, project_id }: RunOwner): Statement {
  return sql`project_id = ${project_id} AND batch_export_id = ${id}`
}
