// Configs through the API: making, reading, deleting, and who may. Changes are in change.test.ts, files in
// attachments.test.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createKey,
  createMember,
  createOrganization,
  createServiceKey,
  type Workspace,
} from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { insertProject } from '../../projects/queries.ts'
import { setCurrent } from '../../users/queries.ts'
import { syncInlinePlugins } from '../inline/sync.ts'
import type { PluginConfigRow } from '../rows.ts'
import { SECRET_MASK } from './change-settings.ts'
import { addPlugin, SCHEMA } from './fixture/plugins.ts'
import { presentConfig } from './present.ts'

let app: TestApp
let workspace: Workspace
let foreign: Workspace
let key: string
let project_id: number
let elsewhere: number
let plugin: number
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  foreign = await createOrganization(app)
  key = workspace.owner.key
  project_id = workspace.project.id
  elsewhere = (await insertProject(app.db, workspace.organization.id, {}, app.services.now())).id
  plugin = await addPlugin(app, workspace.organization.id)
})
afterAll(() => app.close())

const path = (rest = '', project: number | string = project_id) =>
  `/api/projects/${project}/plugin_configs/${rest}`
const create = (fields: object = {}, call: object = {}) =>
  app.post(path(), { plugin, config: { host: 'h' }, ...fields }, { key, ...call })
const createdId = async (fields: object = {}): Promise<number> => (await create(fields)).body.id
const idsOf = (reply: { body: { results: { id: number }[] } }) => reply.body.results.map(({ id }) => id)
const storedRow = (id: number) =>
  app.db.only<PluginConfigRow>(sql`SELECT * FROM plugin_config WHERE id = ${id}`)
const countRows = async () =>
  (await app.db.only<{ count: number }>(sql`SELECT count(*)::int AS count FROM plugin_config`)).count
const activitiesOf = async (id: number): Promise<string[]> =>
  (await app.get(path(`${id}/activity/`), { key })).body.results.map(
    ({ activity }: { activity: string }) => activity,
  )

