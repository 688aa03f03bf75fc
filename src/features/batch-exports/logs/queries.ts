// SQL statements that read the log for the API.
import type { Db } from '../../../platform/db/database.ts'
import { joinSql, sql, type Statement } from '../../../platform/db/sql.ts'
import type { LineRange } from '../../../platform/http/live/log-tail.ts'
import type { Page } from '../../../platform/http/paging.ts'
import type { LogRow } from '../rows.ts'

/** The whole log of an export, or the lines of one run of it. */
export type LogPart = { project_id: number; batch_export_id: string; run_id?: string }

export type LogFilter = {
  /** Both exclusive. */
  after: string | null
  before: string | null
  search: string | null
  levels: readonly string[] | null
}

/** Newest first. */
export function listLogs(db: Db, part: LogPart, filter: LogFilter, page: Page): Promise<LogRow[]> {
  return db.rows(sql`
    SELECT id::float8 AS id, project_id, batch_export_id, run_id, timestamp, level, message FROM batch_export_log
    WHERE ${joinSql(conditions(part, filter), ' AND ')}
    ORDER BY batch_export_log.timestamp DESC, batch_export_log.id DESC LIMIT ${page.limit} OFFSET ${page.offset}`)
}

/** In the order of their ids. */
export async function readLines(
  db: Db,
  part: LogPart,
  filter: LogFilter,
  { from, to, most, which }: LineRange,
): Promise<LogRow[]> {
  const order = which === 'first' ? sql`ASC` : sql`DESC`
  const rows = await db.rows<LogRow>(sql`
    SELECT id::float8 AS id, project_id, batch_export_id, run_id, timestamp, level, message FROM batch_export_log
    WHERE ${joinSql(conditions(part, filter), ' AND ')} AND batch_export_log.id > ${from} AND batch_export_log.id <= ${to}
    ORDER BY batch_export_log.id ${order} LIMIT ${most}`)
  return which === 'first' ? rows : rows.toReversed()
}

/** The id of the last line of all exports: whatever any of them says later has a higher one. 0 without any line. */
export async function findLastLine(db: Db): Promise<number> {
  const { id } = await db.only<{ id: number }>(
    sql`SELECT coalesce(max(id), 0)::float8 AS id FROM batch_export_log`,
  )
  return id
}

export async function countLogs(db: Db, part: LogPart, filter: LogFilter): Promise<number> {
  const row = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM batch_export_log WHERE ${joinSql(conditions(part, filter), ' AND ')}`)
  return row.count
}

function conditions(part: LogPart, { after, before, search, levels }: LogFilter): Statement[] {
  return [
    sql`project_id = ${part.project_id} AND batch_export_id = ${part.batch_export_id}`,
    ...(part.run_id === undefined ? [] : [sql`run_id = ${part.run_id}`]),
    ...(after === null ? [] : [sql`timestamp > ${after}`]),
    ...(before === null ? [] : [sql`timestamp < ${before}`]),
    ...(search === null ? [] : [sql`strpos(lower(message), lower(${search})) > 0`]),
    ...(levels === null ? [] : [sql`level = ANY(${levels})`]),
  ]
}
