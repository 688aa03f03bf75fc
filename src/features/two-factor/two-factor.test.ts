// The second factor through HTTP: set-up, codes and backup codes at sign-in, what wrong ones cost, switching it off, and
// the sealed secret under a changing key.
import { type TOTP, URI } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization, createUser } from '../../../test/factories.ts'
import { startTestApp, type Call, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import { openSecrets } from '../../platform/secrets/secrets.ts'
import {
  codeOf,
  createUserWithDevice,
  freshCodeOf,
  login,
  pendingSession,
  presentCode,
  setUpDevice,
  STEP_MS,
} from './fixture/authenticator.ts'
import { resealSecrets } from './reseal.ts'

const MINUTE_MS = 60_000
const SECRET_KEY = 'the secret key this test begins with'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp({ SECRET_KEY })
})
afterAll(() => app.close())

const code = (device: { secret: string }, steps = 0) => codeOf(app, device, steps)
const freshCode = (device: { secret: string }) => freshCodeOf(app, device)
const present = (session: string, token: string, call: Call = {}) => presentCode(app, session, token, call)
const me = (session: string | undefined) => app.get('/api/users/@me/', { session: session! })

const WRONG = { status: 400, body: { code: '2fa_invalid', attr: null } }
const LOCKED = { status: 400, body: { code: '2fa_too_many_attempts', attr: null } }
const EXPIRED = { status: 400, body: { code: '2fa_expired', attr: null } }
const DEMANDS_PROOF = { status: 403, body: { code: 'two_factor_verification_required', attr: null } }

