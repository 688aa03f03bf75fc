// Destinations lead out of this machine and its network, or nowhere: inner addresses in every spelling are refused at
// every door, and are not dialled by a run either, whatever the name meant when it was saved (security.md, S1 to S6).
// Nothing here is called: what is public is only checked, and on loopback somebody listens who must hear nothing.
// @module-tag slow
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type Reply, type TestApp } from '../../../test/harness/app.ts'
import type { JsonObject } from '../../lib/json-object.ts'
import { sql } from '../../platform/db/sql.ts'
import { openOutbound } from '../../platform/outbound/outbound.ts'
import { everyConfig, TYPES, withHost } from './fixture/every-kind.ts'
import { INNER_IPV4, INNER_IPV6 } from './fixture/hostile-values.ts'
import { setTenPastTheHour } from './fixture/clock.ts'

const PUBLIC = '8.8.8.8'
const REFUSAL = /may not be called/
// One that signs, lest BigQuery fail before it calls anybody.
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const KEY = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const CONFIGS = everyConfig((name) => (name === 'private_key' ? KEY : `some ${name}`))

let app: TestApp
let workspace: Workspace
let key: string
let base: string
/** On loopback. */
let listener: Server
let port: number
let dialled: number
/** What names resolve to. */
let addresses: string[]
beforeAll(async () => {
  app = await startTestApp()
  setTenPastTheHour(app)
  app.services.outbound = openOutbound({
    allow: [],
    lookup: async () => addresses.map((address) => ({ address })),
  })
  workspace = await createOrganization(app)
  key = workspace.owner.key
  base = `/api/projects/${workspace.project.id}/batch_exports/`
  listener = createServer((socket) => {
    dialled += 1
    socket.destroy()
  })
  await once(listener.listen(0, '::'), 'listening')
  port = (listener.address() as AddressInfo).port
})
beforeEach(() => {
  dialled = 0
  addresses = [PUBLIC]
})
afterAll(async () => {
  listener.close()
  await app.close()
})

const body = (type: string, config: JsonObject) => ({
  name: 'Out',
  interval: 'hour',
  destination: { type, config },
})
const create = (type: string, config: JsonObject) => app.post(base, body(type, config), { key })
const exportCount = async () =>
  (await app.db.only<{ count: number }>(sql`SELECT count(*)::int AS count FROM batch_export`)).count

const INNER = [...INNER_IPV4, ...INNER_IPV6]

const withHosts = TYPES.filter((type) => withHost(type, {}, PUBLIC) !== undefined)

describe('400 for an inner address, in whatever spelling', () => {
  it.each(withHosts)('%s', async (type) => {
    const before = await exportCount()
    for (const host of INNER) {
      const config = withHost(type, CONFIGS[type]!, host, port)!
      const replies = [
        await create(type, config),
        await app.post(`${base}run_test_step_new/`, { destination: { type, config } }, { key }),
      ]
      // What no URL or host can be is refused as that.
      for (const reply of replies) {
        expect([host, reply.status]).toEqual([host, 400])
        expect(reply.body.attr).toMatch(/^destination(__(host|server_hostname|url|endpoint_url|token_uri))?$/)
      }
    }
    expect([await exportCount(), dialled]).toEqual([before, 0])
  })
})

/** Every way to have a stored export go elsewhere. */
function doors(id: string, type: string, config: JsonObject): (() => Promise<Reply>)[] {
  const organization = `/api/organizations/${workspace.organization.id}/batch_exports/`
  const changed = { destination: { config } }
  return [
    () => app.patch(`${base}${id}/`, changed, { key }),
    () => app.patch(`${organization}${id}/`, changed, { key }),
    () => app.call('PUT', `${base}${id}/`, { key, body: body(type, config) }),
    () => app.call('PUT', `${organization}${id}/`, { key, body: body(type, config) }),
    () => app.post(`${base}${id}/run_test_step/`, changed, { key }),
  ]
}

