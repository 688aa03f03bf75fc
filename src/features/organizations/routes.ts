// Organizations: the workspace itself.
import { LEVELS, personOf } from '../../platform/http/caller.ts'
import { denied } from '../../platform/http/errors.ts'
import { paged, PageQuery } from '../../platform/http/paging.ts'
import { created, noContent, ok, route } from '../../platform/http/route.ts'
import { changesBetween, recordActivity } from '../activity-log/record.ts'
import { isReachable } from '../projects/access.ts'
import { createOrganization } from './create.ts'
import { deleteWithEverything, organizationActivity } from './delete.ts'
import { presentOrganization } from './present.ts'
import {
  countOrganizations,
  getOrganizationFacts,
  listOrganizations,
  lockOrganization,
  updateOrganization,
} from './queries.ts'
import { Organization, OrganizationCreate, OrganizationUpdate } from './schema.ts'

const WRITABLE_FIELDS = [
  'name',
  'is_member_join_email_enabled',
  'enforce_2fa',
  'enforce_2fa_with_sso',
  'members_can_invite',
  'members_can_use_personal_api_keys',
] as const

export const organizationRoutes = [
  route({
    method: 'GET',
    path: '/api/organizations/',
    summary: 'List your organizations',
    scope: 'organization:read',
    query: PageQuery,
    answers: { 200: paged(Organization) },
    async handle({ services, db, caller, page, paged }) {
      const rows = await listOrganizations(db, caller, page)
      const items = rows.map((row) => presentOrganization(services.settings, row, row.level, row))
      return ok(paged(await countOrganizations(db, caller), items))
    },
  }),

  route({
    method: 'POST',
    path: '/api/organizations/',
    summary: 'Create an organization and become its owner',
    scope: 'organization:write',
    item: async ({ caller }) => {
      const owner = personOf(caller)
      if (caller.kind === 'personal_key' && caller.key.scoped_organizations.length > 0) {
        throw denied('The API key is limited to certain organizations and could not see a new one.')
      }
      return owner
    },
    body: OrganizationCreate,
    examples: { 'An organization': { name: 'Harbour Works' } },
    answers: { 201: Organization },
    async handle(context) {
      const { db, item: owner, body } = context
      const { organization } = await db.transaction((tx) => createOrganization(tx, context, owner.id, body))
      const facts = await getOrganizationFacts(db, organization.id, isReachable(context.caller, LEVELS.owner))
      return created(presentOrganization(context.services.settings, organization, LEVELS.owner, facts))
    },
  }),

  route({
    method: 'GET',
    path: '/api/organizations/:id/',
    summary: 'One organization',
    scope: 'organization:read',
    subject: 'organization',
    level: 'member',
    answers: { 200: Organization },
    async handle({ services, db, caller, organization, level }) {
      const facts = await getOrganizationFacts(db, organization.id, isReachable(caller, level))
      return ok(presentOrganization(services.settings, organization, level, facts))
    },
  }),

  route({
    method: 'PATCH',
    path: '/api/organizations/:id/',
    summary: 'Change an organization',
    scope: 'organization:write',
    subject: 'organization',
    level: 'admin',
    needs_recent_sign_in: true,
    body: OrganizationUpdate,
    examples: { Rename: { name: 'Harbour Works Ltd' }, 'Demand a second factor': { enforce_2fa: true } },
    answers: { 200: Organization },
    async handle(context) {
      const { services, db, caller, organization, level, body, now } = context
      const changed = await db.transaction(async (tx) => {
        const before = await lockOrganization(tx, organization.id, 'change')
        const changes = changesBetween('Organization', before, body, WRITABLE_FIELDS)
        if (changes.length === 0) return before
        const after = await updateOrganization(tx, organization.id, body, now)
        await recordActivity(tx, context, { ...organizationActivity(after), activity: 'updated', changes })
        return after
      })
      const facts = await getOrganizationFacts(db, organization.id, isReachable(caller, level))
      return ok(presentOrganization(services.settings, changed, level, facts))
    },
  }),

  route({
    method: 'DELETE',
    path: '/api/organizations/:id/',
    summary: 'Delete an organization with everything in it',
    scope: 'organization:write',
    subject: 'organization',
    level: 'owner',
    needs_recent_sign_in: true,
    answers: { 204: null },
    async handle(context) {
      const { db, services, organization } = context
      await db.transaction((tx) => deleteWithEverything(services, tx, context, organization.id))
      return noContent()
    },
  }),
]
