// The jobs that apps put off for later: kept until they are done.
import { randomUuid } from '../../../lib/uuid.ts'
import type { Db } from '../../../platform/db/database.ts'
import { sql, type Statement } from '../../../platform/db/sql.ts'
import type { AppIds } from './running-app.ts'

export type JobRow = {
  id: string
  project_id: number
  plugin_config_id: number
  name: string
  payload: unknown
  attempt: number
  /** The process that runs it. */
  process_id: string
}

/** `payload` is JSON text. False when too many wait. */
export async function addJob(
  db: Db,
  { project_id, config_id }: Pick<AppIds, 'project_id' | 'config_id'>,
  job: { name: string; payload: string; run_at: Date },
  max_waiting: number,
  now: Date,
): Promise<boolean> {
  const count = await db.run(sql`
    INSERT INTO plugin_job (id, project_id, plugin_config_id, name, payload, run_at, created_at)
    SELECT ${randomUuid()}, ${project_id}, ${config_id}, ${job.name}, ${job.payload}, ${job.run_at}, ${now}
    WHERE (SELECT count(*) FROM plugin_job WHERE project_id = ${project_id} AND plugin_config_id = ${config_id})
      < ${max_waiting}`)
  return count > 0
}

/**
 * Begins what is due, at most `free` of each config, as long as their projects are this process's. What it never ends is due
 * again after the lease, or when another process works for the project; `under_way` are those that this one has not ended yet.
 */
export function claimJobs(
  db: Db,
  process_id: string,
  configs: readonly { config_id: number; free: number }[],
  under_way: readonly string[],
  now: Date,
  leased_until: Date,
): Promise<JobRow[]> {
  return db.rows(sql`
    UPDATE plugin_job SET attempt = attempt + 1, run_at = ${leased_until}, process_id = ${process_id}
    FROM (
      SELECT due.id FROM unnest(${configs.map(({ config_id }) => config_id)}::int[],
        ${configs.map(({ free }) => free)}::int[]) AS config (id, free)
      CROSS JOIN LATERAL (
        SELECT id FROM plugin_job JOIN plugin_lease USING (project_id)
        WHERE plugin_config_id = config.id AND run_at <= ${now} AND plugin_lease.process_id = ${process_id}
          AND plugin_job.id <> ALL(${under_way}::uuid[])
        ORDER BY run_at LIMIT config.free FOR UPDATE OF plugin_job SKIP LOCKED FOR SHARE OF plugin_lease) AS due
    ) AS claimed
    WHERE plugin_job.id = claimed.id
    RETURNING plugin_job.id, project_id, plugin_config_id, name, payload, attempt, process_id`)
}

/** What another process has taken over is left to it, here and below. */
export async function deleteJob(db: Db, job: JobRow): Promise<void> {
  await db.run(sql`DELETE FROM plugin_job WHERE ${isOurs(job)}`)
}

/** The same job, with another payload, as if it had not begun. */
export async function continueJob(db: Db, job: JobRow, payload: string, run_at: Date): Promise<void> {
  await db.run(sql`
    UPDATE plugin_job SET payload = ${payload}, attempt = 0, run_at = ${run_at}, process_id = NULL
    WHERE ${isOurs(job)}`)
}

/** `attempt`: how often it counts as begun. */
export async function putOffJob(db: Db, job: JobRow, attempt: number, run_at: Date): Promise<void> {
  await db.run(sql`
    UPDATE plugin_job SET attempt = ${attempt}, run_at = ${run_at}, process_id = NULL WHERE ${isOurs(job)}`)
}

function isOurs({ project_id, id, process_id, attempt }: JobRow): Statement {
  return sql`project_id = ${project_id} AND id = ${id} AND process_id = ${process_id} AND attempt = ${attempt}`
}
