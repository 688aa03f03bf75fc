// The server itself: whom it trusts on the wire, passwords that everybody knows, what its processes show, and its logs.
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import { makeCertificate } from '../../src/features/domains/fixture/certificate.ts'
import { withHost } from '../../src/features/batch-exports/fixture/every-kind.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { environmentOf, treeOf } from '../end-to-end/processes.ts'
import { attack, attackEach, type Attack } from './attack.ts'
import { exportTo } from './s01-s02-outbound.ts'
import { ask } from './s03-sql.ts'
import { CONFIGS, OUTSIDE, PROXY, type Scene } from './scene.ts'

const selfSigned = attackEach<Scene, string>(
  'S23',
  ['HTTP', 'S3', 'AzureBlob', 'ClickHouse'],
  (type) => `${type}: a server with a certificate of its own`,
  async ({ call, exports, home }, type) => {
    const { pem, private_key_pem } = makeCertificate()
    let requests = 0
    const server = createServer({ key: private_key_pem, cert: pem }, (_, response) => {
      requests++
      response.end()
    }).listen(0, OUTSIDE)
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const config = JSON.stringify(withHost(type, CONFIGS[type]!, OUTSIDE, port)).replace('http:', 'https:')
    const body = exportTo(type, JSON.parse(config))
    const reply = await call('POST', `${exports}run_test_step_new/`, { key: home.owner.key, body })
    expect([reply.status, reply.body.result.status, requests]).toEqual([200, 'Failed', 0])
    server.close()
  },
)

const plain = attackEach<Scene, string>(
  'S23',
  ['Postgres', 'Redshift', 'ClickHouse'],
  (type) => `${type}: a password over a connection without TLS`,
  async (scene, type) => {
    const { call, exports, home, outside } = scene
    const port = Number(new URL(outside.url).port)
    const before = outside.requests.length
    const config = {
      ...withHost(type, CONFIGS[type]!, OUTSIDE, port)!,
      ...(type === 'ClickHouse' ? { url: outside.url } : {}),
    }
    const body = exportTo(type, config)
    const reply = await call('POST', `${exports}run_test_step_new/`, { key: home.owner.key, body })
    const isRefused = reply.status === 400 || reply.body.result.status === 'Failed'
    expect([isRefused, outside.requests.length]).toEqual([true, before])
  },
)

const KNOWN: [string, string][] = [
  ['admin', 'admin'],
  ['admin@localhost', 'password'],
  ['test@posthog.com', '12345678'],
  ['mark@posthog.com', '12345678'],
  ['longshore@localhost', 'changeme'],
  ['admin@example.com', 'changeme'],
  ['root@localhost', ''],
]

const known = attackEach<Scene, (typeof KNOWN)[number]>(
  'S26',
  KNOWN,
  ([email, password]) => `signing in as ${email} with ${JSON.stringify(password)}`,
  async ({ call, target, member }, [email, password]) => {
    expect((await call('POST', '/api/login/', { body: { email, password } })).status).toBe(400)
    const { rows } = await target.db.pool.query('SELECT email FROM app_user WHERE is_staff')
    for (const { email: first } of rows)
      expect((await call('POST', '/api/login/', { body: { email: first, password } })).status).toBe(400)
    const right = { email: member.email, password: member.password }
    expect((await call('POST', '/api/login/', { body: right })).status).toBe(200)
  },
)

const environment = attack<Scene>('S24', "the environment of the server's helpers", async (scene) => {
  expect((await ask(scene, 'select 1')).status).toBe(200)
  const [, ...helpers] = await treeOf(scene.target.pid)
  expect(helpers.length).toBeGreaterThan(0)
  for (const pid of helpers) {
    const names = await environmentOf(pid)
    for (const name of ['DATABASE_URL', 'SECRET_KEY', 'SMTP_URL', 'BOOTSTRAP_PASSWORD'])
      expect(names).not.toContain(name)
  }
})

const UNSAFE = 'forged\r\n{"level":60,"msg":"forged line"}\n\u001b[2Jcleared\u0000\u202e'

