import lz from 'lz-string'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { Refusal } from './refusal.ts'
import { unpack, type Packed } from './unpack.ts'

const LIMIT = 100_000
const JSON_TEXT = '{"event":"größer 😀","distinct_id":"a+b c","properties":{"n":1}}'
const BASE64 = Buffer.from(JSON_TEXT).toString('base64')
const FORM = 'application/x-www-form-urlencoded'
const bytes = (content: string | Uint8Array) => (typeof content === 'string' ? Buffer.from(content) : content)

const read = (content: string | Uint8Array, facts: Partial<Packed> = {}, limit = LIMIT, costly_bytes = 1e9) =>
  unpack(
    {
      bytes: bytes(content),
      content_type: undefined,
      content_encoding: undefined,
      compression: undefined,
      ...facts,
    },
    { bytes: limit, costly_bytes },
  )

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => 'accepted',
    (reason: unknown) => reason,
  )
  if (error instanceof Refusal) return error.fault.code
  throw error instanceof Error ? error : new Error(String(error))
}

function multipart(fields: Record<string, string | Uint8Array>): [Uint8Array, Partial<Packed>] {
  const parts = Object.entries(fields).flatMap(([name, value]) => {
    const file =
      typeof value === 'string' ? '' : '; filename="blob"\r\nContent-Type: application/octet-stream'
    return [
      `--form-boundary-7d1\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`,
      value,
      '\r\n',
    ]
  })
  return [
    Buffer.concat([...parts, '--form-boundary-7d1--\r\n'].map(bytes)),
    { content_type: 'multipart/form-data; boundary=form-boundary-7d1' },
  ]
}

describe('plain bodies', () => {
  it.each<[string, string | Uint8Array, Partial<Packed>]>([
    ['JSON', JSON_TEXT, { content_type: 'application/json' }],
    ['no content type', JSON_TEXT, {}],
    ['text/plain, as sendBeacon sends', JSON_TEXT, { content_type: 'text/plain;charset=UTF-8' }],
    ['called a form by plain curl', JSON_TEXT, { content_type: FORM }],
    ['a byte order mark', `\ufeff${JSON_TEXT}`, {}],
    ['blanks around', `\r\n  ${JSON_TEXT}\n`, {}],
    ['UTF-16', Buffer.from(JSON_TEXT, 'utf16le'), { content_type: 'application/json; charset="UTF-16LE"' }],
    ['an unknown charset', JSON_TEXT, { content_type: 'application/json; charset=klingon' }],
    ['identity', JSON_TEXT, { content_encoding: 'identity' }],
    ['percent-encoded', encodeURIComponent(JSON_TEXT), {}],
    ['a compression that was not applied', JSON_TEXT, { compression: 'gzip-js', content_encoding: 'gzip' }],
    ['lz64 that was not applied', JSON_TEXT, { compression: 'lz64' }],
  ])('%s', async (_, content, facts) => {
    expect(await read(content, facts)).toEqual({ text: JSON_TEXT, api_key: null })
  })

  it('broken UTF-8 is replaced, not refused', async () => {
    const { text } = await read(Buffer.concat([bytes('{"a":"'), Buffer.from([0xe2, 0x82]), bytes('"}')]))
    expect(text).toBe('{"a":"\ufffd"}')
  })
})

describe('compressed bodies', () => {
  const gzip = gzipSync(JSON_TEXT)
  it.each<[string, Uint8Array, Partial<Packed>]>([
    ['gzip, told by the query', gzip, { compression: 'gzip' }],
    ['gzip-js, told by the query', gzip, { compression: 'gzip-js' }],
    ['gzip, told by the header', gzip, { content_encoding: 'gzip' }],
    ['gzip, told by nobody', gzip, { content_type: 'text/plain' }],
    ['gzip, called base64', gzip, { compression: 'base64' }],
    ['gzip twice', gzipSync(gzip), { content_encoding: 'gzip', compression: 'gzip' }],
    ['deflate', deflateSync(JSON_TEXT), { content_encoding: 'deflate' }],
    ['deflate without its head', deflateRawSync(JSON_TEXT), { content_encoding: 'deflate' }],
    ['brotli', brotliCompressSync(JSON_TEXT), { content_encoding: 'br' }],
    ['brotli around gzip', brotliCompressSync(gzip), { content_encoding: 'BR' }],
    ['gzip around a form', gzipSync(`data=${encodeURIComponent(BASE64)}`), { content_type: FORM }],
    ['base64 of gzip', bytes(gzip.toString('base64')), { compression: 'gzip' }],
    ['lz64', bytes(lz.compressToBase64(JSON_TEXT)), { compression: 'lz64' }],
  ])('%s', async (_, content, facts) => {
    expect((await read(content, facts)).text).toBe(JSON_TEXT)
  })
})

describe('base64', () => {
  it.each<[string, string, Partial<Packed>]>([
    ['told by the query', BASE64, { compression: 'base64' }],
    ['told by nobody', BASE64, {}],
    ['URL-safe', Buffer.from(JSON_TEXT).toString('base64url'), {}],
    ['`+` turned into spaces', BASE64.replaceAll('+', ' '), {}],
    ['percent-encoded', encodeURIComponent(BASE64), {}],
    ['with line ends', BASE64.replace(/.{20}/g, '$&\r\n'), {}],
    ['called a form without being one', Buffer.from(JSON_TEXT).toString('base64url'), { content_type: FORM }],
  ])('%s', async (_, content, facts) => {
    expect((await read(content, facts)).text).toBe(JSON_TEXT)
  })
})

