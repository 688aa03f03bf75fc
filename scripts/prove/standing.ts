// How far the exports of a simulation have come: what is left to do, and when.
import { sql } from '../../src/platform/db/sql.ts'
import type { World } from './world.ts'

export type Standing = {
  runs: number
  /** Runs or backfills have not ended, or somebody holds one. */
  is_live: boolean
  /** When the next of them can be worked on. */
  next: Date | null
  /** When the next interval ends that has no run. */
  due: Date | null
}

export function standingOf({ proof, project }: World): Promise<Standing> {
  return proof.db.only(sql`
    WITH live AS (
      SELECT * FROM batch_export_run
      WHERE project_id = ${project.id} AND (finished_at IS NULL OR lease_owner IS NOT NULL))
    SELECT (SELECT count(*)::int FROM batch_export_run WHERE project_id = ${project.id}) AS runs,
      EXISTS (SELECT 1 FROM live) OR EXISTS (SELECT 1 FROM batch_export_backfill
        WHERE project_id = ${project.id} AND finished_at IS NULL) AS is_live,
      (SELECT min(CASE WHEN lease_until IS NULL THEN run_after ELSE lease_until + interval '1 ms' END) FROM live)
        AS next,
      (SELECT min(next_due_at) FROM batch_export
        WHERE project_id = ${project.id} AND deleted_at IS NULL AND NOT paused) AS due`)
}

/** For whoever reads why it went wrong. */
export async function describeLive(world: World): Promise<string> {
  const live = await world.look(sql`
    SELECT id, status, backfill_id, data_interval_end, run_after, lease_until, attempt, failures
    FROM batch_export_run
    WHERE project_id = ${world.project.id} AND (finished_at IS NULL OR lease_owner IS NOT NULL) ORDER BY id`)
  return JSON.stringify(live)
}
