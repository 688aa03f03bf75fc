// A changed address through HTTP and real SMTP: who is told, what the link takes back, how long, and who cannot use it.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createKey, createOrganization, createUser, type TestUser } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { startSmtpServer, type SmtpStandIn } from '../../../test/stand-ins/smtp.ts'
import { sql } from '../../platform/db/sql.ts'
import { jobsAreDone } from '../../platform/jobs/fixture/queue.ts'
import { setUpDevice } from '../two-factor/fixture/authenticator.ts'
import { openSession } from './sessions.ts'

const DAY_MS = 86_400_000
const NEW_PASSWORD = 'x9$Kq2!vZ of the attacker'
const CHANGED = 'The address of your Longshore account was changed'
const BAD_LINK = { status: 400, body: { code: 'invalid_token', attr: 'token' } }

let smtp: SmtpStandIn
let app: TestApp
beforeAll(async () => {
  smtp = await startSmtpServer()
  app = await startTestApp({ SMTP_URL: smtp.url, OPEN_SIGNUP: 'on' })
  app.canary.plant('password', NEW_PASSWORD)
})
afterAll(async () => {
  await app.close()
  await smtp.close()
})
beforeEach(() => {
  smtp.mails.length = 0
})

const me = (session: string) => app.get('/api/users/@me/', { session })
const login = (email: string, password: string) => app.post('/api/login/', { email, password })

/** The end of the newest link of that kind in a mail to that address; undefined when there is none. */
async function tokenMailedTo(address: string, kind: string): Promise<string | undefined> {
  await jobsAreDone(app.services)
  const links = smtp.mails.filter((mail) => mail.recipients.includes(address)).flatMap((mail) => mail.links)
  const token = links
    .findLast((link) => link.includes(`/${kind}/`))
    ?.split('/')
    .at(-1)
  return token && app.canary.plant('token of a link', token)
}

const ask = (user: TestUser, email: string) =>
  app.patch('/api/users/@me/', { email }, { session: user.session })

const verify = (user: TestUser, token: string) =>
  app.post(`/api/users/${user.uuid}/verify_email/`, { token }, { may_show_secrets: true })

/** Asks for the address and follows the link that is sent to it. */
async function move(user: TestUser, email: string) {
  expect((await ask(user, email)).status).toBe(200)
  const reply = await verify(user, (await tokenMailedTo(email, 'verify_email'))!)
  expect(reply.status).toBe(200)
  return reply
}

/** Moves to an address of an attacker; gives the token that the old address was sent. */
async function takeOver(user: TestUser, email = `attacker-${user.email}`): Promise<string> {
  await move(user, email)
  return (await tokenMailedTo(user.email, 'undo_email_change'))!
}

const undo = ({ uuid }: { uuid: string }, token: string) =>
  app.post(`/api/users/${uuid}/undo_email_change/`, { token })

describe('a changed address', () => {
  it('is told to the old one, with a link, once the new one is proved and not before', async () => {
    const user = await createUser(app)
    const email = `new-${user.email}`
    await ask(user, email)
    await jobsAreDone(app.services)
    expect(smtp.mails.map((mail) => mail.recipients)).toEqual([[email]])
    await verify(user, (await tokenMailedTo(email, 'verify_email'))!)
    await jobsAreDone(app.services)
    const told = smtp.mails.filter((mail) => mail.recipients.includes(user.email))
    expect(told.map((mail) => mail.subject)).toEqual([CHANGED])
    expect(told[0]!.links).toEqual([
      expect.stringMatching(new RegExp(`^http://longshore.test/undo_email_change/${user.uuid}/[\\w-]{43}$`)),
    ])
    expect(told[0]!.raw).not.toContain(email)
  })

  it('signs in whoever follows the link to the new address, but not recently', async () => {
    const user = await createUser(app)
    const { session } = await move(user, `new-${user.email}`)
    expect((await me(session!)).status).toBe(200)
    const keys = await app.post(
      '/api/personal_api_keys/',
      { label: 'x', scopes: ['*'] },
      { session: session! },
    )
    expect(keys).toMatchObject({ status: 403, body: { code: 'recent_sign_in_required' } })
    // The first address of an account is another matter: its link is the end of signing up.
    const newcomer = await createUser(app, { is_email_verified: false })
    await app.post(`/api/users/${newcomer.uuid}/request_email_verification/`, {})
    const first = await verify(newcomer, (await tokenMailedTo(newcomer.email, 'verify_email'))!)
    const setup = await app.get('/api/users/@me/start_2fa_setup/', { session: first.session! })
    expect(setup.status).toBe(200)
  })

  it('gives no way back to an address that was never proved', async () => {
    const user = await createUser(app, { is_email_verified: false })
    await move(user, `new-${user.email}`)
    expect(await tokenMailedTo(user.email, 'undo_email_change')).toBeUndefined()
    expect(smtp.mails.filter((mail) => mail.subject === CHANGED)).toHaveLength(1)
  })
})

