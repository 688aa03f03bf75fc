// Service keys over HTTP: they belong to an organization, are managed by its admins, and outlive whoever made them.
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createKey,
  createMember,
  createOrganization,
  createServiceKey,
  createUser,
  type Workspace,
} from '../../../test/factories.ts'
import { startTestApp, type Call, type Reply, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import { findServiceKey } from './queries.ts'
import type { KeyRow } from './schema.ts'

const HOUR_MS = 60 * 60 * 1000

let app: TestApp
let workspace: Workspace
let other: Workspace
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  other = await createOrganization(app)
})
afterAll(() => app.close())

const pathOf = ({ organization }: Workspace) => `/api/organizations/${organization.id}/`
const keysOf = (of: Workspace) => `${pathOf(of)}service_keys/`
const rowOf = (value: string) =>
  app.db.row<KeyRow>(sql`SELECT * FROM api_key WHERE value_hash = ${hashOf(value)}`)
const hashOf = (value: string) => `sha256$${createHash('sha256').update(value).digest('hex')}`
const ahead = (ms: number) => new Date(app.services.now().getTime() + ms).toISOString()

async function make(fields: Record<string, unknown> = {}, as: Call = { key: workspace.owner.key }) {
  const reply = await app.post(
    keysOf(workspace),
    { label: 'deployer', scopes: ['organization:read'], ...fields },
    as,
  )
  expect(reply.status).toBe(201)
  app.canary.plant('service key', reply.body.value)
  return reply.body
}

async function countKeys(): Promise<number> {
  return (await app.get(keysOf(workspace), { key: workspace.owner.key })).body.count
}

async function entries(filter: string, of = workspace) {
  return (await app.get(`${pathOf(of)}activity_log/?${filter}`, { key: of.owner.key })).body.results
}

/** As the specification writes it: `400 unique domain`, with `-` for no field. */
const problem = (reply: Reply) => `${reply.status} ${reply.body.code} ${reply.body.attr ?? '-'}`

describe('POST service_keys/', () => {
  it('201 gives the value this once; the table keeps its hash and mask', async () => {
    const key = await make({
      label: ' deployer ',
      scopes: ['organization:read', 'project:read'],
      expires_at: ahead(HOUR_MS),
    })
    expect(key).toEqual({
      id: expect.stringMatching(/^\w{1,50}$/),
      label: 'deployer',
      value: expect.stringMatching(/^lsk_[0-9A-Za-z]{46,48}$/),
      mask_value: `lsk_...${key.value.slice(-4)}`,
      organization_id: workspace.organization.id,
      level: 8,
      scopes: ['organization:read', 'project:read'],
      scoped_teams: [],
      created_by: expect.objectContaining({ id: workspace.owner.id, email: workspace.owner.email }),
      created_at: expect.any(String),
      last_used_at: null,
      last_rolled_at: null,
      expires_at: expect.any(String),
    })
    expect(await rowOf(key.value)).toMatchObject({
      id: key.id,
      user_id: null,
      organization_id: workspace.organization.id,
    })
    const [entry] = await entries(`item_id=${key.id}`)
    expect(entry).toMatchObject({
      scope: 'ServiceAPIKey',
      activity: 'created',
      user: { id: workspace.owner.id },
    })
    expect(entry.detail.name).toBe(`deployer (${key.mask_value})`)
  })

  it('201 at the level given, in a session as well', async () => {
    expect((await make({ level: 1 }, { session: workspace.owner.session })).level).toBe(1)
    expect((await make({ level: '8' })).level).toBe(8)
  })

  const good = { label: 'x', scopes: ['*'] }
  it.each<[string, object, string]>([
    ['no label', { scopes: ['*'] }, 'required label'],
    ['long label', { ...good, label: 'x'.repeat(41) }, 'max_length label'],
    ['no scopes', { label: 'x' }, 'required scopes'],
    ['empty scopes', { ...good, scopes: [] }, 'empty scopes'],
    ['unknown scope', { ...good, scopes: ['everything:write'] }, 'invalid_input scopes'],
    ['owner', { ...good, level: 15 }, 'invalid_choice level'],
    ['a level that is none', { ...good, level: 5 }, 'invalid_choice level'],
    ['no such project', { ...good, scoped_teams: [2_000_000_000] }, 'invalid_input scoped_teams'],
    ['past expiry', { ...good, expires_at: '2020-01-01T00:00:00Z' }, 'invalid_input expires_at'],
  ])('400: %s', async (_case, body, expected) => {
    const before = await countKeys()
    expect(problem(await app.post(keysOf(workspace), body, { key: workspace.owner.key }))).toBe(
      `400 ${expected}`,
    )
    expect(await countKeys()).toBe(before)
  })

  it('400 for a project of another organization, though the maker is a member there', async () => {
    const second = await createOrganization(app)
    await app.db.run(sql`
      INSERT INTO membership (id, organization_id, user_id, level, joined_at, updated_at)
      VALUES (gen_random_uuid(), ${second.organization.id}, ${workspace.owner.id}, 15, now(), now())`)
    const limited = { ...good, scoped_teams: [workspace.project.id, second.project.id] }
    expect(problem(await app.post(keysOf(workspace), limited, { key: workspace.owner.key }))).toBe(
      '400 invalid_input scoped_teams',
    )
    expect((await make({ scoped_teams: [workspace.project.id] })).scoped_teams).toEqual([
      workspace.project.id,
    ])
  })
})

