// Settings that an app says aloud: none of them stands where somebody reads what it said.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { until } from '../../../../test/harness/until.ts'
import { startSmtpServer, type SmtpStandIn } from '../../../../test/stand-ins/smtp.ts'
import { startWebhookServer, type WebhookStandIn } from '../../../../test/stand-ins/webhook-server.ts'
import { Ingest } from '../../events/ingest.ts'
import { capture, storedEvents } from './fixture/apps.ts'
import { openHost } from './host/host.ts'
import { PluginRuntime } from './runtime.ts'

const TOKEN = 'tok-8Jq2wX9zLmR4'
const PIN = 'pin-in-a-nested-setting'
const FILE = 'contents of the secret file'

const SCHEMA = [
  { key: 'token', secret: true },
  { key: 'account', type: 'json', secret: true },
  { key: 'file', type: 'attachment', secret: true },
  { key: 'region' },
  { key: 'hook' },
]
const config = (token = TOKEN) => ({ token, account: JSON.stringify({ pin: PIN }), region: 'eu-west' })

let smtp: SmtpStandIn
let endpoint: WebhookStandIn
let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  smtp = await startSmtpServer()
  endpoint = await startWebhookServer(() => ({ status: 400, body: `no such token: ${TOKEN}` }))
  app = await startTestApp({ SMTP_URL: smtp.url, PLUGIN_THREADS: '1', OUTBOUND_ALLOW: '127.0.0.1' })
  for (const secret of [TOKEN, PIN, FILE]) app.canary.plant('setting', secret)
  workspace = await createOrganization(app)
})
afterAll(async () => {
  await app.close()
  await endpoint.close()
  await smtp.close()
})

async function create(code: string): Promise<number> {
  const { key } = workspace.owner
  const base = `/api/organizations/${workspace.organization.id}/plugins/`
  const { id } = (await app.post(base, { name: 'Talks', config_schema: SCHEMA }, { key })).body
  await app.patch(`${base}${id}/update_source/`, { 'index.ts': code }, { key })
  return id
}

const configsUrl = (kind = 'projects') => `/api/${kind}/${workspace.project.id}/plugin_configs/`

async function switchOn(code: string, settings: object = config()): Promise<number> {
  const form = new FormData()
  form.set('plugin', String(await create(code)))
  form.set('enabled', 'true')
  form.set('config', JSON.stringify(settings))
  form.set('add_attachment[file]', new File([FILE], 'key.txt'))
  const sent = new Response(form)
  const headers = { 'content-type': sent.headers.get('content-type')! }
  const body = await sent.text()
  const reply = await app.call('POST', configsUrl(), { key: workspace.owner.key, headers, body })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  await app.plugins.idle()
  return reply.body.id
}

/** By the other name of a project. */
async function linesOf(id: number): Promise<string[]> {
  await app.plugins.logs.flush()
  const { body } = await app.get(`${configsUrl('environments')}${id}/logs/`, { key: workspace.owner.key })
  return body.results.map(({ message }: { message: string }) => message)
}

const get = async (url: string) => (await app.get(url, { key: workspace.owner.key })).body

