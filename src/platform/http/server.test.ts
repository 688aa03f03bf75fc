import { request } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { hashTables } from '../../../test/harness/tables.ts'
import { access, routes } from '../../app/http.ts'
import { openDatabase } from '../db/database.ts'
import type { Services } from '../services.ts'
import { openMetrics } from './metrics.ts'
import { ok, route, type Route } from './route.ts'
import { buildServer } from './server.ts'

// What only a real connection shows: bytes on the wire, broken HTTP, clients that go away; and faults of our own.

const LIMIT = 1024 * 1024

let app: TestApp
let workspace: Workspace
let port: number
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  await app.http.listen({ host: '127.0.0.1', port: 0 })
  port = (app.http.server.address() as AddressInfo).port
})
afterAll(() => app.close())

let linesBefore = 0
beforeEach(() => void (linesBefore = app.logs.length))
const logged = () => app.logs.slice(linesBefore).map((line) => JSON.parse(line) as Record<string, unknown>)

/** Writes raw bytes and gives back everything the server sends until it ends the connection. */
function exchange(...parts: (string | Buffer)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const received: Buffer[] = []
    const socket = connect(port, '127.0.0.1', () => {
      for (const part of parts) socket.write(part)
    })
    socket.on('data', (chunk: Buffer) => received.push(chunk))
    // A server that ends the connection may cut off what we still send; what counts is what it said before.
    socket.on('error', (error: NodeJS.ErrnoException) => (received.length > 0 ? undefined : reject(error)))
    socket.on('close', () => resolve(Buffer.concat(received).toString()))
  })
}

function parsed(text: string) {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2)
  return {
    status: Number(head.split(' ')[1]),
    head: head.toLowerCase(),
    body: body === '' ? null : JSON.parse(body),
  }
}

const headers = (method: string, path: string, extra: Record<string, string | number> = {}) =>
  [
    `${method} ${path} HTTP/1.1`,
    'Host: longshore.test',
    `Authorization: Bearer ${workspace.owner.key}`,
    'Content-Type: application/json',
    ...Object.entries({ Connection: 'close', ...extra }).map(([name, value]) => `${name}: ${value}`),
    '\r\n',
  ].join('\r\n')

const own = () => `/api/organizations/${workspace.organization.id}/`

describe('HEAD on the wire', () => {
  it('has the headers of GET and not a byte of its body', async () => {
    const get = await exchange(headers('GET', own()))
    const head = await exchange(headers('HEAD', own()))
    expect(parsed(head).status).toBe(200)
    expect(head.endsWith('\r\n\r\n')).toBe(true)
    expect(/content-length: (\d+)/.exec(head)?.[1]).toBe(/content-length: (\d+)/.exec(get)?.[1])
  })

  it('of an error has no body either', async () => {
    const head = await exchange(headers('HEAD', '/api/organizations/nonsense/'))
    expect(head.startsWith('HTTP/1.1 404')).toBe(true)
    expect(head.endsWith('\r\n\r\n')).toBe(true)
  })
})

