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
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'

const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000'
const HOUR_MS = 60 * 60 * 1000

let app: TestApp
let workspace: Workspace
let admin: TestUser
let member: TestUser
let stranger: TestUser
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app, { name: 'Acme Größe' })
  admin = await createMember(app, workspace.organization, { level: 'admin' })
  member = await createMember(app, workspace.organization)
  stranger = (await createOrganization(app)).owner
})
afterAll(() => app.close())

const pathOf = (id: string) => `/api/organizations/${id}/`
const own = () => pathOf(workspace.organization.id)

type Entry = { activity: string; user_id: number | null; detail: { name: string; changes: unknown[] } }

function organizationEntries(organizationId: string): Promise<Entry[]> {
  return app.db.rows(sql`
    SELECT activity, user_id, detail FROM activity_log
    WHERE organization_id = ${organizationId} AND scope = 'Organization' ORDER BY position`)
}

function storedOrganization(id: string) {
  return app.db.row<{ name: string; slug: string; updated_at: Date; enforce_2fa: boolean }>(
    sql`SELECT * FROM organization WHERE id = ${id}`,
  )
}

describe('GET /api/organizations/', () => {
  let owner: TestUser
  /** Ids of five organizations, in the order they were made. */
  let ids: string[]
  beforeAll(async () => {
    owner = await createUser(app)
    ids = []
    for (let number = 1; number <= 5; number++) {
      app.advance(1000)
      ids.push(
        (await app.post('/api/organizations/', { name: `Five ${number}` }, { key: owner.key })).body.id,
      )
    }
  })

  it("200 lists the caller's own organizations and their level in each, oldest first", async () => {
    await app.db.run(
      sql`UPDATE membership SET level = 1 WHERE user_id = ${owner.id} AND organization_id = ${ids[1]}`,
    )
    const { status, body } = await app.get('/api/organizations/', { key: owner.key })
    expect(status).toBe(200)
    expect(body).toMatchObject({ count: 5, next: null, previous: null })
    expect(body.results.map((row: { id: string }) => row.id)).toEqual(ids)
    expect(body.results.map((row: { membership_level: number }) => row.membership_level)).toEqual([
      15, 1, 15, 15, 15,
    ])
    expect(body.results[0]).toEqual((await app.get(pathOf(ids[0]!), { key: owner.key })).body)
  })

  it('200 with nothing for a user in no organization', async () => {
    const loner = await createUser(app)
    const { body } = await app.get('/api/organizations/', { key: loner.key })
    expect(body).toEqual({ count: 0, next: null, previous: null, results: [] })
  })

  it('following `next` to null meets each organization once, `previous` leads back', async () => {
    const seen: string[] = []
    let url: string | null = '/api/organizations/?limit=2'
    let last: string | null = null
    while (url !== null) {
      const { body } = await app.get(url.replace('http://longshore.test', ''), { key: owner.key })
      expect(body.count).toBe(5)
      seen.push(...body.results.map((row: { id: string }) => row.id))
      last = body.previous
      url = body.next
    }
    expect(seen).toEqual(ids)
    expect(last).toBe('http://longshore.test/api/organizations/?limit=2&offset=2')
    const back = await app.get('/api/organizations/?limit=2&offset=2', { key: owner.key })
    expect(back.body.previous).toBe('http://longshore.test/api/organizations/?limit=2')
  })

  it('keeps the order total when all were made in the same instant', async () => {
    await app.db.run(sql`UPDATE organization SET created_at = '2024-01-01' WHERE id = ANY(${ids}::uuid[])`)
    const pages = await Promise.all(
      ids.map((_, offset) => app.get(`/api/organizations/?limit=1&offset=${offset}`, { key: owner.key })),
    )
    expect(new Set(pages.map(({ body }) => body.results[0].id))).toEqual(new Set(ids))
  })

  it.each([
    ['limit=0', 5],
    ['limit=-1', 5],
    ['limit=many', 5],
    ['limit=', 5],
    ['limit=2.5', 5],
    ['limit=99999999999999999999', 5],
    ['limit=3&limit=4', 5],
    ['offset=-3', 5],
    ['offset=abc', 5],
    ['offset=4', 1],
    ['offset=5', 0],
    ['offset=99999999999999999999', 0],
  ])('200 for ?%s, with the true count', async (query, length) => {
    const { status, body } = await app.get(`/api/organizations/?${query}`, { key: owner.key })
    expect(status).toBe(200)
    expect(body.count).toBe(5)
    expect(body.results).toHaveLength(length)
    expect(body.next).toBeNull()
  })

  it('cuts a limit above 1000 to 1000 in the links too', async () => {
    const { body } = await app.get('/api/organizations/?limit=5000&offset=1001', { key: owner.key })
    expect(body.previous).toBe('http://longshore.test/api/organizations/?limit=1000&offset=1')
  })

  it('keeps other parameters in the links, but never a key', async () => {
    const url = `/api/organizations/?search=a%26b&limit=2&offset=2&personal_api_key=${owner.key}`
    const { status, body } = await app.get(url)
    expect(status).toBe(200)
    expect(body.next).toBe('http://longshore.test/api/organizations/?search=a%26b&limit=2&offset=4')
    expect(body.previous).toBe('http://longshore.test/api/organizations/?search=a%26b&limit=2')
  })

  it('200 shows a service key its own organization, at its own level', async () => {
    const key = await createServiceKey(app, workspace.organization, { scopes: ['organization:read'] })
    const { body } = await app.get('/api/organizations/', { key })
    expect(body).toMatchObject({
      count: 1,
      results: [{ id: workspace.organization.id, membership_level: 8 }],
    })
  })

  it('401 without credentials, and with a wrong key', async () => {
    expect(await app.get('/api/organizations/')).toMatchObject({
      status: 401,
      body: { code: 'not_authenticated' },
    })
    const wrong = await app.get('/api/organizations/', { key: 'phx_wrong' })
    expect(wrong).toMatchObject({ status: 401, body: { code: 'authentication_failed' } })
  })

  it('403 without the scope; neither member nor project scopes open it', async () => {
    const key = await createKey(app, admin, { scopes: ['organization_member:write', 'project:write'] })
    const { status, body } = await app.get('/api/organizations/', { key })
    expect(status).toBe(403)
    expect(body).toMatchObject({ type: 'authentication_error', code: 'permission_denied', attr: null })
    expect(body.detail).toContain('organization:read')
  })

  it('405 for what a list does not offer', async () => {
    const reply = await app.delete('/api/organizations/', { key: admin.key })
    expect(reply).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } })
    expect(reply.headers.allow).toMatch(/\bGET\b.*\bPOST\b/)
    expect(reply.headers.allow).not.toContain('DELETE')
  })
})

