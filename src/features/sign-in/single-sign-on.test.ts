// Every way to use or set a password asks whether the address's domain still allows it (organizations.md §6.3). The rule
// itself is tested beside domains/password-rule.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createMember,
  createOrganization,
  createUser,
  secretOf,
  type TestUser,
  type Workspace,
} from '../../../test/factories.ts'
import { startTestApp, type Reply, type TestApp } from '../../../test/harness/app.ts'
import { startSmtpServer, type SmtpStandIn } from '../../../test/stand-ins/smtp.ts'
import { sql } from '../../platform/db/sql.ts'
import { jobsAreDone } from '../../platform/jobs/fixture/queue.ts'
import { getUser } from '../users/queries.ts'
import { newLinkToken } from './link-tokens.ts'

const PASSWORD = 'x9$Kq2!vZ under a domain'

let smtp: SmtpStandIn
let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  smtp = await startSmtpServer()
  app = await startTestApp({ SMTP_URL: smtp.url, OPEN_SIGNUP: 'on' })
  app.canary.plant('password', PASSWORD)
  workspace = await createOrganization(app)
})
afterAll(async () => {
  await app.close()
  await smtp.close()
})

let count = 0
type DomainState = { is_verified?: boolean; sso_enforcement?: string; certificate?: string | null }

async function makeDomain({
  is_verified = true,
  sso_enforcement = 'saml',
  certificate = 'certificate',
}: DomainState = {}) {
  const name = `domain-${++count}.example`
  await app.db.run(sql`
    INSERT INTO domain (id, organization_id, domain, verification_challenge, verified_at, sso_enforcement,
      saml_entity_id, saml_acs_url, saml_x509_cert, created_at, updated_at)
    VALUES (gen_random_uuid(), ${workspace.organization.id}, ${name}, 'challenge', ${is_verified ? new Date() : null},
      ${sso_enforcement}, 'entity', 'https://idp.example/', ${certificate}, now(), now())`)
  return name
}

/** A user and an invited newcomer of the domain, and every way to come in with a password. */
async function everyWay(domain: string): Promise<Record<string, () => Promise<Reply>>> {
  const user = await createMember(app, workspace.organization, { email: `user-${++count}@${domain}` })
  const invited = await app.post(
    `/api/organizations/${workspace.organization.id}/invites/`,
    { target_email: `invited-${count}@${domain}` },
    { key: workspace.owner.key },
  )
  const token = app.canary.plant(
    'reset token',
    newLinkToken(app.services, 'password reset', user, app.services.now()),
  )
  const account = { first_name: 'Nia', password: PASSWORD }
  return {
    confirmation: () =>
      app.post('/api/login/confirm/', { password: user.password }, { session: user.session }),
    login: () => app.post('/api/login/', { email: user.email, password: user.password }),
    'reset request': () => app.post('/api/reset/', { email: user.email }),
    'reset request of nobody': () => app.post('/api/reset/', { email: `nobody@${domain}` }),
    'sign-up': () => app.post('/api/signup/', { ...account, email: `new-${count}@${domain}` }),
    'sign-up by invite': () => app.post(`/api/signup/${secretOf(invited.body)}/`, account),
    'change of password': () =>
      app.patch(
        '/api/users/@me/',
        { password: PASSWORD, current_password: user.password },
        { session: user.session },
      ),
    reset: () => app.post(`/api/reset/${user.uuid}/`, { token, password: PASSWORD }),
  }
}

const hashOf = (user: TestUser) => app.db.only(sql`SELECT password_hash FROM app_user WHERE id = ${user.id}`)

