// Plugins through HTTP: making, seeing, changing and deleting them, in every family.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, createMember, createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import { FAMILIES } from './families.ts'
import { configure, insertFixturePlugin } from './fixture/plugins.ts'
import { MAX_PLUGINS } from './rules.ts'

let app: TestApp
let home: Workspace
let foreign: Workspace
let key: string
let base: string
beforeAll(async () => {
  app = await startTestApp()
  home = await createOrganization(app)
  foreign = await createOrganization(app)
  for (const { owner } of [home, foreign]) await makeStaff(owner.id)
  key = home.owner.key
  base = below(home)
})
afterAll(() => app.close())

/** Only the server's staff may give code to other organizations. */
const makeStaff = (user_id: number) =>
  app.db.run(sql`UPDATE app_user SET is_staff = true WHERE id = ${user_id}`)
const below = ({ organization }: Workspace, family = 'plugins') =>
  `/api/organizations/${organization.id}/${family}/`
const create = (fields: object = {}, call: object = {}) =>
  app.post(base, { plugin_type: 'source', name: 'My app', ...fields }, { key, ...call })
const createId = async (fields: object = {}): Promise<number> => (await create(fields)).body.id
const createGlobal = async (of: Workspace) =>
  (await app.post(below(of), { name: 'For all', is_global: true }, { key: of.owner.key })).body.id as number
const activityOf = async (id: number) =>
  (await app.get(`${base}activity/?limit=100`, { key })).body.results
    .filter((entry: { item_id: string }) => entry.item_id === String(id))
    .map((entry: { activity: string }) => entry.activity)
const countRows = async () =>
  (await app.db.only<{ count: number }>(sql`SELECT count(*)::int AS count FROM plugin`)).count

/** Sets what the organization may do, and puts it back. */
async function withAccess(level: number, work: () => Promise<void>) {
  const set = (to: number) =>
    app.db.run(sql`UPDATE organization SET plugins_access_level = ${to} WHERE id = ${home.organization.id}`)
  await set(level)
  try {
    await work()
  } finally {
    await set(9)
  }
}

