// Signing in and out through HTTP: the cookie and what it opens, what is refused and how alike, and when guessing ends.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization, createUser, type TestUser, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type Call, type TestApp } from '../../../test/harness/app.ts'
import { startSmtpServer, type SmtpStandIn } from '../../../test/stand-ins/smtp.ts'
import { sql } from '../../platform/db/sql.ts'
import { jobsAreDone } from '../../platform/jobs/fixture/queue.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

let app: TestApp
let workspace: Workspace
let user: TestUser

beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  user = workspace.owner
})
afterAll(() => app.close())

type Credentials = { email: string; password: string }
const login = (who: Credentials, call: Call = {}, on: TestApp = app) =>
  on.post('/api/login/', { email: who.email, password: who.password }, call)
const wrong = (who: { email: string }) => ({ email: who.email, password: 'not the password' })
const me = (session: string | undefined, on: TestApp = app) =>
  on.get('/api/users/@me/', { session: session! })

const REFUSED = {
  status: 400,
  body: {
    type: 'validation_error',
    code: 'invalid_credentials',
    detail: 'E-mail and password do not match.',
    attr: null,
  },
}
const LOCKED = {
  status: 403,
  body: { type: 'authentication_error', code: 'too_many_failed_attempts', attr: null },
}

describe('POST /api/login/', () => {
  it('200 with a cookie that scripts cannot read, other sites cannot send along, and that lasts 14 days', async () => {
    const reply = await login(user)
    expect(reply).toMatchObject({ status: 200, body: { success: true } })
    expect(reply.headers['set-cookie']).toMatch(
      /^sessionid=[\w-]{43}; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    expect(await me(reply.session)).toMatchObject({ status: 200, body: { email: user.email } })
    const { last_login } = await app.db.only<{ last_login: Date }>(
      sql`SELECT last_login FROM app_user WHERE id = ${user.id}`,
    )
    expect(Math.abs(last_login.getTime() - app.services.now().getTime())).toBeLessThan(MINUTE_MS)
  })

  it('200 keeps only a hash of the cookie', async () => {
    const { session } = await login(user)
    const rows = await app.db.rows<{ token_hash: string }>(
      sql`SELECT token_hash FROM session WHERE user_id = ${user.id}`,
    )
    expect(rows.map((row) => row.token_hash)).not.toContain(session)
    expect(rows.every((row) => /^[0-9a-f]{64}$/.test(row.token_hash))).toBe(true)
  })

  it('200 marks the cookie Secure behind a proxy that speaks https', async () => {
    const proxied = await startTestApp({ TRUSTED_PROXIES: '127.0.0.1' })
    const { owner } = await createOrganization(proxied)
    const headers = { 'x-forwarded-proto': 'https' }
    expect((await login(owner, { headers }, proxied)).headers['set-cookie']).toMatch(/; Secure$/)
    expect((await login(owner, {}, proxied)).headers['set-cookie']).not.toMatch(/Secure/)
    // Whoever is not the proxy cannot say so.
    const stranger = await login(owner, { headers, ip: '203.0.113.9' }, proxied)
    expect(stranger.headers['set-cookie']).not.toMatch(/Secure/)
    await proxied.close()
  })

  it('200 whatever the case of the address, form data as well as JSON', async () => {
    expect((await login({ ...user, email: user.email.toUpperCase() })).status).toBe(200)
    const body = new URLSearchParams({ email: user.email, password: user.password }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await app.call('POST', '/api/login/', { body, headers })).status).toBe(200)
  })

  it('400 alike for a wrong password, an unknown address, a deactivated user and one without a password', async () => {
    const inactive = await createUser(app)
    await app.db.run(sql`UPDATE app_user SET is_active = false WHERE id = ${inactive.id}`)
    const passwordless = await createUser(app, { password_hash: null })
    const attempts = [wrong(user), { ...user, email: 'nobody@example.com' }, inactive, passwordless]
    for (const attempt of attempts) {
      const reply = await login(attempt)
      expect({ status: reply.status, body: reply.body }).toEqual(REFUSED)
      expect(reply.session).toBeUndefined()
    }
  })

  it.each([
    [{ password: 'x' }, 'required', 'email'],
    [{ email: 'a@example.com' }, 'required', 'password'],
    [{ email: 'a@example.com', password: null }, 'null', 'password'],
    [{ email: 'a@example.com', password: '' }, 'blank', 'password'],
    [{ email: 'nonsense', password: 'x' }, 'invalid_input', 'email'],
    [{ email: 'a@example.com', password: ['x'] }, 'invalid_input', 'password'],
  ])('400 for %j', async (body, code, attr) => {
    expect(await app.post('/api/login/', body)).toMatchObject({ status: 400, body: { code, attr } })
  })

  it('gives the very same answer, cookie included, to a repeat with the same Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'a sign-in that may have got lost' }
    const first = await login(user, { headers })
    const repeat = await login(user, { headers, may_show_secrets: true })
    expect([repeat.status, repeat.session]).toEqual([200, first.session])
  })
})

