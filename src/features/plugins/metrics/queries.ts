// SQL statements that read metrics for the API.
import type { Db } from '../../../platform/db/database.ts'
import { joinSql, sql, type Statement } from '../../../platform/db/sql.ts'
import type { Category } from './categories.ts'
import type { Bucket, Range } from './range.ts'

/** Which calls of which config; `job_id` null: those of all jobs, and those of none. */
export type Calls = {
  project_id: number
  plugin_config_id: number
  category: Category
  job_id: string | null
}

/** Buckets in which nothing happened are left out. */
export function listCounts(db: Db, calls: Calls, { from, to, bucket }: Range): Promise<Bucket[]> {
  return db.rows(sql`
    SELECT date_bin(${`1 ${bucket}`}::interval, hour, ${from}::timestamptz) AS begins_at,
      sum(successes)::float8 AS successes, sum(successes_on_retry)::float8 AS successes_on_retry,
      sum(failures)::float8 AS failures
    FROM plugin_metric WHERE ${isAmong(calls)} AND hour >= ${from} AND hour < ${to}
    GROUP BY begins_at`)
}

export type ErrorTypeRow = { error_type: string; count: number; last_seen: Date }

const MAX_ERROR_TYPES = 100

/** The most frequent first. */
export function listErrorTypes(db: Db, calls: Calls, { from, to }: Range): Promise<ErrorTypeRow[]> {
  return db.rows(sql`
    SELECT error_type, count(*)::int AS count, max(timestamp) AS last_seen FROM plugin_metric_error
    WHERE ${isAmong(calls)} AND timestamp >= ${from} AND timestamp < ${to}
    GROUP BY error_type ORDER BY count DESC, last_seen DESC LIMIT ${MAX_ERROR_TYPES}`)
}

export type ErrorRow = { id: string; timestamp: Date; error_type: string; details: Record<string, unknown> }

const MAX_ERRORS = 100

/** Newest first. */
export function listErrors(db: Db, calls: Calls, error_type: string): Promise<ErrorRow[]> {
  return db.rows(sql`
    SELECT id, timestamp, error_type, details FROM plugin_metric_error
    WHERE ${isAmong(calls)} AND error_type = ${error_type}
    ORDER BY timestamp DESC, id DESC LIMIT ${MAX_ERRORS}`)
}

function isAmong({ project_id, plugin_config_id, category, job_id }: Calls): Statement {
  return joinSql(
    [
      sql`project_id = ${project_id} AND plugin_config_id = ${plugin_config_id} AND category = ${category}`,
      ...(job_id === null ? [] : [sql`job_id = ${job_id}`]),
    ],
    ' AND ',
  )
}
