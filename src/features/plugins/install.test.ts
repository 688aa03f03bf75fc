// Plugins from elsewhere through HTTP: installed, looked after and upgraded, with the real gate to a stand-in of GitHub.
import type { ServerResponse } from 'node:http'
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { startCodeHost, type CodeHost } from '../../../test/stand-ins/code-host.ts'
import { sql } from '../../platform/db/sql.ts'
import { ADDS_PROPERTY, DOES_NOT_LOAD, manifest, SENDS_EVENTS } from './fixture/code.ts'
import { configure, listLogMessages } from './fixture/plugins.ts'

const OLD = 'a'.repeat(40)
const NEW = 'b'.repeat(40)
const TOKEN = 'a-token-that-opens-the-repository'
const URL_OF_APP = 'https://github.com/acme/app'

let app: TestApp
let host: CodeHost
let folder: string
let home: Workspace
let key: string
let base: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-plugins-'))
  app = await startTestApp({
    PLUGINS_LOCAL_DIR: folder,
    PLUGINS_REPOSITORY_URL: 'https://github.com/catalogue.json',
  })
  host = await startCodeHost()
  app.services.outbound = host.outbound
  app.canary.plant('private token', TOKEN)
})
afterAll(async () => {
  await app.close()
  await host.close()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  home = await createOrganization(app)
  key = home.owner.key
  base = `/api/organizations/${home.organization.id}/plugins/`
  offer([OLD, { 'index.js': SENDS_EVENTS, 'site.ts': 'export function inject() {}' }])
})

function offer(...commits: [sha: string, files: Record<string, string>, fields?: object][]) {
  host.github.set('acme/app', {
    private_token: TOKEN,
    commits: commits.map(([sha, files, fields]) => ({
      sha,
      files: { 'plugin.json': manifest(fields), ...files },
    })),
  })
}
const address = `${URL_OF_APP}/?private_token=${TOKEN}`
const install = (fields: object = {}) => app.post(base, { url: address, ...fields }, { key })
const get = async (id: number) => (await app.get(`${base}${id}/`, { key })).body
const filesOf = async (id: number) => (await app.get(`${base}${id}/source/?format=posthog`, { key })).body
const activity = async () => (await app.get(`${base}activity/`, { key })).body.results
const countPlugins = async () => (await app.get(base, { key })).body.count

describe('POST with an address', () => {
  it('201 with what the archive says; the token is in no answer, log or table', async () => {
    const { status, body } = await install({ name: 'Overruled', capabilities: { methods: ['x'] }, tag: 'x' })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      plugin_type: 'custom',
      name: 'From the manifest',
      url: URL_OF_APP,
      tag: OLD,
      latest_tag: OLD,
      capabilities: { scheduled_tasks: [], jobs: [], methods: ['onEvent'] },
    })
    expect(Object.keys(await filesOf(body.id))).toEqual(['index.ts', 'plugin.json', 'site.ts'])
    const family = `/api/organizations/${home.organization.id}/pipeline_destinations/${body.id}/`
    expect((await app.get(family, { key })).body).toEqual(body)
    expect((await activity())[0]).toMatchObject({
      activity: 'installed',
      detail: { name: 'From the manifest' },
    })
    const { private_token } = await app.db.only<{ private_token: string }>(
      sql`SELECT private_token FROM plugin WHERE id = ${body.id}`,
    )
    expect(private_token).not.toBeNull()
  })

  it('201 as repository when asked for, and as custom when the type is another', async () => {
    const { body } = await install({ plugin_type: 'repository' })
    expect(body.plugin_type).toBe('repository')
    await app.delete(`${base}${body.id}/`, { key })
    expect((await install({ plugin_type: 'source' })).body.plugin_type).toBe('custom')
  })

  it('400 for the same address again, whatever its query; another organization may have it', async () => {
    await install()
    expect(await install({ url: `${URL_OF_APP}?private_token=${TOKEN}&x=1` })).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', attr: 'url' },
    })
    expect(await countPlugins()).toBe(1)
    const other = await createOrganization(app)
    const theirs = await app.post(
      `/api/organizations/${other.organization.id}/plugins/`,
      { url: address },
      { key: other.owner.key },
    )
    expect(theirs.status).toBe(201)
  })

  it('400 for what is not there, and 503 when nobody can say', async () => {
    expect(await install({ url: 'https://github.com/acme/nothing' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', attr: 'url' },
    })
    host.answerNext((response) => response.writeHead(502).end())
    const reply = await install()
    expect(reply).toMatchObject({
      status: 503,
      body: { type: 'server_error', code: 'source_unavailable', attr: null },
    })
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0)
    expect(await countPlugins()).toBe(0)
  })

  it('201 for code that does not load: it is kept, and offers nothing', async () => {
    offer([OLD, { 'index.js': DOES_NOT_LOAD }])
    const { status, body } = await install()
    expect([status, body.capabilities, body.tag]).toEqual([201, {}, OLD])
  })
})

