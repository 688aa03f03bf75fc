import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createKey,
  createMember,
  createOrganization,
  createServiceKey,
  type TestUser,
  type Workspace,
} from '../../../test/factories.ts'
import { startTestApp, type Call, type Reply, type TestApp } from '../../../test/harness/app.ts'
import { hashTables } from '../../../test/harness/tables.ts'
import { insertMembership } from '../../features/members/queries.ts'
import { openSession } from '../../features/sign-in/sessions.ts'

// conventions.md §1, check by check: each request fails several checks at once, and the earliest must win.

const NO_ID = '00000000-0000-7000-8000-000000000000'
const GARBAGE = 'phx_0000000000000000000000000000000000000000000'

let app: TestApp
let home: Workspace
let foreign: Workspace
let member: TestUser
let before: Record<string, string>
beforeAll(async () => {
  app = await startTestApp()
  home = await createOrganization(app)
  foreign = await createOrganization(app)
  member = await createMember(app, home.organization)
  keys = {
    readOnly: await createKey(app, home.owner, { scopes: ['organization:read', 'project:read'] }),
    elsewhere: await createKey(app, home.owner, {
      scopes: ['*'],
      scoped_organizations: [foreign.organization.id],
    }),
    elsewhereWithoutScope: await createKey(app, home.owner, {
      scopes: ['plugin:read'],
      scoped_organizations: [foreign.organization.id],
    }),
    otherProject: await createKey(app, home.owner, { scopes: ['*'], scoped_teams: [foreign.project.id] }),
    service: await createServiceKey(app, foreign.organization, { scopes: ['*'] }),
  }
  before = await hashTables(app.db)
})
afterAll(async () => {
  expect(await hashTables(app.db)).toEqual(before)
  await app.close()
})

let keys: Record<'readOnly' | 'elsewhere' | 'elsewhereWithoutScope' | 'otherProject' | 'service', string>

const summary = (reply: Reply) => [reply.status, reply.body?.code]
const send = async (method: string, url: string, call?: Call) => summary(await app.call(method, url, call))
const own = () => `/api/organizations/${home.organization.id}/`
const domains = () => `${own()}domains/`
const project = () => `/api/projects/${home.project.id}/`

describe('1. an unknown path is 404 before anything else', () => {
  it.each([
    '/api/',
    '/api/nothing/',
    '/api/organizations/x/y/z/',
    '/api/organizations/x/nothing/',
    '/nothing',
    '/API/organizations/',
  ])('%s', async (url) => {
    expect(await send('GET', url)).toEqual([404, 'not_found'])
    expect(
      await send('POST', url, { key: GARBAGE, body: '{', headers: { 'content-type': 'text/csv' } }),
    ).toEqual([404, 'not_found'])
    expect(await send('PROPFIND', url)).toEqual([404, 'not_found'])
  })

  it('the trailing slash is optional on every path', async () => {
    for (const url of [
      '/api/organizations',
      own().slice(0, -1),
      domains().slice(0, -1),
      project().slice(0, -1),
      '/api/users/@me',
    ]) {
      expect((await app.get(url, { key: home.owner.key })).status).toBe(200)
      expect((await app.get(`${url}/`, { key: home.owner.key })).status).toBe(200)
      expect((await app.get(`${url}?limit=1`, { key: home.owner.key })).status).toBe(200)
    }
  })
})

describe('2. credentials come before the method, the thing and the body', () => {
  const requests: [string, () => string][] = [
    ['GET', own],
    ['PUT', own],
    ['PROPFIND', own],
    ['GET', () => `/api/organizations/${NO_ID}/`],
    ['GET', () => '/api/organizations/nonsense/'],
    ['POST', domains],
    ['POST', () => `/api/organizations/${NO_ID}/domains/`],
    ['DELETE', project],
    ['POST', () => '/api/personal_api_keys/'],
    ['GET', () => '/api/users/@me/'],
  ]

  it.each(requests)('%s without any is 401 not_authenticated', async (method, url) => {
    const reply = await app.call(method, url(), { body: '{', headers: { 'content-type': 'text/csv' } })
    expect(summary(reply)).toEqual([401, 'not_authenticated'])
    expect(reply.body).toMatchObject({ type: 'authentication_error', attr: null })
    expect(reply.headers['www-authenticate']).toBe('Bearer')
  })

  it.each(requests)(
    '%s with a wrong key is 401 authentication_failed, whatever the cookie',
    async (method, url) => {
      const reply = await app.call(method, url(), { key: GARBAGE, session: home.owner.session })
      expect(summary(reply)).toEqual([401, 'authentication_failed'])
      expect(reply.headers['www-authenticate']).toBe('Bearer')
    },
  )

  it('a cookie that counts no longer is no credential', async () => {
    expect(await send('GET', own(), { session: 'x'.repeat(43) })).toEqual([401, 'not_authenticated'])
  })

  it('a wrong key is refused where nobody need sign in, too', async () => {
    expect(await send('POST', '/api/login/', { key: GARBAGE, body: {} })).toEqual([
      401,
      'authentication_failed',
    ])
  })
})

