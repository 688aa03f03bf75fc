// Personal API keys over HTTP: made and managed in a session, used everywhere else.
import { createHash } from 'node:crypto'
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
import { startTestApp, type Reply, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import { SCOPE_OBJECTS } from '../../platform/http/scopes.ts'
import type { KeyRow } from './schema.ts'

const HOUR_MS = 60 * 60 * 1000
const KEYS = '/api/personal_api_keys/'
const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000'

let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
})
afterAll(() => app.close())

const keyRow = (id: string) => app.db.row<KeyRow>(sql`SELECT * FROM api_key WHERE id = ${id}`)
const keyRowOf = (value: string) =>
  app.db.only<KeyRow>(sql`SELECT * FROM api_key WHERE value_hash = ${hashOf(value)}`)
const hashOf = (value: string) => `sha256$${createHash('sha256').update(value).digest('hex')}`
const ahead = (ms: number) => new Date(app.services.now().getTime() + ms).toISOString()

async function make(user: TestUser, fields: Record<string, unknown> = {}) {
  const reply = await app.post(
    KEYS,
    { label: 'robot', scopes: ['organization:read'], ...fields },
    { session: user.session },
  )
  expect(reply.status).toBe(201)
  app.canary.plant('API key', reply.body.value)
  return reply.body
}

async function countKeys(user: TestUser): Promise<number> {
  return (
    await app.db.only<{ count: number }>(
      sql`SELECT count(*)::int AS count FROM api_key WHERE user_id = ${user.id}`,
    )
  ).count
}

/** As the specification writes it: `400 unique domain`, with `-` for no field. */
const problem = (reply: Reply) => `${reply.status} ${reply.body.code} ${reply.body.attr ?? '-'}`

async function entries(item_id: string) {
  const path = `/api/organizations/${workspace.organization.id}/activity_log/?item_id=${item_id}`
  return (await app.get(path, { key: workspace.owner.key })).body.results
}

