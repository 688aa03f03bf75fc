// What PostgreSQL knows of a project that is being moved to ClickHouse. A batch counts once its last position stands here;
// until then, and for good if its writer was killed, the batch is on the list of those that are never read.
import type { Database } from '../../../db/database.ts'
import { sql } from '../../../db/sql.ts'
import type { ProjectState } from '../../moving/side.ts'

/** Forgets what was known before ClickHouse held anything, or of a database that was emptied since. */
export async function forgetAll(db: Database): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run(sql`DELETE FROM event_block`)
    await tx.run(sql`DELETE FROM event_hole`)
    await tx.run(sql`DELETE FROM event_head`)
    await tx.run(sql`DELETE FROM owed_copies`)
  })
}

export async function insertHead(db: Database, project_id: number): Promise<void> {
  await db.run(sql`
    INSERT INTO event_head (project_id, last_position, arrived_at) VALUES (${project_id}, 0, 0) ON CONFLICT DO NOTHING`)
}

export async function findHead(
  db: Database,
  project_id: number,
): Promise<{ last_position: number; arrived_at: bigint }> {
  const row = await db.row<{ last_position: string; arrived_at: string }>(sql`
    SELECT last_position, arrived_at FROM event_head WHERE project_id = ${project_id}`)
  return { last_position: Number(row?.last_position ?? 0), arrived_at: BigInt(row?.arrived_at ?? 0) }
}

/** What lies there of the batch is not read. */
export async function hideBatch(db: Database, project_id: number, batch: string): Promise<void> {
  await db.run(sql`
    INSERT INTO event_hole (project_id, after_position, last_position, left_behind)
    SELECT project_id, last_position, last_position, ${batch}::uuid FROM event_head WHERE project_id = ${project_id}`)
}

export async function commitBatch(
  db: Database,
  project_id: number,
  batch: string,
  last_position: number,
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run(
      sql`DELETE FROM event_hole WHERE project_id = ${project_id} AND left_behind = ${batch}::uuid`,
    )
    await tx.run(sql`UPDATE event_head SET last_position = ${last_position} WHERE project_id = ${project_id}`)
  })
}

export async function finishHead(
  db: Database,
  project_id: number,
  { last_position, arrived_at, holes }: ProjectState,
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run(sql`DELETE FROM event_hole WHERE project_id = ${project_id} AND left_behind IS NULL`)
    await tx.run(sql`
      INSERT INTO event_hole (project_id, after_position, last_position)
      SELECT ${project_id}, * FROM unnest(${holes.map(({ from }) => from)}::bigint[], ${holes.map(({ to }) => to)}::bigint[])`)
    await tx.run(sql`
      UPDATE event_head SET last_position = greatest(last_position, ${last_position}),
        arrived_at = greatest(arrived_at, ${arrived_at})
      WHERE project_id = ${project_id}`)
  })
}

export async function listHeads(db: Database, is_deleted: boolean): Promise<number[]> {
  const rows = await db.rows<{ project_id: number }>(sql`
    SELECT project_id FROM event_head WHERE is_deleted = ${is_deleted} ORDER BY project_id`)
  return rows.map(({ project_id }) => project_id)
}

/** Batches that somebody was at when the last server ended. */
export async function listOpenBatches(db: Database): Promise<string[]> {
  const rows = await db.rows<{ batch: string }>(sql`SELECT DISTINCT batch FROM event_block`)
  return rows.map(({ batch }) => batch)
}

/** The last change of persons and groups up to which all copies are there. */
export async function copiesPosition(db: Database): Promise<bigint> {
  const row = await db.only<{ position: string }>(sql`
    SELECT coalesce((SELECT min(after_change) FROM owed_copies), last_value) AS position FROM people_change`)
  return BigInt(row.position)
}

/** What changed since is owed, and the first server makes up for it. */
export async function keepCopiesPosition(db: Database, position: bigint): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run(sql`DELETE FROM owed_copies`)
    await tx.run(sql`
      INSERT INTO owed_copies (last_change, after_change, leased_until)
      SELECT last_value, ${position}, now() FROM people_change WHERE last_value > ${position}`)
  })
}
