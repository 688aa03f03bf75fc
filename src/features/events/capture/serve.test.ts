import type { FastifyInstance } from 'fastify'
import fc from 'fast-check'
import { connect, type AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { access } from '../../../app/http.ts'
import { formatMicros } from '../../../lib/microseconds.ts'
import { isUuid } from '../../../lib/uuid.ts'
import { StoreBusy } from '../../../platform/event-store/event-store.ts'
import { openMetrics } from '../../../platform/http/metrics.ts'
import { buildServer } from '../../../platform/http/server.ts'
import { updateProject } from '../../projects/queries.ts'
import type { ProjectRow } from '../../projects/schema.ts'
import { IngestTally } from '../ingest-tally.ts'
import type { PipelineEvent } from '../pipeline-event.ts'
import { PACKINGS } from './fixture/packing.ts'
import { addCapture } from './serve.ts'

// The open paths over HTTP, on the real database; what they hand on is recorded instead of stored.

const MB = 1024 * 1024
const NOW = new Date('2024-06-01T12:00:00.000Z')
const PATHS = ['/e', '/i/v0/e', '/capture', '/track', '/batch', '/engage', '/i/v0/ai/batch']

let app: TestApp
let http: FastifyInstance
let project: ProjectRow
let token: string
let accepted: { project_id: number; events: PipelineEvent[]; bytes: number }[] = []
let fails: Error | null = null

beforeAll(async () => {
  app = await startTestApp()
  project = (await createOrganization(app)).project
  token = project.api_token
  http = buildServer({
    services: { ...app.services, now: () => NOW },
    access,
    routes: [],
    metrics: openMetrics(),
    trusted_proxies: [],
    public_url: null,
  })
  addCapture(
    http,
    { ...app.services, now: () => NOW },
    {
      async accept({ id }, events, bytes) {
        if (fails) throw fails
        accepted.push({ project_id: id, events: [...events], bytes })
      },
      tally: new IngestTally(),
    },
  )
  await http.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await http.close()
  await app.close()
})
beforeEach(() => {
  accepted = []
  fails = null
})

type Request = {
  method?: string
  url?: string
  headers?: Record<string, string>
  payload?: unknown
  ip?: string
}

async function send({ method = 'POST', url = '/e/', headers = {}, payload, ip = '203.0.113.9' }: Request) {
  const isReady = payload === undefined || typeof payload === 'string' || Buffer.isBuffer(payload)
  const response = await http.inject({
    method: method as 'POST',
    url,
    headers,
    remoteAddress: ip,
    ...(payload === undefined ? {} : { payload: isReady ? payload : JSON.stringify(payload) }),
  })
  const isJson = String(response.headers['content-type']).startsWith('application/json')
  return {
    status: response.statusCode,
    headers: response.headers,
    // Tests read answers of every shape; a field that is not there fails the assertion, which is the point.
    // oxlint-disable-next-line typescript/no-explicit-any
    body: (isJson ? JSON.parse(response.body) : response.body) as any,
  }
}

const event = (fields: object = {}) => ({ event: 'e', distinct_id: 'd', api_key: token, ...fields })
const events = () => accepted.flatMap((each) => each.events)

describe('paths', () => {
  it.each(PATHS.flatMap((path) => [path, `${path}/`]))('POST %s takes every shape', async (url) => {
    const shapes = [
      event(),
      [event(), event({ event: 'f' })],
      { api_key: token, batch: [{ event: 'e', distinct_id: 'd' }] },
      { api_key: token, data: [{ event: 'e', distinct_id: 'd' }] },
    ]
    for (const payload of shapes)
      expect(await send({ url, payload })).toMatchObject({ status: 200, body: { status: 1 } })
    expect(accepted.map((each) => [each.project_id, each.events.length])).toEqual(
      [1, 2, 1, 1].map((count) => [project.id, count]),
    )
  })

  it.each(PATHS)('GET %s takes `data`', async (path) => {
    const json = JSON.stringify(event({ properties: { text: 'a+b c' } }))
    const data = Buffer.from(json).toString('base64')
    for (const query of [
      `data=${encodeURIComponent(data)}&compression=base64`,
      `data=${data}`,
      `data=${encodeURIComponent(json)}`,
    ]) {
      expect((await send({ method: 'GET', url: `${path}/?${query}` })).status).toBe(200)
    }
    expect(events().map(({ properties }) => properties.text)).toEqual(Array(3).fill('a+b c'))
  })

  it('GET takes the key as a parameter', async () => {
    const data = encodeURIComponent(JSON.stringify({ event: 'e', distinct_id: 'd' }))
    expect((await send({ method: 'GET', url: `/e/?data=${data}&api_key=${token}` })).status).toBe(200)
    expect(events()).toHaveLength(1)
  })

  it('GET without `data` is refused', async () => {
    expect(await send({ method: 'GET', url: '/e/?ver=1' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_payload' },
    })
  })

  it('/engage names its events, other paths do not', async () => {
    const payload = { $token: token, $distinct_id: 'd', $set: { email: 'a@b.c' } }
    expect((await send({ url: '/engage/', payload })).status).toBe(200)
    expect(events()).toMatchObject([
      { event: '$identify', distinct_id: 'd', properties: { $set: { email: 'a@b.c' } } },
    ])
    expect((await send({ url: '/e/', payload })).status).toBe(400)
  })

  it.each(['POST', 'GET'])('%s /s throws away what it gets, whatever it is', async (method) => {
    const payload = method === 'POST' ? 'no json at all' : undefined
    expect(await send({ method, url: '/s/?compression=gzip-js', payload })).toMatchObject({
      status: 200,
      body: { status: 1 },
    })
    expect((await send({ method, url: '/s?beacon=1', payload })).status).toBe(204)
    expect(accepted).toEqual([])
  })

  it.each(PATHS.concat('/s', '/flags', '/decide', '/array/x/config'))(
    '%s takes no other method',
    async (url) => {
      for (const method of ['PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
        const answer = await send({ method, url, payload: event(), headers: { origin: 'https://a.example' } })
        expect(answer).toMatchObject({
          status: 405,
          body: { type: 'invalid_request', code: 'method_not_allowed', attr: null },
          headers: { allow: 'GET, POST, OPTIONS', 'access-control-allow-origin': 'https://a.example' },
        })
      }
      expect(accepted).toEqual([])
    },
  )
})

describe('/i/v1/analytics/events', () => {
  const UUID = '01912345-6789-7abc-8def-0123456789ab'
  const v1 = (fields: object = {}, headers: Record<string, string> = {}): Request => ({
    url: '/i/v1/analytics/events',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    payload: {
      created_at: NOW.toISOString(),
      batch: [
        {
          event: 'e',
          distinct_id: 'd',
          uuid: UUID,
          timestamp: '2024-06-01T11:00:00Z',
          options: {},
          ...fields,
        },
      ],
    },
  })

  it('takes the token as a bearer and answers for each event', async () => {
    const answer = await send(v1({}, { 'posthog-sdk-info': 'posthog-go/1.2.3', 'posthog-attempt': '1' }))
    expect(answer).toMatchObject({ status: 200 })
    expect(answer.body).toEqual({ results: { [UUID]: { result: 'ok' } } })
    expect(events()).toMatchObject([
      { uuid: UUID, event: 'e', properties: { $lib: 'posthog-go', $lib_version: '1.2.3' } },
    ])
  })

  it('puts fields and options where older libraries have them', async () => {
    const options = {
      process_person_profile: false,
      disable_skew_correction: true,
      cookieless_mode: null,
      unknown: 1,
    }
    const properties = { $window_id: 'kept', $lib: 'mine' }
    const headers = { 'posthog-request-timestamp': '2024-06-01T11:30:00Z', 'posthog-sdk-info': 'x/1' }
    expect((await send(v1({ session_id: 's', window_id: 'w', options, properties }, headers))).status).toBe(
      200,
    )
    const [one] = events()
    expect(one!.properties).toEqual({
      $ip: '203.0.113.9',
      $lib: 'mine',
      $lib_version: '1',
      $session_id: 's',
      $window_id: 'kept',
      $process_person_profile: false,
      $ignore_sent_at: true,
    })
    expect(formatMicros(one!.timestamp)).toBe('2024-06-01T11:00:00Z')
  })

  it('corrects the time by the moment of sending, and takes options on no other path', async () => {
    await send(v1({}, { 'posthog-request-timestamp': '2024-06-01T11:30:00Z' }))
    await send({ url: '/batch/', payload: event({ options: { process_person_profile: false } }) })
    expect(events().map(({ timestamp }) => formatMicros(timestamp))).toEqual([
      '2024-06-01T11:30:00Z',
      '2024-06-01T12:00:00Z',
    ])
    expect(events()[1]!.properties).toEqual({ $ip: '203.0.113.9' })
  })

  it.each<[string, Record<string, string>, object, number, string]>([
    ['no token', { authorization: '' }, {}, 401, 'missing_api_key'],
    ['a token of nobody', { authorization: 'Bearer phc_nobody' }, {}, 401, 'invalid_api_key'],
    ['a personal key', { authorization: 'Bearer phx_1' }, {}, 401, 'invalid_api_key'],
    ['an event without a name', {}, { event: '' }, 400, 'invalid_payload'],
  ])('%s stores nothing', async (_, headers, fields, status, code) => {
    expect(await send(v1(fields, headers))).toMatchObject({ status, body: { code } })
    expect(accepted).toEqual([])
  })
})

describe('cross-origin', () => {
  it('a preflight is allowed whatever it asks for', async () => {
    const answer = await send({
      method: 'OPTIONS',
      url: '/e/',
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-thing',
      },
    })
    expect(answer.status).toBe(204)
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': 'https://shop.example',
      'access-control-allow-credentials': 'true',
      'access-control-allow-headers': 'content-type,x-thing',
      'access-control-allow-methods': 'GET, POST, OPTIONS',
      vary: 'Origin',
    })
  })

  it.each<[string, () => Request, number]>([
    ['accepted', () => ({ payload: event() }), 200],
    ['bad JSON', () => ({ payload: '{' }), 400],
    ['bad token', () => ({ payload: event({ api_key: 'phc_nobody' }) }), 401],
    ['too large', () => ({ payload: Buffer.alloc(2 * MB + 1) }), 413],
    ['flags', () => ({ url: '/flags/?v=2', payload: { token } }), 200],
    ['flags, bad token', () => ({ url: '/flags/?v=2', payload: { token: 'x' } }), 401],
    ['config', () => ({ method: 'GET', url: `/array/${token}/config` }), 200],
  ])('the answer may be read by the page that asked: %s', async (_, request, status) => {
    const answer = await send({ ...request(), headers: { origin: 'https://shop.example' } })
    expect(answer.status).toBe(status)
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': 'https://shop.example',
      'access-control-allow-credentials': 'true',
      'x-content-type-options': 'nosniff',
    })
  })

  it('nothing is said to those who named no origin', async () => {
    expect((await send({ payload: event() })).headers).not.toHaveProperty('access-control-allow-origin')
  })
})