describe('the end of guessing', () => {
  it('403 after 30 wrong passwords, for that address from that place and for ten minutes', async () => {
    const guessed = await createUser(app)
    const other = await createUser(app)
    const from = { ip: '198.51.100.1' }
    for (let tries = 0; tries < 30; tries++) {
      // Neither another case of the address nor a key that makes the request repeatable buys more tries.
      const email = tries % 2 === 0 ? guessed.email : guessed.email.toUpperCase()
      const headers: Record<string, string> = tries % 3 === 0 ? { 'idempotency-key': 'guess' } : {}
      expect((await login(wrong({ email }), { ...from, headers })).body.code).toBe('invalid_credentials')
    }
    expect(await login(guessed, from)).toMatchObject(LOCKED)
    expect(await login(guessed, { ...from, headers: { 'idempotency-key': 'once more' } })).toMatchObject(
      LOCKED,
    )
    expect((await login(guessed, { ip: '198.51.100.2' })).status).toBe(200)
    expect((await login(other, from)).status).toBe(200)
    app.advance(9 * MINUTE_MS)
    expect(await login(guessed, from)).toMatchObject(LOCKED)
    app.advance(MINUTE_MS)
    expect((await login(guessed, from)).status).toBe(200)
  })

  it('403 from any address of the same /64 of IPv6, which is one host', async () => {
    const guessed = await createUser(app)
    for (let tries = 0; tries < 30; tries++) await login(wrong(guessed), { ip: `2001:db8::${tries}` })
    expect(await login(guessed, { ip: '2001:db8::ffff' })).toMatchObject(LOCKED)
    expect((await login(guessed, { ip: '2001:db8:0:1::1' })).status).toBe(200)
  })

  it('403 for an unknown address just the same', async () => {
    const nobody = { email: 'ghost@example.com', password: 'not the password' }
    for (let tries = 0; tries < 30; tries++) await login(nobody)
    expect(await login(nobody)).toMatchObject(LOCKED)
  })

  it('forgets the failures once the right password came', async () => {
    const forgetful = await createUser(app)
    for (let tries = 0; tries < 29; tries++) await login(wrong(forgetful))
    expect((await login(forgetful)).status).toBe(200)
    expect(await login(wrong(forgetful))).toMatchObject(REFUSED)
    expect((await login(forgetful)).status).toBe(200)
  })

  it('comes for many guesses at once as it does for one after the other', async () => {
    const stormed = await createUser(app)
    const replies = await Promise.all(Array.from({ length: 80 }, () => login(wrong(stormed))))
    expect(replies.filter((reply) => reply.status === 400)).toHaveLength(30)
    const refused = await login(stormed)
    expect(refused).toMatchObject(LOCKED)
    const wait_s = Number(refused.headers['retry-after'])
    app.advance((wait_s - 1) * 1000)
    expect(await login(stormed)).toMatchObject(LOCKED)
    app.advance(1000)
    expect((await login(stormed)).status).toBe(200)
  })
})