describe('POST personal_api_keys/', () => {
  it('201 gives the value this once; the table keeps its hash and mask', async () => {
    const key = await make(workspace.owner, {
      label: ' robot ',
      scopes: ['organization:read', 'project:write', 'organization:read'],
    })
    expect(key).toEqual({
      id: expect.stringMatching(/^\w{1,50}$/),
      label: 'robot',
      value: expect.stringMatching(/^phx_[0-9A-Za-z]{46,48}$/),
      mask_value: `phx_...${key.value.slice(-4)}`,
      scopes: ['organization:read', 'project:write'],
      scoped_organizations: [],
      scoped_teams: [],
      user_id: workspace.owner.id,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      last_used_at: null,
      last_rolled_at: null,
      expires_at: null,
    })
    expect(key.mask_value).toHaveLength(11)
    expect(await keyRow(key.id)).toMatchObject({
      value_hash: hashOf(key.value),
      organization_id: null,
      level: null,
    })
    const [entry] = await entries(key.id)
    expect(entry).toMatchObject({
      scope: 'PersonalAPIKey',
      activity: 'created',
      user: { id: workspace.owner.id },
      detail: {
        name: `robot (${key.mask_value})`,
        changes: [{ action: 'created', field: 'scopes', before: null, after: key.scopes }],
      },
    })
    expect(
      (await app.get(`/api/organizations/${workspace.organization.id}/`, { key: key.value })).status,
    ).toBe(200)
  })

  it('201 takes every scope that PostHog knows', async () => {
    const user = await createUser(app)
    const scopes = SCOPE_OBJECTS.flatMap((object) => [`${object}:read`, `${object}:write`])
    expect((await make(user, { scopes })).scopes).toEqual(scopes)
    expect(scopes.length).toBeGreaterThan(200)
    expect((await make(user, { scopes: ['*'] })).scopes).toEqual(['*'])
  })

  it('201 with limits within reach, written in any case', async () => {
    const key = await make(workspace.owner, {
      scoped_organizations: [workspace.organization.id.toUpperCase()],
      scoped_teams: [String(workspace.project.id)],
    })
    expect(key).toMatchObject({
      scoped_organizations: [workspace.organization.id],
      scoped_teams: [workspace.project.id],
    })
  })

  it('201 ignores whose key it shall be and every other field that is not the client’s', async () => {
    const other = await createUser(app)
    const user = await createUser(app)
    const key = await make(user, {
      id: 'mine',
      value: 'phx_chosen_by_the_client',
      mask_value: 'phx_...mine',
      user_id: other.id,
      user: other.id,
      organization_id: workspace.organization.id,
      level: 15,
      last_used_at: ahead(0),
      created_at: '2000-01-01',
    })
    expect(key).toMatchObject({ user_id: user.id, last_used_at: null })
    expect([key.id, key.value, key.mask_value]).not.toContain('mine')
    expect(key.value).not.toBe('phx_chosen_by_the_client')
    expect(await keyRow(key.id)).toMatchObject({ user_id: user.id, organization_id: null, level: null })
    expect(await countKeys(other)).toBe(1)
  })

  const good = { label: 'x', scopes: ['*'] }
  it.each<[string, object, string]>([
    ['no label', { scopes: ['*'] }, 'required label'],
    ['null label', { ...good, label: null }, 'null label'],
    ['empty label', { ...good, label: '' }, 'blank label'],
    ['blank label', { ...good, label: '   ' }, 'blank label'],
    ['long label', { ...good, label: 'x'.repeat(41) }, 'max_length label'],
    ['label of another type', { ...good, label: 5 }, 'invalid_input label'],
    ['no scopes', { label: 'x' }, 'required scopes'],
    ['null scopes', { ...good, scopes: null }, 'null scopes'],
    ['empty scopes', { ...good, scopes: [] }, 'empty scopes'],
    ['scopes as text', { ...good, scopes: '*' }, 'not_a_list scopes'],
    ['unknown object', { ...good, scopes: ['*', 'payroll:read'] }, 'invalid_input scopes'],
    ['unknown action', { ...good, scopes: ['organization:delete'] }, 'invalid_input scopes'],
    ['object alone', { ...good, scopes: ['organization'] }, 'invalid_input scopes'],
    ['object with star', { ...good, scopes: ['organization:*'] }, 'invalid_input scopes'],
    ['other case', { ...good, scopes: ['Organization:Read'] }, 'invalid_input scopes'],
    ['a number', { ...good, scopes: [1] }, 'invalid_input scopes'],
    ['null inside', { ...good, scopes: [null] }, 'invalid_input scopes'],
    [
      'no such organization',
      { ...good, scoped_organizations: [UNKNOWN_ID] },
      'invalid_input scoped_organizations',
    ],
    [
      'malformed organization',
      { ...good, scoped_organizations: ['nonsense'] },
      'invalid_input scoped_organizations',
    ],
    [
      'organizations as text',
      { ...good, scoped_organizations: UNKNOWN_ID },
      'not_a_list scoped_organizations',
    ],
    ['no such project', { ...good, scoped_teams: [2_000_000_000] }, 'invalid_input scoped_teams'],
    ['impossible project', { ...good, scoped_teams: [99_999_999_999] }, 'invalid_input scoped_teams'],
    ['malformed project', { ...good, scoped_teams: ['x'] }, 'invalid_input scoped_teams'],
    ['malformed expiry', { ...good, expires_at: 'tomorrow' }, 'invalid_input expires_at'],
    ['past expiry', { ...good, expires_at: '2020-01-01T00:00:00Z' }, 'invalid_input expires_at'],
    ['two problems: the first counts', { label: '', scopes: [] }, 'blank label'],
  ])('400: %s', async (_case, body, expected) => {
    const user = await createUser(app)
    expect(problem(await app.post(KEYS, body, { session: user.session }))).toBe(`400 ${expected}`)
    expect(await countKeys(user)).toBe(1)
  })

  it.each<[unknown, string]>([
    ['payroll:read', '`payroll:read` is not a scope.'],
    [' organization:delete ', '`organization:delete` is not a scope.'],
    ['organization', '`organization` is not a scope.'],
    // Minted by PostHog's own servers alone, never given to a key.
    ['internal_run:read', '`internal_run:read` is not a scope.'],
  ])('400 names the wrong scope %j', async (wrong, detail) => {
    const body = { ...good, scopes: ['project:read', wrong] }
    expect((await app.post(KEYS, body, { session: workspace.owner.session })).body.detail).toBe(detail)
  })

  it.each([1, null, '', 'phx_0123456789', '<b>:read', 'x'.repeat(100)])(
    '400 tells the place of %j, which cannot be a scope, and does not repeat it',
    async (wrong) => {
      const body = { ...good, scopes: ['project:read', wrong] }
      const { detail } = (await app.post(KEYS, body, { session: workspace.owner.session })).body
      expect(detail).toMatch(/^Entry 2 is not a scope: /)
    },
  )

  it('400 for limits that are somebody else’s', async () => {
    const other = await createOrganization(app)
    const as = { session: workspace.owner.session }
    const mixed = [workspace.organization.id, other.organization.id]
    expect(problem(await app.post(KEYS, { ...good, scoped_organizations: mixed }, as))).toBe(
      '400 invalid_input scoped_organizations',
    )
    const teams = [workspace.project.id, other.project.id]
    expect(problem(await app.post(KEYS, { ...good, scoped_teams: teams }, as))).toBe(
      '400 invalid_input scoped_teams',
    )
  })

  it('400 for projects of an organization that lets no member use such keys; 201 for those of another', async () => {
    const [closed, open] = [await createOrganization(app), await createOrganization(app)]
    const { owner } = open
    await createMembership(owner, closed)
    await app.db.run(
      sql`UPDATE organization SET members_can_use_personal_api_keys = false WHERE id = ${closed.organization.id}`,
    )
    const make = (...projects: number[]) =>
      app.post(KEYS, { ...good, scoped_teams: projects }, { session: owner.session })
    expect(problem(await make(open.project.id, closed.project.id))).toBe('400 invalid_input scoped_teams')
    expect((await make(open.project.id)).status).toBe(201)
  })

  it('400 for the eleventh, until one is deleted', async () => {
    const user = await createUser(app)
    const made = []
    while ((await countKeys(user)) < 10) made.push(await make(user))
    const as = { session: user.session }
    expect(problem(await app.post(KEYS, good, as))).toBe('400 invalid_input -')
    expect(await countKeys(user)).toBe(10)
    await app.delete(`${KEYS}${made[0].id}/`, as)
    await make(user)
  })

  it('400 for those too many of a crowd that comes at once', async () => {
    const user = await createUser(app)
    const replies = await Promise.all(
      Array.from({ length: 15 }, () => app.post(KEYS, good, { session: user.session })),
    )
    for (const { body } of replies.filter(({ status }) => status === 201))
      app.canary.plant('API key', body.value)
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(9)
    for (const reply of replies.filter(({ status }) => status !== 201))
      expect(problem(reply)).toBe('400 invalid_input -')
    expect(await countKeys(user)).toBe(10)
  })

  it('the number is a setting', async () => {
    const strict = await startTestApp({ MAX_KEYS_PER_USER: '1' })
    try {
      const user = await createUser(strict)
      expect(problem(await strict.post(KEYS, good, { session: user.session }))).toBe('400 invalid_input -')
    } finally {
      await strict.close()
    }
  })
})

