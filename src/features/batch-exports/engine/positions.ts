// How far a project's events had come when an instant passed. Asked of the event store once, then kept: all exports of
// the project, and neighbouring runs above all, share the answer.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { Services } from '../../../platform/services.ts'

/** As it was asked for before: also an instant that has passed, and lies ahead again since the clock was set back. */
export async function findPosition(db: Db, project_id: number, at: Date): Promise<number | null> {
  const known = await db.row<{ seq: number }>(
    sql`SELECT seq::float8 AS seq FROM batch_export_bound WHERE project_id = ${project_id} AND at = ${at}`,
  )
  return known?.seq ?? null
}

/** The last position that arrived before `at`, which must have passed. */
export async function positionBefore(
  { db, eventStore }: Pick<Services, 'db' | 'eventStore'>,
  project_id: number,
  at: Date,
): Promise<number> {
  const known = await findPosition(db, project_id, at)
  if (known !== null) return known
  const seq = await eventStore.positionAt(project_id, at)
  // Whoever came first is right, though both have asked the same.
  const kept = await db.only<{ seq: number }>(sql`
    INSERT INTO batch_export_bound (project_id, at, seq) VALUES (${project_id}, ${at}, ${seq})
    ON CONFLICT (project_id, at) DO UPDATE SET seq = batch_export_bound.seq RETURNING seq::float8 AS seq`)
  return kept.seq
}