const lines = attackEach<Scene, [string, (scene: Scene) => Promise<unknown>]>(
  'S28',
  [
    [
      'a header',
      ({ call }) =>
        call('GET', '/api/users/@me/', {
          headers: { 'user-agent': 'forged line\u0085', 'x-request-id': '{"level":60}' },
        }),
    ],
    ['a path', ({ call }) => call('GET', `/api/${encodeURIComponent(UNSAFE)}/`)],
    ['a parameter', ({ call }) => call('GET', `/api/users/@me/?x=${encodeURIComponent(UNSAFE)}`)],
    [
      'the name of an organization',
      ({ call, home }) =>
        call('PATCH', `/api/projects/${home.project.id}/`, {
          key: home.owner.key,
          body: { name: UNSAFE.slice(0, 60) },
        }),
    ],
    [
      'an address that signs in',
      ({ call }) =>
        call('POST', '/api/login/', { body: { email: `${UNSAFE}@example.com`, password: UNSAFE } }),
    ],
    [
      'an event of a megabyte',
      ({ call, home }) =>
        call('POST', '/e/', {
          body: {
            api_key: home.project.api_token,
            event: UNSAFE,
            distinct_id: 'd',
            timestamp: 'x'.repeat(500_000),
          },
        }),
    ],
    [
      'a query',
      ({ call, home }) =>
        call('POST', `/api/projects/${home.project.id}/query/`, {
          key: home.owner.key,
          body: { query: { kind: 'HogQLQuery', query: `select '${UNSAFE}` } },
        }),
    ],
  ],
  ([place]) => `line breaks and codes of terminals in ${place}`,
  async (scene, [, send]) => {
    await send(scene)
    const { body } = await scene.call('GET', '/_livez')
    expect(body).toEqual({ status: 'ok' })
    const log = scene.target
      .stdout()
      .split('\n')
      // What comes after the last line break may be half a line.
      .slice(0, -1)
      .filter((line) => line.startsWith('{'))
    for (const line of log) {
      expect(line.length).toBeLessThan(20_000)
      expect(JSON.parse(line)).toMatchObject({
        level: expect.any(Number),
        msg: expect.not.stringMatching(/^forged line/),
      })
      expect(line).not.toContain('\u001b')
    }
    expect(scene.target.stderr()).toBe('')
  },
)

const activity = attackEach<Scene, string>(
  'S28',
  ['POST', 'PUT', 'PATCH', 'DELETE'],
  (method) => `the activity log changed by ${method}`,
  async ({ call, home }, method) => {
    for (const parent of [`organizations/${home.organization.id}`, `projects/${home.project.id}`]) {
      const path = `/api/${parent}/activity_log/`
      const before = (await call('GET', path, { key: home.owner.key })).body
      const change = method === 'DELETE' ? {} : { body: { activity: 'forged', user: null } }
      const replies = [
        await call(method, path, { key: home.owner.key, ...change }),
        await call(method, `${path}${before.results[0]?.id}/`, { key: home.owner.key, ...change }),
      ]
      expect(replies.map(({ status }) => status)).toEqual([405, 404])
      expect((await call('GET', path, { key: home.owner.key })).body.count).toBe(before.count)
    }
  },
)

const tampered = attack<Scene>(
  'S28',
  'an entry of the activity log changed in the database: `longshore doctor` tells',
  async ({ call, home, target }) => {
    for (const name of ['First', 'Second', 'Third'])
      await call('PATCH', `/api/projects/${home.project.id}/`, { key: home.owner.key, body: { name } })
    expect((await target.run(['doctor'])).stdout).toMatch(/^ok +activity log/m)
    const forge = (name: string) =>
      target.db.run(sql`
        UPDATE activity_log SET actor_name = ${name} WHERE position = (
          SELECT position FROM activity_log WHERE organization_id = ${home.organization.id}
          ORDER BY position DESC OFFSET 1 LIMIT 1)`)
    await forge('Somebody else')
    expect((await target.run(['doctor'])).stdout).not.toMatch(/^ok +activity log/m)
  },
)

/** Whom a request comes from is what a proxy of ours says, and nobody else. */
const FORWARDED: [string, string, Record<string, string>, string][] = [
  ['from a stranger', '127.0.0.66', { 'x-forwarded-for': '203.0.113.9' }, '127.0.0.66'],
  [
    'in other words',
    '127.0.0.66',
    {
      forwarded: 'for=203.0.113.9',
      'x-real-ip': '203.0.113.9',
      'x-client-ip': '203.0.113.9',
      'true-client-ip': '203.0.113.9',
    },
    '127.0.0.66',
  ],
  [
    'before the one that our proxy adds',
    PROXY,
    { 'x-forwarded-for': '10.0.0.1, 203.0.113.9' },
    '203.0.113.9',
  ],
  [
    'that is no address, behind our proxy',
    PROXY,
    { 'x-forwarded-for': '<script>, 203.0.113.9' },
    '203.0.113.9',
  ],
]

const forwarded = attackEach<Scene, (typeof FORWARDED)[number]>(
  'S35',
  FORWARDED,
  ([how]) => `an address made up ${how}`,
  async ({ call, home, target }, [, from, headers, ip]) => {
    const path = `/api/projects/${home.project.id}/`
    const body = { name: `From ${headers['x-forwarded-for'] ?? from}`.slice(0, 40) }
    expect((await call('PATCH', path, { key: home.owner.key, body, headers, from })).status).toBe(200)
    const entry = await target.db.only<{ ip: string }>(sql`
      SELECT ip FROM activity_log WHERE organization_id = ${home.organization.id} ORDER BY position DESC LIMIT 1`)
    expect(entry.ip).toBe(ip)
  },
)

export const attacks: Attack<Scene>[] = [
  ...selfSigned,
  ...plain,
  ...known,
  environment,
  ...lines,
  ...activity,
  tampered,
  ...forwarded,
]
