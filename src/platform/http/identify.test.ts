// Who is calling: where a key is read from, what beats what, and when a session may change things. All through HTTP.
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
import { hashTables } from '../../../test/harness/tables.ts'
import { startTestApp, type Call, type Reply, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../db/sql.ts'

const HOUR_MS = 60 * 60 * 1000
const ITSELF = '/api/personal_api_keys/@current/'
const WRONG = 'phx_no_such_key_anywhere'

let app: TestApp
let workspace: Workspace
/** Two people's keys, told apart by whose account they show. */
let one: TestUser
let two: TestUser
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  one = await createMember(app, workspace.organization, { level: 'admin' })
  two = await createMember(app, workspace.organization, { level: 'admin' })
})
afterAll(() => app.close())

const problem = (reply: Reply) => `${reply.status} ${reply.body.code} ${reply.body.attr ?? '-'}`
const organizationPath = () => `/api/organizations/${workspace.organization.id}/`

/** Whose account answers: 'one', 'two', or the error. PATCH of nothing, because it may carry a body. */
async function whose(call: Call, query = ''): Promise<string> {
  const reply = await app.patch(`/api/users/@me/${query}`, call.body ?? {}, call)
  if (reply.status !== 200) return `${reply.status} ${reply.body.code}`
  return reply.body.id === one.id ? 'one' : reply.body.id === two.id ? 'two' : 'somebody else'
}

describe('where a key is read from', () => {
  const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })

  it('the header, then the body, then the query', async () => {
    const inBody = { body: { personal_api_key: two.key } }
    const inQuery = `?personal_api_key=${two.key}`
    expect(await whose(bearer(one.key))).toBe('one')
    expect(await whose({ body: { personal_api_key: one.key } })).toBe('one')
    expect(await whose({}, `?personal_api_key=${one.key}`)).toBe('one')
    expect(await whose({ ...bearer(one.key), ...inBody }, inQuery)).toBe('one')
    expect(await whose({ body: { personal_api_key: one.key } }, inQuery)).toBe('one')
  })

  it('the token of a project is no key, and the refusal says so', async () => {
    const reply = await app.get('/api/users/@me/', { key: 'phc_of_a_project' })
    expect([reply.status, reply.body.code]).toEqual([401, 'authentication_failed'])
    expect(reply.body.detail).toMatch(/token of a project.*phx_/)
  })

  it('a form’s field as well', async () => {
    const body = new URLSearchParams({ personal_api_key: one.key }).toString()
    expect(await whose({ body, headers: { 'content-type': 'application/x-www-form-urlencoded' } })).toBe(
      'one',
    )
  })

  it('only the first found is tried: a bad one is 401, however good the next', async () => {
    const good = { personal_api_key: one.key }
    const inQuery = `?personal_api_key=${one.key}`
    const failed = '401 authentication_failed'
    expect(await whose({ ...bearer(WRONG), body: good }, inQuery)).toBe(failed)
    expect(await whose({ body: { personal_api_key: WRONG } }, inQuery)).toBe(failed)
    expect(await whose({ body: { personal_api_key: 5 } }, inQuery)).toBe(failed)
    expect(await whose({ body: { personal_api_key: '' } }, inQuery)).toBe(failed)
    expect(await whose({}, `?personal_api_key=${WRONG}&personal_api_key=${one.key}`)).toBe(failed)
    expect(await whose({ headers: { authorization: 'Bearer' }, body: good })).toBe(failed)
  })

  it.each([
    ['bearer KEY', 'one'],
    ['BEARER KEY', 'one'],
    ['Bearer   KEY', 'one'],
    ['  Bearer KEY  ', 'one'],
    ['Bearer\tKEY\t', 'one'],
    ['BearerKEY', '401 not_authenticated'],
    ['Basic KEY', '401 not_authenticated'],
    ['KEY', '401 not_authenticated'],
    ['Bearer KEY KEY', '401 authentication_failed'],
    ['Bearer "KEY"', '401 authentication_failed'],
  ])('Authorization: %j gives %s', async (header, expected) => {
    expect(await whose({ headers: { authorization: header.replaceAll('KEY', one.key) } })).toBe(expected)
  })

  it('blanks round the key are tolerated in body and query too', async () => {
    expect(await whose({ body: { personal_api_key: ` ${one.key}\n` } })).toBe('one')
    expect(await whose({}, `?personal_api_key=%20${one.key}%20`)).toBe('one')
  })

  it('another scheme in the header leaves body, query and cookie to speak', async () => {
    const basic = { headers: { authorization: 'Basic abc' } }
    expect(await whose({ ...basic, body: { personal_api_key: one.key } })).toBe('one')
    expect(await whose({ ...basic, session: one.session })).toBe('one')
  })

  it('a body that cannot be read names no key, and is complained about only to those who are known', async () => {
    expect(await whose({ body: '{"personal_api_key": ' })).toBe('401 not_authenticated')
    expect(await whose({ body: '{"personal_api_key": ', key: one.key })).toBe('400 parse_error')
    expect(await whose({ body: '{"personal_api_key": ' }, `?personal_api_key=${one.key}`)).toBe(
      '400 parse_error',
    )
  })

  it('a key in the address is repeated neither in links nor in the log', async () => {
    const reply = await app.get(`${organizationPath()}members/?limit=1&personal_api_key=${one.key}&search=`)
    expect(reply.status).toBe(200)
    expect(reply.body.next).toContain('limit=1')
    expect(reply.body.next).not.toContain('personal_api_key')
    expect(app.logs.join('\n')).not.toContain(one.key)
  })
})

