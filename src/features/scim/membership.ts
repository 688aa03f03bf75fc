// Coming and going by the directory's word, and the levels and roles that groups give.
import { violatedUnique, type Db } from '../../platform/db/database.ts'
import { LEVELS, type Level } from '../../platform/http/caller.ts'
import { recordActivity } from '../activity-log/record.ts'
import { endInvites } from '../invites/end-invites.ts'
import { addMember, membershipActivity } from '../members/join.ts'
import {
  deleteMembership,
  findMembership,
  lockOwners,
  moveAway,
  updateMemberLevel,
} from '../members/queries.ts'
import { isReachableByUser } from '../projects/access.ts'
import { findFirstProject } from '../projects/queries.ts'
import { addToRole, keepInRole } from '../roles/queries.ts'
import { setCurrent } from '../users/queries.ts'
import type { UserRow } from '../users/schema.ts'
import type { Directory } from './directory.ts'
import {
  levelByGroups,
  levelsOfPeople,
  membershipsOfGroup,
  rolesOfPerson,
  setGroupLevel,
  type LevelledPerson,
  type ScimGroupRow,
} from './group-queries.ts'
import { ScimError } from './protocol/scim-error.ts'
import type { ScimUserRow } from './user-queries.ts'

/** The organization would be left without an owner who can sign in. */
export class LastOwnerStays extends ScimError {
  constructor() {
    super(
      409,
      'mutability',
      'The last owner of the organization cannot be removed: make somebody else owner first.',
    )
  }
}

/** At the level that the groups say, or the one they had before (admin at most), or as a member. */
export async function join(tx: Db, directory: Directory, person: ScimUserRow, user: UserRow): Promise<void> {
  const { organization_id } = directory.domain
  if (await findMembership(tx, organization_id, user.id)) return
  const byGroups = await levelByGroups(tx, person.id)
  const level = levelOnReturn(person, byGroups)
  const member = await addOnce(tx, (inner) => addMember(inner, directory.actor, organization_id, user, level))
  if (!member) return
  await endInvites(tx, directory.actor, organization_id, user.email)
  await setGroupLevel(tx, [person.id], byGroups)
  for (const role_id of await rolesOfPerson(tx, person.id))
    await addToRole(tx, { id: role_id, organization_id }, [member.id], directory.now)
  if (user.current_organization_id !== null) return
  const project = await findFirstProject(tx, organization_id, isReachableByUser(user.id))
  await setCurrent(tx, user.id, organization_id, project?.id ?? null)
}

/** Undefined when they have come in by an invite at the same moment. */
async function addOnce<T>(tx: Db, add: (inner: Db) => Promise<T>): Promise<T | undefined> {
  try {
    return await tx.transaction(add)
  } catch (error) {
    if (violatedUnique(error) === 'membership_unique') return undefined
    throw error
  }
}

/**
 * A level that a group had given does not outlast the group. Admins hold the token, and can give the account of somebody who is
 * away another address: so a directory makes nobody owner, not even those who were (decision 73).
 */
function levelOnReturn({ last_level, group_level }: ScimUserRow, byGroups: Level | null): Level {
  if (byGroups !== null) return byGroups
  if (last_level === null || last_level === group_level) return LEVELS.member
  return last_level === LEVELS.owner ? LEVELS.admin : last_level
}

/** The level that ends; null when they were no member. Sessions and keys open nothing here from the next request on. */
export async function leave(tx: Db, directory: Directory, user: UserRow): Promise<Level | null> {
  const { organization_id } = directory.domain
  const owners = await lockOwners(tx, organization_id)
  // Nor do they come by an invite from before.
  await endInvites(tx, directory.actor, organization_id, user.email)
  const membership = await findMembership(tx, organization_id, user.id)
  if (!membership) return null
  if (membership.level === LEVELS.owner && owners <= 1) throw new LastOwnerStays()
  await deleteMembership(tx, organization_id, user.id)
  await moveAway(tx, organization_id, user.id)
  const member = { ...membership, email: user.email }
  await recordActivity(tx, directory.actor, { ...membershipActivity(member), activity: 'deleted' })
  return membership.level
}

/** After a change of groups or of what they are mapped to: each person gets the highest level that a group of theirs gives. */
export async function applyLevels(tx: Db, directory: Directory, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const people = await levelsOfPeople(tx, directory.domain.id, ids)
  for (const person of people) {
    const level = levelFor(person)
    if (level !== person.level) await changeLevel(tx, directory, person, level)
  }
  for (const wanted of [null, LEVELS.member, LEVELS.admin]) {
    const changed = people.filter((person) => person.wanted === wanted && person.group_level !== wanted)
    if (changed.length > 0)
      await setGroupLevel(
        tx,
        changed.map(({ id }) => id),
        wanted,
      )
  }
}

/** Who is in no mapped group keeps their level, unless it was a group that gave it. */
function levelFor({ level, wanted, group_level }: LevelledPerson): Level {
  if (level === LEVELS.owner) return level
  if (wanted !== null) return wanted
  return group_level === level ? LEVELS.member : level
}

async function changeLevel(
  tx: Db,
  directory: Directory,
  person: LevelledPerson,
  level: Level,
): Promise<void> {
  const { organization_id } = directory.domain
  const { membership_id, user_id, joined_at, updated_at, email } = person
  await updateMemberLevel(tx, organization_id, user_id, level, directory.now)
  const before = { id: membership_id, organization_id, user_id, level: person.level, joined_at, updated_at }
  await recordActivity(tx, directory.actor, {
    ...membershipActivity({ ...before, email }),
    activity: 'updated',
    changes: [
      {
        type: 'OrganizationMembership',
        action: 'changed',
        field: 'level',
        before: person.level,
        after: level,
      },
    ],
  })
}

/** The role of a group has exactly the members of the group. */
export async function applyRole(
  tx: Db,
  { id, organization_id, role_id }: ScimGroupRow,
  now: Date,
): Promise<void> {
  if (role_id === null) return
  const memberships = await membershipsOfGroup(tx, id)
  await keepInRole(tx, { id: role_id, organization_id }, memberships)
  await addToRole(tx, { id: role_id, organization_id }, memberships, now)
}
