// Changes to configs through the API: PATCH, and the order of several at once.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { openSecrets } from '../../../platform/secrets/secrets.ts'
import { insertProject } from '../../projects/queries.ts'
import { listAttachments, listEnabledConfigs } from '../running/queries.ts'
import { SECRET_MASK } from './change-settings.ts'
import { addPlugin, SCHEMA } from './fixture/plugins.ts'
import { openSettings, sealSecretConfig } from './settings.ts'

let app: TestApp
let workspace: Workspace
let key: string
let project_id: number
let plugin: number
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  key = workspace.owner.key
  project_id = workspace.project.id
  plugin = await addPlugin(app, workspace.organization.id)
})
afterAll(() => app.close())

const path = (rest = '', project = project_id) => `/api/projects/${project}/plugin_configs/${rest}`
const createdId = async (fields: object = {}): Promise<number> =>
  (await app.post(path(), { plugin, config: { host: 'h' }, ...fields }, { key })).body.id
const change = (id: number, body: object) => app.patch(path(`${id}/`), body, { key })
const activityOf = async (id: number) => (await app.get(path(`${id}/activity/`), { key })).body.results
const secret = (text: string) => app.canary.plant('setting', text)

/** What the app itself would get. */
async function settingsOf(id: number) {
  const [row] = await listEnabledConfigs(app.db, [id])
  const files = await listAttachments(app.db, id)
  return openSettings(app.services.secrets, row!.plugin.config_schema, row!, files).config
}

async function toldWhile(work: () => Promise<unknown>): Promise<(number | null)[]> {
  const told: (number | null)[] = []
  const stop = app.services.changes.listen('plugin-config', (id) => void told.push(id))
  await work()
  stop()
  return told
}

