// Who has a role: giving it to a member, and taking it away. It holds from the member's next request on.
import { isUuid } from '../../lib/uuid.ts'
import { violatedUnique, type Db } from '../../platform/db/database.ts'
import { invalid, notFound } from '../../platform/http/errors.ts'
import { paged, PageQuery } from '../../platform/http/paging.ts'
import { created, noContent, ok, route } from '../../platform/http/route.ts'
import { recordActivity, type Actor } from '../activity-log/record.ts'
import { findMember } from '../members/queries.ts'
import { presentRoleMembership } from './present.ts'
import {
  countRoleMemberships,
  deleteRoleMembership,
  findRole,
  findRoleMembership,
  insertRoleMembership,
  listRoleMemberships,
} from './queries.ts'
import { RoleMembership, RoleMembershipCreate, type RoleMembershipRow, type RoleRow } from './schema.ts'

const ALL = '/api/organizations/:organization_id/roles/:role_id/role_memberships/'
const ONE = '/api/organizations/:organization_id/roles/:role_id/role_memberships/:id/'

export const roleMembershipRoutes = [
  route({
    method: 'GET',
    path: ALL,
    summary: 'List who has a role, oldest first',
    scope: 'organization:read',
    level: 'member',
    item: getRole,
    query: PageQuery,
    answers: { 200: paged(RoleMembership) },
    async handle({ db, organization, item, page, paged }) {
      const rows = await listRoleMemberships(db, organization.id, [item.id], page)
      const count = await countRoleMemberships(db, organization.id, item.id)
      return ok(paged(count, rows.map(presentRoleMembership)))
    },
  }),

  route({
    method: 'POST',
    path: ALL,
    summary: 'Give a role to a member',
    scope: 'organization:write',
    level: 'admin',
    needs_recent_sign_in: true,
    item: getRole,
    body: RoleMembershipCreate,
    examples: { 'Add a member': { user_uuid: '01a1e89e-2539-7b33-99e2-a81b128189a0' } },
    answers: { 201: RoleMembership },
    async handle(context) {
      const { db, organization, item, body, now } = context
      const member = await findMember(db, organization.id, body.user_uuid)
      if (!member) throw invalid('user_uuid', 'does_not_exist', 'The organization has no such member.')
      const row = await onlyOnce(() =>
        db.transaction(async (tx) => {
          const id = await insertRoleMembership(tx, item, member.id, now)
          await recordMembers(tx, context, item, { before: null, after: member.email })
          return { id, role_id: item.id, joined_at: now, updated_at: now, member }
        }),
      )
      return created(presentRoleMembership(row))
    },
  }),

  route({
    method: 'GET',
    path: ONE,
    summary: 'One member of a role',
    scope: 'organization:read',
    level: 'member',
    item: getRoleMembership,
    answers: { 200: RoleMembership },
    handle: async ({ item }) => ok(presentRoleMembership(item.membership)),
  }),

  route({
    method: 'DELETE',
    path: ONE,
    summary: 'Take a role away from a member',
    scope: 'organization:write',
    level: 'admin',
    needs_recent_sign_in: true,
    item: getRoleMembership,
    answers: { 204: null },
    async handle(context) {
      const { db, organization, item } = context
      await db.transaction(async (tx) => {
        if ((await deleteRoleMembership(tx, organization.id, item.membership.id)) === 0) throw notFound()
        const { email } = item.membership.member
        await recordMembers(tx, context, item.role, { before: email, after: null })
      })
      return noContent()
    },
  }),
]

type InPath = { db: Db; organization: { id: string }; params: { role_id: string } }

async function getRole({ db, organization, params }: InPath): Promise<RoleRow> {
  const role = isUuid(params.role_id) ? await findRole(db, organization.id, params.role_id) : undefined
  if (!role) throw notFound()
  return role
}

async function getRoleMembership(
  context: InPath & { params: { id: string } },
): Promise<{ role: RoleRow; membership: RoleMembershipRow }> {
  const { db, organization, params } = context
  const role = await getRole(context)
  const membership = isUuid(params.id)
    ? await findRoleMembership(db, organization.id, role.id, params.id)
    : undefined
  if (!membership) throw notFound()
  return { role, membership }
}

async function onlyOnce<Result>(write: () => Promise<Result>): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    if (violatedUnique(error) !== 'role_membership_unique') throw error
    throw invalid('user_uuid', 'unique', 'This member has the role already.')
  }
}

async function recordMembers(
  tx: Db,
  actor: Actor,
  { id, organization_id, name }: RoleRow,
  { before, after }: { before: string | null; after: string | null },
): Promise<void> {
  const action = after === null ? ('deleted' as const) : ('created' as const)
  await recordActivity(tx, actor, {
    organization_id,
    scope: 'Role',
    activity: 'updated',
    item_id: id,
    name,
    changes: [{ type: 'Role', action, field: 'members', before, after }],
  })
}
