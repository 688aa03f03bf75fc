// Who comes in when a provider vouches for somebody, through HTTP: every row of the table in decision 58, what enforcement closes,
// and many at once. The provider is the stand-in of a domain's own.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeOf, setUpDevice } from '../../src/features/two-factor/fixture/authenticator.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { jobsAreDone } from '../../src/platform/jobs/fixture/queue.ts'
import {
  createMember,
  createOrganization,
  createUser,
  secretOf,
  type TestUser,
  type Workspace,
} from '../factories.ts'
import { startTestApp, type Reply, type TestApp } from '../harness/app.ts'
import { mapHosts } from '../stand-ins/mapped-outbound.ts'
import { startOpenidProvider, type OpenidProvider } from '../stand-ins/openid-provider.ts'
import { startSmtpServer, type SmtpStandIn } from '../stand-ins/smtp.ts'

let smtp: SmtpStandIn
let provider: OpenidProvider
let app: TestApp
beforeAll(async () => {
  smtp = await startSmtpServer()
  const now = () => app.services.now()
  provider = await startOpenidProvider({ issuer: 'https://idp.example', now })
  app = await startTestApp({ SMTP_URL: smtp.url })
  app.services.outbound = mapHosts({ 'idp.example': `http://127.0.0.1:${provider.port}` })
  app.canary.plant('client secret', provider.client_secret)
})
afterAll(async () => {
  await app.close()
  await provider.close()
  await smtp.close()
})

type Fields = { jit_provisioning_enabled?: boolean; sso_enforcement?: string }
type Place = { id: string; domain: string; path: string; workspace: Workspace }

/** An organization with a verified domain whose people sign in at the provider. */
async function makePlace({ sso_enforcement, ...fields }: Fields = {}): Promise<Place> {
  const workspace = await createOrganization(app)
  const { key } = workspace.owner
  const domain = `d${randomBytes(5).toString('hex')}.example`
  const base = `/api/organizations/${workspace.organization.id}/domains/`
  const { id } = (await app.post(base, { domain }, { key })).body
  await app.db.run(sql`UPDATE domain SET verified_at = now() WHERE id = ${id}`)
  const oidc = {
    oidc_issuer: provider.issuer,
    oidc_client_id: provider.client_id,
    oidc_client_secret: provider.client_secret,
  }
  expect((await app.patch(`${base}${id}/`, { ...oidc, ...fields }, { key })).status).toBe(200)
  if (sso_enforcement !== undefined)
    await app.db.run(sql`UPDATE domain SET sso_enforcement = ${sso_enforcement} WHERE id = ${id}`)
  return { id, domain, path: `${base}${id}/`, workspace }
}

const cookiesOf = ({ headers }: Reply) =>
  [headers['set-cookie'] ?? []].flat().map((cookie) => String(cookie).split(';')[0]!)
const withCookies = (...cookies: (string | undefined)[]) => ({
  headers: { cookie: cookies.filter((cookie) => cookie !== undefined).join('; ') },
})

/** As far as the provider has sent the browser back: the address, and the cookies that the browser has by then. */
async function setOut(
  { id }: Place,
  email: string | undefined,
  options: { sub?: string; next?: string } = {},
) {
  const { sub = email ?? randomBytes(8).toString('hex'), next = '/sql' } = options
  const start = await app.get(`/login/oidc/?${new URLSearchParams({ domain: id, next }).toString()}`, {
    headers: { 'sec-fetch-site': 'same-origin' },
  })
  expect(start.status).toBe(303)
  const person = {
    sub,
    given_name: 'Nia',
    family_name: 'Sol',
    ...(email ? { email, email_verified: true } : {}),
  }
  const { pathname, search } = provider.signIn(String(start.headers.location), person)
  return { address: pathname + search, cookie: cookiesOf(start).join('; ') }
}