describe('401', () => {
  it('not_authenticated without credentials, authentication_failed with a wrong key; both name the scheme', async () => {
    for (const [call, code] of [
      [{}, 'not_authenticated'],
      [{ key: WRONG }, 'authentication_failed'],
    ] as const) {
      const reply = await app.get(organizationPath(), call)
      expect(reply.status).toBe(401)
      expect(reply.body).toMatchObject({ type: 'authentication_error', code, attr: null })
      expect(reply.headers['www-authenticate']).toBe('Bearer')
    }
  })

  it('comes before anything is said about the thing addressed', async () => {
    for (const path of [
      '/api/organizations/nonsense/',
      `${organizationPath()}members/`,
      '/api/projects/0/',
    ]) {
      expect(problem(await app.get(path, { key: WRONG }))).toBe('401 authentication_failed -')
    }
    expect(problem(await app.post(organizationPath(), {}, {}))).toBe('401 not_authenticated -')
  })

  it('a key close to a good one is a wrong one', async () => {
    const [head, tail] = [one.key.slice(0, -1), one.key.slice(-1)]
    const near = [
      head,
      `${one.key}0`,
      `${head}${tail === 'a' ? 'b' : 'a'}`,
      one.key.toUpperCase(),
      one.key.slice(4),
    ]
    for (const key of near)
      expect(problem(await app.get(ITSELF, { key }))).toBe('401 authentication_failed -')
    const { value_hash } = await app.db.only<{ value_hash: string }>(
      sql`SELECT value_hash FROM api_key WHERE user_id = ${one.id} LIMIT 1`,
    )
    expect(problem(await app.get(ITSELF, { key: value_hash }))).toBe('401 authentication_failed -')
  })

  it('a deactivated user has neither keys nor sessions, and both come back with the user', async () => {
    const user = await createMember(app, workspace.organization)
    await app.db.run(sql`UPDATE app_user SET is_active = false WHERE id = ${user.id}`)
    expect(problem(await app.get('/api/users/@me/', { key: user.key }))).toBe('401 authentication_failed -')
    expect(problem(await app.get('/api/users/@me/', { session: user.session }))).toBe(
      '401 not_authenticated -',
    )
    expect(problem(await app.get('/api/users/@me/', user))).toBe('401 authentication_failed -')
    await app.db.run(sql`UPDATE app_user SET is_active = true WHERE id = ${user.id}`)
    expect((await app.get('/api/users/@me/', { key: user.key })).status).toBe(200)
    expect((await app.get('/api/users/@me/', { session: user.session })).status).toBe(200)
  })

  it('a session is over after 14 days and at logout', async () => {
    const user = await createUser(app)
    const session = { session: user.session }
    expect((await app.get('/api/users/@me/', session)).status).toBe(200)
    expect((await app.post('/api/logout/', undefined, session)).status).toBe(204)
    expect(problem(await app.get('/api/users/@me/', session))).toBe('401 not_authenticated -')
    const later = await createUser(app)
    app.advance(14 * 24 * HOUR_MS)
    expect(problem(await app.get('/api/users/@me/', { session: later.session }))).toBe(
      '401 not_authenticated -',
    )
    expect((await app.get('/api/users/@me/', { key: later.key })).status).toBe(200)
  })
})

