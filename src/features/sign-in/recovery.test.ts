// Forgotten passwords and unproven addresses through HTTP and real SMTP: what is mailed, what the links open, how often
// and how long, and that nobody learns who has an account.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization, createUser, type TestUser } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { startSmtpServer, type SmtpStandIn } from '../../../test/stand-ins/smtp.ts'
import { sql } from '../../platform/db/sql.ts'
import { endPauses, jobsAreDone, jobsWaitForRetry } from '../../platform/jobs/fixture/queue.ts'
import { setUpDevice } from '../two-factor/fixture/authenticator.ts'

const DAY_MS = 86_400_000
const NOBODY = '00000000-0000-7000-8000-000000000000'
const NEW_PASSWORD = 'x9$Kq2!vZ after a reset'
const BAD_LINK = { status: 400, body: { code: 'invalid_token', attr: 'token' } }

let smtp: SmtpStandIn
let app: TestApp
/** Without SMTP_URL. */
let mailless: TestApp

beforeAll(async () => {
  smtp = await startSmtpServer()
  app = await startTestApp({ SMTP_URL: smtp.url })
  app.canary.plant('password', NEW_PASSWORD)
  mailless = await startTestApp()
})
afterAll(async () => {
  await app.close()
  await mailless.close()
  await smtp.close()
})

const mailsTo = (email: string, subject?: string) =>
  smtp.mails.filter(
    (mail) => mail.recipients.includes(email) && (subject === undefined || mail.subject === subject),
  )
const login = (user: TestUser, password = user.password) =>
  app.post('/api/login/', { email: user.email, password })
const me = async (session: string | undefined) =>
  (await app.get('/api/users/@me/', { session: session! })).status

/** Asks for a link and follows it as far as its token. */
async function resetToken(user: TestUser): Promise<string> {
  const before = mailsTo(user.email, RESET).length
  expect(await app.post('/api/reset/', { email: user.email })).toMatchObject({ status: 204, body: null })
  await expect.poll(() => mailsTo(user.email, RESET).length).toBe(before + 1)
  const [, uuid, token] = /\/reset\/([^/]+)\/([^/]+)$/.exec(mailsTo(user.email, RESET).at(-1)!.links[0]!)!
  expect(uuid).toBe(user.uuid)
  return app.canary.plant('reset token', token!)
}

const RESET = 'Set a new password for Longshore'
const CHANGED = 'Your Longshore password was changed'
const VERIFY = 'Verify your e-mail address for Longshore'

const look = (uuid: string, token: string) => app.get(`/api/reset/${uuid}/?token=${token}`)
const reset = (uuid: string, token: string, password = NEW_PASSWORD) =>
  app.post(`/api/reset/${uuid}/`, { token, password })

