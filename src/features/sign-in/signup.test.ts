// Making an account through HTTP: on a fresh instance, on an open one, and with verification due.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization } from '../../../test/factories.ts'
import { startTestApp, type Call, type TestApp } from '../../../test/harness/app.ts'
import { startSmtpServer } from '../../../test/stand-ins/smtp.ts'
import { sql } from '../../platform/db/sql.ts'

const DAY_MS = 86_400_000
const PASSWORD = 'x9$Kq2!vZ for signing up'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp({ OPEN_SIGNUP: 'on' })
  app.canary.plant('password', PASSWORD)
  await createOrganization(app)
})
afterAll(() => app.close())

let count = 0
const newcomer = (fields: object = {}) => ({
  first_name: 'Nia',
  email: `newcomer-${++count}@example.com`,
  password: PASSWORD,
  ...fields,
})
const signUp = (body: object, call: Call = {}, on: TestApp = app) => on.post('/api/signup/', body, call)
const me = async (session: string | undefined, on: TestApp = app) =>
  (await on.get('/api/users/@me/', { session: session! })).body
const countRows = async (on: TestApp = app) =>
  on.db.only(
    sql`SELECT (SELECT count(*) FROM app_user) AS users, (SELECT count(*) FROM organization) AS organizations`,
  )

describe('POST /api/signup/', () => {
  it('201 makes a user, an organization of their own with a project, and signs them in', async () => {
    const reply = await signUp(
      newcomer({ email: '  Nia.New@EXAMPLE.com ', last_name: 'New', role_at_organization: 'data' }),
    )
    expect(reply.status).toBe(201)
    expect(reply.body).toEqual({
      id: expect.any(Number),
      uuid: expect.any(String),
      distinct_id: expect.any(String),
      first_name: 'Nia',
      last_name: 'New',
      email: 'Nia.New@example.com',
      is_email_verified: false,
      hedgehog_config: {},
      redirect_url: '/',
    })
    expect(reply.headers['set-cookie']).toMatch(/Max-Age=1209600; Path=\/; HttpOnly; SameSite=Lax$/)
    const account = await me(reply.session)
    expect(account).toMatchObject({
      is_staff: false,
      has_password: true,
      role_at_organization: 'data',
      organization: { name: "Nia's Organization", membership_level: 15, member_count: '1' },
      team: { name: 'Default project' },
    })
    const login = await app.post('/api/login/', { email: 'nia.new@example.com', password: PASSWORD })
    expect(login.status).toBe(200)
  })

  it('201 names the organization as asked, and keeps a made-up name within its limit', async () => {
    const named = await signUp(newcomer({ organization_name: ' Acme ' }))
    expect((await me(named.session)).organization.name).toBe('Acme')
    const long = await signUp(newcomer({ first_name: 'x'.repeat(128), organization_name: '' }))
    expect(long.status).toBe(201)
    expect((await me(long.session)).organization.name).toBe(`${'x'.repeat(49)}'s Organization`)
  })

  it('201 takes the password as typed, blanks included', async () => {
    const fields = newcomer({ password: app.canary.plant('password', `  ${PASSWORD}  `) })
    expect((await signUp(fields)).status).toBe(201)
    const login = (password: string) => app.post('/api/login/', { email: fields.email, password })
    expect((await login(PASSWORD)).status).toBe(400)
    expect((await login(fields.password)).status).toBe(200)
  })

  it.each([
    [{ first_name: undefined }, 'required', 'first_name'],
    [{ first_name: ' ' }, 'blank', 'first_name'],
    [{ first_name: 'x'.repeat(129) }, 'max_length', 'first_name'],
    [{ email: undefined }, 'required', 'email'],
    [{ email: 'nonsense' }, 'invalid_input', 'email'],
    [{ password: undefined }, 'required', 'password'],
    [{ password: null }, 'null', 'password'],
    [{ password: 'x9$Kq2!' }, 'password_too_short', 'password'],
    [{ password: 'password1' }, 'password_too_weak', 'password'],
    [{ email: 'me@xyloquartz.example', password: 'Xyloquartz1234' }, 'password_too_weak', 'password'],
    [{ organization_name: 'Xyloquartz', password: 'Xyloquartz1234' }, 'password_too_weak', 'password'],
    [{ organization_name: 'x'.repeat(65) }, 'max_length', 'organization_name'],
  ])('400 for %j, and nothing is made', async (fields, code, attr) => {
    const before = await countRows()
    expect(await signUp(newcomer(fields))).toMatchObject({ status: 400, body: { code, attr } })
    expect(await countRows()).toEqual(before)
  })

  it('400 when the address is taken, whatever its case, and by one of two at the same moment', async () => {
    const fields = newcomer()
    const replies = await Promise.all([
      signUp(fields),
      signUp({ ...fields, email: fields.email.toUpperCase() }),
    ])
    expect(replies.map((reply) => reply.status).toSorted((a, b) => a - b)).toEqual([201, 400])
    const before = await countRows()
    const again = await signUp(fields)
    expect(again).toMatchObject({ status: 400, body: { code: 'unique', attr: 'email' } })
    expect(again.session).toBeUndefined()
    expect(await countRows()).toEqual(before)
  })

  it('403 where accounts are made by invitation, except for the first user, who is staff', async () => {
    const closed = await startTestApp()
    closed.canary.plant('password', PASSWORD)
    const first = await signUp(newcomer(), {}, closed)
    expect(first.status).toBe(201)
    expect(await me(first.session, closed)).toMatchObject({
      is_staff: true,
      organization: { membership_level: 15 },
    })
    const before = await countRows(closed)
    for (const body of [newcomer(), {}]) {
      expect(await signUp(body, {}, closed)).toMatchObject({
        status: 403,
        body: { code: 'permission_denied' },
      })
    }
    expect(await countRows(closed)).toEqual(before)
    await closed.close()
  })

  it.each([
    ['invitation', 'off', 403],
    ['anybody', 'on', 201],
  ] as const)(
    'of several first users at once one is staff, with accounts made by %s',
    async (_, open, others) => {
      const fresh = await startTestApp({ OPEN_SIGNUP: open })
      fresh.canary.plant('password', PASSWORD)
      const replies = await Promise.all([1, 2, 3].map(() => signUp(newcomer(), {}, fresh)))
      expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, others, others])
      const staff = await fresh.db.rows(sql`SELECT FROM app_user WHERE is_staff`)
      expect(staff).toHaveLength(1)
      const made = replies.filter(({ status }) => status === 201).length
      expect(await countRows(fresh)).toMatchObject({ users: String(made), organizations: String(made) })
      await fresh.close()
    },
  )

  it('429 after five a day from one place, whatever became of them', async () => {
    const limited = await startTestApp({ OPEN_SIGNUP: 'on', RATE_LIMITS: 'on' })
    limited.canary.plant('password', PASSWORD)
    for (const status of [201, 400, 201, 400, 201]) {
      expect((await signUp(status === 201 ? newcomer() : {}, { ip: '198.51.100.1' }, limited)).status).toBe(
        status,
      )
    }
    const refused = await signUp(newcomer(), { ip: '198.51.100.1' }, limited)
    expect(refused).toMatchObject({ status: 429, body: { code: 'throttled' } })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(86_000)
    expect((await signUp(newcomer(), { ip: '198.51.100.2' }, limited)).status).toBe(201)
    limited.advance(DAY_MS)
    expect((await signUp(newcomer(), { ip: '198.51.100.1' }, limited)).status).toBe(201)
    await limited.close()
  })
})

