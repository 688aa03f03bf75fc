// Requests to the paths that take events: every shape and packing a client may send, and lies about both.
import fc, { type Arbitrary } from 'fast-check'
import { METHODS } from 'node:http'
import { gzipSync } from 'node:zlib'
import { PACKINGS, type Sent } from '../../src/features/events/capture/fixture/packing.ts'
import { goodEvent, hostileEvent } from './events.ts'
import { wildCredential, type Headers } from './headers.ts'
import type { FuzzRequest } from './requests.ts'
import { anyJson, anyOf, hostileText, mostly, rawPayload } from './values.ts'
import type { Side, World } from './world.ts'

const TAKING = ['/e', '/i/v0/e', '/capture', '/track', '/batch', '/engage']
const FLAGS = ['/decide', '/flags']
const CONFIG = ['/array/{token}/config', '/array/{token}/config.js']

/** These stand in no document, so they are named here; each must be reached. */
export const captureOperations: readonly string[] = [
  ...[...TAKING, '/s', ...FLAGS].map((path) => `POST ${path}`),
  ...[...TAKING, ...FLAGS, ...CONFIG].map((path) => `GET ${path}`),
]

export function captureRequest(world: World, operation: string): Arbitrary<FuzzRequest> {
  return fc.oneof(goodRequest(world, operation), wildRequest(world, operation))
}

const packing = fc.constantFrom(...Object.values(PACKINGS))
const slash = fc.constantFrom('', '/')

/** One event, a list or a batch; the token where that shape has its place for it. */
function bodyOf(event: Arbitrary<unknown>, token: Arbitrary<unknown>): Arbitrary<unknown> {
  const events = fc.array(event, { minLength: 1, maxLength: 4 })
  const withToken = (name: string) =>
    fc.tuple(event, token).map(([each, value]) => ({ ...(each as object), [name]: value }))
  const batch = fc.tuple(events, token).map(([batch, api_key]) => ({ api_key, batch }))
  return fc.oneof(
    withToken('api_key'),
    withToken('token'),
    batch,
    batch.map((body) => ({ ...body, sent_at: '2024-06-01T10:00:00Z', historical_migration: true })),
    fc.array(withToken('api_key'), { minLength: 1, maxLength: 3 }),
  )
}

function goodRequest({ home }: World, operation: string): Arbitrary<FuzzRequest> {
  const [method, path] = operation.split(' ') as [string, string]
  const token = anyOf(() => home.tokens)
  const json = (
    FLAGS.includes(path) ? fc.record({ token, distinct_id: fc.constant('ann') }) : bodyOf(goodEvent, token)
  ).map(textOf)
  return fc.tuple(json, packing, slash, token).map(([text, pack, end, own]) => {
    const url = path.replace('{token}', own) + (path.endsWith('.js') ? '' : end)
    if (method === 'POST') return requestOf('home', operation, method, url, pack(text), {})
    const query = CONFIG.includes(path) ? '' : new URLSearchParams({ data: text }).toString()
    return requestOf('home', operation, method, url, { query }, {})
  })
}

function wildRequest(world: World, operation: string): Arbitrary<FuzzRequest> {
  const [method, path] = operation.split(' ') as [string, string]
  const side = world.all
  return fc
    .record({
      method: mostly(
        9,
        fc.constant(method),
        fc.constantFrom(...METHODS.filter((each) => each !== 'CONNECT')),
      ),
      token: wildToken(side),
      end: slash,
      sent: wildSent(side),
      query: mostly(2, fc.constant(''), wildQuery),
      headers: mostly(1, fc.constant<Headers>({}), oddHeaders),
      // They must make no difference here.
      credential: mostly(4, fc.constant<Headers>({}), wildCredential(side)),
    })
    .map(({ method, token, end, sent, query, headers, credential }) => {
      const inPath = encodeURIComponent(String(token).toWellFormed()).slice(0, 1_500)
      const inQuery =
        method === 'GET' ? `data=${encodeURIComponent(sent.payload.toString('latin1')).slice(0, 8_000)}` : ''
      const all = [sent.query ?? '', query, inQuery].filter((each) => each !== '').join('&')
      const { payload, headers: own = {} } = sent
      const packed = method === 'GET' ? { query: all } : { query: all, payload, headers: own }
      return requestOf('all', operation, method, path.replace('{token}', inPath) + end, packed, {
        ...credential,
        ...headers,
      })
    })
}

function wildToken(side: Side): Arbitrary<unknown> {
  return fc.oneof(
    { weight: 8, arbitrary: anyOf(() => side.tokens) },
    { weight: 2, arbitrary: anyOf(() => side.tokens).map((token) => ` ${token}\n`) },
    {
      weight: 2,
      arbitrary: fc.oneof(anyJson, fc.constantFrom('phc_unknown', 'phx_personal', 'ключ', 'x'.repeat(65))),
    },
  )
}

