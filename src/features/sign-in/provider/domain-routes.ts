// What admins have of sign-on: trying a domain's provider out, and the log of its sign-ins.
import { z } from 'zod'
import { isUuid } from '../../../lib/uuid.ts'
import { invalid, notFound } from '../../../platform/http/errors.ts'
import { timestamp, uuid } from '../../../platform/http/fields.ts'
import { paged, PageQuery } from '../../../platform/http/paging.ts'
import { ok, route } from '../../../platform/http/route.ts'
import { isSetUp } from '../../domains/allowed-ways.ts'
import { getDomain } from '../../domains/get-domain.ts'
import { hasOidc, hasSaml } from '../../domains/rules.ts'
import { isTested } from '../../domains/tested.ts'
import { PROVIDERS } from '../../identities/schema.ts'
import { countRecords, findRecord, listRecords, type RecordRow } from './records.ts'
import { REFUSALS, type RefusalCode } from './refusals.ts'
import { newTestToken } from './test-token.ts'

const TESTED = ['saml', 'oidc'] as const

const SignInRecord = z
  .object({
    id: uuid,
    provider: z.string(),
    purpose: z.string().describe('`sign-in`, or `test`: nothing was changed by it.'),
    outcome: z
      .string()
      .describe(
        '`signed_in`, `link_needed` (the password of an existing account was asked for), or why not.',
      ),
    message: z.string().describe('What the person was told.'),
    email: z.string().nullable(),
    ip: z.string(),
    checks: z
      .array(z.object({ check: z.string(), is_passed: z.boolean(), message: z.string() }))
      .describe('Each thing that was looked at, with its verdict.'),
    received: z.record(z.string(), z.unknown()).describe('What the provider sent, without tokens.'),
    created_at: timestamp,
  })
  .meta({ id: 'SignInRecord' })

const DomainWay = z
  .object({
    provider: z.enum(PROVIDERS),
    is_set_up: z.boolean(),
    is_tested: z
      .boolean()
      .describe('Whether an admin has come in by it within the last day: only then it can be enforced.'),
  })
  .meta({ id: 'DomainWay' })

export const domainSignInRoutes = [
  route({
    method: 'GET',
    path: '/api/organizations/:organization_id/domains/:id/ways/',
    summary: 'The providers that `sso_enforcement` can name, and what each still lacks',
    scope: 'organization:read',
    level: 'member',
    item: ({ db, organization, params }) => getDomain(db, organization.id, params.id),
    answers: { 200: z.array(DomainWay) },
    async handle({ services, db, item: domain, now }) {
      const ways = PROVIDERS.map(async (provider) => ({
        provider,
        is_set_up: isSetUp(services.settings, domain, provider),
        is_tested: await isTested(db, domain, provider, now),
      }))
      return ok(await Promise.all(ways))
    },
  }),

  route({
    method: 'POST',
    path: '/api/organizations/:organization_id/domains/:id/test_sso/',
    summary: 'An address that tries the domain’s provider out: the whole sign-in, without changing anything',
    scope: 'organization:write',
    level: 'admin',
    item: ({ db, organization, params }) => getDomain(db, organization.id, params.id),
    body: z.object({ provider: z.enum(TESTED).optional() }),
    examples: { 'Whichever is set up': {}, SAML: { provider: 'saml' } },
    answers: { 200: z.object({ url: z.string(), expires_at: timestamp }) },
    async handle({ services, item: domain, body, now }) {
      const isSetUp = { saml: hasSaml(domain), oidc: hasOidc(domain) }
      const provider = body.provider ?? TESTED.find((each) => isSetUp[each])
      if (provider === undefined || !isSetUp[provider])
        throw invalid('provider', 'invalid_input', 'Fill in the settings of the provider first.')
      const parameters = new URLSearchParams({ domain: domain.id, test: newTestToken(services, domain, now) })
      return ok({
        url: `${services.settings.site_url}/login/${provider}/?${parameters.toString()}`,
        expires_at: new Date(now.getTime() + 600_000).toISOString(),
      })
    },
  }),

  route({
    method: 'GET',
    path: '/api/organizations/:organization_id/domains/:id/sign_ins/',
    summary: 'Sign-ins through the domain’s provider, the newest first: the last thousand, for 30 days',
    scope: 'organization:read',
    level: 'admin',
    item: ({ db, organization, params }) => getDomain(db, organization.id, params.id),
    query: PageQuery,
    answers: { 200: paged(SignInRecord) },
    async handle({ db, item, page, paged }) {
      const rows = await listRecords(db, item.id, page)
      return ok(paged(await countRecords(db, item.id), rows.map(presentRecord)))
    },
  }),

  route({
    method: 'GET',
    path: '/api/organizations/:organization_id/domains/:domain_id/sign_ins/:id/',
    summary: 'One sign-in through the domain’s provider, or one test of it',
    scope: 'organization:read',
    level: 'admin',
    async item({ db, organization, params }) {
      const { id } = await getDomain(db, organization.id, params.domain_id)
      const row = isUuid(params.id) ? await findRecord(db, id, params.id) : undefined
      if (!row) throw notFound()
      return row
    },
    answers: { 200: SignInRecord },
    handle: async ({ item }) => ok(presentRecord(item)),
  }),
]

function presentRecord(row: RecordRow): z.input<typeof SignInRecord> {
  return {
    id: row.id,
    provider: row.provider,
    purpose: row.purpose,
    outcome: row.outcome,
    message: messageOf(row.outcome),
    email: row.email,
    ip: row.ip,
    checks: row.checks,
    received: row.received,
    created_at: row.created_at.toISOString(),
  }
}

function messageOf(outcome: RecordRow['outcome']): string {
  if (outcome === 'signed_in') return 'Signed in.'
  if (outcome === 'link_needed') return 'The account exists: its password was asked for before linking.'
  return REFUSALS[outcome satisfies RefusalCode]
}
