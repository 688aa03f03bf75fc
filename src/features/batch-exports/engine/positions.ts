// How far a project's events had come when an instant passed. Asked of the event store once, then kept: all exports of
// the project, and neighbouring runs above all, share the answer.
import { sql } from '../../../platform/db/sql.ts'
import type { Services } from '../../../platform/services.ts'

/** The last position that arrived before `at`, which must have passed. */
export async function positionBefore(
  { db, eventStore }: Pick<Services, 'db' | 'eventStore'>,
  project_id: number,
  at: Date,
): Promise<number> {
  const known = await db.row<{ seq: number }>(
    sql`SELECT seq::float8 AS seq FROM batch_export_bound WHERE project_id = ${project_id} AND at = ${at}`,
  )
  if (known) return known.seq
  const seq = await eventStore.positionAt(project_id, at)
  // Whoever came first is right, though both have asked the same.
  const kept = await db.only<{ seq: number }>(sql`
    INSERT INTO batch_export_bound (project_id, at, seq) VALUES (${project_id}, ${at}, ${seq})
    ON CONFLICT (project_id, at) DO UPDATE SET seq = batch_export_bound.seq RETURNING seq::float8 AS seq`)
  return kept.seq
}