describe('400 at every other door', () => {
  it.each(withHosts)('%s', async (type) => {
    const { id } = (await create(type, CONFIGS[type]!)).body
    const before = await app.db.rows(sql`SELECT * FROM batch_export WHERE id = ${id}`)
    for (const host of ['127.0.0.1', '0x7f.1', '[::ffff:127.0.0.1]']) {
      for (const knock of doors(id, type, withHost(type, CONFIGS[type]!, host, port)!)) {
        expect((await knock()).status).toBe(400)
      }
    }
    for (const inner of ['127.0.0.1', '::1', '::ffff:10.0.0.1', 'fe80::1%lo']) {
      for (addresses of [[inner], [PUBLIC, inner], [inner, PUBLIC]]) {
        for (const knock of doors(id, type, withHost(type, CONFIGS[type]!, 'inner.example', port)!)) {
          expect(await knock()).toMatchObject({ status: 400, body: { attr: 'destination' } })
        }
        expect((await create(type, withHost(type, CONFIGS[type]!, 'inner.example', port)!)).status).toBe(400)
      }
    }
    expect(await app.db.rows(sql`SELECT * FROM batch_export WHERE id = ${id}`)).toEqual(before)
    expect(dialled).toBe(0)
  })
})

describe('400 for a name that does not resolve, at every door', () => {
  it.each(withHosts)('%s', async (type) => {
    const { id } = (await create(type, CONFIGS[type]!)).body
    const before = [await exportCount(), await app.db.rows(sql`SELECT * FROM batch_export WHERE id = ${id}`)]
    addresses = []
    const config = withHost(type, CONFIGS[type]!, 'nowhere.example', port)!
    for (const knock of [...doors(id, type, config), () => create(type, config)]) {
      const reply = await knock()
      expect(reply).toMatchObject({ status: 400, body: { attr: 'destination' } })
      expect(reply.body.detail).toMatch(/does not resolve/)
    }
    expect([
      await exportCount(),
      await app.db.rows(sql`SELECT * FROM batch_export WHERE id = ${id}`),
    ]).toEqual(before)
    // What has nothing to do with the host can be changed while the DNS is away.
    expect((await app.patch(`${base}${id}/`, { name: 'Renamed' }, { key })).status).toBe(200)
  })
})

describe('400 for what hides a host', () => {
  it.each([
    ['HTTP', 'url', 'http://8.8.8.8@127.0.0.1/'],
    ['HTTP', 'url', 'http://user:pass@capture.example/'],
    ['HTTP', 'url', 'http://@capture.example:pass@127.0.0.1/'],
    ['HTTP', 'url', 'file:///etc/passwd'],
    ['HTTP', 'url', 'gopher://127.0.0.1/'],
    ['HTTP', 'url', '//127.0.0.1/'],
    ['HTTP', 'url', 'http://'],
    ['S3', 'endpoint_url', 'http://s3.example@127.0.0.1'],
    ['AzureBlob', 'endpoint_url', 'http://a:b@azure.example'],
    ['BigQuery', 'token_uri', 'http://a@127.0.0.1/'],
    ['Postgres', 'host', 'user@127.0.0.1'],
    ['Postgres', 'host', 'db.example:5432'],
    ['Postgres', 'host', '/var/run/postgresql'],
    ['Postgres', 'host', 'db.example/x'],
    ['Postgres', 'host', 'db.example?host=127.0.0.1'],
    ['Postgres', 'host', 'db.example#'],
    ['Postgres', 'host', 'db.example\\@127.0.0.1'],
    ['Databricks', 'server_hostname', 'https://databricks.example'],
    ['Databricks', 'server_hostname', 'databricks.example/../x'],
    ['ClickHouse', 'url', 'http://clickhouse.example@127.0.0.1/'],
    ['ClickHouse', 'url', 'http://default:pass@clickhouse.example/'],
    ['ClickHouse', 'url', 'tcp://127.0.0.1:9000'],
  ])('%s, %s %s', async (type, field, value) => {
    const reply = await create(type, { ...CONFIGS[type], [field]: value })
    expect(reply).toMatchObject({ status: 400, body: { attr: `destination__${field}` } })
    expect(JSON.stringify(reply.body)).not.toContain('pass@')
  })

  it.each([
    'db.example,127.0.0.1',
    'db example',
    'db.example%00',
    'a..b',
    '-',
    'x'.repeat(300),
    'db\u0001',
    '%31',
  ])('Postgres, host %j', async (host) => {
    expect((await create('Postgres', { ...CONFIGS.Postgres, host })).status).toBe(400)
  })
})