describe('GET personal_api_keys/', () => {
  it('200 is a plain list, newest first, own keys only, without values', async () => {
    const user = await createUser(app)
    app.advance(10)
    const older = await make(user, { label: 'older' })
    app.advance(10)
    const newer = await make(user, { label: 'newer' })
    const reply = await app.get(KEYS, { session: user.session })
    expect(reply.status).toBe(200)
    expect(reply.body.map((key: { label: string }) => key.label)).toEqual(['newer', 'older', 'test'])
    expect(reply.body.slice(0, 2)).toEqual([
      { ...newer, value: null },
      { ...older, value: null },
    ])
  })

  it('401 without credentials', async () => {
    const reply = await app.get(KEYS)
    expect(problem(reply)).toBe('401 not_authenticated -')
    expect(reply.headers['www-authenticate']).toBe('Bearer')
  })
})

describe('PATCH personal_api_keys/:id/', () => {
  it('200 changes what is given, at once for the next request, and keeps the value', async () => {
    const key = await make(workspace.owner, { scopes: ['project:read'] })
    const organization = `/api/organizations/${workspace.organization.id}/`
    expect((await app.get(organization, { key: key.value })).status).toBe(403)
    const as = { session: workspace.owner.session }
    const reply = await app.patch(
      `${KEYS}${key.id}/`,
      { label: 'renamed', scopes: ['organization:read'], value: 'x', user_id: 1 },
      as,
    )
    expect(reply.status).toBe(200)
    const { last_used_at, ...rest } = reply.body
    expect(rest).toEqual({ ...withoutUse(key), label: 'renamed', scopes: ['organization:read'], value: null })
    expect(last_used_at).not.toBeNull()
    expect((await app.get(organization, { key: key.value })).status).toBe(200)
    const [entry] = await entries(key.id)
    expect(entry).toMatchObject({ activity: 'updated' })
    expect(entry.detail.changes).toEqual([
      { type: 'PersonalAPIKey', action: 'changed', field: 'label', before: 'robot', after: 'renamed' },
      {
        type: 'PersonalAPIKey',
        action: 'changed',
        field: 'scopes',
        before: ['project:read'],
        after: ['organization:read'],
      },
    ])
  })

  it('200 for an empty change, which is none', async () => {
    const key = await make(workspace.owner)
    const before = await keyRow(key.id)
    const reply = await app.patch(`${KEYS}${key.id}/`, {}, { session: workspace.owner.session })
    expect(reply.body).toEqual({ ...key, value: null })
    expect(await keyRow(key.id)).toEqual(before)
    expect(await entries(key.id)).toHaveLength(1)
  })

  it('200 limits are not shown to the admins who read the log', async () => {
    const key = await make(workspace.owner)
    const limits = { scoped_organizations: [workspace.organization.id], scoped_teams: [workspace.project.id] }
    const reply = await app.patch(`${KEYS}${key.id}/`, limits, { session: workspace.owner.session })
    expect(reply.body).toMatchObject(limits)
    expect((await entries(key.id))[0]).toMatchObject({ activity: 'updated', detail: { changes: [] } })
  })

  it.each<[object, string]>([
    [{ label: '' }, 'blank label'],
    [{ scopes: [] }, 'empty scopes'],
    [{ scopes: ['everything'] }, 'invalid_input scopes'],
    [{ scoped_organizations: [UNKNOWN_ID] }, 'invalid_input scoped_organizations'],
    [{ scoped_teams: [0] }, 'invalid_input scoped_teams'],
    [{ expires_at: '2020-01-01' }, 'invalid_input expires_at'],
  ])('400 for %j, and the key stays as it was', async (body, expected) => {
    const user = await createUser(app)
    const key = await make(user)
    const before = await keyRow(key.id)
    expect(problem(await app.patch(`${KEYS}${key.id}/`, body, { session: user.session }))).toBe(
      `400 ${expected}`,
    )
    expect(await keyRow(key.id)).toEqual(before)
  })
})

