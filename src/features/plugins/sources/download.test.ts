// When a service does not do as it should.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startCodeHost, type Answer, type CodeHost } from '../../../../test/stand-ins/code-host.ts'
import { openOutbound } from '../../../platform/outbound/outbound.ts'
import type { Services } from '../../../platform/services.ts'
import { openDownload } from './download.ts'
import { fetchSource, findNewestTag } from './fetch-source.ts'

const OLD = 'a'.repeat(40)

let host: CodeHost

beforeEach(async () => {
  host = await startCodeHost()
  const files = { 'plugin.json': '{"name":"x"}', 'index.js': '' }
  host.github.set('a/b', { commits: [{ sha: OLD, files }] })
})
afterEach(() => host.close())

const settings = { plugin_source_tokens: { github: null, gitlab: null, npm: null } } as Services['settings']
const services = () => ({ outbound: host.outbound, settings })
const fetchIt = (url: string, token: string | null = null) => fetchSource(services(), url, token)
const refused = (detail: string) => ({
  status: 400,
  code: 'invalid_input',
  attr: 'url',
  detail: expect.stringContaining(detail),
})

const url = 'https://github.com/a/b'
const inHalfAnHour = String(Math.floor(Date.now() / 1000) + 1800)
const withStatus =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, headers).end('{}')

test.each([
  [
    'its limit is reached',
    withStatus(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inHalfAnHour }),
    /^1\d{3}$/,
  ],
  ['its second limit is reached', withStatus(403, { 'retry-after': '60' }), /^60$/],
  ['429', withStatus(429), /^30$/],
  ['429 with a day to wait', withStatus(429, { 'retry-after': '86400' }), /^3600$/],
  ['429 with a date in the past', withStatus(429, { 'x-ratelimit-reset': '1' }), /^1$/],
  ['500', withStatus(500), /^30$/],
  ['503', withStatus(503), /^30$/],
  ['the connection is cut', (response) => response.destroy(), /^30$/],
  ['HTML', (response) => response.writeHead(200).end('<html>'), /^30$/],
  ['another answer', (response) => response.writeHead(200).end('{"sha":1}'), /^30$/],
  ['another answer yet', (response) => response.writeHead(200).end('[{"sha":"../../x"}]'), /^30$/],
] as [string, Answer, RegExp][])('%s: 503 with a time to wait', async (_what, answer, wait) => {
  host.answerNext(answer)
  const error = await fetchIt(url).catch((caught: unknown) => caught)
  expect(error).toMatchObject({ status: 503, code: 'source_unavailable', attr: null })
  expect((error as { headers: Record<string, string> }).headers['retry-after']).toMatch(wait)
})

test('403 that is no limit, and other refusals, are a 400', async () => {
  host.answerNext(withStatus(403, { 'x-ratelimit-remaining': '12' }))
  await expect(fetchIt(url)).rejects.toMatchObject(refused('does not accept'))
  host.answerNext(withStatus(409))
  await expect(fetchIt(url)).rejects.toMatchObject(refused('knows nothing'))
})

test.each([
  ['its name does not resolve', []],
  ['its name leads to an inner address', [{ address: '10.0.0.1' }]],
])('%s: 503', async (_what, addresses) => {
  const outbound = openOutbound({ allow: [], lookup: async () => addresses })
  const failed = fetchSource({ ...services(), outbound }, url, null)
  await expect(failed).rejects.toMatchObject({ status: 503, code: 'source_unavailable' })
  await outbound.close()
})

test('it falls silent: one limit for all calls together', async () => {
  const download = openDownload(host.outbound, 'github', () => null, 300)
  const began = Date.now()
  await download.json('https://api.github.com/repos/a/b/commits?per_page=1')
  host.answerNext(() => {})
  const failed = download.archive(`https://github.com/a/b/archive/${OLD}.zip`)
  await expect(failed).rejects.toMatchObject({ status: 503, detail: expect.stringContaining('too long') })
  expect(Date.now() - began).toBeLessThan(5000)
  await expect(download.archive(`https://github.com/a/b/archive/${OLD}.zip`)).rejects.toMatchObject({
    status: 503,
  })
})

const redirect =
  (location: string): Answer =>
  (response) =>
    response.writeHead(302, { location }).end()

test('three redirects are followed, the fourth is not', async () => {
  const moved = redirect('/repos/a/b/commits?per_page=1')
  host.answerNext(moved, moved, moved)
  expect(await findNewestTag(services(), url, null)).toBe(OLD)
  host.answerNext(moved, moved, moved, moved)
  await expect(findNewestTag(services(), url, null)).rejects.toMatchObject(
    refused('from one place to the next'),
  )
})

test.each([
  'https://evil.example/x',
  'http://github.com/a/b',
  'https://github.com:8443/a/b',
  'https://gitlab.com/a/b',
  'https://github.com@evil.example/',
  'http://127.0.0.1/',
  'file:///etc/passwd',
  '//evil.example/',
])('a redirect to %s is not followed', async (location) => {
  host.answerNext(redirect(location))
  await expect(fetchIt(url, 's3cret')).rejects.toMatchObject(refused('to another place'))
  expect(host.requests.every(({ target }) => target.startsWith('api.github.com/'))).toBe(true)
})

test('a token goes to the origin that was asked, and to no other', async () => {
  host.answerNext(redirect('https://codeload.github.com/a/b/zip/x'))
  await findNewestTag(services(), url, 's3cret').catch(() => {})
  expect(host.requests).toMatchObject([
    { target: expect.stringContaining('api.github.com/'), authorization: 'Bearer s3cret' },
    { target: expect.stringContaining('codeload.github.com/'), authorization: null },
  ])
})