describe('body size', () => {
  const bodyOf = (bytes: number) => `{"name":"${'x'.repeat(bytes - 11)}"}`

  it('of exactly 1 MB is read', async () => {
    const reply = parsed(await exchange(headers('PATCH', own(), { 'Content-Length': LIMIT }), bodyOf(LIMIT)))
    expect([reply.status, reply.body.code, reply.body.attr]).toEqual([400, 'max_length', 'name'])
  })

  it('of 1 MB and one byte is 413, and the connection can be used again', async () => {
    const head = headers('PATCH', own(), { Connection: 'keep-alive', 'Content-Length': LIMIT + 1 })
    const [tooLarge, next] = (await exchange(head, bodyOf(LIMIT + 1), headers('GET', own()))).split(
      /(?=HTTP\/1\.1)/,
    )
    expect([parsed(tooLarge!).status, parsed(tooLarge!).body.code]).toEqual([413, 'request_too_large'])
    expect(parsed(tooLarge!).body.detail).toContain('1048576 bytes')
    expect(parsed(next!).body.name).toBe(workspace.organization.name)
  })

  it('is counted, not believed: the same in chunks without a declared length', async () => {
    const chunk = 'x'.repeat(64 * 1024)
    const chunks = Array.from({ length: 17 }, () => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
    const reply = parsed(
      await exchange(headers('PATCH', own(), { 'Transfer-Encoding': 'chunked' }), ...chunks, '0\r\n\r\n'),
    )
    expect([reply.status, reply.body.code]).toEqual([413, 'request_too_large'])
  })

  it('of 30 MB is 413 to a client that reads nothing before it has sent all', async () => {
    const body = Array.from({ length: 30 }, () => Buffer.alloc(LIMIT, 'x'))
    const reply = parsed(await exchange(headers('PATCH', own(), { 'Content-Length': 30 * LIMIT }), ...body))
    expect([reply.status, reply.body.code]).toEqual([413, 'request_too_large'])
  })

  it('without end is answered all the same', async () => {
    const socket = connect(port, '127.0.0.1')
    const answer = new Promise<string>((resolve, reject) => {
      socket.once('data', (data: Buffer) => resolve(data.toString()))
      socket.once('error', reject)
    })
    const chunk = `${LIMIT.toString(16)}\r\n${'x'.repeat(LIMIT)}\r\n`
    const sendMore = (error?: Error | null) => void (error || socket.write(chunk, sendMore))
    socket.write(
      headers('PATCH', own(), { Connection: 'keep-alive', 'Transfer-Encoding': 'chunked' }),
      sendMore,
    )
    expect(parsed(await answer).status).toBe(413)
    socket.destroy()
  })

  it('matters only to those who may write: 401 comes first', async () => {
    const head = headers('PATCH', own(), { 'Content-Length': LIMIT + 1 }).replace(/Authorization: .*\r\n/, '')
    expect(parsed(await exchange(head, bodyOf(LIMIT + 1))).status).toBe(401)
  })

  it('leaves the organization as it was', async () => {
    const { body } = await app.get(own(), { key: workspace.owner.key })
    expect(body.name).toBe(workspace.organization.name)
  })
})

describe('what is no HTTP', () => {
  it.each([
    ['noise', 'hello\r\n\r\n'],
    ['an invented method', 'FETCH / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a header without a colon', 'GET /api/organizations/ HTTP/1.1\r\nHost longshore.test\r\n\r\n'],
    [
      'two lengths',
      'POST /api/login/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}',
    ],
    [
      'a length and chunks',
      'POST /api/login/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a NUL in a header', 'GET /api/organizations/ HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n'],
    ['20 KB of headers', `GET /api/organizations/ HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`],
  ])('%s is 400 in the shape of every error', async (_what, bytes) => {
    const reply = parsed(await exchange(bytes))
    expect(reply.status).toBe(400)
    expect(reply.body).toMatchObject({ type: 'invalid_request', code: 'parse_error', attr: null })
  })

  it('no server error is logged for any of it', () => {
    expect(app.logs.some((line) => line.includes('request failed'))).toBe(false)
  })
})

describe('a client that goes away in the middle of its body', () => {
  it('changes nothing and is no fault of ours', async () => {
    const before = await hashTables(app.db)
    const answered = new Promise<void>((resolve) =>
      app.http.server.once('request', (_request, response) => response.once('close', resolve)),
    )
    const socket = connect(port, '127.0.0.1')
    socket.write(headers('PATCH', own(), { 'Content-Length': 100 }) + '{"name":"half')
    await new Promise<void>((resolve) => app.http.server.once('request', () => resolve()))
    socket.destroy()
    await answered
    expect(await hashTables(app.db)).toEqual(before)
    expect(logged().filter((line) => Number(line['level']) >= 50)).toEqual([])
  })
})

describe('addresses in answers', () => {
  const next = async (host: string | null) => {
    const head = headers('GET', '/api/organizations/?limit=1').replace(
      'Host: longshore.test',
      host === null ? 'X-None: 1' : `Host: ${host}`,
    )
    return parsed(await exchange(host === null ? head.replace('HTTP/1.1', 'HTTP/1.0') : head))
  }
  beforeAll(() => app.post('/api/organizations/', { name: 'Second' }, { key: workspace.owner.key }))

  it.each([
    ['longshore.example', 'http://longshore.example/'],
    ['longshore.example:8443', 'http://longshore.example:8443/'],
    ['192.0.2.7', 'http://192.0.2.7/'],
    ['[2001:db8::1]:8000', 'http://[2001:db8::1]:8000/'],
  ])('are made from the Host %s', async (host, start) => {
    expect((await next(host)).body.next).toBe(`${start}api/organizations/?limit=1&offset=1`)
  })

  it.each([
    '1.2.3.4.5',
    'longshore.example:99999',
    'a[b',
    'a/b',
    'a@b',
    'a b',
    '%41',
    '[::zz]',
    '<script>',
    null,
  ])('are made from our own address when the Host is %j', async (host) => {
    const { status, body } = await next(host)
    expect(status).toBe(200)
    expect(body.next).toBe('http://longshore.test/api/organizations/?limit=1&offset=1')
  })
})

describe('headers of every answer', () => {
  it.each([
    ['an answer', 'GET', '/api/organizations/', 200],
    ['an error', 'GET', '/api/organizations/nonsense/', 404],
    ['an unknown path', 'GET', '/nothing', 404],
    ['a path that cannot be decoded', 'GET', '/api/organizations/%FF%/', 404],
    ['a path with an endless id', 'GET', `/api/organizations/${'x'.repeat(5000)}/`, 404],
  ])('%s', async (_what, method, url, status) => {
    const reply = await app.call(method, url, { key: workspace.owner.key })
    expect(reply.status).toBe(status)
    expect(reply.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
    })
    expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f]{12}-[0-9a-z]+$/)
    expect(reply.headers['strict-transport-security']).toBeUndefined()
  })
})

