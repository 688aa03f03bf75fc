// Every route that changes how somebody signs in, against every kind of caller. A new one fails here until it says how it
// is called.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createKey,
  createMember,
  createOrganization,
  createServiceKey,
  type TestUser,
  type Workspace,
} from '../../../test/factories.ts'
import { startTestApp, type Call, type TestApp } from '../../../test/harness/app.ts'
import { hashTables } from '../../../test/harness/tables.ts'
import { routes } from '../../app/http.ts'
import { sql } from '../../platform/db/sql.ts'
import { SCOPE_OBJECTS } from '../../platform/http/scopes.ts'
import type { SessionCookie } from '../../platform/http/route.ts'
import { insertIdentity } from '../identities/queries.ts'
import { closeOtherSessions, openSession, openSessionByLink } from '../sign-in/sessions.ts'
import { codeOf, freshCodeOf, setUpDevice } from '../two-factor/fixture/authenticator.ts'
import { lockUser } from '../users/queries.ts'
import { AccountUpdate } from './schema.ts'

const MINUTE_MS = 60_000
const NEW_PASSWORD = 'x9$Kq2!vZ of one’s own choice'

let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  app = await startTestApp()
  app.canary.plant('password', NEW_PASSWORD)
  workspace = await createOrganization(app)
})
afterAll(() => app.close())

const GOOGLE = {
  provider: 'google-oauth2' as const,
  issuer: 'https://accounts.google.com',
  email: null,
  is_email_vouched: false,
  first_name: '',
  last_name: '',
  domain_id: null,
}

type Request = { method: string; path: string; body?: object }

/** What changes an account by PATCH; the value is one that would be taken. */
const FIELDS: Record<string, (user: TestUser) => object> = {
  email: (user) => ({ email: `moved-${user.email}` }),
  password: (user) => ({ password: NEW_PASSWORD, current_password: user.password }),
  current_password: (user) => ({ current_password: user.password }),
  delete_personal_api_keys: () => ({ delete_personal_api_keys: true }),
  is_staff: () => ({ is_staff: true }),
  is_active: () => ({ is_active: true }),
}
const HARMLESS: Record<string, unknown> = {
  first_name: 'New',
  last_name: 'Name',
  hedgehog_config: {},
  notification_settings: {},
  anonymize_data: true,
  role_at_organization: 'founder',
  set_current_organization: '@home',
  set_current_team: '@home',
}

function setUp(start: string, validate: string): Record<string, (user: TestUser) => Promise<Request>> {
  const path = (name: string) => `/api/users/@me/${name}/`
  return {
    [`GET /api/users/:uuid/${start}/`]: async () => ({ method: 'GET', path: path(start) }),
    [`POST /api/users/:uuid/${validate}/`]: async ({ session }) => {
      const { secret } = (await app.get(path(start), { session })).body
      return { method: 'POST', path: path(validate), body: { token: codeOf(app, { secret }) } }
    },
  }
}

const REQUESTS: Record<string, (user: TestUser) => Promise<Request>> = {
  ...Object.fromEntries(
    Object.entries(FIELDS).map(([field, body]) => [
      `PATCH /api/users/:uuid/ ${field}`,
      async (user: TestUser) => ({ method: 'PATCH', path: '/api/users/@me/', body: body(user) }),
    ]),
  ),
  'DELETE /api/users/:uuid/identities/:id/': async (user) => {
    const { id } = await insertIdentity(
      app.db,
      user.id,
      { ...GOOGLE, subject: user.uuid },
      app.services.now(),
    )
    return { method: 'DELETE', path: `/api/users/@me/identities/${id}/` }
  },
  'PATCH /api/users/cancel_email_change_request/': async (user) => {
    await app.db.run(sql`UPDATE app_user SET pending_email = 'new@example.com' WHERE id = ${user.id}`)
    return { method: 'PATCH', path: '/api/users/cancel_email_change_request/' }
  },
  'DELETE /api/users/:uuid/': async () => ({ method: 'DELETE', path: '/api/users/@me/' }),
  ...setUp('start_2fa_setup', 'validate_2fa'),
  ...setUp('two_factor_start_setup', 'two_factor_validate'),
  'POST /api/users/:uuid/two_factor_backup_codes/': async () => ({
    method: 'POST',
    path: '/api/users/@me/two_factor_backup_codes/',
  }),
  'POST /api/users/:uuid/two_factor_disable/': async () => ({
    method: 'POST',
    path: '/api/users/@me/two_factor_disable/',
  }),
  'POST /api/personal_api_keys/': async () => ({
    method: 'POST',
    path: '/api/personal_api_keys/',
    body: { label: 'made', scopes: ['*'] },
  }),
  'PATCH /api/personal_api_keys/:id/': async (user) => ({
    method: 'PATCH',
    path: `/api/personal_api_keys/${await idOfKey(user)}/`,
    body: { scopes: ['*'] },
  }),
  'POST /api/personal_api_keys/:id/roll/': async (user) => ({
    method: 'POST',
    path: `/api/personal_api_keys/${await idOfKey(user)}/roll/`,
  }),
  'DELETE /api/personal_api_keys/:id/': async (user) => ({
    method: 'DELETE',
    path: `/api/personal_api_keys/${await idOfKey(user)}/`,
  }),
}