describe('POST /api/organizations/', () => {
  it('201 makes the organization, its owner and its first project, and makes both current', async () => {
    const user = await createUser(app)
    const { status, body } = await app.post(
      '/api/organizations/',
      { name: '  Fresh Start ' },
      { key: user.key },
    )
    expect(status).toBe(201)
    expect(body).toMatchObject({
      name: 'Fresh Start',
      slug: 'fresh-start',
      membership_level: 15,
      plugins_access_level: 9,
      is_member_join_email_enabled: true,
      enforce_2fa: false,
      customer_id: null,
      metadata: '{"instance_tag":"none"}',
      member_count: '1',
      teams: [{ name: 'Default project', organization: body.id, timezone: 'UTC' }],
    })
    expect(body.teams[0].api_token).toMatch(/^phc_[0-9A-Za-z]{43}$/)
    expect(body.created_at).toBe(body.updated_at)
    const me = await app.get('/api/users/@me/', { key: user.key })
    expect(me.body).toMatchObject({ organization: { id: body.id }, team: { id: body.teams[0].id } })
    expect((await app.get('/api/organizations/@current/', { key: user.key })).body).toEqual(body)
  })

  it('201 writes who made what into the log of the new organization', async () => {
    const user = await createUser(app)
    const { body } = await app.post('/api/organizations/', { name: 'Logged' }, { key: user.key })
    const entries = await app.db.rows(sql`
      SELECT scope, activity, item_id, user_id, detail->>'name' AS name FROM activity_log
      WHERE organization_id = ${body.id} ORDER BY position`)
    const membership = await app.db.row<{ id: string }>(
      sql`SELECT id FROM membership WHERE organization_id = ${body.id}`,
    )
    const made = { activity: 'created', user_id: user.id }
    expect(entries).toEqual([
      { ...made, scope: 'Organization', item_id: body.id, name: 'Logged' },
      { ...made, scope: 'OrganizationMembership', item_id: membership!.id, name: user.email },
      { ...made, scope: 'Project', item_id: String(body.teams[0].id), name: 'Default project' },
    ])
  })

  it('201 with a session as with a key; a second organization needs no licence', async () => {
    const { owner } = await createOrganization(app)
    const { status, body } = await app.post(
      '/api/organizations/',
      { name: 'Second' },
      { session: owner.session },
    )
    expect(status).toBe(201)
    expect((await app.get('/api/organizations/@current/', { session: owner.session })).body.id).toBe(body.id)
  })

  it.each([
    [
      { is_member_join_email_enabled: false, enforce_2fa: true },
      { is_member_join_email_enabled: false, enforce_2fa: true },
    ],
    [
      { is_member_join_email_enabled: 'false', enforce_2fa: 'true' },
      { is_member_join_email_enabled: false, enforce_2fa: true },
    ],
    [
      { is_member_join_email_enabled: 0, enforce_2fa: 1 },
      { is_member_join_email_enabled: false, enforce_2fa: true },
    ],
    [{ enforce_2fa: null }, { is_member_join_email_enabled: true, enforce_2fa: false }],
  ])('201 takes the switches %j', async (fields, expected) => {
    const { key } = await createUser(app)
    const { status, body } = await app.post('/api/organizations/', { name: 'Switches', ...fields }, { key })
    expect(status).toBe(201)
    expect(body).toMatchObject(expected)
  })

  it('201 takes form data', async () => {
    const { key } = await createUser(app)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const reply = await app.call('POST', '/api/organizations/', {
      key,
      headers,
      body: 'name=From+a+form&enforce_2fa=true',
    })
    expect(reply).toMatchObject({ status: 201, body: { name: 'From a form', enforce_2fa: true } })
  })

  it('201 ignores fields that are read-only or unknown', async () => {
    const { key } = await createUser(app)
    const given = {
      id: UNKNOWN_ID,
      slug: 'chosen',
      plugins_access_level: 0,
      membership_level: 1,
      customer_id: 'cus_1',
      member_count: '99',
      metadata: 'x',
      teams: [],
      created_at: '2001-01-01T00:00:00Z',
      owner: 1,
      level: 1,
    }
    const { status, body } = await app.post('/api/organizations/', { ...given, name: 'Read only' }, { key })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      slug: 'read-only',
      plugins_access_level: 9,
      membership_level: 15,
      customer_id: null,
    })
    expect(body).toMatchObject({ member_count: '1', metadata: '{"instance_tag":"none"}' })
    expect(body.id).not.toBe(UNKNOWN_ID)
    expect(body.teams).toHaveLength(1)
    expect(body.created_at.slice(0, 4)).not.toBe('2001')
  })

  it.each([
    [{}, 'required'],
    [{ name: null }, 'null'],
    [{ name: '' }, 'blank'],
    [{ name: ' \t ' }, 'blank'],
    [{ name: 'n'.repeat(65) }, 'max_length'],
    [{ name: 5 }, 'invalid_input'],
    [{ name: ['Acme'] }, 'invalid_input'],
    [{ name: { text: 'Acme' } }, 'invalid_input'],
    [{ name: true }, 'invalid_input'],
    [{ name: 'Ac\0me' }, 'invalid_input'],
    [{ name: 'Ac\ud800me' }, 'invalid_input'],
  ])('400 on `name` for %j, and nothing is made', async (body, code) => {
    const { key, id } = await createUser(app)
    const reply = await app.post('/api/organizations/', body, { key })
    expect(reply).toMatchObject({ status: 400, body: { type: 'validation_error', code, attr: 'name' } })
    expect(await app.db.rows(sql`SELECT FROM membership WHERE user_id = ${id}`)).toEqual([])
  })

  it.each(['is_member_join_email_enabled', 'enforce_2fa'])(
    '400 on `%s` for what is no boolean',
    async (field) => {
      for (const value of ['perhaps', 2, [], {}, '']) {
        const reply = await app.post(
          '/api/organizations/',
          { name: 'Bad', [field]: value },
          { key: admin.key },
        )
        expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: field } })
      }
    },
  )

  it('400 on a null where only `enforce_2fa` takes one', async () => {
    const body = { name: 'Bad', is_member_join_email_enabled: null }
    const reply = await app.post('/api/organizations/', body, { key: admin.key })
    expect(reply).toMatchObject({ status: 400, body: { code: 'null', attr: 'is_member_join_email_enabled' } })
  })

  it('400 names only the first problem, in the order of the fields', async () => {
    const reply = await app.post('/api/organizations/', { enforce_2fa: 'x', name: '' }, { key: admin.key })
    expect(reply.body).toMatchObject({ code: 'blank', attr: 'name' })
  })

  it.each(['[]', '"Acme"', '5', 'null', 'true'])('400 for the body %s, which is no object', async (body) => {
    const headers = { 'content-type': 'application/json' }
    const reply = await app.call('POST', '/api/organizations/', { key: admin.key, headers, body })
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: null } })
  })

  it('a name may have 64 characters, however JavaScript counts them', async () => {
    const { key } = await createUser(app)
    for (const name of ['n'.repeat(64), '🙂'.repeat(64)]) {
      expect((await app.post('/api/organizations/', { name }, { key })).body.name).toBe(name)
    }
    expect((await app.post('/api/organizations/', { name: '🙂'.repeat(65) }, { key })).body.code).toBe(
      'max_length',
    )
  })

  it('403 for a service key, which could own nothing', async () => {
    const key = await createServiceKey(app, workspace.organization, { scopes: ['*'] })
    const reply = await app.post('/api/organizations/', { name: 'By a machine' }, { key })
    expect(reply).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
  })

  it('403 with the read scope only, whatever the body', async () => {
    const key = await createKey(app, admin, { scopes: ['organization:read'] })
    expect((await app.post('/api/organizations/', {}, { key })).status).toBe(403)
  })

  describe('the slug', () => {
    const slugOf = async (name: string) => {
      const { key } = await createUser(app)
      const { status, body } = await app.post('/api/organizations/', { name }, { key })
      expect(status).toBe(201)
      return body.slug as string
    }

    it('gets a number when it is taken, though names may repeat', async () => {
      expect([await slugOf('Twin'), await slugOf('twin'), await slugOf('TWIN!')]).toEqual([
        'twin',
        'twin-1',
        'twin-2',
      ])
    })

    it('passes over a number that somebody has as their name', async () => {
      await slugOf('Row 1')
      expect([await slugOf('Row'), await slugOf('Row')]).toEqual(['row', 'row-2'])
    })

    it('is cut to 48 characters, the number included, without a dash before it', async () => {
      const long = `${'l'.repeat(45)} mnopq`
      expect(await slugOf(long)).toBe(`${'l'.repeat(45)}-mn`)
      expect(await slugOf(long)).toBe(`${'l'.repeat(45)}-1`)
      expect(await slugOf(`${'l'.repeat(45)} mnxyz`)).toBe(`${'l'.repeat(45)}-2`)
    })

    it('is random for a name without a letter that fits', async () => {
      const slugs = [await slugOf('日本語'), await slugOf('日本語'), await slugOf('!!!')]
      for (const slug of slugs) expect(slug).toMatch(/^[a-z0-9]{8,48}$/)
      expect(new Set(slugs).size).toBe(3)
    })

    it('stays unique when the same name is used by many at once', async () => {
      const users = await Promise.all(Array.from({ length: 8 }, () => createUser(app)))
      const replies = await Promise.all(
        users.map(({ key }) => app.post('/api/organizations/', { name: 'Stampede' }, { key })),
      )
      expect(replies.map(({ status }) => status)).toEqual(users.map(() => 201))
      const slugs = replies.map(({ body }) => body.slug as string).sort()
      expect(slugs).toEqual(['stampede', ...users.slice(1).map((_, index) => `stampede-${index + 1}`)])
    })

    it('stays unique when one user asks many times at once', async () => {
      const { key } = await createUser(app)
      const replies = await Promise.all(
        Array.from({ length: 6 }, () => app.post('/api/organizations/', { name: 'Impatient' }, { key })),
      )
      expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201, 201])
      expect(new Set(replies.map(({ body }) => body.slug)).size).toBe(6)
      expect((await app.get('/api/organizations/', { key })).body.count).toBe(6)
    })
  })

  it('the same Idempotency-Key makes one organization, also when both ask at once', async () => {
    const { key } = await createUser(app)
    const ask = () =>
      app.post('/api/organizations/', { name: 'Once' }, { key, headers: { 'idempotency-key': 'once' } })
    const [first, second] = await Promise.all([ask(), ask()])
    expect([first, second]).toMatchObject([{ status: 201 }, { status: 201 }])
    expect(second!.body).toEqual(first!.body)
    expect((await ask()).body).toEqual(first!.body)
    expect((await app.get('/api/organizations/', { key })).body.count).toBe(1)
    const other = await app.post(
      '/api/organizations/',
      { name: 'Other' },
      { key, headers: { 'idempotency-key': 'once' } },
    )
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } })
  })
})

