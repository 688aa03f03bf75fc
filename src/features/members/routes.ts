// Members: who belongs to an organization, at which level; changing that, and leaving.
import { isUuid } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { personOf, type Caller, type Level } from '../../platform/http/caller.ts'
import { denied, notFound } from '../../platform/http/errors.ts'
import { paged } from '../../platform/http/paging.ts'
import { noContent, ok, route } from '../../platform/http/route.ts'
import { changesBetween, recordActivity } from '../activity-log/record.ts'
import { membershipActivity } from './join.ts'
import { presentMember } from './present.ts'
import {
  countMembers,
  deleteMembership,
  findMember,
  findMembership,
  listMembers,
  lockOwners,
  moveAway,
  updateMemberLevel,
} from './queries.ts'
import { assertMayChange, assertMayGrant, assertMayRemove, assertOwnerLeft } from './rules.ts'
import { Member, MemberFilter, MemberUpdate, type MemberRow } from './schema.ts'

export const memberRoutes = [
  route({
    method: 'GET',
    path: '/api/organizations/:organization_id/members/',
    summary: 'List members, newest first',
    scope: 'organization_member:read',
    level: 'member',
    query: MemberFilter,
    answers: { 200: paged(Member) },
    async handle({ db, organization, query, page, paged }) {
      const rows = await listMembers(db, organization.id, query, page)
      return ok(paged(await countMembers(db, organization.id, query), rows.map(presentMember)))
    },
  }),

  route({
    method: 'GET',
    path: '/api/organizations/:organization_id/members/:user__uuid/',
    summary: 'One member',
    scope: 'organization_member:read',
    level: 'member',
    answers: { 200: Member },
    async handle({ db, caller, organization, params }) {
      return ok(presentMember(await getMember(db, organization.id, caller, params.user__uuid)))
    },
  }),

  route({
    method: 'PATCH',
    path: '/api/organizations/:organization_id/members/:user__uuid/',
    summary: "Change a member's level",
    scope: 'organization_member:write',
    level: 'admin',
    needs_recent_sign_in: true,
    item: async ({ db, caller, organization, level, params }) => {
      const member = await getMember(db, organization.id, caller, params.user__uuid)
      assertMayChange(level, member.level)
      return member
    },
    body: MemberUpdate,
    examples: { 'Make an admin': { level: 8 } },
    answers: { 200: Member },
    async handle(context) {
      const { db, caller, organization, body, item, params, now } = context
      const wanted = body.level
      if (wanted === undefined) return ok(presentMember(item))
      const changed = await db.transaction(async (tx) => {
        await lockOwners(tx, organization.id)
        const member = await getMember(tx, organization.id, caller, params.user__uuid)
        const level = await getLevelNow(tx, organization.id, caller)
        assertMayChange(level, member.level)
        assertMayGrant(level, wanted, isSelf(caller, member))
        if (member.level === wanted) return member
        await updateMemberLevel(tx, organization.id, member.user_id, wanted, now)
        const changes = changesBetween('OrganizationMembership', member, body, ['level'])
        await recordActivity(tx, context, { ...membershipActivity(member), activity: 'updated', changes })
        return { ...member, level: wanted, updated_at: now }
      })
      return ok(presentMember(changed))
    },
  }),

  route({
    method: 'DELETE',
    path: '/api/organizations/:organization_id/members/:user__uuid/',
    summary: 'Remove a member, or leave',
    scope: 'organization_member:write',
    level: 'member',
    needs_recent_sign_in: true,
    answers: { 204: null },
    async handle(context) {
      const { db, caller, organization, params } = context
      await db.transaction(async (tx) => {
        const owners = await lockOwners(tx, organization.id)
        const member = await getMember(tx, organization.id, caller, params.user__uuid)
        assertMayRemove(await getLevelNow(tx, organization.id, caller), member.level, isSelf(caller, member))
        assertOwnerLeft(member.level, owners)
        await deleteMembership(tx, organization.id, member.user_id)
        await moveAway(tx, organization.id, member.user_id)
        await recordActivity(tx, context, { ...membershipActivity(member), activity: 'deleted' })
      })
      return noContent()
    },
  }),
]

async function getMember(db: Db, organizationId: string, caller: Caller, given: string): Promise<MemberRow> {
  const uuid = given === '@me' ? personOf(caller).uuid : given
  const member = isUuid(uuid) ? await findMember(db, organizationId, uuid) : undefined
  if (!member) throw notFound()
  return member
}

/** Asked under the lock: two owners who demote each other at once must not both have their way. */
async function getLevelNow(tx: Db, organizationId: string, caller: Caller): Promise<Level> {
  if (caller.kind === 'service_key') return caller.level
  const membership = await findMembership(tx, organizationId, caller.user.id)
  if (!membership) throw denied('You are no longer a member of this organization.')
  return membership.level
}

function isSelf(caller: Caller, member: MemberRow): boolean {
  return caller.user?.id === member.user_id
}
