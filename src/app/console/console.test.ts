// How the console is served: one page for its addresses under a strict policy, and files that may be kept for ever.
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())

const load = (url: string, headers: Record<string, string> = {}) =>
  app.http.inject({ method: 'GET', url, headers })

async function script(): Promise<string> {
  return /src="(\/assets\/[^"]+\.js)"/.exec((await load('/')).body)![1]!
}

describe('the page', () => {
  it.each(['/', '/login', '/signup', '/reset/a/b', '/project/1/exports/new', '/organization/x/members', '/server'])(
    '%s: never kept, scripts and styles of our own alone',
    async (url) => {
      const { statusCode, headers, body } = await load(url)
      expect([statusCode, headers['content-type'], headers['cache-control']]).toEqual([
        200,
        'text/html; charset=utf-8',
        'no-store',
      ])
      const policy = String(headers['content-security-policy'])
      const nonce = /style-src 'self' 'nonce-([^']+)'/.exec(policy)![1]!
      expect(policy).toContain("default-src 'none'; script-src 'self';")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).toContain("require-trusted-types-for 'script'")
      expect(policy).not.toMatch(/unsafe|https?:|\*/)
      expect(body).toContain(`content="${nonce}"`)
      expect(body).not.toMatch(/<script>|<style|https?:\/\//)
    },
  )

  it('has another nonce each time', async () => {
    const nonces = [await load('/'), await load('/')].map(({ body }) => /name="nonce" content="([^"]+)"/.exec(body)![1])
    expect(new Set(nonces).size).toBe(2)
  })

  it('tells the console whether there is a session to ask about, and nothing of it', async () => {
    expect((await load('/')).body).toContain('name="session" content="none"')
    expect((await load('/', { cookie: 'other=1; xsessionid=2; sessionid=' })).body).toContain('content="none"')
    const { body } = await load('/', { cookie: 'a=b; sessionid=secret' })
    expect(body).toContain('name="session" content="perhaps"')
    expect(body).not.toContain('secret')
  })
})

describe('its files', () => {
  it.each<[string | undefined, string | undefined]>([
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    [undefined, undefined],
  ])('accepting %s come as %s', async (accepted, encoding) => {
    const url = await script()
    const answer = await load(url, accepted === undefined ? {} : { 'accept-encoding': accepted })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
      'x-content-type-options': 'nosniff',
    })
    expect(answer.headers['content-encoding']).toBe(encoding)
    const unpack = { br: brotliDecompressSync, gzip: gunzipSync }[encoding ?? '']
    const bytes = unpack ? unpack(answer.rawPayload) : answer.rawPayload
    expect(bytes.equals((await load(url)).rawPayload)).toBe(true)
  })

  it('known ones are not sent again', async () => {
    const url = await script()
    const { headers } = await load(url)
    const again = await load(url, { 'if-none-match': String(headers.etag) })
    expect([again.statusCode, again.body]).toEqual([304, ''])
  })

  it.each(['/assets/nothing.js', '/assets/..%2findex.html', '/assets/__proto__', '/assets/index.html', '/index.html'])(
    '404 %s',
    async (url) => {
      const answer = await load(url)
      expect(answer.statusCode).toBe(404)
      expect(answer.json()).toMatchObject({ code: 'not_found' })
    },
  )

  it('the first load stays below 200 KB of packed JavaScript', async () => {
    const { body } = await load('/')
    const scripts = [...body.matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)].map(([, url]) => url!)
    const sizes = await Promise.all(
      scripts.map(async (url) => (await load(url, { 'accept-encoding': 'gzip' })).rawPayload.length),
    )
    expect(sizes.length).toBeGreaterThan(0)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(200 * 1024)
  })
})
