// The browser library over HTTP: what pages get, how long they may keep it, and what is not there.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'

const PACKAGE = createRequire(import.meta.url).resolve('posthog-js/package.json')
const VERSION = (JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string }).version
const FOR_EVER = 'public, max-age=31536000, immutable'
const FOR_AN_HOUR = 'public, max-age=3600'
const published = (name: string) => readFileSync(join(dirname(PACKAGE), 'dist', name))

let app: TestApp
let token: string
beforeAll(async () => {
  app = await startTestApp()
  token = (await createOrganization(app)).project.api_token
})
afterAll(() => app.close())

const load = (url: string, headers: Record<string, string> = {}, method = 'GET') =>
  app.http.inject({ method: method as 'GET', url, headers })

describe('files', () => {
  it.each<[string, string, string]>([
    ['/static/array.js', 'array.js', FOR_AN_HOUR],
    [`/static/array.js?v=${VERSION}`, 'array.js', FOR_EVER],
    [`/static/${VERSION}/array.js`, 'array.js', FOR_EVER],
    ['/static/1/array.js', 'array.js', FOR_AN_HOUR],
    ['/static/array.full.js', 'array.full.js', FOR_AN_HOUR],
    ['/static/array.full.es5.js', 'array.full.es5.js', FOR_AN_HOUR],
    [`/static/exception-autocapture.js?v=${VERSION}`, 'exception-autocapture.js', FOR_EVER],
    ['/static/web-vitals.js?v=1.100.0', 'web-vitals.js', FOR_AN_HOUR],
    ['/static/1.300.7/dead-clicks-autocapture.js', 'dead-clicks-autocapture.js', FOR_AN_HOUR],
    [`/static/${VERSION}/surveys.js`, 'surveys.js', FOR_EVER],
    ['/static/tracing-headers.js', 'tracing-headers.js', FOR_AN_HOUR],
  ])('%s is as published', async (url, name, cacheControl) => {
    const answer = await load(url, { origin: 'https://shop.example' })
    expect(answer.statusCode).toBe(200)
    expect(answer.rawPayload.equals(published(name))).toBe(true)
    expect(answer.headers).toMatchObject({
      'content-type': 'application/javascript; charset=utf-8',
      'cache-control': cacheControl,
      'access-control-allow-origin': '*',
      vary: 'Accept-Encoding',
      'x-content-type-options': 'nosniff',
    })
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
  })

  it('has every part that the library can ask for, or a script in its place', async () => {
    const types = readFileSync(join(dirname(PACKAGE), 'lib/src/utils/globals.d.ts'), 'utf8')
    const kinds = [...types.matchAll(/^(?:export )?(?:declare )?type \w*ExtensionKind = (.*);$/gm)].flatMap(
      ([, union]) => [...union!.matchAll(/'([a-z-]+)'/g)].map(([, kind]) => kind!),
    )
    const asked = [...new Set(kinds)].filter((kind) => kind !== 'remote-config')
    expect(asked).toEqual(
      expect.arrayContaining(['exception-autocapture', 'toolbar', 'intercom-integration']),
    )
    for (const kind of asked)
      expect([kind, (await load(`/static/${kind}.js`)).statusCode]).toEqual([kind, 200])
  })

  it.each(['toolbar', 'editor', 'recorder', 'lazy-recorder', 'conversations', 'product-tours'])(
    '%s of a feature that is not here is a script that does nothing',
    async (part) => {
      const answer = await load(`/static/${part}.js?v=${VERSION}&t=1`)
      expect([answer.statusCode, answer.headers['access-control-allow-origin']]).toEqual([200, '*'])
      expect(answer.headers['cache-control']).toBe(FOR_AN_HOUR)
      expect(answer.body.length).toBeLessThan(100)
    },
  )

  it.each([
    '/static/nothing.js',
    '/static/array.js.br',
    '/static/array.js.map',
    '/static/library.json',
    '/static/LICENSE',
    '/static/..%2flibrary.json',
    '/static/%2e%2e/longshore.js',
    '/static/__proto__',
    '/static/constructor/array.js',
    '/static/2.0.0/array.js',
    '/static/1.2.3.4/array.js',
    '/static/latest/array.js',
    `/static/${VERSION}/nothing.js`,
  ])('404 %s', async (url) => {
    const answer = await load(url)
    expect(answer.statusCode).toBe(404)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.json()).toMatchObject({ code: 'not_found' })
  })
})

describe('compression', () => {
  it.each<[string | undefined, string | undefined]>([
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['GZIP;q=0.5, br;q=0', 'gzip'],
    ['br;q=0.000', undefined],
    ['*', undefined],
    [undefined, undefined],
  ])('%s: %s', async (accepted, encoding) => {
    const answer = await load(
      '/static/array.js',
      accepted === undefined ? {} : { 'accept-encoding': accepted },
    )
    expect(answer.headers['content-encoding']).toBe(encoding)
    const unpack = { br: brotliDecompressSync, gzip: gunzipSync }[encoding ?? '']
    const bytes = unpack ? unpack(answer.rawPayload) : answer.rawPayload
    expect(bytes.equals(published('array.js'))).toBe(true)
    if (encoding) expect(answer.rawPayload.length).toBeLessThan(bytes.length / 2)
  })
})

describe('what a browser has already', () => {
  it('304 for the same script in any encoding, the script for another', async () => {
    const etag = String((await load('/static/array.js')).headers.etag)
    expect(etag).toMatch(/^W\/"[\w-]{22}"$/)
    for (const known of [etag, `"other", ${etag}`, etag.slice(2), '*']) {
      const answer = await load('/static/array.js', { 'if-none-match': known, 'accept-encoding': 'br' })
      expect([known, answer.statusCode, answer.body]).toEqual([known, 304, ''])
      expect(answer.headers).toMatchObject({ etag, 'cache-control': FOR_AN_HOUR, vary: 'Accept-Encoding' })
    }
    const other = String((await load('/static/surveys.js')).headers.etag)
    expect((await load('/static/array.js', { 'if-none-match': other })).statusCode).toBe(200)
  })

  it('HEAD tells the same; other methods are refused', async () => {
    const answer = await load('/static/array.js', {}, 'HEAD')
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-length']).toBe(String(published('array.js').length))
    expect((await load('/static/array.js', {}, 'POST')).statusCode).toBe(405)
    expect((await load('/static/array.js', { origin: 'https://a.example' }, 'OPTIONS')).statusCode).toBe(204)
  })
})

describe('/array/:token/array.js', () => {
  it('is the library, for the token of a project', async () => {
    const answer = await load(`/array/${token}/array.js`)
    expect(answer.rawPayload.equals(published('array.js'))).toBe(true)
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': '*', 'cache-control': FOR_AN_HOUR })
  })

  it.each(['phc_nobody', 'phx_1', '%00'])('401 for %s', async (given) => {
    const answer = await load(`/array/${given}/array.js`)
    expect([answer.statusCode, answer.json().code]).toEqual([401, 'invalid_api_key'])
    expect(answer.headers['cache-control']).toBe('no-store')
  })
})