describe('PATCH plugin_configs/:id/', () => {
  it('200 with what was sent, all else as it was', async () => {
    const id = await createdId({ name: 'Old', order: 5 })
    app.advance(1000)
    const reply = await change(id, { description: 'New', order: '6', plugin: 1, team_id: 1 })
    expect(reply).toMatchObject({
      status: 200,
      body: { name: 'Old', description: 'New', order: 6, plugin, team_id: project_id, config: { host: 'h' } },
    })
    expect(reply.body.updated_at > reply.body.created_at).toBe(true)
    expect((await change(id, { name: '' })).body.name).toBe('Forwarder')
    expect((await change(id, { description: null })).body.description).toBe('Forwards.')
  })

  it('200 replacing settings as a whole, but for the secrets that were not sent', async () => {
    const [first, second] = [secret('first-secret-of-all'), secret('second-secret-of-all')]
    const id = await createdId({ enabled: true, config: { host: 'a', api_key: first, extra: 1 } })
    expect((await change(id, { config: { host: 'b' } })).body.config).toEqual({
      host: 'b',
      api_key: SECRET_MASK,
    })
    expect(await settingsOf(id)).toEqual({ host: 'b', api_key: first, region: 'eu' })

    for (const kept of [null, SECRET_MASK]) await change(id, { config: { host: 'b', api_key: kept } })
    expect(await settingsOf(id)).toEqual({ host: 'b', api_key: first, region: 'eu' })

    await change(id, { config: { host: 'b', api_key: second } })
    expect(await settingsOf(id)).toEqual({ host: 'b', api_key: second, region: 'eu' })

    expect((await change(id, { config: { host: 'b', api_key: '' } })).body.config).toEqual({ host: 'b' })
    expect(await settingsOf(id)).toEqual({ host: 'b', region: 'eu' })
  })

  it('200 and a secret in the old form of schemas is a secret too', async () => {
    const config_schema = { token: { type: 'string', secret: true }, host: { type: 'string' } }
    const old = await addPlugin(app, workspace.organization.id, { config_schema })
    const token = secret('token-of-the-old-form')
    const id = await createdId({ plugin: old, enabled: true, config: { token, host: 'h' } })
    expect((await change(id, { config: { host: 'i' } })).body.config).toEqual({
      host: 'i',
      token: SECRET_MASK,
    })
    expect(await settingsOf(id)).toEqual({ host: 'i', token })
  })

  it('200 and stays masked when the plugin stops calling it secret', async () => {
    const other = await addPlugin(app, workspace.organization.id)
    const api_key = secret('secret-until-cleared')
    const id = await createdId({ plugin: other, enabled: true, config: { host: 'h', api_key } })
    const open = JSON.stringify(SCHEMA.map((field) => ({ ...field, secret: false })))
    await app.db.run(sql`UPDATE plugin SET config_schema = ${open} WHERE id = ${other}`)
    expect((await app.get(path(`${id}/`), { key })).body.config).toEqual({ host: 'h', api_key: SECRET_MASK })
    expect((await change(id, { config: { host: 'i' } })).body.config).toEqual({
      host: 'i',
      api_key: SECRET_MASK,
    })
    expect(await settingsOf(id)).toMatchObject({ api_key })
  })

  it('200 without the secrets that were sealed under a key that is gone, which can be sent again', async () => {
    const id = await createdId({ enabled: true })
    const lost = sealSecretConfig(openSecrets(randomBytes(32).toString('hex'), null), id, { api_key: 'lost' })
    await app.db.run(sql`UPDATE plugin_config SET secrets = ${lost} WHERE id = ${id}`)
    expect((await app.get(path(`${id}/`), { key })).body.config).toEqual({ host: 'h' })
    const api_key = secret('sent-a-second-time')
    expect((await change(id, { config: { host: 'h', api_key } })).body.config.api_key).toBe(SECRET_MASK)
    expect(await settingsOf(id)).toMatchObject({ api_key })
  })

  it('200 with each kind of change in the log, and no secret in it', async () => {
    const id = await createdId({ config: { host: 'a', api_key: secret('logged-as-mask-only') } })
    await change(id, { enabled: true })
    await change(id, { config: { host: 'b', api_key: secret('logged-as-mask-again'), options: [1] } })
    await change(id, { name: 'New', filters: { events: [{ id: 'a' }] } })
    await change(id, { order: 77 })
    await change(id, { enabled: false })
    const entries = await activityOf(id)
    const named = entries.map((entry: { activity: string }) => entry.activity)
    expect(named).toEqual(['disabled', 'order_changed', 'updated', 'config_updated', 'enabled', 'created'])
    expect(entries[1]).toMatchObject({
      scope: 'Plugin',
      detail: { name: 'New', changes: [{ field: 'order' }] },
    })
    expect(entries[2].detail.changes).toMatchObject([
      { field: 'name', before: '', after: 'New' },
      { field: 'filters', before: null, after: { events: [{ id: 'a' }] } },
    ])
    expect(entries[3]).toMatchObject({
      scope: 'PluginConfig',
      item_id: String(id),
      detail: { name: 'Forwarder' },
    })
    expect(entries[3].detail.changes).toEqual([
      { type: 'PluginConfig', action: 'changed', field: 'host', before: 'a', after: 'b' },
      { type: 'PluginConfig', action: 'changed', field: 'api_key', before: SECRET_MASK, after: SECRET_MASK },
      { type: 'PluginConfig', action: 'created', field: 'options', before: null, after: [1] },
    ])
    const project_log = await app.get(`/api/projects/${project_id}/activity_log/?item_id=${id}`, { key })
    expect(project_log.body.results).toHaveLength(6)
  })

  it('200 and nothing stored, logged or told when nothing changes', async () => {
    const api_key = secret('the-same-secret-twice')
    const id = await createdId({ enabled: true, config: { host: 'h', api_key } })
    const before = await app.get(path(`${id}/`), { key })
    app.advance(1000)
    const told = await toldWhile(async () => {
      for (const body of [{}, { enabled: true }, { config: { host: 'h', api_key } }, { deleted: false }]) {
        expect((await change(id, body)).body).toEqual(before.body)
      }
    })
    expect(told).toEqual([])
    expect(await activityOf(id)).toHaveLength(2)
    expect(await toldWhile(() => change(id, { name: 'x' }))).toEqual([id])
  })

  it('200 and the fault is forgotten once something else could run', async () => {
    const id = await createdId()
    const error = { message: 'm', time: '2024-01-01T00:00:00.000Z' }
    await app.db.run(sql`UPDATE plugin_config SET error = ${error} WHERE id = ${id}`)
    expect((await change(id, { name: 'x' })).body.error).toEqual(error)
    expect((await change(id, { enabled: true })).body.error).toBeNull()
  })

  it('200 with filters as they are stored, also those from before they were checked', async () => {
    const id = await createdId()
    const filters = { event: [{ id: 'a' }] }
    await app.db.run(
      sql`UPDATE plugin_config SET filters = ${JSON.stringify(filters)}::jsonb WHERE id = ${id}`,
    )
    const { body } = await app.get(path(`${id}/`), { key })
    const reply = await change(id, { ...body, name: 'New' })
    expect(reply).toMatchObject({ status: 200, body: { name: 'New', filters } })
    expect((await change(id, { filters: { event: [{ id: 'b' }] } })).status).toBe(400)
  })

  it('200 with other filters, and null for all events', async () => {
    const id = await createdId({ filters: { events: [{ id: 'a' }] } })
    const hogql = { events: [{ id: null, properties: [{ type: 'hogql', key: "event != 'b'" }] }] }
    expect((await change(id, { filters: hogql })).body.filters).toEqual(hogql)
    expect((await change(id, { filters: null })).body.filters).toBeNull()
  })

  it.each([
    ['switching on what is incomplete', { enabled: true, config: {} }, 'required', 'config__host'],
    [
      'a choice that is none',
      { enabled: true, config: { host: 'h', region: 'x' } },
      'invalid_choice',
      'config__region',
    ],
    ['a switch that is null', { enabled: null }, 'null', 'enabled'],
    ['a wrong switch', { deleted: 'x' }, 'invalid_input', 'deleted'],
    [
      'filters that look at other events',
      { filters: { events: [{ id: 'a', properties: [{ type: 'hogql', key: 'count()' }] }] } },
      'hogql_query_error',
      'filters',
    ],
  ])('400 for %s, and nothing changed', async (_what, body, code, attr) => {
    const id = await createdId()
    const before = await app.get(path(`${id}/`), { key })
    expect(await change(id, body)).toMatchObject({ status: 400, body: { code, attr } })
    expect((await app.get(path(`${id}/`), { key })).body).toEqual(before.body)
  })

  it('400 for settings that what is switched on could not run with', async () => {
    const id = await createdId({ enabled: true })
    expect(await change(id, { config: {} })).toMatchObject({ status: 400, body: { attr: 'config__host' } })
    expect((await change(id, { enabled: false, config: {} })).status).toBe(200)
  })

  it('200 for what has nothing to do with settings, though a new version asks for more of those', async () => {
    const other = await addPlugin(app, workspace.organization.id)
    const id = await createdId({ plugin: other, enabled: true })
    const more = JSON.stringify([{ key: 'new', required: true }])
    await app.db.run(sql`UPDATE plugin SET config_schema = ${more} WHERE id = ${other}`)
    expect((await change(id, { name: 'x', order: 3 })).status).toBe(200)
    for (const body of [{ enabled: true }, { config: { host: 'i' } }, { 'remove_attachment[a]': 1 }]) {
      expect(await change(id, body)).toMatchObject({ status: 400, body: { attr: 'config__new' } })
    }
    expect((await change(id, { config: { new: 1 } })).status).toBe(200)
  })

  it('200 for a config of a plugin that is no longer for everybody', async () => {
    const other = await createOrganization(app)
    const shared = await addPlugin(app, other.organization.id, { is_global: true })
    const id = await createdId({ plugin: shared })
    await app.db.run(sql`UPDATE plugin SET is_global = false WHERE id = ${shared}`)
    expect((await change(id, { enabled: true })).body).toMatchObject({
      enabled: true,
      plugin_info: { id: shared },
    })
    const again = await app.post(path(), { plugin: shared }, { key })
    expect(again).toMatchObject({ status: 400, body: { code: 'does_not_exist' } })
  })
})