describe('POST /api/signup/ where mail is configured', () => {
  it('201 without a cookie; the mailed link verifies the address and signs in', async () => {
    const smtp = await startSmtpServer()
    const mailing = await startTestApp({ OPEN_SIGNUP: 'on', SMTP_URL: smtp.url })
    mailing.canary.plant('password', PASSWORD)
    const fields = newcomer()
    const reply = await signUp(fields, {}, mailing)
    expect(reply.status).toBe(201)
    expect(reply.session).toBeUndefined()
    expect(reply.body.redirect_url).toBe(`/verify_email/${reply.body.uuid}`)
    const early = await mailing.post('/api/login/', { email: fields.email, password: PASSWORD })
    expect(early).toMatchObject({ status: 400, body: { code: 'not_verified' } })

    const mail = await smtp.waitForMail(fields.email)
    expect(mail.subject).toBe('Verify your e-mail address for Longshore')
    const [, uuid, token] = /\/verify_email\/([^/]+)\/([^/]+)$/.exec(mail.links[0]!)!
    const verified = await mailing.post(`/api/users/${uuid}/verify_email/`, { uuid, token })
    mailing.canary.plant('verification token', token!)
    expect(verified).toMatchObject({ status: 200, body: { success: true, token } })
    expect(await me(verified.session, mailing)).toMatchObject({
      email: fields.email,
      is_email_verified: true,
    })
    await mailing.close()
    await smtp.close()
  })
})
