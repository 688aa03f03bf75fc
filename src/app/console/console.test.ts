// How the console is served: one page for its addresses under a strict policy, and files that may be kept for ever.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { openConsoleFiles } from './files.ts'

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
  it.each([
    '/',
    '/login',
    '/signup',
    '/reset/a/b',
    '/project/1/exports/new',
    '/organization/x/members',
    '/server',
  ])('%s: never kept, scripts and styles of our own alone', async (url) => {
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
  })

  it('has another nonce each time', async () => {
    const nonces = [await load('/'), await load('/')].map(
      ({ body }) => /name="nonce" content="([^"]+)"/.exec(body)![1],
    )
    expect(new Set(nonces).size).toBe(2)
  })

  it('tells the console whether there is a session to ask about, and nothing of it', async () => {
    expect((await load('/')).body).toContain('name="session" content="none"')
    expect((await load('/', { cookie: 'other=1; xsessionid=2; sessionid=' })).body).toContain(
      'content="none"',
    )
    const { body } = await load('/', { cookie: 'a=b; sessionid=secret' })
    expect(body).toContain('name="session" content="perhaps"')
    expect(body).not.toContain('secret')
  })

  it('has the first answers fetched along with it, for those who may have a session', async () => {
    const linksOf = async (url: string, cookie: string) => (await load(url, { cookie })).headers.link
    const me = '</api/users/%40me/>; rel=preload; as=fetch; crossorigin'
    expect(await linksOf('/project/7/events', 'other=1')).toBeUndefined()
    expect(await linksOf('/login?next=%2F', 'sessionid=a')).toBeUndefined()
    expect(await linksOf('/account/keys', 'sessionid=a')).toBe(me)
    const withProject = `${me}, ${me.replace('users/%40me', 'projects/7')}`
    for (const address of ['', '/', '?a', '/settings/general', '/exports/new', '/constructor'])
      expect(await linksOf(`/project/7${address}`, 'sessionid=a')).toBe(withProject)
    expect(await linksOf('/project/7%3E;rel=x/events', 'sessionid=a')).toBe(me)
  })

  it('has what a list asks and is drawn by fetched along with it', async () => {
    const { headers } = await load('/project/7/events', { cookie: 'sessionid=a' })
    const links = String(headers.link).split(', ')
    expect(links[2]).toBe('</api/projects/7/events/?limit=100>; rel=preload; as=fetch; crossorigin')
    const files = links.slice(3)
    expect(files).toContain(`<${await script()}>; rel=modulepreload`)
    expect(files.join()).toMatch(/EventsPage-[^.]+\.js>; rel=modulepreload/)
    expect(files.join()).toMatch(/EventsPage-[^.]+\.css>; rel=preload; as=style; crossorigin/)
    for (const file of files) expect((await load(/<(.+)>/.exec(file)![1]!)).statusCode).toBe(200)
    const filtered = await load('/project/7/events?after=-24h', { cookie: 'sessionid=a' })
    expect(String(filtered.headers.link).split(', ').slice(2)).toEqual(files)
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

  it.each([
    '/assets/nothing.js',
    '/assets/..%2findex.html',
    '/assets/__proto__',
    '/assets/index.html',
    '/index.html',
  ])('404 %s', async (url) => {
    const answer = await load(url)
    expect(answer.statusCode).toBe(404)
    expect(answer.json()).toMatchObject({ code: 'not_found' })
  })

  it('style every component that the console draws', () => {
    const library = readFileSync(createRequire(import.meta.url).resolve('@mantine/core/styles.css'), 'utf8')
    const classes = (text: string) => text.match(/\bm_[0-9a-f]{5,}/g) ?? []
    const of = (ending: string) =>
      [...openConsoleFiles().assets]
        .filter(([name]) => name.endsWith(ending))
        .flatMap(([, { bytes }]) => classes(bytes.identity.toString()))
    const [known, styled] = [new Set(classes(library)), new Set(of('.css'))]
    const drawn = of('.js').filter((each) => known.has(each))
    expect(drawn.length).toBeGreaterThan(50)
    expect(drawn.filter((each) => !styled.has(each))).toEqual([])
  })

  it('the first load stays below 160 KB of packed JavaScript and 24 KB of styles', async () => {
    const { body } = await load('/')
    const packed = async (ending: string) => {
      const urls = [...body.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)]
        .map(([, url]) => url!)
        .filter((url) => url.endsWith(ending))
      const answers = await Promise.all(urls.map((url) => load(url, { 'accept-encoding': 'gzip' })))
      return answers.reduce((sum, { rawPayload }) => sum + rawPayload.length, 0)
    }
    const [scripts, styles] = [await packed('.js'), await packed('.css')]
    expect(Math.min(scripts, styles)).toBeGreaterThan(0)
    expect(scripts).toBeLessThan(160 * 1024)
    expect(styles).toBeLessThan(24 * 1024)
  })
})