describe('a verified domain that enforces SAML', () => {
  it('400 sso_enforced for every use of a password, and nothing has happened', async () => {
    const domain = await makeDomain()
    const { confirmation: _1, 'change of password': _2, ...ways } = await everyWay(domain)
    for (const [way, go] of Object.entries(ways)) {
      const reply = await go()
      expect([way, reply.status, reply.body?.code, reply.body?.attr]).toEqual([
        way,
        400,
        'sso_enforced',
        null,
      ])
      expect(reply.session).toBeUndefined()
    }
    await jobsAreDone(app.services)
    expect(smtp.mails.filter((mail) => mail.subject.includes('password'))).toEqual([])
    const accounts = await app.db.rows<{ email: string }>(
      sql`SELECT email FROM app_user WHERE email LIKE ${`%@${domain}`}`,
    )
    expect(accounts.map(({ email }) => email.split('-')[0])).toEqual(['user'])
  })

  it('401 sso_required ends a session by password at its next request; password and keys stay', async () => {
    const user = await createMember(app, workspace.organization, {
      email: `user-${++count}@${await makeDomain()}`,
    })
    const before = await hashOf(user)
    const fields = { password: PASSWORD, current_password: user.password }
    const refused = await app.patch('/api/users/@me/', fields, { session: user.session })
    expect(refused).toMatchObject({ status: 401, body: { code: 'sso_required' } })
    expect(refused.body.detail).toContain('sign in again')
    expect(await hashOf(user)).toEqual(before)
    expect(await app.get('/api/users/@me/', { session: user.session })).toMatchObject({
      status: 401,
      body: { code: 'not_authenticated' },
    })
    expect((await app.get('/api/users/@me/', { key: user.key })).status).toBe(200)
  })

  it('switched on while people sign in leaves nobody with a session by password', async () => {
    const domain = await makeDomain({ sso_enforcement: '' })
    const users = await Promise.all(
      Array.from({ length: 12 }, () =>
        createMember(app, workspace.organization, { email: `user-${++count}@${domain}` }),
      ),
    )
    const signIn = ({ email, password }: TestUser) => app.post('/api/login/', { email, password })
    const early = users.slice(0, 8).map(signIn)
    await Promise.race(early)
    await app.db.run(sql`UPDATE domain SET sso_enforcement = 'saml' WHERE domain = ${domain}`)
    const replies = await Promise.all([...early, ...users.slice(8).map(signIn)])
    const opened = replies.flatMap(({ session }) => (session ? [session] : []))
    // Else nothing was under way.
    expect(opened.length).toBeGreaterThan(0)
    expect(replies.slice(8).map(({ status, body }) => [status, body.code])).toEqual(
      Array.from({ length: 4 }, () => [400, 'sso_enforced']),
    )
    for (const session of opened)
      expect(await app.get('/api/users/@me/', { session })).toMatchObject({
        status: 401,
        body: { code: 'sso_required' },
      })
  })

  it('401 for the session of an address that is spelt otherwise', async () => {
    await app.db.run(sql`
      UPDATE domain SET domain = 'xn--hfen-loa.example' WHERE domain = ${await makeDomain()}`)
    const user = await createMember(app, workspace.organization, { email: 'user@häfen.example' })
    expect(await app.get('/api/users/@me/', { session: user.session })).toMatchObject({
      status: 401,
      body: { code: 'sso_required' },
    })
  })

  it('200 on a path that anybody may call, whatever session comes along', async () => {
    const email = `user-${++count}@${await makeDomain()}`
    const { session } = await createMember(app, workspace.organization, { email })
    expect((await app.post('/api/login/precheck/', { email }, { session })).status).toBe(200)
  })

  it('400 to change an address into the domain, while the session is by password', async () => {
    const domain = await makeDomain()
    const user = await createMember(app, workspace.organization, {})
    const reply = await app.patch(
      '/api/users/@me/',
      { email: `moved-${++count}@${domain}` },
      { session: user.session },
    )
    expect(reply).toMatchObject({ status: 400, body: { code: 'sso_enforced' } })
    expect(await app.db.only(sql`SELECT pending_email FROM app_user WHERE id = ${user.id}`)).toEqual({
      pending_email: null,
    })
  })

  it('400 to change an address out of the domain, for members of its organization', async () => {
    const domain = await makeDomain()
    const [member, outside] = [
      await createMember(app, workspace.organization, { email: `user-${++count}@${domain}` }),
      await createUser(app, { email: `user-${++count}@${domain}` }),
    ]
    const move = ({ key }: TestUser, email: string) => app.patch('/api/users/@me/', { email }, { key })
    const away = `away-${++count}@private.example`
    expect(await move(member, away)).toMatchObject({
      status: 400,
      body: { code: 'sso_enforced', attr: 'email' },
    })
    const pending = async ({ id }: TestUser) =>
      (
        await app.db.only<{ pending_email: string | null }>(
          sql`SELECT pending_email FROM app_user WHERE id = ${id}`,
        )
      ).pending_email
    expect(await pending(member)).toBeNull()
    // Another domain of the organization will do, and so does any for who is no member.
    const sibling = `user-${++count}@${await makeDomain({ sso_enforcement: '' })}`
    expect((await move(member, sibling)).body.pending_email).toBe(sibling)
    expect((await move(outside, away)).body.pending_email).toBe(away)
  })

  it('400 for the link of such a change that was asked for before the domain enforced anything', async () => {
    const domain = await makeDomain({ sso_enforcement: '' })
    const user = await createMember(app, workspace.organization, { email: `user-${++count}@${domain}` })
    const email = `away-${++count}@private.example`
    const asked = await app.patch('/api/users/@me/', { email }, { key: user.key })
    expect(asked.body.pending_email).toBe(email)
    await app.db.run(sql`UPDATE domain SET sso_enforcement = 'saml' WHERE domain = ${domain}`)
    const now = app.services.now()
    const row = await getUser(app.db, user.id)
    const token = app.canary.plant(
      'verification token',
      newLinkToken(app.services, 'e-mail verification', row, now),
    )
    const reply = await app.post(`/api/users/${user.uuid}/verify_email/`, { token })
    expect(reply).toMatchObject({ status: 400, body: { code: 'sso_enforced', attr: 'email' } })
    expect(reply.session).toBeUndefined()
    expect((await getUser(app.db, user.id)).email).toBe(user.email)
  })

  it('200 lets an address be verified, but opens no session by it', async () => {
    const fields = { email: `user-${++count}@${await makeDomain()}`, is_email_verified: false }
    const user = await createMember(app, workspace.organization, fields)
    const token = newLinkToken(app.services, 'e-mail verification', user, app.services.now())
    const reply = await app.post(`/api/users/${user.uuid}/verify_email/`, { token })
    app.canary.plant('verification token', token)
    expect(reply.status).toBe(200)
    expect(reply.session).toBeUndefined()
  })

  it('201 lets a signed-in user of another domain accept an invite', async () => {
    await makeDomain()
    const { owner } = await createOrganization(app)
    const invited = await app.post(
      `/api/organizations/${workspace.organization.id}/invites/`,
      { target_email: owner.email },
      { key: workspace.owner.key },
    )
    expect(
      (await app.post(`/api/signup/${secretOf(invited.body)}/`, {}, { session: owner.session })).status,
    ).toBe(201)
  })
})