describe('GET check_for_updates', () => {
  it('200 with the newest version, and nothing else changes', async () => {
    const { id } = (await install()).body
    const files = await filesOf(id)
    offer([OLD, {}], [NEW, { 'index.js': ADDS_PROPERTY }])
    const told: (number | null)[] = []
    const stop = app.services.changes.listen('plugin', (changed) => told.push(changed))
    const { body } = await app.get(`${base}${id}/check_for_updates/`, { key })
    stop()
    const { plugin, ...fields } = body
    expect(plugin).toEqual(fields)
    expect([plugin.tag, plugin.latest_tag]).toEqual([OLD, NEW])
    expect(await get(id)).toEqual(plugin)
    expect(await filesOf(id)).toEqual(files)
    expect(told).toEqual([])
    const bare = await app.get(`${base}${id}/check_for_updates/?format=posthog`, { key })
    expect(bare.body).toEqual({ plugin })
  })

  it('503 when nobody can say, and what was known stays', async () => {
    const { id } = (await install()).body
    host.answerNext((response) => response.writeHead(500).end())
    expect((await app.get(`${base}${id}/check_for_updates/`, { key })).status).toBe(503)
    expect((await get(id)).latest_tag).toBe(OLD)
  })
})

describe('POST upgrade', () => {
  const upgrade = (id: number) => app.post(`${base}${id}/upgrade/`, { name: 'ignored' }, { key })

  it('200 with the newest version in place of the old one', async () => {
    const { id } = (await install()).body
    const config = [{ key: 'greeting' }]
    offer([NEW, { 'index.js': ADDS_PROPERTY }, { name: 'Newer', config }])
    const told: (number | null)[] = []
    const stop = app.services.changes.listen('plugin', (changed) => told.push(changed))
    const { status, body } = await upgrade(id)
    stop()
    expect(status).toBe(200)
    expect(body).toMatchObject({
      name: 'Newer',
      tag: NEW,
      latest_tag: NEW,
      config_schema: config,
      capabilities: { methods: ['processEvent'] },
    })
    expect(await filesOf(id)).toMatchObject({ 'index.ts': ADDS_PROPERTY })
    expect(await filesOf(id)).not.toHaveProperty('site.ts')
    expect(told).toEqual([id])
    const [entry] = await activity()
    expect(entry.activity).toBe('upgraded')
    expect(entry.detail.changes).toContainEqual({
      type: 'Plugin',
      action: 'changed',
      field: 'tag',
      before: OLD,
      after: NEW,
    })
  })

  it('200 and no change where there is nothing new', async () => {
    const { body } = await install()
    app.advance(1000)
    expect((await upgrade(body.id)).body).toEqual(body)
    expect((await activity()).map((entry: { activity: string }) => entry.activity)).toEqual(['installed'])
  })

  it('400 or 503 leaves the version that runs', async () => {
    const { body } = await install()
    const files = await filesOf(body.id)
    offer([NEW, { 'plugin.json': '{' }])
    expect((await upgrade(body.id)).status).toBe(400)
    host.answerNext((response) => response.writeHead(500).end())
    expect((await upgrade(body.id)).status).toBe(503)
    expect(await get(body.id)).toEqual(body)
    expect(await filesOf(body.id)).toEqual(files)
  })

  it('code that does not load is told to the configs', async () => {
    const { id } = (await install()).body
    const config = await configure(app, home.project.id, key, { plugin: id })
    offer([NEW, { 'index.js': DOES_NOT_LOAD }])
    expect((await upgrade(id)).body).toMatchObject({ tag: NEW, capabilities: { methods: ['onEvent'] } })
    expect((await listLogMessages(app.db, config)).join()).toContain('not today')
  })
})

