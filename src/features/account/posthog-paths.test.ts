// Paths of PostHog's clients round an account: lists, settings, links by body, invites that wait, keys of members.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createKey,
  createMember,
  createOrganization,
  createServiceKey,
  createUser,
  type TestUser,
  type Workspace,
} from '../../../test/factories.ts'
import { startTestApp, type Call, type TestApp } from '../../../test/harness/app.ts'
import { startSmtpServer, type SmtpStandIn } from '../../../test/stand-ins/smtp.ts'
import { sql } from '../../platform/db/sql.ts'
import { codeOf } from '../two-factor/fixture/authenticator.ts'

const ME = '/api/users/@me/'
const HOUR_MS = 3_600_000

let smtp: SmtpStandIn
let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  smtp = await startSmtpServer()
  app = await startTestApp({ SMTP_URL: smtp.url })
  workspace = await createOrganization(app)
})
afterAll(async () => {
  await app.close()
  await smtp.close()
})

describe('GET /api/users/', () => {
  const emails = async (call: Call, query = '') =>
    (await app.get(`/api/users/${query}`, call)).body.results.map(({ email }: { email: string }) => email)

  it('200 with oneself; staff find everybody, in short', async () => {
    const [user, other] = [await createMember(app, workspace.organization), await createUser(app)]
    const staff = await createUser(app, { is_staff: true })
    const own = await app.get('/api/users/', { session: user.session })
    expect(own.body).toMatchObject({ count: 1, next: null, results: [{ email: user.email }] })
    expect(own.body.results[0]).toEqual((await app.get(ME, { session: user.session })).body)
    for (const [query, expected] of [
      [`?email=${user.email.toUpperCase()}`, [user.email]],
      [`?email=${other.email}`, []],
      ['?is_staff=true', []],
      ['?offset=1', []],
    ] as const) {
      expect(await emails({ key: user.key }, query)).toEqual(expected)
    }
    const all = await app.get('/api/users/?limit=2', { session: staff.session })
    expect(all.body.count).toBeGreaterThan(3)
    expect(all.body.results).toHaveLength(2)
    expect(all.body.results[0]).not.toHaveProperty('organizations')
    expect(await emails({ session: staff.session }, `?email=${other.email}`)).toEqual([other.email])
    expect(await emails({ session: staff.session }, '?is_staff=true')).toEqual([staff.email])
  })

  it('403 without user:read and for service keys; a limited key of staff finds its owner alone', async () => {
    const staff = await createMember(app, workspace.organization, { is_staff: true })
    const limited = { scopes: ['user:read'], scoped_teams: [workspace.project.id] }
    expect(await emails({ key: await createKey(app, staff, limited) })).toEqual([staff.email])
    const narrow = await createKey(app, staff, { scopes: ['query:read'] })
    const service = await createServiceKey(app, workspace.organization, { scopes: ['*'] })
    for (const key of [narrow, service]) expect((await app.get('/api/users/', { key })).status).toBe(403)
  })
})