describe('a domain that cannot enforce anything', () => {
  it.each<[string, DomainState]>([
    ['not verified', { is_verified: false }],
    ['without all SAML fields', { certificate: null }],
    ['enforcing nothing', { sso_enforcement: '' }],
    ['enforcing a provider that is not configured here', { sso_enforcement: 'google-oauth2' }],
  ])('%s: passwords work everywhere', async (_case, state) => {
    for (const [way, go] of Object.entries(await everyWay(await makeDomain(state)))) {
      // The reset comes last: the password it was made for has changed by then.
      const expected = way === 'reset' ? 'invalid_token' : undefined
      expect([way, (await go()).body?.code]).toEqual([way, expected])
    }
  })
})

describe('POST /api/login/precheck/', () => {
  it('200 says how an address signs in, known or not', async () => {
    const enforced = await makeDomain()
    const offered = await makeDomain({ sso_enforcement: '' })
    const user = await createMember(app, workspace.organization, { email: `known@${enforced}` })
    const precheck = async (email: string) => (await app.post('/api/login/precheck/', { email })).body
    for (const email of [user.email, user.email.toUpperCase(), `unknown@${enforced}`]) {
      expect(await precheck(email)).toEqual({
        sso_enforcement: 'saml',
        saml_available: true,
        oidc_available: false,
      })
    }
    expect(await precheck(`a@${offered}`)).toEqual({
      sso_enforcement: null,
      saml_available: true,
      oidc_available: false,
    })
    for (const email of [`a@sub.${enforced}`, workspace.owner.email, 'a@elsewhere.example']) {
      expect(await precheck(email)).toEqual({
        sso_enforcement: null,
        saml_available: false,
        oidc_available: false,
      })
    }
    expect(await app.post('/api/login/precheck/', {})).toMatchObject({
      status: 400,
      body: { code: 'required', attr: 'email' },
    })
  })
})