describe('set-up', () => {
  it('gives a secret that counts only once a code made from it was shown, and then ten backup codes', async () => {
    const user = await createUser(app)
    const call = { session: user.session }
    const started = await app.get('/api/users/@me/start_2fa_setup/', call)
    expect(started).toMatchObject({
      status: 200,
      body: { success: true, secret: expect.stringMatching(/^[A-Z2-7]{32}$/) },
    })
    const { secret, otpauth_url } = started.body
    app.canary.plant('TOTP secret', secret)
    const scanned = URI.parse(otpauth_url) as TOTP
    expect(scanned).toMatchObject({
      issuer: 'Longshore',
      label: user.email,
      algorithm: 'SHA1',
      digits: 6,
      period: 30,
    })
    expect(scanned.secret.base32).toBe(secret)
    expect((await login(app, user)).status).toBe(200)
    expect((await me(user.session)).body.is_2fa_enabled).toBe(false)

    const path = '/api/users/@me/validate_2fa/'
    for (const token of ['000000', code({ secret }, 2), code({ secret }, -2), 'abcdef', '12345']) {
      expect(await app.post(path, { token }, call)).toMatchObject({
        status: 400,
        body: { code: 'token_invalid', attr: null },
      })
    }
    expect(await app.post(path, {}, call)).toMatchObject({
      status: 400,
      body: { code: 'required', attr: 'token' },
    })
    const confirmed = await app.post(path, { token: ` ${code({ secret }).replace(/^.../, '$& ')} ` }, call)
    expect(confirmed).toMatchObject({ status: 200, body: { success: true } })
    expect(new Set(confirmed.body.backup_codes).size).toBe(10)
    for (const backup of confirmed.body.backup_codes) app.canary.plant('backup code', backup)

    expect((await me(user.session)).body.is_2fa_enabled).toBe(true)
    expect((await app.get('/api/users/@me/two_factor_status/', call)).body).toEqual({
      is_enabled: true,
      backup_codes_left: 10,
    })
    expect((await login(app, user)).status).toBe(401)
    const entries = await app.db.rows(sql`SELECT detail FROM activity_log WHERE item_id = ${user.uuid}`)
    expect(entries).toMatchObject([
      { detail: { changes: [{ field: 'is_2fa_enabled', before: false, after: true }] } },
    ])
  })

  it('needs a session: 403 with a key, 401 without, 403 for somebody else', async () => {
    const user = await createUser(app)
    const other = await createUser(app)
    for (const [method, action] of [
      ['GET', 'start_2fa_setup'],
      ['POST', 'validate_2fa'],
      ['GET', 'two_factor_status'],
      ['POST', 'two_factor_backup_codes'],
      ['POST', 'two_factor_disable'],
    ] as const) {
      const call = async (uuid: string, by: Call) =>
        (await app.call(method, `/api/users/${uuid}/${action}/`, by)).status
      expect(await call('@me', { key: user.key })).toBe(403)
      expect(await call('@me', {})).toBe(401)
      expect(await call(other.uuid, { session: user.session })).toBe(403)
    }
  })

  it('cannot be confirmed without having been started, nor twice with one code', async () => {
    const user = await createUser(app)
    const post = (token: string) =>
      app.post('/api/users/@me/validate_2fa/', { token }, { session: user.session })
    expect(await post('123456')).toMatchObject({ status: 400, body: { code: 'token_invalid' } })
    const device = await setUpDevice(app, user)
    expect(await post(code(device))).toMatchObject({ status: 400, body: { code: 'token_invalid' } })
  })

  it('keeps the old device until the new one is confirmed', async () => {
    const user = await createUserWithDevice(app)
    const session = (await present(await pendingSession(app, user), freshCode(user))).session!
    const { secret } = (await app.get('/api/users/@me/start_2fa_setup/', { session })).body
    app.canary.plant('TOTP secret', secret)
    expect((await present(await pendingSession(app, user), freshCode(user))).status).toBe(200)
    await app.post('/api/users/@me/validate_2fa/', { token: code({ secret }) }, { session })
    expect(await present(await pendingSession(app, user), freshCode(user))).toMatchObject(WRONG)
    expect(await present(await pendingSession(app, user), user.backup_codes[0]!)).toMatchObject(WRONG)
    expect((await present(await pendingSession(app, user), freshCode({ secret }))).status).toBe(200)
  })

  it('403 for replacing or removing a device by a session that has never shown it', async () => {
    const user = await createUser(app)
    const { session: older } = await login(app, user)
    const device = await setUpDevice(app, user)
    const session = older!
    expect(await app.get('/api/users/@me/start_2fa_setup/', { session })).toMatchObject(DEMANDS_PROOF)
    expect(
      await app.post('/api/users/@me/validate_2fa/', { token: code(device) }, { session }),
    ).toMatchObject(DEMANDS_PROOF)
    expect(await app.post('/api/users/@me/two_factor_backup_codes/', {}, { session })).toMatchObject(
      DEMANDS_PROOF,
    )
    expect(await app.post('/api/users/@me/two_factor_disable/', {}, { session })).toMatchObject(DEMANDS_PROOF)
    expect((await present(await pendingSession(app, user), freshCode(device))).status).toBe(200)
  })
})

describe('POST /api/login/ of a user with a device', () => {
  it('401 with a session that can do nothing but present the second factor', async () => {
    const user = await createUserWithDevice(app)
    const reply = await login(app, user)
    expect(reply).toMatchObject({
      status: 401,
      body: { type: 'authentication_error', code: '2fa_required', attr: null },
    })
    expect(reply.headers['set-cookie']).toMatch(/; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/)
    for (const path of [
      '/api/users/@me/',
      '/api/organizations/',
      '/api/personal_api_keys/',
      '/api/users/@me/two_factor_status/',
    ]) {
      expect((await app.get(path, { session: reply.session! })).status).toBe(401)
    }
    expect((await app.post('/api/logout/', {}, { session: reply.session! })).status).toBe(401)
    expect((await app.get('/api/users/@me/start_2fa_setup/', { session: reply.session! })).status).toBe(401)
  })
})