describe('forms', () => {
  const url = encodeURIComponent
  it.each<[string, string, Partial<Packed>, string | null]>([
    ['base64', `data=${url(BASE64)}`, { content_type: FORM }, null],
    ['base64 with a bare `+`', `data=${BASE64}`, { content_type: FORM }, null],
    ['JSON', `data=${url(JSON_TEXT)}`, { content_type: `${FORM}; charset=UTF-8` }, null],
    ['not called a form', `data=${url(BASE64)}`, { content_type: 'text/plain' }, null],
    ['with a key', `data=${url(BASE64)}&api_key=phc_x`, { content_type: FORM }, 'phc_x'],
    [
      'with a compression',
      `compression=lz64&data=${url(lz.compressToBase64(JSON_TEXT))}`,
      { content_type: FORM },
      null,
    ],
    [
      'the compression in the query',
      `data=${lz.compressToBase64(JSON_TEXT)}`,
      { content_type: FORM, compression: 'lz64' },
      null,
    ],
    [
      'gzip in base64',
      `data=${url(gzipSync(JSON_TEXT).toString('base64'))}&compression=gzip`,
      { content_type: FORM },
      null,
    ],
  ])('%s', async (_, content, facts, api_key) => {
    expect(await read(content, facts)).toEqual({ text: JSON_TEXT, api_key })
  })

  it.each<[string, Record<string, string | Uint8Array>]>([
    ['JSON', { data: JSON_TEXT, api_key: 'phc_x' }],
    ['base64', { data: BASE64, compression: 'base64', api_key: 'phc_x' }],
    ['a gzip file', { data: gzipSync(JSON_TEXT), api_key: 'phc_x' }],
  ])('multipart: %s', async (_, fields) => {
    expect(await read(...multipart(fields))).toEqual({ text: JSON_TEXT, api_key: 'phc_x' })
  })
})

describe('what cannot be unpacked', () => {
  it.each<[string, string | Uint8Array, Partial<Packed>]>([
    ['a word', 'hello world!', {}],
    ['a JSON text', '"hello"', {}],
    ['a number', '5', {}],
    ['base64 of no JSON', Buffer.from('hello').toString('base64'), {}],
    ['cut gzip', gzipSync(JSON_TEXT).subarray(0, 30), {}],
    ['gzip in name only', Buffer.from([0x1f, 0x8b, 0x08, 1, 2, 3]), {}],
    ['deflate of nothing', 'hello', { content_encoding: 'deflate' }],
    ['brotli of nothing', 'hello', { content_encoding: 'br' }],
    ['an unknown encoding', JSON_TEXT, { content_encoding: 'zstd' }],
    ['lz64 of nothing', 'AAAA', { compression: 'lz64' }],
    ['a form without data', 'api_key=phc_x', { content_type: FORM }],
    ['multipart without a boundary', JSON_TEXT, { content_type: 'multipart/form-data' }],
    ['multipart without data', ...multipart({ api_key: 'x' })],
    ['broken percent signs', '%%%', {}],
    ['blanks', '   ', {}],
  ])('%s', async (_, content, facts) => {
    expect(await refusalOf(read(content, facts))).toBe('invalid_payload')
  })
})

describe('bombs', () => {
  const zeros = Buffer.alloc(20_000_000, 0x20)
  it.each<[string, () => string | Uint8Array, Partial<Packed>]>([
    ['gzip', () => gzipSync(zeros), {}],
    ['gzip in gzip', () => gzipSync(gzipSync(zeros)), {}],
    [
      'gzip in members',
      () => Buffer.concat(Array<Uint8Array>(50).fill(gzipSync(zeros.subarray(0, 9000)))),
      {},
    ],
    ['deflate', () => deflateSync(zeros), { content_encoding: 'deflate' }],
    ['raw deflate', () => deflateRawSync(zeros), { content_encoding: 'deflate' }],
    ['brotli', () => brotliCompressSync(zeros.subarray(0, 1_000_000)), { content_encoding: 'br' }],
    ['gzip in base64', () => gzipSync(zeros).toString('base64'), {}],
    ['gzip in a form', () => `data=${encodeURIComponent(gzipSync(zeros).toString('base64'))}`, {}],
    ['lz64', () => lz.compressToBase64(' '.repeat(200_000)), { compression: 'lz64' }],
    ['lz64 of wide characters', () => lz.compressToBase64('漢'.repeat(50_000)), { compression: 'lz64' }],
  ])('%s is refused at the limit', async (_, content, facts) => {
    const bomb = content()
    const before = process.memoryUsage().arrayBuffers
    expect(await refusalOf(read(bomb, facts))).toBe('payload_too_large')
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(5_000_000)
  })

  it.each<[string, string | Uint8Array, Partial<Packed>]>([
    ['a form', `data=${encodeURIComponent(JSON_TEXT)}`, { content_type: FORM }],
    ['a form that is called text', `data=${encodeURIComponent(JSON_TEXT)}`, { content_type: 'text/plain' }],
    ['multipart', ...multipart({ data: JSON_TEXT })],
    ['lz64', lz.compressToBase64(JSON_TEXT), { compression: 'lz64' }],
  ])('what costs more than JSON has a limit of its own: %s', async (_, content, facts) => {
    const size = bytes(content).length
    expect((await read(content, facts, LIMIT, size)).text).toBe(JSON_TEXT)
    expect(await refusalOf(read(content, facts, LIMIT, size - 1))).toBe('payload_too_large')
  })

  it('counts the unpacked bytes exactly', async () => {
    const text = JSON_TEXT
    const size = Buffer.byteLength(text)
    expect((await read(gzipSync(text), {}, size)).text).toBe(text)
    expect(await refusalOf(read(gzipSync(text), {}, size - 1))).toBe('payload_too_large')
  })
})
