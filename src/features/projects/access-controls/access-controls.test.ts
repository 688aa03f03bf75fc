// Access to projects: the rules, what they add up to, and every door they close. That each single route of a project
// refuses who has no access is in test/every-route.test.ts.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createKey,
  createMember,
  createOrganization,
  createServiceKey,
  createUser,
  type TestUser,
  type Workspace,
} from '../../../../test/factories.ts'
import { startTestApp, type Call, type Reply, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { configure, insertFixturePlugin } from '../../plugins/fixture/plugins.ts'

const NO_ID = '00000000-0000-7000-8000-000000000000'

let app: TestApp
let workspace: Workspace
let secret: { id: number; name: string }
let member: TestUser
let membership: string
let role: string
let as: Call
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())

/** An organization of two projects, the second of which the tests close; a member, and a role that nobody has. */
beforeEach(async () => {
  workspace = await createOrganization(app)
  as = { key: workspace.owner.key }
  secret = (await app.post(below('projects/'), { name: 'Secret' }, as)).body
  member = await createMember(app, workspace.organization)
  membership = (await app.get(below('members/@me/'), { key: member.key })).body.id
  role = (await app.post(below('roles/'), { name: 'Analysts' }, as)).body.id
})

const below = (path: string) => `/api/organizations/${workspace.organization.id}/${path}`
const controlsPath = (id: number = secret.id) => `/api/projects/${id}/access_controls/`
const put = (body: object, call: Call = as, id?: number) =>
  app.call('PUT', controlsPath(id), { ...call, body })
const giveRole = async (user: TestUser = member): Promise<string> =>
  (await app.post(below(`roles/${role}/role_memberships/`), { user_uuid: user.uuid }, as)).body.id
const levelOf = async (call: Call): Promise<number | null> => {
  const { status, body } = await app.get(`/api/projects/${secret.id}/`, call)
  expect([200, 404]).toContain(status)
  return status === 200 ? body.effective_membership_level : null
}