describe('POST', () => {
  it('201 with all fields of a fresh plugin, and an entry in the log', async () => {
    const { status, body } = await create()
    expect(status).toBe(201)
    expect(body).toEqual({
      id: body.id,
      plugin_type: 'source',
      name: 'My app',
      description: null,
      url: null,
      icon: null,
      config_schema: {},
      tag: null,
      latest_tag: null,
      is_global: false,
      organization_id: home.organization.id,
      organization_name: home.organization.name,
      capabilities: {},
      metrics: {},
      public_jobs: {},
      errors: [],
    })
    expect(await activityOf(body.id)).toEqual(['installed'])
  })

  it('201 with every field as it was sent, keys in their order', async () => {
    const fields = {
      plugin_type: 'custom',
      name: '  Trimmed  ',
      description: 'What it does',
      icon: 'https://example.com/icon.png',
      config_schema: { zebra: { type: 'string' }, apple: { type: 'string' } },
      tag: 'v1',
      is_global: true,
      capabilities: { methods: ['onEvent'] },
      metrics: { sent: 'sum' },
      public_jobs: { sync: { payload: {} } },
      id: 1,
      organization_id: foreign.organization.id,
      latest_tag: 'v9',
    }
    const { status, body } = await create(fields)
    expect([status, body.name, body.plugin_type, body.latest_tag]).toEqual([201, 'Trimmed', 'custom', null])
    expect(body.organization_id).toBe(home.organization.id)
    const { name: _, id: __, organization_id: ___, latest_tag: ____, ...kept } = fields
    expect(body).toMatchObject(kept)
    expect(Object.keys(body.config_schema)).toEqual(['zebra', 'apple'])
    expect((await app.get(`${base}${body.id}/`, { key })).body).toEqual(body)
  })

  it('201 without type or name', async () => {
    const { body } = await app.post(base, {}, { key })
    expect([body.plugin_type, body.name]).toEqual(['source', 'Unnamed plugin'])
    expect((await create({ plugin_type: null, name: null })).body).toMatchObject({
      plugin_type: 'source',
      name: null,
    })
  })

  it.each([
    ['unknown type', { plugin_type: 'magic' }, 'invalid_choice', 'plugin_type'],
    ['built-in type', { plugin_type: 'inline' }, 'invalid_choice', 'plugin_type'],
    ['local type without a folder', { plugin_type: 'local' }, 'invalid_input', 'url'],
    ['no name', { name: '' }, 'blank', 'name'],
    ['blanks for a name', { name: '  ' }, 'blank', 'name'],
    ['long name', { name: 'x'.repeat(201) }, 'max_length', 'name'],
    ['long icon', { icon: 'x'.repeat(801) }, 'max_length', 'icon'],
    ['long tag', { tag: 'x'.repeat(201) }, 'max_length', 'tag'],
    ['long url', { url: `https://github.com/a/${'x'.repeat(800)}` }, 'max_length', 'url'],
    ['odd is_global', { is_global: 'perhaps' }, 'invalid_input', 'is_global'],
    ['no config_schema', { config_schema: null }, 'null', 'config_schema'],
    ['text as config_schema', { config_schema: 'x' }, 'invalid_input', 'config_schema'],
    ['list with a text', { config_schema: ['x'] }, 'invalid_input', 'config_schema'],
    ['same key twice', { config_schema: [{ key: 'a' }, { key: 'a' }] }, 'invalid_input', 'config_schema'],
    [
      'secret for pages',
      { config_schema: [{ key: 'a', secret: true, site: true }] },
      'invalid_input',
      'config_schema',
    ],
    ['no capabilities', { capabilities: null }, 'null', 'capabilities'],
    ['list as capabilities', { capabilities: [] }, 'invalid_input', 'capabilities'],
    ['numbers as methods', { capabilities: { methods: [1] } }, 'invalid_input', 'capabilities'],
    ['text as jobs', { capabilities: { jobs: 'x' } }, 'invalid_input', 'capabilities'],
    ['list as metrics', { metrics: [] }, 'invalid_input', 'metrics'],
    ['address of nobody', { url: 'https://example.com/a/b' }, 'invalid_input', 'url'],
    ['no address at all', { url: 'x' }, 'invalid_input', 'url'],
    ['folder where none is offered', { url: 'file:/etc' }, 'invalid_input', 'url'],
  ])('400 for %s, and nothing is made', async (_name, fields, code, attr) => {
    const before = await countRows()
    expect(await create(fields)).toMatchObject({ status: 400, body: { code, attr } })
    expect(await countRows()).toBe(before)
  })

  it('400 for bodies that are no object', async () => {
    expect(await app.post(base, [], { key })).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', attr: null },
    })
    expect(await app.post(base, '{', { key, headers: { 'content-type': 'application/json' } })).toMatchObject(
      {
        status: 400,
        body: { code: 'parse_error', attr: null },
      },
    )
  })

  it('400 for one too many, even when they come at once', async () => {
    const full = await createOrganization(app)
    for (let count = 1; count < MAX_PLUGINS; count++) {
      await insertFixturePlugin(app.db, { organization_id: full.organization.id })
    }
    const replies = await Promise.all(
      ['a', 'b', 'c'].map((name) => app.post(below(full), { name }, { key: full.owner.key })),
    )
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 400, 400])
    expect(replies.find(({ status }) => status === 400)!.body).toMatchObject({
      code: 'invalid_input',
      attr: null,
    })
  })

  it('403 to set is_global for whoever may not, and nothing is made', async () => {
    const member = await createMember(app, home.organization)
    const admin = await createMember(app, home.organization, { level: 'admin' })
    const before = await countRows()
    for (const { key } of [member, admin])
      expect((await create({ is_global: true }, { key })).status).toBe(403)
    await withAccess(6, async () => {
      expect(await create({ is_global: true })).toMatchObject({
        status: 403,
        body: { code: 'permission_denied' },
      })
      expect(await countRows()).toBe(before)
      expect((await create({ is_global: false })).status).toBe(201)
    })
    const staff = await createMember(app, home.organization, { is_staff: true })
    const scoped_organizations = [home.organization.id]
    const limited = await createKey(app, staff, { scopes: ['*'], scoped_organizations })
    expect((await create({ is_global: true }, { key: limited })).status).toBe(403)
    expect((await create({ is_global: true }, { key: staff.key })).status).toBe(201)
  })
})

