// What the server's database says of its runs while it works.
import type { Database } from '../../../src/platform/db/database.ts'
import { sql } from '../../../src/platform/db/sql.ts'

export type Starts = {
  runs: number
  completed: number
  of_schedule: number
  /** From a run's time to its first step; until now, for one that has not begun. */
  worst_s: number
  mean_s: number
}

/** Looks at the runs of one project whose time came between the two. */
export function startsOf(
  db: Database,
  project_id: number,
  from: Date,
  until: Date,
  now: Date,
): Promise<Starts> {
  return db.only(sql`
    SELECT count(*)::int AS runs, (count(*) FILTER (WHERE status = 'Completed'))::int AS completed,
      (count(*) FILTER (WHERE backfill_id IS NULL))::int AS of_schedule,
      coalesce(max(delay), 0)::float8 AS worst_s, coalesce(avg(delay), 0)::float8 AS mean_s
    FROM (
      SELECT *, extract(epoch FROM coalesce(started_at, ${now}) - greatest(run_after, created_at)) AS delay
      FROM batch_export_run
      WHERE project_id = ${project_id} AND run_after BETWEEN ${from} AND ${until}) AS run`)
}

export async function countCompleted(db: Database, project_ids: readonly number[]): Promise<number> {
  const { count } = await db.only<{ count: number }>(sql`
    SELECT count(DISTINCT project_id)::int AS count FROM batch_export_run
    WHERE project_id = ANY (${project_ids}) AND status = 'Completed' AND records_completed > 0`)
  return count
}

export type Load = { at_work: number; unfinished: number; breakers: number }

/** What the projects with dead destinations have going on. */
export function loadOf(db: Database, project_ids: readonly number[]): Promise<Load> {
  return db.only(sql`
    SELECT (count(*) FILTER (WHERE lease_owner IS NOT NULL))::int AS at_work, count(*)::int AS unfinished,
      (SELECT count(*)::int FROM batch_export_breaker
        WHERE project_id = ANY (${project_ids}) AND opened_at IS NOT NULL) AS breakers
    FROM batch_export_run WHERE project_id = ANY (${project_ids}) AND finished_at IS NULL`)
}
