// Admins set up a directory here: switch it on, give it a token, say what its groups mean, and see what it asked for. The service
// that the directory itself calls is in serve.ts.
import { isUuid } from '../../lib/uuid.ts'
import type { Db } from '../../platform/db/database.ts'
import type { Caller, Level } from '../../platform/http/caller.ts'
import { denied, invalid, notFound } from '../../platform/http/errors.ts'
import { paged, PageQuery } from '../../platform/http/paging.ts'
import { ok, route } from '../../platform/http/route.ts'
import { hasScope } from '../../platform/http/scopes.ts'
import type { Services } from '../../platform/services.ts'
import type { Actor } from '../activity-log/record.ts'
import { changeDomain } from '../domains/change.ts'
import { getDomain } from '../domains/get-domain.ts'
import { lockDomain } from '../domains/queries.ts'
import type { DomainRow } from '../domains/schema.ts'
import { newScimToken, scimBaseUrl, switchScim } from '../domains/scim-token.ts'
import { listAccessOfRoles } from '../projects/set-access.ts'
import type { Directory } from './directory.ts'
import { countGroups, findListedGroup, listGroups, type ListedGroup } from './group-queries.ts'
import { setMapping } from './mapping.ts'
import { presentListedGroup, presentRequest, presentScim } from './present-admin.ts'
import { countRequests, lastRequestAt, listRequests } from './request-log.ts'
import { DirectoryGroup, DirectoryGroupUpdate, DirectoryRequest, Scim, ScimUpdate } from './schema.ts'
import { countUsers } from './user-queries.ts'

const BASE = '/api/organizations/:organization_id/domains/:domain_id/scim/'

type InPath = { db: Db; organization: { id: string }; params: { domain_id: string } }
const domainOf = ({ db, organization, params }: InPath) => getDomain(db, organization.id, params.domain_id)

export const scimRoutes = [
  route({
    method: 'GET',
    path: BASE,
    summary: 'How the directory of a domain is set up, and when it last called',
    scope: 'organization_member:read',
    level: 'admin',
    item: domainOf,
    answers: { 200: Scim },
    async handle({ services, db, item }) {
      return ok(await shown(services, db, item))
    },
  }),

  route({
    method: 'POST',
    path: BASE,
    summary: 'Switch provisioning over SCIM on or off for a domain',
    scope: 'organization_member:write',
    level: 'admin',
    needs_recent_sign_in: true,
    item: domainOf,
    body: ScimUpdate,
    examples: { 'Switch on': { scim_enabled: true }, 'Switch off': { scim_enabled: false } },
    answers: { 200: Scim },
    async handle(context) {
      const { services, db, item, body, now } = context
      const { row, token } = await changeToken(context, item, (before) => {
        if (body.scim_enabled) assertVerified(before)
        return switchScim(before, body.scim_enabled, now)
      })
      return ok(await shown(services, db, row, token))
    },
  }),

  route({
    method: 'POST',
    path: `${BASE}token/`,
    summary: 'Give the directory a new token; the old one ends at once',
    scope: 'organization_member:write',
    level: 'admin',
    needs_recent_sign_in: true,
    item: domainOf,
    answers: { 200: Scim },
    async handle(context) {
      const { services, db, item, now } = context
      const { row, token } = await changeToken(context, item, (before) => {
        assertVerified(before)
        return newScimToken(now)
      })
      return ok(await shown(services, db, row, token))
    },
  }),

  route({
    method: 'GET',
    path: `${BASE}groups/`,
    summary: 'Groups of the directory, and what they are mapped to',
    scope: 'organization_member:read',
    level: 'admin',
    item: domainOf,
    query: PageQuery,
    answers: { 200: paged(DirectoryGroup) },
    async handle({ db, item, page, paged }) {
      const rows = await listGroups(db, item.id, page)
      return ok(paged(await countGroups(db, item.id), await presented(db, rows)))
    },
  }),

  route({
    method: 'PATCH',
    path: `${BASE}groups/:id/`,
    summary: 'Map a group of the directory to a level and to projects',
    scope: 'organization_member:write',
    level: 'admin',
    needs_recent_sign_in: true,
    item: async (context) => {
      const domain = await domainOf(context)
      return { domain, group: await getGroup(context.db, domain, context.params.id) }
    },
    body: DirectoryGroupUpdate,
    examples: {
      'Members are admins': { level: 8 },
      'Members reach two private projects': {
        projects: [
          { id: 1, level: 'member' },
          { id: 2, level: 'admin' },
        ],
      },
    },
    answers: { 200: DirectoryGroup },
    async handle(context) {
      const { db, item, body, caller } = context
      if (body.projects) assertMayOpenProjects(caller)
      const { domain, group } = item
      const directory = directoryFor(context, domain)
      if (!(await db.transaction((tx) => setMapping(tx, directory, group, body)))) throw notFound()
      const [after] = await presented(db, [await getGroup(db, domain, group.id)])
      return ok(after!)
    },
  }),

  route({
    method: 'GET',
    path: `${BASE}requests/`,
    summary: 'The last 1,000 requests of the directory with their answers, newest first',
    scope: 'organization_member:read',
    level: 'admin',
    item: domainOf,
    query: PageQuery,
    answers: { 200: paged(DirectoryRequest) },
    async handle({ db, item, page, paged }) {
      const rows = await listRequests(db, item.id, page)
      return ok(paged(await countRequests(db, item.id), rows.map(presentRequest)))
    },
  }),
]

type ChangeContext = Actor & { db: Db; organization: { id: string }; level: Level }
type TokenChange = { value: string | null; columns: Partial<DomainRow> }

async function changeToken(
  context: ChangeContext,
  { id }: DomainRow,
  change: (before: DomainRow) => TokenChange,
): Promise<{ row: DomainRow; token: string | null }> {
  const { db, organization } = context
  return db.transaction(async (tx) => {
    const before = await lockDomain(tx, organization.id, id)
    const { value, columns } = change(before)
    if (Object.keys(columns).length === 0) return { row: before, token: null }
    return { row: await changeDomain(tx, context, before, columns), token: value }
  })
}

function assertVerified({ verified_at }: DomainRow): void {
  if (verified_at === null)
    throw invalid('scim_enabled', 'verification_required', 'Verify the domain before you set this.')
}

/** Opening a project by way of a group takes what opening it by hand takes. */
function assertMayOpenProjects(caller: Caller): void {
  if (caller.kind === 'session' || hasScope(caller.key.scopes, 'access_control:write')) return
  throw denied('The API key lacks the scope `access_control:write`.')
}

/** For changes that an admin makes, in their own name. */
function directoryFor(context: Actor & { services: Services }, domain: DomainRow): Directory {
  const { services, now } = context
  return { services, domain, actor: context, now, base: scimBaseUrl(services, domain) }
}

async function getGroup(db: Db, domain: DomainRow, id: string): Promise<ListedGroup> {
  const row = isUuid(id) ? await findListedGroup(db, domain.id, id) : undefined
  if (!row) throw notFound()
  return row
}

async function presented(db: Db, rows: readonly ListedGroup[]) {
  const roles = rows.flatMap(({ role_id }) => role_id ?? [])
  const opened = roles.length === 0 ? [] : await listAccessOfRoles(db, rows[0]!.organization_id, roles)
  return rows.map((row) => presentListedGroup(row, opened))
}

async function shown(services: Services, db: Db, row: DomainRow, token: string | null = null) {
  return presentScim(services, row, token, {
    users: await countUsers(db, row.id),
    groups: await countGroups(db, row.id),
    last_request_at: await lastRequestAt(db, row.id),
  })
}