describe('POST /api/login/token/', () => {
  it('200 opens a session of its own; the pending one is gone', async () => {
    const user = await createUserWithDevice(app)
    const pending = await pendingSession(app, user)
    const reply = await present(pending, freshCode(user))
    expect(reply).toMatchObject({ status: 200, body: { success: true } })
    expect(reply.headers['set-cookie']).toMatch(/; Max-Age=1209600;/)
    expect(reply.session).not.toBe(pending)
    expect((await me(reply.session)).status).toBe(200)
    expect((await me(pending)).status).toBe(401)
    expect(await present(pending, freshCode(user))).toMatchObject(EXPIRED)
  })

  it.each([
    [-1, 200],
    [0, 200],
    [1, 200],
    [-2, 400],
    [2, 400],
  ])('takes a code %i steps away: %i', async (steps, status) => {
    const user = await createUserWithDevice(app)
    app.advance(4 * STEP_MS)
    const pending = await pendingSession(app, user)
    // Away from the edge of a step, so that no step begins between making the code and checking it.
    app.advance(STEP_MS - (app.services.now().getTime() % STEP_MS) + 1)
    expect((await present(pending, code(user, steps))).status).toBe(status)
  })

  it('400 for a code used before, and for one of an earlier step', async () => {
    const user = await createUserWithDevice(app)
    const used = freshCode(user)
    const earlier = code(user, -1)
    expect((await present(await pendingSession(app, user), used)).status).toBe(200)
    expect(await present(await pendingSession(app, user), used)).toMatchObject(WRONG)
    expect(await present(await pendingSession(app, user), earlier)).toMatchObject(WRONG)
    expect((await present(await pendingSession(app, user), freshCode(user))).status).toBe(200)
  })

  it('400 for the code that confirmed the set-up', async () => {
    const user = await createUser(app)
    const { secret } = (await app.get('/api/users/@me/start_2fa_setup/', { session: user.session })).body
    const token = code({ secret })
    await app.post('/api/users/@me/validate_2fa/', { token }, { session: user.session })
    app.canary.plant('TOTP secret', secret)
    expect(await present(await pendingSession(app, user), token)).toMatchObject(WRONG)
  })

  it('takes one of many requests that bring the same code at once', async () => {
    const user = await createUserWithDevice(app)
    const sessions = [
      await pendingSession(app, user),
      await pendingSession(app, user),
      await pendingSession(app, user),
    ]
    const token = freshCode(user)
    const replies = await Promise.all(
      sessions.flatMap((session) => [present(session, token), present(session, token)]),
    )
    expect(replies.map((reply) => reply.status).toSorted((a, b) => a - b)).toEqual([
      200, 400, 400, 400, 400, 400,
    ])
  })

  it('takes each backup code once, whatever its case and dashes', async () => {
    const user = await createUserWithDevice(app)
    const [first, second] = user.backup_codes as [string, string]
    expect((await present(await pendingSession(app, user), first)).status).toBe(200)
    expect(await present(await pendingSession(app, user), first)).toMatchObject(WRONG)
    const spoken = ` ${second.replace('-', ' ').toUpperCase()} `
    const sessions = [await pendingSession(app, user), await pendingSession(app, user)]
    const replies = await Promise.all(sessions.map((session) => present(session, spoken)))
    expect(replies.map((reply) => reply.status).toSorted((a, b) => a - b)).toEqual([200, 400])
    const session = replies.find((reply) => reply.status === 200)!.session!
    expect((await app.get('/api/users/@me/two_factor_status/', { session })).body.backup_codes_left).toBe(8)
    const stored = await app.db.rows<{ code_hash: string }>(
      sql`SELECT code_hash FROM backup_code WHERE user_id = ${user.id}`,
    )
    expect(JSON.stringify(stored)).not.toContain(user.backup_codes[2]!.replace('-', ''))
  })

  it("400 for somebody else's code or backup code", async () => {
    const [user, other] = [await createUserWithDevice(app), await createUserWithDevice(app)]
    const pending = await pendingSession(app, user)
    expect(await present(pending, freshCode(other))).toMatchObject(WRONG)
    expect(await present(pending, other.backup_codes[0]!)).toMatchObject(WRONG)
    expect((await present(await pendingSession(app, other), other.backup_codes[0]!)).status).toBe(200)
  })

  it('400 expired after ten minutes, without a pending session, and with a finished one', async () => {
    const user = await createUserWithDevice(app)
    const pending = await pendingSession(app, user)
    app.advance(10 * MINUTE_MS)
    expect(await present(pending, code(user))).toMatchObject(EXPIRED)
    expect(await app.post('/api/login/token/', { token: code(user) })).toMatchObject(EXPIRED)
    expect(await present(user.session, code(user))).toMatchObject(EXPIRED)
    expect(await present('nonsense', code(user))).toMatchObject(EXPIRED)
    expect(await app.post('/api/login/token/', {})).toMatchObject({
      status: 400,
      body: { code: 'required', attr: 'token' },
    })
  })
})