describe('GET and PUT …/access_controls/', () => {
  it('200 gives the rules in order, and what the caller has', async () => {
    const everybody = (await put({ access_level: 'none' })).body
    const ofMember = (await put({ access_level: 'member', organization_member: membership })).body
    const ofRole = (await put({ access_level: 'admin', role, organization_member: null })).body
    expect(ofMember).toEqual({
      access_level: 'member',
      resource: 'project',
      resource_id: String(secret.id),
      organization_member: membership,
      role: null,
      created_by: null,
      created_at: expect.any(String),
      updated_at: ofMember.created_at,
    })
    expect(ofRole).toMatchObject({ access_level: 'admin', role, organization_member: null })
    const paths = [
      controlsPath(),
      `/api/environments/${secret.id}/access_controls/`,
      below(`projects/${secret.id}/access_controls/`),
    ]
    for (const path of paths) {
      expect((await app.get(path, { key: member.key })).body).toEqual({
        access_controls: [everybody, ofMember, ofRole],
        available_access_levels: ['none', 'member', 'admin'],
        default_access_level: 'member',
        minimum_access_level: 'none',
        maximum_access_level: 'admin',
        user_access_level: 'member',
        user_can_edit_access_levels: false,
      })
    }
    const { body } = await app.get(controlsPath(), as)
    expect(body).toMatchObject({ user_access_level: 'admin', user_can_edit_access_levels: true })
  })

  it('200 changes a rule, 204 takes it away, and only what changes is logged', async () => {
    await put({ access_level: 'none' })
    app.advance(1000)
    const changed = await put({ access_level: 'member' })
    expect(changed.status).toBe(200)
    expect(Date.parse(changed.body.updated_at)).toBeGreaterThan(Date.parse(changed.body.created_at))
    expect((await put({ access_level: 'member' })).body).toEqual(changed.body)
    for (const _ of [1, 2]) expect(await put({ access_level: null })).toMatchObject({ status: 204 })
    expect((await app.get(controlsPath(), as)).body.access_controls).toEqual([])
    const log = (await app.get(`/api/projects/${secret.id}/activity_log/?scope=AccessControl`, as)).body
    const told = log.results.map(({ activity, detail }: Reply['body']) => [
      activity,
      detail.name,
      detail.changes[0].before,
      detail.changes[0].after,
    ])
    expect(told).toEqual([
      ['deleted', 'Secret: everybody else', 'member', null],
      ['updated', 'Secret: everybody else', 'none', 'member'],
      ['created', 'Secret: everybody else', null, 'none'],
    ])
  })

  it.each<[string, () => object, string]>([
    ['no level', () => ({}), 'required access_level'],
    ['a level of dashboards', () => ({ access_level: 'editor' }), 'invalid_choice access_level'],
    ['a number', () => ({ access_level: 8 }), 'invalid_choice access_level'],
    [
      'member and role',
      () => ({ access_level: 'none', organization_member: membership, role }),
      'invalid_input null',
    ],
    ['no id', () => ({ access_level: 'none', role: 'x' }), 'invalid_input role'],
    ['an unknown role', () => ({ access_level: 'none', role: NO_ID }), 'does_not_exist role'],
    [
      'the id of a user',
      () => ({ access_level: 'none', organization_member: member.uuid }),
      'does_not_exist organization_member',
    ],
  ])('400 for %s', async (_name, body, expected) => {
    const { status, body: answer } = await put(body())
    expect([status, `${answer.code} ${answer.attr}`]).toEqual([400, expected])
    expect((await app.get(controlsPath(), as)).body.access_controls).toEqual([])
  })

  it('400 for a member and a role of another organization', async () => {
    const other = await createOrganization(app)
    const path = `/api/organizations/${other.organization.id}/`
    const theirRole = (await app.post(`${path}roles/`, { name: 'Theirs' }, { key: other.owner.key })).body.id
    const theirs = (await app.get(`${path}members/@me/`, { key: other.owner.key })).body.id
    for (const subject of [{ role: theirRole }, { organization_member: theirs }]) {
      expect(await put({ access_level: 'admin', ...subject })).toMatchObject({ status: 400 })
    }
  })

  it('403 for a member, also for their own rule; an admin of the project may', async () => {
    const own = { access_level: 'admin', organization_member: membership }
    expect((await put(own, { key: member.key })).status).toBe(403)
    await put(own)
    expect((await put({ access_level: 'none' }, { key: member.key })).status).toBe(200)
    expect((await put({ access_level: 'none' }, { key: member.key }, workspace.project.id)).status).toBe(403)
  })

  it('ten at once leave one rule', async () => {
    const levels = ['none', 'member', 'admin']
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, index) => put({ access_level: levels[index % 3]! })),
    )
    expect(replies.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect((await app.get(controlsPath(), as)).body.access_controls).toHaveLength(1)
  })
})

describe('what the rules add up to', () => {
  type Given = { everybody?: string; member?: string; role?: string }
  it.each<[Given, number | null]>([
    [{}, 1],
    [{ everybody: 'none' }, null],
    [{ everybody: 'member' }, 1],
    [{ everybody: 'admin' }, 8],
    [{ everybody: 'none', member: 'member' }, 1],
    [{ everybody: 'none', member: 'admin' }, 8],
    [{ everybody: 'none', role: 'member' }, 1],
    [{ everybody: 'none', role: 'admin', member: 'member' }, 8],
    [{ everybody: 'none', role: 'none', member: 'member' }, 1],
    // A rule that names somebody stands above the one for everybody else.
    [{ everybody: 'admin', member: 'none' }, null],
    [{ everybody: 'admin', role: 'member' }, 1],
    [{ member: 'none' }, null],
    [{ role: 'none' }, null],
    [{ member: 'admin' }, 8],
  ])('%j', async (given, level) => {
    await giveRole()
    if (given.everybody) await put({ access_level: given.everybody })
    if (given.member) await put({ access_level: given.member, organization_member: membership })
    if (given.role) await put({ access_level: given.role, role })
    expect(await levelOf({ key: member.key })).toBe(level)
    expect(await levelOf({ session: member.session })).toBe(level)
    expect(await levelOf(as)).toBe(15)
    // An admin of the project may do there what takes an admin, and nowhere else.
    const reset = (id: number) => app.patch(`/api/projects/${id}/reset_token/`, {}, { key: member.key })
    expect((await reset(secret.id)).status).toBe(level === null ? 404 : level === 8 ? 200 : 403)
    expect((await reset(workspace.project.id)).status).toBe(403)
    expect((await app.patch(below(''), { name: 'Mine' }, { key: member.key })).status).toBe(403)
  })

  it('admins of the organization reach everything, whatever names them', async () => {
    const admin = await createMember(app, workspace.organization, { level: 'admin' })
    await giveRole(admin)
    await put({ access_level: 'none' })
    await put({ access_level: 'none', role })
    expect(await levelOf({ key: admin.key })).toBe(8)
    expect(await levelOf(as)).toBe(15)
  })

  it.each<[string, { level: 'member' | 'admin'; named?: boolean }, number | null]>([
    ['of level admin', { level: 'admin' }, 8],
    ['of level member', { level: 'member' }, null],
    ['of level member, limited to the project by an admin', { level: 'member', named: true }, 1],
  ])('a service key %s, of a private project', async (_name, { level, named }, expected) => {
    const limits = named ? { scoped_teams: [secret.id] } : {}
    const key = await createServiceKey(app, workspace.organization, { scopes: ['*'], level, ...limits })
    await put({ access_level: 'none' })
    expect(await levelOf({ key })).toBe(expected)
    await put({ access_level: 'admin' })
    expect(await levelOf({ key })).toBe(level === 'admin' ? 8 : 1)
  })
})