describe('packing', () => {
  it.each(Object.entries(PACKINGS))('%s', async (_, pack) => {
    const { payload, query, headers } = pack(JSON.stringify(event({ properties: { text: 'größer + 😀' } })))
    expect((await send({ url: `/e/?${query ?? ''}`, payload, headers })).status).toBe(200)
    expect(events()).toMatchObject([{ event: 'e', distinct_id: 'd', properties: { text: 'größer + 😀' } }])
  })

  it('a form may bring the key beside the data', async () => {
    const fields = { data: JSON.stringify({ event: 'e', distinct_id: 'd' }), api_key: token }
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await send({ payload: new URLSearchParams(fields).toString(), headers })).status).toBe(200)
    expect(events()).toHaveLength(1)
  })
})

describe('what is handed on', () => {
  it('is the event with its time, address and size', async () => {
    const payload = {
      api_key: token,
      sent_at: '2024-06-01T11:00:00Z',
      batch: [{ event: 'e', distinct_id: 5, timestamp: '2024-06-01T10:59:00.000123Z', $set: { a: 1 } }],
    }
    await send({ url: '/batch/', payload })
    expect(accepted).toMatchObject([{ project_id: project.id, bytes: JSON.stringify(payload).length }])
    const [only] = events()
    expect(isUuid(only!.uuid)).toBe(true)
    expect(formatMicros(only!.timestamp)).toBe('2024-06-01T11:59:00.000123Z')
    expect(formatMicros(only!.created_at)).toBe('2024-06-01T12:00:00Z')
    expect(only).toMatchObject({ distinct_id: '5', properties: { $set: { a: 1 }, $ip: '203.0.113.9' } })
  })

  it.each(['_=1717239600000', 'sent_at=1717239600000'])(
    'the query tells when it was sent: %s',
    async (query) => {
      await send({ url: `/e/?${query}`, payload: event({ timestamp: '2024-06-01T10:59:00Z' }) })
      expect(formatMicros(events()[0]!.timestamp)).toBe('2024-06-01T11:59:00Z')
    },
  )

  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8::1', '2001:db8::1'],
  ])('an address %s is kept as %s', async (ip, expected) => {
    await send({ payload: event(), ip })
    expect(events()[0]!.properties.$ip).toBe(expected)
  })

  it('has no address when the project wants none', async () => {
    const other = (await createOrganization(app)).project
    await updateProject(app.db, other.organization_id, other.id, { anonymize_ips: true }, NOW)
    await send({ payload: event({ api_key: other.api_token, properties: { $ip: '198.51.100.1' } }) })
    expect(accepted).toMatchObject([{ project_id: other.id }])
    expect(events()[0]!.properties).not.toHaveProperty('$ip')
  })

  it('has no address of the sender when it is brought along from elsewhere', async () => {
    const batch = [event(), event({ properties: { $ip: '198.51.100.1' } })]
    await send({ payload: { api_key: token, historical_migration: true, batch } })
    expect(events().map(({ properties }) => properties.$ip)).toEqual([undefined, '198.51.100.1'])
  })

  it('notes the project in the access log, and no token', async () => {
    const before = app.logs.length
    await send({ payload: event() })
    const lines = app.logs.slice(before)
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { route: '/e', project_id: project.id, status: 200 },
    ])
    expect(lines.join()).not.toContain(token)
  })
})

