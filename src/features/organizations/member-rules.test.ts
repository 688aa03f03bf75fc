// `members_can_invite` and `members_can_use_personal_api_keys`: what they close for members, through every door, and what
// they leave open for admins, sessions, service keys and other organizations.
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
import { routes } from '../../app/http.ts'
import { sql } from '../../platform/db/sql.ts'
import { insertMembership } from '../members/queries.ts'

const NOBODY = '00000000-0000-7000-8000-000000000000'

let app: TestApp
let workspace: Workspace
let member: TestUser
let admin: TestUser
let base: string
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  member = await createMember(app, workspace.organization)
  admin = await createMember(app, workspace.organization, { level: 'admin' })
  base = `/api/organizations/${workspace.organization.id}/`
})
afterAll(() => app.close())

const set = (fields: object, call: Call = { session: workspace.owner.session }) =>
  app.patch(base, fields, call)
const countInvites = async () =>
  (await app.db.only<{ count: number }>(sql`SELECT count(*)::int AS count FROM invite`)).count

describe('the settings', () => {
  it('are true at first, changed by admins alone, and recorded', async () => {
    const open = { members_can_invite: true, members_can_use_personal_api_keys: true }
    expect((await app.get(base, { session: member.session })).body).toMatchObject(open)
    const closed = { members_can_invite: false, members_can_use_personal_api_keys: false }
    expect((await set(closed, { session: member.session })).status).toBe(403)
    expect(await set(closed)).toMatchObject({ status: 200, body: closed })
    const log = await app.get(`${base}activity_log/?scope=Organization`, { session: admin.session })
    expect(log.body.results[0].detail.changes).toMatchObject([
      { field: 'members_can_invite', before: true, after: false },
      { field: 'members_can_use_personal_api_keys', before: true, after: false },
    ])
    expect((await set({ members_can_invite: null })).body.members_can_invite).toBe(false)
    expect((await set({ members_can_use_personal_api_keys: null })).body).toMatchObject({ code: 'null' })
    expect(await set(open)).toMatchObject({ status: 200, body: open })
  })

  it('can be given when the organization is made', async () => {
    const fields = { name: 'Closed', members_can_invite: false, members_can_use_personal_api_keys: false }
    const made = await app.post('/api/organizations/', fields, { session: workspace.owner.session })
    expect(made).toMatchObject({ status: 201, body: fields })
  })
})

describe('members_can_invite: false', () => {
  it('403 for members by every way of inviting; admins go on', async () => {
    const service = await createServiceKey(app, workspace.organization, { scopes: ['*'], level: 'member' })
    const invite = { target_email: 'new@example.com' }
    const own = await app.post(`${base}invites/`, invite, { session: member.session })
    await set({ members_can_invite: false })
    const before = await countInvites()
    for (const call of [{ session: member.session }, { key: member.key }, { key: service }]) {
      for (const [path, body] of [
        ['invites/', { target_email: 'other@example.com' }],
        ['invites/bulk/', [{ target_email: 'other@example.com' }]],
        [`invites/${own.body.id}/resend/`, {}],
      ] as const) {
        const reply = await app.post(base + path, body, call)
        expect([path, reply.status, reply.body.code]).toEqual([path, 403, 'permission_denied'])
      }
    }
    expect(await countInvites()).toBe(before)
    expect(
      (await app.post(`${base}invites/${own.body.id}/resend/`, {}, { session: admin.session })).status,
    ).toBe(200)
    // What they invited before is still theirs to take back.
    expect((await app.delete(`${base}invites/${own.body.id}/`, { session: member.session })).status).toBe(204)
    await set({ members_can_invite: true })
    expect((await app.post(`${base}invites/`, invite, { session: member.session })).status).toBe(201)
  })
})