function wildSent(side: Side): Arbitrary<Sent> {
  const json = bodyOf(fc.oneof(goodEvent, hostileEvent), wildToken(side)).map(textOf)
  const packed = fc.tuple(json, packing).map(([text, pack]) => pack(text))
  const cut = fc.tuple(packed, fc.nat()).map(([sent, at]) => ({
    ...sent,
    payload: sent.payload.subarray(0, at % (sent.payload.length + 1)),
  }))
  const flipped = fc.tuple(packed, fc.nat(), fc.nat({ max: 255 })).map(([sent, at, byte]) => {
    const payload = Buffer.from(sent.payload)
    payload[at % payload.length] = byte
    return { ...sent, payload }
  })
  const twice = fc
    .tuple(json, packing, packing)
    .map(([text, inner, outer]) => outer(inner(text).payload.toString('latin1')))
  const raw = rawPayload.map((payload) => ({ payload: Buffer.from(payload) }))
  const odd = fc
    .tuple(
      anyJson,
      anyOf(() => side.tokens),
    )
    .map(([batch, api_key]) => ({ payload: Buffer.from(textOf({ api_key, batch })) }))
  const large = fc
    .tuple(
      fc.constantFrom(...LARGE),
      anyOf(() => side.tokens),
    )
    .map(([make, token]) => make(token))
  return fc.oneof(
    { weight: 20, arbitrary: packed },
    { weight: 6, arbitrary: cut },
    { weight: 6, arbitrary: flipped },
    { weight: 3, arbitrary: twice },
    { weight: 3, arbitrary: odd },
    { weight: 4, arbitrary: raw },
    { weight: 1, arbitrary: large },
  )
}

const MB = 1024 * 1024
const bomb = once(() => gzipSync(' '.repeat(21 * MB)))
const bombInBomb = once(() => gzipSync(bomb()))

/** Too large on the wire, when unpacked, or in one event; too deep; too many. */
const LARGE: readonly ((token: string) => Sent)[] = [
  () => ({ payload: bomb() }),
  () => ({ payload: bombInBomb(), query: 'compression=gzip' }),
  () => ({ payload: Buffer.alloc(2 * MB + 1, '[') }),
  (api_key) => ({
    payload: gzipSync(textOf({ api_key, event: 'x', distinct_id: 'ann', properties: { a: 'x'.repeat(MB) } })),
  }),
  (api_key) => ({
    payload: Buffer.from(
      textOf({ api_key, batch: Array(1_500).fill({ event: 'many', distinct_id: 'ann' }) }),
    ),
  }),
  (api_key) => ({
    payload: Buffer.from(
      `{"api_key":"${api_key}","event":"deep","distinct_id":"ann","properties":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}`,
    ),
  }),
]

const wildQuery = fc
  .array(
    fc.tuple(
      fc.constantFrom(
        'compression',
        'beacon',
        '_',
        'sent_at',
        'ver',
        'data',
        'api_key',
        'token',
        'v',
        '__proto__',
      ),
      fc.oneof(
        fc.constantFrom('gzip', 'gzip-js', 'lz64', 'base64', 'nonsense', '1', '1717236000000', '-1', '1e400'),
        hostileText,
      ),
    ),
    { maxLength: 3 },
  )
  .map((pairs) =>
    pairs
      .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed()).slice(0, 2_000)}`)
      .join('&'),
  )

const ODD_HEADERS: Record<string, readonly string[]> = {
  'content-type': [
    'application/json',
    'text/plain',
    'application/json; charset=utf-16',
    'application/json; charset=nonsense',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'multipart/form-data; boundary=form-boundary-7d1',
    'multipart/form-data; boundary=""',
    'nonsense',
    '',
  ],
  'content-encoding': ['gzip', 'deflate', 'br', 'zstd', 'identity', 'gzip, gzip', 'x-gzip', ''],
  origin: ['https://app.example.com', 'null', 'é', ''],
  'access-control-request-headers': ['x-custom, content-type', 'é', ''],
  'access-control-request-method': ['POST', 'TRACE'],
  'user-agent': ['', 'x'.repeat(5_000)],
  'x-forwarded-for': ['1.2.3.4', 'nonsense', '::ffff:1.2.3.4'],
}
const oddHeaders = fc
  .subarray(Object.keys(ODD_HEADERS), { minLength: 1, maxLength: 3 })
  .chain((names) =>
    fc.record(Object.fromEntries(names.map((name) => [name, fc.constantFrom(...ODD_HEADERS[name]!)]))),
  )

function requestOf(
  side: 'home' | 'all',
  operation: string,
  method: string,
  path: string,
  { query = '', headers = {}, payload }: Partial<Sent>,
  more: Headers,
): FuzzRequest {
  return {
    operation,
    side,
    method,
    url: path + (query === '' ? '' : `?${query}`),
    headers: { host: 'longshore.test', ...headers, ...more },
    ...(payload === undefined ? {} : { payload }),
  }
}

function textOf(value: unknown): string {
  return JSON.stringify(value) ?? 'null'
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