describe('secret settings', () => {
  it('are in no line of the log, however they are written, and in no fault', async () => {
    const id = await switchOn(`
      export function processEvent(event, { config, attachments }) {
        console.log('token', config.token, 'of', config.region)
        console.log({ config, file: attachments.file.contents.toString() })
        console.warn('Basic ' + btoa('user:' + config.token), encodeURIComponent('/' + config.token))
        console.error(new Error('header ' + config.token.slice(0, 5) + '\\n' + config.token.slice(5)))
        throw new TypeError('bad pin ' + JSON.parse(config.account).pin)
      }`)
    await capture(app, workspace, { event: 'seen', properties: { note: `from ${TOKEN}` } })
    await app.plugins.idle()
    const lines = await linesOf(id)
    expect(lines).toContain('token *** of eu-west')
    expect(lines).toContainEqual(expect.stringMatching(/^Basic dXNlcj\w{0,2}\*{3}\w{0,2}=* %2F\*{3}$/))
    expect(lines).toContainEqual(expect.stringContaining('"file":"***"'))
    expect(lines).toContainEqual(
      expect.stringMatching(/^processEvent failed: TypeError: bad pin \*\*\*\n.*index\.ts:7:/),
    )
    expect(lines.join('\n')).not.toMatch(/8Jq2|wX9z|nested|OEpx|secret file/)
    await app.plugins.metrics.flush()
    const metrics = `/api/projects/${workspace.project.id}/app_metrics/${id}/error_details/`
    const { result } = await get(`${metrics}?category=processEvent&error_type=TypeError`)
    expect(result[0].error_details).toMatchObject({
      error: { message: 'bad pin ***' },
      event: { properties: { note: 'from ***' } },
    })
    // What the app works on is its own affair: the event is stored as it came.
    expect(await storedEvents(app, workspace)).toMatchObject([{ properties: { note: `from ${TOKEN}` } }])
    await app.patch(`${configsUrl()}${id}/`, { enabled: false }, { key: workspace.owner.key })
  })

  it('are in no error of the config, nor in the mail about it', async () => {
    const id = await switchOn(`
      export function setupPlugin({ config }) { throw new Error('no access with ' + config.token) }
      export function onEvent() {}`)
    await until(async () => {
      const { error } = await get(`${configsUrl()}${id}/`)
      expect(error.message).toBe('no access with ***')
    })
    await until(() => expect(smtp.mails.map(({ text }) => text).join()).toContain('no access with ***'))
    expect(JSON.stringify(smtp.mails)).not.toContain(TOKEN)
  })

  it('are in no line about what an endpoint answered', async () => {
    const id = await switchOn(
      `export function composeWebhook(event, { config }) { return { url: config.hook, body: config.token } }`,
      { ...config(), hook: endpoint.url },
    )
    await capture(app, workspace, { event: 'sent' })
    await until(async () => {
      await app.plugins.delivery.tick()
      await app.plugins.delivery.idle()
      expect(await linesOf(id)).toContainEqual(expect.stringContaining('status 400: no such token: ***'))
    })
    // To the endpoint itself it went as it is.
    expect(JSON.stringify(endpoint.requests)).toContain(TOKEN)
  })

  it("are in no line of the server's own log", async () => {
    const id = await switchOn('export function onEvent() {}')
    const db = { row: async () => Promise.reject(new Error(`no such value: ${TOKEN}`)) } as never
    const unused = {} as never
    const parts = { logs: unused, captures: unused, sums: unused, watch: unused, api: unused }
    const host = openHost({ services: { ...app.services, db }, ...parts }, app.plugins.current(id)!)
    await expect(host.storageGet('key')).rejects.toThrow('This cannot be done at the moment.')
    const line = app.logs.find((each) => each.includes('an app could not run'))
    expect(JSON.parse(line!)).toMatchObject({ plugin_config_id: id, err: { message: 'no such value: ***' } })
  })

  it('are in nothing that a test answers', async () => {
    const plugin = await create(`
      export function processEvent(event, { config }) {
        console.log('with', config.token)
        if (event.event === 'throws') throw new Error('bad ' + config.token)
        event.properties.key = config.token
        return event
      }`)
    const url = `/api/organizations/${workspace.organization.id}/plugins/${plugin}/test/`
    const tryOut = async (event: string) =>
      (await app.post(url, { event: { event }, config: { token: TOKEN } }, { key: workspace.owner.key })).body
    expect(await tryOut('seen')).toMatchObject({
      logs: [{ message: 'with ***' }],
      event: { properties: { key: '***' } },
      error: null,
    })
    expect((await tryOut('throws')).error).toMatchObject({ message: 'bad ***' })
  })

  it('are known as they are after an edit, and after a restart', async () => {
    const other = app.canary.plant('setting', 'another-token-of-the-app')
    const id = await switchOn(`
      export const jobs = { say: (_, { config }) => console.log('job ' + config.token) }
      export function processEvent(event, { config }) { console.log('token ' + config.token); return event }`)
    const edited = await app.patch(
      `${configsUrl()}${id}/`,
      { config: config(other) },
      { key: workspace.owner.key },
    )
    expect(edited.status).toBe(200)
    await app.plugins.idle()
    await capture(app, workspace, { event: 'after the edit' })
    expect(await linesOf(id)).toEqual(['token ***'])
    const next = new PluginRuntime(app.services, new Ingest(app.services))
    await next.load()
    await next.call(next.current(id)!, { method: 'job', name: 'say', payload: null })
    await next.close()
    expect(await linesOf(id)).toEqual(['job ***', 'token ***'])
  })
})