describe('POST plugin_configs/', () => {
  it('201 with all fields, and of the secret only that there is one', async () => {
    const api_key = app.canary.plant('setting', 'key-of-the-forwarder')
    const config = { host: 'example.com', api_key, options: { deep: [1] }, not_in_schema: 'kept' }
    const reply = await create({ config, name: ' Mine ', enabled: true })
    expect(reply).toMatchObject({ status: 201 })
    expect(reply.body).toEqual({
      id: expect.any(Number),
      plugin,
      enabled: true,
      order: expect.any(Number),
      config: { ...config, api_key: SECRET_MASK },
      name: 'Mine',
      description: 'Forwards.',
      deleted: false,
      team_id: project_id,
      plugin_info: expect.objectContaining({ id: plugin, name: 'Forwarder', config_schema: SCHEMA }),
      error: null,
      version: null,
      latest_version: null,
      on_failure: 'pass',
      held_events: 0,
      is_plugin_used_beyond: false,
      families: ['pipeline_destinations'],
      events_per_minute: 0,
      failures_24h: 0,
      delivery_rate_24h: null,
      created_at: expect.any(String),
      updated_at: reply.body.created_at,
      filters: null,
      site_url: null,
    })
    const row = await storedRow(reply.body.id)
    expect(row.config).toEqual({ host: 'example.com', options: { deep: [1] }, not_in_schema: 'kept' })
    expect(row.web_token).toMatch(/^[0-9A-Za-z]{30,}$/)
    expect(JSON.stringify(reply.body)).not.toContain(row.web_token)
  })

  it('201 switched off by default, without the settings that only an enabled one needs', async () => {
    const reply = await create({ config: {} })
    expect(reply).toMatchObject({ status: 201, body: { enabled: false, config: {}, name: 'Forwarder' } })
    expect(await activitiesOf(reply.body.id)).toEqual(['created'])
    expect(await activitiesOf(await createdId({ enabled: true }))).toEqual(['enabled', 'created'])
  })

  it('201 after all others, or where it is said', async () => {
    const first = await create()
    expect((await create()).body.order).toBe(first.body.order + 1)
    expect((await create({ order: '-7' })).body.order).toBe(-7)
    expect((await create({ order: 2_147_483_647 })).status).toBe(201)
    const last = await create()
    expect(last).toMatchObject({ status: 201, body: { order: 2_147_483_647 } })
    await app.db.run(sql`UPDATE plugin_config SET "order" = 50 WHERE "order" = 2147483647`)
  })

  it('201 with settings as the text of a form', async () => {
    const reply = await app.post(path(), `plugin=${plugin}&enabled=true&config=%7B%22host%22%3A%22h%22%7D`, {
      key,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(reply).toMatchObject({ status: 201, body: { enabled: true, config: { host: 'h' } } })
  })

  it("201 with a plugin for everybody, also another organization's", async () => {
    const shared = await addPlugin(app, foreign.organization.id, { is_global: true })
    const built_in = await addPlugin(app, null, { is_global: true, plugin_type: 'inline', url: 'inline:x' })
    expect((await create({ plugin: shared })).status).toBe(201)
    expect((await create({ plugin: built_in })).body.plugin_info.organization_name).toBe('built in')
  })

  it.each([
    ['characters', 'x'.repeat(65_537)],
    ['names', Array.from({ length: 1001 }, (_, n) => `p${n}`).join()],
  ])('400 for a list with too many %s, of one of the own apps', async (what, properties) => {
    await syncInlinePlugins(app.db, app.services.now())
    const { id } = await app.db.only<{ id: number }>(
      sql`SELECT id FROM plugin WHERE url = 'inline:property-filter'`,
    )
    const refused = {
      status: 400,
      body: { code: 'max_length', attr: 'config__properties', detail: expect.stringContaining(what) },
    }
    const before = await countRows()
    expect(await create({ plugin: id, config: { properties } })).toMatchObject(refused)
    expect(await countRows()).toBe(before)
    const made = await createdId({ plugin: id, config: { properties: 'a' } })
    expect(await app.patch(path(`${made}/`), { config: { properties } }, { key })).toMatchObject(refused)
    expect((await storedRow(made)).config).toEqual({ properties: 'a' })
  })

  it('201 with filters as they were sent', async () => {
    const filters = {
      events: [{ id: '$pageview', properties: [{ key: 'plan', value: 'paid' }] }, { id: null }],
    }
    expect((await create({ filters })).body.filters).toEqual(filters)
  })

  it.each([
    ['no plugin', { plugin: undefined }, 'required', 'plugin'],
    ['no integer', { plugin: 'x' }, 'invalid_input', 'plugin'],
    ['a plugin that is not there', { plugin: 2_000_000_000 }, 'does_not_exist', 'plugin'],
    ['a wrong switch', { enabled: 'perhaps' }, 'invalid_input', 'enabled'],
    ['a wrong order', { order: 1.5 }, 'invalid_input', 'order'],
    ['settings that are a list', { config: [] }, 'invalid_input', 'config'],
    ['settings that are null', { config: null }, 'null', 'config'],
    ['settings that are no JSON', { config: '{' }, 'invalid_input', 'config'],
    ['settings that are the text of a list', { config: '[]' }, 'invalid_input', 'config'],
    ['settings with NUL in their text', { config: '{"a":"\\u0000"}' }, 'invalid_input', 'config__a'],
    ['large settings', { config: { host: 'x'.repeat(1024 * 1024) } }, 'max_length', 'config'],
    ['large secrets', { config: { api_key: 'x'.repeat(1024 * 1024) } }, 'max_length', 'config'],
    ['settings nested in their text', { config: '['.repeat(65) }, 'invalid_input', null],
    ['settings with a bad key in their text', { config: '{"__proto__":{}}' }, 'invalid_input', 'config'],
    ['a long name', { name: 'x'.repeat(401) }, 'max_length', 'name'],
    ['a long description', { description: 'x'.repeat(1001) }, 'max_length', 'description'],
    ['filters with a misspelt name', { filters: { event: [{ id: 'a' }] } }, 'invalid_input', 'filters'],
    ['filters that are a list', { filters: [] }, 'invalid_input', 'filters'],
    ['filters without a name', { filters: { events: [{ id: 5 }] } }, 'invalid_input', 'filters'],
    [
      'filters of an unknown operator',
      { filters: { events: [{ id: 'a', properties: [{ key: 'b', value: 1, operator: 'like' }] }] } },
      'invalid_input',
      'filters',
    ],
    ['an app without what it needs', { enabled: true, config: {} }, 'required', 'config__host'],
    ['an app with a blank', { enabled: true, config: { host: '' } }, 'required', 'config__host'],
    [
      'a choice that is none',
      { enabled: true, config: { host: 'h', region: 'mars' } },
      'invalid_choice',
      'config__region',
    ],
    ['an attachment that is no file', { 'add_attachment[a]': 'x' }, 'invalid_input', 'add_attachment[a]'],
  ])('400 for %s, and nothing stored', async (_what, fields, code, attr) => {
    const before = await countRows()
    expect(await create(fields)).toMatchObject({ status: 400, body: { code, attr } })
    expect(await countRows()).toBe(before)
  })

  it("400 for a plugin of another organization's own", async () => {
    const theirs = await addPlugin(app, foreign.organization.id)
    expect(await create({ plugin: theirs })).toMatchObject({
      status: 400,
      body: { code: 'does_not_exist', attr: 'plugin' },
    })
  })

  it('400 for the 101st of a project, deleted ones not counted', async () => {
    const { project, owner } = await createOrganization(app)
    const own = await addPlugin(app, project.organization_id)
    const make = () => app.post(path('', project.id), { plugin: own }, { key: owner.key })
    const first = await make()
    await app.db.run(sql`
      INSERT INTO plugin_config (project_id, plugin_id, enabled, "order", name, description, config, secrets, web_token,
        created_at, updated_at)
      SELECT c.project_id, c.plugin_id, c.enabled, c."order", c.name, c.description, c.config, c.secrets, c.web_token,
        c.created_at, c.updated_at
      FROM plugin_config c, generate_series(1, 99) WHERE c.id = ${first.body.id}`)
    expect(await make()).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: null } })
    await app.delete(path(`${first.body.id}/`, project.id), { key: owner.key })
    expect((await make()).status).toBe(201)
    const restore = { deleted: false }
    expect((await app.patch(path(`${first.body.id}/`, project.id), restore, { key: owner.key })).status).toBe(
      400,
    )
  })

  it('tells the clockwork once it is stored, and only then', async () => {
    const told: (number | null)[] = []
    const stop = app.services.changes.listen('plugin-config', (id) => void told.push(id))
    const id = await createdId()
    await create({ plugin: 2_000_000_000 })
    stop()
    expect(told).toEqual([id])
  })
})

