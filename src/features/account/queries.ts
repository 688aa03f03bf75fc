// SQL behind the account page: the organizations of a user and what becomes current.
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Level } from '../../platform/http/caller.ts'
import { isReachableByUser } from '../projects/access.ts'

export type OwnOrganizationRow = { id: string; name: string; slug: string; level: Level }

/** The one joined first comes first: it is the current one until another is chosen. */
export function listOwnOrganizations(db: Db, userId: number): Promise<OwnOrganizationRow[]> {
  return db.rows(sql`
    SELECT organization.id, name, slug, level FROM membership JOIN organization ON organization.id = organization_id
    WHERE user_id = ${userId} ORDER BY joined_at, membership.id`)
}

/** The organization of a project, if the user reaches it. */
export async function findOrganizationOfProject(
  db: Db,
  userId: number,
  projectId: number,
): Promise<string | undefined> {
  const row = await db.row<{ organization_id: string }>(sql`
    SELECT organization_id FROM project WHERE project.id = ${projectId} AND ${isReachableByUser(userId)}`)
  return row?.organization_id
}