describe('POST /api/users/:uuid/undo_email_change/', () => {
  it('200 gives the account back to the old address and ends every other way in', async () => {
    const { owner: user } = await createOrganization(app)
    const older = await createKey(app, user, { scopes: ['*'] })
    const token = await takeOver(user)
    const { session: stolen = '' } = await login(`attacker-${user.email}`, user.password)
    await ask({ ...user, session: stolen }, `next-${user.email}`)
    const made = await app.post('/api/personal_api_keys/', { label: 'x', scopes: ['*'] }, { session: stolen })
    const fields = { password: NEW_PASSWORD, current_password: user.password }
    expect((await app.patch('/api/users/@me/', fields, { session: stolen })).status).toBe(200)
    await setUpDevice(app, { ...user, session: stolen })
    const linkedAt = (subject: string, at: Date) =>
      app.db.run(sql`
        INSERT INTO identity (id, user_id, provider, issuer, subject, created_at, last_used_at)
        VALUES (gen_random_uuid(), ${user.id}, 'github', 'https://github.com', ${subject}, ${at}, ${at})`)
    await linkedAt(`attacker ${user.id}`, app.services.now())
    await linkedAt(`owner ${user.id}`, new Date(app.services.now().getTime() - 2 * DAY_MS))
    smtp.mails.length = 0

    expect(await undo(user, token)).toMatchObject({ status: 200, body: { success: true } })
    expect((await me(stolen)).status).toBe(401)
    expect(await app.db.rows(sql`SELECT subject FROM identity WHERE user_id = ${user.id}`)).toEqual([
      { subject: `owner ${user.id}` },
    ])
    for (const key of [older, user.key, app.canary.plant('API key', made.body.value)]) {
      expect((await app.get('/api/users/@me/', { key })).status).toBe(401)
    }
    for (const email of [user.email, `attacker-${user.email}`]) {
      expect((await login(email, NEW_PASSWORD)).body.code).toBe('invalid_credentials')
    }
    const reset = await tokenMailedTo(user.email, 'reset')
    const password = 'x9$Kq2!vZ of the owner'
    expect((await app.post(`/api/reset/${user.uuid}/`, { token: reset, password })).status).toBe(204)
    const { session = '' } = await login(user.email, password)
    expect((await me(session)).body).toMatchObject({
      email: user.email,
      pending_email: null,
      is_email_verified: true,
      is_2fa_enabled: false,
    })
    const log = await app.get('/api/organizations/@current/activity_log/', { session })
    const changes = log.body.results.flatMap(
      (entry: { detail: { changes: object[] } }) => entry.detail.changes,
    )
    expect(changes).toContainEqual(
      expect.objectContaining({ field: 'email', before: `attacker-${user.email}`, after: user.email }),
    )
  })

  it('200 leaves a second factor that was there before', async () => {
    const user = await createUser(app)
    await setUpDevice(app, user)
    app.advance(2 * DAY_MS)
    const opened = await openSession(app.db, user.id, true, app.services.now())
    const session = app.canary.plant('session token', opened!.token)
    const token = await takeOver({ ...user, session })
    expect((await undo(user, token)).status).toBe(200)
    expect(await app.db.rows(sql`SELECT FROM totp_device WHERE user_id = ${user.id}`)).toHaveLength(1)
  })

  it('200 once of many requests at the same moment, and never again', async () => {
    const user = await createUser(app)
    const token = await takeOver(user)
    const replies = await Promise.all(Array.from({ length: 6 }, () => undo(user, token)))
    expect(replies.filter((reply) => reply.status === 200)).toHaveLength(1)
    expect(replies.filter((reply) => reply.status === 400)).toHaveLength(5)
    expect(await undo(user, token)).toMatchObject(BAD_LINK)
  })

  it('200 after another change of the address and of the password; the address in between has no way back', async () => {
    const user = await createUser(app)
    const token = await takeOver(user)
    const { session = '' } = await login(`attacker-${user.email}`, user.password)
    await move({ ...user, session }, `second-${user.email}`)
    const fields = { password: NEW_PASSWORD, current_password: user.password }
    expect((await app.patch('/api/users/@me/', fields, { session })).status).toBe(200)
    const between = smtp.mails.filter((mail) => mail.recipients.includes(`attacker-${user.email}`))
    expect(between.map((mail) => mail.subject)).toContain(CHANGED)
    expect(await tokenMailedTo(`attacker-${user.email}`, 'undo_email_change')).toBeUndefined()
    expect((await undo(user, token)).status).toBe(200)
    const row = await app.db.only(sql`SELECT email FROM app_user WHERE id = ${user.id}`)
    expect(row).toEqual({ email: user.email })
  })

  it('400 after three days, and just before them 200', async () => {
    const [late, timely] = [await createUser(app), await createUser(app)]
    const tokens = [await takeOver(late), await takeOver(timely)]
    app.advance(3 * DAY_MS - 60_000)
    expect((await undo(timely, tokens[1]!)).status).toBe(200)
    app.advance(61_000)
    expect(await undo(late, tokens[0]!)).toMatchObject(BAD_LINK)
    const row = await app.db.only(sql`SELECT email FROM app_user WHERE id = ${late.id}`)
    expect(row).toEqual({ email: `attacker-${late.email}` })
    // The next change can be undone again.
    const { session = '' } = await login(`attacker-${late.email}`, late.password)
    await move({ ...late, session }, `third-${late.email}`)
    expect(await tokenMailedTo(`attacker-${late.email}`, 'undo_email_change')).toBeDefined()
  })

  it('400 for a wrong token, that of another user, of another purpose, and an unknown or deactivated user', async () => {
    const [user, other] = [await createUser(app), await createUser(app)]
    const [token, others] = [await takeOver(user), await takeOver(other)]
    const verification = (await tokenMailedTo(`attacker-${user.email}`, 'verify_email'))!
    const nobody = { uuid: '00000000-0000-7000-8000-000000000000' }
    for (const [who, text] of [
      [user, others],
      [user, `${token}x`],
      [user, verification],
      [nobody, token],
      [{ uuid: 'nonsense' }, token],
    ] as const) {
      expect(await undo(who, text)).toMatchObject(BAD_LINK)
    }
    await app.db.run(sql`UPDATE app_user SET is_active = false WHERE id = ${other.id}`)
    expect(await undo(other, others)).toMatchObject(BAD_LINK)
    expect((await undo(user, token)).status).toBe(200)
  })

  it('400 once the owner has gone back by hand; whoever is left behind gets no link', async () => {
    const user = await createUser(app)
    const token = await takeOver(user)
    const { session = '' } = await login(`attacker-${user.email}`, user.password)
    await move({ ...user, session }, user.email)
    expect(await tokenMailedTo(`attacker-${user.email}`, 'undo_email_change')).toBeUndefined()
    expect(await undo(user, token)).toMatchObject(BAD_LINK)
    expect((await me(session)).body.email).toBe(user.email)
  })

  it('ends what the attacker is doing at that very moment', async () => {
    const user = await createUser(app)
    const token = await takeOver(user)
    const { session = '' } = await login(`attacker-${user.email}`, user.password)
    const makeKey = () =>
      app.post('/api/personal_api_keys/', { label: 'x', scopes: ['*'] }, { session, may_show_secrets: true })
    const fields = { password: NEW_PASSWORD, current_password: user.password }
    const attack = [
      ...Array.from({ length: 5 }, makeKey),
      app.patch('/api/users/@me/', fields, { session }),
      app.patch('/api/users/@me/', { email: `next-${user.email}` }, { session }),
    ]
    expect((await undo(user, token)).status).toBe(200)
    await Promise.all(attack)
    const left = await app.db.only(sql`
      SELECT email, pending_email, password_hash, (SELECT count(*)::int FROM api_key WHERE user_id = app_user.id) AS keys,
        (SELECT count(*)::int FROM session WHERE user_id = app_user.id) AS sessions
      FROM app_user WHERE id = ${user.id}`)
    expect(left).toEqual({
      email: user.email,
      pending_email: null,
      password_hash: null,
      keys: 0,
      sessions: 0,
    })
  })
})

