// Processes that work for apps, and the projects of each, as rows. A lease that is checked stays until the end of the
// transaction: whoever takes over passes such a row by, and comes back for it.
import type { Db } from '../../../platform/db/database.ts'
import { sql, type Statement } from '../../../platform/db/sql.ts'

export type Lease = { readonly project_id: number; readonly process_id: string }

export async function enterProcess(tx: Db, id: string, until: Date): Promise<void> {
  await tx.run(sql`INSERT INTO plugin_process (id, until) VALUES (${id}, ${until})`)
}

/** False when it is not there. */
export async function keepProcess(tx: Db, id: string, until: Date): Promise<boolean> {
  return (await tx.run(sql`UPDATE plugin_process SET until = ${until} WHERE id = ${id}`)) > 0
}

export async function removeProcess(db: Db, id: string): Promise<void> {
  await db.run(sql`DELETE FROM plugin_process WHERE id = ${id}`)
}

/** Those whose time was over before, and their leases. One that renews its time at this very moment is passed by. */
export async function removeDeadProcesses(db: Db, before: Date): Promise<void> {
  await db.run(sql`
    DELETE FROM plugin_lease USING (
      SELECT lease.project_id FROM plugin_lease lease JOIN plugin_process process ON process.id = lease.process_id
      WHERE process.until < ${before} FOR UPDATE SKIP LOCKED) AS dead
    WHERE plugin_lease.project_id = dead.project_id`)
  await db.run(sql`
    DELETE FROM plugin_process USING (
      SELECT id FROM plugin_process WHERE until < ${before}
        AND NOT EXISTS (SELECT FROM plugin_lease WHERE process_id = plugin_process.id)
      FOR UPDATE SKIP LOCKED) AS dead
    WHERE plugin_process.id = dead.id`)
}

export async function countProcesses(db: Db): Promise<number> {
  return (await db.only<{ count: number }>(sql`SELECT count(*)::int AS count FROM plugin_process`)).count
}

export async function listLeases(db: Db, process_id: string): Promise<number[]> {
  const rows = await db.rows<{ project_id: number }>(sql`
    SELECT project_id FROM plugin_lease WHERE process_id = ${process_id} ORDER BY project_id`)
  return rows.map(({ project_id }) => project_id)
}

export async function giveBackLeases(
  db: Db,
  process_id: string,
  project_ids: readonly number[],
): Promise<void> {
  await db.run(sql`
    DELETE FROM plugin_lease WHERE process_id = ${process_id} AND project_id = ANY(${project_ids}::int[])`)
}

/** Those of the projects that nobody has, `count` at most. */
export async function takeLeases(
  db: Db,
  process_id: string,
  project_ids: readonly number[],
  count: number,
): Promise<number[]> {
  const rows = await db.rows<{ project_id: number }>(sql`
    INSERT INTO plugin_lease (project_id, process_id)
    SELECT id, ${process_id} FROM project
    WHERE id = ANY(${project_ids}::int[]) AND NOT EXISTS (SELECT FROM plugin_lease WHERE project_id = project.id)
    ORDER BY id LIMIT ${count}
    ON CONFLICT DO NOTHING RETURNING project_id`)
  return rows.map(({ project_id }) => project_id)
}

export async function isLeased(tx: Db, project_id: number, process_id: string): Promise<boolean> {
  const found = await tx.row(sql`
    SELECT FROM plugin_lease WHERE project_id = ${project_id} AND process_id = ${process_id} FOR SHARE`)
  return found !== undefined
}

/** For single statements: true of the lease that is held. */
export function isHeld({ project_id, process_id }: Lease): Statement {
  return sql`EXISTS (
    SELECT FROM plugin_lease WHERE project_id = ${project_id} AND process_id = ${process_id} FOR SHARE)`
}

/** What those had begun who worked for these projects before is due again. */
export async function returnJobsOfOthers(
  tx: Db,
  process_id: string,
  project_ids: readonly number[],
  now: Date,
): Promise<void> {
  await tx.run(sql`
    UPDATE plugin_job SET process_id = NULL, run_at = ${now}
    WHERE project_id = ANY(${project_ids}::int[]) AND process_id <> ${process_id}`)
}