describe('GET plugin_configs/', () => {
  it('200 by order, plugin and id, without the plugins and without deleted ones', async () => {
    const { project, owner } = await createOrganization(app)
    const plugins = [
      await addPlugin(app, project.organization_id),
      await addPlugin(app, project.organization_id),
    ]
    const make = async (index: number, order: number): Promise<number> =>
      (await app.post(path('', project.id), { plugin: plugins[index], order }, { key: owner.key })).body.id
    const [d, b, c, a, gone] = [
      await make(0, 3),
      await make(0, 2),
      await make(1, 2),
      await make(1, 1),
      await make(0, 0),
    ]
    await app.delete(path(`${gone}/`, project.id), { key: owner.key })
    const list = await app.get(path('', project.id), { key: owner.key })
    expect(list).toMatchObject({ status: 200, body: { count: 4, next: null, previous: null } })
    expect(idsOf(list)).toEqual([a, b, c, d])
    expect(list.body.results[0]).toMatchObject({ plugin_info: null, site_url: null, name: 'Forwarder' })
    const page = await app.get(path('?limit=2&offset=1', project.id), { key: owner.key })
    expect([idsOf(page), page.body.count, page.body.next !== null]).toEqual([[b, c], 4, true])
  })

  it('200 with nothing of other projects', async () => {
    const id = await createdId()
    expect(idsOf(await app.get(path('', elsewhere), { key }))).not.toContain(id)
    expect(idsOf(await app.get(path('?limit=1000'), { key }))).toContain(id)
  })
})