describe('who manages them', () => {
  it('admins do, members and strangers do not', async () => {
    const key = await make()
    const member = await createMember(app, workspace.organization)
    const admin = await createMember(app, workspace.organization, { level: 'admin' })
    const stranger = await createUser(app)
    for (const as of [member, stranger].flatMap((user) => [{ key: user.key }, { session: user.session }])) {
      expect(problem(await app.get(keysOf(workspace), as))).toBe('403 permission_denied -')
      expect(problem(await app.get(`${keysOf(workspace)}${key.id}/`, as))).toBe('403 permission_denied -')
      expect(problem(await app.post(keysOf(workspace), { label: 'x', scopes: ['*'] }, as))).toBe(
        '403 permission_denied -',
      )
      expect(problem(await app.patch(`${keysOf(workspace)}${key.id}/`, { scopes: ['*'] }, as))).toBe(
        '403 permission_denied -',
      )
      expect(problem(await app.post(`${keysOf(workspace)}${key.id}/roll/`, undefined, as))).toBe(
        '403 permission_denied -',
      )
      expect(problem(await app.delete(`${keysOf(workspace)}${key.id}/`, as))).toBe('403 permission_denied -')
    }
    expect((await app.get(`${keysOf(workspace)}${key.id}/`, { key: admin.key })).body).toEqual({
      ...key,
      value: null,
    })
    expect((await app.get('/api/personal_api_keys/@current/', { key: key.value })).status).toBe(200)
  })

  it('404 for a key of another organization, a personal key’s id and one that is none', async () => {
    const key = await make()
    const personal = await rowOf(other.owner.key)
    const as = { key: other.owner.key }
    for (const id of [key.id, personal!.id, 'nonsense']) {
      expect(problem(await app.get(`${keysOf(other)}${id}/`, as))).toBe('404 not_found -')
      expect(problem(await app.patch(`${keysOf(other)}${id}/`, { label: '' }, as))).toBe('404 not_found -')
      expect(problem(await app.post(`${keysOf(other)}${id}/roll/`, undefined, as))).toBe('404 not_found -')
      expect(problem(await app.delete(`${keysOf(other)}${id}/`, as))).toBe('404 not_found -')
    }
    expect(await rowOf(key.value)).toMatchObject({ id: key.id, label: 'deployer' })
    expect(await rowOf(other.owner.key)).toEqual(expect.objectContaining({ id: personal!.id, label: 'test' }))
  })

  it('a key without `*` can look and delete, but neither make nor widen nor roll: it would hand itself more', async () => {
    const victim = await make()
    const narrow = ['organization:write', 'organization_member:write', 'project:write', 'user:write']
    const service = await createServiceKey(app, workspace.organization, { scopes: narrow })
    const personal = await createKey(app, workspace.owner, { scopes: narrow })
    const before = await countKeys()
    for (const as of [{ key: service }, { key: personal }]) {
      expect(
        problem(await app.post(keysOf(workspace), { label: 'x', scopes: ['organization:read'] }, as)),
      ).toBe('403 permission_denied -')
      expect(problem(await app.post(keysOf(workspace), {}, as))).toBe('403 permission_denied -')
      expect(problem(await app.patch(`${keysOf(workspace)}${victim.id}/`, { scopes: ['*'] }, as))).toBe(
        '403 permission_denied -',
      )
      expect(problem(await app.post(`${keysOf(workspace)}${victim.id}/roll/`, undefined, as))).toBe(
        '403 permission_denied -',
      )
      expect((await app.get(keysOf(workspace), as)).status).toBe(200)
    }
    expect(await countKeys()).toBe(before)
    expect(await rowOf(victim.value)).toMatchObject({ scopes: ['organization:read'], last_rolled_at: null })
    const own = (await rowOf(service))!
    expect(
      problem(await app.patch(`${keysOf(workspace)}${own.id}/`, { scopes: ['*'] }, { key: service })),
    ).toBe('403 permission_denied -')
    expect((await app.delete(`${keysOf(workspace)}${victim.id}/`, { key: personal })).status).toBe(204)
  })

  it('a key with `*` can: personal or service, of an admin', async () => {
    const service = await createServiceKey(app, workspace.organization, { scopes: ['*'] })
    const made = await make({ scopes: ['*'] }, { key: service })
    expect(made.created_by).toBeNull()
    expect((await make({}, { key: workspace.owner.key })).created_by.id).toBe(workspace.owner.id)
    const lowly = await createServiceKey(app, workspace.organization, { scopes: ['*'], level: 'member' })
    expect(
      problem(await app.post(keysOf(workspace), { label: 'x', scopes: ['*'], level: 8 }, { key: lowly })),
    ).toBe('403 permission_denied -')
    const fenced = await createServiceKey(app, workspace.organization, {
      scopes: ['*'],
      scoped_teams: [workspace.project.id],
    })
    expect(problem(await app.post(keysOf(workspace), { label: 'x', scopes: ['*'] }, { key: fenced }))).toBe(
      '403 permission_denied -',
    )
  })

  it('403 in a session of more than two hours for every change, while looking and keys go on', async () => {
    const admin = await createMember(app, workspace.organization, { level: 'admin' })
    const key = await make()
    app.advance(2 * HOUR_MS + 1000)
    const as = { session: admin.session }
    const before = await countKeys()
    expect(problem(await app.post(keysOf(workspace), { label: 'x', scopes: ['*'] }, as))).toBe(
      '403 recent_sign_in_required -',
    )
    expect(problem(await app.patch(`${keysOf(workspace)}${key.id}/`, { label: 'x' }, as))).toBe(
      '403 recent_sign_in_required -',
    )
    expect(problem(await app.post(`${keysOf(workspace)}${key.id}/roll/`, undefined, as))).toBe(
      '403 recent_sign_in_required -',
    )
    expect(problem(await app.delete(`${keysOf(workspace)}${key.id}/`, as))).toBe(
      '403 recent_sign_in_required -',
    )
    expect(await countKeys()).toBe(before)
    expect((await app.get(keysOf(workspace), as)).status).toBe(200)
    expect(
      (await app.patch(`${keysOf(workspace)}${key.id}/`, { label: 'y' }, { key: admin.key })).status,
    ).toBe(200)
  })
})