describe('a name that turns inward after it was saved', () => {
  it.each(withHosts)('is not dialled by a test of %s, not even between check and call', async (type) => {
    const config = withHost(type, CONFIGS[type]!, 'turning.example', port)!
    const { id } = (await create(type, config)).body
    let asked = 0
    const { outbound } = app.services
    app.services.outbound = openOutbound({
      allow: [],
      lookup: async () => [{ address: asked++ === 0 ? PUBLIC : '127.0.0.1' }],
    })
    try {
      const reply = await app.post(`${base}${id}/run_test_step/`, {}, { key })
      expect(reply).toMatchObject({
        status: 200,
        body: { result: { status: 'Failed', message: expect.stringMatching(REFUSAL) } },
      })
      expect(dialled).toBe(0)
    } finally {
      app.services.outbound = outbound
    }
  })

  it('is not dialled by any run', async () => {
    const outward = TYPES.filter((type) => !['File', 'NoOp'].includes(type))
    const ids = new Map<string, string>()
    for (const type of outward) {
      const config = withHost(type, CONFIGS[type]!, 'turning.example', port) ?? CONFIGS[type]!
      ids.set(type, (await create(type, config)).body.id)
    }
    const event = { event: 'seen', distinct_id: 'ann' }
    await app.post('/batch/', { api_key: workspace.project.api_token, batch: [event] })
    addresses = ['127.0.0.1']
    app.advance(2 * 3_600_000)
    for (let ticks = 0; ticks < 40; ticks++) {
      await app.exports.tick()
      await app.exports.idle()
    }
    for (const [type, id] of ids) {
      const runs = await app.db.rows(sql`
        SELECT status, latest_error FROM batch_export_run WHERE batch_export_id = ${id}
        ORDER BY data_interval_end LIMIT 1`)
      expect([type, ...runs]).toEqual([
        type,
        { status: 'Failed', latest_error: expect.stringMatching(REFUSAL) },
      ])
    }
    expect(dialled).toBe(0)
  })
})

describe('redirects', () => {
  let open: TestApp
  let sender: HttpServer
  let location: string
  beforeAll(async () => {
    open = await startTestApp({ OUTBOUND_ALLOW: '127.0.0.0/8' })
    sender = createHttpServer((_request, response) => {
      response.writeHead(status, { location }).end()
    })
    await once(sender.listen(0, '127.0.0.1'), 'listening')
  })
  afterAll(async () => {
    sender.close()
    await open.close()
  })
  let status: number

  it('would be heard, were they', async () => {
    const { project, owner } = await createOrganization(open)
    const destination = { type: 'HTTP', config: withHost('HTTP', CONFIGS.HTTP!, '127.0.0.1', port)! }
    await open.post(
      `/api/projects/${project.id}/batch_exports/run_test_step_new/`,
      { destination },
      { key: owner.key },
    )
    expect(dialled).toBeGreaterThan(0)
  })

  it.each([301, 302, 303, 307, 308])('are not followed: %s', async (code) => {
    status = code
    location = `http://127.0.0.1:${port}/`
    const { project, owner } = await createOrganization(open)
    const at = (sender.address() as AddressInfo).port
    for (const type of ['HTTP', 'S3', 'AzureBlob']) {
      const destination = { type, config: withHost(type, CONFIGS[type]!, '127.0.0.1', at)! }
      const url = `/api/projects/${project.id}/batch_exports/run_test_step_new/`
      const reply = await open.post(url, { destination }, { key: owner.key })
      expect([type, reply.status, reply.body.result.status]).toEqual([type, 200, 'Failed'])
    }
    expect(dialled).toBe(0)
  })
})