describe('key and session together', () => {
  it('the key is used, and a bad key is 401 in spite of a good cookie', async () => {
    const [a, b] = [await createUser(app), await createUser(app)]
    const shown = await app.get('/api/users/@me/', { key: a.key, session: b.session })
    expect(shown.body.id).toBe(a.id)
    expect(problem(await app.get('/api/users/@me/', { key: WRONG, session: b.session }))).toBe(
      '401 authentication_failed -',
    )
    // What takes a session takes it alone: the key that comes along decides.
    expect(problem(await app.get('/api/personal_api_keys/', { key: a.key, session: a.session }))).toBe(
      '403 permission_denied -',
    )
  })

  it('the cookie is found among others', async () => {
    const user = await createUser(app)
    const cookie = `theme=dark; sessionid=${user.session}; xsessionid=nonsense`
    expect((await app.get('/api/users/@me/', { headers: { cookie } })).body.id).toBe(user.id)
    expect(
      (await app.get('/api/users/@me/', { headers: { cookie: `xsessionid=${user.session}` } })).status,
    ).toBe(401)
  })
})

describe('a write in a session', () => {
  const FOREIGN: [string, Record<string, string>][] = [
    ['another origin', { origin: 'https://evil.example' }],
    ['the same host, another scheme', { origin: 'https://longshore.test' }],
    ['the same host, another port', { origin: 'http://longshore.test:8000' }],
    ['a subdomain', { origin: 'http://www.longshore.test' }],
    ['a host that begins like ours', { origin: 'http://longshore.test.evil.example' }],
    ['an opaque origin', { origin: 'null' }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a sister site', { 'sec-fetch-site': 'same-site' }],
    [
      'our origin by way of another site',
      { origin: 'http://longshore.test', 'sec-fetch-site': 'cross-site' },
    ],
    [
      'another origin that claims to be ours',
      { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
    ],
  ]
  const OWN: [string, Record<string, string>][] = [
    ['our origin', { origin: 'http://longshore.test' }],
    [
      'our origin, and the browser says so',
      { origin: 'http://longshore.test', 'sec-fetch-site': 'same-origin' },
    ],
    ['the same site alone', { 'sec-fetch-site': 'same-origin' }],
    ['the user’s own doing', { 'sec-fetch-site': 'none' }],
    ['no browser at all', {}],
  ]

  async function fixture() {
    const home = await createOrganization(app)
    const path = `/api/organizations/${home.organization.id}/`
    const domain = (
      await app.post(
        `${path}domains/`,
        { domain: `${home.organization.slug}.example` },
        { key: home.owner.key },
      )
    ).body
    return { ...home, path, domain: `${path}domains/${domain.id}/` }
  }

  it.each(FOREIGN)('403 from %s, and nothing is written', async (_case, headers) => {
    const { owner, path, domain } = await fixture()
    const as = { session: owner.session, headers }
    const before = await hashTables(app.db)
    const refused = [
      await app.patch(path, { name: 'Taken over' }, as),
      await app.delete(path, as),
      await app.post(`${path}invites/`, { target_email: 'thief@evil.example', level: 15 }, as),
      await app.patch(domain, { saml_entity_id: 'evil' }, as),
      await app.delete(domain, as),
      await app.post('/api/personal_api_keys/', { label: 'x', scopes: ['*'] }, as),
      await app.patch('/api/users/@me/', { first_name: 'Mallory' }, as),
      await app.post('/api/logout/', undefined, as),
    ]
    expect(refused.map(problem)).toEqual(refused.map(() => '403 permission_denied -'))
    expect(await hashTables(app.db)).toEqual(before)
  })

  it.each(OWN)('200 from %s', async (_case, headers) => {
    const { owner, path } = await fixture()
    expect((await app.patch(path, { name: 'By us' }, { session: owner.session, headers })).status).toBe(200)
    expect((await app.get(path, { key: owner.key })).body.name).toBe('By us')
  })

  it('reading is free from anywhere, and so is writing with a key', async () => {
    const { owner, path } = await fixture()
    for (const [, headers] of FOREIGN) {
      expect((await app.get(path, { session: owner.session, headers })).status).toBe(200)
      expect((await app.patch(path, { name: 'By key' }, { key: owner.key, headers })).status).toBe(200)
    }
  })

  it('nor can another site sign a visitor in, by a form that needs no session', async () => {
    const { owner } = await fixture()
    const body = new URLSearchParams({ email: owner.email, password: owner.password }).toString()
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    for (const [, headers] of FOREIGN) {
      const reply = await app.call('POST', '/api/login/', { body, headers: { ...form, ...headers } })
      expect([problem(reply), reply.session]).toEqual(['403 permission_denied -', undefined])
    }
    for (const [, headers] of OWN) {
      const reply = await app.call('POST', '/api/login/', { body, headers: { ...form, ...headers } })
      expect(reply.status).toBe(200)
    }
  })
})

describe('sensitive actions', () => {
  it('403 in a session of more than two hours, while keys and the rest go on', async () => {
    const home = await createOrganization(app)
    const path = `/api/organizations/${home.organization.id}/`
    const member = await createMember(app, home.organization)
    const own = await createKey(app, home.owner, { scopes: ['*'] })
    const { id } = (await app.get(ITSELF, { key: own })).body
    const service = await createServiceKey(app, home.organization, { scopes: ['organization:read'] })
    const serviceId = (await app.get(ITSELF, { key: service })).body.id
    const memberPath = `${path}members/${member.uuid}/`
    const attempts = (as: Call) => ({
      'organization PATCH': () => app.patch(path, { name: 'Old session' }, as),
      'member PATCH': () => app.patch(memberPath, { level: 8 }, as),
      'member DELETE': () => app.delete(memberPath, as),
      'service key PATCH': () => app.patch(`${path}service_keys/${serviceId}/`, { label: 'x' }, as),
      'service key DELETE': () => app.delete(`${path}service_keys/${serviceId}/`, as),
      'organization DELETE': () => app.delete(path, as),
    })
    const personal = (as: Call) => ({
      'key POST': () => app.post('/api/personal_api_keys/', { label: 'x', scopes: ['*'] }, as),
      'key PATCH': () => app.patch(`/api/personal_api_keys/${id}/`, { scopes: ['*'] }, as),
      'key roll': () => app.post(`/api/personal_api_keys/${id}/roll/`, undefined, as),
      'key DELETE': () => app.delete(`/api/personal_api_keys/${id}/`, as),
    })
    app.advance(2 * HOUR_MS + 1000)
    const as = { session: home.owner.session }
    const before = await hashTables(app.db)
    for (const [name, attempt] of Object.entries({ ...attempts(as), ...personal(as) })) {
      expect([name, problem(await attempt())]).toEqual([name, '403 recent_sign_in_required -'])
    }
    expect(await hashTables(app.db)).toEqual(before)
    expect((await app.get('/api/personal_api_keys/', as)).status).toBe(200)
    expect((await app.post(`${path}invites/`, { target_email: 'new@elsewhere.example' }, as)).status).toBe(
      201,
    )
    expect((await app.patch('/api/users/@me/', { first_name: 'Oleander' }, as)).status).toBe(200)

    const statuses: number[] = []
    for (const attempt of Object.values(attempts({ key: home.owner.key })))
      statuses.push((await attempt()).status)
    expect(statuses).toEqual([200, 200, 204, 200, 204, 204])
  })

  it('200 again after signing in again', async () => {
    const { organization, owner } = await createOrganization(app)
    app.advance(3 * HOUR_MS)
    const path = `/api/organizations/${organization.id}/`
    expect((await app.patch(path, { name: 'x' }, { session: owner.session })).status).toBe(403)
    const { session } = await app.post('/api/login/', { email: owner.email, password: owner.password })
    expect((await app.patch(path, { name: 'x' }, { session: session! })).status).toBe(200)
  })

  it('200 in a session of less than two hours', async () => {
    const { organization, owner } = await createOrganization(app)
    app.advance(2 * HOUR_MS - 60_000)
    const reply = await app.patch(
      `/api/organizations/${organization.id}/`,
      { name: 'x' },
      { session: owner.session },
    )
    expect(reply.status).toBe(200)
  })
})