describe.each(FAMILIES)('%s', (family) => {
  it('shows what was made in it, for every call', async () => {
    const url = below(home, family)
    const { status, body } = await app.post(url, { name: 'Here' }, { key })
    expect(status).toBe(201)
    const one = `${url}${body.id}/`
    expect((await app.get(one, { key })).body).toEqual(body)
    const ids = (await app.get(`${url}?limit=1000`, { key })).body.results.map(
      (each: { id: number }) => each.id,
    )
    expect(ids).toContain(body.id)
    expect(ids).toEqual(ids.toSorted((a: number, b: number) => a - b))
    expect((await app.get(`${url}unused/?limit=1000`, { key })).body.results).toContainEqual(body)
    expect((await app.get(`${url}activity/`, { key })).body.results[0]).toMatchObject({
      activity: 'installed',
      scope: 'Plugin',
      item_id: String(body.id),
      is_system: false,
      detail: { name: 'Here' },
    })
    expect((await app.get(`${one}source/`, { key })).body).toEqual(body)
    expect((await app.get(`${one}check_for_updates/`, { key })).body).toEqual({ ...body, plugin: body })
    expect((await app.post(`${one}upgrade/`, {}, { key })).body).toEqual(body)
    expect((await app.patch(one, { description: 'new' }, { key })).body).toEqual({
      ...body,
      description: 'new',
    })
    expect((await app.get(`${url}exports_unsubscribe_configs/`, { key })).status).toBe(200)
    expect((await app.get(`${url}repository/`, { key })).status).toBe(200)
    expect((await app.delete(one, { key })).status).toBe(204)
    expect((await app.get(one, { key })).status).toBe(404)
    const left = (await app.get(`${url}activity/`, { key })).body.results
    expect(left.slice(0, 3).map((entry: { activity: string }) => entry.activity)).toEqual([
      'uninstalled',
      'updated',
      'installed',
    ])
  })

  it('404 for a plugin of another family, whatever is asked', async () => {
    if (family === 'plugins') return
    const other = family === 'pipeline_destinations' ? ['runEveryMinute'] : []
    const capabilities =
      family === 'pipeline_destinations' ? { methods: [], scheduled_tasks: other } : { methods: ['onEvent'] }
    const id = await createId({ capabilities })
    const one = `${below(home, family)}${id}/`
    for (const path of ['', 'source/', 'check_for_updates/']) {
      expect((await app.get(one + path, { key })).status, path).toBe(404)
    }
    expect((await app.patch(one, { name: 'x' }, { key })).status).toBe(404)
    expect((await app.patch(`${one}update_source/`, { 'a.txt': 'x' }, { key })).status).toBe(404)
    expect((await app.post(`${one}upgrade/`, {}, { key })).status).toBe(404)
    expect((await app.post(`${one}test/`, { event: {} }, { key })).status).toBe(404)
    expect((await app.delete(one, { key })).status).toBe(404)
    const ids = (await app.get(`${below(home, family)}activity/?limit=1000`, { key })).body.results.map(
      (entry: { item_id: string }) => entry.item_id,
    )
    expect(ids).not.toContain(String(id))
    expect((await app.get(`${base}${id}/`, { key })).body.name).toBe('My app')
  })

  it('404 for what is no id', async () => {
    for (const id of ['x', '1.5', '-1', '99999999999', '0', '1e3']) {
      expect((await app.get(`${below(home, family)}${id}/`, { key })).status, id).toBe(404)
    }
  })
})

