// The SQL statements about the heads of projects: how one process learns what others have changed.
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'

/**
 * The heads of those that exist, kept from deletion until the transaction ends, by id: two flushes never wait for each other.
 * `last` is at least the number of every change there is.
 */
export async function lockProjects(
  db: Db,
  ids: readonly number[],
): Promise<{ heads: Map<number, bigint>; last: bigint }> {
  const rows = await db.rows<{ id: number; head: string; last: string }>(sql`
    SELECT id, coalesce(change, 0) AS head, (SELECT last_value FROM people_change) AS last
    FROM project LEFT JOIN people_head ON project_id = id
    WHERE id = ANY(${ids}) ORDER BY id FOR KEY SHARE OF project`)
  return {
    heads: new Map(rows.map(({ id, head }) => [id, BigInt(head)])),
    last: BigInt(rows[0]?.last ?? 0),
  }
}

/**
 * The number of a new head is taken once its row is held, and those of the changes after that. So statements that number a
 * row before they meet it (INSERT … ON CONFLICT) number it right: nobody else writes to the project.
 */
export async function takeHeads(
  db: Db,
  projectIds: readonly number[],
): Promise<{ project_id: number; change: bigint; before: bigint }[]> {
  const rows = await db.rows<{ project_id: number; change: string; before: string }>(sql`
    INSERT INTO people_head AS head (project_id, change)
    SELECT id, nextval('people_change') FROM unnest(${projectIds}::int[]) AS taken (id) ORDER BY id
    ON CONFLICT (project_id) DO UPDATE SET before = head.change, change = nextval('people_change')
    RETURNING project_id, change, before`)
  return rows.map(({ project_id, change, before }) => ({
    project_id,
    change: BigInt(change),
    before: BigInt(before),
  }))
}

/** A person, or a group. */
export type ChangedRow = { project_id: number; change: string } & (
  | { uuid: string; index: null; key: null }
  | { uuid: null; index: number; key: string }
)

/** Whoever changed after what was seen of a project. A distinct id never moves without a change of both persons. */
export function listChangedAfter(
  db: Db,
  seen: readonly { project_id: number; change: bigint }[],
): Promise<ChangedRow[]> {
  const least = seen.reduce((min, { change }) => (change < min ? change : min), seen[0]!.change)
  return db.rows(sql`
    WITH seen AS (
      SELECT * FROM unnest(${seen.map(({ project_id }) => project_id)}::int[],
        ${seen.map(({ change }) => String(change))}::bigint[]) AS given (project_id, seen))
    SELECT project_id, change, uuid, NULL::smallint AS index, NULL AS key
    FROM person JOIN seen USING (project_id) WHERE change > ${least} AND change > seen
    UNION ALL
    SELECT project_id, change, NULL, index, key
    FROM group_of_project JOIN seen USING (project_id) WHERE change > ${least} AND change > seen`)
}

/** The states that projects are in. */
export async function readHeads(db: Db, projectIds: readonly number[]): Promise<Map<number, bigint>> {
  const rows = await db.rows<{ project_id: number; change: string }>(
    sql`SELECT project_id, change FROM people_head WHERE project_id = ANY(${projectIds})`,
  )
  return new Map(rows.map(({ project_id, change }) => [project_id, BigInt(change)]))
}