describe('3. the method comes before scope, limits, membership and body', () => {
  it.each([
    ['PUT', () => own(), 'GET, HEAD, PATCH, DELETE'],
    ['OPTIONS', () => own(), 'GET, HEAD, PATCH, DELETE'],
    ['PROPFIND', () => own(), 'GET, HEAD, PATCH, DELETE'],
    ['TRACE', () => own(), 'GET, HEAD, PATCH, DELETE'],
    ['DELETE', () => '/api/organizations/', 'GET, HEAD, POST'],
    ['PATCH', () => domains(), 'GET, HEAD, POST'],
    ['GET', () => `${domains()}${NO_ID}/verify/`, 'POST'],
    ['HEAD', () => `${domains()}${NO_ID}/verify/`, 'POST'],
    ['PUT', () => `/api/organizations/${NO_ID}/domains/`, 'GET, HEAD, POST'],
    ['GET', () => '/api/logout/', 'POST'],
  ])('%s is 405 with what is allowed', async (method, url, allow) => {
    for (const key of [
      keys.readOnly,
      keys.elsewhere,
      keys.elsewhereWithoutScope,
      keys.otherProject,
      keys.service,
    ]) {
      const reply = await app.call(method, url(), { key, headers: { 'content-type': 'text/csv' } })
      expect(reply.status).toBe(405)
      expect(reply.headers.allow).toBe(allow)
      if (method !== 'HEAD')
        expect(reply.body).toMatchObject({ type: 'invalid_request', code: 'method_not_allowed', attr: null })
    }
  })

  it('on a path that is open to anyone it needs no credentials', async () => {
    const reply = await app.get('/api/login/')
    expect(summary(reply)).toEqual([405, 'method_not_allowed'])
    expect(reply.headers.allow).toBe('POST')
  })
})

describe('4. the scope comes before limits, existence, level and body', () => {
  it('a key without the scope is refused by name', async () => {
    const key = keys.elsewhereWithoutScope
    for (const url of [
      own(),
      domains(),
      `/api/organizations/${NO_ID}/`,
      `/api/organizations/${NO_ID}/domains/`,
    ]) {
      const reply = await app.get(url, { key })
      expect(summary(reply)).toEqual([403, 'permission_denied'])
      expect(reply.body.detail).toContain('`organization:read`')
      expect(reply.body).toMatchObject({ type: 'authentication_error', attr: null })
    }
  })

  it('reading does not include writing', async () => {
    const reply = await app.post(domains(), '{', { key: keys.readOnly })
    expect(summary(reply)).toEqual([403, 'permission_denied'])
    expect(reply.body.detail).toContain('`organization:write`')
  })

  it('a key is refused where only a session will do, before the thing is looked for', async () => {
    for (const id of [NO_ID, 'nonsense']) {
      expect(await send('DELETE', `/api/personal_api_keys/${id}/`, { key: home.owner.key })).toEqual([
        403,
        'permission_denied',
      ])
    }
  })
})

describe("5. the key's limits come before existence", () => {
  it('limited to other organizations: 404 on the organization itself, 403 below it, there or not', async () => {
    for (const id of [home.organization.id, NO_ID, 'nonsense']) {
      expect(await send('GET', `/api/organizations/${id}/`, { key: keys.elsewhere })).toEqual([
        404,
        'not_found',
      ])
      expect(await send('GET', `/api/organizations/${id}/domains/`, { key: keys.elsewhere })).toEqual([
        403,
        'permission_denied',
      ])
    }
  })

  it('limited to projects: 403 on everything above them, there or not', async () => {
    const key = keys.otherProject
    for (const id of [home.organization.id, foreign.organization.id, NO_ID, 'nonsense', '@current']) {
      expect(await send('GET', `/api/organizations/${id}/`, { key })).toEqual([403, 'permission_denied'])
      expect(await send('GET', `/api/organizations/${id}/members/`, { key })).toEqual([
        403,
        'permission_denied',
      ])
    }
    expect(await send('GET', '/api/organizations/', { key })).toEqual([403, 'permission_denied'])
    expect(await send('GET', '/api/projects/', { key })).toEqual([403, 'permission_denied'])
  })

  it('limited to other projects: 403, there or not', async () => {
    const key = keys.otherProject
    for (const id of [home.project.id, 2_000_000_000]) {
      expect(await send('GET', `/api/projects/${id}/`, { key })).toEqual([403, 'permission_denied'])
      expect(await send('GET', `/api/projects/${id}/activity_log/`, { key })).toEqual([
        403,
        'permission_denied',
      ])
      for (const organization of [home.organization.id, NO_ID]) {
        expect(await send('GET', `/api/organizations/${organization}/projects/${id}/`, { key })).toEqual([
          403,
          'permission_denied',
        ])
      }
    }
  })
})

