// What the console and agents ask of the server: its own files and pages, streams, sessions, its status, tools.
import { expect } from 'vitest'
import { openStream } from '../harness/stream.ts'
import { createKey, createMember } from '../factories.ts'
import { attack, attackEach, type Attack } from './attack.ts'
import { makeApp } from './app-trial.ts'
import { TEXT_BOMBS } from './query-bombs.ts'
import type { Scene } from './scene.ts'

const makerOf = ({ target, canary }: Scene) => ({
  db: target.db,
  canary,
  services: { now: () => new Date() },
})
const eventsOf = ({ target, home }: Scene) =>
  `http://127.0.0.1:${target.port}/api/projects/${home.project.id}/events/stream/`

const FILES = [
  '/assets/../package.json',
  '/assets/..%2f..%2fpackage.json',
  '/assets/%2e%2e/%2e%2e/etc/passwd',
  '/assets/..%5c..%5cpackage.json',
  '/assets/%00',
  '/assets/__proto__',
  '/assets/constructor',
  '/assets/index.html',
  '/assets//etc/passwd',
]
const files = attackEach<Scene, string>(
  'S21',
  FILES,
  (path) => `a file of the console at ${path}`,
  async ({ call }, path) => {
    const { status, headers } = await call('GET', path, {})
    expect(status).toBe(404)
    expect(headers['cache-control']).toBe('no-store')
  },
)

