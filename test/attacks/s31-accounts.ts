// Taking an account over: with a key that is limited, with a session that is old, and with a sign-in that was under way
// while the password changed.
import { expect } from 'vitest'
import { sql } from '../../src/platform/db/sql.ts'
import { createKey, createMember, type TestUser } from '../factories.ts'
import { attack, attackEach, type Attack } from './attack.ts'
import type { Scene } from './scene.ts'

const maker = ({ target, canary }: Scene) => ({ db: target.db, canary, services: { now: () => new Date() } })
const newMember = (scene: Scene) => createMember(maker(scene), scene.home.organization)
const ME = '/api/users/@me/'
const NEW_PASSWORD = 'another-long-enough-password-8812'

/** Everything that changes how somebody signs in. */
const CHANGES: [string, (user: TestUser) => [method: string, path: string, body?: object]][] = [
  ['the address', () => ['PATCH', ME, { email: 'mallory@example.com' }]],
  ['the password', ({ password }) => ['PATCH', ME, { current_password: password, password: NEW_PASSWORD }]],
  ['the start of a second factor', () => ['GET', `${ME}start_2fa_setup/`]],
  ['the second factor', () => ['POST', `${ME}validate_2fa/`, { token: '000000' }]],
  ['backup codes', () => ['POST', `${ME}two_factor_backup_codes/`, {}]],
  ['the end of the second factor', () => ['POST', `${ME}two_factor_disable/`, {}]],
  ['a new key', () => ['POST', '/api/personal_api_keys/', { label: 'mine', scopes: ['*'] }]],
]

async function assertUnchanged({ call, target }: Scene, user: TestUser): Promise<void> {
  const [row] = await target.db.rows<{ email: string; pending_email: string | null; keys: number }>(sql`
    SELECT email, pending_email, (SELECT count(*)::int FROM api_key WHERE user_id = app_user.id) AS keys
    FROM app_user WHERE id = ${user.id}`)
  expect(row).toMatchObject({ email: user.email, pending_email: null })
  const login = await call('POST', '/api/login/', { body: { email: user.email, password: user.password } })
  expect(login.status).toBe(200)
}

const limitedKeys = attackEach<Scene, (typeof CHANGES)[number]>(
  'S31',
  CHANGES,
  ([what]) => `${what}, with keys that are limited by project, organization or scope`,
  async (scene, [, change]) => {
    const user = await newMember(scene)
    const [method, path, body] = change(user)
    for (const limits of [
      { scopes: ['*'], scoped_teams: [scene.home.project.id] },
      { scopes: ['*'], scoped_organizations: [scene.home.organization.id] },
      { scopes: ['user:write', 'user:read'] },
    ]) {
      const key = await createKey(maker(scene), user, limits)
      expect((await scene.call(method, path, { key, ...(body ? { body } : {}) })).status).toBe(403)
    }
    await assertUnchanged(scene, user)
  },
)

const oldSessions = attackEach<Scene, (typeof CHANGES)[number]>(
  'S31',
  CHANGES,
  ([what]) => `${what}, with a session of sixteen minutes ago`,
  async (scene, [, change]) => {
    const user = await newMember(scene)
    await scene.target.db.run(sql`
      UPDATE session SET confirmed_at = now() - interval '16 minutes' WHERE user_id = ${user.id}`)
    const [method, path, body] = change(user)
    const { session } = user
    const reply = await scene.call(method, path, { session, ...(body ? { body } : {}) })
    expect(reply).toMatchObject({ status: 403, body: { code: 'recent_sign_in_required' } })
    expect((await scene.call('PATCH', ME, { session, body: { first_name: 'Ann' } })).status).toBe(200)
    await assertUnchanged(scene, user)
  },
)

const AGED: [string, string][] = [
  ['that has expired', `expires_at = now() - interval '1 second'`],
  ['that waits for its second factor', 'is_pending = true'],
  ['of a hash as it is stored', ''],
]