describe('PATCH plugin_configs/rearrange/', () => {
  it('200 with the enabled ones in their new order, each change logged and told', async () => {
    const project = await insertProject(app.db, workspace.organization.id, {}, app.services.now())
    const make = async (enabled: boolean, order: number): Promise<number> => {
      const body = { plugin, enabled, order, config: { host: 'h' } }
      return (await app.post(path('', project.id), body, { key })).body.id
    }
    const [a, b, off, same] = [
      await make(true, 1),
      await make(true, 2),
      await make(false, 3),
      await make(true, 9),
    ]
    const elsewhere = await createdId({ order: 5 })
    const orders = { [a]: 8, [b]: '7', [off]: 1, [same]: 9, [elsewhere]: 1, 2000000000: 1, nonsense: 1 }
    const told = await toldWhile(async () => {
      const reply = await app.patch(path('rearrange/', project.id), { orders }, { key })
      expect(reply).toMatchObject({ status: 200 })
      expect(reply.body.map(({ id, order }: { id: number; order: number }) => [id, order])).toEqual([
        [b, 7],
        [a, 8],
        [same, 9],
      ])
    })
    expect(told).toEqual([a, b, off])
    expect((await app.get(path(`${elsewhere}/`), { key })).body.order).toBe(5)
    const log = await app.get(path(`${a}/activity/`, project.id), { key })
    expect(log.body.results[0]).toMatchObject({
      activity: 'order_changed',
      detail: { name: 'Forwarder', changes: [{ field: 'order', before: 1, after: 8 }] },
    })
    expect((await app.get(path(`${same}/activity/`, project.id), { key })).body.count).toBe(2)
  })

  it.each([
    ['nothing', {}, 'required', 'orders'],
    ['a list', { orders: [] }, 'invalid_input', 'orders'],
    ['a fraction', { orders: { 1: 1.5 } }, 'invalid_input', 'orders__1'],
    ['a text', { orders: { 1: 'first' } }, 'invalid_input', 'orders__1'],
    ['a large number', { orders: { 1: 2 ** 31 } }, 'max_value', 'orders__1'],
  ])('400 for %s', async (_what, body, code, attr) => {
    const reply = await app.patch(path('rearrange/'), body, { key })
    expect(reply).toMatchObject({ status: 400, body: { code, attr } })
  })
})
