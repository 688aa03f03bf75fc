// /Groups: kept with their members. What an admin has mapped them to applies in the same transaction.
import { isObject, type JsonObject } from '../../lib/json-object.ts'
import { isUuid } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { recordActivity, type Activity } from '../activity-log/record.ts'
import { deleteRole, findRole } from '../roles/queries.ts'
import { changing, type Directory } from './directory.ts'
import {
  countGroupMembers,
  countGroups,
  deleteGroup,
  deleteGroupMembers,
  findShownGroup,
  groupConditions,
  insertGroup,
  insertGroupMembers,
  peopleAmong,
  updateGroup,
  type ShownGroupRow,
} from './group-queries.ts'
import { renameRoleOf } from './mapping.ts'
import { applyLevels, applyRole } from './membership.ts'
import { groupEtag, presentGroup, writableGroup } from './present.ts'
import { GROUP } from './protocol/attributes.ts'
import { applyPatch } from './protocol/patch.ts'
import { readResource } from './protocol/read-resource.ts'
import { missing, refused, ScimError, taken } from './protocol/scim-error.ts'
import type { Condition, Resource } from './resource.ts'
import { searchGroups } from './search.ts'

const MAX_GROUPS = 5_000
const MAX_NAME = 200
/** The limit is for all groups together: a list may show them all. */
const MAX_MEMBERSHIPS = 100_000
/** So many people are named in one entry of the activity log. */
const NAMED_IN_LOG = 100

export const groups: Resource<ShownGroupRow> = {
  type: GROUP,
  present: presentGroup,
  etag: groupEtag,
  search: searchGroups,

  get: (directory, id) => getGroup(directory.services.db, directory, id),

  create(directory, body) {
    const { fields, members } = readGroup(readResource(GROUP, body))
    return changing(directory, async (tx) => {
      const { domain, now } = directory
      await assertNameFree(tx, directory, fields.display_name)
      if ((await countGroups(tx, domain.id)) >= MAX_GROUPS)
        throw new ScimError(403, null, `A directory has ${MAX_GROUPS} groups at most.`)
      const made = await insertGroup(tx, domain, fields, now)
      await addMembers(tx, directory, made.id, members)
      await recordGroup(tx, directory, made, 'created', [])
      return getGroup(tx, directory, made.id)
    })
  },

  replace: (directory, id, body, condition) =>
    change(directory, id, condition, () => readResource(GROUP, body)),

  patch: (directory, id, body, condition) =>
    change(directory, id, condition, (row) => applyPatch(GROUP, writableGroup(row), body)),

  remove: (directory, id, condition) =>
    changing(directory, async (tx) => {
      const { domain } = directory
      const row = await getGroup(tx, directory, id)
      condition(groupEtag(row))
      await deleteGroup(tx, domain.id, row.id)
      await applyLevels(
        tx,
        directory,
        row.members.map((member) => member.id),
      )
      if (row.role_id !== null && (await findRole(tx, domain.organization_id, row.role_id)))
        await deleteRole(tx, domain.organization_id, row.role_id)
      await recordGroup(tx, directory, row, 'deleted', [])
    }),
}

function change(
  directory: Directory,
  id: string,
  condition: Condition,
  next: (row: ShownGroupRow) => JsonObject,
): Promise<ShownGroupRow> {
  return changing(directory, async (tx) => {
    const row = await getGroup(tx, directory, id)
    condition(groupEtag(row))
    const { fields, members } = readGroup(next(row))
    const before = new Map(row.members.map((member) => [member.id, member.user_name]))
    const added = members.filter((each) => !before.has(each))
    const kept = new Set(members)
    const removed = [...before.keys()].filter((each) => !kept.has(each))
    const isRenamed = fields.display_name !== row.display_name
    if (added.length + removed.length === 0 && !isRenamed && fields.external_id === row.external_id)
      return row
    if (fields.display_name.toLowerCase() !== row.display_name.toLowerCase())
      await assertNameFree(tx, directory, fields.display_name)
    await updateGroup(tx, directory.domain.id, id, fields, directory.now)
    await deleteGroupMembers(tx, id, removed)
    await addMembers(tx, directory, id, added)
    if (isRenamed) await renameRoleOf(tx, directory, row, fields.display_name)
    await applyRole(tx, row, directory.now)
    await applyLevels(tx, directory, [...added, ...removed])
    const after = await getGroup(tx, directory, id)
    await recordChange(tx, directory, row, after, { added, removed })
    return after
  })
}

