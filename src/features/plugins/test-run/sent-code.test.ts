// Trying out code before it is saved, with the settings of a config, and what is told of it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMember, createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { hashTables } from '../../../../test/harness/tables.ts'
import { form } from '../configs/fixture/plugins.ts'
import { insertFixturePlugin } from '../fixture/plugins.ts'

let app: TestApp
let home: Workspace
let base: string
beforeAll(async () => {
  app = await startTestApp()
  home = await createOrganization(app)
  base = `/api/organizations/${home.organization.id}/plugins/`
})
afterAll(() => app.close())

const SECRET = 'a-secret-of-the-app-4711'
const TELL =
  'export function processEvent(event, { config }) { event.properties.got = { ...config }; return event }'

async function make(code: string, fields: object = {}): Promise<number> {
  const { key } = home.owner
  const { id } = (await app.post(base, { name: 'Tried', ...fields }, { key })).body
  await app.patch(`${base}${id}/update_source/`, { 'index.ts': code }, { key })
  return id
}

async function configure(plugin: number, config: object, project = home.project.id): Promise<number> {
  const { body } = await app.post(
    `/api/projects/${project}/plugin_configs/`,
    { plugin, config },
    { key: home.owner.key },
  )
  return body.id
}

const tryOut = (id: number, request: object, key = home.owner.key) =>
  app.post(`${base}${id}/test/`, { event: { event: 'said' }, ...request }, { key })

describe('files that are sent', () => {
  it('run in place of what is saved, and are not saved', async () => {
    const id = await make('export function processEvent() { return null }')
    const before = await hashTables(app.db)
    const files = {
      'index.ts': 'export function processEvent(event) { event.properties.n = 2; return event }',
    }
    const { status, body } = await tryOut(id, { files })
    expect([status, body.error, body.event.properties]).toEqual([200, null, { n: 2 }])
    expect(body.memory_bytes).toBeGreaterThan(10_000)
    expect(body.memory_bytes).toBeLessThan(32 * 1024 * 1024)
    expect(await hashTables(app.db)).toEqual(before)
    expect((await tryOut(id, {})).body.event).toBeNull()
  })

  it('run before anything is saved at all, with the settings of the manifest that is sent along', async () => {
    const { id } = (await app.post(base, { name: 'New' }, { key: home.owner.key })).body
    const manifest = JSON.stringify({ name: 'New', config: [{ key: 'word', default: 'hey' }] })
    const { body } = await tryOut(id, { files: { 'index.ts': TELL, 'plugin.json': manifest } })
    expect(body.event.properties).toEqual({ got: { word: 'hey' } })
  })

  it('are told where they are wrong', async () => {
    const id = await make('export function processEvent(event) { return event }')
    const broken = await tryOut(id, { files: { 'index.ts': 'export function (' } })
    expect(broken.body).toMatchObject({
      error: { name: 'SyntaxError' },
      errors: [{ file: 'index.ts', line: 1, column: 17 }],
    })
    const throwing = await tryOut(id, { files: { 'index.ts': '\n\nthrow new TypeError("at load")' } })
    expect(throwing.body.errors).toMatchObject([{ file: 'index.ts', line: 3, message: 'TypeError: at load' }])
    const manifest = await tryOut(id, { files: { 'plugin.json': '{' } })
    expect(manifest).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: 'plugin.json' } })
  })

  it('404 for a plugin of somebody else, which can only be tried as it is', async () => {
    const id = await insertFixturePlugin(app.db, {
      plugin_type: 'inline',
      url: 'inline:downsampling',
      is_global: true,
      capabilities: { methods: ['processEvent'] },
    })
    expect((await tryOut(id, { files: { 'index.ts': TELL } })).status).toBe(404)
    expect((await tryOut(id, {})).status).toBe(200)
  })
})

