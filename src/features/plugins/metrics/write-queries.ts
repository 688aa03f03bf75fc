// SQL statements that write metrics. What belongs to a config that is gone is left out.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { Category } from './categories.ts'

export type Counts = {
  project_id: number
  plugin_config_id: number
  category: Category
  /** When it began, in milliseconds since 1970. */
  hour: number
  /** Empty: not of a job. */
  job_id: string
  successes: number
  successes_on_retry: number
  failures: number
}

export type NewFault = {
  id: string
  project_id: number
  plugin_config_id: number
  category: Category
  job_id: string
  timestamp: Date
  error_type: string
  /** JSON text. */
  details: string
}

/** Always in one order: two that add to the same rows would otherwise wait for each other. */
export async function addCounts(db: Db, counts: readonly Counts[]): Promise<void> {
  if (counts.length === 0) return
  const column = <Name extends keyof Counts>(name: Name) => counts.map((entry) => entry[name])
  await db.run(sql`
    INSERT INTO plugin_metric
      (project_id, plugin_config_id, category, hour, job_id, successes, successes_on_retry, failures)
    SELECT added.* FROM unnest(${column('project_id')}::int[], ${column('plugin_config_id')}::int[],
      ${column('category')}::text[], ${counts.map(({ hour }) => new Date(hour))}::timestamptz[],
      ${column('job_id')}::text[], ${column('successes')}::bigint[], ${column('successes_on_retry')}::bigint[],
      ${column('failures')}::bigint[])
      AS added (project_id, plugin_config_id, category, hour, job_id, successes, successes_on_retry, failures)
    JOIN plugin_config c ON c.id = added.plugin_config_id AND c.project_id = added.project_id
    ORDER BY added.plugin_config_id, added.category, added.hour, added.job_id
    ON CONFLICT (plugin_config_id, category, hour, job_id) DO UPDATE SET
      successes = plugin_metric.successes + excluded.successes,
      successes_on_retry = plugin_metric.successes_on_retry + excluded.successes_on_retry,
      failures = plugin_metric.failures + excluded.failures`)
}

export async function insertFaults(db: Db, faults: readonly NewFault[]): Promise<void> {
  if (faults.length === 0) return
  const column = <Name extends keyof NewFault>(name: Name) => faults.map((fault) => fault[name])
  await db.run(sql`
    INSERT INTO plugin_metric_error
      (id, project_id, plugin_config_id, category, job_id, timestamp, error_type, details)
    SELECT fault.* FROM unnest(${column('id')}::uuid[], ${column('project_id')}::int[],
      ${column('plugin_config_id')}::int[], ${column('category')}::text[], ${column('job_id')}::text[],
      ${column('timestamp')}::timestamptz[], ${column('error_type')}::text[],
      ${column('details')}::json[])
      AS fault (id, project_id, plugin_config_id, category, job_id, timestamp, error_type, details)
    JOIN plugin_config c ON c.id = fault.plugin_config_id AND c.project_id = fault.project_id`)
}
