// Whether a password may be used for an address: the rule itself, and that signing in obeys it while keys do not.
import { randomBytes } from 'node:crypto'
import { uuid7 } from '../../lib/uuid.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMember, createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import { makeCertificate } from './fixture/certificate.ts'
import { assertAllowed, isAllowed, signInRuleOf } from './allowed-ways.ts'
import { insertDomain, updateDomain } from './queries.ts'
import { newChallenge } from './rules.ts'
import type { DomainRow } from './schema.ts'

let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
})
afterAll(() => app.close())

const SAML = {
  saml_entity_id: 'e',
  saml_acs_url: 'https://idp.example/sso',
  saml_x509_cert: makeCertificate().base64,
}

/** A domain in the given state, as no order of calls would make it where the case needs that. */
async function domainWith(fields: Partial<DomainRow>): Promise<string> {
  const domain = fields.domain ?? `d${randomBytes(6).toString('hex')}.example`
  const now = app.services.now()
  const id = uuid7(now)
  await insertDomain(app.db, workspace.organization.id, { id, domain }, newChallenge(), now)
  await updateDomain(app.db, workspace.organization.id, id, fields, now)
  return domain
}

const verified = { verified_at: new Date() }

describe('the rule of an address', () => {
  it.each<[string, Partial<DomainRow>, { enforced: string | null; has_saml: boolean }]>([
    [
      'verified, SAML enforced and set up',
      { ...verified, ...SAML, sso_enforcement: 'saml' },
      { enforced: 'saml', has_saml: true },
    ],
    ['verified, SAML set up only', { ...verified, ...SAML }, { enforced: null, has_saml: true }],
    ['verified, nothing set', verified, { enforced: null, has_saml: false }],
    ['not verified', { ...SAML, sso_enforcement: 'saml' }, { enforced: null, has_saml: false }],
    [
      'SAML enforced but not set up',
      { ...verified, ...SAML, saml_x509_cert: null, sso_enforcement: 'saml' },
      { enforced: null, has_saml: false },
    ],
    [
      'a provider this instance does not have',
      { ...verified, sso_enforcement: 'google-oauth2' },
      { enforced: null, has_saml: false },
    ],
    [
      'another such provider',
      { ...verified, ...SAML, sso_enforcement: 'github' },
      { enforced: null, has_saml: true },
    ],
  ])('%s', async (_case, fields, expected) => {
    const email = `somebody@${await domainWith(fields)}`
    expect(await signInRuleOf(app, email)).toMatchObject({ has_oidc: false, ...expected })
    expect(await isAllowed(app, email, 'password')).toBe(expected.enforced === null)
    const refusal = await assertAllowed(app, email, 'password').then(
      () => null,
      ({ status, code, attr }: ApiError) => `${status} ${code} ${attr}`,
    )
    expect(refusal).toBe(expected.enforced === null ? null : '400 sso_enforced null')
  })

  it('is that of the exact domain, in any case and spelling', async () => {
    const enforced = { ...verified, ...SAML, sso_enforcement: 'saml' as const }
    const domain = await domainWith(enforced)
    await domainWith({ ...enforced, domain: 'xn--bcher-kva.example' })
    const addresses = {
      [`a@${domain}`]: false,
      [`a@${domain.toUpperCase()}`]: false,
      [`"odd@place"@${domain}`]: false,
      'a@xn--bcher-kva.example': false,
      'a@bücher.example': false,
      'a@BÜCHER.example': false,
      [`a@mail.${domain}`]: true,
      [`a@x${domain}`]: true,
      [`a@${domain}.org`]: true,
      [`${domain}@elsewhere.example`]: true,
      nonsense: true,
    }
    for (const [address, expected] of Object.entries(addresses)) {
      expect([address, await isAllowed(app, address, 'password')]).toEqual([address, expected])
    }
  })
})

describe('who lives under an enforced domain', () => {
  it('cannot sign in with the right password, is told so beforehand, and keeps the API key', async () => {
    const domain = await domainWith({ ...verified, ...SAML, sso_enforcement: 'saml' })
    const person = await createMember(app, workspace.organization, { email: `Person@${domain}` })
    const reply = await app.post('/api/login/', { email: person.email, password: person.password })
    expect(reply.status).toBe(400)
    expect(reply.body).toMatchObject({ type: 'validation_error', code: 'sso_enforced', attr: null })
    expect(reply.session).toBeUndefined()
    for (const email of [person.email, `nobody@${domain}`]) {
      const precheck = await app.post('/api/login/precheck/', { email })
      expect(precheck.body).toEqual({ sso_enforcement: 'saml', saml_available: true, oidc_available: false })
    }
    expect((await app.get('/api/users/@me/', { key: person.key })).status).toBe(200)

    await app.db.run(sql`UPDATE domain SET sso_enforcement = '' WHERE domain = ${domain}`)
    const later = await app.post('/api/login/', { email: person.email, password: person.password })
    expect(later.status).toBe(200)
    expect(later.session).toMatch(/.{20}/)
  })

  it('an address of no known domain is told nothing', async () => {
    const precheck = await app.post('/api/login/precheck/', { email: 'nobody@unheard-of.example' })
    expect(precheck.body).toEqual({ sso_enforcement: null, saml_available: false, oidc_available: false })
  })
})