describe('answers', () => {
  it('200, or 204 without a body for a beacon', async () => {
    expect(await send({ payload: event() })).toMatchObject({ status: 200, body: { status: 1 } })
    expect(await send({ url: '/e/?beacon=1', payload: event() })).toMatchObject({ status: 204, body: '' })
    expect(await send({ url: '/e/?beacon=0', payload: event() })).toMatchObject({ status: 200 })
    expect(accepted).toHaveLength(3)
  })

  it.each<[string, () => unknown, string | null]>([
    ['empty', () => undefined, null],
    ['no JSON', () => '{"event":', null],
    ['a scalar', () => '5', null],
    ['an empty list', () => [], null],
    ['an empty batch', () => ({ api_key: token, batch: [] }), 'batch'],
    ['an event without a name', () => event({ event: '' }), 'event'],
    ['an event without an id', () => event({ distinct_id: null }), 'distinct_id'],
    ['a uuid that is none', () => event({ uuid: 'x' }), 'uuid'],
    ['one bad event in a list', () => [event(), event(), event({ distinct_id: '' })], '2__distinct_id'],
    [
      'one bad event in a batch',
      () => ({ api_key: token, batch: [event(), event({ event: null }), event({ uuid: 'x' })] }),
      'batch__1__event',
    ],
    [
      'nesting',
      () => event({ properties: JSON.parse(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`) as object }),
      null,
    ],
    ['cut gzip', () => gzipSync('{}').subarray(0, 15), null],
  ])('400: %s; nothing is handed on', async (_, payload, attr) => {
    expect(await send({ payload: payload() })).toMatchObject({
      status: 400,
      body: { type: 'validation_error', code: 'invalid_payload', attr },
    })
    expect(accepted).toEqual([])
  })

  it.each([
    ['/capture/', '5', /must be a JSON object or list/],
    ['/capture/', 'null', /must be a JSON object or list/],
    ['/capture/?compression=gzip', 'plain', /is not gzip, though `compression` says so/],
    ['/batch/', '{"api_key":"phc_x"}', /`batch` must hold a list of events/],
  ])('400 at %s for %s says what is wrong with the body', async (url, payload, detail) => {
    const body = payload.replace('phc_x', token)
    expect(await send({ url, payload: body })).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(detail) },
    })
  })

  it('400 says which event of the batch it was', async () => {
    const answer = await send({ payload: { api_key: token, batch: [event(), event({ distinct_id: '' })] } })
    expect(answer.body.detail).toContain('Event 1:')
  })

  it.each<[string, object | (() => object), string]>([
    ['none', { event: 'e', distinct_id: 'd' }, 'missing_api_key'],
    ['empty', { event: 'e', distinct_id: 'd', api_key: '' }, 'missing_api_key'],
    ['unknown', { event: 'e', distinct_id: 'd', api_key: 'phc_nobody' }, 'invalid_api_key'],
    ['a personal key', { event: 'e', distinct_id: 'd', api_key: 'phx_abc' }, 'invalid_api_key'],
    ['too long', { event: 'e', distinct_id: 'd', api_key: 'k'.repeat(65) }, 'invalid_api_key'],
    ['NUL', { event: 'e', distinct_id: 'd', api_key: '\0' }, 'missing_api_key'],
    ['two of them', () => [event(), event({ api_key: 'phc_other' })], 'invalid_api_key'],
    ['unknown, before the events are looked at', { api_key: 'phc_nobody', batch: [{}] }, 'invalid_api_key'],
  ])('401: token %s', async (_, payload, code) => {
    const answer = await send({ payload: typeof payload === 'function' ? payload() : payload })
    expect(answer).toMatchObject({
      status: 401,
      body: { type: 'authentication_error', code, attr: null },
      headers: { 'www-authenticate': 'Bearer' },
    })
    expect(accepted).toEqual([])
  })

  it('a token with blanks around is good', async () => {
    expect((await send({ payload: event({ api_key: ` ${token}\n` }) })).status).toBe(200)
  })

  it.each<[string, string, () => unknown]>([
    ['2 MB on the wire', '/e/', () => Buffer.alloc(2 * MB + 1, 0x20)],
    ['20 MB on the wire of a batch', '/batch/', () => Buffer.alloc(20 * MB + 1, 0x20)],
    ['20 MB unpacked', '/e/', () => gzipSync(Buffer.alloc(20 * MB + 1, 0x20))],
    ['1 MB for one event', '/e/', () => event({ properties: { a: 'x'.repeat(MB) } })],
  ])('413: over %s', async (_, url, payload) => {
    expect(await send({ url, payload: payload() })).toMatchObject({
      status: 413,
      body: { type: 'validation_error', code: 'payload_too_large' },
    })
    expect(accepted).toEqual([])
  })

  it('a batch may be large', async () => {
    const large = event({ properties: { a: 'x'.repeat(900_000) } })
    const payload = JSON.stringify({ api_key: token, batch: Array(20).fill(large) })
    expect(payload.length).toBeGreaterThan(17 * MB)
    expect((await send({ url: '/batch/', payload })).status).toBe(200)
    expect(events()).toHaveLength(20)
    expect((await send({ url: '/e/', payload })).status).toBe(413)
  })

  it('503 with Retry-After when the store is busy', async () => {
    fails = new StoreBusy()
    expect(await send({ payload: event() })).toMatchObject({
      status: 503,
      body: { type: 'server_error', code: 'store_busy', attr: null },
      headers: { 'retry-after': '1' },
    })
  })

  it('a fault of ours is a 500, not a 200', async () => {
    fails = new Error('broken')
    expect((await send({ payload: event() })).status).toBe(500)
  })
})

describe('a client that goes away', () => {
  it('in the middle of its body leaves nothing behind', async () => {
    const before = app.logs.length
    const { port } = http.server.address() as AddressInfo
    const gone = new Promise<void>((resolve) =>
      http.server.once('request', (_request, response) => response.once('close', resolve)),
    )
    const socket = connect(port, '127.0.0.1')
    socket.write('POST /e/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"event"')
    await new Promise<void>((resolve) => http.server.once('request', () => resolve()))
    socket.destroy()
    await gone
    expect(app.logs.slice(before).join()).not.toContain('"level":50')
    expect(accepted).toEqual([])
  })
})

describe('any body', () => {
  it(
    'gets an answer that is no fault of ours, and is taken whole or not at all',
    { tags: 'slow' },
    async () => {
      const good = () => JSON.stringify([event({ properties: { a: [1, { b: 'ü' }] } }), event()])
      const odd = fc.oneof(
        fc.jsonValue({ noUnicodeString: false }),
        fc.constantFrom(null, '', 0, -1, [], {}, true, '\0', '\ud800', { __proto__: null }, 1e308),
      )
      const fields = fc.dictionary(
        fc.constantFrom(
          'event',
          'distinct_id',
          '$distinct_id',
          'properties',
          'uuid',
          'timestamp',
          'offset',
          '$set',
          '$set_once',
          'sent_at',
          'data',
          'batch',
          'token',
          '__proto__',
        ),
        odd,
      )
      const content = fc.oneof(
        fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
        fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
        odd.map((value) => Buffer.from(JSON.stringify(value))),
        fields.map((value) =>
          Buffer.from(JSON.stringify({ event: 'e', distinct_id: 'd', api_key: token, ...value })),
        ),
        fc.array(fields).map((batch) => Buffer.from(JSON.stringify({ api_key: token, batch }))),
        // A good body with a few bytes changed, packed in any way.
        fc
          .tuple(
            fc.constantFrom(...Object.values(PACKINGS)),
            fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 3 }),
          )
          .map(([pack, changes]) => {
            const { payload } = pack(good())
            for (const [at, byte] of changes) payload[at % payload.length] = byte
            return payload
          }),
      )
      const headers = fc.record(
        {
          'content-type': fc.constantFrom(
            'application/json',
            'text/plain',
            'application/x-www-form-urlencoded',
            'multipart/form-data; boundary=form-boundary-7d1',
            'multipart/form-data; boundary=',
            'application/json; charset=utf-16',
            'nonsense',
          ),
          'content-encoding': fc.constantFrom('gzip', 'deflate', 'br', 'zstd', 'identity', 'gzip, gzip'),
        },
        { requiredKeys: [] },
      )
      const url = fc
        .tuple(
          fc.constantFrom(...PATHS, '/flags', '/decide'),
          fc.constantFrom('', 'gzip', 'gzip-js', 'lz64', 'base64', 'x'),
          fc.constantFrom('', '&_=1717239600000', '&_=x'),
        )
        .map(([path, compression, rest]) => `${path}/?compression=${compression}${rest}`)
      const seen = new Map<number, number>()
      await fc.assert(
        fc.asyncProperty(url, headers, content, async (where, head, payload) => {
          accepted = []
          const { status, body } = await send({
            url: where,
            headers: head as Record<string, string>,
            payload,
          })
          seen.set(status, (seen.get(status) ?? 0) + 1)
          expect([200, 400, 401, 413]).toContain(status)
          if (status !== 200) {
            expect(Object.keys(body as object)).toEqual(['type', 'code', 'detail', 'attr'])
            expect(accepted).toEqual([])
          }
          for (const { properties, event: name, distinct_id } of events()) {
            expect(name).not.toBe('')
            expect(distinct_id).not.toBe('')
            expect(JSON.stringify([name, distinct_id, properties]).isWellFormed()).toBe(true)
          }
        }),
        { numRuns: 2000 },
      )
      // Not all of them were refused at the door.
      expect(seen.get(200)).toBeGreaterThan(50)
      expect(seen.get(400)).toBeGreaterThan(50)
    },
  )
})