const idOfKey = async ({ key }: TestUser): Promise<string> =>
  (await app.get('/api/personal_api_keys/@current/', { key })).body.id

const send = async (request: Request, as: Call) => {
  const { method, path, body } = request
  const reply = await app.call(method, path, { ...as, ...(body ? { body } : {}), may_show_secrets: true })
  return [reply.status, reply.body?.code]
}

/** Staff, lest is_staff be refused for another reason. */
const makeUser = () => createMember(app, workspace.organization, { is_staff: true })

/** Keys with every right but the one that is missing, and sessions that are not recent. */
async function notGoodEnough(user: TestUser): Promise<[string, string, Call][]> {
  const { organization, project } = workspace
  const key = async (fields: object) => ({ key: await createKey(app, user, { scopes: ['*'], ...fields }) })
  const narrow = SCOPE_OBJECTS.flatMap((object) => [`${object}:read`, `${object}:write`])
  const session = (cookie: SessionCookie) => ({ session: app.canary.plant('session token', cookie!.token) })
  const now = app.services.now()
  const earlier = new Date(now.getTime() - 15 * MINUTE_MS - 1000)
  return [
    ['a key limited to a project', 'permission_denied', await key({ scoped_teams: [project.id] })],
    [
      'a key limited to an organization',
      'permission_denied',
      await key({ scoped_organizations: [organization.id] }),
    ],
    ['a key with every scope but `*`', 'permission_denied', await key({ scopes: narrow })],
    [
      'a service key',
      'permission_denied',
      { key: await createServiceKey(app, organization, { scopes: ['*'] }) },
    ],
    [
      'a session of 15 minutes ago',
      'recent_sign_in_required',
      session(await openSession(app.db, user.id, true, earlier)),
    ],
    [
      'a session that nobody confirmed',
      'recent_sign_in_required',
      session(await openSessionByLink(app.db, user.id, now)),
    ],
  ]
}

const byPatch = (name: string) => name.startsWith('PATCH /api/users/')

it('knows every sensitive route, and every field that makes one so', () => {
  const declared = routes.flatMap(({ method, path, changes_account: change }) => {
    if (!change) return []
    if (change === true) return [`${method} ${path}`]
    const fields = Object.keys(AccountUpdate.shape).filter((field) => !change.unless_only.includes(field))
    return fields.map((field) => `${method} ${path} ${field}`)
  })
  expect(Object.keys(REQUESTS).toSorted()).toEqual(declared.toSorted())
  expect(Object.keys({ ...FIELDS, ...HARMLESS }).toSorted()).toEqual(
    Object.keys(AccountUpdate.shape).toSorted(),
  )
})

it('403 to whoever could gain by it, and nothing is written', async () => {
  const user = await makeUser()
  const requests = await Promise.all(Object.values(REQUESTS).map((make) => make(user)))
  const callers = await notGoodEnough(user)
  const before = await hashTables(app.db)
  for (const request of requests) {
    for (const [who, code, as] of callers) {
      expect([who, request, ...(await send(request, as))]).toEqual([who, request, 403, code])
    }
  }
  expect(await hashTables(app.db)).toEqual(before)
})

