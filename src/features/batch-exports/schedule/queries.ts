// Every SQL statement about when exports are due.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { ExportRow } from '../rows.ts'

/** How far an export's schedule has come. */
export type Standing = {
  batch_export_id: string
  /** Runs of the schedule that have not ended. */
  live_runs: number
  /** End of the last interval that has a run: nothing before it may go out again. */
  covered_until: Date | null
}

/** Over all projects, those that have waited longest first. */
export async function listDueExports(db: Db, now: Date): Promise<string[]> {
  const rows = await db.rows<{ id: string }>(sql`
    SELECT id FROM batch_export
    WHERE deleted_at IS NULL AND NOT paused AND next_due_at <= ${now} AND (end_at IS NULL OR next_due_at <= end_at)
    ORDER BY next_due_at, id`)
  return rows.map(({ id }) => id)
}

/** Those of them that are still due, and that no other scheduler is busy with. */
export function lockDueExports(tx: Db, ids: readonly string[], now: Date): Promise<ExportRow[]> {
  return tx.rows(sql`
    SELECT * FROM batch_export
    WHERE id = ANY(${ids}::uuid[]) AND deleted_at IS NULL AND NOT paused AND next_due_at <= ${now}
    ORDER BY next_due_at, id FOR NO KEY UPDATE SKIP LOCKED`)
}

/** Asked once the exports are locked: before that, another scheduler may be adding runs. */
export async function standings(tx: Db, ids: readonly string[]): Promise<Map<string, Standing>> {
  const rows = await tx.rows<Standing>(sql`
    SELECT export.id AS batch_export_id,
      (SELECT count(*)::int FROM batch_export_run
        WHERE batch_export_id = export.id AND backfill_id IS NULL AND finished_at IS NULL) AS live_runs,
      (SELECT max(data_interval_end) FROM batch_export_run
        WHERE batch_export_id = export.id AND selection = 'arrival' AND repeats IS NULL) AS covered_until
    FROM unnest(${ids}::uuid[]) AS export (id)`)
  return new Map(rows.map((row) => [row.batch_export_id, row]))
}

/** Not a change that anybody made: `last_updated_at` stays. */
export async function moveDue(
  tx: Db,
  moves: readonly { id: string; project_id: number; next_due_at: Date }[],
): Promise<void> {
  await tx.run(sql`
    UPDATE batch_export SET next_due_at = move.next_due_at
    FROM unnest(${moves.map(({ id }) => id)}::uuid[], ${moves.map(({ project_id }) => project_id)}::int[],
      ${moves.map(({ next_due_at }) => next_due_at)}::timestamptz[]) AS move (id, project_id, next_due_at)
    WHERE batch_export.project_id = move.project_id AND batch_export.id = move.id`)
}
