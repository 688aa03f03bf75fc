// /mcp as a foreign program uses it (the published client), and as attackers would: no second door beside the API.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createKey,
  createMember,
  createOrganization,
  createServiceKey,
  type Workspace,
} from '../../../test/factories.ts'
import { startTestApp, type Call, type TestApp } from '../../../test/harness/app.ts'
import type { Scope } from '../../platform/http/scopes.ts'
import { TOOLS } from './tools.ts'

let app: TestApp
let home: Workspace
let address: string
let export_id: string
beforeAll(async () => {
  app = await startTestApp({ RATE_LIMITS: 'on' })
  home = await createOrganization(app)
  const { key } = home.owner
  await app.http.listen({ host: '127.0.0.1', port: 0 })
  address = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}/mcp`
  const batch = [{ event: 'visit', distinct_id: 'ann', properties: { path: '/a', $set: { plan: 'pro' } } }]
  await app.post('/batch/', { api_key: home.project.api_token, batch })
  await app.definitions.flush()
  const made = { name: 'Hourly', interval: 'hour', destination: { type: 'File', config: {} } }
  export_id = (await app.post(`/api/projects/${home.project.id}/batch_exports/`, made, { key })).body.id
})
afterAll(() => app.close())

async function connect(key: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit }))
  return client
}

type Called = { isError?: boolean; content: { text: string }[] }

async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { isError = false, content } = (await client.callTool({ name, arguments: args })) as Called
  return { isError, body: JSON.parse(content[0]!.text) }
}

const keyWith = (...scopes: Scope[]) => createKey(app, home.owner, { scopes })
const toolNames = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)

describe('the published client', () => {
  let client: Client
  beforeAll(async () => {
    client = await connect(home.owner.key)
  })
  afterAll(() => client.close())

  it('connects, and is told what there is', async () => {
    expect(client.getServerVersion()).toMatchObject({ name: 'longshore' })
    expect(client.getInstructions()).toContain('list_event_definitions')
    await client.ping()
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([...TOOLS.keys()])
    for (const { name, description, inputSchema, annotations } of tools) {
      expect(inputSchema.type, name).toBe('object')
      expect(description?.length, name).toBeGreaterThan(10)
      const writes = TOOLS.get(name)!.route.method !== 'GET' && name !== 'query'
      expect(annotations?.readOnlyHint, name).toBe(!writes)
    }
    expect(tools[0]).toMatchObject({ name: 'query', inputSchema: { required: ['query'] } })
  })

  it('asks, and reads the catalogue', async () => {
    const answer = await call(client, 'query', { query: 'select event, properties.path from events' })
    expect(answer).toMatchObject({ isError: false, body: { results: [['visit', '/a']] } })
    const events = await call(client, 'list_event_definitions', { ordering: '-volume', limit: 5 })
    expect(events.body.results).toMatchObject([{ name: 'visit', volume: 1 }])
    const of_visit = { event_names: ['visit'], filter_by_event_names: true, search: 'path' }
    const properties = await call(client, 'list_property_definitions', of_visit)
    expect(properties.body.results).toMatchObject([{ name: 'path', property_type: 'String' }])
    const values = await call(client, 'list_person_property_values', { key: 'plan' })
    expect(values.body).toEqual([{ name: 'pro', count: 1 }])
  })

  it('every tool that reads answers', async () => {
    const ids = { export_id, run_id: NO_ID, verification_id: NO_ID, app_config_id: '0', key: 'path' }
    const answers: Record<string, boolean> = {}
    for (const { name, route } of TOOLS.values()) {
      if (route.method !== 'GET') continue
      const { isError, body } = await call(client, name, ids)
      answers[name] = !isError || body.code === 'not_found'
    }
    expect(Object.entries(answers).filter(([, isGood]) => !isGood)).toEqual([])
  })

  it('writes, and the log says which key did', async () => {
    const paused = await call(client, 'pause_export', { export_id, project_id: home.project.id })
    expect(paused).toMatchObject({ isError: false, body: { paused: true } })
    const { key } = home.owner
    const log = await app.get(`/api/organizations/@current/activity_log/?item_id=${export_id}`, { key })
    expect(log.body.results[0]).toMatchObject({ scope: 'BatchExport', user: { id: home.owner.id } })
    const [event] = (await call(client, 'list_event_definitions')).body.results
    const change = { event_definition_id: event.id, description: 'A visit' }
    expect((await call(client, 'update_event_definition', change)).body).toMatchObject({
      description: 'A visit',
    })
  })

  it.each<[string, Record<string, unknown>, string, string | null]>([
    ['query', { query: 'selec 1' }, 'hogql_syntax_error', 'query__query'],
    ['query', {}, 'required', 'query'],
    ['query', { query: 5 }, 'invalid_input', 'query'],
    ['get_export', {}, 'required', 'export_id'],
    ['get_export', { export_id: '../../organizations' }, 'not_found', null],
    ['list_exports', { project_id: '999999999' }, 'not_found', null],
    ['list_event_definitions', { limit: 'many' }, 'invalid_input', 'limit'],
    ['list_members', { organization_id: NO_ID }, 'not_found', null],
  ])('%s %j is refused as the API refuses it: %s', async (name, args, code, attr) => {
    expect(await call(client, name, args)).toMatchObject({ isError: true, body: { code, attr } })
  })

  it('an unknown tool is an error of the protocol', async () => {
    for (const name of ['nothing', 'constructor', '__proto__'])
      await expect(client.callTool({ name, arguments: {} })).rejects.toThrow('no such tool')
  })

  it('an answer that is too long says how to ask for less', async () => {
    const query = "select arrayJoin(range(600)), repeat('x', 1000) limit 600"
    const { isError, content } = (await client.callTool({ name: 'query', arguments: { query } })) as Called
    expect([isError, content[0]!.text]).toEqual([true, expect.stringContaining('ask for less')])
  })
})

const NO_ID = '00000000-0000-7000-8000-000000000000'

describe('a key', () => {
  it('sees what its scopes allow, and calling what it does not see is refused', async () => {
    const client = await connect(await keyWith('batch_export:read', 'query:read'))
    const names = await toolNames(client)
    expect(names).toContain('get_export_reconciliation')
    expect(names).toContain('query')
    expect(names.filter((name) => /member|invite|app|organizations|update|pause|create/.test(name))).toEqual(
      [],
    )
    for (const [name, args] of [
      ['unpause_export', { export_id }],
      ['list_members', {}],
      ['invite_member', { target_email: 'eve@example.com' }],
      // The scope comes before what is wrong with the arguments.
      ['create_export', {}],
    ] as const)
      expect(await call(client, name, args)).toMatchObject({
        isError: true,
        body: { code: 'permission_denied' },
      })
    expect((await call(client, 'get_export', { export_id })).body.paused).toBe(true)
    await client.close()
  })

  it('reaches nothing of another organization, and no more than its level or limits', async () => {
    const other = await createOrganization(app)
    const stranger = await connect(other.owner.key)
    const there = { export_id, project_id: String(home.project.id) }
    for (const name of ['get_export', 'unpause_export', 'get_export_reconciliation'])
      expect(await call(stranger, name, there)).toMatchObject({
        isError: true,
        body: { code: 'permission_denied' },
      })
    expect((await call(stranger, 'list_exports')).body.count).toBe(0)
    await stranger.close()
    const member = await createMember(app, home.organization)
    const lowly = await connect(member.key)
    const invited = await call(lowly, 'invite_member', { target_email: 'eve@example.com', level: 15 })
    expect(invited.isError).toBe(true)
    await lowly.close()
    const limited = { scopes: ['*'], scoped_teams: [home.project.id] }
    const narrow = await connect(await createKey(app, home.owner, limited))
    expect((await call(narrow, 'list_exports')).body.count).toBe(1)
    expect(await call(narrow, 'list_members')).toMatchObject({ body: { code: 'permission_denied' } })
    await narrow.close()
  })

  it('of an organization works as well', async () => {
    const service = await connect(
      await createServiceKey(app, home.organization, { scopes: ['batch_export:read'] }),
    )
    expect((await call(service, 'list_exports')).body.count).toBe(1)
    await service.close()
  })

  it('has the same limits as in the API', async () => {
    const client = await connect(await keyWith('person:read'))
    const answers = []
    for (let n = 0; n < 61; n++)
      answers.push(await call(client, 'list_person_property_values', { key: 'plan' }))
    expect(answers.map(({ isError }) => isError).lastIndexOf(false)).toBe(59)
    expect(answers.at(-1)!.body).toMatchObject({ code: 'throttled' })
    await client.close()
  })
})

describe('over HTTP', () => {
  const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }
  const send = (body: unknown, options: Call = {}) =>
    app.post('/mcp', body, { key: home.owner.key, ...options })
  const version = (text: string) => ({ headers: { 'mcp-protocol-version': text } })

  it.each<[string, unknown, Call, number, object | null]>([
    ['a ping', PING, {}, 200, { jsonrpc: '2.0', id: 1, result: {} }],
    ['an id of text', { ...PING, id: 'x' }, {}, 200, { id: 'x' }],
    ['a notification', { jsonrpc: '2.0', method: 'notifications/initialized' }, {}, 202, null],
    ['an answer', { jsonrpc: '2.0', id: 1, result: {} }, {}, 202, null],
    ['another method', { ...PING, method: 'resources/list' }, {}, 200, { error: { code: -32_601 } }],
    ['no message', { hello: 1 }, {}, 400, { error: { code: -32_600 } }],
    ['params that are none', { ...PING, params: 5 }, {}, 400, { error: { code: -32_600 } }],
    ['no JSON', '{', { headers: { 'content-type': 'application/json' } }, 400, { code: 'parse_error' }],
    ['a form', 'a=1', { headers: { 'content-type': 'text/plain' } }, 415, { code: 'unsupported_media_type' }],
    ['a batch of old', [PING, { hello: 1 }], {}, 200, [{ id: 1 }, { error: { code: -32_600 } }]],
    ['a batch of notices', [{ jsonrpc: '2.0', method: 'x' }], version('2025-03-26'), 202, null],
    ['a batch today', [PING], version('2025-06-18'), 400, { error: { code: -32_600 } }],
    ['a large batch', Array.from({ length: 21 }, () => PING), {}, 400, { error: { code: -32_600 } }],
    ['another version', PING, version('1999-01-01'), 400, { error: { code: -32_600 } }],
    ['no key', PING, { key: null }, 401, { code: 'not_authenticated' }],
    ['a wrong key', PING, { key: 'phx_wrong' }, 401, { code: 'authentication_failed' }],
    [
      'another site',
      PING,
      { headers: { origin: 'http://evil.example' } },
      403,
      { code: 'permission_denied' },
    ],
    [
      'a name that was bent to this machine',
      PING,
      { headers: { origin: 'http://evil.example', host: 'evil.example' } },
      403,
      { code: 'permission_denied' },
    ],
    ['our own site', PING, { headers: { origin: 'http://longshore.test' } }, 200, { id: 1 }],
  ])('%s', async (_what, body, options, status, expected) => {
    const reply = await send(body, options)
    expect(reply.status).toBe(status)
    if (expected === null) expect(reply.body).toBeNull()
    else expect(reply.body).toMatchObject(expected)
    if (status === 401) expect(reply.headers['www-authenticate']).toBe('Bearer')
  })

  it('no other method, no session, no key in the address or the body', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const reply = await app.call(method, '/mcp', { key: home.owner.key })
      expect([reply.status, reply.headers.allow]).toEqual([405, 'POST'])
    }
    const { key, session } = home.owner
    expect((await send(PING, { key: null, session })).status).toBe(401)
    expect((await app.post(`/mcp?personal_api_key=${key}`, PING)).status).toBe(401)
    expect((await app.post('/mcp', { ...PING, personal_api_key: key })).status).toBe(401)
    const sneaked = { ...PING, method: 'tools/call', params: { name: 'list_members', arguments: {} } }
    const reply = await send(sneaked, { key: await keyWith('query:read'), session })
    expect(reply.body.result).toMatchObject({ isError: true })
  })

  it('a version that is not spoken is answered with the newest', async () => {
    const ask = (protocolVersion: unknown) =>
      send({ ...PING, method: 'initialize', params: { protocolVersion } })
    expect((await ask('2025-06-18')).body.result.protocolVersion).toBe('2025-06-18')
    for (const other of ['2024-11-05', 5, undefined])
      expect((await ask(other)).body.result.protocolVersion).toBe('2025-11-25')
  })

  it('the access log names tool and caller', async () => {
    await send({ ...PING, method: 'tools/call', params: { name: 'list_exports' } })
    const line = app.logs.findLast((text) => text.includes('list_exports'))
    expect(JSON.parse(line!)).toMatchObject({
      route: '/mcp',
      tool: 'list_exports',
      project_id: home.project.id,
    })
  })
})
