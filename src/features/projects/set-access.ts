// Setting one rule about who reaches a project, with its entry in the activity log. Whoever calls has settled the right to.
import type { Db } from '../../platform/db/database.ts'
import { invalid } from '../../platform/http/errors.ts'
import { recordActivity, type Actor } from '../activity-log/record.ts'
import { nameOfLevel } from './access-controls/present.ts'
import {
  deleteAccessControl,
  findAccessControl,
  findSubjectName,
  listRulesOfRoles,
  writeAccessControl,
  type Subject,
} from './access-controls/queries.ts'
import { ACCESS_LEVELS, type AccessControlRow, type AccessName } from './access-controls/schema.ts'
import { lockProject } from './queries.ts'

type ProjectRef = { id: number; organization_id: string; name: string }

/** Null takes the rule away, if there is one. */
export async function setAccess(
  tx: Db,
  actor: Actor,
  project: ProjectRef,
  subject: Subject,
  wanted: AccessName | null,
): Promise<AccessControlRow | undefined> {
  await lockProject(tx, project.organization_id, project.id)
  const name = await findSubjectName(tx, project.organization_id, subject)
  if (name === undefined) {
    const attr = subject.role_id === null ? 'organization_member' : 'role'
    throw invalid(attr, 'does_not_exist', `The organization has no such ${attr.replace('_', ' ')}.`)
  }
  const before = await findAccessControl(tx, project, subject)
  if (before && wanted === nameOfLevel(before.level)) return before
  const after =
    wanted === null
      ? undefined
      : await writeAccessControl(tx, project, subject, ACCESS_LEVELS[wanted], actor.now)
  if (before && !after) await deleteAccessControl(tx, project.organization_id, before.id)
  if (before || after) await recordAccess(tx, actor, project, name, before, after)
  return after
}

export type RoleAccess = { role_id: string; project_id: number; access: AccessName }

/** What roles open. */
export async function listAccessOfRoles(
  db: Db,
  organizationId: string,
  roleIds: readonly string[],
): Promise<RoleAccess[]> {
  const rows = await listRulesOfRoles(db, organizationId, roleIds)
  return rows.map(({ role_id, project_id, level }) => ({
    role_id: role_id!,
    project_id,
    access: nameOfLevel(level),
  }))
}

async function recordAccess(
  tx: Db,
  actor: Actor,
  project: ProjectRef,
  name: string,
  before: AccessControlRow | undefined,
  after: AccessControlRow | undefined,
): Promise<void> {
  const activity = before ? (after ? 'updated' : 'deleted') : 'created'
  const levels = {
    before: before ? nameOfLevel(before.level) : null,
    after: after ? nameOfLevel(after.level) : null,
  }
  const action = activity === 'updated' ? ('changed' as const) : activity
  await recordActivity(tx, actor, {
    organization_id: project.organization_id,
    project_id: project.id,
    scope: 'AccessControl',
    activity,
    item_id: (after ?? before)!.id,
    name: `${project.name}: ${name}`,
    changes: [{ type: 'AccessControl', action, field: 'access_level', ...levels }],
  })
}