describe('GET plugin_configs/:id/', () => {
  it('404 when the plugin is removed while the config is read', async () => {
    const removed = await addPlugin(app, workspace.organization.id)
    const row = await storedRow(await createdId({ plugin: removed }))
    await app.db.run(sql`DELETE FROM plugin WHERE id = ${removed}`)
    const reading = { services: app.services, db: app.db, now: app.services.now(), caller: {} }
    const found = { project: workspace.project, row, level: 15 }
    await expect(presentConfig(reading as never, found as never)).rejects.toMatchObject({ status: 404 })
  })

  it('200 with the share of calls that went well in the last day', async () => {
    const id = await createdId()
    const add = (hours: number, category: string, successes: number, on_retry: number, failures: number) =>
      app.db.run(sql`
        INSERT INTO plugin_metric (project_id, plugin_config_id, category, hour, successes, successes_on_retry, failures)
        VALUES (${project_id}, ${id}, ${category}, ${new Date(Date.now() - hours * 3_600_000)}, ${successes},
          ${on_retry}, ${failures})`)
    await add(30, 'onEvent', 0, 0, 1000)
    await add(1, 'exportEvents', 0, 0, 0)
    expect((await app.get(path(`${id}/`), { key })).body.delivery_rate_24h).toBeNull()
    await add(1, 'onEvent', 5, 1, 1)
    await add(23, 'processEvent', 0, 0, 1)
    const { body } = await app.get(path(`${id}/`), { key })
    expect([body.delivery_rate_24h, body.failures_24h]).toEqual([0.75, 2])
    // One hour ago is within the hour before this one: 7 of its calls, of the kind that was made most.
    expect(body.events_per_minute).toBeGreaterThanOrEqual(7 / 120)
    expect(body.events_per_minute).toBeLessThanOrEqual(7 / 60 + 0.001)
  })

  it('200 with the address of its code for web pages, for admins alone', async () => {
    const id = await createdId({ enabled: true, plugin: await pluginWithSiteCode() })
    const { web_token } = await storedRow(id)
    const { site_url } = (await app.get(path(`${id}/`), { key })).body
    expect(site_url).toMatch(
      new RegExp(`^http://longshore\\.test/site_app/${id}/${web_token}/[0-9a-f]{32}/$`),
    )
    const member = await createMember(app, workspace.organization)
    expect((await app.get(path(`${id}/`), { key: member.key })).body.site_url).toBeNull()
    expect(JSON.stringify((await app.get(path('?limit=1000'), { key })).body)).not.toContain(web_token)
  })

  it('200 with the fault that keeps it from running', async () => {
    const id = await createdId()
    const error = { message: 'It does not load.', time: '2024-01-01T00:00:00.000Z' }
    await app.db.run(sql`UPDATE plugin_config SET error = ${error} WHERE id = ${id}`)
    expect((await app.get(path(`${id}/`), { key })).body.error).toEqual(error)
  })

  it.each([['nonsense'], ['2000000000'], ['99999999999'], ['0'], ['-1'], ['1.5']])(
    '404 for %s',
    async (id) => {
      expect(await app.get(path(`${id}/`), { key })).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      })
    },
  )

  it("404 below another project, 403 below another organization's", async () => {
    const id = await createdId()
    for (const rest of [`${id}/`, `${id}/frontend/`, `${id}/activity/`]) {
      expect((await app.get(path(rest, elsewhere), { key })).status).toBe(404)
      expect((await app.get(path(rest, foreign.project.id), { key: foreign.owner.key })).status).toBe(404)
      expect((await app.get(path(rest), { key: foreign.owner.key })).status).toBe(403)
    }
    expect((await app.patch(path(`${id}/`, elsewhere), { name: 'x' }, { key })).status).toBe(404)
    expect((await app.delete(path(`${id}/`, elsewhere), { key })).status).toBe(404)
    expect((await storedRow(id)).name).toBe('')
  })

  async function pluginWithSiteCode(): Promise<number> {
    const id = await addPlugin(app, workspace.organization.id, { capabilities: {} })
    await app.db.run(sql`
      INSERT INTO plugin_source_file (plugin_id, filename, source, hash, transpiled, status, updated_at)
      VALUES (${id}, 'site.ts', 'x', 'hash', 'x', 'TRANSPILED', ${app.services.now()})`)
    return id
  }
})