describe('GET', () => {
  it('lists its own, those for everybody, and those its projects have configured; no others', async () => {
    const own = await createId()
    const shared = await createGlobal(foreign)
    const { id: hidden } = (await app.post(below(foreign), { name: 'Theirs' }, { key: foreign.owner.key }))
      .body
    const once = await createGlobal(foreign)
    await configure(app, home.project.id, key, { plugin: once })
    await app.patch(`${below(foreign)}${once}/`, { is_global: false }, { key: foreign.owner.key })
    const { body } = await app.get(`${base}?limit=1000`, { key })
    const ids: number[] = body.results.map((each: { id: number }) => each.id)
    expect(ids).toEqual(expect.arrayContaining([own, shared, once]))
    expect(ids).not.toContain(hidden)
    expect(body.count).toBe(ids.length)
    expect((await app.get(`${base}${hidden}/`, { key })).status).toBe(404)
    expect((await app.get(`${base}${once}/`, { key })).body.organization_name).toBe(foreign.organization.name)
    const page = (await app.get(`${base}?limit=1&offset=1`, { key })).body
    expect(page.results).toEqual([body.results[1]])
  })

  it('403 to everything below level 3, and to code below level 6', async () => {
    const id = await createId()
    await withAccess(0, async () => {
      for (const path of [
        '',
        `${id}/`,
        'activity/',
        'unused/',
        'repository/',
        'exports_unsubscribe_configs/',
      ]) {
        expect((await app.get(base + path, { key })).status, path).toBe(403)
      }
    })
    await withAccess(3, async () => {
      expect((await app.get(`${base}${id}/`, { key })).status).toBe(200)
      expect((await app.get(`${base}${id}/source/`, { key })).status).toBe(403)
      expect((await app.get(`${base}${id}/check_for_updates/`, { key })).status).toBe(403)
      expect((await create()).status).toBe(403)
      expect((await app.patch(`${base}${id}/`, { name: 'x' }, { key })).status).toBe(403)
      expect((await app.delete(`${base}${id}/`, { key })).status).toBe(403)
      expect((await app.post(`${base}${id}/upgrade/`, {}, { key })).status).toBe(403)
      expect((await app.patch(`${base}${id}/update_source/`, {}, { key })).status).toBe(403)
    })
    expect((await app.get(`${base}${id}/`, { key })).body.name).toBe('My app')
  })

  it('activity: a key that may read the log is enough; pages are numbered', async () => {
    const logKey = await createKey(app, home.owner, { scopes: ['activity_log:read'] })
    await createId()
    await createId()
    const first = (await app.get(`${base}activity/?limit=1`, { key: logKey })).body
    expect(first.results).toHaveLength(1)
    expect(first.previous).toBeNull()
    expect(first.total_count).toBe(first.count)
    const second = (await app.get(new URL(first.next).pathname + new URL(first.next).search, { key })).body
    expect(second.results[0].id).not.toBe(first.results[0].id)
    expect(second.previous).toContain('page=1')
    const plain = (await app.get(`${base}activity/?limit=x&page=0`, { key })).body
    expect(plain.results.length).toBeLessThanOrEqual(10)
    expect(plain.results[0]).toEqual(first.results[0])
  })

  it('unused: what is switched on nowhere, in no organization; ids alone for PostHog', async () => {
    const [idle, off, used] = [await createId(), await createId(), await createGlobal(home)]
    await configure(app, home.project.id, key, { plugin: off, enabled: false })
    await configure(app, foreign.project.id, foreign.owner.key, { plugin: used })
    const theirs = await createGlobal(foreign)
    const ids = (await app.get(`${base}unused/?format=posthog&limit=1000`, { key })).body
    expect(ids).toEqual(expect.arrayContaining([idle, off]))
    expect(ids).not.toContain(used)
    expect(ids).not.toContain(theirs)
  })

  it('exports_unsubscribe_configs: what would stop', async () => {
    const of = (methods: string[]) => ({ capabilities: { methods } })
    const sends = await createId(of(['onEvent']))
    const changes = await createId(of(['processEvent']))
    const changesForAll = await createId({ ...of(['processEvent', 'onEvent']), is_global: true })
    const codeless = await createId()
    const ids = new Map<number, number>()
    for (const plugin of [sends, changes, changesForAll, codeless]) {
      ids.set(plugin, await configure(app, home.project.id, key, { plugin }))
    }
    await configure(app, home.project.id, key, { plugin: sends, enabled: false })
    await configure(app, foreign.project.id, foreign.owner.key, { plugin: changesForAll })
    const { body } = await app.get(`${base}exports_unsubscribe_configs/?limit=1000`, { key })
    const shown = body.results.map((each: { id: number }) => each.id)
    expect(shown).toEqual([ids.get(sends), ids.get(changes)])
    expect(body.results[0].plugin_info).toEqual((await app.get(`${base}${sends}/`, { key })).body)
    const destinations = `${below(home, 'pipeline_destinations')}exports_unsubscribe_configs/?format=posthog`
    expect((await app.get(destinations, { key })).body).toEqual([body.results[0]])
  })
})