describe('GET /api/organizations/:id/', () => {
  it('200 gives exactly the fields of the API', async () => {
    const { status, body } = await app.get(own(), { key: workspace.owner.key })
    expect(status).toBe(200)
    expect(Object.keys(body).sort()).toEqual([
      'available_product_features',
      'created_at',
      'customer_id',
      'enforce_2fa',
      'enforce_2fa_with_sso',
      'id',
      'is_member_join_email_enabled',
      'member_count',
      'members_can_invite',
      'members_can_use_personal_api_keys',
      'membership_level',
      'metadata',
      'name',
      'owner_count',
      'plugins_access_level',
      'plugins_min_write_level',
      'slug',
      'teams',
      'updated_at',
    ])
    expect(body).toMatchObject({ name: 'Acme Größe', slug: 'acme-grosse', member_count: '3', owner_count: 1 })
    expect(body.available_product_features.map((feature: { key: string }) => feature.key)).toEqual([
      'organizations_projects',
      'automatic_provisioning',
      'sso_enforcement',
      'saml',
      '2fa_enforcement',
      'audit_logs',
    ])
    expect(Object.keys(body.available_product_features[0])).toEqual([
      'key',
      'name',
      'description',
      'unit',
      'limit',
      'note',
      'is_plan_default',
    ])
    expect(Object.keys(body.teams[0])).toEqual([
      'id',
      'uuid',
      'organization',
      'project_id',
      'api_token',
      'name',
      'completed_snippet_onboarding',
      'has_completed_onboarding_for',
      'ingested_event',
      'is_demo',
      'timezone',
      'access_control',
    ])
  })

  it('200 tells everyone their own level', async () => {
    for (const [user, level] of [
      [workspace.owner, 15],
      [admin, 8],
      [member, 1],
    ] as const) {
      expect((await app.get(own(), { key: user.key })).body.membership_level).toBe(level)
      expect((await app.get(own(), { session: user.session })).body.membership_level).toBe(level)
    }
  })

  it('200 lists the projects by id', async () => {
    const { organization, owner, project } = await createOrganization(app)
    const path = `${pathOf(organization.id)}projects/`
    const second = (await app.post(path, { name: 'B' }, { key: owner.key })).body
    const third = (await app.post(path, { name: 'A' }, { key: owner.key })).body
    const { teams } = (await app.get(pathOf(organization.id), { key: owner.key })).body
    expect(teams.map(({ id }: { id: number }) => id)).toEqual([project.id, second.id, third.id])
  })

  it('200 does not count deactivated members', async () => {
    const { organization, owner } = await createOrganization(app)
    const leaving = await createMember(app, organization)
    expect((await app.get(pathOf(organization.id), { key: owner.key })).body.member_count).toBe('2')
    await app.db.run(sql`UPDATE app_user SET is_active = false WHERE id = ${leaving.id}`)
    expect((await app.get(pathOf(organization.id), { key: owner.key })).body.member_count).toBe('1')
    expect((await app.get('/api/organizations/', { key: owner.key })).body.results[0].member_count).toBe('1')
    expect((await app.get(pathOf(organization.id), { key: leaving.key })).status).toBe(401)
  })

  it('200 for an id in capitals, and without the trailing slash', async () => {
    const { id } = workspace.organization
    expect((await app.get(pathOf(id.toUpperCase()), { key: member.key })).body.id).toBe(id)
    expect((await app.get(`/api/organizations/${id}`, { key: member.key })).body.id).toBe(id)
  })

  it('200 for `@current`: the last created, joined or chosen one', async () => {
    const { organization, owner } = await createOrganization(app)
    const current = async () => (await app.get('/api/organizations/@current/', { key: owner.key })).body.id
    expect(await current()).toBe(organization.id)
    const second = (await app.post('/api/organizations/', { name: 'Newer' }, { key: owner.key })).body.id
    expect(await current()).toBe(second)
    await app.patch('/api/users/@me/', { set_current_organization: organization.id }, { key: owner.key })
    expect(await current()).toBe(organization.id)
    await app.db.run(sql`UPDATE app_user SET current_organization_id = NULL WHERE id = ${owner.id}`)
    expect(await current()).toBe(organization.id)
  })

  it('404 for `@current` of a user in no organization', async () => {
    const { key } = await createUser(app)
    for (const path of ['/api/organizations/@current/', '/api/organizations/@current/members/']) {
      expect(await app.get(path, { key })).toMatchObject({ status: 404, body: { code: 'not_found' } })
    }
  })

  it('404 for a stranger, an unknown id and a malformed one', async () => {
    const ids = [
      workspace.organization.id,
      UNKNOWN_ID,
      'nonsense',
      '1',
      '%00',
      "'; DROP TABLE organization; --",
      '@me',
    ]
    for (const id of ids) {
      const reply = await app.get(pathOf(encodeURIComponent(id)), { key: stranger.key })
      expect(reply).toMatchObject({
        status: 404,
        body: { type: 'invalid_request', code: 'not_found', attr: null },
      })
    }
  })

  it('404 for a stranger at one that demands a second factor, without a word about it', async () => {
    const strict = await createOrganization(app, { enforce_2fa: true })
    const path = pathOf(strict.organization.id)
    expect((await app.get(path, { session: stranger.session })).body.code).toBe('not_found')
    expect((await app.get(`${path}members/`, { session: stranger.session })).body.code).toBe(
      'permission_denied',
    )
  })

  it('401 before 404 for whoever has no credentials', async () => {
    expect((await app.get(pathOf(UNKNOWN_ID))).status).toBe(401)
  })
})