describe('notification_settings', () => {
  const many = (count: number, value: () => unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}`.padStart(64, '0'), value()]))
  const change = (user: TestUser, notification_settings: object) =>
    app.patch(ME, { notification_settings }, { session: user.session })

  it('200 merged, key by key and id by id, over what holds unless told', async () => {
    const user = await createUser(app)
    const before = (await app.get(ME, { session: user.session })).body.notification_settings
    expect(before).toMatchObject({ plugin_disabled: true, all_weekly_digest_disabled: false })
    const digests = { project_weekly_digest_disabled: { '1': true } }
    await Promise.all([
      change(user, { plugin_disabled: false }),
      change(user, digests),
      change(user, { data_pipeline_error_threshold: 0.5 }),
      change(user, { realtime_notifications_disabled: { comment_mention: { '1': true } } }),
    ])
    await change(user, { project_weekly_digest_disabled: { '2': false } })
    const after = await change(user, { realtime_notifications_disabled: { comment_mention: { '2': true } } })
    expect(after.body.notification_settings).toEqual({
      ...before,
      plugin_disabled: false,
      data_pipeline_error_threshold: 0.5,
      project_weekly_digest_disabled: { '1': true, '2': false },
      realtime_notifications_disabled: { comment_mention: { '1': true, '2': true } },
    })
  })

  it.each([
    [{ nonsense: true }],
    [{ constructor: true }],
    [{ plugin_disabled: 'yes' }],
    [{ plugin_disabled: true, data_pipeline_error_threshold: 1.5 }],
    [{ project_weekly_digest_disabled: true }],
    [{ project_weekly_digest_disabled: { '1': 'yes' } }],
    [{ realtime_notifications_disabled: { comment_mention: true } }],
    [{ project_weekly_digest_disabled: { ['1'.repeat(65)]: true } }],
    [{ realtime_notifications_disabled: { ['x'.repeat(65)]: {} } }],
    [{ realtime_notifications_disabled: { comment_mention: { ['1'.repeat(65)]: true } } }],
    // 60 kinds of 50 ids each are few enough, but 200 KB together.
    [{ realtime_notifications_disabled: many(60, () => many(50, () => true)) }],
    [
      {
        pipeline_notifications_disabled: Object.fromEntries(
          Array.from({ length: 1001 }, (_, at) => [at, true]),
        ),
      },
    ],
  ])('400 for %j, and nothing is kept of it', async (sent) => {
    const user = await createUser(app)
    const refused = await change(user, sent)
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', attr: 'notification_settings' },
    })
    const row = await app.db.only(sql`SELECT notification_settings FROM app_user WHERE id = ${user.id}`)
    expect(row).toEqual({ notification_settings: {} })
  })
})

describe('addresses', () => {
  it('verify_email/ and request_email_verification/ take the user in the body', async () => {
    const user = await createUser(app, { is_email_verified: false })
    const ask = (body: object) => app.post('/api/users/request_email_verification/', body)
    expect(await ask({ uuid: user.uuid })).toMatchObject({ status: 200, body: { success: true } })
    expect(await ask({ uuid: 'nobody' })).toMatchObject({ status: 200, body: { success: true } })
    expect(await ask({})).toMatchObject({ status: 400, body: { code: 'required', attr: 'uuid' } })
    const { text } = await smtp.waitForMail(user.email)
    const token = new RegExp(`/verify_email/${user.uuid}/(\\S+)`).exec(text)![1]!
    const verify = (body: object) => app.post('/api/users/verify_email/', body)
    for (const body of [
      { uuid: user.uuid, token: 'nonsense' },
      { uuid: workspace.owner.uuid, token },
      { uuid: 'nobody', token },
    ]) {
      expect(await verify(body)).toMatchObject({
        status: 400,
        body: { code: 'invalid_token', attr: 'token' },
      })
    }
    const verified = await verify({ uuid: user.uuid, token })
    expect(verified).toMatchObject({ status: 200, body: { success: true, token } })
    expect(verified.session).toMatch(/\S/)
    app.canary.plant('session token', verified.session!)
    expect((await verify({ uuid: user.uuid, token })).status).toBe(400)
  })

  it('cancel_email_change_request/ gives a waiting address up, and its link opens nothing', async () => {
    const user = await createUser(app)
    const call = { session: user.session }
    const cancel = () => app.patch('/api/users/cancel_email_change_request/', {}, call)
    expect(await cancel()).toMatchObject({ status: 400, body: { code: 'email_change_request_not_found' } })
    const email = `new-${user.email}`
    expect((await app.patch(ME, { email }, call)).body.pending_email).toBe(email)
    const { text } = await smtp.waitForMail(email)
    const token = new RegExp(`/verify_email/${user.uuid}/(\\S+)`).exec(text)![1]!
    expect(await cancel()).toMatchObject({ status: 200, body: { email: user.email, pending_email: null } })
    const late = await app.post('/api/users/verify_email/', { uuid: user.uuid, token })
    expect(late.body.code).toBe('invalid_token')
    expect((await app.get(ME, call)).body.email).toBe(user.email)
  })
})

it('two_factor_start_setup/ and two_factor_validate/ set a second factor up', async () => {
  const user = await createUser(app)
  const call = { session: user.session }
  const early = await app.post(`${ME}two_factor_validate/`, { token: '000000' }, call)
  expect(early.body).toMatchObject({
    code: 'token_invalid',
    detail: expect.stringContaining('No set-up was begun'),
  })
  const { body } = await app.get(`${ME}two_factor_start_setup/`, call)
  app.canary.plant('TOTP secret', body.secret)
  const wrong = await app.post(`${ME}two_factor_validate/`, { token: '000000' }, call)
  expect(wrong.body.code).toBe('token_invalid')
  const done = await app.post(`${ME}two_factor_validate/`, { token: codeOf(app, body) }, call)
  expect(done).toMatchObject({ status: 200, body: { success: true } })
  for (const code of done.body.backup_codes) app.canary.plant('backup code', code)
  expect((await app.get(ME, call)).body.is_2fa_enabled).toBe(true)
})

describe('GET /api/users/@me/pending_invites/', () => {
  const pending = async (user: TestUser) =>
    (await app.get(`${ME}pending_invites/`, { session: user.session })).body

  it('200 with what waits for the own address, without anything that opens it', async () => {
    const user = await createUser(app)
    const path = `/api/organizations/${workspace.organization.id}/invites/`
    const by = { session: workspace.owner.session }
    const made = await app.post(path, { target_email: user.email.toUpperCase(), level: 8 }, by)
    await app.post(path, { target_email: 'somebody-else@example.com' }, by)
    expect(await pending(user)).toEqual([
      {
        id: made.body.id,
        target_email: expect.any(String),
        organization_id: workspace.organization.id,
        organization_name: workspace.organization.name,
        created_at: made.body.created_at,
      },
    ])
    const unproved = await createUser(app, { email: `x-${user.email}`, is_email_verified: false })
    await app.post(path, { target_email: unproved.email }, by)
    expect(await pending(unproved)).toEqual([])
    expect((await app.get(`/api/users/${user.uuid}/pending_invites/`, by)).status).toBe(403)
    app.advance(73 * HOUR_MS)
    expect(await pending(user)).toEqual([])
  })
})

describe('GET members/:user__uuid/scoped_api_keys/', () => {
  it('200 with labels and last use of the keys that open the organization; 403 for other members', async () => {
    const other = await createOrganization(app)
    const user = await createMember(app, workspace.organization)
    const admin = await createMember(app, workspace.organization, { level: 'admin' })
    await app.db.run(
      sql`UPDATE api_key SET label = 'everywhere', last_used_at = NULL WHERE user_id = ${user.id}`,
    )
    app.advance(1000)
    await createKey(app, user, { scopes: ['*'], label: 'project', scoped_teams: [workspace.project.id] })
    await createKey(app, user, {
      scopes: ['*'],
      label: 'elsewhere',
      scoped_organizations: [other.organization.id],
    })
    const path = (who: string) =>
      `/api/organizations/${workspace.organization.id}/members/${who}/scoped_api_keys/`
    const asked = await app.get(path(user.uuid), { session: admin.session })
    expect(asked).toMatchObject({
      status: 200,
      body: {
        has_keys: true,
        has_keys_active_last_week: false,
        keys: [
          { name: 'project', last_used_at: null },
          { name: 'everywhere', last_used_at: null },
        ],
      },
    })
    await app.get(ME, { key: user.key })
    const own = await app.get(path('@me'), { session: user.session })
    expect(own.body.has_keys_active_last_week).toBe(true)
    expect((await app.get(path(admin.uuid), { session: user.session })).status).toBe(403)
    expect((await app.get(path(other.owner.uuid), { session: admin.session })).status).toBe(404)
    expect((await app.get(path(user.uuid), { session: other.owner.session })).status).toBe(403)
  })
})

it('GET /api/projects/:id/activity/ pages through changes of the project itself', async () => {
  const { project, owner } = await createOrganization(app)
  for (const name of ['A', 'B', 'C'])
    await app.patch(`/api/projects/${project.id}/`, { name }, { key: owner.key })
  const first = await app.get(`/api/projects/${project.id}/activity/?limit=2`, { key: owner.key })
  expect(first.body).toMatchObject({
    total_count: 4,
    previous: null,
    results: [{ detail: { name: 'C' } }, { detail: { name: 'B' } }],
  })
  const next = await app.get(first.body.next.replace(/^https?:\/\/[^/]+/, ''), { key: owner.key })
  expect(next.body).toMatchObject({ next: null, results: [{ activity: 'updated' }, { activity: 'created' }] })
  const stranger = await app.get(`/api/projects/${project.id}/activity/`, { key: workspace.owner.key })
  expect(stranger.status).toBe(404)
  const narrow = await createKey(app, owner, { scopes: ['project:read'] })
  expect((await app.get(`/api/projects/${project.id}/activity/`, { key: narrow })).status).toBe(403)
})