describe('PATCH', () => {
  it('200 with the change, told to the log and to whoever listens; an empty one changes nothing', async () => {
    const id = await createId()
    const told: (number | null)[] = []
    const stop = app.services.changes.listen('plugin', (changed) => told.push(changed))
    const changed = await app.patch(
      `${base}${id}/`,
      { name: 'Other', url: 'https://github.com/a/b' },
      { key },
    )
    expect(changed).toMatchObject({ status: 200, body: { id, name: 'Other', url: null } })
    await app.patch(`${base}${id}/`, {}, { key })
    await app.patch(`${base}${id}/`, { name: 'Other' }, { key })
    stop()
    expect(told).toEqual([id])
    const log = (await app.get(`${base}activity/?limit=1`, { key })).body.results[0]
    expect(log).toMatchObject({ activity: 'updated', item_id: String(id) })
    expect(log.detail.changes).toEqual([
      { type: 'Plugin', action: 'changed', field: 'name', before: 'My app', after: 'Other' },
    ])
    expect(await activityOf(id)).toEqual(['updated', 'installed'])
  })

  it('200 without effect for what its code offers, by update_source too', async () => {
    const id = await createId()
    const source = `${base}${id}/update_source/`
    const code = `export const metrics = { n: 'sum' }\nexport function processEvent(event) { return event }`
    const { capabilities, metrics } = (await app.patch(source, { 'index.ts': code }, { key })).body
    expect(capabilities.methods).toEqual(['processEvent'])
    const asCoded = { status: 200, body: { name: 'Renamed', capabilities, metrics } }
    const claimed = { name: 'Renamed', capabilities: { methods: ['onEvent'] }, metrics: {} }
    expect(await app.patch(`${base}${id}/`, claimed, { key })).toMatchObject(asCoded)
    expect(await app.patch(source, claimed, { key })).toMatchObject(asCoded)
    const broken = { ...claimed, 'index.ts': 'throw new Error("not today")' }
    expect(await app.patch(source, broken, { key })).toMatchObject(asCoded)
    expect(await app.patch(`${base}${id}/`, claimed, { key })).toMatchObject(asCoded)
    expect((await app.get(`${base}${id}/`, { key })).body).toMatchObject(asCoded.body)
  })

  it('400 for the type of an installed plugin', async () => {
    const id = await insertFixturePlugin(app.db, {
      organization_id: home.organization.id,
      plugin_type: 'custom',
      url: 'https://github.com/acme/patched',
    })
    const reply = await app.patch(`${base}${id}/`, { plugin_type: 'source' }, { key })
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: 'plugin_type' } })
    expect((await app.patch(`${base}${id}/`, { plugin_type: 'custom' }, { key })).status).toBe(200)
    const free = await createId()
    expect(await app.patch(`${base}${free}/`, { plugin_type: 'local' }, { key })).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', attr: 'plugin_type' },
    })
    expect((await app.patch(`${base}${free}/`, { plugin_type: 'custom' }, { key })).body.plugin_type).toBe(
      'custom',
    )
    expect((await app.patch(`${base}${free}/`, { plugin_type: null }, { key })).body.plugin_type).toBe(
      'source',
    )
  })

  it('403 for another organization’s, 404 for what is not to be seen', async () => {
    const shared = await createGlobal(foreign)
    const { id: hidden } = (await app.post(below(foreign), { name: 'Theirs' }, { key: foreign.owner.key }))
      .body
    expect((await app.patch(`${base}${shared}/`, { name: 'x' }, { key })).status).toBe(403)
    expect((await app.delete(`${base}${shared}/`, { key })).status).toBe(403)
    for (const path of ['source/', 'check_for_updates/']) {
      expect((await app.get(`${base}${shared}/${path}`, { key })).status).toBe(404)
    }
    expect((await app.post(`${base}${shared}/upgrade/`, {}, { key })).status).toBe(404)
    expect((await app.patch(`${base}${shared}/update_source/`, { name: 'x' }, { key })).status).toBe(404)
    expect((await app.patch(`${base}${hidden}/`, { name: 'x' }, { key })).status).toBe(404)
    expect((await app.delete(`${base}${hidden}/`, { key })).status).toBe(404)
    const theirs = await app.get(`${below(foreign)}${shared}/`, { key: foreign.owner.key })
    expect(theirs.body.name).toBe('For all')
  })

  it('403 for is_global where it changes and may not, by update_source too', async () => {
    const id = await createGlobal(home)
    await withAccess(6, async () => {
      expect((await app.patch(`${base}${id}/`, { is_global: true }, { key })).status).toBe(200)
      expect((await app.patch(`${base}${id}/`, { is_global: false }, { key })).status).toBe(403)
      expect((await app.patch(`${base}${id}/update_source/`, { is_global: false }, { key })).status).toBe(403)
    })
    const member = await createMember(app, home.organization)
    expect((await app.patch(`${base}${id}/`, { is_global: false }, { key: member.key })).status).toBe(403)
    expect((await app.get(`${base}${id}/`, { key })).body.is_global).toBe(true)
  })

  it('403 for code that other organizations run, to all but staff, also when it is shared no more', async () => {
    const id = await createGlobal(home)
    const config = await configure(app, foreign.project.id, foreign.owner.key, { plugin: id })
    const admin = await createMember(app, home.organization, { level: 'admin' })
    const edit = (key: string, code: string) =>
      app.patch(`${base}${id}/update_source/`, { 'index.ts': code }, { key })
    expect((await edit(key, 'export function onEvent() {}')).status).toBe(200)
    expect(await edit(admin.key, 'export function processEvent() {}')).toMatchObject({
      status: 403,
      body: { code: 'permission_denied' },
    })
    expect((await app.patch(`${base}${id}/`, { name: 'x' }, { key: admin.key })).status).toBe(403)
    await app.patch(`${base}${id}/`, { is_global: false }, { key })
    expect((await edit(admin.key, 'export function processEvent() {}')).status).toBe(403)
    expect((await app.get(`${base}${id}/source/?format=posthog`, { key })).body).toEqual({
      'index.ts': 'export function onEvent() {}',
    })
    await app.delete(`/api/projects/${foreign.project.id}/plugin_configs/${config}/`, {
      key: foreign.owner.key,
    })
    expect((await edit(admin.key, 'export function processEvent() {}')).status).toBe(200)
  })

  it('making it local leaves the configs of others, and lets them make no more', async () => {
    const id = await createGlobal(home)
    const config = await configure(app, foreign.project.id, foreign.owner.key, { plugin: id })
    await app.patch(`${base}${id}/`, { is_global: false }, { key })
    const configs = `/api/projects/${foreign.project.id}/plugin_configs/`
    expect((await app.get(`${configs}${config}/`, { key: foreign.owner.key })).body.enabled).toBe(true)
    const again = await app.post(configs, { plugin: id, enabled: true }, { key: foreign.owner.key })
    expect(again).toMatchObject({ status: 400, body: { code: 'does_not_exist', attr: 'plugin' } })
  })
})

