// A plugin that runs in a project which a member does not reach: whoever changes its code reads the project's events and
// secrets, and whoever removes it decides what the project stores.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { sql } from '../../platform/db/sql.ts'
import {
  createMember,
  createOrganization,
  createServiceKey,
  type TestUser,
  type Workspace,
} from '../../../test/factories.ts'
import { startTestApp, type Call, type TestApp } from '../../../test/harness/app.ts'
import { configure } from './fixture/plugins.ts'

const CODE = 'export function onEvent() {}'

let app: TestApp
let home: Workspace
let member: TestUser
let owner: Call
let secret: { id: number }
let plugin: number
beforeAll(async () => {
  app = await startTestApp()
  home = await createOrganization(app)
  owner = { key: home.owner.key }
  member = await createMember(app, home.organization)
  secret = (await app.post(below('projects/'), { name: 'Secret' }, owner)).body
  await app.call('PUT', `/api/projects/${secret.id}/access_controls/`, {
    ...owner,
    body: { access_level: 'none' },
  })
})
afterAll(() => app.close())
beforeEach(async () => {
  plugin = (await app.post(below('plugins/'), { plugin_type: 'source', name: 'App' }, owner)).body.id
  await app.patch(below(`plugins/${plugin}/update_source/`), { 'index.ts': CODE }, owner)
})

const below = (path: string) => `/api/organizations/${home.organization.id}/${path}`
const changes = (call: Call, family = 'pipeline_destinations') => {
  const one = below(`${family}/${plugin}/`)
  const stolen = { 'index.ts': 'export function onEvent(event, { config }) { fetch(config.secret) }' }
  return [
    () => app.patch(one, { config_schema: [] }, call),
    () => app.patch(`${one}update_source/`, stolen, call),
    () => app.post(`${one}upgrade/`, {}, call),
    () => app.delete(one, call),
  ]
}
const statusesOf = async (requests: readonly (() => Promise<{ status: number }>)[]) => {
  const statuses: number[] = []
  for (const request of requests) statuses.push((await request()).status)
  return statuses
}

it('403 for members without access to it, switched on or off, and nothing has changed', async () => {
  const config = await configure(app, secret.id, home.owner.key, { plugin })
  const key = await createServiceKey(app, home.organization, { scopes: ['*'], level: 'member' })
  for (const enabled of [true, false]) {
    await app.patch(`/api/projects/${secret.id}/plugin_configs/${config}/`, { enabled }, owner)
    for (const call of [{ key: member.key }, { session: member.session }, { key }]) {
      expect(await statusesOf(changes(call))).toEqual([403, 403, 403, 403])
      expect(await statusesOf(changes(call, 'plugins'))).toEqual([403, 403, 403, 403])
    }
  }
  const { body } = await app.get(below(`plugins/${plugin}/source/`), owner)
  expect(body['index.ts']).toBe(CODE)
  const kept = await app.get(`/api/projects/${secret.id}/plugin_configs/${config}/`, owner)
  expect(kept.body.deleted).toBe(false)
})

it('200 for admins, for whom a rule names, and where the projects that use it are open', async () => {
  await configure(app, home.project.id, home.owner.key, { plugin })
  const all = [200, 200, 200, 204]
  const [patch, edit] = changes({ key: member.key })
  expect(await statusesOf([patch!, edit!])).toEqual([200, 200])

  await configure(app, secret.id, home.owner.key, { plugin })
  const admin = await createMember(app, home.organization, { level: 'admin' })
  expect(await statusesOf(changes({ key: admin.key }).slice(0, 3))).toEqual(all.slice(0, 3))
  const named = await createMember(app, home.organization)
  const members = await app.get(below('members/?limit=1000'), owner)
  const { id } = members.body.results.find((each: { user: { id: number } }) => each.user.id === named.id)
  const rule = { organization_member: id, access_level: 'member' }
  await app.call('PUT', `/api/projects/${secret.id}/access_controls/`, { ...owner, body: rule })
  expect(await statusesOf(changes({ key: named.key }))).toEqual(all)
})

it('200 again once the project has given it up', async () => {
  const config = await configure(app, secret.id, home.owner.key, { plugin })
  await app.delete(`/api/projects/${secret.id}/plugin_configs/${config}/`, owner)
  expect(await statusesOf(changes({ key: member.key }))).toEqual([200, 200, 200, 204])
})

it('a config tells whom that keeps from the plugin, and of nobody else’s plugin', async () => {
  const here = await configure(app, home.project.id, home.owner.key, { plugin })
  const told = async (call: Call) =>
    (await app.get(`/api/projects/${home.project.id}/plugin_configs/${here}/`, call)).body
      .is_plugin_used_beyond
  const call = { key: member.key }
  expect(await told(call)).toBe(false)
  await configure(app, secret.id, home.owner.key, { plugin })
  expect([await told(call), await told(owner)]).toEqual([true, false])
  const list = await app.get(`/api/projects/${home.project.id}/plugin_configs/`, call)
  expect(list.body.results[0].is_plugin_used_beyond).toBeNull()

  await app.db.run(sql`UPDATE plugin SET is_global = true WHERE id = ${plugin}`)
  const guest = await createOrganization(app)
  const there = await configure(app, guest.project.id, guest.owner.key, { plugin })
  const path = `/api/projects/${guest.project.id}/plugin_configs/${there}/`
  expect((await app.get(path, { key: guest.owner.key })).body.is_plugin_used_beyond).toBe(false)
})
