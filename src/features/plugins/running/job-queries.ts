// The jobs that apps put off for later: kept until they are done.
import { randomUuid } from '../../../lib/uuid.ts'
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { AppIds } from './running-app.ts'

export type JobRow = {
  id: string
  project_id: number
  plugin_config_id: number
  name: string
  payload: unknown
  attempt: number
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

/** Begins what is due, at most `free` of each config. Whoever does not come back has lost it after the lease. */
export function claimJobs(
  db: Db,
  configs: readonly { config_id: number; free: number }[],
  now: Date,
  leased_until: Date,
): Promise<JobRow[]> {
  return db.rows(sql`
    UPDATE plugin_job SET attempt = attempt + 1, run_at = ${leased_until}
    FROM (
      SELECT due.id FROM unnest(${configs.map(({ config_id }) => config_id)}::int[],
        ${configs.map(({ free }) => free)}::int[]) AS config (id, free)
      CROSS JOIN LATERAL (
        SELECT id FROM plugin_job WHERE plugin_config_id = config.id AND run_at <= ${now}
        ORDER BY run_at LIMIT config.free FOR UPDATE SKIP LOCKED) AS due
    ) AS claimed
    WHERE plugin_job.id = claimed.id
    RETURNING plugin_job.id, project_id, plugin_config_id, name, payload, attempt`)
}

export async function deleteJob(db: Db, { project_id, id }: JobRow): Promise<void> {
  await db.run(sql`DELETE FROM plugin_job WHERE project_id = ${project_id} AND id = ${id}`)
}

/** The same job, with another payload, as if it had not begun. */
export async function continueJob(
  db: Db,
  { project_id, id }: JobRow,
  payload: string,
  run_at: Date,
): Promise<void> {
  await db.run(sql`
    UPDATE plugin_job SET payload = ${payload}, attempt = 0, run_at = ${run_at}
    WHERE project_id = ${project_id} AND id = ${id}`)
}

/** `attempt`: how often it counts as begun. */
export async function putOffJob(
  db: Db,
  { project_id, id }: JobRow,
  attempt: number,
  run_at: Date,
): Promise<void> {
  await db.run(sql`
    UPDATE plugin_job SET attempt = ${attempt}, run_at = ${run_at} WHERE project_id = ${project_id} AND id = ${id}`)
}
