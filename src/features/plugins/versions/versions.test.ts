// A plugin that another organization shares: what runs in a project is what somebody there accepted.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createMember, createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { Ingest } from '../../events/ingest.ts'
import { capture, storedEvents } from '../running/fixture/apps.ts'
import { PluginRuntime } from '../running/runtime.ts'
import { pinVersion } from './accept.ts'

let app: TestApp
let home: Workspace
let guest: Workspace
let staff: string
beforeAll(async () => {
  app = await startTestApp({ PLUGIN_THREADS: '1' })
})
afterAll(() => app.close())
beforeEach(async () => {
  home = await createOrganization(app)
  guest = await createOrganization(app)
  staff = (await createMember(app, home.organization, { is_staff: true, level: 'owner' })).key
})

const marks = (version: string) => `
  export const jobs = { tell: () => '${version}' }
  export function processEvent(event, { config }) {
    event.properties.version = '${version}' + (config.suffix ?? '')
    return event
  }`

const pluginUrl = (id: number, tail = '') =>
  `/api/organizations/${home.organization.id}/plugins/${id}/${tail}`
const configsUrl = ({ project }: Workspace, kind = 'projects') => `/api/${kind}/${project.id}/plugin_configs/`

async function share(files: object, fields: object = {}): Promise<number> {
  const { body } = await app.post(
    `/api/organizations/${home.organization.id}/plugins/`,
    { name: 'Shared', ...fields },
    { key: staff },
  )
  await edit(body.id, files)
  expect((await app.patch(pluginUrl(body.id), { is_global: true }, { key: staff })).status).toBe(200)
  return body.id
}

async function edit(id: number, files: object) {
  const reply = await app.patch(pluginUrl(id, 'update_source/'), files, { key: staff })
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  await app.plugins.idle()
}

async function switchOn(workspace: Workspace, plugin: number, fields: object = {}) {
  const { key } = workspace.owner
  const reply = await app.post(configsUrl(workspace), { plugin, enabled: true, ...fields }, { key })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  await app.plugins.idle()
  return reply.body
}

/** By the other name of a project. */
const read = async (workspace: Workspace, id: number, tail = '') =>
  (await app.get(`${configsUrl(workspace, 'environments')}${id}/${tail}`, { key: workspace.owner.key })).body

async function change(workspace: Workspace, id: number, fields: object) {
  const reply = await app.patch(`${configsUrl(workspace, 'environments')}${id}/`, fields, {
    key: workspace.owner.key,
  })
  await app.plugins.idle()
  return reply
}

/** What the next event of the project is marked with. */
async function markOf(workspace: Workspace): Promise<unknown> {
  await capture(app, workspace, { event: 'seen' })
  return (await storedEvents(app, workspace)).at(-1)!.properties.version
}

const countVersions = async (plugin_id: number) =>
  (
    await app.db.only<{ count: number }>(
      sql`SELECT count(*)::int AS count FROM plugin_version WHERE plugin_id = ${plugin_id}`,
    )
  ).count