describe('GET service_keys/', () => {
  it('200 lists the organization’s keys, newest first, in pages, without values', async () => {
    const home = await createOrganization(app)
    const as = { key: home.owner.key }
    const made = []
    for (const label of ['first', 'second', 'third']) {
      app.advance(10)
      const reply = await app.post(keysOf(home), { label, scopes: ['*'] }, as)
      app.canary.plant('service key', reply.body.value)
      made.unshift({ ...reply.body, value: null })
    }
    const all = await app.get(keysOf(home), as)
    expect(all.body).toEqual({ count: 3, next: null, previous: null, results: made })
    const page = await app.get(`${keysOf(home)}?limit=1&offset=1`, as)
    expect(page.body).toMatchObject({ count: 3, results: [made[1]] })
    expect(page.body.next).toContain('offset=2')
  })
})

describe('PATCH service_keys/:id/', () => {
  it('200 changes label, scopes, limits and expiry, logs them, and leaves level and value alone', async () => {
    const key = await make()
    const expires_at = ahead(5 * HOUR_MS)
    const change = {
      label: 'renamed',
      scopes: ['project:read'],
      scoped_teams: [workspace.project.id],
      expires_at,
    }
    const path = `${keysOf(workspace)}${key.id}/`
    const reply = await app.patch(
      path,
      { ...change, level: 1, value: 'x', organization_id: other.organization.id },
      { key: workspace.owner.key },
    )
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({ ...key, ...change, value: null })
    const [entry] = await entries(`item_id=${key.id}`)
    expect(entry.activity).toBe('updated')
    expect(entry.detail.changes.map(({ field }: { field: string }) => field)).toEqual([
      'label',
      'scopes',
      'scoped_teams',
      'expires_at',
    ])
    expect((await app.get(`/api/projects/${workspace.project.id}/`, { key: key.value })).status).toBe(200)
    expect((await app.get(pathOf(workspace), { key: key.value })).status).toBe(403)
    expect((await app.patch(path, {}, { key: workspace.owner.key })).body).toMatchObject({ ...change })
    expect(await entries(`item_id=${key.id}`)).toHaveLength(2)
  })

  it('400 for what POST refuses too', async () => {
    const key = await make()
    const path = `${keysOf(workspace)}${key.id}/`
    const as = { key: workspace.owner.key }
    expect(problem(await app.patch(path, { scopes: [] }, as))).toBe('400 empty scopes')
    expect(problem(await app.patch(path, { label: '' }, as))).toBe('400 blank label')
    expect(problem(await app.patch(path, { scoped_teams: [other.project.id] }, as))).toBe(
      '400 invalid_input scoped_teams',
    )
    expect(problem(await app.patch(path, { expires_at: '2020-01-01' }, as))).toBe(
      '400 invalid_input expires_at',
    )
    expect((await app.get(path, as)).body).toEqual({ ...key, value: null })
  })
})