describe('paths below an organization', () => {
  const nested = ['members/', 'invites/', 'domains/', 'projects/', 'service_keys/', 'activity_log/']

  it.each(nested)('403 for a stranger at %s, 404 when there is no such organization', async (path) => {
    const denied = await app.get(own() + path, { key: stranger.key })
    expect(denied).toMatchObject({
      status: 403,
      body: { type: 'authentication_error', code: 'permission_denied' },
    })
    for (const id of [UNKNOWN_ID, 'nonsense']) {
      expect((await app.get(pathOf(id) + path, { key: stranger.key })).status).toBe(404)
    }
  })
})

describe('PATCH /api/organizations/:id/', () => {
  it('200 changes what is sent, moves `updated_at` and nothing else', async () => {
    const { organization, owner } = await createOrganization(app)
    const before = (await app.get(pathOf(organization.id), { key: owner.key })).body
    app.advance(5000)
    const body = { name: ' Renamed ', is_member_join_email_enabled: false }
    const reply = await app.patch(pathOf(organization.id), body, { key: owner.key })
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({
      ...before,
      name: 'Renamed',
      is_member_join_email_enabled: false,
      updated_at: reply.body.updated_at,
    })
    expect(Date.parse(reply.body.updated_at)).toBeGreaterThan(Date.parse(before.updated_at))
    expect((await app.get(pathOf(organization.id), { key: owner.key })).body).toEqual(reply.body)
  })

  it('200 writes before and after into the log, of what changed only', async () => {
    const { organization, owner } = await createOrganization(app, { name: 'Old' })
    await app.patch(pathOf(organization.id), { name: 'New', enforce_2fa: false }, { key: owner.key })
    expect((await organizationEntries(organization.id)).at(-1)).toEqual({
      activity: 'updated',
      user_id: owner.id,
      detail: {
        name: 'New',
        changes: [{ type: 'Organization', action: 'changed', field: 'name', before: 'Old', after: 'New' }],
      },
    })
  })

  it.each([
    [{}],
    [{ unknown: 1 }],
    [{ name: 'Same' }],
    [{ enforce_2fa: null }],
    [
      {
        slug: 'x',
        plugins_access_level: 0,
        customer_id: 'x',
        membership_level: 1,
        member_count: '9',
        teams: [],
        id: 'x',
      },
    ],
  ])('200 for %j changes nothing and logs nothing', async (body) => {
    const { organization, owner } = await createOrganization(app, { name: 'Same' })
    const before = (await app.get(pathOf(organization.id), { key: owner.key })).body
    app.advance(5000)
    const reply = await app.patch(pathOf(organization.id), body, { key: owner.key })
    expect(reply).toMatchObject({ status: 200, body: before })
    expect((await organizationEntries(organization.id)).map(({ activity }) => activity)).toEqual(['created'])
  })

  it('200 leaves the slug as it is when the name changes', async () => {
    const { organization, owner } = await createOrganization(app, { name: 'First Name' })
    const { body } = await app.patch(pathOf(organization.id), { name: 'Second Name' }, { key: owner.key })
    expect(body).toMatchObject({ name: 'Second Name', slug: 'first-name' })
  })

  it('200 for an admin and an owner, 403 for a member, 404 for a stranger', async () => {
    const { organization, owner } = await createOrganization(app)
    const path = pathOf(organization.id)
    const boss = await createMember(app, organization, { level: 'admin' })
    const worker = await createMember(app, organization)
    expect((await app.patch(path, { name: 'By admin' }, { key: boss.key })).body.name).toBe('By admin')
    expect((await app.patch(path, { name: 'By owner' }, { session: owner.session })).body.name).toBe(
      'By owner',
    )
    expect((await app.patch(path, { name: 'By member' }, { key: worker.key })).status).toBe(403)
    expect((await app.patch(path, { name: 'By stranger' }, { key: stranger.key })).status).toBe(404)
    expect((await storedOrganization(organization.id))!.name).toBe('By owner')
  })

  it('a member cannot turn `enforce_2fa` on, an admin can', async () => {
    const { organization } = await createOrganization(app)
    const boss = await createMember(app, organization, { level: 'admin' })
    const worker = await createMember(app, organization)
    expect(
      (await app.patch(pathOf(organization.id), { enforce_2fa: true }, { key: worker.key })).status,
    ).toBe(403)
    expect((await storedOrganization(organization.id))!.enforce_2fa).toBe(false)
    const reply = await app.patch(pathOf(organization.id), { enforce_2fa: true }, { key: boss.key })
    expect(reply).toMatchObject({ status: 200, body: { enforce_2fa: true } })
  })

  it('200 for a service key of level admin, 403 for one of level member; the log names it', async () => {
    const { organization } = await createOrganization(app)
    const strong = await createServiceKey(app, organization, {
      scopes: ['organization:write'],
      label: 'robot',
    })
    const weak = await createServiceKey(app, organization, {
      scopes: ['organization:write'],
      level: 'member',
    })
    expect((await app.patch(pathOf(organization.id), { name: 'By robot' }, { key: weak })).status).toBe(403)
    expect((await app.patch(pathOf(organization.id), { name: 'By robot' }, { key: strong })).status).toBe(200)
    const entry = await app.db.row(sql`
      SELECT actor_name, user_id, key_id IS NOT NULL AS has_key FROM activity_log
      WHERE organization_id = ${organization.id} AND activity = 'updated'`)
    expect(entry).toEqual({ actor_name: 'service key robot', user_id: null, has_key: true })
  })

  it("the level is the one in the path's organization, not in the current one", async () => {
    const { organization } = await createOrganization(app)
    const elsewhere = await createMember(app, organization)
    await app.post('/api/organizations/', { name: 'Where I rule' }, { key: elsewhere.key })
    expect((await app.patch(pathOf(organization.id), { name: 'No' }, { key: elsewhere.key })).status).toBe(
      403,
    )
    expect(
      (await app.patch('/api/organizations/@current/', { name: 'Yes' }, { key: elsewhere.key })).status,
    ).toBe(200)
  })

  it.each([
    [{ name: '' }, 'blank', 'name'],
    [{ name: null }, 'null', 'name'],
    [{ name: 'n'.repeat(65) }, 'max_length', 'name'],
    [{ name: 7 }, 'invalid_input', 'name'],
    [{ name: 'a\0' }, 'invalid_input', 'name'],
    [{ is_member_join_email_enabled: null }, 'null', 'is_member_join_email_enabled'],
    [{ enforce_2fa: 'yes please' }, 'invalid_input', 'enforce_2fa'],
  ])('400 for %j, and nothing changes', async (body, code, attr) => {
    const before = await storedOrganization(workspace.organization.id)
    const reply = await app.patch(own(), { ...body }, { key: admin.key })
    expect(reply).toMatchObject({ status: 400, body: { type: 'validation_error', code, attr } })
    expect(await storedOrganization(workspace.organization.id)).toEqual(before)
  })

  it('403 comes before 400: a member with a bad body learns nothing about it', async () => {
    expect((await app.patch(own(), { name: '' }, { key: member.key })).status).toBe(403)
    const headers = { 'content-type': 'application/json' }
    expect((await app.call('PATCH', own(), { key: member.key, headers, body: '{' })).status).toBe(403)
  })

  it('400 for JSON that cannot be read, 415 for another media type', async () => {
    const unreadable = await app.call('PATCH', own(), {
      key: admin.key,
      headers: { 'content-type': 'application/json' },
      body: '{"name":',
    })
    expect(unreadable).toMatchObject({ status: 400, body: { type: 'invalid_request', code: 'parse_error' } })
    const xml = await app.call('PATCH', own(), {
      key: admin.key,
      headers: { 'content-type': 'text/xml' },
      body: '<a/>',
    })
    expect(xml).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } })
  })

  it('403 for a session older than two hours; a key of the same age is fine', async () => {
    const { organization, owner } = await createOrganization(app)
    app.advance(2 * HOUR_MS + 1000)
    const path = pathOf(organization.id)
    expect((await app.patch(path, { name: 'Late' }, { session: owner.session })).body.code).toBe(
      'recent_sign_in_required',
    )
    expect((await app.delete(path, { session: owner.session })).status).toBe(403)
    expect((await app.get(path, { session: owner.session })).status).toBe(200)
    expect((await app.patch(path, { name: 'Late' }, { key: owner.key })).status).toBe(200)
  })

  it('two changes at once both hold, and the log tells each from the one before', async () => {
    const { organization, owner } = await createOrganization(app, { name: '0' })
    const names = ['1', '2', '3', '4', '5', '6']
    const replies = await Promise.all(
      names.map((name) => app.patch(pathOf(organization.id), { name }, { key: owner.key })),
    )
    expect(replies.map(({ status }) => status)).toEqual(names.map(() => 200))
    const entries = (await organizationEntries(organization.id)).slice(1)
    const changes = entries.map(({ detail }) => detail.changes[0] as { before: string; after: string })
    expect(changes.map(({ before }) => before)).toEqual([
      '0',
      ...changes.slice(0, -1).map(({ after }) => after),
    ])
    expect((await storedOrganization(organization.id))!.name).toBe(changes.at(-1)!.after)
  })
})