describe("another organization's plugin", () => {
  it('runs as it was accepted, through edits and restarts, until the next version is accepted', async () => {
    const plugin = await share({ 'index.ts': marks('one') })
    const own = await switchOn(home, plugin)
    const theirs = await switchOn(guest, plugin)
    expect([own.version, own.latest_version]).toEqual([null, null])
    expect(theirs.version).toMatch(/^[0-9a-f]{64}$/)
    expect(theirs.latest_version).toBe(theirs.version)
    await edit(plugin, { 'index.ts': marks('two') })
    expect([await markOf(home), await markOf(guest)]).toEqual(['two', 'one'])

    const next = new PluginRuntime(app.services, new Ingest(app.services))
    await next.load()
    const tell = (id: number) => next.call(next.current(id)!, { method: 'job', name: 'tell', payload: null })
    expect([await tell(own.id), await tell(theirs.id)]).toEqual(['two', 'one'])
    await next.close()

    const offered = await read(guest, theirs.id)
    expect(offered.version).toBe(theirs.version)
    expect(offered.latest_version).not.toBe(theirs.version)
    const accepted = await change(guest, theirs.id, { version: offered.latest_version })
    expect(accepted).toMatchObject({ status: 200, body: { version: offered.latest_version } })
    expect(await markOf(guest)).toBe('two')
    expect(await countVersions(plugin)).toBe(1)
    const { results } = await read(guest, theirs.id, 'activity/')
    expect(results[0]).toMatchObject({ activity: 'updated', detail: { changes: [{ field: 'version' }] } })
  })

  it('400 for every version but the newest, and nothing is accepted', async () => {
    const plugin = await share({ 'index.ts': marks('one') })
    const { id, version } = await switchOn(guest, plugin)
    await edit(plugin, { 'index.ts': marks('two') })
    const { latest_version: missed } = await read(guest, id)
    await edit(plugin, { 'index.ts': marks('three') })
    for (const wrong of [missed, 'f'.repeat(64), null, '']) {
      const reply = await change(guest, id, { version: wrong })
      expect(reply).toMatchObject({ status: 400, body: { attr: 'version' } })
    }
    expect((await change(guest, id, { version, name: 'Named' })).body).toMatchObject({
      version,
      name: 'Named',
    })
    expect(await markOf(guest)).toBe('one')
  })

  it('keeps its settings, secrets and files as they were accepted', async () => {
    const site = (word: string) => `export function inject() { return '${word}' }`
    const plugin = await share(
      { 'index.ts': marks('one'), 'site.ts': site('one'), 'frontend.tsx': 'export const one = 1' },
      {
        config_schema: [
          { key: 'suffix', default: '!' },
          { key: 'hidden', secret: true },
        ],
      },
    )
    const config = { hidden: app.canary.plant('setting', 'hidden-setting-of-the-guest') }
    const { id } = await switchOn(guest, plugin, { config })
    await edit(plugin, {
      'index.ts': marks('two'),
      'site.ts': site('two'),
      'frontend.tsx': 'export const two = 2',
      config_schema: [{ key: 'suffix', default: '?' }, { key: 'hidden' }, { key: 'more', required: true }],
    })
    expect(await markOf(guest)).toBe('one!')
    const shown = await read(guest, id)
    expect(shown.plugin_info.config_schema).toEqual([
      { key: 'suffix', default: '!' },
      { key: 'hidden', secret: true },
    ])
    expect(shown.config.hidden).toContain('SECRET FIELD')
    expect(await read(guest, id, 'frontend/')).toMatch(/\bone\b/)
    const script = async () => (await app.get(new URL((await read(guest, id)).site_url).pathname)).body
    expect(await script()).toContain("'one'".replaceAll("'", '"'))

    const { latest_version: version } = await read(guest, id)
    const lacking = await change(guest, id, { version })
    expect(lacking).toMatchObject({ status: 400, body: { code: 'required', attr: 'config__more' } })
    expect(await markOf(guest)).toBe('one!')
    const settings = { ...config, more: 'given' }
    expect(await change(guest, id, { version, config: settings })).toMatchObject({ status: 200 })
    expect(await markOf(guest)).toBe('two?')
    expect(await script()).toContain('"two"')
  })

  it('does what it was accepted for, whatever the newest one does', async () => {
    const plugin = await share({ 'index.ts': marks('one') })
    const { id } = await switchOn(guest, plugin)
    await edit(plugin, { 'index.ts': 'export function onEvent() {}' })
    expect(await markOf(guest)).toBe('one')
    expect((await read(guest, id)).plugin_info.capabilities.methods).toEqual(['processEvent'])
    const idsIn = async (set: string) =>
      (await app.get(configsUrl(guest).replace('plugin_configs', set), { key: guest.owner.key })).body.results
    expect(await idsIn('pipeline_transformation_configs')).toMatchObject([{ id }])
    expect(await idsIn('pipeline_destination_configs')).toEqual([])
  })

  it('is not accepted when it was changed at the last moment', async () => {
    const plugin = await share({ 'index.ts': marks('one') })
    const { version: hash } = await switchOn(guest, plugin)
    await edit(plugin, { 'index.ts': marks('two') })
    const now = app.services.now()
    const pinned = app.db.transaction((tx) => pinVersion(tx, { id: plugin, hash }, 'version', now))
    await expect(pinned).rejects.toMatchObject({ code: 'invalid_choice', attr: 'version' })
    expect(await countVersions(plugin)).toBe(1)
  })

  it('does not hear of code that does not load, nor stops for it', async () => {
    const plugin = await share({ 'index.ts': marks('one') })
    const own = await switchOn(home, plugin, { on_failure: 'pass' })
    const { id } = await switchOn(guest, plugin)
    await edit(plugin, { 'index.ts': 'let a = ;' })
    expect([await markOf(home), await markOf(guest)]).toEqual([undefined, 'one'])
    await app.plugins.logs.flush()
    expect((await read(guest, id, 'logs/')).count).toBe(0)
    expect((await read(guest, id)).error).toBeNull()
    expect((await read(home, own.id, 'logs/')).count).toBeGreaterThan(0)
  })

  it('goes on when it is no longer shared, with nothing more to accept', async () => {
    const plugin = await share({ 'index.ts': marks('one') })
    const { id, version } = await switchOn(guest, plugin)
    await app.patch(pluginUrl(plugin), { is_global: false }, { key: staff })
    await edit(plugin, { 'index.ts': marks('two') })
    expect(await read(guest, id)).toMatchObject({ version, latest_version: version })
    expect(await markOf(guest)).toBe('one')
  })

  it('is accepted by each config for itself, and goes with its plugin', async () => {
    const plugin = await share({ 'index.ts': marks('one') })
    const old = await switchOn(guest, plugin, { order: 1 })
    await edit(plugin, { 'index.ts': marks('two') })
    const fresh = await switchOn(guest, plugin, { order: 2 })
    expect(fresh.version).toBe((await read(guest, old.id)).latest_version)
    expect(await countVersions(plugin)).toBe(2)
    const listed = (await app.get(configsUrl(guest), { key: guest.owner.key })).body.results
    expect(listed.map((each: { version: string }) => each.version)).toEqual([old.version, fresh.version])
    await app.patch(pluginUrl(plugin), { is_global: false }, { key: staff })
    expect((await app.delete(pluginUrl(plugin), { key: staff })).status).toBe(204)
    expect(await countVersions(plugin)).toBe(0)
  })
})

describe("an organization's own plugin, and the server's", () => {
  it('400 for a version: it runs as it is', async () => {
    const plugin = await share({ 'index.ts': marks('one') })
    const { id } = await switchOn(home, plugin)
    expect(await change(home, id, { version: 'f'.repeat(64) })).toMatchObject({
      status: 400,
      body: { code: 'invalid_choice', attr: 'version' },
    })
    expect((await change(home, id, { version: null })).status).toBe(200)
  })
})