describe('the access log', () => {
  it('names route, status, caller and organization, and never the address', async () => {
    await app.get(`${own()}members/?search=somebody&personal_api_key=${workspace.owner.key}`)
    const line = logged().find((entry) => entry['msg'] === 'request')
    expect(line).toMatchObject({
      method: 'GET',
      route: '/api/organizations/:organization_id/members/',
      status: 200,
      caller: expect.stringMatching(/^key:/),
      organization_id: workspace.organization.id,
    })
    expect(JSON.stringify(line)).not.toContain('somebody')
  })
})

describe('metrics', () => {
  it('count requests by route and status, never by address', async () => {
    await app.get(own(), { key: workspace.owner.key })
    const { body } = await app.get('/metrics')
    expect(body).toMatch(
      /longshore_http_request_seconds_count\{method="GET",route="\/api\/organizations\/:id\/",status="200"\} \d/,
    )
    expect(body).not.toContain(workspace.organization.id)
    expect(body).toContain('process_cpu_seconds_total')
  })

  it('ask a gauge at each reading', async () => {
    const metrics = openMetrics()
    let queue = 1
    metrics.gauge('things_waiting', 'Things.', async () => ({ mail: queue }), 'kind')
    expect(await metrics.text()).toContain('things_waiting{kind="mail"} 1')
    queue = 5
    expect(await metrics.text()).toContain('things_waiting{kind="mail"} 5')
  })
})