describe('DELETE personal_api_keys/:id/', () => {
  it('204, and the key is 401 from then on', async () => {
    const key = await make(workspace.owner)
    const as = { session: workspace.owner.session }
    expect((await app.get(`${KEYS}@current/`, { key: key.value })).status).toBe(200)
    expect((await app.delete(`${KEYS}${key.id}/`, as)).status).toBe(204)
    expect(problem(await app.get(`${KEYS}@current/`, { key: key.value }))).toBe('401 authentication_failed -')
    expect(problem(await app.delete(`${KEYS}${key.id}/`, as))).toBe('404 not_found -')
    const [entry] = await entries(key.id)
    expect(entry).toMatchObject({
      activity: 'deleted',
      detail: {
        changes: [{ action: 'deleted', field: 'scopes', before: ['organization:read'], after: null }],
      },
    })
  })

  it('204 once and 404 for the rest when several delete at the same moment', async () => {
    const key = await make(workspace.owner)
    const as = { session: workspace.owner.session }
    const replies = await Promise.all(Array.from({ length: 4 }, () => app.delete(`${KEYS}${key.id}/`, as)))
    expect(replies.map(({ status }) => status).filter((status) => status === 204)).toHaveLength(1)
    expect(replies.map(({ status }) => status).filter((status) => status === 404)).toHaveLength(3)
    expect(await entries(key.id)).toHaveLength(2)
  })
})