describe('the old address', () => {
  const signup = (email: string) =>
    app.post('/api/signup/', { first_name: 'Squatter', email, password: NEW_PASSWORD })

  it('is kept for its account for three days, whoever asks for it and however', async () => {
    const user = await createUser(app)
    const token = await takeOver(user)
    const taken = { status: 400, body: { code: 'unique', attr: 'email' } }
    expect(await signup(user.email.toUpperCase())).toMatchObject(taken)
    const { owner } = await createOrganization(app)
    const invited = await app.post(
      '/api/organizations/@current/invites/',
      { target_email: user.email },
      { key: owner.key },
    )
    const account = { first_name: 'Squatter', password: NEW_PASSWORD }
    const link = invited.body.link.split('/').at(-1)
    expect((await app.post(`/api/signup/${link}/`, account)).status).toBe(400)
    const other = await createUser(app)
    await ask(other, user.email)
    expect(await verify(other, (await tokenMailedTo(user.email, 'verify_email'))!)).toMatchObject(BAD_LINK)
    expect((await undo(user, token)).status).toBe(200)
  })

  it('is free after them', async () => {
    const user = await createUser(app)
    await takeOver(user)
    app.advance(3 * DAY_MS + 1000)
    expect((await signup(user.email)).status).toBe(201)
  })

  it('is taken by nobody in the moment in which it is given up', async () => {
    const user = await createUser(app)
    const email = `attacker-${user.email}`
    await ask(user, email)
    const token = (await tokenMailedTo(email, 'verify_email'))!
    const [verified, ...signups] = await Promise.all([
      verify(user, token),
      ...Array.from({ length: 8 }, () => signup(user.email)),
    ])
    expect(verified.status).toBe(200)
    expect(signups.map((reply) => reply.status)).toEqual(Array(8).fill(400))
    expect((await undo(user, (await tokenMailedTo(user.email, 'undo_email_change'))!)).status).toBe(200)
  })
})
