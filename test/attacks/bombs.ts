// Bodies that cost a server more than their sender, small on the wire where they can be: for attacks, and for the fuzz.
import lz from 'lz-string'
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import type { Sent, Target } from './target.ts'

/** Who is attacked. */
type Victim = Pick<Target, 'token' | 'key'>

export const MB = 1024 * 1024
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
export const MULTIPART = { 'content-type': 'multipart/form-data; boundary=b' }

const open = '['.repeat(10 * MB)
const nested = '['.repeat(9 * MB) + ']'.repeat(9 * MB)
export const filled = (text: string, bytes: number) => text.repeat(Math.ceil(bytes / text.length))
export const part = (name: string, value: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
export const spaces = Buffer.alloc(24 * MB, ' ')
const brotli = (content: string | Uint8Array) =>
  brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
const names = (count: number) => Array.from({ length: count }, (_, n) => `"k${n}":1`).join(',')

/** What is sent, and how it is refused. */
type Bomb = [name: string, sent: (target: Victim) => Sent, status: number, code: string]
const gzip = (text: string | Uint8Array): Sent => ({ path: '/e/', body: gzipSync(text) })

const nesting: Bomb[] = [
  ['gzip of endless lists', () => gzip(open), 400, 'invalid_payload'],
  ['gzip of lists that end', () => gzip(nested), 400, 'invalid_payload'],
  ['gzip of objects', () => gzip('{"a":'.repeat(3 * MB)), 400, 'invalid_payload'],
  ['gzip of lists within a batch', () => gzip(`{"batch":[{"event":${open}`), 400, 'invalid_payload'],
  ['gzip twice', () => gzip(gzipSync(open)), 400, 'invalid_payload'],
  [
    'gzip by header',
    () => ({ ...gzip(open), headers: { 'content-encoding': 'gzip' } }),
    400,
    'invalid_payload',
  ],
  [
    'deflate',
    () => ({ path: '/e/', body: deflateSync(open), headers: { 'content-encoding': 'deflate' } }),
    400,
    'invalid_payload',
  ],
  [
    'raw deflate',
    () => ({ path: '/e/', body: deflateRawSync(open), headers: { 'content-encoding': 'deflate' } }),
    400,
    'invalid_payload',
  ],
  [
    'brotli',
    () => ({ path: '/e/', body: brotli(open), headers: { 'content-encoding': 'br' } }),
    400,
    'invalid_payload',
  ],
  [
    'LZ-string',
    () => ({ path: '/e/?compression=lz64', body: lz.compressToBase64('['.repeat(200_000)) }),
    400,
    'invalid_payload',
  ],
  ['base64', () => ({ path: '/e/', body: gzipSync(open).toString('base64') }), 400, 'invalid_payload'],
  [
    'a form',
    () => ({
      path: '/e/',
      headers: FORM,
      body: `data=${encodeURIComponent(gzipSync(open).toString('base64'))}`,
    }),
    400,
    'invalid_payload',
  ],
  [
    'multipart',
    () => ({
      path: '/e/',
      headers: MULTIPART,
      body: `${part('data', gzipSync(open).toString('base64'))}--b--\r\n`,
    }),
    400,
    'invalid_payload',
  ],
  [
    '`data` within JSON',
    () => ({ path: '/e/', body: JSON.stringify({ data: gzipSync(open).toString('base64') }) }),
    400,
    'invalid_payload',
  ],
  ['plain', () => ({ path: '/batch/', body: open }), 400, 'invalid_payload'],
  ['what asks for flags', () => ({ path: '/flags/', body: '['.repeat(MB) }), 400, 'invalid_payload'],
  ['what signs in', () => ({ path: '/api/login/', body: '['.repeat(MB) }), 400, 'invalid_input'],
]

const size: Bomb[] = [
  ['gzip of spaces', () => gzip(spaces), 413, 'payload_too_large'],
  ['gzip in gzip of spaces', () => gzip(gzipSync(spaces)), 413, 'payload_too_large'],
  [
    'gzip in many members',
    () => gzip(Buffer.concat(Array<Buffer>(24).fill(gzipSync(spaces.subarray(0, MB))))),
    413,
    'payload_too_large',
  ],
  [
    'brotli of spaces',
    () => ({ path: '/e/', body: brotli(spaces), headers: { 'content-encoding': 'br' } }),
    413,
    'payload_too_large',
  ],
  ['what asks for flags', () => ({ ...gzip(spaces), path: '/decide/' }), 413, 'payload_too_large'],
  [
    'a body longer than is taken',
    () => ({ path: '/e/', body: spaces.subarray(0, 3 * MB) }),
    413,
    'payload_too_large',
  ],
]

const values: Bomb[] = [
  ['empty lists', () => gzip(`[${filled('[],', 15 * MB)}1]`), 413, 'payload_too_large'],
  ['empty objects', () => gzip(`[${filled('{},', 15 * MB)}1]`), 413, 'payload_too_large'],
  ['numbers', () => gzip(`[${filled('1,', 15 * MB)}1]`), 413, 'payload_too_large'],
  ['different names', () => gzip(`{${names(1_100_000)}}`), 413, 'payload_too_large'],
  [
    'the same name again and again',
    () => gzip(`{${filled('"a":1,', 15 * MB)}"b":1}`),
    413,
    'payload_too_large',
  ],
  ['prototypes', () => gzip(`{${filled('"__proto__":1,', 19 * MB)}"b":1}`), 413, 'payload_too_large'],
  [
    'fields of a form',
    () => ({ path: '/e/', headers: FORM, body: `data=1&${filled('a&', MB)}` }),
    400,
    'invalid_payload',
  ],
  [
    'parts of a form',
    () => ({ path: '/e/', headers: MULTIPART, body: `${filled(part('a', ''), MB)}--b--\r\n` }),
    400,
    'invalid_payload',
  ],
  [
    'headers of a part of a form',
    () => ({ path: '/e/', headers: MULTIPART, body: `--b\r\n${filled('a: b\r\n', MB)}\r\n\r\n--b--\r\n` }),
    400,
    'invalid_payload',
  ],
  [
    'events',
    (target) => ({
      path: '/batch/',
      body: JSON.stringify({
        api_key: target.token,
        batch: Array(20_001).fill({ event: 'e', distinct_id: 'd' }),
      }),
    }),
    413,
    'payload_too_large',
  ],
  [
    'values of one event',
    (target) => ({
      path: '/e/',
      body: JSON.stringify({
        api_key: target.token,
        event: 'e',
        distinct_id: 'd',
        properties: { list: Array(30_000).fill(1) },
      }),
    }),
    413,
    'payload_too_large',
  ],
  [
    'what signs in',
    () => ({ path: '/api/login/', body: `[${filled('[],', MB - 9)}1]` }),
    413,
    'request_too_large',
  ],
  [
    'fields of a form that signs in',
    () => ({ path: '/api/login/', headers: FORM, body: filled('a&', 100_000) }),
    400,
    'parse_error',
  ],
  [
    'a form too large to sign in with',
    () => ({ path: '/api/login/', headers: FORM, body: filled('+', 200_000) }),
    413,
    'request_too_large',
  ],
  [
    'parts of a form that signs in',
    () => ({ path: '/api/login/', headers: MULTIPART, body: filled(part('a', ''), MB - 99) }),
    400,
    'parse_error',
  ],
]

const tokens: Bomb[] = [
  ['in the query', () => ({ ...gzip(open), path: '/e/?token=phc_nobody' }), 401, 'invalid_api_key'],
  [
    'as api_key in the query',
    () => ({ ...gzip(spaces), path: '/batch/?api_key=phc_nobody' }),
    401,
    'invalid_api_key',
  ],
  [
    'in a header',
    () => ({ ...gzip(open), headers: { 'x-posthog-token': 'phc_nobody' } }),
    401,
    'invalid_api_key',
  ],
  ['of a person', (target) => ({ ...gzip(open), path: `/e/?token=${target.key}` }), 401, 'invalid_api_key'],
  [
    'when asking for flags',
    () => ({ ...gzip(open), path: '/flags/?token=phc_nobody' }),
    401,
    'invalid_api_key',
  ],
  ...[1, true, ['phc_1'], { a: 1 }, 'x'.repeat(MB), 'phc_\u0000', 'ph\u00fc'].map((token): Bomb => [
    `in the body: ${JSON.stringify(token).slice(0, 20)}`,
    () => ({ path: '/e/', body: JSON.stringify({ api_key: token, event: 'e', distinct_id: 'd' }) }),
    401,
    'invalid_api_key',
  ]),
]

export const BOMBS: readonly (readonly [kind: string, attacks: readonly Bomb[]])[] = [
  ['nesting', nesting],
  ['size', size],
  ['too many', values],
  ['a token of nobody', tokens],
]