describe('POST personal_api_keys/:id/roll/', () => {
  it('200 gives a new value this once; the old one is 401 from then on, all else is as before', async () => {
    const user = await createMember(app, workspace.organization)
    const key = await make(user, { label: 'to roll', expires_at: ahead(HOUR_MS) })
    const reply = await app.post(`${KEYS}${key.id}/roll/`, { label: 'ignored' }, { session: user.session })
    expect(reply.status).toBe(200)
    app.canary.plant('API key', reply.body.value)
    const { value, mask_value, last_rolled_at } = reply.body
    expect(reply.body).toEqual({ ...key, value, mask_value, last_rolled_at })
    expect(value).toMatch(/^phx_[0-9A-Za-z]{46,48}$/)
    expect(value).not.toBe(key.value)
    expect(mask_value).toBe(`phx_...${value.slice(-4)}`)
    expect(app.services.now().getTime() - Date.parse(last_rolled_at)).toBeLessThan(30_000)
    expect(problem(await app.get(`${KEYS}@current/`, { key: key.value }))).toBe('401 authentication_failed -')
    expect((await app.get(`${KEYS}@current/`, { key: value })).body).toMatchObject({
      id: key.id,
      value: null,
    })
    const [entry] = await entries(key.id)
    expect(entry).toMatchObject({ activity: 'rolled', user: { id: user.id } })
    expect(entry.detail.changes).toEqual([
      {
        type: 'PersonalAPIKey',
        action: 'changed',
        field: 'mask_value',
        before: key.mask_value,
        after: mask_value,
      },
    ])
  })
})

describe('another user’s key', () => {
  it('404 for whoever signs in, also for an id that is none', async () => {
    const mine = await make(workspace.owner)
    const other = await createUser(app)
    const as = { session: other.session }
    const service = await createServiceKey(app, workspace.organization, { scopes: ['*'] })
    const serviceId = (await keyRowOf(service)).id
    for (const id of [mine.id, serviceId, 'nonsense', '@current', 'x'.repeat(300)]) {
      expect(problem(await app.get(`${KEYS}${id}/`, as))).toBe('404 not_found -')
      expect(problem(await app.patch(`${KEYS}${id}/`, { label: '' }, as))).toBe('404 not_found -')
      expect(problem(await app.delete(`${KEYS}${id}/`, as))).toBe('404 not_found -')
      expect(problem(await app.post(`${KEYS}${id}/roll/`, undefined, as))).toBe('404 not_found -')
    }
    expect((await app.get(`${KEYS}${mine.id}/`, { session: workspace.owner.session })).body).toMatchObject({
      id: mine.id,
      label: 'robot',
      value: null,
    })
    expect((await app.get(`${KEYS}@current/`, { key: mine.value })).status).toBe(200)
    expect((await app.get(`${KEYS}@current/`, { key: service })).status).toBe(200)
  })
})

describe('what a key may do here', () => {
  it('200 looks at itself, by @current or its id, whatever its scopes and limits', async () => {
    const user = await createMember(app, workspace.organization)
    const limits = { scoped_organizations: [workspace.organization.id], scoped_teams: [workspace.project.id] }
    const key = await make(user, { scopes: ['survey:read'], ...limits })
    for (const id of ['@current', key.id]) {
      const reply = await app.get(`${KEYS}${id}/`, { key: key.value })
      expect(reply.status).toBe(200)
      expect(reply.body).toMatchObject({
        id: key.id,
        label: 'robot',
        value: null,
        scopes: ['survey:read'],
        user_id: user.id,
        ...limits,
      })
    }
  })

  it('403 for everything else, even with `*`', async () => {
    const user = await createUser(app)
    const other = await make(user)
    const as = { key: user.key }
    const before = await countKeys(user)
    const { id } = await keyRowOf(user.key)
    const refused = [
      await app.get(KEYS, as),
      await app.post(KEYS, { label: 'x', scopes: ['*'] }, as),
      await app.post(KEYS, { nonsense: true }, as),
      await app.get(`${KEYS}${other.id}/`, as),
      await app.get(`${KEYS}nonsense/`, as),
      await app.patch(`${KEYS}${id}/`, { scopes: ['*'] }, as),
      await app.patch(`${KEYS}@current/`, { label: 'x' }, as),
      await app.delete(`${KEYS}${id}/`, as),
      await app.post(`${KEYS}${id}/roll/`, undefined, as),
      await app.post(`${KEYS}@current/roll/`, undefined, as),
    ]
    for (const reply of refused) {
      expect(problem(reply)).toBe('403 permission_denied -')
      expect(reply.body.type).toBe('authentication_error')
    }
    expect(await countKeys(user)).toBe(before)
    expect((await app.get(`${KEYS}@current/`, as)).body.id).toBe(id)
  })
})

