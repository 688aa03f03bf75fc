// Signing in through the OpenID provider of a domain, from the first redirect to the session: a certified one, and a
// stand-in where that must misbehave. Hostile answers are in test/attacks/s40-*.ts.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../../src/platform/db/sql.ts'
import { createOrganization, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { IS_LONG } from '../harness/long.ts'
import { startCertifiedProvider, type CertifiedProvider } from '../stand-ins/certified-provider.ts'
import { mapHosts } from '../stand-ins/mapped-outbound.ts'
import { startOpenidProvider, type OpenidProvider } from '../stand-ins/openid-provider.ts'
import { HttpBrowser, SITE } from './http-browser.ts'

let certified: CertifiedProvider
let google: CertifiedProvider
let other: OpenidProvider
let app: TestApp
let workspace: Workspace
let hosts: Record<string, string>

beforeAll(async () => {
  certified = await startCertifiedProvider({
    issuer: 'https://idp.example',
    redirect_uris: [`${SITE}/complete/oidc/`],
  })
  google = await startCertifiedProvider({
    issuer: 'https://accounts.google.com',
    redirect_uris: [`${SITE}/complete/google-oauth2/`],
  })
  const now = () => app.services.now()
  other = await startOpenidProvider({ issuer: 'https://other.example/realms/one', now })
  hosts = {
    'idp.example': certified.url,
    'accounts.google.com': google.url,
    'other.example': `http://127.0.0.1:${other.port}`,
  }
  app = await startTestApp({
    SOCIAL_AUTH_GOOGLE_OAUTH2_KEY: google.client_id,
    SOCIAL_AUTH_GOOGLE_OAUTH2_SECRET: google.client_secret,
  })
  app.services.outbound = mapHosts(hosts)
  for (const { client_secret } of [certified, google, other]) app.canary.plant('client secret', client_secret)
  workspace = await createOrganization(app)
})
afterAll(async () => {
  await app.close()
  await Promise.all([certified, google, other].map((server) => server.close()))
})

type Set = { issuer: string; client_id: string; client_secret: string }

/** A verified domain whose people sign in there, and join. */
async function makeDomain({ issuer, client_id, client_secret }: Set) {
  const domain = `d${randomBytes(5).toString('hex')}.example`
  const base = `/api/organizations/${workspace.organization.id}/domains/`
  const { key } = workspace.owner
  const { id } = (await app.post(base, { domain }, { key })).body
  await app.db.run(sql`UPDATE domain SET verified_at = now() WHERE id = ${id}`)
  const reply = await app.patch(
    `${base}${id}/`,
    {
      jit_provisioning_enabled: true,
      oidc_issuer: issuer,
      oidc_client_id: client_id,
      oidc_client_secret: client_secret,
    },
    { key },
  )
  expect(reply).toMatchObject({ status: 200, body: { has_oidc: true } })
  return {
    id: id as string,
    domain,
    path: `${base}${id}/`,
    redirect_uris: reply.body.oidc_redirect_uris as string[],
  }
}

const newBrowser = () => new HttpBrowser(app, hosts)
const accountOf = (email: string) => app.db.row(sql`SELECT id FROM app_user WHERE email = ${email}`)
const meIn = async (browser: HttpBrowser) =>
  (await app.get('/api/users/@me/', { session: browser.session! })).body
const recordsOf = async ({ path }: { path: string }) =>
  (await app.get(`${path}sign_ins/`, { key: workspace.owner.key })).body.results

/** What the page says that a refused sign-in ends on. */
const refusalAt = (url: URL) => [url.pathname, url.searchParams.get('error_code')]

describe('the provider of a domain', () => {
  it('lets a new person in, once and again, and remembers the way', async () => {
    const domain = await makeDomain(certified)
    const email = `ann@${domain.domain}`
    certified.people.set('ann', { email, email_verified: true, given_name: 'Ann', family_name: 'Bell' })
    const browser = newBrowser()
    const form = await browser.go(`/login/oidc/?domain=${domain.id}&next=/organization%3Ftab%3Dmembers`)
    expect(form.url.host).toBe('idp.example')
    const asked = browser.visited.find(({ pathname }) => pathname === '/auth')!.searchParams
    expect(asked.get('code_challenge_method')).toBe('S256')
    const end = await browser.go('', { login: 'ann' })
    expect(end.url.href).toBe(`${SITE}/organization?tab=members`)
    const me = await meIn(browser)
    expect(me).toMatchObject({ email, first_name: 'Ann', last_name: 'Bell', is_email_verified: true })
    expect(me.organization.id).toBe(workspace.organization.id)

    const [record] = await recordsOf(domain)
    expect(record).toMatchObject({
      provider: 'oidc',
      outcome: 'signed_in',
      email,
      received: { sub: 'ann', email },
    })
    expect(record.checks.map(({ is_passed }: { is_passed: boolean }) => is_passed)).not.toContain(false)
    expect(record.checks.map(({ check }: { check: string }) => check)).toContain('signature')

    // Whatever the address is by then: the person is known.
    certified.people.set('ann', { email: 'ann@elsewhere.example', email_verified: false })
    const again = newBrowser()
    await again.go(`/login/oidc/?email=${email}`)
    expect((await again.go('', { login: 'ann' })).url.pathname).toBe('/')
    expect((await meIn(again)).uuid).toBe(me.uuid)
    expect(again.session).not.toBe(browser.session)
  })

  it('and Google, which is one for everybody: who was invited comes in', async () => {
    const email = 'gil@mail.example'
    google.people.set('gil', { email, email_verified: true, given_name: 'Gil' })
    const come = async () => {
      const browser = newBrowser()
      expect((await browser.go('/login/google-oauth2/')).url.host).toBe('accounts.google.com')
      return { browser, end: (await browser.go('', { login: 'gil' })).url }
    }
    expect(refusalAt((await come()).end)).toEqual(['/login', 'not_invited'])
    expect(await accountOf(email)).toBeUndefined()
    const invites = `/api/organizations/${workspace.organization.id}/invites/`
    await app.post(invites, { target_email: email }, { key: workspace.owner.key })
    const { browser, end } = await come()
    expect(end.href).toBe(`${SITE}/`)
    expect(await meIn(browser)).toMatchObject({ email, first_name: 'Gil' })
  })

  it('says why somebody does not come in, to them and to the admin', async () => {
    const domain = await makeDomain(certified)
    const browser = newBrowser()
    await browser.go(`/login/oidc/?domain=${domain.id}`)
    expect(refusalAt((await browser.go('', { login: '' })).url)).toEqual(['/login', 'provider_refused'])

    const wrong = await makeDomain({ ...certified, client_secret: 'not the secret, but long enough' })
    certified.people.set('bob', { email: `bob@${wrong.domain}`, email_verified: true })
    await browser.go(`/login/oidc/?domain=${wrong.id}`)
    expect(refusalAt((await browser.go('', { login: 'bob' })).url)).toEqual(['/login', 'answer_not_accepted'])

    certified.people.set('cid', { email: `cid@${domain.domain}`, email_verified: false })
    await newBrowser().go(`/login/oidc/?domain=${domain.id}`)
    const unverified = newBrowser()
    await unverified.go(`/login/oidc/?domain=${domain.id}`)
    expect(refusalAt((await unverified.go('', { login: 'cid' })).url)).toEqual([
      '/login',
      'email_not_vouched',
    ])

    expect(browser.session).toBeUndefined()
    expect(unverified.session).toBeUndefined()
    for (const name of ['bob', 'cid'])
      expect(await accountOf(certified.people.get(name)!.email as string)).toBeUndefined()
    const last = async (of: { path: string }, outcome: string) => {
      const record = (await recordsOf(of)).find((each: { outcome: string }) => each.outcome === outcome)
      return record.checks.at(-1)
    }
    expect(await last(domain, 'provider_refused')).toMatchObject({
      check: 'answer',
      message: /access_denied/,
    })
    expect((await last(wrong, 'answer_not_accepted')).message).toMatch(/client id and secret/)
    expect(await last(domain, 'email_not_vouched')).toMatchObject({
      check: 'email_verified',
      is_passed: false,
    })
  })

  it('is tried out without changing anything', async () => {
    const domain = await makeDomain(certified)
    const email = `dan@${domain.domain}`
    certified.people.set('dan', { email, email_verified: true, name: 'Dan' })
    const { url } = (await app.post(`${domain.path}test_sso/`, {}, { key: workspace.owner.key })).body
    const browser = newBrowser()
    await browser.go(url)
    const end = (await browser.go('', { login: 'dan' })).url
    expect([end.pathname, end.searchParams.get('open')]).toEqual(['/organization', domain.id])
    const shown = await app.get(`${domain.path}sign_ins/${end.searchParams.get('sign_in')}/`, {
      key: workspace.owner.key,
    })
    expect(shown.body).toMatchObject({
      purpose: 'test',
      outcome: 'signed_in',
      received: { email, name: 'Dan' },
    })
    expect(browser.session).toBeUndefined()
    expect(await accountOf(email)).toBeUndefined()
  })

  it('lets one new person in many times at once, as one account', async () => {
    const times = IS_LONG ? 50 : 10
    const domain = await makeDomain(other)
    const person = { sub: 'guy', email: `guy@${domain.domain}`, email_verified: true }
    const browsers = await Promise.all(
      Array.from({ length: times }, async () => {
        const browser = newBrowser()
        const { location } = (await browser.call(`/login/oidc/?domain=${domain.id}`)).headers
        return { browser, back: other.signIn(String(location), person).href }
      }),
    )
    const ends = await Promise.all(browsers.map(({ browser, back }) => browser.go(back)))
    expect(new Set(ends.map(({ url }) => url.pathname))).toEqual(new Set(['/']))
    expect(new Set(browsers.map(({ browser }) => browser.session)).size).toBe(times)
    const count = async (of: ReturnType<typeof sql>) => (await app.db.rows(of)).length
    expect(await count(sql`SELECT FROM app_user WHERE email = ${person.email}`)).toBe(1)
    expect(await count(sql`SELECT FROM identity WHERE domain_id = ${domain.id}`)).toBe(1)
    expect(
      await count(
        sql`SELECT FROM membership JOIN app_user ON user_id = app_user.id WHERE email = ${person.email}`,
      ),
    ).toBe(1)
  })

  it('may change its keys at any time, and be down for a while', async () => {
    const domain = await makeDomain(other)
    const signIn = async (sub: string, header = {}) => {
      const browser = newBrowser()
      const { location } = (await browser.call(`/login/oidc/?domain=${domain.id}`)).headers
      const person = { sub, email: `${sub}@${domain.domain}`, email_verified: true }
      await browser.go(other.signIn(String(location), person, header).href)
      return browser
    }
    expect((await signIn('eve')).session).toBeDefined()
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    other.metadata.id_token_signing_alg_values_supported = ['RS256', 'ES256']
    other.keys.push({ ...publicKey.export({ format: 'jwk' }), kid: 'second', use: 'sig' })
    app.advance(5 * 60 * 1000)
    const second = { header: { alg: 'ES256', kid: 'second' }, key: privateKey }
    expect((await signIn('eve', second)).session).toBeDefined()
    other.keys.length = 1
    const refused = await signIn('eve', second)
    expect(refusalAt(refused.visited.at(-1)!)).toEqual(['/login', 'answer_not_accepted'])

    app.advance(5 * 60 * 1000)
    other.answers.set('/.well-known/openid-configuration', (response) => response.writeHead(503).end())
    const down = newBrowser()
    expect(refusalAt((await down.go(`/login/oidc/?domain=${domain.id}`)).url)).toEqual([
      '/login',
      'provider_unreachable',
    ])
    other.answers.clear()
    app.advance(5 * 1000)
    expect((await signIn('eve')).session).toBeDefined()
  })

  it('that does not name itself comes back to an address of the domain alone', async () => {
    // The one is honest. The other belongs to somebody who wants its codes.
    const evil = await startOpenidProvider({ issuer: 'https://evil.example' })
    app.canary.plant('client secret', evil.client_secret)
    hosts['evil.example'] = `http://127.0.0.1:${evil.port}`
    app.advance(5 * 60 * 1000)
    for (const { metadata } of [other, evil]) metadata.authorization_response_iss_parameter_supported = false
    try {
      const honest = await makeDomain(other)
      const trap = await makeDomain(evil)
      const person = { sub: 'fay', email: `fay@${honest.domain}`, email_verified: true }
      const browser = newBrowser()
      const start = async (id: string) =>
        String((await browser.call(`/login/oidc/?domain=${id}`)).headers.location)
      const back = other.signIn(await start(honest.id), person)
      expect(`${back.origin}${back.pathname}`).toBe(`${SITE}/complete/oidc/${honest.id}/`)
      expect(honest.redirect_uris).toEqual([`${SITE}/complete/oidc/`, `${SITE}/complete/oidc/${honest.id}/`])

      // Its authorization page sends the browser on to the honest one, with the state of its own sign-in.
      const lured = new URL(await start(trap.id))
      const aimed = new URL(await start(honest.id))
      aimed.searchParams.set('state', lured.searchParams.get('state')!)
      const stolen = other.signIn(aimed.href, person)
      expect(refusalAt((await browser.go(stolen.href)).url)).toEqual(['/login', 'answer_not_accepted'])
      expect(evil.requests.filter(({ path }) => path === '/token')).toEqual([])
      expect(browser.session).toBeUndefined()

      await browser.go(back.href)
      expect(await meIn(browser)).toMatchObject({ email: person.email })
    } finally {
      other.metadata.authorization_response_iss_parameter_supported = true
      await evil.close()
    }
  })
})