describe('DELETE', () => {
  it('204, and its configs go with it', async () => {
    const id = await createId()
    const config = await configure(app, home.project.id, key, { plugin: id })
    const told: (number | null)[] = []
    const stop = app.services.changes.listen('plugin', (changed) => told.push(changed))
    expect((await app.delete(`${base}${id}/`, { key })).status).toBe(204)
    stop()
    expect(told).toEqual([id])
    expect((await app.get(`${base}${id}/`, { key })).status).toBe(404)
    expect((await app.get(`${below(home, 'pipeline_frontend_apps')}${id}/`, { key })).status).toBe(404)
    expect(
      (await app.get(`/api/projects/${home.project.id}/plugin_configs/${config}/`, { key })).status,
    ).toBe(404)
    expect((await app.delete(`${base}${id}/`, { key })).status).toBe(404)
    expect(await activityOf(id)).toEqual(['uninstalled', 'installed'])
  })

  it('400 while it is for everybody', async () => {
    const id = await createGlobal(home)
    expect(await app.delete(`${base}${id}/`, { key })).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', attr: null },
    })
    await app.patch(`${base}${id}/`, { is_global: false }, { key })
    expect((await app.delete(`${base}${id}/`, { key })).status).toBe(204)
  })

  it('403 while others have it configured, to all but staff, also when it is shared no more', async () => {
    const id = await createGlobal(home)
    const config = await configure(app, foreign.project.id, foreign.owner.key, { plugin: id })
    const theirs = `/api/projects/${foreign.project.id}/plugin_configs/${config}/`
    await app.patch(`${base}${id}/`, { is_global: false }, { key })
    const admin = await createMember(app, home.organization, { level: 'admin' })
    expect(await app.delete(`${base}${id}/`, { key: admin.key })).toMatchObject({
      status: 403,
      body: { code: 'permission_denied' },
    })
    expect((await app.get(theirs, { key: foreign.owner.key })).body.enabled).toBe(true)
    expect(await activityOf(id)).not.toContain('uninstalled')
    expect((await app.delete(`${base}${id}/`, { key })).status).toBe(204)
    expect((await app.get(theirs, { key: foreign.owner.key })).status).toBe(404)
  })

  it('204 by its members once others have it no more', async () => {
    const id = await createGlobal(home)
    const config = await configure(app, foreign.project.id, foreign.owner.key, { plugin: id })
    await app.patch(`${base}${id}/`, { is_global: false }, { key })
    await app.delete(`/api/projects/${foreign.project.id}/plugin_configs/${config}/`, {
      key: foreign.owner.key,
    })
    const member = await createMember(app, home.organization, { level: 'member' })
    expect((await app.delete(`${base}${id}/`, { key: member.key })).status).toBe(204)
  })

  it('of an organization: 400 while others use its plugin', async () => {
    const leaving = await createOrganization(app)
    await makeStaff(leaving.owner.id)
    const id = await createGlobal(leaving)
    await configure(app, home.project.id, key, { plugin: id })
    const own = `/api/organizations/${leaving.organization.id}/`
    expect(await app.delete(own, { key: leaving.owner.key })).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', attr: null },
    })
    expect((await app.get(own, { key: leaving.owner.key })).status).toBe(200)
    await app.patch(`${below(leaving)}${id}/`, { is_global: false }, { key: leaving.owner.key })
    expect((await app.delete(own, { key: leaving.owner.key })).status).toBe(400)
    expect((await app.get(own, { key: leaving.owner.key })).status).toBe(200)
    await app.delete(`${below(leaving)}${id}/`, { key: leaving.owner.key })
    expect((await app.delete(own, { key: leaving.owner.key })).status).toBe(204)
  })
})