async function signIn(
  place: Place,
  email: string,
  options: { sub?: string; next?: string; session?: string } = {},
) {
  const { address, cookie } = await setOut(place, email, options)
  const session = options.session === undefined ? undefined : `sessionid=${options.session}`
  const reply = await app.get(address, withCookies(cookie, session))
  expect(reply.status).toBe(303)
  return { ...reply, end: new URL(String(reply.headers.location), 'http://longshore.test') }
}

const refusalOf = ({ end, session }: Awaited<ReturnType<typeof signIn>>) => {
  expect(session).toBeUndefined()
  return end.searchParams.get('error_code')
}
const me = (session: string | undefined) => app.get('/api/users/@me/', { session: session! })
const userOf = (email: string) =>
  app.db.row<{ id: number; password_hash: string | null; is_email_verified: boolean }>(
    sql`SELECT id, password_hash, is_email_verified FROM app_user WHERE lower(email) = lower(${email})`,
  )
const levelIn = async ({ workspace }: Place, email: string) =>
  (
    await app.db.row<{ level: number }>(sql`
      SELECT level FROM membership JOIN app_user ON app_user.id = user_id
      WHERE organization_id = ${workspace.organization.id} AND lower(email) = lower(${email})`)
  )?.level
const identitiesOf = async (email: string) =>
  (
    await app.db.only<{ count: number }>(sql`
      SELECT count(*)::int AS count FROM identity JOIN app_user ON app_user.id = user_id
      WHERE lower(app_user.email) = lower(${email})`)
  ).count
const mailsTo = async (email: string) => {
  await jobsAreDone(app.services)
  return smtp.mails.filter(({ recipients }) => recipients.includes(email)).map(({ subject }) => subject)
}
const memberOf = ({ workspace, domain }: Place, fields: Parameters<typeof createMember>[2] = {}) =>
  createMember(app, workspace.organization, {
    email: `user-${randomBytes(3).toString('hex')}@${domain}`,
    ...fields,
  })