describe('POST service_keys/:id/roll/ and DELETE service_keys/:id/', () => {
  it('200 and 204: the old value is 401 from then on', async () => {
    const key = await make()
    const path = `${keysOf(workspace)}${key.id}/`
    const as = { key: workspace.owner.key }
    const reply = await app.post(`${path}roll/`, undefined, as)
    expect(reply.status).toBe(200)
    app.canary.plant('service key', reply.body.value)
    const { value, mask_value, last_rolled_at } = reply.body
    expect(reply.body).toEqual({ ...key, value, mask_value, last_rolled_at })
    expect(mask_value).toBe(`lsk_...${value.slice(-4)}`)
    expect(problem(await app.get(pathOf(workspace), { key: key.value }))).toBe('401 authentication_failed -')
    expect((await app.get(pathOf(workspace), { key: value })).status).toBe(200)
    expect((await app.delete(path, as)).status).toBe(204)
    expect(problem(await app.get(pathOf(workspace), { key: value }))).toBe('401 authentication_failed -')
    expect(problem(await app.get(path, as))).toBe('404 not_found -')
    const activities = (await entries(`item_id=${key.id}`)).map(
      ({ activity }: { activity: string }) => activity,
    )
    expect(activities).toEqual(['deleted', 'rolled', 'created'])
  })

  it('400 for one that has expired: its new value would open nothing', async () => {
    const key = await make({ expires_at: ahead(HOUR_MS) })
    const before = await rowOf(key.value)
    app.advance(HOUR_MS)
    const as = { key: workspace.owner.key }
    const reply = await app.post(`${keysOf(workspace)}${key.id}/roll/`, undefined, as)
    expect(problem(reply)).toBe('400 invalid_input expires_at')
    expect(await rowOf(key.value)).toEqual(before)
  })
})

