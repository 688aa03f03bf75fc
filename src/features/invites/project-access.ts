// Access to projects that comes with an invite: who may promise it, and giving it to who has joined.
import type { Db } from '../../platform/db/database.ts'
import { sql } from '../../platform/db/sql.ts'
import { LEVELS, type Caller, type Level } from '../../platform/http/caller.ts'
import { denied, invalid } from '../../platform/http/errors.ts'
import type { Actor } from '../activity-log/record.ts'
import { isReachable, levelInProject } from '../projects/access.ts'
import { findProject } from '../projects/queries.ts'
import { setAccess } from '../projects/set-access.ts'
import type { ProjectAccess } from './schema.ts'

type Giving = { caller: Caller; organization: { id: string } }

/** Promising access takes what giving it takes: the level admin in the project. */
export async function assertMayGive(
  db: Db,
  { caller, organization }: Giving,
  promised: readonly ProjectAccess[],
): Promise<void> {
  if (promised.length === 0) return
  const levels = await levelsIn(db, caller, organization.id, promised)
  if (promised.some(({ id }) => !levels.has(id))) {
    const detail = 'You have access to no such project.'
    throw invalid('private_project_access', 'does_not_exist', detail)
  }
  assertAdminIn(levels, promised)
}

/** The link of an invite opens what it promises, to whoever is shown it. */
export async function assertMayResend(
  db: Db,
  { caller, organization }: Giving,
  promised: readonly ProjectAccess[],
): Promise<void> {
  if (promised.length > 0) assertAdminIn(await levelsIn(db, caller, organization.id, promised), promised)
}

function assertAdminIn(levels: ReadonlyMap<number, Level>, promised: readonly ProjectAccess[]): void {
  if (promised.some(({ id }) => (levels.get(id) ?? 0) < LEVELS.admin)) {
    throw denied('Access to a project is given by its admins.')
  }
}

/** Promises of earlier invites that the caller may make too; for the same project the newer promise holds. */
export async function withEarlierPromises(
  db: Db,
  { caller, organization }: Giving,
  promised: readonly ProjectAccess[],
  earlier: readonly ProjectAccess[],
): Promise<ProjectAccess[]> {
  const levels = await levelsIn(db, caller, organization.id, earlier)
  const kept = earlier.filter(({ id }) => (levels.get(id) ?? 0) >= LEVELS.admin)
  return [...new Map([...kept, ...promised].map((access) => [access.id, access])).values()]
}

async function levelsIn(
  db: Db,
  caller: Caller,
  organizationId: string,
  promised: readonly ProjectAccess[],
): Promise<Map<number, Level>> {
  const ids = promised.map(({ id }) => id)
  const rows = await db.rows<{ id: number; level: Level }>(sql`
    SELECT id, ${levelInProject(caller)} AS level FROM project
    WHERE organization_id = ${organizationId} AND id = ANY(${ids}::int[]) AND ${isReachable(caller)}`)
  return new Map(rows.map(({ id, level }) => [id, level]))
}

/** Projects that are gone by now are passed over. */
export async function giveProjectAccess(
  tx: Db,
  actor: Actor,
  member: { id: string; organization_id: string },
  promised: readonly ProjectAccess[],
): Promise<void> {
  for (const { id, level } of promised) {
    const project = await findProject(tx, member.organization_id, id)
    if (project) await setAccess(tx, actor, project, { membership_id: member.id, role_id: null }, level)
  }
}