describe('a session', () => {
  it('ends after 14 days', async () => {
    const { session } = await login(user)
    app.advance(14 * DAY_MS - MINUTE_MS)
    expect((await me(session)).status).toBe(200)
    app.advance(MINUTE_MS)
    expect(await me(session)).toMatchObject({ status: 401, body: { code: 'not_authenticated' } })
  })

  it('ends when its user is deactivated, and is nothing without its exact token', async () => {
    const leaving = await createUser(app)
    expect((await me(leaving.session)).status).toBe(200)
    expect((await me(`${leaving.session}x`)).status).toBe(401)
    await app.db.run(sql`UPDATE app_user SET is_active = false WHERE id = ${leaving.id}`)
    expect((await me(leaving.session)).status).toBe(401)
  })
})

describe('POST /api/logout/', () => {
  it('204 destroys this session on the server, clears the cookie and leaves the others', async () => {
    const { session: kept } = await login(user)
    const { session: left } = await login(user)
    const reply = await app.post('/api/logout/', {}, { session: left! })
    expect(reply).toMatchObject({ status: 204, body: null, session: '' })
    expect(reply.headers['set-cookie']).toBe('sessionid=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax')
    expect((await me(left)).status).toBe(401)
    expect((await me(kept)).status).toBe(200)
  })

  it('401 without a session, 403 with a key or from another site', async () => {
    const { session } = await login(user)
    expect((await app.post('/api/logout/')).status).toBe(401)
    expect((await app.post('/api/logout/', {}, { key: user.key })).status).toBe(403)
    const foreign = { session: session!, headers: { origin: 'https://evil.example' } }
    expect((await app.post('/api/logout/', {}, foreign)).status).toBe(403)
    expect((await me(session)).status).toBe(200)
  })
})

describe('POST /api/login/ of an address that is not verified', () => {
  let smtp: SmtpStandIn
  let mailing: TestApp
  beforeAll(async () => {
    smtp = await startSmtpServer()
    mailing = await startTestApp({ SMTP_URL: smtp.url, RATE_LIMITS: 'on' })
  })
  afterAll(async () => {
    await mailing.close()
    await smtp.close()
  })

  it('400 not_verified, and the link goes out again, six times a day at most', async () => {
    const unverified = await createUser(mailing, { is_email_verified: false })
    for (let tries = 0; tries < 7; tries++) {
      const reply = await login(unverified, {}, mailing)
      expect(reply).toMatchObject({ status: 400, body: { code: 'not_verified', attr: null } })
      expect(reply.session).toBeUndefined()
    }
    await jobsAreDone(mailing.services)
    expect(smtp.mails.map((mail) => mail.recipients)).toEqual(Array(6).fill([unverified.email]))
    const token = smtp.mails[5]!.links[0]!.split('/').at(-1)!
    mailing.canary.plant('verification token', token)
    const path = `/api/users/${unverified.uuid}/verify_email/`
    const verified = await mailing.post(path, { uuid: unverified.uuid, token }, { may_show_secrets: true })
    expect(verified.status).toBe(200)
    expect((await login(unverified, {}, mailing)).status).toBe(200)
  })

  it('400 invalid_credentials for a wrong password: nobody learns who is not verified, and nothing is sent', async () => {
    const unverified = await createUser(mailing, { is_email_verified: false })
    expect(await login(wrong(unverified), {}, mailing)).toMatchObject(REFUSED)
    await jobsAreDone(mailing.services)
    expect(smtp.mails.some((mail) => mail.recipients.includes(unverified.email))).toBe(false)
  })

  it('200 where no mail is configured: nobody could verify anything', async () => {
    expect((await login(await createUser(app, { is_email_verified: false }))).status).toBe(200)
  })
})