describe('an address with an account', () => {
  it('is linked for a member of the organization that proved the domain, and a mail says so', async () => {
    const place = await makePlace()
    const user = await memberOf(place)
    const reply = await signIn(
      place,
      user.email.toUpperCase().replace(/@.*/, (at) => at.toLowerCase()),
    )
    expect([reply.end.pathname, (await me(reply.session)).body.uuid]).toEqual(['/sql', user.uuid])
    expect(await identitiesOf(user.email)).toBe(1)
    expect(await mailsTo(user.email)).toContain('A new way to sign in was added in your Longshore account')
    // The password goes on working, and so does the key.
    expect((await app.post('/api/login/', user)).status).toBe(200)
    expect((await app.get('/api/users/@me/', { key: user.key })).status).toBe(200)
  })

  it('is linked for whoever is signed in in this browser, with a new session in place of the old', async () => {
    const place = await makePlace()
    const user = await createUser(app, { email: `outside@${place.domain}` })
    const reply = await signIn(place, user.email, { session: user.session })
    expect((await me(reply.session)).body.uuid).toBe(user.uuid)
    expect((await me(user.session)).status).toBe(401)
    expect([await identitiesOf(user.email), await levelIn(place, user.email)]).toEqual([1, undefined])
    // Known by then, and joins as soon as everybody of the domain may.
    const { organization, owner } = place.workspace
    const invites = `/api/organizations/${organization.id}/invites/`
    const { body: invite } = await app.post(invites, { target_email: user.email }, { key: owner.key })
    await app.db.run(sql`UPDATE domain SET jit_provisioning_enabled = true WHERE id = ${place.id}`)
    await signIn(place, user.email)
    expect(await levelIn(place, user.email)).toBe(1)
    // Nobody needs the invite any more.
    const log = await app.db.rows(sql`
      SELECT activity, actor_name FROM activity_log WHERE item_id = ${invite.id} ORDER BY position`)
    expect(log).toMatchObject([{ activity: 'created' }, { activity: 'deleted', actor_name: user.email }])
  })

  it('is never taken over by the address alone: the password is asked for, once', async () => {
    const place = await makePlace({ jit_provisioning_enabled: true })
    const user = await createUser(app, { email: `outside@${place.domain}` })
    const stranger = await createUser(app)
    const reply = await signIn(place, user.email, { session: stranger.session })
    expect([reply.end.pathname, reply.end.searchParams.get('email'), reply.session]).toEqual([
      '/login',
      user.email,
      undefined,
    ])
    const link = app.canary.plant('link', reply.end.searchParams.get('link')!)
    const send = (fields: object) => app.post('/api/login/link/', { link, ...fields })
    const wrong = await send({ password: 'not the password' })
    expect(wrong).toMatchObject({ status: 400, body: { code: 'invalid_credentials', attr: 'password' } })
    expect(await identitiesOf(user.email)).toBe(0)
    const right = await send({ password: user.password })
    expect(right).toMatchObject({ status: 200, body: { next: '/sql' } })
    expect((await me(right.session)).body.uuid).toBe(user.uuid)
    // Everybody of the domain joins.
    expect([await identitiesOf(user.email), await levelIn(place, user.email)]).toEqual([1, 1])
    expect((await signIn(place, user.email)).end.pathname).toBe('/sql')
    expect(await send({ link: 'v1.nonsense', password: user.password })).toMatchObject({
      status: 400,
      body: { code: 'invalid_token', attr: 'link' },
    })
    app.advance(11 * 60_000)
    expect((await send({ password: user.password })).body.code).toBe('invalid_token')
  })

  it('of an owner or of staff asks for the password, enforced or not: admins set providers up', async () => {
    const place = await makePlace()
    const owner = await memberOf(place, { level: 'owner' })
    const staff = await memberOf(place)
    await app.db.run(sql`UPDATE app_user SET is_staff = true WHERE id = ${staff.id}`)
    for (const sso_enforcement of ['', 'oidc']) {
      await app.db.run(sql`UPDATE domain SET sso_enforcement = ${sso_enforcement} WHERE id = ${place.id}`)
      for (const { email } of [owner, staff]) {
        const { end, session } = await signIn(place, email)
        expect([end.searchParams.get('email'), session, await identitiesOf(email)]).toEqual([
          email,
          undefined,
          0,
        ])
        app.canary.plant('link', end.searchParams.get('link')!)
      }
    }
    const link = (await signIn(place, owner.email)).end.searchParams.get('link')!
    app.canary.plant('link', link)
    const linked = await app.post('/api/login/link/', { link, password: owner.password })
    expect((await me(linked.session)).body.uuid).toBe(owner.uuid)
  })

  it('of an owner is forgotten when an admin changes the provider, and stays when an owner does', async () => {
    const place = await makePlace()
    const [owner, admin] = [
      await memberOf(place, { level: 'owner' }),
      await memberOf(place, { level: 'admin' }),
    ]
    await signIn(place, owner.email, { session: owner.session })
    await signIn(place, admin.email)
    const change = (key: string, oidc_client_id: string) =>
      app.patch(place.path, { oidc_client_id, oidc_client_secret: provider.client_secret }, { key })
    expect((await change(place.workspace.owner.key, 'changed-by-owner')).status).toBe(200)
    expect([await identitiesOf(owner.email), await identitiesOf(admin.email)]).toEqual([1, 1])
    expect((await change(admin.key, 'changed-by-admin')).status).toBe(200)
    expect([await identitiesOf(owner.email), await identitiesOf(admin.email)]).toEqual([0, 1])
  })

  it('is linked once, however many sign-ins of it come at once', async () => {
    const place = await makePlace()
    const user = await memberOf(place)
    const returns = await Promise.all(Array.from({ length: 20 }, () => setOut(place, user.email)))
    const replies = await Promise.all(
      returns.map(({ address, cookie }) => app.get(address, withCookies(cookie))),
    )
    for (const { session } of replies) expect((await me(session)).body.uuid).toBe(user.uuid)
    expect(await identitiesOf(user.email)).toBe(1)
  })

  it('asks for the second factor as well before it is linked', async () => {
    const place = await makePlace()
    const user = await createUser(app, { email: `guarded@${place.domain}` })
    const device = await setUpDevice(app, user)
    const link = app.canary.plant('link', (await signIn(place, user.email)).end.searchParams.get('link')!)
    const send = (fields: object) =>
      app.post('/api/login/link/', { link, password: user.password, ...fields })
    expect((await send({})).body).toMatchObject({ code: 'required', attr: 'token' })
    expect((await send({ token: '000000' })).body).toMatchObject({ code: '2fa_invalid', attr: 'token' })
    expect(await identitiesOf(user.email)).toBe(0)
    app.advance(60_000)
    expect((await send({ token: codeOf(app, device) })).status).toBe(200)
    expect(await identitiesOf(user.email)).toBe(1)
  })

  it('is refused when the account is deactivated, known or not', async () => {
    const place = await makePlace()
    const [fresh, known] = [await memberOf(place), await memberOf(place)]
    await signIn(place, known.email)
    await app.db.run(sql`UPDATE app_user SET is_active = false WHERE id IN (${fresh.id}, ${known.id})`)
    for (const { email } of [fresh, known])
      expect(refusalOf(await signIn(place, email))).toBe('account_inactive')
  })
})