describe('6. existence and membership come before level and body', () => {
  const bad = { body: '{', headers: { 'content-type': 'text/csv' } }

  it('an organization of its own path: 404 for strangers, unknown and malformed ids', async () => {
    for (const id of [
      foreign.organization.id,
      NO_ID,
      'nonsense',
      '%00',
      '%FF',
      'x'.repeat(999),
      'x'.repeat(5000),
    ]) {
      expect(await send('PATCH', `/api/organizations/${id}/`, { key: member.key, ...bad })).toEqual([
        404,
        'not_found',
      ])
    }
  })

  it('below an organization: 403 for strangers, 404 for unknown and malformed ids', async () => {
    const create = (id: string) =>
      send('POST', `/api/organizations/${id}/domains/`, { key: member.key, ...bad })
    expect(await create(foreign.organization.id)).toEqual([403, 'permission_denied'])
    for (const id of [NO_ID, 'nonsense', '1']) expect(await create(id)).toEqual([404, 'not_found'])
  })

  it("another organization's service key is a stranger too", async () => {
    expect(await send('PATCH', own(), { key: keys.service, ...bad })).toEqual([404, 'not_found'])
    expect(await send('POST', domains(), { key: keys.service, ...bad })).toEqual([403, 'permission_denied'])
  })

  it('a project of its own path: 404 for strangers, unknown and malformed ids', async () => {
    for (const id of [
      foreign.project.id,
      2_000_000_000,
      99_999_999_999,
      'nonsense',
      '-1',
      '1.5',
      '1e3',
      '%00',
    ]) {
      expect(await send('DELETE', `/api/projects/${id}/`, { key: member.key })).toEqual([404, 'not_found'])
    }
  })

  it('below a project: 403 for strangers, 404 for unknown and malformed ids', async () => {
    const read = (id: string | number) =>
      send('GET', `/api/projects/${id}/activity_log/`, { key: member.key })
    expect(await read(foreign.project.id)).toEqual([403, 'permission_denied'])
    for (const id of [2_000_000_000, 99_999_999_999, 'nonsense', '-1'])
      expect(await read(id)).toEqual([404, 'not_found'])
  })

  it("a project below another organization's path is not there, even for whoever belongs to both", async () => {
    const both = await createMember(app, home.organization, { level: 'owner' })
    await insertMembership(app.db, foreign.organization.id, both.id, 15, app.services.now())
    before = await hashTables(app.db)
    const url = `/api/organizations/${home.organization.id}/projects/${foreign.project.id}/`
    expect(await send('PATCH', url, { key: both.key, ...bad })).toEqual([404, 'not_found'])
  })
})

describe('7. the level comes before the body', () => {
  it.each([
    ['broken JSON', { body: '{' }],
    ['a wrong media type', { body: 'a,b', headers: { 'content-type': 'text/csv' } }],
    ['a body over the limit', { body: `{"name":"${'x'.repeat(1024 * 1024)}"}` }],
    ['a compressed body', { body: '{}', headers: { 'content-encoding': 'gzip' } }],
    ['a field of the wrong type', { body: { name: [] } }],
  ])('%s from a member on an admin route is 403', async (_what, call) => {
    for (const credential of [{ key: member.key }, { session: member.session }]) {
      expect(await send('PATCH', own(), { ...credential, ...call })).toEqual([403, 'permission_denied'])
      expect(await send('POST', domains(), { ...credential, ...call })).toEqual([403, 'permission_denied'])
      expect(await send('POST', `${own()}projects/`, { ...credential, ...call })).toEqual([
        403,
        'permission_denied',
      ])
    }
  })

  it('a missing child is 404 to whoever has the level, and 403 to others', async () => {
    const bad = { body: '{' }
    expect(await send('PATCH', `${domains()}${NO_ID}/`, { key: member.key, ...bad })).toEqual([
      403,
      'permission_denied',
    ])
    expect(await send('PATCH', `${domains()}${NO_ID}/`, { key: home.owner.key, ...bad })).toEqual([
      404,
      'not_found',
    ])
  })

  it('a session older than two hours is refused before the body where a fresh sign-in is needed', async () => {
    const old = await app.db.transaction((tx) =>
      openSession(tx, home.owner.id, false, new Date(Date.now() - 2 * 3_600_000 - 1000)),
    )
    const session = app.canary.plant('session token', old!.token)
    expect(await send('PATCH', own(), { session, body: '{' })).toEqual([403, 'recent_sign_in_required'])
    expect(await send('GET', own(), { session })).toEqual([200, undefined])
    await app.post('/api/logout/', {}, { session })
    // Signing in is the one thing this file stores.
    before = await hashTables(app.db)
  })
})

