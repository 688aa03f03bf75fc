// Roles: named groups of members, which access to projects is given to. Everybody may look, admins change them.
import { isUuid } from '../../lib/uuid.ts'
import { violatedUnique, type Db } from '../../platform/db/database.ts'
import { invalid, notFound } from '../../platform/http/errors.ts'
import { paged, PageQuery } from '../../platform/http/paging.ts'
import { created, noContent, ok, route } from '../../platform/http/route.ts'
import { changesBetween, recordActivity } from '../activity-log/record.ts'
import { presentRole } from './present.ts'
import {
  countRoles,
  deleteRole,
  findRole,
  insertRole,
  listRoleMemberships,
  listRoles,
  lockRole,
  renameRole,
} from './queries.ts'
import { Role, RoleCreate, RoleUpdate, type RoleRow } from './schema.ts'

const ONE = '/api/organizations/:organization_id/roles/:id/'

export const roleRoutes = [
  route({
    method: 'GET',
    path: '/api/organizations/:organization_id/roles/',
    summary: 'List roles with their members, oldest first',
    scope: 'organization:read',
    level: 'member',
    query: PageQuery,
    answers: { 200: paged(Role) },
    async handle({ db, organization, page, paged }) {
      const rows = await listRoles(db, organization.id, page)
      const ids = rows.map(({ id }) => id)
      const memberships = await listRoleMemberships(db, organization.id, ids)
      const count = await countRoles(db, organization.id)
      return ok(
        paged(
          count,
          rows.map((row) => presentRole(row, memberships)),
        ),
      )
    },
  }),

  route({
    method: 'POST',
    path: '/api/organizations/:organization_id/roles/',
    summary: 'Create a role',
    scope: 'organization:write',
    level: 'admin',
    needs_recent_sign_in: true,
    body: RoleCreate,
    examples: { 'A role': { name: 'Analysts' } },
    answers: { 201: Role },
    async handle(context) {
      const { db, organization, body, now } = context
      const row = await underOneName(() =>
        db.transaction(async (tx) => {
          const made = await insertRole(tx, organization.id, body.name, now)
          await recordActivity(tx, context, { ...roleActivity(made), activity: 'created' })
          return made
        }),
      )
      return created(presentRole(row, []))
    },
  }),

  route({
    method: 'GET',
    path: ONE,
    summary: 'One role with its members',
    scope: 'organization:read',
    level: 'member',
    answers: { 200: Role },
    async handle({ db, organization, params }) {
      return ok(await shown(db, await getRole(db, organization.id, params.id)))
    },
  }),

  route({
    method: 'PATCH',
    path: ONE,
    summary: 'Rename a role',
    scope: 'organization:write',
    level: 'admin',
    needs_recent_sign_in: true,
    item: ({ db, organization, params }) => getRole(db, organization.id, params.id),
    body: RoleUpdate,
    examples: { Rename: { name: 'Data analysts' } },
    answers: { 200: Role },
    async handle(context) {
      const { db, organization, body, item } = context
      const row = await underOneName(() =>
        db.transaction(async (tx) => {
          const before = await lockRole(tx, organization.id, item.id)
          const changes = changesBetween('Role', before, body, ['name'])
          if (changes.length === 0) return before
          const after = await renameRole(tx, organization.id, item.id, body.name!)
          await recordActivity(tx, context, { ...roleActivity(after), activity: 'updated', changes })
          return after
        }),
      )
      return ok(await shown(db, row))
    },
  }),

  route({
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a role; its members lose the access that it gave',
    scope: 'organization:write',
    level: 'admin',
    needs_recent_sign_in: true,
    item: ({ db, organization, params }) => getRole(db, organization.id, params.id),
    answers: { 204: null },
    async handle(context) {
      const { db, organization, item } = context
      await db.transaction(async (tx) => {
        const deleted = await deleteRole(tx, organization.id, item.id)
        await recordActivity(tx, context, { ...roleActivity(deleted), activity: 'deleted' })
      })
      return noContent()
    },
  }),
]

async function getRole(db: Db, organizationId: string, id: string): Promise<RoleRow> {
  const role = isUuid(id) ? await findRole(db, organizationId, id) : undefined
  if (!role) throw notFound()
  return role
}

async function shown(db: Db, row: RoleRow) {
  return presentRole(row, await listRoleMemberships(db, row.organization_id, [row.id]))
}

/** Two roles whose names differ in case alone would be taken for each other. */
async function underOneName<Result>(write: () => Promise<Result>): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    if (violatedUnique(error) !== 'role_name_unique') throw error
    throw invalid('name', 'unique', 'There is a role with this name already.')
  }
}

function roleActivity({ id, organization_id, name }: RoleRow) {
  return { organization_id, scope: 'Role' as const, item_id: id, name }
}
