// Members: who belongs to an organization, at which level; changing that, and leaving.
import { isUuid } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import { personOf, type Caller } from '../../platform/http/caller.ts'
import { notFound } from '../../platform/http/errors.ts'
import { paged } from '../../platform/http/paging.ts'
import { noContent, ok, route } from '../../platform/http/route.ts'
import { changesBetween, recordActivity } from '../activity-log/record.ts'
import { presentMember } from './present.ts'
import {
  countMembers,
  deleteMembership,
  findMember,
  listMembers,
  lockOwners,
  moveCurrentAway,
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
      assertMayChange(level, member.level, isSelf(caller, member))
      return member
    },
    body: MemberUpdate,
    answers: { 200: Member },
    async handle(context) {
      const { db, caller, organization, level, body, item, params, now } = context
      const wanted = body.level
      if (wanted === undefined) return ok(presentMember(item))
      assertMayGrant(level, wanted)
      const changed = await db.transaction(async (tx) => {
        await lockOwners(tx, organization.id)
        // Read again under the lock: the member may have been promoted in the meantime.
        const member = await getMember(tx, organization.id, caller, params.user__uuid)
        assertMayChange(level, member.level, isSelf(caller, member))
        if (member.level === wanted) return member
        await updateMemberLevel(tx, organization.id, member.user_id, wanted, now)
        const after = { ...member, level: wanted, updated_at: now }
        await recordActivity(tx, context, {
          ...membershipActivity(organization.id, member),
          activity: 'updated',
          changes: changesBetween('OrganizationMembership', member, after, ['level']),
        })
        return after
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
      const { db, caller, organization, level, params } = context
      await db.transaction(async (tx) => {
        const owners = await lockOwners(tx, organization.id)
        const member = await getMember(tx, organization.id, caller, params.user__uuid)
        assertMayRemove(level, member.level, isSelf(caller, member))
        assertOwnerLeft(member.level, owners)
        await deleteMembership(tx, organization.id, member.user_id)
        await moveCurrentAway(tx, member.user_id, organization.id)
        await recordActivity(tx, context, { ...membershipActivity(organization.id, member), activity: 'deleted' })
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

function isSelf(caller: Caller, member: MemberRow): boolean {
  return caller.user?.id === member.user_id
}

function membershipActivity(organizationId: string, member: MemberRow) {
  return { organization_id: organizationId, scope: 'OrganizationMembership' as const, item_id: member.id, name: member.email }
}
