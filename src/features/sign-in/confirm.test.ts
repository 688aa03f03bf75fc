// POST /api/login/confirm/ through HTTP: what makes a session recent again, what does not, and when guessing ends.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createUser, type TestUser } from '../../../test/factories.ts'
import { startTestApp, type Call, type TestApp } from '../../../test/harness/app.ts'
import { createUserWithDevice, freshCodeOf, setUpDevice } from '../two-factor/fixture/authenticator.ts'

const MINUTE_MS = 60_000

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())

const confirm = (body: object, { session }: { session: string }, call: Call = {}) =>
  app.post('/api/login/confirm/', body, { session, ...call })

/** Whether a sensitive change would be let through. */
const isRecent = async ({ session }: { session: string }) =>
  (await app.get('/api/users/@me/start_2fa_setup/', { session, may_show_secrets: true })).body.code !==
  'recent_sign_in_required'

async function agedUser(): Promise<TestUser> {
  const user = await createUser(app)
  app.advance(15 * MINUTE_MS + 1000)
  return user
}

const WRONG = {
  status: 400,
  body: { type: 'validation_error', code: 'incorrect_password', attr: 'password' },
}
const LOCKED = { status: 403, body: { code: 'too_many_failed_attempts', attr: null } }

describe('POST /api/login/confirm/', () => {
  it('200 with the password makes this session recent for 15 minutes, and no other', async () => {
    const user = await createUser(app)
    const other = (await app.post('/api/login/', { email: user.email, password: user.password })).session!
    app.advance(15 * MINUTE_MS + 1000)
    expect([await isRecent(user), await isRecent({ session: other })]).toEqual([false, false])
    const reply = await confirm({ password: user.password }, user)
    expect(reply).toMatchObject({ status: 200, body: { success: true } })
    expect(reply.session).toBeUndefined()
    expect([await isRecent(user), await isRecent({ session: other })]).toEqual([true, false])
    app.advance(15 * MINUTE_MS + 1000)
    expect(await isRecent(user)).toBe(false)
  })

  it('400 with another password or none, and the session stays as it was', async () => {
    const user = await agedUser()
    expect(await confirm({ password: 'not the password' }, user)).toMatchObject(WRONG)
    expect(await confirm({}, user)).toMatchObject({
      status: 400,
      body: { code: 'required', attr: 'password' },
    })
    const passwordless = await createUser(app, { password_hash: null })
    expect(await confirm({ password: 'any password' }, passwordless)).toMatchObject(WRONG)
    expect(await isRecent(user)).toBe(false)
  })

  it('401 without a session, 403 with a key or from another site', async () => {
    const user = await agedUser()
    const body = { password: user.password }
    expect((await app.post('/api/login/confirm/', body)).status).toBe(401)
    expect((await app.post('/api/login/confirm/', body, { key: user.key })).status).toBe(403)
    const foreign = { headers: { origin: 'https://evil.example' } }
    expect((await confirm(body, user, foreign)).status).toBe(403)
    expect(await isRecent(user)).toBe(false)
  })
})

describe('with a second factor', () => {
  it('200 with password and code; the code is used up by it', async () => {
    const user = await createUserWithDevice(app)
    app.advance(15 * MINUTE_MS + 1000)
    const body = { password: user.password, token: freshCodeOf(app, user) }
    expect((await confirm(body, user)).status).toBe(200)
    expect(await isRecent(user)).toBe(true)
    expect(await confirm(body, user)).toMatchObject({
      status: 400,
      body: { code: '2fa_invalid', attr: 'token' },
    })
    const backup = { password: user.password, token: user.backup_codes[0]! }
    expect((await confirm(backup, user)).status).toBe(200)
    expect(await confirm(backup, user)).toMatchObject({ status: 400, body: { code: '2fa_invalid' } })
  })

  it('400 without the code, with a wrong one, or with the code but not the password', async () => {
    const user = await createUserWithDevice(app)
    app.advance(15 * MINUTE_MS + 1000)
    const { password } = user
    expect(await confirm({ password }, user)).toMatchObject({
      status: 400,
      body: { code: 'required', attr: 'token' },
    })
    expect(await confirm({ password, token: '000000' }, user)).toMatchObject({
      status: 400,
      body: { code: '2fa_invalid', attr: 'token' },
    })
    const token = freshCodeOf(app, user)
    expect(await confirm({ password: 'not the password', token }, user)).toMatchObject(WRONG)
    expect(await isRecent(user)).toBe(false)
    // A wrong password does not use the code up.
    expect((await confirm({ password, token }, user)).status).toBe(200)
  })

  it('200 makes a session from before the set-up as good as one that was opened with the second factor', async () => {
    const user = await createUser(app)
    const { session = '' } = await app.post('/api/login/', { email: user.email, password: user.password })
    const device = await setUpDevice(app, user)
    const disable = () => app.post('/api/users/@me/two_factor_disable/', {}, { session })
    expect((await disable()).body.code).toBe('two_factor_verification_required')
    const body = { password: user.password, token: freshCodeOf(app, device) }
    expect((await confirm(body, { session })).status).toBe(200)
    expect((await disable()).status).toBe(200)
  })
})

describe('the end of guessing', () => {
  it('403 after 30 wrong passwords, from wherever they come, for ten minutes; signing in goes on', async () => {
    const user = await agedUser()
    const other = await agedUser()
    for (let tries = 0; tries < 30; tries++) {
      const headers: Record<string, string> = tries % 3 === 0 ? { 'idempotency-key': 'guess' } : {}
      const from = { ip: `198.51.100.${tries}`, headers }
      expect(await confirm({ password: 'not the password' }, user, from)).toMatchObject(WRONG)
    }
    expect(await confirm({ password: user.password }, user)).toMatchObject(LOCKED)
    expect(await isRecent(user)).toBe(false)
    expect((await confirm({ password: other.password }, other)).status).toBe(200)
    expect((await app.post('/api/login/', { email: user.email, password: user.password })).status).toBe(200)
    app.advance(10 * MINUTE_MS)
    expect((await confirm({ password: user.password }, user)).status).toBe(200)
  })

  it('lets exactly 30 passwords of many at once be compared, and exactly ten codes', async () => {
    const user = await agedUser()
    const guesses = Array.from({ length: 40 }, () => confirm({ password: 'not the password' }, user))
    const statuses = (await Promise.all(guesses)).map((reply) => reply.status)
    expect(statuses.filter((status) => status === 400)).toHaveLength(30)
    expect(statuses.filter((status) => status === 403)).toHaveLength(10)

    const withDevice = await createUserWithDevice(app)
    const body = { password: withDevice.password, token: '000000' }
    const replies = await Promise.all(Array.from({ length: 25 }, () => confirm(body, withDevice)))
    expect(replies.filter((reply) => reply.body.code === '2fa_invalid')).toHaveLength(10)
    expect(replies.filter((reply) => reply.body.code === '2fa_too_many_attempts')).toHaveLength(15)
  })
})
