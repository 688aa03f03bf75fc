// Login domains: claim a name, prove it by DNS, then let it decide how its addresses sign in.
import { isUuid } from '../../lib/uuid.ts'
import { violatedUnique, type Db } from '../../platform/db/database.ts'
import { invalid, notFound } from '../../platform/http/errors.ts'
import { paged, PageQuery } from '../../platform/http/paging.ts'
import { created, noContent, ok, route } from '../../platform/http/route.ts'
import { changesBetween, recordActivity, type Activity } from '../activity-log/record.ts'
import { presentDomain } from './present.ts'
import { countDomains, deleteDomain, findClaim, findDomain, insertDomain, listDomains, updateDomain } from './queries.ts'
import { changesFor, isClaimStale, newChallenge } from './rules.ts'
import { Domain, DomainCreate, DomainUpdate, type DomainRow } from './schema.ts'
import { isChallengePublished } from './verify.ts'

const LOGGED_FIELDS = ['domain', 'jit_provisioning_enabled', 'sso_enforcement', 'saml_entity_id', 'saml_acs_url', 'saml_x509_cert'] as const

export const domainRoutes = [
  route({
    method: 'GET',
    path: '/api/organizations/:organization_id/domains/',
    summary: 'List login domains',
    scope: 'organization:read',
    level: 'member',
    query: PageQuery,
    answers: { 200: paged(Domain) },
    async handle({ db, organization, page, paged }) {
      const rows = await listDomains(db, organization.id, page)
      return ok(paged(await countDomains(db, organization.id), rows.map(presentDomain)))
    },
  }),

  route({
    method: 'POST',
    path: '/api/organizations/:organization_id/domains/',
    summary: 'Claim a domain',
    scope: 'organization:write',
    level: 'admin',
    body: DomainCreate,
    answers: { 201: Domain },
    async handle(context) {
      const { db, organization, body, now } = context
      const row = await takingName(() =>
        db.transaction(async (tx) => {
          await releaseStaleClaim(tx, organization.id, body.domain, now)
          const inserted = await insertDomain(tx, organization.id, body, newChallenge(), now)
          await recordActivity(tx, context, { ...domainActivity(inserted), activity: 'created' })
          return inserted
        }),
      )
      return created(presentDomain(row))
    },
  }),

  route({
    method: 'GET',
    path: '/api/organizations/:organization_id/domains/:id/',
    summary: 'One login domain',
    scope: 'organization:read',
    level: 'member',
    answers: { 200: Domain },
    async handle({ db, organization, params }) {
      return ok(presentDomain(await getDomain(db, organization.id, params.id)))
    },
  }),

  route({
    method: 'PATCH',
    path: '/api/organizations/:organization_id/domains/:id/',
    summary: 'Change a login domain',
    scope: 'organization:write',
    level: 'admin',
    item: ({ db, organization, params }) => getDomain(db, organization.id, params.id),
    body: DomainUpdate,
    answers: { 200: Domain },
    async handle(context) {
      const { db, organization, item, body, now } = context
      if (Object.keys(body).length === 0) return ok(presentDomain(item))
      const changes = changesFor(item, body)
      const row = await takingName(() =>
        db.transaction(async (tx) => {
          if (changes.domain !== undefined && changes.domain !== item.domain) {
            await releaseStaleClaim(tx, organization.id, changes.domain, now)
          }
          const after = await updateDomain(tx, organization.id, item.id, changes, now)
          await recordActivity(tx, context, {
            ...domainActivity(after),
            activity: 'updated',
            changes: changesBetween('OrganizationDomain', item, after, LOGGED_FIELDS),
          })
          return after
        }),
      )
      return ok(presentDomain(row))
    },
  }),

  route({
    method: 'DELETE',
    path: '/api/organizations/:organization_id/domains/:id/',
    summary: 'Give a domain up',
    scope: 'organization:write',
    level: 'admin',
    item: ({ db, organization, params }) => getDomain(db, organization.id, params.id),
    answers: { 204: null },
    async handle(context) {
      const { db, organization, item } = context
      await db.transaction(async (tx) => {
        await deleteDomain(tx, organization.id, item.id)
        await recordActivity(tx, context, { ...domainActivity(item), activity: 'deleted' })
      })
      return noContent()
    },
  }),

  route({
    method: 'POST',
    path: '/api/organizations/:organization_id/domains/:id/verify/',
    summary: 'Look for the TXT record that proves the domain',
    scope: 'organization:write',
    level: 'admin',
    item: async ({ db, organization, params }) => {
      const row = await getDomain(db, organization.id, params.id)
      if (row.verified_at !== null) throw invalid(null, 'already_verified', 'This domain is verified already.')
      return row
    },
    answers: { 200: Domain },
    async handle(context) {
      const { services, db, organization, item, now } = context
      // Before any transaction: no connection is held while a name server thinks.
      if (!(await isChallengePublished(services, item))) {
        return ok(presentDomain(await updateDomain(db, organization.id, item.id, { last_verification_retry: now }, now)))
      }
      const row = await db.transaction(async (tx) => {
        const verified = { verified_at: now, last_verification_retry: now }
        const after = await updateDomain(tx, organization.id, item.id, verified, now)
        await recordActivity(tx, context, { ...domainActivity(after), activity: 'verified' })
        return after
      })
      return ok(presentDomain(row))
    },
  }),
]

async function getDomain(db: Db, organizationId: string, id: string): Promise<DomainRow> {
  const row = isUuid(id) ? await findDomain(db, organizationId, id) : undefined
  if (!row) throw notFound()
  return row
}

async function releaseStaleClaim(tx: Db, organizationId: string, name: string, now: Date): Promise<void> {
  const claim = await findClaim(tx, name)
  if (!claim || claim.organization_id === organizationId || !isClaimStale(claim, now)) return
  await deleteDomain(tx, claim.organization_id, claim.id)
}

/** Two claims of one name at once: the database decides, the loser reads that it is taken. */
async function takingName<T>(claim: () => Promise<T>): Promise<T> {
  try {
    return await claim()
  } catch (error) {
    if (violatedUnique(error) !== 'domain_name_unique') throw error
    throw invalid('domain', 'unique', 'This domain is claimed already.')
  }
}

function domainActivity(row: DomainRow): Pick<Activity, 'organization_id' | 'scope' | 'item_id' | 'name'> {
  return { organization_id: row.organization_id, scope: 'OrganizationDomain', item_id: row.id, name: row.domain }
}