describe('invites with private_project_access', () => {
  const target_email = 'newcomer@example.com'
  const invite = (call: Call, body: object = {}) =>
    app.post(below('invites/'), { target_email, ...body }, { ...call, may_show_secrets: true })
  const promise = (level: unknown = 'member') => ({ private_project_access: [{ id: secret.id, level }] })
  const listed = async (call: Call) => (await app.get(below('invites/'), call)).body.results[0]

  beforeEach(async () => {
    await put({ access_level: 'none' })
  })

  it.each<[unknown, number]>([
    ['member', 1],
    ['admin', 8],
    [8, 8],
  ])('joining gives the level %j, which the log tells', async (level, expected) => {
    const newcomer = await createUser(app)
    const made = await invite(as, { ...promise(level), target_email: newcomer.email })
    expect(made.status).toBe(201)
    const code = made.body.link.split('/').at(-1)
    expect((await app.post(`/api/signup/${code}/`, {}, { session: newcomer.session })).status).toBe(201)
    expect(await levelOf({ key: newcomer.key })).toBe(expected)
    const log = (await app.get(`/api/projects/${secret.id}/activity_log/?scope=AccessControl`, as)).body
    expect(log.results[0].detail.name).toBe(`Secret: ${newcomer.email}`)
  })

  it('is refused to who is no admin of the project, and nothing is made', async () => {
    const openProject = { private_project_access: [{ id: workspace.project.id, level: 'member' }] }
    const foreign = (await createOrganization(app)).project.id
    const refused = [
      await invite({ key: member.key }, promise()),
      await invite({ key: member.key }, openProject),
      await invite(as, { private_project_access: [{ id: foreign, level: 'member' }] }),
      await invite(as, promise('owner')),
      await invite(as, { private_project_access: 'all' }),
    ]
    expect(refused.map(({ status, body }) => `${status} ${body.code} ${body.attr}`)).toEqual([
      '400 does_not_exist private_project_access',
      '403 permission_denied null',
      '400 does_not_exist private_project_access',
      '400 invalid_choice private_project_access__0__level',
      '400 not_a_list private_project_access',
    ])
    expect((await app.get(below('invites/'), as)).body.count).toBe(0)
    await put({ access_level: 'admin', organization_member: membership })
    expect((await invite({ key: member.key }, promise())).status).toBe(201)
  })

  it('is shown to admins, resent and combined by who may give it', async () => {
    const { body } = await invite(as, promise('admin'))
    expect(body.private_project_access).toEqual([{ id: secret.id, level: 'admin' }])
    expect((await listed(as)).private_project_access).toEqual(body.private_project_access)
    expect((await listed({ key: member.key })).private_project_access).toEqual([])
    const resend = (call: Call) =>
      app.post(below(`invites/${body.id}/resend/`), {}, { ...call, may_show_secrets: true })
    expect((await resend({ key: member.key })).status).toBe(403)
    expect((await resend(as)).status).toBe(200)
    const combine = { combine_pending_invites: true }
    expect((await invite(as, combine)).body.private_project_access).toEqual(body.private_project_access)
    expect((await invite({ key: member.key }, combine)).status).toBe(403)
    expect((await listed(as)).private_project_access).toEqual(body.private_project_access)
  })

  it('is not carried over from an earlier invite once the member may no longer give it', async () => {
    const own = { organization_member: membership }
    await put({ access_level: 'admin', ...own })
    expect((await invite({ key: member.key }, promise())).body.private_project_access).toHaveLength(1)
    await put({ access_level: 'member', ...own })
    const combined = await invite({ key: member.key }, { combine_pending_invites: true })
    expect(combined.body.private_project_access).toEqual([])
  })
})