describe('GET repository', () => {
  it('200 with what can be installed, and the ids of what is', async () => {
    const url = 'https://github.com/acme/listed'
    const catalogue = [
      { name: 'Listed', url, description: 'On offer', verified: true, maintainer: 'community' },
    ]
    const list = (response: ServerResponse) => void response.end(JSON.stringify(catalogue))
    host.github.set('acme/listed', {
      commits: [{ sha: OLD, files: { 'plugin.json': manifest(), 'index.js': SENDS_EVENTS } }],
    })
    host.answerNext(list)
    const find = async () => {
      const { status, body } = await app.get(`${base}repository/?limit=1000`, { key })
      expect([status, body.count]).toEqual([200, body.results.length])
      return body.results.find((entry: { url: string }) => entry.url === url)
    }
    expect(await find()).toEqual({
      id: null,
      plugin_type: 'repository',
      name: 'Listed',
      description: 'On offer',
      url,
      icon: null,
      config_schema: {},
      tag: null,
      latest_tag: null,
      is_global: false,
      organization_id: null,
      organization_name: null,
      capabilities: {},
      metrics: {},
      public_jobs: {},
      errors: [],
      verified: true,
      maintainer: 'community',
      type: null,
    })
    const { body } = await app.post(base, { plugin_type: 'repository', url }, { key })
    expect(await find()).toMatchObject({ id: body.id, tag: OLD, capabilities: body.capabilities })
    const bare = (await app.get(`${base}repository/?format=posthog&limit=1`, { key })).body
    expect(bare).toContainEqual(await find())
    const page = (await app.get(`${base}repository/?limit=1&offset=1`, { key })).body
    expect(page.results).toEqual([bare[1]])
  })
})

describe('a folder of the server', () => {
  it('201 as local; neither upgrade nor check changes it', async () => {
    const place = join(folder, 'mine')
    await mkdir(place)
    await writeFile(join(place, 'plugin.json'), manifest({ name: 'On disk' }))
    await writeFile(join(place, 'index.ts'), ADDS_PROPERTY)
    const { status, body } = await app.post(base, { plugin_type: 'custom', url: `file:${place}` }, { key })
    expect([status, body.plugin_type, body.name, body.tag]).toEqual([201, 'local', 'On disk', null])
    expect(body.capabilities.methods).toEqual(['processEvent'])
    expect((await app.post(`${base}${body.id}/upgrade/`, {}, { key })).body).toEqual(body)
    expect((await app.get(`${base}${body.id}/check_for_updates/`, { key })).body.plugin).toEqual(body)
    await writeFile(join(place, 'index.ts'), 'export function processEvent() { return null }')
    const tried = await app.post(`${base}${body.id}/test/`, { event: {} }, { key })
    expect(tried.body).toMatchObject({ event: null, error: null })
  })

  it('400 for folders elsewhere', async () => {
    for (const url of ['file:/etc', `file:${folder}/../`, `file:${folder}/nothing`]) {
      expect(await app.post(base, { url }, { key })).toMatchObject({
        status: 400,
        body: { code: 'invalid_input', attr: 'url' },
      })
    }
  })
})
