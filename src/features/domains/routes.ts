// Login domains: claim a name, prove it by DNS, then let it decide how its addresses sign in.
import { uuid7 } from '../../lib/uuid.ts'
import { violatedUnique, type Db } from '../../platform/db/database.ts'
import { invalid } from '../../platform/http/errors.ts'
import { paged, PageQuery } from '../../platform/http/paging.ts'
import { created, noContent, ok, route } from '../../platform/http/route.ts'
import { recordActivity, type Actor } from '../activity-log/record.ts'
import { forgetIdentitiesOf } from '../identities/queries.ts'
import { domainActivity } from './activity.ts'
import { changeDomain, isProviderChanged } from './change.ts'
import { getDomain } from './get-domain.ts'
import { assertIssuerAllowed, sealed } from './oidc-client.ts'
import { presentDomain } from './present.ts'
import {
  countDomains,
  deleteDomain,
  deleteOtherClaims,
  insertDomain,
  isProvedElsewhere,
  listDomains,
  lockDomain,
  lockName,
  updateDomain,
} from './queries.ts'
import { changesFor, newChallenge } from './rules.ts'
import { Domain, DomainCreate, DomainUpdate, VerifiedDomain, type DomainRow } from './schema.ts'
import { assertMayProvision, switchScim } from './scim-token.ts'
import { isTested } from './tested.ts'
import { lookForChallenge } from './verify.ts'

const NAME_RULES = ['domain_name_unique', 'domain_organization_unique']

