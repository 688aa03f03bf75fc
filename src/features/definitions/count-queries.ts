// The SQL statements about how far a project's events are counted.
import { uuid7 } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import { MAX_EVENTS } from './limits.ts'

export type CountedEvent = { name: string; volume: number; first_seen_at: string; last_seen_at: string }

/** The position to count on from; null when somebody else did so, or began to, less than `pause_ms` ago. */
export async function claimCount(
  db: Db,
  projectId: number,
  now: Date,
  pause_ms: number,
): Promise<number | null> {
  const before = new Date(now.getTime() - pause_ms)
  const row = await db.row<{ position: string }>(sql`
    INSERT INTO definition_count AS count (project_id, position, claimed_at) VALUES (${projectId}, 0, ${now})
    ON CONFLICT (project_id) DO UPDATE SET claimed_at = excluded.claimed_at WHERE count.claimed_at <= ${before}
    RETURNING position`)
  return row ? Number(row.position) : null
}

/** Adds what was counted in (from, to], once: whoever comes second changes nothing. New names get a definition. */
export async function countTo(
  db: Db,
  projectId: number,
  { from, to }: { from: number; to: number },
  counted: readonly CountedEvent[],
  now: Date,
): Promise<void> {
  const rows = counted
    .map((event) => ({ ...event, id: uuid7(now) }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
  await db.transaction(async (tx) => {
    const moved = await tx.run(sql`
      UPDATE definition_count SET position = ${to} WHERE project_id = ${projectId} AND position = ${from}`)
    if (moved === 0) return
    const known = await tx.only<{ count: number }>(
      sql`SELECT count(*)::int AS count FROM event_definition WHERE project_id = ${projectId}`,
    )
    await tx.run(sql`
      WITH counted AS (
        SELECT *, row_number() OVER (PARTITION BY is_known ORDER BY volume DESC, name) AS place FROM (
          SELECT made.*, EXISTS (SELECT FROM event_definition AS known
            WHERE known.project_id = ${projectId} AND known.name = made.name) AS is_known
          FROM json_to_recordset(${JSON.stringify(rows)}::json)
            AS made (id uuid, name text, volume bigint, first_seen_at timestamptz, last_seen_at timestamptz)) AS each)
      INSERT INTO event_definition (project_id, id, name, properties, volume, last_seen_at, created_at, updated_at)
      SELECT ${projectId}, id, name, '{}', volume, last_seen_at, first_seen_at, ${now} FROM counted
      WHERE is_known OR place <= ${Math.max(0, MAX_EVENTS - known.count)} ORDER BY name
      ON CONFLICT (project_id, name) DO UPDATE SET volume = event_definition.volume + excluded.volume,
        last_seen_at = greatest(event_definition.last_seen_at, excluded.last_seen_at),
        created_at = least(event_definition.created_at, excluded.created_at)`)
  })
}