function readGroup(given: JsonObject): {
  fields: Pick<ShownGroupRow, 'display_name' | 'external_id'>
  members: string[]
} {
  const { displayName, externalId, members } = given
  const display_name = typeof displayName === 'string' ? displayName.trim() : ''
  if (display_name === '') throw refused('invalidValue', 'displayName is missing.')
  if (display_name.length > MAX_NAME)
    throw refused('invalidValue', `displayName has more than ${MAX_NAME} characters.`)
  const external_id = typeof externalId === 'string' ? externalId : null
  return { fields: { display_name, external_id }, members: [...new Set(memberIds(members))] }
}

function memberIds(members: unknown): string[] {
  return (Array.isArray(members) ? members : []).filter(isObject).map(({ value, type }) => {
    if (typeof type === 'string' && type.toLowerCase() === 'group')
      throw refused('invalidValue', 'Groups in groups are not taken: name the people.')
    if (typeof value !== 'string' || !isUuid(value))
      throw refused('invalidValue', 'The value of a member is the id of a user here.')
    return value.toLowerCase()
  })
}

async function addMembers(
  tx: Db,
  { domain }: Directory,
  groupId: string,
  ids: readonly string[],
): Promise<void> {
  const known = await peopleAmong(tx, domain.id, ids)
  if (ids.length > 0 && (await countGroupMembers(tx, domain.id)) + ids.length > MAX_MEMBERSHIPS)
    throw new ScimError(403, null, `The groups of a directory have ${MAX_MEMBERSHIPS} members at most.`)
  const stranger = ids.find((id) => !known.has(id))
  if (stranger !== undefined) throw refused('invalidValue', `There is no user ${stranger} here.`)
  await insertGroupMembers(tx, groupId, ids)
}

async function recordChange(
  tx: Db,
  directory: Directory,
  before: ShownGroupRow,
  after: ShownGroupRow,
  { added, removed }: { added: string[]; removed: string[] },
): Promise<void> {
  const names = new Map([...before.members, ...after.members].map(({ id, user_name }) => [id, user_name]))
  const named = (ids: string[]) => ids.slice(0, NAMED_IN_LOG).map((id) => names.get(id) ?? id)
  const type = 'DirectoryGroup'
  await recordGroup(tx, directory, after, 'updated', [
    ...(before.display_name === after.display_name
      ? []
      : [
          {
            type,
            action: 'changed' as const,
            field: 'displayName',
            before: before.display_name,
            after: after.display_name,
          },
        ]),
    ...(removed.length === 0
      ? []
      : [{ type, action: 'deleted' as const, field: 'members', before: named(removed), after: null }]),
    ...(added.length === 0
      ? []
      : [{ type, action: 'created' as const, field: 'members', before: null, after: named(added) }]),
  ])
}

async function recordGroup(
  tx: Db,
  { actor, domain }: Directory,
  { id, display_name }: Pick<ShownGroupRow, 'id' | 'display_name'>,
  activity: Activity['activity'],
  changes: NonNullable<Activity['changes']>,
): Promise<void> {
  await recordActivity(tx, actor, {
    organization_id: domain.organization_id,
    scope: 'DirectoryGroup',
    activity,
    item_id: id,
    name: display_name,
    changes,
  })
}

async function assertNameFree(tx: Db, { domain }: Directory, display_name: string): Promise<void> {
  if ((await countGroups(tx, domain.id, groupConditions.displayName!(display_name))) > 0)
    throw taken('This displayName is taken.')
}

async function getGroup(db: Db, { domain }: Directory, id: string): Promise<ShownGroupRow> {
  const row = isUuid(id) ? await findShownGroup(db, domain.id, id, true) : undefined
  if (!row) throw missing('group')
  return row
}