describe('expires_at', () => {
  it('ends the key at that instant, and a later one brings it back', async () => {
    const user = await createMember(app, workspace.organization)
    const key = await make(user, { expires_at: ahead(HOUR_MS) })
    const probe = () => app.get(`${KEYS}@current/`, { key: key.value })
    expect((await probe()).body.expires_at).toBe(key.expires_at)
    app.advance(HOUR_MS)
    const reply = await probe()
    expect(problem(reply)).toBe('401 authentication_failed -')
    expect(reply.headers['www-authenticate']).toBe('Bearer')
    const as = { session: user.session }
    await app.post('/api/login/confirm/', { password: user.password }, as)
    const roll = () => app.post(`${KEYS}${key.id}/roll/`, {}, as)
    expect(problem(await roll())).toBe('400 invalid_input expires_at')
    expect((await app.patch(`${KEYS}${key.id}/`, { expires_at: ahead(HOUR_MS) }, as)).status).toBe(200)
    expect((await probe()).status).toBe(200)
    expect((await app.patch(`${KEYS}${key.id}/`, { expires_at: null }, as)).body.expires_at).toBeNull()
    app.advance(1000 * 24 * HOUR_MS)
    expect((await probe()).status).toBe(200)
  })
})

describe('last_used_at', () => {
  it('is null until the first use and then written at most once an hour', async () => {
    const user = await createUser(app)
    const key = await make(user)
    const use = () => app.get(`${KEYS}@current/`, { key: key.value })
    const lastUse = async () => (await keyRow(key.id))!.last_used_at
    expect(await lastUse()).toBeNull()
    await Promise.all([use(), use(), use()])
    const first = await lastUse()
    expect(app.services.now().getTime() - first!.getTime()).toBeLessThan(30_000)
    app.advance(HOUR_MS - 60_000)
    await use()
    expect(await lastUse()).toEqual(first)
    app.advance(60_000)
    await use()
    expect((await lastUse())!.getTime()).toBeGreaterThanOrEqual(first!.getTime() + HOUR_MS)
    const shown = await app.get(KEYS, { session: user.session })
    expect(shown.body.find(({ id }: { id: string }) => id === key.id).last_used_at).toBe(
      (await lastUse())!.toISOString(),
    )
  })

  it('that cannot be written keeps nobody out', async () => {
    const { key } = await createUser(app)
    await app.db.pool.query(`
      CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE disk_full; END $$;
      CREATE TRIGGER no_room BEFORE UPDATE ON api_key EXECUTE FUNCTION no_room()`)
    expect((await app.get('/api/users/@me/', { key })).status).toBe(200)
    await app.db.pool.query('DROP FUNCTION no_room CASCADE')
  })
})