describe('wrong codes', () => {
  it('lock the second factor after ten of them, for ten minutes and every place', async () => {
    const user = await createUserWithDevice(app)
    for (let tries = 0; tries < 10; tries++) {
      // Neither a new sign-in nor another place nor a repeatable request buys more tries.
      const headers: Record<string, string> = tries % 2 === 0 ? { 'idempotency-key': 'guess' } : {}
      const pending = await pendingSession(app, user)
      expect(await present(pending, `00000${tries}`, { headers, ip: `198.51.100.${tries}` })).toMatchObject(
        WRONG,
      )
    }
    const pending = await pendingSession(app, user)
    expect(await present(pending, freshCode(user))).toMatchObject(LOCKED)
    expect(await present(pending, user.backup_codes[0]!)).toMatchObject(LOCKED)
    expect(await present(pending, code(user), { headers: { 'idempotency-key': 'again' } })).toMatchObject(
      LOCKED,
    )
    const other = await createUserWithDevice(app)
    expect((await present(await pendingSession(app, other), freshCode(other))).status).toBe(200)
    app.advance(10 * MINUTE_MS)
    expect((await present(await pendingSession(app, user), user.backup_codes[0]!)).status).toBe(200)
  })

  it('are forgotten after a right one', async () => {
    const user = await createUserWithDevice(app)
    for (let round = 0; round < 2; round++) {
      const pending = await pendingSession(app, user)
      for (let tries = 0; tries < 9; tries++) expect(await present(pending, '000000')).toMatchObject(WRONG)
      expect((await present(pending, freshCode(user))).status).toBe(200)
    }
  })

  it('lock just as soon when they come all at once', async () => {
    const user = await createUserWithDevice(app)
    const pending = await pendingSession(app, user)
    const guesses = Array.from({ length: 100 }, (_, guess) => String(guess).padStart(6, '0'))
    const replies = await Promise.all(guesses.map((guess) => present(pending, guess)))
    expect(replies.filter((reply) => reply.body.code === '2fa_invalid')).toHaveLength(10)
    expect(await present(pending, freshCode(user))).toMatchObject(LOCKED)
  })
})

describe('the answer to a code sent with an Idempotency-Key', () => {
  it('is repeated to the same pending session only', async () => {
    const [user, thief] = [await createUserWithDevice(app), await createUserWithDevice(app)]
    const [pending, stolen] = [await pendingSession(app, user), await pendingSession(app, thief)]
    const token = freshCode(user)
    const headers = { 'idempotency-key': '1' }
    const opened = await present(pending, token, { headers })
    expect(opened.status).toBe(200)
    const repeat = await present(pending, token, { headers, may_show_secrets: true })
    expect([repeat.status, repeat.session]).toEqual([200, opened.session])
    for (const session of [stolen, 'nonsense']) {
      const reply = await present(session, token, { headers })
      expect(reply.status).toBeGreaterThanOrEqual(400)
      expect(reply.session).toBeUndefined()
    }
  })
})