describe('8. only then the query and the body', () => {
  it('413, 415 and 400 for whoever may do it', async () => {
    const key = home.owner.key
    const patch = (call: Call) => send('PATCH', own(), { key, ...call })
    expect(await patch({ body: `{"name":"${'x'.repeat(1024 * 1024)}"}` })).toEqual([413, 'request_too_large'])
    expect(await patch({ body: 'a,b', headers: { 'content-type': 'text/csv' } })).toEqual([
      415,
      'unsupported_media_type',
    ])
    expect(await patch({ body: '{' })).toEqual([400, 'parse_error'])
    expect(await patch({ body: { name: '' } })).toEqual([400, 'blank'])
  })

  it('a bad query is no news to those who may not ask', async () => {
    const url = `${own()}members/?updated_after=nonsense&search=%00`
    expect(await send('GET', url)).toEqual([401, 'not_authenticated'])
    expect(await send('GET', url, { key: keys.readOnly })).toEqual([403, 'permission_denied'])
    expect(await send('GET', url, { key: foreign.owner.key })).toEqual([403, 'permission_denied'])
    expect(await send('GET', url, { key: member.key })).toEqual([400, 'invalid_input'])
  })
})

describe('HEAD', () => {
  it('answers as GET does (that no body is sent is seen on a real connection: server.test.ts)', async () => {
    const get = await app.get(own(), { key: home.owner.key })
    const head = await app.call('HEAD', own(), { key: home.owner.key })
    expect(head.status).toBe(200)
    expect(head.headers['content-type']).toBe(get.headers['content-type'])
    expect(head.headers['content-length']).toBe(get.headers['content-length'])
  })

  it('is refused as GET is', async () => {
    expect((await app.call('HEAD', own())).status).toBe(401)
    expect((await app.call('HEAD', own(), { key: foreign.owner.key })).status).toBe(404)
    expect((await app.call('HEAD', domains(), { key: foreign.owner.key })).status).toBe(403)
  })
})

describe('session writes from elsewhere', () => {
  it.each<[string, Record<string, string>, number]>([
    ['no hint at all, as scripts send it', {}, 400],
    ['our own origin', { origin: 'http://longshore.test' }, 400],
    ['another origin', { origin: 'https://evil.example' }, 403],
    ['an origin that hides itself', { origin: 'null' }, 403],
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['another host of the same site', { 'sec-fetch-site': 'same-site' }, 403],
    ['the same origin by fetch metadata', { 'sec-fetch-site': 'same-origin' }, 400],
  ])('%s', async (_what, headers, status) => {
    const reply = await app.patch(own(), { name: '' }, { session: home.owner.session, headers })
    expect(reply.status).toBe(status)
  })

  it('are no matter for keys and for reading', async () => {
    const headers = { origin: 'https://evil.example' }
    expect((await app.patch(own(), { name: '' }, { key: home.owner.key, headers })).status).toBe(400)
    expect((await app.get(own(), { session: home.owner.session, headers })).status).toBe(200)
  })
})

describe('an organization that demands a second factor', () => {
  it('keeps a session without one from everything but signing in, signing out, its account and the set-up', async () => {
    const strict = await createOrganization(app, { enforce_2fa: true })
    const { session, key } = strict.owner
    const code = async (method: string, url: string, body?: unknown) =>
      summary(await app.call(method, url, { session, body }))
    const refused = [403, 'two_factor_setup_required']
    expect(await code('GET', `/api/organizations/${strict.organization.id}/`)).toEqual(refused)
    expect(await code('GET', '/api/organizations/')).toEqual(refused)
    expect(await code('PATCH', '/api/users/@me/', {})).toEqual(refused)
    expect(await code('GET', '/api/users/@me/')).toEqual([200, undefined])
    expect(await code('GET', '/api/users/@me/two_factor_status/')).toEqual([200, undefined])
    expect(await code('POST', '/api/login/', {})).toEqual([400, 'required'])
    expect(await code('POST', '/api/login/token/', {})).toEqual([400, 'required'])
    expect(await code('POST', '/api/login/precheck/', { email: 'a@example.com' })).toEqual([200, undefined])
    expect((await app.get('/api/organizations/', { key })).status).toBe(200)
    before = await hashTables(app.db)
  })
})