describe('an address without an account', () => {
  it('joins at the level of its invite, which is used up', async () => {
    const place = await makePlace()
    const { organization, owner } = place.workspace
    const email = `invited@${place.domain}`
    const invites = `/api/organizations/${organization.id}/invites/`
    const invited = await app.post(invites, { target_email: email, level: 8 }, { key: owner.key })
    app.canary.plant('invite secret', secretOf(invited.body))
    const reply = await signIn(place, email)
    expect((await me(reply.session)).body).toMatchObject({
      email,
      first_name: 'Nia',
      is_email_verified: true,
    })
    expect(await levelIn(place, email)).toBe(8)
    expect((await app.get(invites, { key: owner.key })).body.results).toEqual([])
    expect((await userOf(email))!.password_hash).toBeNull()
  })

  it('joins as member where everybody of the domain may', async () => {
    const place = await makePlace({ jit_provisioning_enabled: true })
    const reply = await signIn(place, `new@${place.domain}`)
    expect((await me(reply.session)).body.organization.id).toBe(place.workspace.organization.id)
    expect(await levelIn(place, `new@${place.domain}`)).toBe(1)
    const log = await app.db.rows(sql`
      SELECT actor_name FROM activity_log WHERE scope = 'OrganizationMembership'
        AND organization_id = ${place.workspace.organization.id} ORDER BY position DESC LIMIT 1`)
    expect(log).toEqual([{ actor_name: `new@${place.domain}` }])
  })

  it('is refused otherwise, and nothing is made; with open sign-up it gets an organization of its own', async () => {
    const place = await makePlace()
    const email = `nobody@${place.domain}`
    expect(refusalOf(await signIn(place, email))).toBe('not_invited')
    expect(await userOf(email)).toBeUndefined()
    app.services.settings.is_signup_open = true
    const reply = await signIn(place, email)
    app.services.settings.is_signup_open = false
    expect((await me(reply.session)).body.organization.id).not.toBe(place.workspace.organization.id)
    expect(await levelIn(place, email)).toBeUndefined()
  })

  it('fifty sign-ins of one new person at once make one account, and all of them come in', async () => {
    const place = await makePlace({ jit_provisioning_enabled: true })
    const email = `many@${place.domain}`
    const returns = await Promise.all(Array.from({ length: 50 }, () => setOut(place, email)))
    const replies = await Promise.all(
      returns.map(({ address, cookie }) => app.get(address, withCookies(cookie))),
    )
    const people = await Promise.all(replies.map(async ({ session }) => (await me(session)).body.uuid))
    expect(new Set(people).size).toBe(1)
    expect(await identitiesOf(email)).toBe(1)
    const { count } = await app.db.only<{ count: number }>(sql`
      SELECT count(*)::int AS count FROM membership WHERE organization_id = ${place.workspace.organization.id}`)
    expect(count).toBe(2)
  })
})