describe('PLUGINS_MIN_WRITE_LEVEL', () => {
  it('keeps members from whatever changes plugins, and lets them read', async () => {
    const strict = await startTestApp({ PLUGINS_MIN_WRITE_LEVEL: 'admin' })
    try {
      const { organization, owner } = await createOrganization(strict)
      const member = { key: (await createMember(strict, organization)).key }
      const admin = { key: (await createMember(strict, organization, { level: 'admin' })).key }
      const shown = await strict.get(`/api/organizations/${organization.id}/`, member)
      expect(shown.body.plugins_min_write_level).toBe(8)
      const url = `/api/organizations/${organization.id}/plugins/`
      const { id } = (await strict.post(url, { name: 'One' }, { key: owner.key })).body
      const one = `${url}${id}/`
      expect((await strict.post(url, { name: 'Two' }, member)).status).toBe(403)
      expect((await strict.patch(one, { name: 'x' }, member)).status).toBe(403)
      expect((await strict.patch(`${one}update_source/`, { name: 'x' }, member)).status).toBe(403)
      expect((await strict.post(`${one}upgrade/`, {}, member)).status).toBe(403)
      expect((await strict.post(`${one}test/`, { event: {} }, member)).status).toBe(403)
      expect((await strict.delete(one, member)).status).toBe(403)
      expect((await strict.get(`${one}source/`, member)).status).toBe(200)
      expect((await strict.get(url, member)).body.count).toBe((await strict.get(url, admin)).body.count)
      expect((await strict.patch(one, { name: 'x' }, admin)).status).toBe(200)
    } finally {
      await strict.close()
    }
  })
})
