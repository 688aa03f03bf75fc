// SQL statements that read verifications, for the API and for metrics. Those that work on them are in queries.ts.
import { isUuid } from '../../../lib/uuid.ts'
import type { Db } from '../../../platform/db/database.ts'
import { joinSql, sql, type Statement } from '../../../platform/db/sql.ts'
import { notFound } from '../../../platform/http/errors.ts'
import { invalidCursor, type Cursor } from '../runs/cursor.ts'
import { VERIFICATION_COLUMNS, type Owner } from './queries.ts'
import type { VerificationRow } from './rows.ts'

export async function getVerification(db: Db, owner: Owner, id: string): Promise<VerificationRow> {
  const row = isUuid(id) ? await findVerification(db, owner, id) : undefined
  if (!row) throw notFound()
  return row
}

function findVerification(db: Db, owner: Owner, id: string): Promise<VerificationRow | undefined> {
  return db.row(sql`
    SELECT ${VERIFICATION_COLUMNS} FROM batch_export_verification WHERE ${ofExport(owner)} AND id = ${id}`)
}

/** Over all projects, for whoever runs the server. */
export function listByIds(db: Db, ids: readonly string[]): Promise<VerificationRow[]> {
  return db.rows(sql`
    SELECT ${VERIFICATION_COLUMNS} FROM batch_export_verification WHERE id = ANY(${ids}::uuid[])`)
}

/** Newest first: those next to the cursor in its direction, nearest first. */
export async function listVerifications(
  db: Db,
  owner: Owner,
  cursor: Cursor | null,
  limit: number,
): Promise<VerificationRow[]> {
  if (cursor && !(await findVerification(db, owner, cursor.id))) throw invalidCursor()
  const goesDown = cursor?.towards !== 'previous'
  const place =
    cursor &&
    sql`(SELECT created_at, id FROM batch_export_verification WHERE ${ofExport(owner)} AND id = ${cursor.id})`
  const beyond =
    place === null ? [] : [goesDown ? sql`(created_at, id) < ${place}` : sql`(created_at, id) > ${place}`]
  return db.rows(sql`
    SELECT ${VERIFICATION_COLUMNS} FROM batch_export_verification
    WHERE ${joinSql([ofExport(owner), ...beyond], ' AND ')}
    ORDER BY ${goesDown ? sql`created_at DESC, id DESC` : sql`created_at, id`} LIMIT ${limit}`)
}

/** The result that counts: the last over everything, unless a later one over less has found something. */
export const STANDS = sql`status = 'Completed'
  AND (run_id IS NULL AND start_at IS NULL AND end_at IS NULL OR verdict = 'problems')`

/** Until there is one that counts, the last one. */
export async function findStanding(db: Db, owner: Owner): Promise<VerificationRow | undefined> {
  const last = (condition: Statement) =>
    db.row<VerificationRow>(sql`
      SELECT ${VERIFICATION_COLUMNS} FROM batch_export_verification WHERE ${ofExport(owner)} AND ${condition}
      ORDER BY created_at DESC, id DESC LIMIT 1`)
  return (await last(STANDS)) ?? (await last(sql`status = 'Completed'`))
}

/** Over all exports that are there: the problems of the results that count, by kind. */
export async function countProblems(db: Db): Promise<Record<string, number>> {
  const rows = await db.rows<{ kind: string; count: number }>(sql`
    SELECT kind, sum(count::bigint)::float8 AS count FROM batch_export
    CROSS JOIN LATERAL (
      SELECT problem_kinds FROM batch_export_verification
      WHERE batch_export_id = batch_export.id AND ${STANDS} ORDER BY created_at DESC, id DESC LIMIT 1) AS standing
    CROSS JOIN LATERAL jsonb_each_text(problem_kinds) AS found (kind, count)
    WHERE deleted_at IS NULL GROUP BY kind`)
  return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]))
}

function ofExport({ id, project_id }: Owner): Statement {
  return sql`project_id = ${project_id} AND batch_export_id = ${id}`
}
