// Roles: what each call answers and leaves behind. What a role opens is in projects/access-controls.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createMember, createOrganization, type TestUser, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type Call, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'

let app: TestApp
let workspace: Workspace
let admin: TestUser
let member: TestUser
let as: Call
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  admin = await createMember(app, workspace.organization, { level: 'admin' })
  member = await createMember(app, workspace.organization)
  as = { key: admin.key }
})
afterAll(() => app.close())

const below = (path = '') => `/api/organizations/${workspace.organization.id}/roles/${path}`
const create = async (name: string) => (await app.post(below(), { name }, as)).body
const entries = (id: string) =>
  app.db.rows<{ activity: string; detail: { name: string; changes: unknown[] } }>(
    sql`SELECT activity, detail FROM activity_log WHERE scope = 'Role' AND item_id = ${id} ORDER BY position`,
  )

it('a role is made, renamed, given, shown with its members, taken away and deleted; each change is logged', async () => {
  const made = await app.post(below(), { name: '  Analysts ' }, as)
  const role = made.body
  expect(made).toMatchObject({
    status: 201,
    body: { name: 'Analysts', created_by: null, members: [], is_default: false },
  })
  expect((await app.patch(below(`${role.id}/`), { name: 'analysts' }, as)).body.name).toBe('analysts')
  expect((await app.patch(below(`${role.id}/`), {}, as)).status).toBe(200)
  const memberships = below(`${role.id}/role_memberships/`)
  const given = (await app.post(memberships, { user_uuid: member.uuid }, as)).body
  const own = await app.get(`/api/organizations/${workspace.organization.id}/members/@me/`, {
    key: member.key,
  })
  expect(given).toEqual({
    id: expect.any(String),
    role_id: role.id,
    organization_member: own.body,
    user: own.body.user,
    joined_at: given.updated_at,
    updated_at: given.joined_at,
  })
  const shown = { ...role, name: 'analysts', members: [given] }
  expect((await app.get(below(`${role.id}/`), { key: member.key })).body).toEqual(shown)
  expect((await app.get(below(), { key: member.key })).body).toMatchObject({ count: 1, results: [shown] })
  expect((await app.get(memberships, as)).body).toMatchObject({ count: 1, results: [given] })
  expect((await app.delete(`${memberships}${given.id}/`, as)).status).toBe(204)
  expect((await app.delete(`${memberships}${given.id}/`, as)).status).toBe(404)
  expect((await app.delete(below(`${role.id}/`), as)).status).toBe(204)
  expect((await app.get(below(`${role.id}/`), as)).status).toBe(404)
  const changes = (await entries(role.id)).map(({ activity, detail }) => [activity, detail.changes])
  expect(changes).toEqual([
    ['created', []],
    ['updated', [{ type: 'Role', action: 'changed', field: 'name', before: 'Analysts', after: 'analysts' }]],
    ['updated', [{ type: 'Role', action: 'created', field: 'members', before: null, after: member.email }]],
    ['updated', [{ type: 'Role', action: 'deleted', field: 'members', before: member.email, after: null }]],
    ['deleted', []],
  ])
})

it('400 names what is wrong, and nothing is made', async () => {
  const role = await create('Taken')
  const stranger = await createOrganization(app)
  const memberships = below(`${role.id}/role_memberships/`)
  await app.post(memberships, { user_uuid: member.uuid }, as)
  const wrong: [string, object, string][] = [
    [below(), {}, 'required name'],
    [below(), { name: ' ' }, 'blank name'],
    [below(), { name: 'n'.repeat(201) }, 'max_length name'],
    [below(), { name: 'tAKEN' }, 'unique name'],
    [memberships, {}, 'required user_uuid'],
    [memberships, { user_uuid: 'x' }, 'invalid_input user_uuid'],
    [memberships, { user_uuid: stranger.owner.uuid }, 'does_not_exist user_uuid'],
    [memberships, { user_uuid: member.uuid }, 'unique user_uuid'],
  ]
  expect((await app.post(memberships, { user_uuid: 'x' }, as)).body.detail).toBe('A UUID is expected here.')
  const before = (await app.get(below(), as)).body
  for (const [path, body, expected] of wrong) {
    const reply = await app.post(path, body, as)
    expect([reply.status, `${reply.body.code} ${reply.body.attr}`]).toEqual([400, expected])
  }
  const other = await create('Other')
  expect((await app.patch(below(`${other.id}/`), { name: 'TAKEN' }, as)).body).toMatchObject({
    code: 'unique',
    attr: 'name',
  })
  await app.delete(below(`${other.id}/`), as)
  expect((await app.get(below(), as)).body).toEqual(before)
})

it('of ten at once one makes the role, and one gives it', async () => {
  const statusesOf = async (send: () => Promise<{ status: number }>) =>
    (await Promise.all(Array.from({ length: 10 }, send))).map(({ status }) => status).sort((a, b) => a - b)
  const expected = [201, ...Array<number>(9).fill(400)]
  expect(await statusesOf(() => app.post(below(), { name: 'Rush' }, as))).toEqual(expected)
  const { results } = (await app.get(below(), as)).body
  const { id } = results.find(({ name }: { name: string }) => name === 'Rush')
  const give = () => app.post(below(`${id}/role_memberships/`), { user_uuid: admin.uuid }, as)
  expect(await statusesOf(give)).toEqual(expected)
})

it('who leaves the organization or is deactivated has no role there', async () => {
  const role = await create('Leavers')
  const memberships = below(`${role.id}/role_memberships/`)
  const [leaver, sleeper] = [
    await createMember(app, workspace.organization),
    await createMember(app, workspace.organization),
  ]
  for (const { uuid } of [leaver, sleeper]) await app.post(memberships, { user_uuid: uuid }, as)
  await app.delete(`/api/organizations/${workspace.organization.id}/members/${leaver.uuid}/`, as)
  await app.db.run(sql`UPDATE app_user SET is_active = false WHERE id = ${sleeper.id}`)
  expect((await app.get(memberships, as)).body).toMatchObject({ count: 0, results: [] })
  expect((await app.get(below(`${role.id}/`), as)).body.members).toEqual([])
})