describe('what a service key can do', () => {
  it('its level and scopes decide, as with a person', async () => {
    const admin = await make({ scopes: ['organization:write', 'project:write'] })
    const member = await make({ scopes: ['organization:write', 'project:write'], level: 1 })
    const rename = (key: string) => app.patch(pathOf(workspace), { name: 'Renamed' }, { key })
    expect((await rename(admin.value)).body).toMatchObject({ name: 'Renamed', membership_level: 8 })
    expect(problem(await rename(member.value))).toBe('403 permission_denied -')
    expect(problem(await app.delete(pathOf(workspace), { key: admin.value }))).toBe('403 permission_denied -')
    expect(problem(await app.get(`${pathOf(workspace)}members/`, { key: admin.value }))).toBe(
      '403 permission_denied -',
    )
    expect((await app.get(pathOf(workspace), { key: member.value })).body.membership_level).toBe(1)
    const project = await app.post(
      `${pathOf(workspace)}projects/`,
      { name: 'by a robot' },
      { key: admin.value },
    )
    expect(project.status).toBe(201)
    expect(problem(await app.post(`${pathOf(workspace)}projects/`, {}, { key: member.value }))).toBe(
      '403 permission_denied -',
    )
  })

  it('invites, as the organization and nobody in it', async () => {
    const key = await make({ scopes: ['organization_member:write'] })
    const reply = await app.post(
      `${pathOf(workspace)}invites/`,
      { target_email: 'new@elsewhere.example', level: 8 },
      { key: key.value },
    )
    expect(reply.status).toBe(201)
    expect(reply.body.created_by).toBeNull()
    expect(
      problem(
        await app.post(
          `${pathOf(workspace)}invites/`,
          { target_email: 'owner@elsewhere.example', level: 15 },
          { key: key.value },
        ),
      ),
    ).toBe('403 permission_denied -')
  })

  it('acts under its own name in the activity log', async () => {
    const key = await make({ label: 'night shift', scopes: ['organization:write'] })
    const domain = await app.post(
      `${pathOf(workspace)}domains/`,
      { domain: 'robots.example' },
      { key: key.value },
    )
    const [entry] = await entries(`item_id=${domain.body.id}`)
    expect(entry).toMatchObject({
      activity: 'created',
      user: null,
      is_system: false,
      actor: { name: 'service key night shift', key_id: key.id },
    })
  })

  it('tells what it may do at @current', async () => {
    const key = await make({
      scopes: ['project:read'],
      scoped_teams: [workspace.project.id],
      expires_at: ahead(HOUR_MS),
      level: 1,
    })
    const reply = await app.get('/api/personal_api_keys/@current/', { key: key.value })
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({
      id: key.id,
      label: 'deployer',
      value: null,
      mask_value: key.mask_value,
      scopes: ['project:read'],
      scoped_teams: [workspace.project.id],
      scoped_organizations: [],
      user_id: null,
      organization_id: workspace.organization.id,
      level: 1,
      expires_at: key.expires_at,
    })
    expect((await app.get(`/api/personal_api_keys/${key.id}/`, { key: key.value })).body).toEqual({
      ...reply.body,
      last_used_at: expect.any(String),
    })
  })

  it('@current is its organization and its first project within reach', async () => {
    const key = await make({ scopes: ['organization:read', 'project:read'] })
    expect((await app.get('/api/organizations/@current/', { key: key.value })).body.id).toBe(
      workspace.organization.id,
    )
    expect((await app.get('/api/projects/@current/', { key: key.value })).body.id).toBe(workspace.project.id)
    const list = await app.get('/api/organizations/', { key: key.value })
    expect(list.body.results.map(({ id }: { id: string }) => id)).toEqual([workspace.organization.id])
  })

  it('limited to projects, it reaches those and nothing above or beside them', async () => {
    const second = await app.post(
      `${pathOf(workspace)}projects/`,
      { name: 'second' },
      { key: workspace.owner.key },
    )
    const { value } = await make({ scopes: ['*'], scoped_teams: [second.body.id] })
    const as = { key: value }
    expect((await app.get(`/api/projects/${second.body.id}/`, as)).status).toBe(200)
    expect((await app.get(`${pathOf(workspace)}projects/${second.body.id}/`, as)).status).toBe(200)
    expect((await app.get('/api/projects/@current/', as)).body.id).toBe(second.body.id)
    for (const path of [
      `/api/projects/${workspace.project.id}/`,
      pathOf(workspace),
      `${pathOf(workspace)}members/`,
      '/api/projects/',
      '/api/organizations/',
    ]) {
      expect(problem(await app.get(path, as))).toBe('403 permission_denied -')
    }
    expect((await app.delete(`/api/projects/${second.body.id}/`, { key: workspace.owner.key })).status).toBe(
      204,
    )
    expect((await app.get(`/api/projects/${workspace.project.id}/`, as)).status).toBe(403)
  })

  it('403 or 404 in every other organization', async () => {
    const { value } = await make({ scopes: ['*'] })
    const as = { key: value }
    expect(problem(await app.get(pathOf(other), as))).toBe('404 not_found -')
    expect(problem(await app.patch(pathOf(other), { name: 'taken' }, as))).toBe('404 not_found -')
    expect(problem(await app.delete(pathOf(other), as))).toBe('404 not_found -')
    for (const nested of [
      'members/',
      'invites/',
      'domains/',
      'projects/',
      'service_keys/',
      'activity_log/',
    ]) {
      expect(problem(await app.get(`${pathOf(other)}${nested}`, as))).toBe('403 permission_denied -')
    }
    expect(problem(await app.post(`${pathOf(other)}invites/`, { target_email: 'a@b.example' }, as))).toBe(
      '403 permission_denied -',
    )
    expect(problem(await app.get(`/api/projects/${other.project.id}/`, as))).toBe('404 not_found -')
    expect(problem(await app.get(`/api/projects/${other.project.id}/activity_log/`, as))).toBe(
      '403 permission_denied -',
    )
    expect((await app.get(pathOf(other), { key: other.owner.key })).body.name).toBe(other.organization.name)
  })

  it('403 for what only a person can do, even with `*`', async () => {
    const { value } = await make({ scopes: ['*'] })
    const as = { key: value }
    const refused = [
      await app.post('/api/organizations/', { name: 'Robots united' }, as),
      await app.get('/api/users/@me/', as),
      await app.patch('/api/users/@me/', { first_name: 'Robot' }, as),
      await app.get(`/api/users/${workspace.owner.uuid}/`, as),
      await app.get('/api/users/@me/start_2fa_setup/', as),
      await app.get('/api/personal_api_keys/', as),
      await app.post('/api/personal_api_keys/', { label: 'x', scopes: ['*'] }, as),
      await app.delete(`${pathOf(workspace)}members/@me/`, as),
      await app.post('/api/logout/', undefined, as),
    ]
    for (const reply of refused) expect(problem(reply)).toBe('403 permission_denied -')
    const { rows } = await app.db.pool.query(`SELECT FROM organization WHERE name = 'Robots united'`)
    expect(rows).toEqual([])
  })
})