describe('members_can_use_personal_api_keys: false', () => {
  const keys = '/api/personal_api_keys/'
  /** Everything that belongs to an organization or a project. */
  const doors = () =>
    routes
      .filter(
        ({ path, scope }) =>
          scope !== undefined &&
          /:(organization|project)_id|^.api.(organizations|projects|environments).:id/.test(path),
      )
      .map(
        ({ method, path }) =>
          [
            method,
            path
              .replace(/:organization_id|(?<=^.api.organizations.):id/, workspace.organization.id)
              .replace(/:project_id|(?<=^.api.(?:projects|environments).):id/, String(workspace.project.id))
              .replace(/(?<=.projects.):id/, String(workspace.project.id))
              .replaceAll(/:\w+/g, NOBODY),
          ] as const,
      )

  it('403 for a member’s key at every path of the organization and its projects', async () => {
    await set({ members_can_use_personal_api_keys: false })
    const limited = await createKey(app, member, { scopes: ['*'], scoped_teams: [workspace.project.id] })
    expect(doors().length).toBeGreaterThan(150)
    const opened: unknown[] = []
    for (const [method, path] of doors()) {
      const reply = await app.call(method, path, { key: member.key, body: method === 'GET' ? undefined : {} })
      if (reply.status !== 403) opened.push([method, path, reply.status])
    }
    expect(opened).toEqual([])
    const project = `/api/projects/${workspace.project.id}/`
    expect((await app.get(project, { key: limited })).body.detail).toContain('personal API keys')
    for (const call of [{ session: member.session }, { key: admin.key }, { key: workspace.owner.key }]) {
      expect((await app.get(project, call)).status).toBe(200)
    }
    const service = await createServiceKey(app, workspace.organization, { scopes: ['*'], level: 'member' })
    expect((await app.get(project, { key: service })).status).toBe(200)
  })

  it('a member’s key sees none of it in lists, and works in other organizations', async () => {
    const other = await createOrganization(app)
    await insertMembership(app.db, other.organization.id, member.id, 1, app.services.now())
    const call = { key: member.key }
    const ids = async (path: string) =>
      (await app.get(path, call)).body.results.map(({ id }: { id: unknown }) => id)
    expect(await ids('/api/organizations/')).toEqual([other.organization.id])
    expect(await ids('/api/projects/')).toEqual([other.project.id])
    expect((await app.get('/api/organizations/@current/', call)).body.id).toBe(other.organization.id)
    expect((await app.get('/api/users/@me/', call)).body).toMatchObject({
      organization: { id: other.organization.id },
      team: { id: other.project.id },
      organizations: [{ id: other.organization.id, members_can_use_personal_api_keys: true }],
    })
    const account = await app.get('/api/users/@me/', { session: member.session })
    expect(account.body.organizations).toHaveLength(2)
    await app.db.run(
      sql`DELETE FROM membership WHERE user_id = ${member.id} AND organization_id = ${other.organization.id}`,
    )
    expect((await app.get('/api/organizations/', call)).body).toMatchObject({ count: 0, results: [] })
  })

  it('no key is made for it or rolled in it; admins make theirs', async () => {
    const session = { session: member.session }
    const fields = { label: 'mine', scopes: ['query:read'] }
    const limits = {
      scoped_organizations: { scoped_organizations: [workspace.organization.id] },
      scoped_teams: { scoped_teams: [workspace.project.id] },
    }
    for (const [attr, limit] of Object.entries(limits)) {
      const refused = await app.post(keys, { ...fields, ...limit }, session)
      expect(refused).toMatchObject({ status: 400, body: { attr } })
    }
    expect((await app.post(keys, fields, session)).status).toBe(403)
    const [stored] = (await app.get(keys, session)).body
    expect((await app.post(`${keys}${stored.id}/roll/`, {}, session)).status).toBe(403)
    const made = await app.post(keys, { ...fields, ...limits.scoped_teams }, { session: admin.session })
    expect(made.status).toBe(201)
    app.canary.plant('API key', made.body.value)

    await set({ members_can_use_personal_api_keys: true })
    const rolled = await app.post(`${keys}${stored.id}/roll/`, {}, session)
    expect(rolled.status).toBe(200)
    app.canary.plant('API key', rolled.body.value)
    expect((await app.get(base, { key: member.key })).status).toBe(200)
  })
})