describe('what a provider says', () => {
  it('counts for its own domain alone: neither other addresses nor the same person of another domain', async () => {
    const [home, foreign] = [await makePlace(), await makePlace({ jit_provisioning_enabled: true })]
    const user = await memberOf(home)
    await signIn(home, user.email, { sub: 'shared-subject' })
    // The foreign domain has the same issuer, and could have any certificate or keys.
    expect(refusalOf(await signIn(foreign, user.email, { sub: 'shared-subject' }))).toBe(
      'email_not_in_domain',
    )
    expect(refusalOf(await signIn(foreign, `user@sub.${foreign.domain}`))).toBe('email_not_in_domain')
    const record = (await app.get(`${foreign.path}sign_ins/`, { key: foreign.workspace.owner.key })).body
      .results[0]
    expect(record).toMatchObject({ outcome: 'email_not_in_domain', email: `user@sub.${foreign.domain}` })
    const wrong = record.checks.filter(({ is_passed }: { is_passed: boolean }) => !is_passed)
    expect(wrong).toEqual([
      { check: 'domain', is_passed: false, message: expect.stringContaining(`not in ${foreign.domain}.`) },
    ])
  })

  it('is forgotten when the domain gets another name', async () => {
    const place = await makePlace()
    const user = await memberOf(place)
    await signIn(place, user.email)
    const renamed = `r${place.domain}`
    await app.patch(place.path, { domain: renamed }, { key: place.workspace.owner.key })
    expect(await identitiesOf(user.email)).toBe(0)
    const start = await app.get(`/login/oidc/?domain=${place.id}`)
    expect(String(start.headers.location)).toContain('error_code=provider_not_set_up')
  })

  it('is too late once the domain is deleted or no longer proved', async () => {
    const place = await makePlace()
    const user = await memberOf(place)
    const underway = [await setOut(place, user.email), await setOut(place, user.email)]
    await app.db.run(sql`UPDATE domain SET verified_at = NULL WHERE id = ${place.id}`)
    const end = async ({ address, cookie }: (typeof underway)[number]) => {
      const { headers, session } = await app.get(address, withCookies(cookie))
      return [new URL(String(headers.location), 'http://x').searchParams.get('error_code'), session]
    }
    expect(await end(underway[0]!)).toEqual(['provider_not_set_up', undefined])
    await app.delete(place.path, { key: place.workspace.owner.key })
    expect(await end(underway[1]!)).toEqual(['attempt_unknown', undefined])
  })

  it('is too late once the domain believes another issuer, which is not asked about the code', async () => {
    const place = await makePlace()
    const user = await memberOf(place)
    const { address, cookie } = await setOut(place, user.email)
    await app.db.run(sql`UPDATE domain SET oidc_issuer = 'https://other.example' WHERE id = ${place.id}`)
    expect((await app.get(address, withCookies(cookie))).session).toBeUndefined()
    const [record] = (await app.get(`${place.path}sign_ins/`, { key: place.workspace.owner.key })).body
      .results
    expect(record).toMatchObject({
      outcome: 'answer_not_accepted',
      checks: [{ check: 'configuration', message: 'The issuer was changed during the sign-in.' }],
    })
  })

  it('is used once, by the browser that asked, within ten minutes', async () => {
    const place = await makePlace()
    const user = await memberOf(place)
    const { address, cookie } = await setOut(place, user.email)
    const codeAt = ({ headers }: Reply) =>
      new URL(String(headers.location), 'http://x').searchParams.get('error_code')
    expect(codeAt(await app.get(address))).toBe('other_browser')
    expect(codeAt(await app.get(address, withCookies((await setOut(place, user.email)).cookie)))).toBe(
      'other_browser',
    )
    // The return of another way takes nothing away.
    const state = new URL(address, 'http://x').searchParams.get('state')!
    expect(codeAt(await app.get(`/complete/saml/?state=${state}`, withCookies(cookie)))).toBe(
      'attempt_unknown',
    )
    const right = await app.get(address, withCookies(cookie))
    expect((await me(right.session)).status).toBe(200)
    const again = await app.get(address, withCookies(cookie))
    expect([codeAt(again), again.session]).toEqual(['attempt_unknown', undefined])
    const late = await setOut(place, user.email)
    app.advance(10 * 60_000 + 1000)
    expect(codeAt(await app.get(late.address, withCookies(late.cookie)))).toBe('attempt_unknown')
  })

  it.each([
    '//evil.example/',
    'https://evil.example/',
    '/\\evil.example',
    '\\/evil.example',
    '/\t/evil.example',
  ])('leads to a path of ours alone: not %j', async (next) => {
    const place = await makePlace()
    const user = await memberOf(place)
    expect((await signIn(place, user.email, { next })).headers.location).toBe('/')
  })
})