describe('how long it lives', () => {
  it('until it expires', async () => {
    const key = await make({ expires_at: ahead(HOUR_MS) })
    expect((await app.get(pathOf(workspace), { key: key.value })).status).toBe(200)
    app.advance(HOUR_MS)
    expect(problem(await app.get(pathOf(workspace), { key: key.value }))).toBe('401 authentication_failed -')
    expect(
      (await app.get(`${keysOf(workspace)}${key.id}/`, { key: workspace.owner.key })).body.expires_at,
    ).toBe(key.expires_at)
  })

  it('past its maker’s leaving and deactivation', async () => {
    const maker = await createMember(app, workspace.organization, { level: 'admin' })
    const key = await make({ scopes: ['organization:write'] }, { session: maker.session })
    const use = () =>
      app.patch(pathOf(workspace), { is_member_join_email_enabled: false }, { key: key.value })
    expect((await app.delete(`${pathOf(workspace)}members/@me/`, { key: maker.key })).status).toBe(204)
    expect((await use()).status).toBe(200)
    expect((await app.get(pathOf(workspace), { key: maker.key })).status).toBe(404)
    await app.db.run(sql`UPDATE app_user SET is_active = false WHERE id = ${maker.id}`)
    expect((await use()).status).toBe(200)
    expect(problem(await app.get('/api/users/@me/', { key: maker.key }))).toBe('401 authentication_failed -')
    const shown = await app.get(`${keysOf(workspace)}${key.id}/`, { key: workspace.owner.key })
    expect(shown.body.created_by).toMatchObject({ id: maker.id, email: maker.email })
    await app.db.run(sql`DELETE FROM app_user WHERE id = ${maker.id}`)
    expect((await use()).status).toBe(200)
    expect(
      (await app.get(`${keysOf(workspace)}${key.id}/`, { key: workspace.owner.key })).body.created_by,
    ).toBeNull()
  })

  it('no longer than its organization', async () => {
    const doomed = await createOrganization(app)
    const value = await createServiceKey(app, doomed.organization, { scopes: ['*'] })
    const { id } = (await rowOf(value))!
    expect((await app.delete(pathOf(doomed), { key: doomed.owner.key })).status).toBe(204)
    expect(problem(await app.get('/api/organizations/', { key: value }))).toBe('401 authentication_failed -')
    expect(await findServiceKey(app.db, doomed.organization.id, id)).toBeUndefined()
  })
})