describe('the settings of a config', () => {
  const schema = { config_schema: [{ key: 'word' }, { key: 'token', secret: true }] }

  it('are used, secrets included, and secrets are not told', async () => {
    app.canary.plant('setting of an app', SECRET)
    const id = await make(
      `export function processEvent(event, { config }) {
        event.properties.got = config.word; event.properties.length = config.token.length
        console.log(config.token)
        return event
      }`,
      schema,
    )
    const plugin_config = await configure(id, { word: 'hey', token: SECRET })
    const { body } = await tryOut(id, { plugin_config })
    expect(body.event.properties).toEqual({ got: 'hey', length: SECRET.length })
    expect(JSON.stringify(body.logs)).not.toContain(SECRET)
  })

  it('come without secrets for code or settings that are not saved', async () => {
    app.canary.plant('setting of an app', SECRET)
    const id = await make(TELL, schema)
    const plugin_config = await configure(id, { word: 'hey', token: SECRET })
    const sentCode = await tryOut(id, { plugin_config, files: { 'index.ts': TELL } })
    expect(sentCode.body.event.properties.got).toEqual({ word: 'hey' })
    const sentSettings = await tryOut(id, { plugin_config, config: { word: 'ho' } })
    expect(sentSettings.body.event.properties.got).toEqual({ word: 'ho' })
  })

  it('come without secret files, whatever a manifest that is sent along calls them', async () => {
    const tellFiles =
      'export function processEvent(event, { attachments }) { event.properties.files = Object.keys(attachments).sort(); return event }'
    const files = ['map', 'key_file', 'left_over']
    const id = await make(tellFiles, {
      config_schema: [
        { key: 'map', type: 'attachment' },
        { key: 'key_file', type: 'attachment', secret: true },
      ],
    })
    const { bytes, headers } = await form({
      plugin: String(id),
      config: '{}',
      ...Object.fromEntries(
        files.map((key) => [`add_attachment[${key}]`, [key, 'text/plain', `what is in ${key}`]]),
      ),
    })
    const url = `/api/projects/${home.project.id}/plugin_configs/`
    const made = await app.call('POST', url, { key: home.owner.key, headers, body: bytes.toString() })
    const plugin_config = made.body.id
    const manifest = JSON.stringify({ name: 'x', config: files.map((key) => ({ key, type: 'attachment' })) })
    const sent = await tryOut(id, {
      plugin_config,
      files: { 'index.ts': tellFiles, 'plugin.json': manifest },
    })
    expect(sent.body.event.properties.files).toEqual(['map'])
    expect((await tryOut(id, { plugin_config })).body.event.properties.files).toEqual(files.toSorted())
  })

  it('400 for configs of other plugins and organizations, of closed projects, and for no number', async () => {
    const id = await make(TELL, schema)
    const other = await configure(await make(TELL), {})
    const { key } = home.owner
    const closed = (await app.post('/api/projects/', { name: 'Closed' }, { key })).body
    const hidden = await configure(id, {}, closed.id)
    const path = `/api/projects/${closed.id}/access_controls/`
    await app.call('PUT', path, { key, body: { access_level: 'none' } })
    const member = await createMember(app, home.organization)
    expect((await tryOut(id, { plugin_config: hidden })).status).toBe(200)
    for (const [key, plugin_config] of [
      [member.key, hidden],
      [home.owner.key, other],
      [home.owner.key, 2 ** 31 - 1],
    ] as const) {
      const { status, body } = await tryOut(id, { plugin_config }, key)
      expect([status, body.code, body.attr]).toEqual([400, 'does_not_exist', 'plugin_config'])
    }
    expect((await tryOut(id, { plugin_config: 'x' })).body.code).toBe('invalid_input')
  })
})

describe('what it would have done', () => {
  it('is listed: requests, webhooks, captures, jobs and metrics', async () => {
    const id = await make(`
      export const jobs = { later() {} }
      export const metrics = { seen: 'sum' }
      export async function onEvent(event, { jobs, metrics }) {
        await posthog.capture('again', { from: event.event })
        await jobs.later({ x: 1 }).runNow()
        metrics.seen.increment(2)
        await fetch('https://example.com/in', { method: 'POST', body: 'hello' })
      }`)
    const { calls, error } = (await tryOut(id, {})).body
    expect(error.message).toContain('fetch is switched off')
    expect(new Map(calls.map((call: { kind: string }) => [call.kind, call]))).toMatchObject(
      new Map<string, object>([
        ['capture', { target: 'again', detail: { from: 'said' }, was_made: false }],
        ['job', { target: 'later', detail: { payload: { x: 1 } }, was_made: false }],
        ['metric', { target: 'seen', detail: { kind: 'sum', value: 2 }, was_made: false }],
        ['fetch', { target: 'POST https://example.com/in', detail: { body: 'hello' }, was_made: false }],
      ]),
    )
  })

  it('a webhook is a call with its body', async () => {
    const id = await make(
      `export function composeWebhook(event) { return { url: 'https://example.com/hook', body: event.event } }`,
    )
    expect((await tryOut(id, {})).body.calls).toEqual([
      { kind: 'webhook', target: 'POST https://example.com/hook', detail: { body: 'said' }, was_made: false },
    ])
  })

  it('a great many and large ones are cut', async () => {
    const id = await make(`
      export function composeWebhook(event) { return { url: 'https://example.com/hook', body: 'x'.repeat(50000) } }`)
    const [call] = (await tryOut(id, {})).body.calls
    expect(call.detail.cut.length).toBeLessThanOrEqual(10 * 1024)
  })
})