describe('backup codes and switching off', () => {
  it('200 ten new backup codes; the old ones stop working', async () => {
    const user = await createUserWithDevice(app)
    const reply = await app.post('/api/users/@me/two_factor_backup_codes/', {}, { session: user.session })
    expect(reply.status).toBe(200)
    for (const backup of reply.body.backup_codes) app.canary.plant('backup code', backup)
    expect(await present(await pendingSession(app, user), user.backup_codes[0]!)).toMatchObject(WRONG)
    expect((await present(await pendingSession(app, user), reply.body.backup_codes[9])).status).toBe(200)
  })

  it('200 switched off: the password alone signs in again, and nothing of the device is kept', async () => {
    const user = await createUserWithDevice(app)
    expect(await app.post('/api/users/@me/two_factor_disable/', {}, { session: user.session })).toMatchObject(
      { status: 200, body: { success: true } },
    )
    expect((await login(app, user)).status).toBe(200)
    const left = await app.db.rows(sql`
      SELECT user_id FROM totp_device WHERE user_id = ${user.id} UNION ALL SELECT user_id FROM totp_setup WHERE user_id = ${user.id}
      UNION ALL SELECT user_id FROM backup_code WHERE user_id = ${user.id}`)
    expect(left).toEqual([])
  })

  it('400 without a device; 403 while the current organization demands one', async () => {
    const { organization, owner } = await createOrganization(app)
    for (const action of ['two_factor_disable', 'two_factor_backup_codes']) {
      const reply = await app.post(`/api/users/@me/${action}/`, {}, { session: owner.session })
      expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: null } })
    }
    await setUpDevice(app, owner)
    await app.db.run(sql`UPDATE organization SET enforce_2fa = true WHERE id = ${organization.id}`)
    const off = await app.post('/api/users/@me/two_factor_disable/', {}, { session: owner.session })
    expect(off).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
    expect((await me(owner.session)).body.is_2fa_enabled).toBe(true)
  })
})

describe('the secret at rest', () => {
  const NEXT_KEY = 'the secret key that takes its place'
  const sealedOf = async (user: { id: number }) =>
    (
      await app.db.only<{ sealed_secret: string }>(
        sql`SELECT sealed_secret FROM totp_device WHERE user_id = ${user.id}`,
      )
    ).sealed_secret

  it('is sealed, and bound to its user', async () => {
    const [user, other] = [await createUserWithDevice(app), await createUserWithDevice(app)]
    expect(await sealedOf(user)).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]+$/)
    expect(await sealedOf(user)).not.toContain(user.secret)
    await app.db.run(
      sql`UPDATE totp_device SET sealed_secret = ${await sealedOf(other)} WHERE user_id = ${user.id}`,
    )
    const reply = await present(await pendingSession(app, user), freshCode(other))
    expect(reply.status).toBe(500)
    await app.db.run(sql`DELETE FROM totp_device WHERE user_id = ${user.id}`)
  })

  it('moves to a new key, under which codes and backup codes go on working', async () => {
    const user = await createUserWithDevice(app)
    const before = await sealedOf(user)
    const { services } = app
    services.secrets = openSecrets(NEXT_KEY, SECRET_KEY)
    expect((await present(await pendingSession(app, user), freshCode(user))).status).toBe(200)
    expect((await present(await pendingSession(app, user), user.backup_codes[0]!)).status).toBe(200)

    await resealSecrets.handle(services, {}, services.now())
    const after = await sealedOf(user)
    expect(after).not.toBe(before)
    await resealSecrets.handle(services, {}, services.now())
    expect(await sealedOf(user)).toBe(after)
    services.secrets = openSecrets(NEXT_KEY, null)
    expect((await present(await pendingSession(app, user), freshCode(user))).status).toBe(200)
    services.secrets = openSecrets(SECRET_KEY, NEXT_KEY)
  })
})

describe('limits', () => {
  it('429 after ten codes a minute for a set-up', async () => {
    const limited = await startTestApp({ RATE_LIMITS: 'on' })
    const user = await createUser(limited)
    const post = () =>
      limited.post('/api/users/@me/validate_2fa/', { token: '000000' }, { session: user.session })
    for (let tries = 0; tries < 10; tries++) expect((await post()).status).toBe(400)
    expect((await post()).status).toBe(429)
    limited.advance(MINUTE_MS)
    expect((await post()).status).toBe(400)
    await limited.close()
  })
})