describe('POST /api/reset/', () => {
  it('204 sends the link to the address of the account, whatever case it was asked for in', async () => {
    const user = await createUser(app, { first_name: 'Rob' })
    expect((await app.post('/api/reset/', { email: user.email.toUpperCase() })).status).toBe(204)
    const mail = await smtp.waitForMail(user.email)
    expect(mail).toMatchObject({ subject: RESET, to: [{ name: 'Rob', address: user.email }], replyTo: [] })
    expect(mail.links).toHaveLength(1)
    expect(mail.links[0]).toMatch(new RegExp(`^http://longshore\\.test/reset/${user.uuid}/[\\w-]+$`))
  })

  it('204 alike, and without a mail, for an unknown address and a deactivated user', async () => {
    const known = await createUser(app)
    const inactive = await createUser(app)
    await app.db.run(sql`UPDATE app_user SET is_active = false WHERE id = ${inactive.id}`)
    const replies = []
    for (const email of [known.email, inactive.email, 'nobody@example.com'])
      replies.push(await app.post('/api/reset/', { email }))
    for (const reply of replies) {
      expect([reply.status, reply.body, reply.session]).toEqual([204, null, undefined])
      expect(Object.keys(reply.headers)).toEqual(Object.keys(replies[0]!.headers))
    }
    await jobsAreDone(app.services)
    expect([known.email, inactive.email, 'nobody@example.com'].map((email) => mailsTo(email).length)).toEqual(
      [1, 0, 0],
    )
  })

  it('400 without an address, or where no mail is configured', async () => {
    expect(await app.post('/api/reset/', {})).toMatchObject({
      status: 400,
      body: { code: 'required', attr: 'email' },
    })
    expect(await mailless.post('/api/reset/', { email: 'a@example.com' })).toMatchObject({
      status: 400,
      body: { code: 'email_not_available', attr: null },
    })
  })

  it('204 while the mail server is away; the link arrives once it is back', async () => {
    const user = await createUser(app)
    await smtp.close()
    expect((await app.post('/api/reset/', { email: user.email })).status).toBe(204)
    await jobsWaitForRetry(app.db, 'reset-email', 1)
    await smtp.reopen()
    await endPauses(app.db)
    await resetToken(await createUser(app))
    await smtp.waitForMail(user.email)
    expect(app.logs.filter((line) => line.includes('will be tried again'))).toHaveLength(1)
  })
})