describe.each(Object.keys(REQUESTS))('%s', (name) => {
  it('is done by a session that was confirmed 14 minutes ago', async () => {
    const user = await makeUser()
    const device = /backup_codes|disable/.test(name) ? await setUpDevice(app, user) : null
    const as = { session: user.session }
    app.advance(15 * MINUTE_MS + 1000)
    const token = device ? { token: freshCodeOf(app, device) } : {}
    const confirmed = await app.post('/api/login/confirm/', { password: user.password, ...token }, as)
    expect(confirmed.status).toBe(200)
    app.advance(14 * MINUTE_MS)
    expect((await send(await REQUESTS[name]!(user), as))[0]).toBeLessThan(300)
  })

  it(`${byPatch(name) ? 'is done' : '403'} by an unlimited key with the scope \`*\``, async () => {
    const user = await makeUser()
    const [status] = await send(await REQUESTS[name]!(user), { key: user.key })
    expect(status).toBe(byPatch(name) ? 200 : 403)
  })
})

describe('what is harmless', () => {
  it('is changed by limited and narrow keys and old sessions as before', async () => {
    const user = await createMember(app, workspace.organization)
    const key = await createKey(app, user, {
      scopes: ['user:write'],
      scoped_teams: [workspace.project.id],
    })
    app.advance(3 * 60 * MINUTE_MS)
    const home = {
      set_current_organization: workspace.organization.id,
      set_current_team: workspace.project.id,
    }
    for (const as of [{ key }, { session: user.session }]) {
      for (const [field, value] of Object.entries({ ...HARMLESS, ...home })) {
        const body = { [field]: value, unknown: 1, uuid: 'read-only' }
        expect([field, (await app.patch('/api/users/@me/', body, as)).status]).toEqual([field, 200])
      }
      expect((await app.patch('/api/users/@me/', {}, as)).status).toBe(200)
    }
  })

  it('is changed all or nothing: one sensitive field among harmless ones refuses all of them', async () => {
    const user = await createMember(app, workspace.organization)
    const key = await createKey(app, user, { scopes: ['*'], scoped_teams: [workspace.project.id] })
    const body = { first_name: 'Taken', email: 'attacker@example.com' }
    expect((await app.patch('/api/users/@me/', body, { key })).status).toBe(403)
    const account = await app.get('/api/users/@me/', { session: user.session })
    expect(account.body).toMatchObject({ first_name: 'Test', email: user.email, pending_email: null })
  })

  it('403 for the account of somebody else with a limited key, whoever made it', async () => {
    const staff = await createMember(app, workspace.organization, { is_staff: true })
    const other = await createMember(app, workspace.organization)
    const key = await createKey(app, staff, { scopes: ['*'], scoped_teams: [workspace.project.id] })
    expect((await app.get(`/api/users/${other.uuid}/`, { key })).status).toBe(403)
    expect((await app.patch(`/api/users/${other.uuid}/`, { first_name: 'X' }, { key })).status).toBe(403)
    expect((await app.get(`/api/users/${other.uuid}/`, { key: staff.key })).status).toBe(200)
  })
})

describe('a session that is ended while its request is under way', () => {
  it('401, and nothing is written', async () => {
    const user = await makeUser()
    const request = { method: 'POST', path: '/api/personal_api_keys/', body: { label: 'x', scopes: ['*'] } }
    const waiting = async () =>
      (
        await app.db.rows(sql`SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FROM app_user%FOR UPDATE%'`)
      ).length
    const answer = await app.db.transaction(async (tx) => {
      await lockUser(tx, user.id)
      await closeOtherSessions(tx, user.id, null)
      const sent = send(request, { session: user.session })
      await expect.poll(waiting).toBe(1)
      return { sent }
    })
    expect(await answer.sent).toEqual([401, 'not_authenticated'])
    expect(await countKeys(user)).toBe(1)
  })
})

const countKeys = async (user: TestUser) =>
  (await app.db.rows(sql`SELECT FROM api_key WHERE user_id = ${user.id}`)).length