const HOSTS: [string, Record<string, string>][] = [
  ['Host', { host: 'evil.example' }],
  ['X-Forwarded-Host', { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }],
  ['Forwarded', { forwarded: 'host=evil.example;proto=https' }],
  ['X-Original-URL', { 'x-original-url': '/evil.example', 'x-rewrite-url': '/evil.example' }],
]
const poisoned = attackEach<Scene, (typeof HOSTS)[number]>(
  'S16',
  HOSTS,
  ([name]) => `the page of the console, with ${name} of somebody else`,
  async ({ call }, [, headers]) => {
    for (const path of ['/', '/login', '/project/1/events?x=evil.example', '/reset/a/b']) {
      const reply = await call('GET', path, { headers })
      expect([path, reply.status, reply.headers['cache-control']]).toEqual([path, 200, 'no-store'])
      expect(reply.headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
      expect(JSON.stringify([reply.headers, reply.body])).not.toContain('evil')
    }
  },
)

const ended = attackEach<Scene, string>(
  'S17',
  ['is deleted', 'belongs to somebody who was removed', 'belongs to somebody who was locked out'],
  (how) => `a stream whose key ${how}`,
  async (scene, how) => {
    const { call, home } = scene
    const member = await createMember(makerOf(scene), home.organization)
    const key = await createKey(makerOf(scene), member, { scopes: ['query:read'] })
    const stream = await openStream(eventsOf(scene), { key })
    expect(stream.status).toBe(200)
    if (how === 'is deleted') {
      const { id } = (await call('GET', '/api/personal_api_keys/@current/', { key })).body
      const gone = await call('DELETE', `/api/personal_api_keys/${id}/`, { session: member.session })
      expect(gone.status).toBe(204)
    } else if (how.endsWith('removed')) {
      const path = `/api/organizations/${home.organization.id}/members/${member.uuid}/`
      expect((await call('DELETE', path, { session: home.owner.session })).status).toBe(204)
    } else {
      const body = { is_active: false }
      const path = `/api/users/${member.uuid}/`
      expect((await scene.target.call('PATCH', path, body)).status).toBe(200)
    }
    await stream.untilOver()
    expect(stream.told).toMatchObject([{ event: 'end', data: { reason: 'error' } }])
  },
)

const tooMany = attack<Scene>('S38', 'more streams than a caller may have', async (scene) => {
  const { key } = scene.home.owner
  const opened = []
  for (let count = 0; count < 21; count++) opened.push(await openStream(eventsOf(scene), { key }))
  expect(opened.map(({ status }) => status)).toEqual([...Array<number>(20).fill(200), 429])
  const neighbour = eventsOf({ ...scene, home: scene.victim })
  const other = await openStream(neighbour, { key: scene.victim.owner.key })
  expect(other.status).toBe(200)
  for (const stream of [...opened, other]) stream.close()
})

/** Texts of queries come in by several doors. */
const DOORS: [string, (scene: Scene, query: string) => Promise<{ status: number }>][] = [
  [
    'the check of a query',
    ({ call, home }, query) =>
      call('POST', `/api/projects/${home.project.id}/query/check/`, {
        key: home.owner.key,
        body: { query: { kind: 'HogQLQuery', query } },
      }),
  ],
  [
    'the preview of an export',
    ({ call, home, exports }, query) =>
      call('POST', `${exports}preview/`, {
        key: home.owner.key,
        body: { interval: 'hour', destination: { type: 'File', config: {} }, hogql_query: query },
      }),
  ],
  [
    'the filter of a stream',
    async (scene, query) => {
      const where = encodeURIComponent(JSON.stringify([`event in (${query.slice(0, 2000)})`]))
      const stream = await openStream(`${eventsOf(scene)}?where=${where}`, { key: scene.home.owner.key })
      stream.close()
      return stream
    },
  ],
]
const bombs = attackEach<Scene, (typeof DOORS)[number]>(
  'S33',
  DOORS,
  ([door]) => `texts that double, are deep or wide, by ${door}`,
  async (scene, [, send]) => {
    for (const [name, query] of TEXT_BOMBS) {
      const { status } = await send(scene, query)
      expect([name, [200, 400, 413, 431, 503, 504].includes(status)]).toEqual([name, true])
    }
  },
)

const STATUS = '/api/instance_status/'
const ownAffairs: Attack<Scene>[] = [
  attack('S11', 'the status of the server, for the owner of an organization', async (scene) => {
    const { call, home } = scene
    expect((await call('GET', STATUS, { session: home.owner.session })).status).toBe(403)
    expect((await call('GET', STATUS, { key: scene.target.key })).status).toBe(403)
    expect((await call('GET', STATUS, {})).status).toBe(401)
  }),
  attack('S9', 'what the server tells strangers about itself', async ({ call, target }) => {
    const { status, body } = await call('GET', '/_preflight/', {})
    expect(status).toBe(200)
    expect(Object.keys(body).sort()).toEqual([
      'available_social_auth_providers',
      'can_create_org',
      'cloud',
      'email_service_available',
      'initiated',
      'site_url',
      'version',
    ])
    expect(JSON.stringify(body)).not.toContain(target.key)
  }),
  attack('S10', 'browsers of somebody else', async ({ call, home, member, victim }) => {
    const own = (await call('GET', '/api/users/@me/sessions/', { session: victim.owner.session })).body
    const [{ id }] = own.results
    const { session } = home.owner
    for (const path of [`/api/users/@me/sessions/${id}/`, `/api/users/${victim.owner.uuid}/sessions/${id}/`])
      expect([403, 404]).toContain((await call('DELETE', path, { session })).status)
    const others = `/api/users/${victim.owner.uuid}/sessions/`
    expect((await call('GET', others, { session })).status).toBe(403)
    expect((await call('POST', `${others}end_others/`, { session, body: {} })).status).toBe(403)
    expect((await call('GET', '/api/users/@me/sessions/', { key: member.key })).status).toBe(403)
    expect((await call('GET', '/api/users/@me/', { session: victim.owner.session })).status).toBe(200)
  }),
  attack('S31', 'a limited key that makes another project current', async (scene) => {
    const { call, home } = scene
    const other = await call('POST', '/api/projects/', { key: home.owner.key, body: { name: 'Other' } })
    const key = await createKey(makerOf(scene), home.owner, {
      scopes: ['user:write'],
      scoped_teams: [home.project.id],
    })
    const body = { set_current_team: other.body.id }
    expect((await call('PATCH', '/api/users/@me/', { key, body })).status).toBe(400)
    const back = { set_current_team: home.project.id }
    expect((await call('PATCH', '/api/users/@me/', { key, body: back })).status).toBe(200)
    const gone = await call('DELETE', `/api/projects/${other.body.id}/`, { key: home.owner.key })
    expect(gone.status).toBe(204)
  }),
  attack('S9', 'a secret of an app, by trying code with a manifest that calls it none', async (scene) => {
    const { call, canary, home } = scene
    const { key } = home.owner
    const tell =
      'export function processEvent(event, { config }) { event.properties.got = config; return event }'
    const plugin = await makeApp(scene, tell, { config_schema: [{ key: 'token', secret: true }] })
    const token = canary.plant('setting of an app', 'planted-token-of-an-app')
    const configs = `/api/projects/${home.project.id}/plugin_configs/`
    const made = await call('POST', configs, { key, body: { plugin, config: { token } } })
    const manifest = JSON.stringify({ name: 'x', config: [{ key: 'token' }] })
    const tried = await call('POST', `/api/organizations/${home.organization.id}/plugins/${plugin}/test/`, {
      key,
      body: {
        event: { event: 'x' },
        plugin_config: made.body.id,
        files: { 'index.ts': tell, 'plugin.json': manifest },
      },
    })
    expect(tried.status).toBe(200)
    expect(JSON.stringify(tried.body)).not.toContain(token)
    expect((await call('DELETE', `${configs}${made.body.id}/`, { key })).status).toBe(204)
  }),
]

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const AGENTS: [string, number, (scene: Scene) => Parameters<Scene['call']>[2]][] = [
  ['with a cookie', 401, ({ home }) => ({ session: home.owner.session, body: CALL })],
  ['with a key in the body', 401, ({ home }) => ({ body: { ...CALL, personal_api_key: home.owner.key } })],
  [
    'from a page of another site',
    403,
    ({ home }) => ({ key: home.owner.key, body: CALL, headers: { origin: 'https://evil.example' } }),
  ],
  [
    'with more messages than a batch has',
    400,
    ({ home }) => ({ key: home.owner.key, body: Array<object>(21).fill(CALL) }),
  ],
]
const agents = attackEach<Scene, (typeof AGENTS)[number]>(
  'S14',
  AGENTS,
  ([name]) => `tools for agents, ${name}`,
  async (scene, [, status, asked]) => {
    expect((await scene.call('POST', '/mcp', asked(scene))).status).toBe(status)
    const own = await scene.call('POST', '/mcp', { key: scene.home.owner.key, body: CALL })
    expect(own.body.result.tools.length).toBeGreaterThan(5)
  },
)

const foreignTools = attack<Scene>('S10', 'tools for agents, on another project', async (scene) => {
  const { call, home, victim } = scene
  const params = { name: 'query', arguments: { project_id: victim.project.id, query: 'select 1' } }
  const body = { ...CALL, method: 'tools/call', params }
  const reply = await call('POST', '/mcp', { key: home.owner.key, body })
  expect(reply.body.result).toMatchObject({ isError: true })
  expect(reply.body.result.content[0].text).toMatch(/permission_denied|not_found/)
})

export const attacks: Attack<Scene>[] = [
  ...files,
  ...poisoned,
  ...ended,
  tooMany,
  ...bombs,
  ...ownAffairs,
  ...agents,
  foreignTools,
]
