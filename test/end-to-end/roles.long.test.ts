// Processes of different roles on one PostgreSQL and one ClickHouse: what one is told, another does, and what one leaves
// behind when it is killed, another takes over. Needs CLICKHOUSE_URL.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { makeDatabase } from '../harness/app.ts'
import { CLICKHOUSE_ADDRESS, makeClickHouseDatabase } from '../harness/clickhouse.ts'
import { startWebhookServer, type WebhookStandIn } from '../stand-ins/webhook-server.ts'
import { get, post, request } from './http.ts'
import { buildProgram, type Env, type Program, type Running } from './program.ts'

// An emulated ClickHouse takes seconds for a statement.
const PATIENCE = { timeout: 240_000, interval: 500 }
const CODE = `
  export function processEvent(event) { event.properties.marked = true; return event }
  export function composeWebhook(event, { config }) {
    return { url: config.url, method: 'POST', body: JSON.stringify(event), headers: {} }
  }`

describe.runIf(CLICKHOUSE_ADDRESS !== null)('roles', { timeout: 1_200_000 }, () => {
  let program: Program
  let webhooks: WebhookStandIn
  let postgres: Awaited<ReturnType<typeof makeDatabase>>
  let clickhouse: Awaited<ReturnType<typeof makeClickHouseDatabase>>
  let env: Env
  const key = `phx_${randomBytes(16).toString('hex')}`
  const started: Running[] = []

  beforeAll(async () => {
    program = await buildProgram()
    webhooks = await startWebhookServer()
    postgres = await makeDatabase()
    clickhouse = await makeClickHouseDatabase()
    env = {
      DATABASE_URL: postgres.url,
      CLICKHOUSE_URL: clickhouse.url,
      SECRET_KEY: randomBytes(32).toString('hex'),
      SITE_URL: 'http://longshore.test',
      BOOTSTRAP_EMAIL: 'owner@example.com',
      BOOTSTRAP_PASSWORD: 'a quite long and odd passphrase 7',
      BOOTSTRAP_API_KEY: key,
      OUTBOUND_ALLOW: '127.0.0.1',
    }
  }, 1_200_000)
  afterAll(async () => {
    for (const each of started) each.kill('SIGTERM')
    await Promise.all(started.map(({ ended }) => ended))
    await program?.remove()
    await webhooks?.close()
    await clickhouse?.drop()
    await postgres?.drop()
  }, 120_000)

  let port = 21_000 + Math.floor(Math.random() * 9_000)
  /** It says where people reach the server, not where it listens itself. */
  async function start(roles: string): Promise<{ url: string; process: Running }> {
    const PORT = String(port++)
    const process = program.serve({ ...env, ROLES: roles, DATA_DIR: program.newDataDir(), PORT })
    started.push(process)
    await process.url
    return { url: `http://127.0.0.1:${PORT}`, process }
  }

  const since = Date.now()
  const tell = (what: string) => console.info(Math.round((Date.now() - since) / 1000), 's', what)
  const arrived = (name: string) => webhooks.requests.filter(({ body }) => JSON.parse(body).event === name)

  test('each does its part, and another takes over', async () => {
    // All at once: tables are made by the first, and the others wait.
    const [api, capture, worker, plugins, others] = await Promise.all([
      start('api'),
      start('capture'),
      start('worker'),
      start('plugins'),
      start('worker,plugins'),
    ])
    for (const { process } of [api, capture, worker, plugins]) {
      const status = await readFile(`/proc/${process.pid}/status`, 'utf8')
      tell(/VmRSS:\s+(\d+ kB)/.exec(status)?.[1] ?? '')
    }
    expect((await get(`${worker.url}/api/users/@me/`, key)).body.detail).toContain('the role api')
    expect((await get(`${api.url}/capture/`)).body.detail).toContain('the role capture')
    for (const { url } of [api, capture, worker, plugins])
      expect((await get(`${url}/_livez`)).status).toBe(200)

    // An app that is switched on by one process is in force in the others.
    const { body: project } = await get(`${api.url}/api/projects/@current/`, key)
    const base = `${api.url}/api/organizations/@current/plugins/`
    const { body: plugin } = await post(base, { name: 'App', plugin_type: 'source' }, { key })
    await request('PATCH', `${base}${plugin.id}/update_source/`, { key, body: { 'index.ts': CODE } })
    const config = { plugin: plugin.id, enabled: true, config: { url: webhooks.url } }
    expect((await post(`${api.url}/api/projects/@current/plugin_configs/`, config, { key })).status).toBe(201)
    const send = async (event: string, fields: object = {}) =>
      vi.waitFor(async () => {
        const sent = { api_key: project.api_token, event, distinct_id: 'ada', ...fields }
        expect((await post(`${capture.url}/capture/`, sent)).status).toBe(200)
      }, PATIENCE)
    await send('first')
    tell('stored')
    const events = `${api.url}/api/projects/@current/events/`
    await vi.waitFor(async () => {
      const { body } = await get(events, key)
      expect(body.results).toMatchObject([{ event: 'first', properties: { marked: true } }])
    }, PATIENCE)
    await vi.waitFor(() => expect(arrived('first')).toHaveLength(1), PATIENCE)

    tell('delivered')
    // Whichever of the two works for the project: both are killed in turn, and the other goes on.
    plugins.process.kill('SIGKILL')
    await plugins.process.ended
    const killed_at = Date.now()
    await send('second')
    await vi.waitFor(() => expect(arrived('second')).toHaveLength(1), PATIENCE)
    tell(`taken over after ${Date.now() - killed_at} ms`)
    expect(arrived('first')).toHaveLength(1)

    // What one process is asked for another carries out, one of two.
    await send('earlier', { timestamp: new Date(Date.now() - 5_400_000).toISOString() })
    const exported = {
      name: 'Files',
      interval: 'hour',
      destination: { type: 'File', config: { prefix: 'roles' } },
    }
    const exports = `${api.url}/api/projects/@current/batch_exports/`
    const { body: made } = await post(exports, exported, { key })
    const hour = (offset: number) =>
      new Date(Math.ceil(Date.now() / 3_600_000 + offset) * 3_600_000).toISOString()
    const asked = await post(
      `${exports}${made.id}/backfills/`,
      { start_at: hour(-3), end_at: hour(-1) },
      { key },
    )
    expect(asked.status).toBe(201)
    type Run = { status: string; records_completed: number }
    await vi.waitFor(async () => {
      const { body } = await get(`${exports}${made.id}/runs/`, key)
      const runs = body.results as Run[]
      expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(['Completed']))
      expect(runs.reduce((sum, { records_completed }) => sum + records_completed, 0)).toBe(1)
    }, PATIENCE)

    worker.process.kill('SIGTERM')
    expect(await worker.process.ended).toMatchObject({ code: 0 })
    expect((await get(`${others.url}/_livez`)).status).toBe(200)
  })
})