describe('GET and POST /api/reset/:user_uuid/', () => {
  it('204 sets the password once, ends every session, and tells the user', async () => {
    const user = await createUser(app)
    const { session } = await login(user)
    const token = await resetToken(user)
    expect(await look(user.uuid, token)).toMatchObject({ status: 204, body: null })
    expect((await look(user.uuid, token)).status).toBe(204)
    const reply = await reset(user.uuid, token)
    expect(reply).toMatchObject({ status: 204, body: null })
    expect(reply.session).toBeUndefined()
    expect(reply.headers['x-active-personal-api-keys']).toBe('1')

    expect(await look(user.uuid, token)).toMatchObject(BAD_LINK)
    expect(await reset(user.uuid, token)).toMatchObject(BAD_LINK)
    expect([await me(user.session), await me(session)]).toEqual([401, 401])
    expect((await login(user)).status).toBe(400)
    expect((await login(user, NEW_PASSWORD)).status).toBe(200)
    expect((await app.get('/api/users/@me/', { key: user.key })).status).toBe(200)
    await jobsAreDone(app.services)
    expect(mailsTo(user.email, CHANGED)).toHaveLength(1)
  })

  it('204 ends the personal keys too if asked for', async () => {
    const user = await createUser(app)
    const body = { token: await resetToken(user), password: NEW_PASSWORD, delete_personal_api_keys: true }
    const reply = await app.post(`/api/reset/${user.uuid}/`, body)
    expect(reply).toMatchObject({ status: 204, headers: { 'x-active-personal-api-keys': '0' } })
    expect((await app.get('/api/users/@me/', { key: user.key })).status).toBe(401)
  })

  it('204 once of many requests at the same moment', async () => {
    const user = await createUser(app)
    const token = await resetToken(user)
    const passwords = [1, 2, 3, 4, 5, 6].map((number) => `x9$Kq2!vZ of request ${number}`)
    const replies = await Promise.all(passwords.map((password) => reset(user.uuid, token, password)))
    expect(replies.filter((reply) => reply.status === 204)).toHaveLength(1)
    const winner = passwords[replies.findIndex((reply) => reply.status === 204)]!
    expect((await login(user, winner)).status).toBe(200)
    await jobsAreDone(app.services)
    expect(mailsTo(user.email, CHANGED)).toHaveLength(1)
  })

  it('204 verifies the address on the way: the link was sent to it', async () => {
    const user = await createUser(app, { is_email_verified: false })
    expect((await reset(user.uuid, await resetToken(user))).status).toBe(204)
    expect((await login(user, NEW_PASSWORD)).status).toBe(200)
  })

  it('204 ends a change of address that waits for its link', async () => {
    const user = await createUser(app)
    const email = `thief-${user.email}`
    expect((await app.patch('/api/users/@me/', { email }, { session: user.session })).status).toBe(200)
    await smtp.waitForMail(email)
    const token = await verificationToken(user, email)
    expect((await reset(user.uuid, await resetToken(user))).status).toBe(204)
    expect(await verify(user, token)).toMatchObject(BAD_LINK)
    const { session } = await login(user, NEW_PASSWORD)
    const { body } = await app.get('/api/users/@me/', { session: session! })
    expect(body).toMatchObject({ email: user.email, pending_email: null })
  })

  it('204 leaves the second factor in place', async () => {
    const user = await createUser(app)
    await setUpDevice(app, user)
    expect((await reset(user.uuid, await resetToken(user))).status).toBe(204)
    expect(await login(user, NEW_PASSWORD)).toMatchObject({ status: 401, body: { code: '2fa_required' } })
  })

  it('400 after a day, and just before it 204', async () => {
    const user = await createUser(app)
    const token = await resetToken(user)
    app.advance(DAY_MS - 5_000)
    expect((await look(user.uuid, token)).status).toBe(204)
    app.advance(6_000)
    expect(await look(user.uuid, token)).toMatchObject(BAD_LINK)
    expect(await reset(user.uuid, token)).toMatchObject(BAD_LINK)
  })

  it('400 once the password or the address has changed, or the user was deactivated', async () => {
    const changes = [
      sql`UPDATE app_user SET email = 'moved-' || email`,
      sql`UPDATE app_user SET is_active = false`,
    ]
    for (const change of changes) {
      const user = await createUser(app)
      const token = await resetToken(user)
      await app.db.run({ text: `${change.text} WHERE id = $1`, values: [user.id] })
      expect(await look(user.uuid, token)).toMatchObject(BAD_LINK)
    }
    const user = await createUser(app)
    const token = await resetToken(user)
    const fields = { current_password: user.password, password: NEW_PASSWORD }
    expect((await app.patch('/api/users/@me/', fields, { session: user.session })).status).toBe(200)
    expect(await look(user.uuid, token)).toMatchObject(BAD_LINK)
  })

  it('400 alike for a wrong token, none, that of another user or purpose, and an unknown user', async () => {
    const [user, other] = [await createUser(app), await createUser(app, { is_email_verified: false })]
    const token = await resetToken(user)
    const verification = await verificationToken(other)
    const wrong = [
      [user.uuid, 'nonsense'],
      [user.uuid, `${token}x`],
      [user.uuid, token.replace(/^[^-]+/, (made) => (Number.parseInt(made, 36) + 1).toString(36))],
      [other.uuid, token],
      [other.uuid, verification],
      [NOBODY, token],
      ['nonsense', token],
    ] as const
    for (const [uuid, text] of wrong) {
      for (const reply of [await look(uuid, text), await reset(uuid, text)]) {
        expect(reply).toMatchObject(BAD_LINK)
        expect(reply.body.detail).toBe('The link is wrong, used or too old.')
      }
    }
    expect(await app.get(`/api/reset/${user.uuid}/`)).toMatchObject({ status: 400, body: { attr: 'token' } })
    expect((await look(user.uuid, token)).status).toBe(204)
  })

  it('400 for a bad password, and the link stays good', async () => {
    const user = await createUser(app, { first_name: 'Xyloquartz' })
    const token = await resetToken(user)
    const post = (body: object) => app.post(`/api/reset/${user.uuid}/`, body)
    expect(await post({ token })).toMatchObject({ status: 400, body: { code: 'required', attr: 'password' } })
    expect(await post({ token, password: 'x9$Kq2!' })).toMatchObject({
      status: 400,
      body: { code: 'password_too_short' },
    })
    expect(await post({ token, password: 'Xyloquartz1234' })).toMatchObject({
      status: 400,
      body: { code: 'password_too_weak' },
    })
    expect((await look(user.uuid, token)).status).toBe(204)
    expect((await login(user)).status).toBe(200)
  })
})