describe('a private project', () => {
  type Body = Reply['body']
  const idsOf = (rows: Body[]) => rows.map(({ id }) => id)
  /** Where somebody could learn of a project, or get into it: what they see of it there. */
  const DOORS: [string, () => string, (body: Body) => boolean][] = [
    [
      'the projects of the current organization',
      () => '/api/projects/',
      ({ results }) => idsOf(results).includes(secret.id),
    ],
    ['its environments', () => '/api/environments/', ({ results }) => idsOf(results).includes(secret.id)],
    [
      'the projects of the organization',
      () => below('projects/'),
      ({ results, count }) => count === 2 && idsOf(results).includes(secret.id),
    ],
    ['the organization', () => below(''), ({ teams }) => idsOf(teams).includes(secret.id)],
    [
      'the list of organizations',
      () => '/api/organizations/',
      ({ results }) => idsOf(results[0].teams).includes(secret.id),
    ],
    [
      'the account',
      () => '/api/users/@me/',
      ({ organization }) => idsOf(organization.teams).includes(secret.id),
    ],
    ['its current project', () => '/api/users/@me/', ({ team }) => team.id === secret.id],
    ['@current', () => '/api/projects/@current/', ({ id }) => id === secret.id],
    ['the organization’s exports', () => below('batch_exports/'), ({ count }) => count === 1],
    [
      'activity of plugins',
      () => below('plugins/activity/'),
      ({ results }) => results.some((entry: Body) => entry.scope === 'PluginConfig'),
    ],
    ['configs in use', () => below('plugins/exports_unsubscribe_configs/'), ({ count }) => count === 1],
  ]

  const seen = async (call: Call) => {
    const found: string[] = []
    for (const [name, path, isSeen] of DOORS) {
      const { status, body } = await app.get(path(), call)
      expect(status, name).toBe(200)
      if (isSeen(body)) found.push(name)
    }
    return found
  }

  /** Something in the project for every door. */
  beforeEach(async () => {
    const exported = { name: 'Nightly', interval: 'hour', destination: { type: 'NoOp', config: {} } }
    expect((await app.post(`/api/projects/${secret.id}/batch_exports/`, exported, as)).status).toBe(201)
    const plugin = await insertFixturePlugin(app.db, {
      organization_id: workspace.organization.id,
      capabilities: { methods: ['onEvent'], scheduled_tasks: [], jobs: [] },
    })
    await configure(app, secret.id, workspace.owner.key, { plugin, enabled: true })
    await app.patch('/api/users/@me/', { set_current_team: secret.id }, { session: member.session })
  })

  it('is seen nowhere without access, and everywhere with it, from the next request on', async () => {
    const calls = [{ key: member.key }, { session: member.session }]
    const all = DOORS.map(([name]) => name)
    for (const call of calls) expect(await seen(call)).toEqual(all)
    await put({ access_level: 'none' })
    for (const call of calls) expect(await seen(call)).toEqual([])
    expect(await seen(as)).toEqual(all)
    await put({ access_level: 'member', role })
    expect(await seen(calls[0]!)).toEqual([])
    const given = await giveRole()
    for (const call of calls) expect(await seen(call)).toEqual(all)
    await app.delete(below(`roles/${role}/role_memberships/${given}/`), as)
    expect(await seen(calls[0]!)).toEqual([])
    await put({ access_level: 'member', organization_member: membership })
    expect(await seen(calls[0]!)).toEqual(all)
  })

  it('is named as private to who sees it', async () => {
    await put({ access_level: 'none' })
    const { body } = await app.get(below('projects/'), as)
    expect(body.results.map(({ access_control }: Body) => access_control)).toEqual([false, true])
    expect((await app.get(below(''), as)).body.teams[1].access_control).toBe(true)
    expect((await app.get(`/api/projects/${secret.id}/`, as)).body.access_control).toBe(true)
    expect((await app.patch(`/api/projects/${secret.id}/`, {}, as)).body.access_control).toBe(true)
  })

  it('cannot be chosen, exported from or named by a key without access', async () => {
    await put({ access_level: 'none' })
    const { session } = member
    const refused: Reply[] = [
      await app.patch('/api/users/@me/', { set_current_team: secret.id }, { session }),
      await app.post(
        '/api/personal_api_keys/',
        { label: 'x', scopes: ['*'], scoped_teams: [secret.id] },
        { session },
      ),
      await app.post(
        below('batch_exports/'),
        { name: 'x', interval: 'hour', destination: { type: 'NoOp', config: {} }, team_id: secret.id },
        { session },
      ),
    ]
    expect(refused.map(({ status, body }) => `${status} ${body.attr}`)).toEqual([
      '400 set_current_team',
      '400 scoped_teams',
      '400 team_id',
    ])
    // One made before opens nothing any more.
    const key = await createKey(app, member, { scopes: ['*'], scoped_teams: [secret.id] })
    expect((await app.get(`/api/projects/${secret.id}/activity_log/`, { key })).status).toBe(403)
    expect((await app.get('/api/projects/@current/', { key })).status).toBe(404)
  })

  it('has exports that no call of the organization reaches without access', async () => {
    const listed = await app.get(below('batch_exports/'), as)
    const path = below(`batch_exports/${listed.body.results[0].id}/`)
    const callAll = async (call: Call) => [
      (await app.get(path, call)).status,
      (await app.patch(path, { name: 'Renamed' }, call)).status,
      (await app.post(`${path}pause/`, {}, call)).status,
      (await app.post(`${path}unpause/`, {}, call)).status,
    ]
    expect(await callAll({ key: member.key })).toEqual([200, 200, 200, 200])
    await put({ access_level: 'none' })
    for (const call of [{ key: member.key }, { session: member.session }])
      expect([...(await callAll(call)), (await app.delete(path, call)).status]).toEqual([
        404, 404, 404, 404, 404,
      ])
    expect((await app.get(path, as)).body).toMatchObject({ name: 'Renamed', paused: false })
  })

  it('is closed to agents as well', async () => {
    const ask = async (name: string, args: object) => {
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
      const { body } = await app.post('/mcp', message, { key: member.key })
      return { refused: body.result.isError ?? false, answer: JSON.parse(body.result.content[0].text) }
    }
    const of = { project_id: secret.id }
    const query = { ...of, query: 'select 1' }
    expect(await ask('query', query)).toMatchObject({ refused: false })
    await put({ access_level: 'none' })
    for (const [name, args] of [
      ['query', query],
      ['list_exports', of],
      ['list_app_configs', of],
    ] as const)
      expect(await ask(name, args), name).toMatchObject({
        refused: true,
        answer: { code: 'permission_denied' },
      })
    const { answer } = await ask('list_projects', {})
    expect(idsOf(answer.results)).not.toContain(secret.id)
  })

  it('is open to nobody through rules of who left, came back, or lost the role with its deletion', async () => {
    await put({ access_level: 'none' })
    await put({ access_level: 'admin', organization_member: membership })
    await giveRole()
    await put({ access_level: 'admin', role })
    await app.delete(below(`roles/${role}/`), as)
    expect(await levelOf({ key: member.key })).toBe(8)
    await app.delete(below(`members/${member.uuid}/`), as)
    const left = await app.db.rows(sql`
      SELECT membership_id, role_id FROM access_control WHERE project_id = ${secret.id}`)
    expect(left).toEqual([{ membership_id: null, role_id: null }])
    const invite = await app.post(
      below('invites/'),
      { target_email: member.email },
      { ...as, may_show_secrets: true },
    )
    const link = invite.body.link.split('/').at(-1)
    expect((await app.post(`/api/signup/${link}/`, {}, { session: member.session })).status).toBe(201)
    expect(await levelOf({ key: member.key })).toBe(null)
    expect((await app.get('/api/users/@me/', { key: member.key })).body.team.id).toBe(workspace.project.id)
  })
})
