// What an admin makes of a group of the directory: a level for its members, and projects that they reach. The projects are opened
// to a role, so that who reaches what is still decided in one place (projects/access.ts).
import { violatedUnique, type Db } from '../../platform/db/database.ts'
import { invalid } from '../../platform/http/errors.ts'
import { recordActivity, type Activity } from '../activity-log/record.ts'
import { findProject } from '../projects/queries.ts'
import { listAccessOfRoles, setAccess } from '../projects/set-access.ts'
import { deleteRole, insertRole, renameRole } from '../roles/queries.ts'
import { lockDirectory, type Directory } from './directory.ts'
import { findShownGroup, mapGroup, membersOfGroup, type ScimGroupRow } from './group-queries.ts'
import { applyLevels, applyRole } from './membership.ts'
import type { Mapping } from './schema.ts'

const MAX_ROLE_NAME = 200

type WantedProjects = NonNullable<Mapping['projects']>

export async function setMapping(
  tx: Db,
  directory: Directory,
  group: { id: string },
  wanted: Mapping,
): Promise<ScimGroupRow | undefined> {
  const { domain, now } = directory
  await lockDirectory(tx, domain.id)
  const before = await findShownGroup(tx, domain.id, group.id, false)
  if (!before) return undefined
  const level = wanted.level === undefined ? before.level : wanted.level
  const opened = await projectsOf(tx, before)
  const role_id = wanted.projects
    ? await openProjects(tx, directory, before, wanted.projects)
    : before.role_id
  const after = await mapGroup(tx, domain.id, before.id, { level, role_id })
  await applyRole(tx, after, now)
  await applyLevels(tx, directory, await membersOfGroup(tx, after.id))
  await recordMapping(tx, directory, { before, after, opened, projects: wanted.projects ?? opened })
  return after
}

export async function projectsOf(db: Db, group: ScimGroupRow): Promise<WantedProjects> {
  const { organization_id, role_id } = group
  if (role_id === null) return []
  const rules = await listAccessOfRoles(db, organization_id, [role_id])
  return rules.flatMap(({ project_id, access }) =>
    access === 'none' ? [] : [{ id: project_id, level: access }],
  )
}

/** The role that stands for the group; null where it opens nothing. */
async function openProjects(
  tx: Db,
  directory: Directory,
  group: ScimGroupRow,
  wanted: WantedProjects,
): Promise<string | null> {
  const { organization_id } = group
  if (wanted.length === 0) {
    if (group.role_id !== null) await deleteRole(tx, organization_id, group.role_id)
    return null
  }
  const role_id = group.role_id ?? (await makeRole(tx, directory, group))
  const subject = { membership_id: null, role_id }
  const closed = (await listAccessOfRoles(tx, organization_id, [role_id]))
    .map(({ project_id }) => project_id)
    .filter((id) => !wanted.some((project) => project.id === id))
  for (const { id, level } of wanted) {
    const project = await findProject(tx, organization_id, id)
    if (!project) throw invalid('projects', 'does_not_exist', 'The organization has no such project.')
    await setAccess(tx, directory.actor, project, subject, level)
  }
  for (const id of closed) {
    const project = await findProject(tx, organization_id, id)
    if (project) await setAccess(tx, directory.actor, project, subject, null)
  }
  return role_id
}

/** Named after the group and its directory, so that it is no other group's. */
function roleName({ domain }: Directory, displayName: string): string {
  const suffix = ` (${domain.domain})`
  return displayName.slice(0, MAX_ROLE_NAME - suffix.length) + suffix
}

/** The role goes by the new name of the group, unless a role of that name is there already. */
export async function renameRoleOf(
  tx: Db,
  directory: Directory,
  { organization_id, role_id }: ScimGroupRow,
  displayName: string,
): Promise<void> {
  if (role_id === null) return
  const name = roleName(directory, displayName)
  try {
    await tx.transaction((inner) => renameRole(inner, organization_id, role_id, name))
  } catch (error) {
    if (violatedUnique(error) !== 'role_name_unique') throw error
  }
}

async function makeRole(tx: Db, directory: Directory, group: ScimGroupRow): Promise<string> {
  const { domain, now } = directory
  const name = roleName(directory, group.display_name)
  try {
    return (await tx.transaction((inner) => insertRole(inner, domain.organization_id, name, now))).id
  } catch (error) {
    if (violatedUnique(error) !== 'role_name_unique') throw error
    throw invalid('projects', 'unique', `There is a role named ${JSON.stringify(name)} already: rename it.`)
  }
}

async function recordMapping(
  tx: Db,
  { actor }: Directory,
  mapped: { before: ScimGroupRow; after: ScimGroupRow; opened: WantedProjects; projects: WantedProjects },
): Promise<void> {
  const { before, after, opened, projects } = mapped
  const changes: NonNullable<Activity['changes']> = []
  const change = (field: string, was: unknown, is: unknown) => {
    if (JSON.stringify(was) !== JSON.stringify(is))
      changes.push({ type: 'DirectoryGroup', action: 'changed', field, before: was, after: is })
  }
  change('level', before.level, after.level)
  change('projects', opened, projects)
  if (changes.length === 0) return
  await recordActivity(tx, actor, {
    organization_id: after.organization_id,
    scope: 'DirectoryGroup',
    activity: 'updated',
    item_id: after.id,
    name: after.display_name,
    changes,
  })
}
