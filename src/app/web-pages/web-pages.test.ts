import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TOTP, Secret } from 'otpauth'
import { createMember, createOrganization, type TestUser, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { startSmtpServer, type SmtpStandIn } from '../../../test/stand-ins/smtp.ts'
import { nextOf } from './pages.ts'

let smtp: SmtpStandIn
let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  smtp = await startSmtpServer()
  app = await startTestApp({ SMTP_URL: smtp.url })
  workspace = await createOrganization(app, { name: 'Harbour & Sons' })
})
afterAll(async () => {
  await app.close()
  await smtp.close()
})

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const PASSWORD = 'a quite long and odd passphrase 7'

function submit(
  url: string,
  fields: Record<string, string>,
  session?: string,
  headers: Record<string, string> = {},
) {
  const body = new URLSearchParams(fields).toString()
  return app.call('POST', url, { body, headers: { ...FORM, ...headers }, ...(session ? { session } : {}) })
}

async function linkTo(address: string): Promise<string> {
  const { links } = await smtp.waitForMail(address)
  return new URL(links[0]!).pathname
}

async function invite(address: string): Promise<string> {
  await app.post(
    '/api/organizations/@current/invites/',
    { target_email: address },
    { key: workspace.owner.key },
  )
  return linkTo(address)
}

describe('the link of an invite', () => {
  it('opens a form that makes the account and signs it in: who read the mail has the address', async () => {
    app.canary.plant('password', PASSWORD)
    const path = await invite('newcomer@example.com')
    const page = await app.get(path)
    expect(page.status).toBe(200)
    expect(page.headers['content-type']).toContain('text/html')
    expect(page.body).toContain('Join Harbour &amp; Sons')
    const joined = await submit(path, { first_name: 'Nora', password: PASSWORD })
    expect(joined).toMatchObject({ status: 303, headers: { location: '/' } })
    const members = await app.get('/api/organizations/@current/members/', { session: joined.session! })
    expect(members.body.results.map((member: { user: { email: string } }) => member.user.email)).toContain(
      'newcomer@example.com',
    )
    expect((await app.get(path)).body).toContain('This invite cannot be accepted')
  })

  it('that was passed on asks for the address to be verified, which then signs in', async () => {
    const { body } = await app.post(
      '/api/organizations/@current/invites/',
      { target_email: 'passed-on@example.com', send_email: false },
      { key: workspace.owner.key },
    )
    const path = new URL(body.link).pathname
    smtp.mails.length = 0
    const joined = await submit(path, { first_name: 'Nora', password: PASSWORD })
    expect(joined.status).toBe(303)
    expect(joined.session).toBeUndefined()
    expect((await app.get(String(joined.headers.location))).body).toContain('Look into your mail')

    const verify = await linkTo('passed-on@example.com')
    // Looking at the page verifies nothing: mail scanners look too.
    expect((await app.get(verify)).status).toBe(200)
    expect((await submit('/login', { email: 'passed-on@example.com', password: PASSWORD })).body).toContain(
      'Verify your e-mail',
    )
    const verified = await submit(verify, {})
    expect(verified.body).toContain('Your address is verified')
    expect((await app.get('/api/users/@me/', { session: verified.session! })).body).toMatchObject({
      email: 'passed-on@example.com',
    })
    expect((await submit(verify, {})).body).toContain('This link does not work any more')
  })

  it('sends somebody with an account to sign in and back, and joins without a new password', async () => {
    const other = await createOrganization(app)
    const path = await invite(other.owner.email)
    const toLogin = await app.get(path)
    expect(toLogin.status).toBe(303)
    expect(toLogin.headers.location).toBe(`/login?next=${path}`)
    const signedIn = await submit(String(toLogin.headers.location), {
      email: other.owner.email,
      password: other.owner.password,
    })
    expect([signedIn.status, signedIn.headers.location]).toEqual([303, path])
    const page = await app.get(path, { session: signedIn.session! })
    expect(page.body).not.toContain('type="password"')
    expect((await submit(path, {}, signedIn.session)).headers.location).toBe('/')
    const me = await app.get('/api/users/@me/', { session: signedIn.session! })
    expect(me.body.organization.name).toBe('Harbour & Sons')
  })

  it('says why it cannot be accepted', async () => {
    const page = await app.get('/signup/00000000-0000-4000-8000-000000000000')
    expect(page.body).toContain('This invite cannot be accepted')
  })
})

