import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openLog } from '../../../platform/log/log.ts'
import { openOutbound, type Outbound } from '../../../platform/outbound/outbound.ts'
import type { Services } from '../../../platform/services.ts'
import { INLINE_APPS } from '../inline/index.ts'
import { readSourceUrl } from '../sources/source-url.ts'
import known from './catalogue.json' with { type: 'json' }
import { listCatalogue } from './catalogue.ts'

const HOUR_MS = 60 * 60 * 1000
const INLINE = [...INLINE_APPS.keys()]

describe("the server's own", () => {
  const settings = { plugins_repository_url: null } as Services['settings']
  const list = () => listCatalogue({ settings } as Services)

  test('lists the apps that it brings along, then those elsewhere', async () => {
    const entries = await list()
    expect(entries.map(({ url }) => url)).toEqual([...INLINE, ...known.map(({ url }) => url)])
    for (const entry of entries) {
      expect(entry).toEqual({
        name: expect.stringMatching(/./),
        url: expect.any(String),
        description: expect.stringMatching(/./),
        icon: null,
        verified: entry.url.startsWith('inline:'),
        maintainer: entry.url.startsWith('inline:') ? 'official' : 'community',
        type: 'transformation',
      })
    }
  })

  test('every address can be installed and is written as a plugin would have it', () => {
    for (const { url } of known) expect(readSourceUrl(url).url).toBe(url)
  })
})

describe('another one', () => {
  let outbound: Outbound
  let answer: RequestListener
  let requests: number
  let now: number
  let services: Pick<Services, 'settings' | 'outbound' | 'log' | 'now'>
  let logs: string[]
  let stop: () => Promise<void>

  beforeEach(async () => {
    requests = 0
    now = Date.parse('2026-01-01')
    logs = []
    const server = createServer((request, response) => {
      requests += 1
      answer(request, response)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    outbound = openOutbound({ allow: ['127.0.0.1'] })
    services = {
      settings: {
        plugins_repository_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/list.json`,
      } as Services['settings'],
      outbound,
      log: openLog({ level: 'trace', format: 'json', to: { write: (line) => void logs.push(line) } }),
      now: () => new Date(now),
    }
    stop = async () => {
      server.closeAllConnections()
      server.close()
      await outbound.close()
    }
  })
  afterEach(() => stop())

  const answerWith = (body: unknown) => {
    answer = (_request, response) => void response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
  const entry = (name: string, fields: object = {}) => ({
    name,
    url: `https://github.com/a/${name}`,
    ...fields,
  })
  const namesElsewhere = async () =>
    (await listCatalogue(services)).filter(({ url }) => !url.startsWith('inline:')).map(({ name }) => name)

  test('takes the place of ours, and is asked for once an hour', async () => {
    answerWith([entry('one')])
    const lists = await Promise.all([namesElsewhere(), namesElsewhere()])
    expect(lists).toEqual([['one'], ['one']])
    answerWith([entry('two')])
    now += HOUR_MS - 1
    expect(await namesElsewhere()).toEqual(['one'])
    expect(requests).toBe(1)
    now += 1
    expect(await namesElsewhere()).toEqual(['two'])
    expect(requests).toBe(2)
    expect((await listCatalogue(services)).slice(0, INLINE.length).map(({ url }) => url)).toEqual(INLINE)
  })

  test.each([
    ['status 500', (_request, response) => void response.writeHead(500).end('[]')],
    ['a cut connection', (_request, response) => void response.destroy()],
    ['HTML', (_request, response) => void response.end('<html>')],
    ['an object', (_request, response) => void response.end('{"plugins":[]}')],
    ['too much', (_request, response) => void response.end(Buffer.alloc(3 * 1024 * 1024, ' '))],
  ] as [string, RequestListener][])(
    '%s: the last copy, asked for again a minute later',
    async (_what, faulty) => {
      answerWith([entry('one')])
      await listCatalogue(services)
      answer = faulty
      now += HOUR_MS
      expect(await namesElsewhere()).toEqual(['one'])
      expect(await namesElsewhere()).toEqual(['one'])
      expect(requests).toBe(2)
      expect(logs.join()).toContain('catalogue of plugins')
      answerWith([entry('two')])
      now += 60_000
      expect(await namesElsewhere()).toEqual(['two'])
    },
  )

  test('never reachable: ours', async () => {
    answer = (_request, response) => void response.destroy()
    expect(await namesElsewhere()).toEqual(known.map(({ name }) => name))
  })

  test('broken entries are left out, broken fields of good ones are blank', async () => {
    answerWith([
      null,
      'x',
      [],
      {},
      { name: 'no address' },
      { url: 'https://github.com/a/unnamed' },
      { name: 'elsewhere', url: 'https://example.com/a/b' },
      { name: 'inner', url: 'file:///etc/passwd' },
      { name: 'ours', url: 'inline:property-filter' },
      { name: 'x'.repeat(201), url: 'https://github.com/a/long' },
      { name: 'a\0b', url: 'https://github.com/a/nul' },
      {
        name: 'first',
        url: 'http://www.github.com/a/first/?private_token=s3cret',
        verified: true,
        icon: 'https://x.example/i.png',
        maintainer: 'official',
        type: 'data_out',
        description: ' Does it ',
      },
      { name: 'first again', url: 'https://github.com/a/first' },
      {
        name: 'second',
        url: 'https://github.com/a/second',
        verified: 'yes',
        icon: 'javascript:alert(1)',
        maintainer: 'me',
        type: 7,
        description: {},
        __proto__: 1,
      },
    ])
    expect((await listCatalogue(services)).slice(INLINE.length)).toEqual([
      {
        name: 'first',
        url: 'https://github.com/a/first',
        description: 'Does it',
        icon: 'https://x.example/i.png',
        verified: true,
        maintainer: 'official',
        type: 'data_out',
      },
      {
        name: 'second',
        url: 'https://github.com/a/second',
        description: null,
        icon: null,
        verified: false,
        maintainer: 'community',
        type: null,
      },
    ])
  })

  test('each application has a copy of its own', async () => {
    answerWith([entry('one')])
    await listCatalogue(services)
    answerWith([entry('two')])
    const other = { ...services, settings: { ...services.settings } }
    expect((await listCatalogue(other)).at(-1)?.name).toBe('two')
    expect(await namesElsewhere()).toEqual(['one'])
  })
})