describe('enforcement', () => {
  const enforce = ({ path, workspace }: Place, sso_enforcement = 'oidc') =>
    app.patch(path, { sso_enforcement }, { key: workspace.owner.key })

  it('needs an admin who came in that way within a day; then sessions by password end, and keys stay', async () => {
    const place = await makePlace()
    const [admin, member] = [await memberOf(place, { level: 'admin' }), await memberOf(place)]
    const refused = { status: 400, body: { code: 'sso_not_tested', attr: 'sso_enforcement' } }
    expect(await enforce(place)).toMatchObject(refused)
    await signIn(place, member.email)
    expect(await enforce(place)).toMatchObject(refused)
    const { session } = await signIn(place, admin.email)
    app.advance(25 * 3_600_000)
    expect(await enforce(place)).toMatchObject(refused)
    await signIn(place, admin.email)
    expect((await enforce(place)).status).toBe(200)
    expect((await me(session)).status).toBe(200)
    expect(await me(member.session)).toMatchObject({ status: 401, body: { code: 'sso_required' } })
    expect((await app.get('/api/users/@me/', { key: member.key })).status).toBe(200)
    expect((await app.post('/api/login/', member)).body.code).toBe('sso_enforced')
    expect((await app.post('/api/login/precheck/', { email: member.email })).body).toEqual({
      sso_enforcement: 'oidc',
      saml_available: false,
      oidc_available: true,
    })
  })

  it('takes an account over that nobody had proved, with an end to whatever was set up on it', async () => {
    const place = await makePlace({ sso_enforcement: 'oidc' })
    const squatter = await createUser(app, { email: `victim@${place.domain}`, is_email_verified: false })
    const reply = await signIn(place, squatter.email)
    expect((await me(reply.session)).body.uuid).toBe(squatter.uuid)
    expect((await app.get('/api/users/@me/', { key: squatter.key })).status).toBe(401)
    await app.db.run(sql`UPDATE domain SET sso_enforcement = '' WHERE id = ${place.id}`)
    expect((await me(squatter.session)).status).toBe(401)
    expect((await app.post('/api/login/', squatter)).status).toBe(400)
  })

  it('of another provider closes this one', async () => {
    const place = await makePlace()
    const [known, fresh] = [await memberOf(place), await memberOf(place)]
    const asked = await createUser(app, { email: `asked@${place.domain}` })
    await signIn(place, known.email)
    const link = app.canary.plant('link', (await signIn(place, asked.email)).end.searchParams.get('link')!)
    await app.db.run(sql`
      UPDATE domain SET sso_enforcement = 'saml', saml_entity_id = 'e', saml_acs_url = 'https://idp.example/',
        saml_x509_cert = 'c' WHERE id = ${place.id}`)
    for (const { email } of [known, fresh])
      expect(refusalOf(await signIn(place, email))).toBe('way_not_allowed')
    const late = await app.post('/api/login/link/', { link, password: asked.password })
    expect(late).toMatchObject({ status: 400, body: { code: 'invalid_token' } })
    expect(await identitiesOf(asked.email)).toBe(0)
  })

  it('leaves no session by password, whoever was signing in when it was switched on', async () => {
    const place = await makePlace()
    const admin = await memberOf(place, { level: 'admin' })
    await signIn(place, admin.email)
    const people = await Promise.all(Array.from({ length: 8 }, () => memberOf(place)))
    const login = ({ email, password }: TestUser) => app.post('/api/login/', { email, password })
    const [before, after] = [people.slice(0, 4).map(login), enforce(place)]
    const during = people.slice(4).map(login)
    expect((await after).status).toBe(200)
    for (const { session } of await Promise.all([...before, ...during]))
      if (session !== undefined) expect((await me(session)).status).toBe(401)
  })
})

