// SAML over HTTP as honest providers use it: the request, the answer, both kinds of metadata, and certificates that change.
import { createVerify, X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { saying } from '../../../../test/attacks/saml/hostile-answer.ts'
import {
  createKey,
  createMember,
  createOrganization,
  type TestUser,
  type Workspace,
} from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import {
  encode,
  metadataOf,
  mintAnswer,
  openIdentityProvider,
  PERSISTENT,
  type IdentityProvider,
  type Said,
} from '../../../../test/stand-ins/identity-provider.ts'
import { beginSignIn, postAnswer, refusalOf, type Begun } from '../../../../test/stand-ins/saml-browser.ts'
import { startWebhookServer, type WebhookStandIn } from '../../../../test/stand-ins/webhook-server.ts'
import { childrenOf, everyElement, parseXml } from '../../../lib/strict-xml.ts'
import { sql } from '../../../platform/db/sql.ts'
import { makeCertificate } from '../../domains/fixture/certificate.ts'
import type { DomainRow } from '../../domains/schema.ts'
import { addSamlDomain } from './fixture/domain.ts'
import { METADATA, SIGNATURE } from './names.ts'

const SITE = 'http://longshore.test'

let web: WebhookStandIn
let app: TestApp
let workspace: Workspace
let admin: TestUser
let member: TestUser
let idp: IdentityProvider
let domain: DomainRow
let published = { status: 200, body: '' }

beforeAll(async () => {
  web = await startWebhookServer(() => published)
  app = await startTestApp({ OUTBOUND_ALLOW: '127.0.0.1' })
  workspace = await createOrganization(app)
  admin = await createMember(app, workspace.organization, { level: 'admin' })
  member = await createMember(app, workspace.organization)
  idp = openIdentityProvider('idp.example')
  domain = await addSamlDomain(app.db, workspace.organization.id, 'acme.example', idp)
})
afterAll(async () => {
  await app.close()
  await web.close()
})

const say = async (begun: Begun, email: string, changes: Partial<Said> = {}) =>
  encode(
    await mintAnswer(
      saying({ idp, site_url: SITE, request_id: begun.request_id, victim: '', mallory: email }, changes),
    ),
  )
const signIn = async (
  email: string,
  changes: Partial<Said> = {},
  parameters: Record<string, string> = {},
) => {
  const begun = await beginSignIn(app.call, { domain: domain.id, ...parameters })
  return postAnswer(app.call, begun, await say(begun, email, changes))
}
const me = async (session: string) => (await app.get('/api/users/@me/', { session })).body
const bounds = { max_bytes: 100_000, max_elements: 1000, has_comments: false }

describe('the request', () => {
  it('is signed with a certificate of the metadata, and names us, the answer’s address and the domain', async () => {
    const begun = await beginSignIn(app.call, { email: 'somebody@ACME.example' })
    expect(begun.url.origin + begun.url.pathname).toBe('https://idp.example/sso')
    expect(begun.url.searchParams.get('tenant')).toBe('1')
    expect(begun.relay_state).toBe(domain.id)
    expect(begun.request).toContain(`AssertionConsumerServiceURL="${SITE}/complete/saml/"`)
    expect(begun.request).toContain(`>${SITE}</saml:Issuer>`)
    expect(begun.request).not.toContain('RequestedAuthnContext')
    const signed = /SAMLRequest=.*(?=&Signature=)/.exec(begun.url.search)![0]
    const { body } = await app.get(`/login/saml/metadata/${domain.id}/`)
    const [certificate] = [...everyElement(parseXml(body, bounds))].filter(
      ({ name }) => name === 'X509Certificate',
    )
    const { publicKey } = new X509Certificate(Buffer.from(certificate!.text, 'base64'))
    const signature = Buffer.from(begun.url.searchParams.get('Signature')!, 'base64')
    expect(createVerify('sha256').update(signed).verify(publicKey, signature)).toBe(true)
    expect(createVerify('sha256').update(`${signed}x`).verify(publicKey, signature)).toBe(false)
  })

  it('is made for verified domains with all settings alone', async () => {
    const unproved = await addSamlDomain(app.db, workspace.organization.id, 'unproved.example', idp)
    await app.db.run(sql`UPDATE domain SET verified_at = NULL WHERE id = ${unproved.id}`)
    const half = await addSamlDomain(app.db, workspace.organization.id, 'half.example', idp)
    await app.db.run(sql`UPDATE domain SET saml_entity_id = '' WHERE id = ${half.id}`)
    const asked: Record<string, string>[] = [
      {},
      { domain: unproved.id },
      { domain: half.id },
      { domain: 'nonsense' },
      { email: 'nonsense' },
      { email: 'a@sub.acme.example' },
      { email: 'a@unproved.example' },
    ]
    for (const parameters of asked) {
      const reply = await app.get(`/login/saml/?${new URLSearchParams(parameters).toString()}`)
      expect([reply.status, refusalOf(reply).code]).toEqual([303, 'provider_not_set_up'])
    }
  })
})

describe('an answer', () => {
  it('opens an account, a session and an identity, and leaves a record of every check', async () => {
    const reply = await signIn(
      'ada@acme.example',
      {
        name_id: 'u-1',
        name_id_format: PERSISTENT,
        attributes: { mail: 'ada@acme.example', givenName: 'Ada', sn: 'Lovelace', groups: ['a', 'b'] },
      },
      { next: '/project/1?tab=x' },
    )
    expect(reply).toMatchObject({ status: 303, headers: { location: '/project/1?tab=x' } })
    expect(await me(reply.session!)).toMatchObject({
      email: 'ada@acme.example',
      first_name: 'Ada',
      last_name: 'Lovelace',
      organization: { id: workspace.organization.id },
    })
    expect(
      await app.db.rows(
        sql`SELECT issuer, subject, domain_id FROM identity WHERE email = 'ada@acme.example'`,
      ),
    ).toEqual([{ issuer: idp.entity_id, subject: 'u-1', domain_id: domain.id }])
    const record = await app.db.only<{ checks: { check: string; is_passed: boolean }[] }>(
      sql`SELECT * FROM sign_in_record WHERE outcome = 'signed_in' ORDER BY created_at DESC LIMIT 1`,
    )
    expect(record).toMatchObject({
      email: 'ada@acme.example',
      received: { name_id: 'u-1', attributes: { givenName: ['Ada'], groups: ['a', 'b'] } },
    })
    expect(record.checks.every(({ is_passed }) => is_passed)).toBe(true)
    expect(record.checks.map(({ check }) => check)).toEqual([
      'signature',
      'certificate',
      'issuer',
      'audience',
      'recipient',
      'destination',
      'in_response_to',
      'times',
      'email',
      'replay',
    ])
  })

  it('may have its response signed, or both, or no destination, and 60 seconds between the clocks', async () => {
    const soon = new Date(Date.now() + 50_000).toISOString()
    const good: [string, Partial<Said>][] = [
      ['response', { signs: 'response' }],
      ['both', { signs: 'both' }],
      ['undirected', { edit: (xml) => xml.replace(/ Destination="[^"]*"/, '') }],
      ['early', { edit: (xml) => xml.replace(/ NotBefore="[^"]*"/, ` NotBefore="${soon}"`) }],
      ['late', { lifetime_s: -50 }],
      ['broken lines', { edit: (xml) => `${xml}\r\n` }],
      ['two audiences', { audience: ['https://other.example', SITE] }],
    ]
    for (const [name, changes] of good) {
      const reply = await signIn(`${name.replace(' ', '-')}@acme.example`, changes)
      expect([name, reply.headers.location, typeof reply.session]).toEqual([name, '/', 'string'])
    }
  })

  it('may be signed with any of the domain’s certificates, and with none that was taken away', async () => {
    const next = makeCertificate({ type: 'rsa', name: 'next' })
    const path = `/api/organizations/${workspace.organization.id}/domains/${domain.id}/`
    const set = (saml_x509_cert: string) => app.patch(path, { saml_x509_cert }, { key: admin.key })
    expect((await signIn('next@acme.example', { certificate: next })).session).toBeUndefined()
    expect((await set(`${idp.certificate.pem}\n${next.pem}`)).status).toBe(200)
    expect((await signIn('next@acme.example', { certificate: next })).session).toEqual(expect.any(String))
    expect((await signIn('next@acme.example')).session).toEqual(expect.any(String))
    // As some consoles of providers show it: base64 alone.
    expect((await set(next.base64)).status).toBe(200)
    expect((await signIn('next@acme.example', { certificate: next })).session).toEqual(expect.any(String))
    expect((await signIn('next@acme.example')).session).toBeUndefined()
    expect((await set(idp.certificate.pem)).status).toBe(200)
  })
})

describe('metadata of this service provider', () => {
  it('says who we are, where answers go and what requests are signed with', async () => {
    const { status, body, headers } = await app.get('/api/saml/metadata/', { key: admin.key })
    expect([status, headers['content-type']]).toEqual([200, 'text/xml; charset=utf-8'])
    const root = parseXml(body, bounds)
    const [sp] = childrenOf(root, METADATA, 'SPSSODescriptor')
    expect(root.attributes.get('entityID')).toBe(SITE)
    expect(sp!.attributes.get('AuthnRequestsSigned')).toBe('true')
    expect(sp!.attributes.get('WantAssertionsSigned')).toBe('true')
    const [acs] = childrenOf(sp, METADATA, 'AssertionConsumerService')
    expect(acs!.attributes.get('Location')).toBe(`${SITE}/complete/saml/`)
    expect(
      [...everyElement(root)].filter(
        ({ namespace, name }) => namespace === SIGNATURE && name === 'X509Certificate',
      ),
    ).toHaveLength(1)
    expect(body).not.toContain('PRIVATE')
    // Each has an id of its own; the rest is the same.
    const withoutId = (xml: string) => xml.replace(/ ID="[^"]*"/, '')
    expect(withoutId((await app.get(`/login/saml/metadata/${domain.id}/`)).body)).toBe(withoutId(body))
  })

  it('is for admins under /api, and for whoever knows a domain elsewhere', async () => {
    const path = '/api/saml/metadata/'
    const limited = await createKey(app, admin, { scopes: ['project:read'] })
    expect((await app.get(path, { session: admin.session })).status).toBe(200)
    expect((await app.get(path)).status).toBe(401)
    expect((await app.get(path, { key: member.key })).status).toBe(403)
    expect((await app.get(path, { key: limited })).status).toBe(403)
    for (const id of ['nonsense', '01900000-0000-7000-8000-000000000000'])
      expect((await app.get(`/login/saml/metadata/${id}/`)).status).toBe(404)
  })
})

describe('POST domains/:id/saml_metadata/', () => {
  it('fills in the settings from a text and from an address, and says what it read', async () => {
    const organization = `/api/organizations/${workspace.organization.id}`
    const made = await app.post(`${organization}/domains/`, { domain: 'meta.example' }, { key: admin.key })
    const path = `${organization}/domains/${made.body.id}/saml_metadata/`
    const other = openIdentityProvider('other-idp.example')
    published = { status: 200, body: metadataOf(other) }
    const sources: [object, IdentityProvider][] = [
      [{ xml: metadataOf(idp) }, idp],
      [{ url: `${web.url}/metadata` }, other],
    ]
    for (const [source, provider] of sources) {
      const { status, body } = await app.post(path, source, { key: admin.key })
      expect([status, body]).toMatchObject([
        200,
        {
          has_saml: true,
          saml_entity_id: provider.entity_id,
          saml_acs_url: provider.sso_url,
          saml_certificates: [
            { subject: expect.stringMatching(/^CN=/), expires_at: '2049-12-31T23:59:59.000Z' },
          ],
        },
      ])
    }
    const log = await app.get(`${organization}/activity_log/?item_id=${made.body.id}`, { key: admin.key })
    expect(log.body.results[0]).toMatchObject({ activity: 'updated', scope: 'OrganizationDomain' })
    expect((await app.post(path, { xml: metadataOf(idp) }, { key: member.key })).status).toBe(403)
  })

  it('400 what is no metadata, or cannot be fetched', async () => {
    const path = `/api/organizations/${workspace.organization.id}/domains/${domain.id}/saml_metadata/`
    const before = await app.db.only(sql`SELECT * FROM domain WHERE id = ${domain.id}`)
    published = { status: 404, body: 'no' }
    const wrong: [object, string, RegExp][] = [
      [{}, '-', /either `xml` or `url`/],
      [{ xml: '<a/>', url: 'https://a.example' }, '-', /either/],
      [{ xml: '<a/>' }, 'xml', /not the SAML 2.0 metadata/],
      [{ url: `${web.url}/metadata` }, 'url', /status 404/],
      [{ url: 'http://10.0.0.1/metadata' }, 'url', /not a public one/],
      [{ url: 'file:///etc/passwd' }, 'url', /not an http/],
    ]
    for (const [body, attr, says] of wrong) {
      const reply = await app.post(path, body, { key: admin.key })
      expect([reply.status, reply.body.attr ?? '-']).toEqual([400, attr])
      expect(reply.body.detail).toMatch(says)
    }
    expect(await app.db.only(sql`SELECT * FROM domain WHERE id = ${domain.id}`)).toEqual(before)
  })
})