const aged = attackEach<Scene, (typeof AGED)[number]>(
  'S31',
  AGED,
  ([what]) => `a session ${what}`,
  async (scene, [, change]) => {
    const { call, target } = scene
    const user = await newMember(scene)
    expect((await call('GET', ME, { session: user.session })).status).toBe(200)
    const { token_hash } = await target.db.only<{ token_hash: string }>(sql`
      SELECT token_hash FROM session WHERE user_id = ${user.id}`)
    if (change) await target.db.pool.query(`UPDATE session SET ${change} WHERE user_id = ${user.id}`)
    const session = change ? user.session : token_hash
    expect((await call('GET', ME, { session })).status).toBe(401)
    await assertUnchanged(scene, user)
  },
)

/** Sign-ins wait before they store their session, until the lock is given back. */
const HOLD = `
  CREATE FUNCTION hold_session() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_advisory_xact_lock_shared(4711); RETURN NEW; END';
  CREATE TRIGGER hold BEFORE INSERT ON session FOR EACH ROW EXECUTE FUNCTION hold_session()`
const LET_GO = 'DROP TRIGGER hold ON session; DROP FUNCTION hold_session'

const WAITING = `
  SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`

const inFlight = attack<Scene>(
  'S31',
  'a sign-in under way while a reset of the password ends',
  async (scene) => {
    const { call, smtp, target } = scene
    const user = await newMember(scene)
    expect((await call('POST', '/api/reset/', { body: { email: user.email } })).status).toBe(204)
    const mail = await smtp.waitForMail(user.email)
    const [, token] = /reset\/[^/]+\/([\w-]+)/.exec(mail.text ?? '')!
    const { pool } = target.db
    const holder = await pool.connect()
    const waiting = async () => (await pool.query(WAITING)).rowCount ?? 0
    let reset: Awaited<ReturnType<typeof call>> | undefined
    await pool.query(HOLD)
    try {
      await holder.query('SELECT pg_advisory_lock(4711)')
      const signingIn = call('POST', '/api/login/', { body: { email: user.email, password: user.password } })
      await expect.poll(waiting).toBe(1)
      const resetting = call('POST', `/api/reset/${user.uuid}/`, { body: { token, password: NEW_PASSWORD } })
      void resetting.then((reply) => (reset = reply))
      // The reset ends before the sign-in, or waits for it.
      await expect.poll(async () => reset !== undefined || (await waiting()) === 2).toBe(true)
      await holder.query('SELECT pg_advisory_unlock(4711)')
      const signedIn = await signingIn
      expect((await resetting).status).toBe(204)
      expect((await call('GET', ME, { session: signedIn.session ?? 'none' })).status).toBe(401)
    } finally {
      holder.release(true)
      await pool.query(LET_GO)
    }
    const login = (password: string) => call('POST', '/api/login/', { body: { email: user.email, password } })
    expect((await login(user.password)).status).toBe(400)
    expect((await login(NEW_PASSWORD)).status).toBe(200)
  },
)

const takenOver = attack<Scene>(
  'S31',
  'a changed address: the old one hears of it, and undoes it',
  async (scene) => {
    const { call, smtp } = scene
    const user = await newMember(scene)
    const email = 'taken-over@example.com'
    const reply = await call('PATCH', ME, { session: user.session, body: { email } })
    expect(reply).toMatchObject({ status: 200, body: { email: user.email, pending_email: email } })
    const mail = await smtp.waitForMail(email)
    const [, token] = /verify_email\/[^/]+\/([\w-]+)/.exec(mail.text ?? '')!
    const path = `/api/users/${user.uuid}/`
    expect((await call('POST', `${path}verify_email/`, { body: { token } })).status).toBe(200)
    const notice = await smtp.waitForMail(user.email)
    const undo = /undo[^/]*\/[^/]+\/([\w.-]+)/.exec(notice.text ?? '')?.[1]
    expect((await call('POST', `${path}undo_email_change/`, { body: { token: undo } })).status).toBe(200)
    // Whoever changed it knew the password: that is void as well, and their session has ended.
    expect((await call('GET', ME, { session: user.session })).status).toBe(401)
    expect((await call('GET', ME, { key: scene.home.owner.key })).status).toBe(200)
    const [row] = await scene.target.db.rows(
      sql`SELECT email, pending_email FROM app_user WHERE id = ${user.id}`,
    )
    expect(row).toEqual({ email: user.email, pending_email: null })
  },
)

export const attacks: Attack<Scene>[] = [...limitedKeys, ...oldSessions, ...aged, inFlight, takenOver]