describe('the link of a reset', () => {
  it('sets the new password once', async () => {
    const user = await createMember(app, workspace.organization)
    expect((await submit('/reset', { email: user.email })).body).toContain('Look into your mail')
    const path = await linkTo(user.email)
    expect((await app.get(path)).body).toContain('Set a new password')
    expect((await submit(path, { password: 'short' })).body).toContain('at least 8 characters')
    expect(
      (await submit(path, { password: app.canary.plant('password', `${PASSWORD} again`) })).body,
    ).toContain('Your new password is set')
    expect((await app.get(path)).body).toContain('This link does not work any more')
    expect((await submit('/login', { email: user.email, password: `${PASSWORD} again` })).status).toBe(303)
  })
})

describe('the link of a reset, with the box ticked', () => {
  it('ends personal keys; otherwise the page tells how many still work', async () => {
    const [keeps, ends] = [
      await createMember(app, workspace.organization),
      await createMember(app, workspace.organization),
    ]
    for (const [user, ticked] of [
      [keeps, {}],
      [ends, { delete_personal_api_keys: 'true' }],
    ] as const) {
      await submit('/reset', { email: user.email })
      const path = await linkTo(user.email)
      expect((await app.get(path)).body).toContain('type="checkbox"')
      const done = await submit(path, { password: PASSWORD, ...ticked })
      expect(done.body.includes('Personal API keys that still work: 1.')).toBe(user === keeps)
      const status = user === keeps ? 200 : 401
      expect((await app.get('/api/users/@me/', { key: user.key })).status).toBe(status)
    }
  })
})

describe('the link to the old address', () => {
  it('takes the account back at the press of a button, not by a look', async () => {
    const user = await createMember(app, workspace.organization)
    const email = `moved-${user.email}`
    await app.patch('/api/users/@me/', { email }, { session: user.session })
    await submit(await linkTo(email), {})
    const path = await linkTo(user.email)
    expect(path).toContain('/undo_email_change/')
    expect((await app.get(path)).body).toContain('Take your account back')
    expect((await app.get('/api/users/@me/', { session: user.session })).body.email).toBe(email)
    expect((await submit(path, {})).body).toContain('The account is yours again')
    expect((await app.get('/api/users/@me/', { session: user.session })).status).toBe(401)
    expect((await submit(path, {})).body).toContain('This link does not work any more')
  })
})

describe('/login', () => {
  it('asks for the second factor of a user who has one', async () => {
    const user = await createMember(app, workspace.organization)
    const secret = await setUpSecondFactor(user)
    const first = await submit('/login?next=/docs', { email: user.email, password: user.password })
    expect(first.body).toContain('Second factor')
    expect((await app.get('/api/users/@me/', { session: first.session! })).status).toBe(401)
    app.advance(60_000)
    const token = codeOf(secret)
    const done = await submit('/login/token?next=%2Fdocs', { token }, first.session)
    expect([done.status, done.headers.location]).toEqual([303, '/docs'])
    expect((await app.get('/', { session: done.session! })).body).toContain(`Signed in as ${user.email}`)
    const out = await submit('/', {}, done.session)
    expect([out.status, out.session]).toEqual([303, ''])
    expect((await app.get('/api/users/@me/', { session: done.session! })).status).toBe(401)
  })

  it('shows what was wrong and escapes what was typed', async () => {
    const page = await submit('/login', { email: '"><script>@example.com', password: 'whatever it is' })
    expect(page.status).toBe(200)
    expect(page.body).toContain('role="alert"')
    expect(page.body).not.toContain('<script>')
    expect(page.session).toBeUndefined()
  })

  it('403 for a form sent from another site', async () => {
    const fields = { email: workspace.owner.email, password: workspace.owner.password }
    const reply = await submit('/login', fields, undefined, { origin: 'https://evil.example' })
    expect(reply.status).toBe(403)
    expect(reply.session).toBeUndefined()
  })

  it('runs no script and loads nothing from elsewhere', async () => {
    const page = await app.get('/login')
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/)
    expect(page.body).not.toMatch(/<script|https?:\/\//)
  })
})

describe('nextOf', () => {
  it.each([
    ['/signup/abc-1', '/signup/abc-1'],
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['https://evil.example', '/'],
    ['javascript:alert(1)', '/'],
    ['/a?b=//c', '/'],
  ])('%s leads to %s', (next, expected) => {
    expect(nextOf({ query: { next } })).toBe(expected)
  })
})

function codeOf(secret: string): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: app.services.now().getTime() })
}

async function setUpSecondFactor(user: TestUser): Promise<string> {
  const setup = await app.get('/api/users/@me/start_2fa_setup/', { session: user.session })
  const secret = app.canary.plant('TOTP secret', setup.body.secret)
  const confirmed = await app.post(
    '/api/users/@me/validate_2fa/',
    { token: codeOf(secret) },
    { session: user.session },
  )
  expect(confirmed.status).toBe(200)
  return secret
}