async function verificationToken(user: TestUser, sentTo = user.email): Promise<string> {
  const path = `/api/users/${user.uuid}/request_email_verification/`
  const before = mailsTo(sentTo, VERIFY).length
  expect(await app.post(path, { uuid: user.uuid })).toMatchObject({ status: 200, body: { success: true } })
  await expect.poll(() => mailsTo(sentTo, VERIFY).length).toBe(before + 1)
  const [, uuid, token] = /\/verify_email\/([^/]+)\/([^/]+)$/.exec(mailsTo(sentTo, VERIFY).at(-1)!.links[0]!)!
  expect(uuid).toBe(user.uuid)
  return app.canary.plant('verification token', token!)
}

/** The answer repeats the token. */
const verify = ({ uuid }: { uuid: string }, token: string) =>
  app.post(`/api/users/${uuid}/verify_email/`, { uuid, token }, { may_show_secrets: true })

describe('POST /api/users/:uuid/request_email_verification/', () => {
  it('200 alike for everybody; a mail goes only where something is left to verify', async () => {
    const open = await createUser(app, { is_email_verified: false })
    const done = await createUser(app)
    const inactive = await createUser(app, { is_email_verified: false })
    await app.db.run(sql`UPDATE app_user SET is_active = false WHERE id = ${inactive.id}`)
    const sent = smtp.mails.length
    for (const uuid of [open.uuid, done.uuid, inactive.uuid, NOBODY, 'nonsense']) {
      const reply = await app.post(`/api/users/${uuid}/request_email_verification/`, { uuid })
      expect([reply.status, reply.body, reply.session]).toEqual([200, { success: true }, undefined])
    }
    await jobsAreDone(app.services)
    expect(smtp.mails.slice(sent).map((mail) => [mail.recipients, mail.subject])).toEqual([
      [[open.email], VERIFY],
    ])
  })

  it('400 where no mail is configured, for known and unknown users alike', async () => {
    const user = await createUser(mailless, { is_email_verified: false })
    for (const uuid of [user.uuid, NOBODY]) {
      expect(await mailless.post(`/api/users/${uuid}/request_email_verification/`, {})).toMatchObject({
        status: 400,
        body: { code: 'email_not_available', attr: null },
      })
    }
  })
})