describe('a key whose owner', () => {
  it('left an organization stays good for the others, and the left one is closed at once', async () => {
    const second = await createOrganization(app)
    const person = await createMember(app, second.organization, { level: 'admin' })
    await createMembership(person, workspace)
    const path = ({ organization }: Workspace) => `/api/organizations/${organization.id}/`
    const as = { key: person.key }
    expect((await app.get(path(workspace), as)).status).toBe(200)
    expect((await app.delete(`${path(workspace)}members/@me/`, as)).status).toBe(204)
    expect((await app.get(path(workspace), as)).status).toBe(404)
    expect((await app.get(`${path(workspace)}members/`, as)).status).toBe(403)
    expect((await app.get(`/api/projects/${workspace.project.id}/`, as)).status).toBe(404)
    expect((await app.get(path(second), as)).status).toBe(200)
    expect(
      (await app.get('/api/organizations/', as)).body.results.map(({ id }: { id: string }) => id),
    ).toEqual([second.organization.id])
  })

  it('was limited to an organization that is gone is limited to nothing else', async () => {
    const second = await createOrganization(app)
    await createMembership(second.owner, workspace)
    const key = await createKey(app, second.owner, {
      scopes: ['*'],
      scoped_organizations: [second.organization.id],
    })
    expect(
      (await app.delete(`/api/organizations/${second.organization.id}/`, { key: second.owner.key })).status,
    ).toBe(204)
    expect((await app.get(`/api/organizations/${workspace.organization.id}/`, { key })).status).toBe(404)
    expect((await app.get('/api/organizations/', { key })).body.results).toEqual([])
    expect((await app.get(`${KEYS}@current/`, { key })).body.scoped_organizations).toEqual([
      second.organization.id,
    ])
  })
})

describe('scopes (conventions.md §3.1)', () => {
  const organization = () => `/api/organizations/${workspace.organization.id}/`
  const calls = {
    'organization:read': (as: { key: string }) => app.get(organization(), as),
    'organization:write': (as: { key: string }) => app.patch(organization(), {}, as),
    'organization_member:read': (as: { key: string }) => app.get(`${organization()}members/`, as),
    'organization_member:write': (as: { key: string }) =>
      app.delete(`${organization()}invites/${UNKNOWN_ID}/`, as),
    'project:read': (as: { key: string }) => app.get(`/api/projects/${workspace.project.id}/`, as),
    'project:write': (as: { key: string }) => app.patch(`/api/projects/${workspace.project.id}/`, {}, as),
  }
  type Demand = keyof typeof calls
  const all = Object.keys(calls) as Demand[]

  it.each<[string[], Demand[]]>([
    [['*'], all],
    [['organization:read'], ['organization:read']],
    [['organization:write'], ['organization:read', 'organization:write']],
    [['organization_member:read'], ['organization_member:read']],
    [['organization_member:write'], ['organization_member:read', 'organization_member:write']],
    [
      ['organization_member:read', 'project:write'],
      ['organization_member:read', 'project:read', 'project:write'],
    ],
    [
      ['project:read', 'organization:read'],
      ['organization:read', 'project:read'],
    ],
    [['survey:write', 'user:write'], []],
  ])('%j opens %j and nothing else', async (scopes, opened) => {
    const key = await createKey(app, workspace.owner, { scopes })
    const outcome: Record<string, string> = {}
    for (const demand of all) {
      const { status, body } = await calls[demand]({ key })
      outcome[demand] = status === 403 ? `${body.type} ${body.code} ${body.detail}` : 'open'
    }
    const refusal = (demand: Demand) =>
      expect.stringMatching(`^authentication_error permission_denied .*\`${demand}\``)
    expect(outcome).toEqual(
      Object.fromEntries(all.map((demand) => [demand, opened.includes(demand) ? 'open' : refusal(demand)])),
    )
  })

  it('`*` passes no check of membership or level', async () => {
    const member = await createMember(app, workspace.organization)
    const stranger = await createUser(app)
    expect(problem(await app.patch(organization(), { name: 'mine' }, { key: member.key }))).toBe(
      '403 permission_denied -',
    )
    expect(problem(await app.get(organization(), { key: stranger.key }))).toBe('404 not_found -')
  })

  it('a session has no scopes to lack', async () => {
    const owner = (await createOrganization(app)).owner
    expect(
      (
        await app.get(`/api/organizations/${owner.current_organization_id}/members/`, {
          session: owner.session,
        })
      ).status,
    ).toBe(200)
  })
})

async function createMembership(user: TestUser, { organization }: Workspace): Promise<void> {
  const now = app.services.now()
  await app.db.run(sql`
    INSERT INTO membership (id, organization_id, user_id, level, joined_at, updated_at)
    VALUES (gen_random_uuid(), ${organization.id}, ${user.id}, 1, ${now}, ${now})`)
}

function withoutUse({ last_used_at: _unused, ...rest }: Record<string, unknown>) {
  return rest
}