describe('faults of our own', () => {
  const Thing = z.object({ name: z.string() })
  const broken = (path: `/api/${string}/`, handle: () => Promise<never>): Route =>
    route({
      method: 'GET',
      path,
      summary: 'For this test',
      access: 'anyone',
      answers: { 200: Thing },
      handle,
    })

  async function serverWith(list: readonly Route[], services: Services = app.services) {
    const server = buildServer({
      services,
      access,
      routes: list,
      metrics: openMetrics(),
      trusted_proxies: [],
      public_url: null,
    })
    await server.ready()
    return server
  }

  it.each([
    ['a bug', async () => Promise.reject(new Error('secret: hunter2hunter2'))],
    ['something thrown that is no error', async () => Promise.reject('hunter2hunter2')],
    ['an answer unlike its schema', async () => ok({ name: 7 }) as never],
    ['a status that was not declared', async () => ({ status: 202, body: { name: 'x' } }) as never],
  ])('%s is 500 with a fixed text, and logged under the request id', async (_what, handle) => {
    const server = await serverWith([broken('/api/broken/', handle)])
    const response = await server.inject('/api/broken/')
    expect(response.statusCode).toBe(500)
    expect(response.json()).toEqual({
      type: 'server_error',
      code: 'error',
      detail: 'A server error occurred.',
      attr: null,
    })
    expect(
      logged().some(
        (line) => line['msg'] === 'request failed' && line['id'] === response.headers['x-request-id'],
      ),
    ).toBe(true)
    await server.close()
  })

  it('a field that the schema does not name never leaves', async () => {
    const server = await serverWith([
      broken('/api/leaky/', async () => ok({ name: 'x', password_hash: 'hunter2' }) as never),
    ])
    expect((await server.inject('/api/leaky/')).json()).toEqual({ name: 'x' })
    await server.close()
  })

  it('a store that is away is 503 and says when to come back', async () => {
    const away = openDatabase({ host: '/nonexistent', database: 'x' })
    const server = await serverWith(routes, { ...app.services, db: away })
    const response = await server.inject({
      url: '/api/organizations/',
      headers: { authorization: `Bearer ${workspace.owner.key}` },
    })
    expect(response.statusCode).toBe(503)
    expect(response.json()).toMatchObject({ type: 'server_error', code: 'unavailable', attr: null })
    expect(response.headers['retry-after']).toBe('1')
    await server.close()
    await away.close()
  })

  it('two routes for one method and path are refused at start', async () => {
    const twice = broken('/api/twice/', async () => Promise.reject(new Error()))
    await expect(serverWith([twice, twice])).rejects.toThrow('GET /api/twice/ is defined twice')
  })
})

describe('https behind a trusted proxy', () => {
  it('gives https links and strict transport security; an untrusted one is not believed', async () => {
    const services = app.services
    const forwarded = {
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'longshore.example',
      host: 'inner:8000',
    }
    const ask = async (trusted_proxies: string[]) => {
      const server = buildServer({
        services,
        access,
        routes,
        metrics: openMetrics(),
        trusted_proxies,
        public_url: null,
      })
      const response = await server.inject({
        url: '/api/organizations/?limit=1',
        headers: { ...forwarded, authorization: `Bearer ${workspace.owner.key}` },
      })
      await server.close()
      return {
        next: response.json<{ next: string }>().next,
        hsts: response.headers['strict-transport-security'],
      }
    }
    const path = '/api/organizations/?limit=1&offset=1'
    expect(await ask(['127.0.0.1'])).toEqual({
      next: `https://longshore.example${path}`,
      hsts: 'max-age=31536000',
    })
    expect(await ask([])).toEqual({ next: `http://inner:8000${path}`, hsts: undefined })
  })
})

describe('keep-alive', () => {
  it('one connection carries many requests, an unread body among them', async () => {
    const get = (path: string, body?: string) =>
      new Promise<number>((resolve, reject) => {
        const sent = request(
          {
            port,
            host: '127.0.0.1',
            path,
            method: body ? 'POST' : 'GET',
            headers: { connection: 'keep-alive' },
          },
          (response) => {
            response.resume()
            response.on('end', () => resolve(response.statusCode!))
          },
        )
        sent.on('error', reject)
        sent.end(body)
      })
    expect(await get('/api/nothing/', 'x'.repeat(100_000))).toBe(404)
    expect(await get('/_livez')).toBe(200)
  })
})