describe('a second factor', () => {
  it('of ours is not asked for after a provider, unless the organization says so', async () => {
    const place = await makePlace()
    const user = await memberOf(place)
    const device = await setUpDevice(app, user)
    const organization = `/api/organizations/${place.workspace.organization.id}/`
    const set = (fields: object) => app.patch(organization, fields, { key: place.workspace.owner.key })
    expect((await set({ enforce_2fa: true })).status).toBe(200)
    const { session } = await signIn(place, user.email)
    expect((await app.get(organization, { session: session! })).status).toBe(200)
    expect((await set({ enforce_2fa_with_sso: true })).body.enforce_2fa_with_sso).toBe(true)
    expect((await app.get(organization, { session: session! })).body.code).toBe(
      'two_factor_verification_required',
    )
    const pending = await signIn(place, user.email)
    expect([pending.end.pathname, pending.end.search]).toEqual(['/login', '?step=code&next=%2Fsql'])
    expect((await me(pending.session)).status).toBe(401)
    app.advance(60_000)
    const done = await app.post(
      '/api/login/token/',
      { token: codeOf(app, device) },
      { session: pending.session! },
    )
    expect((await app.get(organization, { session: done.session! })).status).toBe(200)
  })
})

describe('identities of an account', () => {
  it('are listed and removed by their owner; the last way in stays', async () => {
    const place = await makePlace({ jit_provisioning_enabled: true })
    const email = `only@${place.domain}`
    const { session } = await signIn(place, email)
    const as = { session: session! }
    const [identity] = (await app.get('/api/users/@me/identities/', as)).body.results
    expect(identity).toMatchObject({ provider: 'oidc', issuer: provider.issuer, email })
    expect((await me(session)).body.has_social_auth).toBe(true)
    const members = `/api/organizations/${place.workspace.organization.id}/members/?email=`
    const [member] = (await app.get(members + encodeURIComponent(email), as)).body.results
    expect(member.has_social_auth).toBe(true)
    app.advance(60_000)
    const later = { session: (await signIn(place, email)).session! }
    const [used] = (await app.get('/api/users/@me/identities/', later)).body.results
    expect(Date.parse(used.last_used_at)).toBeGreaterThan(Date.parse(identity.last_used_at))
    const path = `/api/users/@me/identities/${identity.id}/`
    expect((await app.delete(path, as)).status).toBe(409)
    const other = await createUser(app)
    expect((await app.delete(path, { session: other.session })).status).toBe(404)
    await signIn(place, email, { sub: 'another-subject', session: session! })
    expect(await identitiesOf(email)).toBe(2)
    const fresh = { session: (await signIn(place, email)).session! }
    expect((await app.delete(path, fresh)).status).toBe(204)
    expect((await app.delete(path, fresh)).status).toBe(404)
    expect(await mailsTo(email)).toContain('A way to sign in was removed in your Longshore account')
  })
})