describe('DELETE plugin_configs/:id/', () => {
  it('204, gone from lists and switched off, and 404 the second time', async () => {
    const id = await createdId({ enabled: true })
    expect((await app.delete(path(`${id}/`), { key })).status).toBe(204)
    expect(idsOf(await app.get(path('?limit=1000'), { key }))).not.toContain(id)
    expect((await app.get(path(`${id}/`), { key })).body).toMatchObject({ deleted: true, enabled: false })
    expect((await app.delete(path(`${id}/`), { key })).status).toBe(404)
    expect(await activitiesOf(id)).toEqual(['deleted', 'disabled', 'enabled', 'created'])
  })

  it('204 to one of two at once', async () => {
    const id = await createdId()
    const replies = await Promise.all([1, 2].map(() => app.delete(path(`${id}/`), { key })))
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 404])
  })

  it('is undone by deleted: false, and only so', async () => {
    const id = await createdId({ enabled: true })
    await app.delete(path(`${id}/`), { key })
    expect(await app.patch(path(`${id}/`), { enabled: true }, { key })).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', attr: 'enabled' },
    })
    const restored = await app.patch(path(`${id}/`), { deleted: false, enabled: true }, { key })
    expect(restored).toMatchObject({ status: 200, body: { deleted: false, enabled: true } })
    expect(idsOf(await app.get(path('?limit=1000'), { key }))).toContain(id)
    const again = await app.patch(path(`${id}/`), { deleted: true, enabled: true }, { key })
    expect(again.body).toMatchObject({ deleted: true, enabled: false })
  })
})

describe('who may', () => {
  const setAccess = (level: number, workspace: Workspace) =>
    app.db.run(
      sql`UPDATE organization SET plugins_access_level = ${level} WHERE id = ${workspace.organization.id}`,
    )

  it('403 to everybody in an organization without plugins, and all of it in one that may only configure', async () => {
    const strict = await createOrganization(app)
    const call = { key: strict.owner.key }
    const own = await addPlugin(app, strict.organization.id)
    const made = await app.post(path('', strict.project.id), { plugin: own }, call)
    const at = path(`${made.body.id}/`, strict.project.id)
    const attempts = () =>
      Promise.all([
        app.get(path('', strict.project.id), call),
        app.post(path('', strict.project.id), { plugin: own }, call),
        app.patch(path('rearrange/', strict.project.id), { orders: {} }, call),
        app.get(at, call),
        app.patch(at, { name: 'x' }, call),
        app.get(`${at}frontend/`, call),
        app.get(`${at}activity/`, call),
      ]).then((replies) => replies.map(({ status }) => status))
    await setAccess(0, strict)
    expect(await attempts()).toEqual(Array(7).fill(403))
    expect([(await app.delete(at, call)).status, (await storedRow(made.body.id)).deleted]).toEqual([
      403,
      false,
    ])
    await setAccess(3, strict)
    expect(await attempts()).toEqual([200, 201, 200, 200, 200, 200, 200])
    expect((await app.delete(at, call)).status).toBe(204)
  })

  it('members too; keys by their scope', async () => {
    const member = await createMember(app, workspace.organization)
    const reader = await createKey(app, workspace.owner, { scopes: ['plugin:read'] })
    const service = await createServiceKey(app, workspace.organization, { scopes: ['plugin:write'] })
    expect((await create({}, { key: member.key })).status).toBe(201)
    expect((await create({}, { key: service })).status).toBe(201)
    expect((await create({}, { key: reader })).status).toBe(403)
    expect((await app.get(path(), { key: reader })).status).toBe(200)
    expect((await app.get(path())).status).toBe(401)
  })

  it('only admins, where the installation says so', async () => {
    const strict = await startTestApp({ PLUGINS_MIN_WRITE_LEVEL: 'admin' })
    try {
      const { organization, project, owner } = await createOrganization(strict)
      const member = await createMember(strict, organization)
      const own = await addPlugin(strict, organization.id)
      const post = (by: string) => strict.post(path('', project.id), { plugin: own }, { key: by })
      expect((await post(member.key)).status).toBe(403)
      const { status, body } = await post(owner.key)
      expect(status).toBe(201)
      const at = path(`${body.id}/`, project.id)
      expect((await strict.get(at, { key: member.key })).status).toBe(200)
      expect((await strict.patch(at, { name: 'x' }, { key: member.key })).status).toBe(403)
      expect((await strict.delete(at, { key: member.key })).status).toBe(403)
    } finally {
      await strict.close()
    }
  })
})