describe('POST /api/users/:uuid/verify_email/', () => {
  it('200 verifies the address once and signs in', async () => {
    const user = await createUser(app, { is_email_verified: false })
    const token = await verificationToken(user)
    const reply = await verify(user, token)
    expect(reply).toMatchObject({ status: 200, body: { success: true, token } })
    expect(await me(reply.session)).toBe(200)
    expect((await login(user)).status).toBe(200)
    const again = await verify(user, token)
    expect(again).toMatchObject(BAD_LINK)
    expect(again.session).toBeUndefined()
  })

  it('200 once of many requests at the same moment', async () => {
    const user = await createUser(app, { is_email_verified: false })
    const token = await verificationToken(user)
    const replies = await Promise.all(Array.from({ length: 6 }, () => verify(user, token)))
    expect(replies.filter((reply) => reply.status === 200)).toHaveLength(1)
  })

  it('200 makes a pending address the real one; the link was sent there', async () => {
    const user = await createUser(app)
    const email = `new-${user.email}`
    const patched = await app.patch('/api/users/@me/', { email }, { session: user.session })
    expect(patched).toMatchObject({ status: 200, body: { email: user.email, pending_email: email } })
    await smtp.waitForMail(email)
    const token = await verificationToken(user, email)
    expect(mailsTo(user.email, VERIFY)).toEqual([])
    expect((await verify(user, token)).status).toBe(200)
    const account = await app.get('/api/users/@me/', { session: user.session })
    expect(account.body).toMatchObject({ email, pending_email: null, is_email_verified: true })
  })

  it('400 when the pending address was taken by another account in the meantime', async () => {
    const user = await createUser(app)
    const email = `new-${user.email}`
    await app.patch('/api/users/@me/', { email }, { session: user.session })
    await smtp.waitForMail(email)
    const token = await verificationToken(user, email)
    await createUser(app, { email: email.toUpperCase() })
    expect(await verify(user, token)).toMatchObject(BAD_LINK)
    const account = await app.get('/api/users/@me/', { session: user.session })
    expect(account.body).toMatchObject({ email: user.email, pending_email: email })
  })

  it('200 without a session where a second factor has to be shown', async () => {
    const user = await createUser(app)
    await setUpDevice(app, user)
    await app.db.run(sql`UPDATE app_user SET is_email_verified = false WHERE id = ${user.id}`)
    const reply = await verify(user, await verificationToken(user))
    expect(reply.status).toBe(200)
    expect(reply.session).toBeUndefined()
    expect((await login(user)).body.code).toBe('2fa_required')
  })

  it('400 after a day, for a wrong token, another user, another purpose and an unknown user', async () => {
    const user = await createUser(app, { is_email_verified: false })
    const token = await verificationToken(user)
    const other = await createUser(app, { is_email_verified: false })
    expect(await verify(user, 'nonsense')).toMatchObject(BAD_LINK)
    expect(await verify(user, await resetToken(user))).toMatchObject(BAD_LINK)
    for (const uuid of [other.uuid, NOBODY, 'nonsense'])
      expect(await verify({ uuid }, token)).toMatchObject(BAD_LINK)
    expect(await app.post(`/api/users/${user.uuid}/verify_email/`, {})).toMatchObject({
      status: 400,
      body: { code: 'required', attr: 'token' },
    })
    app.advance(DAY_MS + 1_000)
    expect(await verify(user, token)).toMatchObject(BAD_LINK)
    expect((await login(user)).body.code).toBe('not_verified')
  })
})

describe('limits', () => {
  let limited: TestApp
  beforeAll(async () => {
    limited = await startTestApp({ SMTP_URL: smtp.url, RATE_LIMITS: 'on' })
  })
  afterAll(() => limited.close())

  it('429 after six resets a day for an address, known or not, in any case and from anywhere', async () => {
    const { owner } = await createOrganization(limited)
    for (const email of [owner.email, 'nobody@example.com']) {
      const ask = (spelling: string, ip: string) => limited.post('/api/reset/', { email: spelling }, { ip })
      for (let tries = 0; tries < 6; tries++)
        expect((await ask(email, `198.51.100.${tries}`)).status).toBe(204)
      const refused = await ask(email.toUpperCase(), '198.51.100.9')
      expect(refused).toMatchObject({ status: 429, body: { code: 'throttled', attr: null } })
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(86_000)
    }
    limited.advance(DAY_MS)
    expect((await limited.post('/api/reset/', { email: owner.email })).status).toBe(204)
  })

  it('429 after six verification requests a day for a user, known or not, with or without anything to verify', async () => {
    const open = await createUser(limited, { is_email_verified: false })
    const done = await createUser(limited)
    for (const [place, uuid] of [open.uuid, done.uuid, NOBODY].entries()) {
      const from = { ip: `192.0.2.${place}` }
      const ask = (spelling = uuid) =>
        limited.post(`/api/users/${spelling}/request_email_verification/`, { uuid }, from)
      for (let tries = 0; tries < 6; tries++) expect((await ask()).status).toBe(200)
      expect((await ask(uuid.toUpperCase())).status).toBe(429)
    }
    limited.advance(DAY_MS)
    const path = `/api/users/${open.uuid}/request_email_verification/`
    expect((await limited.post(path, {})).status).toBe(200)
  })
})
