// SQL statements that read the log of a config for the API.
import type { Db } from '../../../platform/db/database.ts'
import { joinSql, sql, type Statement } from '../../../platform/db/sql.ts'
import type { LineRange } from '../../../platform/http/live/log-tail.ts'
import type { Page } from '../../../platform/http/paging.ts'
import type { NewLine } from './write-queries.ts'

export type PluginLogRow = NewLine & { id: number; instance_id: string }

export type LogOwner = { project_id: number; plugin_config_id: number }

export type LogFilter = {
  /** Both exclusive. */
  after: string | null
  before: string | null
  search: string | null
  types: readonly string[] | null
}

/** Newest first. */
export function listLogs(db: Db, owner: LogOwner, filter: LogFilter, page: Page): Promise<PluginLogRow[]> {
  return db.rows(sql`
    SELECT id::float8 AS id, project_id, plugin_id, plugin_config_id, timestamp, source, type, message, instance_id
    FROM plugin_log WHERE ${joinSql(conditions(owner, filter), ' AND ')}
    ORDER BY plugin_log.id DESC LIMIT ${page.limit} OFFSET ${page.offset}`)
}

/** In the order of their ids. */
export async function readLines(
  db: Db,
  owner: LogOwner,
  filter: LogFilter,
  { from, to, most, which }: LineRange,
): Promise<PluginLogRow[]> {
  const order = which === 'first' ? sql`ASC` : sql`DESC`
  const rows = await db.rows<PluginLogRow>(sql`
    SELECT id::float8 AS id, project_id, plugin_id, plugin_config_id, timestamp, source, type, message, instance_id
    FROM plugin_log
    WHERE ${joinSql(conditions(owner, filter), ' AND ')} AND plugin_log.id > ${from} AND plugin_log.id <= ${to}
    ORDER BY plugin_log.id ${order} LIMIT ${most}`)
  return which === 'first' ? rows : rows.toReversed()
}

/** The id of the last line of all configs: whatever any of them says later has a higher one. 0 without any line. */
export async function findLastLine(db: Db): Promise<number> {
  const { id } = await db.only<{ id: number }>(sql`SELECT coalesce(max(id), 0)::float8 AS id FROM plugin_log`)
  return id
}

export async function countLogs(db: Db, owner: LogOwner, filter: LogFilter): Promise<number> {
  const row = await db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM plugin_log WHERE ${joinSql(conditions(owner, filter), ' AND ')}`)
  return row.count
}

function conditions(owner: LogOwner, { after, before, search, types }: LogFilter): Statement[] {
  return [
    sql`project_id = ${owner.project_id} AND plugin_config_id = ${owner.plugin_config_id}`,
    ...(after === null ? [] : [sql`timestamp > ${after}`]),
    ...(before === null ? [] : [sql`timestamp < ${before}`]),
    ...(search === null ? [] : [sql`strpos(lower(message), lower(${search})) > 0`]),
    ...(types === null ? [] : [sql`type = ANY(${types})`]),
  ]
}