describe('other paths to the same', () => {
  it('environments/ and @current', async () => {
    const id = await createdId()
    for (const base of [`environments/${project_id}`, 'projects/@current']) {
      expect((await app.get(`/api/${base}/plugin_configs/${id}/`, { key })).body.id).toBe(id)
    }
  })

  it('plugin_config/ for the current project', async () => {
    const member = await createMember(app, workspace.organization)
    await setCurrent(app.db, member.id, workspace.organization.id, elsewhere)
    const call = { key: member.key }
    const made = await app.post('/api/plugin_config/', { plugin, enabled: true, config: { host: 'h' } }, call)
    expect(made).toMatchObject({ status: 201, body: { team_id: elsewhere } })
    const { id } = made.body
    expect(idsOf(await app.get('/api/plugin_config/', call))).toEqual([id])
    expect((await app.patch(`/api/plugin_config/${id}/`, { name: 'x' }, call)).body.name).toBe('x')
    const orders = { [id]: 5 }
    expect((await app.patch('/api/plugin_config/rearrange/', { orders }, call)).body).toMatchObject([
      { id, order: 5 },
    ])
    expect((await app.get(`/api/plugin_config/${await createdId()}/`, call)).status).toBe(404)
    expect((await app.delete(`/api/plugin_config/${id}/`, call)).status).toBe(204)
    const limited = await createKey(app, workspace.owner, { scopes: ['*'], scoped_teams: [elsewhere] })
    expect((await app.get('/api/plugin_config/', { key: limited })).status).toBe(403)
  })

  it('404 on plugin_config/ to whoever has no project', async () => {
    const member = await createMember(app, workspace.organization)
    await app.db.run(sql`DELETE FROM membership WHERE user_id = ${member.id}`)
    expect((await app.get('/api/plugin_config/', { key: member.key })).status).toBe(404)
    expect((await app.post('/api/plugin_config/', { plugin }, { key: member.key })).status).toBe(404)
  })
})

describe('families', () => {
  const kinds = {
    pipeline_destination_configs: { methods: ['onEvent'] },
    pipeline_frontend_apps_configs: null,
    pipeline_import_apps_configs: { scheduled_tasks: ['runEveryMinute'], methods: [] },
    pipeline_transformation_configs: { methods: ['processEvent'] },
  }
  const names = Object.keys(kinds) as (keyof typeof kinds)[]

  it('each shows and takes what its plugins can do, in every call', async () => {
    const made = new Map<string, { id: number; plugin: number }>()
    for (const name of names) {
      const plugin = await addPlugin(app, workspace.organization.id, { capabilities: kinds[name] ?? {} })
      const reply = await app.post(`/api/projects/${project_id}/${name}/`, { plugin }, { key })
      expect(reply.status, name).toBe(201)
      made.set(name, { id: reply.body.id, plugin })
    }
    for (const name of names) {
      const base = `/api/projects/${project_id}/${name}/`
      const shown = idsOf(await app.get(`${base}?limit=1000`, { key }))
      for (const [other, { id, plugin }] of made) {
        const is_own = other === name
        expect(shown.includes(id), `${other} in ${name}`).toBe(is_own)
        expect((await app.get(`${base}${id}/`, { key })).status).toBe(is_own ? 200 : 404)
        expect((await app.get(`${base}${id}/activity/`, { key })).status).toBe(is_own ? 200 : 404)
        expect((await app.patch(`${base}${id}/`, { name: 'x' }, { key })).status).toBe(is_own ? 200 : 404)
        if (!is_own) {
          expect((await app.delete(`${base}${id}/`, { key })).status).toBe(404)
          expect((await app.post(base, { plugin }, { key })).body.code).toBe('does_not_exist')
        }
      }
      const everywhere = await app.get(`/api/environments/${project_id}/plugin_configs/?limit=1000`, { key })
      expect(idsOf(everywhere)).toContain(made.get(name)!.id)
    }
  })
})