export const domainRoutes = [
  route({
    method: 'GET',
    path: '/api/organizations/:organization_id/domains/',
    summary: 'List login domains',
    scope: 'organization:read',
    level: 'member',
    query: PageQuery,
    answers: { 200: paged(Domain) },
    async handle({ services, db, organization, page, paged }) {
      const rows = await listDomains(db, organization.id, page)
      return ok(
        paged(
          await countDomains(db, organization.id),
          rows.map((row) => presentDomain(services, row)),
        ),
      )
    },
  }),

  route({
    method: 'POST',
    path: '/api/organizations/:organization_id/domains/',
    summary: 'Claim a login domain; it is yours once it is verified',
    scope: 'organization:write',
    level: 'admin',
    body: DomainCreate,
    examples: { 'A domain': { domain: 'example.com' } },
    // A name server is asked: no connection is to be held meanwhile.
    prove: ({ services, body }) => assertIssuerAllowed(services.outbound, body),
    answers: { 201: Domain },
    async handle(context) {
      const { services, db, organization, body, now } = context
      const row = await takingName(() =>
        db.transaction(async (tx) => {
          await assertFree(tx, organization.id, body.domain)
          const id = uuid7(now)
          const fields = { id, ...sealed(services, id, body) }
          const inserted = await insertDomain(tx, organization.id, fields, newChallenge(), now)
          await recordActivity(tx, context, { ...domainActivity(inserted), activity: 'created' })
          return inserted
        }),
      )
      return created(presentDomain(services, row))
    },
  }),

  route({
    method: 'GET',
    path: '/api/organizations/:organization_id/domains/:id/',
    summary: 'One login domain',
    scope: 'organization:read',
    level: 'member',
    answers: { 200: Domain },
    async handle({ services, db, organization, params }) {
      return ok(presentDomain(services, await getDomain(db, organization.id, params.id)))
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
    examples: {
      'Let everybody of the domain join': { jit_provisioning_enabled: true },
      'An OpenID provider': {
        oidc_issuer: 'https://login.example.com/realms/staff',
        oidc_client_id: 'longshore',
        oidc_client_secret: 'the secret that the provider has made',
      },
    },
    prove: ({ services, body }) => assertIssuerAllowed(services.outbound, body),
    answers: { 200: Domain },
    async handle(context) {
      const { services, db, organization, item, body, now } = context
      if (Object.keys(body).length === 0) return ok(presentDomain(services, item))
      if (body.scim_enabled) assertMayProvision(context.caller)
      const { row, token } = await takingName(() =>
        db.transaction(async (tx) => {
          const before = await lockDomain(tx, organization.id, item.id)
          const changes = changesFor(before, sealed(services, before.id, body))
          const scim = switchScim(before, body.scim_enabled, now)
          if (changes.domain !== undefined && changes.domain !== before.domain) {
            await assertFree(tx, organization.id, changes.domain)
            await forgetIdentitiesOf(tx, before.id)
          }
          await assertTested(tx, before, changes, now)
          const columns = { ...scim.columns, ...changes }
          return { row: await changeDomain(tx, context, before, columns), token: scim.value }
        }),
      )
      return ok(presentDomain(services, row, token))
    },
  }),

  route({
    method: 'DELETE',
    path: '/api/organizations/:organization_id/domains/:id/',
    summary: 'Delete a login domain',
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
    // The look-up belongs here: an idempotent request runs `handle` in a transaction, and no connection should be held
    // while a name server thinks.
    item: async ({ services, db, organization, params }) => {
      const domain = await getDomain(db, organization.id, params.id)
      return { domain, found: domain.verified_at === null ? await lookForChallenge(services, domain) : null }
    },
    answers: { 200: VerifiedDomain },
    async handle(context) {
      const { services, db, organization, item, now } = context
      const { found } = item
      if (found === null) {
        throw invalid(null, 'already_verified', 'This domain is verified already.')
      }
      const row = await takingName(() =>
        db.transaction(async (tx) => {
          await lockName(tx, item.domain.domain)
          const before = await lockDomain(tx, organization.id, item.domain.id)
          // What DNS said is about the name it was asked for; a renamed domain has another challenge.
          const isRenamed = before.verification_challenge !== item.domain.verification_challenge
          if (isRenamed || before.verified_at !== null) return before
          const isProven = found.finding === 'published'
          const outcome = { verified_at: isProven ? now : null, last_verification_retry: now }
          const after = await updateDomain(tx, organization.id, before.id, outcome, now)
          if (isProven) {
            await recordActivity(tx, context, { ...domainActivity(after), activity: 'verified' })
            await endOtherClaims(tx, context, after)
          }
          return after
        }),
      )
      return ok({ ...presentDomain(services, row), found })
    },
  }),
]

/** Never a lock-out: an admin must have come in that way lately. */
async function assertTested(
  tx: Db,
  before: DomainRow,
  changes: Partial<DomainRow>,
  now: Date,
): Promise<void> {
  const { sso_enforcement: wanted } = changes
  if (!wanted || wanted === before.sso_enforcement) return
  if (!isProviderChanged(before, changes) && (await isTested(tx, before, wanted, now))) return
  throw invalid(
    'sso_enforcement',
    'sso_not_tested',
    'An admin of this organization must have signed in this way within the last day: enforcing it could lock everybody out.',
  )
}

async function assertFree(tx: Db, organizationId: string, name: string): Promise<void> {
  if (await isProvedElsewhere(tx, organizationId, name)) throw nameTaken()
}

/** The organizations that lose the name find that in their logs, but not who has it now. */
async function endOtherClaims(tx: Db, actor: Actor, proved: DomainRow): Promise<void> {
  for (const claim of await deleteOtherClaims(tx, proved)) {
    await recordActivity(tx, { ...actor, caller: null }, { ...domainActivity(claim), activity: 'deleted' })
  }
}

/** Two proofs of one name, or two claims of one organization, at once: the database decides. */
async function takingName<T>(claim: () => Promise<T>): Promise<T> {
  try {
    return await claim()
  } catch (error) {
    if (!NAME_RULES.includes(violatedUnique(error) ?? '')) throw error
    throw nameTaken()
  }
}

function nameTaken() {
  return invalid(
    'domain',
    'unique',
    'This domain is claimed by your organization already, or another one has proved that it is theirs.',
  )
}
