// The gate and the calls through it, against real servers on loopback that count what reaches them.
import { once } from 'node:events'
import {
  createServer,
  get as httpGet,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http'
import { get as httpsGet } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { startSmtpServer } from '../../../test/stand-ins/smtp.ts'
import { gatedAgents } from './agents.ts'
import { findFaultyAllowEntries, parseAllowList } from './allow-list.ts'
import { OutboundFailed, OutboundRefused, OutboundUnresolved } from './errors.ts'
import { openGate, type Lookup } from './gate.ts'
import { openOutbound, type Outbound } from './outbound.ts'

type Seen = { method: string; path: string; headers: IncomingMessage['headers']; body: string }
type CountingServer = { url: string; port: number; connections: number; requests: Seen[] }

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

async function startServer(answer: RequestListener = (_req, res) => res.end('ok')): Promise<CountingServer> {
  const server: Server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      seen.requests.push({ method: req.method!, path: req.url!, headers: req.headers, body })
      answer(req, res)
    })
  })
  server.on('connection', () => (seen.connections += 1))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  const seen: CountingServer = { url: `http://127.0.0.1:${port}`, port, connections: 0, requests: [] }
  return seen
}

function open(allow: string[] = [], lookup?: Lookup): Outbound {
  const outbound = openOutbound(lookup ? { allow, lookup } : { allow })
  closers.push(() => outbound.close())
  return outbound
}

/** Answers one list after the other, the last one for ever, and counts. */
function scriptedLookup(...answers: string[][]) {
  const asked: string[] = []
  const lookup: Lookup = async (name) => {
    asked.push(name)
    const addresses = answers[Math.min(asked.length, answers.length) - 1] ?? []
    return addresses.map((address) => ({ address }))
  }
  return { lookup, asked }
}

async function withoutTlsChecks(work: () => Promise<void>): Promise<void> {
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  try {
    await work()
  } finally {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
  }
}

/** All of these would lead to a server on 127.0.0.1 or ::1 if they were dialled. */
const LOOPBACK_HOSTS = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '127.255.255.254',
  '0.0.0.0',
  '0',
  'localhost',
  'LOCALHOST',
  'localhost.',
  '１２７.０.０.１',
  '127。0。0。1',
  'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
  '%6c%6f%63alhost',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
]

/** Only ever handed to `checkedAddress`, so that a gate left open by mistake dials nobody's network from a test. */
const OTHER_INNER_HOSTS = [
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::127.0.0.1]',
  '[2002:7f00:1::]',
  '[fe80::1]',
  '[fec0::1]',
  '[fd00:ec2::254]',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '[fe80::1%lo]',
  '[::ffff:169.254.169.254]',
  '2852039166',
  '[::ffff:0:7f00:1]',
  '[2001:db8::1]',
  '[ff02::1]',
]

/** Names such as `localhost` without a word to the machine's own resolver. */
const localNames: Lookup = async (name) => (name === 'localhost' ? [{ address: '127.0.0.1' }] : [])

describe('inner addresses are refused and nothing is dialled', () => {
  test.each(LOOPBACK_HOSTS)('http and https to %s', async (host) => {
    const server = await startServer()
    const outbound = open([], localNames)

    for (const scheme of ['http', 'https']) {
      const url = `${scheme}://${host}:${server.port}/`
      await expect(outbound.fetch(url, { timeout_ms: 2000 })).rejects.toThrow(OutboundRefused)
    }
    expect(server.connections).toBe(0)
  })

  test.each([...LOOPBACK_HOSTS, ...OTHER_INNER_HOSTS])('checkedAddress of %s', async (host) => {
    await expect(open([], localNames).checkedAddress(host)).rejects.toThrow(OutboundRefused)
  })

  test('localhost by the resolver of the machine', async () => {
    const server = await startServer()
    await expect(open().fetch(`http://localhost:${server.port}/`)).rejects.toThrow(OutboundRefused)
    expect(server.connections).toBe(0)
  })

  test.each([
    ['a private address', ['10.0.0.7']],
    ['one private address among public ones', ['93.184.216.34', '127.0.0.1']],
    ['a private address inside IPv6', ['::ffff:127.0.0.1']],
    ['a link-local address with a zone', ['fe80::1%lo']],
    ['something that is no address', ['not-an-address']],
    ['nothing', []],
  ])('a name that resolves to %s', async (_what, addresses) => {
    const server = await startServer()
    const { lookup } = scriptedLookup(addresses)
    const outbound = open([], lookup)
    await expect(outbound.fetch(`http://hooks.example:${server.port}/`)).rejects.toThrow(OutboundRefused)
    await expect(outbound.checkedAddress('hooks.example')).rejects.toThrow(OutboundRefused)
    expect(server.connections).toBe(0)
  })

  test('a name that does not resolve', async () => {
    const outbound = open([], async () => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })
    })
    await expect(outbound.fetch('http://nowhere.example/')).rejects.toThrow(OutboundRefused)
    await expect(outbound.checkedAddress('nowhere.example')).rejects.toThrow(OutboundUnresolved)
    await expect(outbound.checkedAddress('10.0.0.1')).rejects.not.toThrow(OutboundUnresolved)
  })

  test.each([
    ['http://nowhere.example/', 'The host name of this address does not resolve.'],
    ['http://10.0.0.1/', 'This address may not be called: it is not a public one.'],
    ['http://inner.example/', 'This address may not be called: it is not a public one.'],
    ['ftp://8.8.8.8/', 'This address may not be called: it is not an http or https address.'],
  ])('each for its own reason, and that is said: %s', async (url, text) => {
    const outbound = open([], async (name) => (name === 'inner.example' ? [{ address: '10.0.0.1' }] : []))
    const error = await outbound.fetch(url).catch((caught: Error) => caught)
    expect((error as Error).message.startsWith(text)).toBe(true)
    expect((error as Error).message).not.toMatch(/10\.0|inner|nowhere/)
  })

  test.each([
    'file:///etc/passwd',
    'ftp://127.0.0.1/',
    'data:text/plain,hello',
    'gopher://127.0.0.1/',
    '/relative',
    '',
    'http://',
    'http://a b/',
    'http://1.2.3.256/',
  ])('not a public http(s) address: %j', async (url) => {
    await expect(open(['127.0.0.1']).fetch(url)).rejects.toThrow(OutboundRefused)
  })

  test.each([
    '/var/run/postgresql',
    'db.example/x',
    'user@db.example',
    'db.example:5432',
    'a\nb',
    '',
    'a..b',
  ])('checkedAddress of what is no host: %j', async (host) => {
    const { lookup, asked } = scriptedLookup(['93.184.216.34'])
    await expect(open([], lookup).checkedAddress(host)).rejects.toThrow(OutboundRefused)
    expect(asked).toEqual([])
  })
})

describe('public addresses', () => {
  test.each([
    ['93.184.216.34', '93.184.216.34', 4],
    ['1572395042', '93.184.216.34', 4],
    ['::ffff:93.184.216.34', '93.184.216.34', 4],
    ['2606:4700::1111', '2606:4700::1111', 6],
    ['[2606:4700::1111]', '2606:4700::1111', 6],
  ] as const)('checkedAddress of %s is %s', async (host, address, family) => {
    expect(await open().checkedAddress(host)).toEqual({ address, family })
  })

  test('names are asked for in one spelling', async () => {
    const { lookup, asked } = scriptedLookup(['93.184.216.34'])
    const outbound = open([], lookup)
    expect(await outbound.checkedAddress('BÜCHER.Example.')).toEqual({ address: '93.184.216.34', family: 4 })
    expect(asked).toEqual(['xn--bcher-kva.example'])
  })
})

describe('the allow-list', () => {
  test.each([['127.0.0.1'], ['127.0.0.0/8'], ['::ffff:127.0.0.0/104']])(
    '%s lets loopback pass',
    async (entry) => {
      const server = await startServer()
      const answer = await open([entry]).fetch(`${server.url}/path?q=1`)
      expect(answer).toMatchObject({ status: 200, body: Buffer.from('ok') })
      expect(server.requests).toMatchObject([{ method: 'GET', path: '/path?q=1' }])
    },
  )

  test('an address inside IPv6 is the address', async () => {
    const server = await startServer()
    const answer = await open(['127.0.0.1']).fetch(`http://[::ffff:127.0.0.1]:${server.port}/`)
    expect(answer.status).toBe(200)
  })

  test('a name, in any spelling, but not the address behind it', async () => {
    const server = await startServer()
    const { lookup } = scriptedLookup(['127.0.0.1'])
    const outbound = open(['Minio.Internal.'], lookup)
    expect((await outbound.fetch(`http://minio.internal:${server.port}/`)).status).toBe(200)
    await expect(outbound.fetch(server.url)).rejects.toThrow(OutboundRefused)
    await expect(outbound.fetch(`http://other.internal:${server.port}/`)).rejects.toThrow(OutboundRefused)
    expect(server.requests).toHaveLength(1)
  })

  test('a range opens nothing outside it', async () => {
    const outbound = open(['10.1.0.0/16', 'fd00::/8'])
    expect(await outbound.checkedAddress('10.1.2.3')).toEqual({ address: '10.1.2.3', family: 4 })
    expect(await outbound.checkedAddress('fd00::1')).toEqual({ address: 'fd00::1', family: 6 })
    await expect(outbound.checkedAddress('10.2.0.1')).rejects.toThrow(OutboundRefused)
    await expect(outbound.checkedAddress('fc00::1')).rejects.toThrow(OutboundRefused)
  })

  test('faulty entries are named, and never opened with', () => {
    const good = ['localhost', 'minio.internal', '10.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8', 'a_b.example']
    const faulty = [
      '',
      ' ',
      '10.0.0',
      '010.0.0.1',
      '10.0.0.0/33',
      '10.0/8',
      'http://a',
      'a:80',
      '*.a',
      'a b',
      'fe80::%1/64',
    ]
    expect(findFaultyAllowEntries([...good, ...faulty])).toEqual(faulty)
    expect(() => openOutbound({ allow: ['10.0.0.0/33'] })).toThrow('10.0.0.0/33')
  })
})

describe('agents for clients that others wrote', () => {
  async function getThrough(outbound: Outbound, url: string): Promise<number> {
    const agents = outbound.agents()
    closers.push(async () => agents.close())
    const request = url.startsWith('https:')
      ? httpsGet(url, { agent: agents.https })
      : httpGet(url, { agent: agents.http })
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    answer.resume()
    return answer.statusCode!
  }

  test.each(LOOPBACK_HOSTS)('refuse http and https to %s', async (host) => {
    const server = await startServer()
    const outbound = open([], localNames)
    for (const scheme of ['http', 'https']) {
      await expect(getThrough(outbound, `${scheme}://${host}:${server.port}/`)).rejects.toThrow(
        OutboundRefused,
      )
    }
    expect(server.connections).toBe(0)
  })

  test('tell a name that does not resolve from one that is refused', async () => {
    const outbound = open([], async (name) => (name === 'inner.example' ? [{ address: '10.0.0.1' }] : []))
    await expect(getThrough(outbound, 'http://nowhere.example/')).rejects.toThrow(OutboundUnresolved)
    await expect(getThrough(outbound, 'http://inner.example/')).rejects.not.toThrow(OutboundUnresolved)
  })

  test('dial what is allowed, by name and by address, with one lookup for one connection', async () => {
    const server = await startServer()
    const { lookup, asked } = scriptedLookup(['127.0.0.1'], ['127.0.0.2'])
    const outbound = open(['127.0.0.1'], lookup)
    expect(await getThrough(outbound, `http://127.0.0.1:${server.port}/`)).toBe(200)
    expect(await getThrough(outbound, `http://rebind.example:${server.port}/`)).toBe(200)
    expect(asked).toEqual(['rebind.example'])
    await expect(getThrough(outbound, `http://rebind.example:${server.port}/`)).rejects.toThrow(
      OutboundRefused,
    )
    expect(server.connections).toBe(2)
  })

  test('give up a connection on which nothing moves', async () => {
    const server = await startServer(() => {})
    const gate = openGate(parseAllowList(['127.0.0.1']), localNames)
    const agents = gatedAgents(gate, { connect_ms: 5000, idle_ms: 50 })
    closers.push(async () => agents.close())
    const request = httpGet(server.url, { agent: agents.http })
    await expect(once(request, 'response')).rejects.toMatchObject({ code: 'ESOCKETTIMEDOUT' })
    expect(server.requests).toHaveLength(1)
  })

  test('end the call at a certificate nobody trusts, whatever the environment says', async () => {
    const server = await startSmtpServer({ tls: 'implicit' })
    closers.push(() => server.close())
    await withoutTlsChecks(async () => {
      const failed = getThrough(open(['127.0.0.1']), `https://127.0.0.1:${server.port}/`)
      await expect(failed).rejects.toMatchObject({ code: expect.stringMatching(/SELF_SIGNED|CERT/) })
    })
  })
})

describe('a name that changes its address between check and use', () => {
  test('the checked address is the one dialled: a later inner answer is not used', async () => {
    const server = await startServer()
    // 127.0.0.2 stands for the public address; nobody listens there, so only a second lookup could reach the server.
    const { lookup, asked } = scriptedLookup(['127.0.0.2'], ['127.0.0.1'])
    const outbound = open(['127.0.0.2'], lookup)
    const url = `http://rebind.example:${server.port}/`
    await expect(outbound.fetch(url, { timeout_ms: 1000 })).rejects.toThrow(OutboundFailed)
    expect(asked).toEqual(['rebind.example'])
    await expect(outbound.fetch(url)).rejects.toThrow(OutboundRefused)
    expect(server.connections).toBe(0)
  })

  test('one lookup for one connection', async () => {
    const server = await startServer((_req, res) => res.setHeader('connection', 'close').end('ok'))
    const { lookup, asked } = scriptedLookup(['127.0.0.1'], ['127.0.0.2'])
    const outbound = open(['127.0.0.1'], lookup)
    const url = `http://rebind.example:${server.port}/`
    expect((await outbound.fetch(url)).status).toBe(200)
    expect(asked).toHaveLength(1)
    await expect(outbound.fetch(url)).rejects.toThrow(OutboundRefused)
    expect(server.connections).toBe(1)
  })

  test('checkedAddress keeps the public answer and refuses the later one', async () => {
    const { lookup } = scriptedLookup(['93.184.216.34'], ['127.0.0.1'])
    const outbound = open([], lookup)
    expect(await outbound.checkedAddress('rebind.example')).toEqual({ address: '93.184.216.34', family: 4 })
    await expect(outbound.checkedAddress('rebind.example')).rejects.toThrow(OutboundRefused)
  })
})

describe('redirects', () => {
  const to = (location: string, status = 302): RequestListener => {
    return (_req, res) => res.writeHead(status, { location }).end('moved')
  }

  test('are not followed unless asked for', async () => {
    const inner = await startServer()
    const server = await startServer(to(`${inner.url}/next`))
    const answer = await open(['127.0.0.1']).fetch(server.url)
    expect(answer).toMatchObject({ status: 302, headers: { location: `${inner.url}/next` } })
    expect(inner.connections).toBe(0)
  })

  test('to a private address are refused', async () => {
    const inner = await startServer()
    const names: Lookup = async (name) => [{ address: name === 'good.example' ? '127.0.0.1' : '127.0.0.3' }]
    for (const location of [
      `${inner.url}/`,
      `http://[::ffff:127.0.0.1]:${inner.port}/`,
      `http://evil.example:${inner.port}/`,
      'file:///etc/passwd',
      'http://1.2.3.256/',
    ]) {
      const server = await startServer(to(location))
      const outbound = open(['good.example'], names)
      const url = `http://good.example:${server.port}/`
      await expect(outbound.fetch(url, { redirects: 3 })).rejects.toThrow(OutboundRefused)
      expect(server.requests).toHaveLength(1)
    }
    expect(inner.connections).toBe(0)
  })

  const secrets = { authorization: 'Bearer s3cret', Cookie: 'a=s3cret', 'X-Api-Key': 's3cret' }

  test('drop credentials across origins and keep the harmless headers', async () => {
    const other = await startServer()
    const server = await startServer(to(`${other.url}/next`, 307))
    const answer = await open(['127.0.0.1']).fetch(server.url, {
      method: 'POST',
      headers: { ...secrets, 'content-type': 'application/json' },
      body: '{}',
      redirects: 1,
    })
    expect(answer.status).toBe(200)
    expect(server.requests[0]?.headers).toMatchObject({ authorization: 'Bearer s3cret', cookie: 'a=s3cret' })
    expect(other.requests).toMatchObject([{ method: 'POST', path: '/next', body: '{}' }])
    expect(other.requests[0]?.headers).toMatchObject({ 'content-type': 'application/json' })
    expect(JSON.stringify(other.requests)).not.toContain('s3cret')
  })

  test('do not bring credentials back on the way home', async () => {
    const home: CountingServer = await startServer((req, res) =>
      req.url === '/home' ? res.end('home') : res.writeHead(302, { location: `${other.url}/` }).end(),
    )
    const other: CountingServer = await startServer((_req, res) =>
      res.writeHead(302, { location: `${home.url}/home` }).end(),
    )
    const answer = await open(['127.0.0.1']).fetch(home.url, { headers: secrets, redirects: 2 })
    expect(answer.body.toString()).toBe('home')
    expect(home.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer s3cret', undefined])
  })

  test('keep credentials within an origin', async () => {
    const server = await startServer((req, res) =>
      req.url === '/next' ? res.end('there') : res.writeHead(302, { location: '/next' }).end(),
    )
    await open(['127.0.0.1']).fetch(server.url, { headers: secrets, redirects: 1 })
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer s3cret',
      'Bearer s3cret',
    ])
  })

  test.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [302, 'PUT', 'PUT', 'body'],
    [307, 'POST', 'POST', 'body'],
    [308, 'POST', 'POST', 'body'],
  ] as const)('after %i a %s becomes a %s', async (status, method, then, body) => {
    const server = await startServer((req, res) =>
      req.url === '/next' ? res.end() : res.writeHead(status, { location: '/next' }).end(),
    )
    await open(['127.0.0.1']).fetch(server.url, { method, body: 'body', redirects: 1 })
    expect(server.requests[1]).toMatchObject({ method: then, path: '/next', body })
  })

  test('end at their limit', async () => {
    const server = await startServer(to('/again'))
    const failed = open(['127.0.0.1']).fetch(server.url, { redirects: 2 })
    await expect(failed).rejects.toMatchObject({ name: 'OutboundFailed', failure: 'redirect_limit' })
    expect(server.requests).toHaveLength(3)
  })
})

describe('requests and answers', () => {
  test('method, headers and body arrive; status, headers and body come back', async () => {
    const server = await startServer((_req, res) => {
      res.writeHead(
        418,
        [
          ['x-one', '1'],
          ['x-many', 'a'],
          ['x-many', 'b'],
        ].flat(),
      )
      res.end(Buffer.from([0, 255, 1]))
    })
    const answer = await open(['127.0.0.1']).fetch(server.url, {
      method: 'PUT',
      headers: { 'X-Signature': 'abc' },
      body: Buffer.from('héllo'),
    })
    expect(answer).toMatchObject({ status: 418, headers: { 'x-one': '1', 'x-many': 'a, b' } })
    expect(answer.body).toEqual(Buffer.from([0, 255, 1]))
    expect(server.requests).toMatchObject([
      { method: 'PUT', body: 'héllo', headers: { 'x-signature': 'abc', 'content-length': '6' } },
    ])
  })

  test('a login in the URL becomes a header, and the connection headers stay ours', async () => {
    const server = await startServer()
    await open(['127.0.0.1']).fetch(`http://us%40er:p%3Aw@127.0.0.1:${server.port}/`, {
      headers: { Host: 'inner.example', 'Transfer-Encoding': 'chunked', 'Content-Length': '99' },
    })
    expect(server.requests).toHaveLength(1)
    expect(server.requests[0]?.headers).toMatchObject({
      host: `127.0.0.1:${server.port}`,
      authorization: `Basic ${Buffer.from('us@er:p:w').toString('base64')}`,
    })
    expect(server.requests[0]?.headers).not.toHaveProperty('transfer-encoding')
  })

  test('a header with a line break is not sent', async () => {
    const server = await startServer()
    const failed = open(['127.0.0.1']).fetch(server.url, { headers: { 'x-a': 'b\r\nx-injected: s3cret' } })
    await expect(failed).rejects.toMatchObject({ failure: 'request' })
    expect(server.requests).toEqual([])
  })

  test('errors repeat neither the URL nor its secrets', async () => {
    const outbound = open(['127.0.0.1'], localNames)
    for (const url of [
      'http://user:s3cret@10.0.0.1/hook?token=s3cret',
      'http://s3cret.example/',
      'http://[s3cret',
      'http://a:%E0s3cret@127.0.0.1/',
      'http://127.0.0.1:1/s3cret',
    ]) {
      const error = await outbound.fetch(url, { timeout_ms: 2000 }).catch((caught: Error) => caught)
      expect(error).toBeInstanceOf(Error)
      const { message, stack, cause, ...fields } = error as Error
      expect(cause).toBeUndefined()
      expect(`${message} ${stack} ${JSON.stringify(fields)}`).not.toContain('s3cret')
    }
  })

  test('a server that is down is a failure of the connection, not a refusal', async () => {
    const failed = open(['127.0.0.1']).fetch('http://127.0.0.1:1/')
    await expect(failed).rejects.toMatchObject({ failure: 'connection', code: 'ECONNREFUSED' })
  })

  test('a certificate nobody trusts ends the call, whatever the environment says', async () => {
    const server = await startSmtpServer({ tls: 'implicit' })
    closers.push(() => server.close())
    await withoutTlsChecks(async () => {
      const failed = open(['127.0.0.1']).fetch(`https://127.0.0.1:${server.port}/`)
      await expect(failed).rejects.toMatchObject({
        failure: 'connection',
        code: expect.stringMatching(/SELF_SIGNED|CERT/),
      })
    })
  })
})

describe('limits', () => {
  test('an answer of the limit passes, one byte more does not', async () => {
    const server = await startServer((_req, res) => res.end(Buffer.alloc(1000)))
    const outbound = open(['127.0.0.1'])
    expect((await outbound.fetch(server.url, { max_bytes: 1000 })).body).toHaveLength(1000)
    const failed = outbound.fetch(server.url, { max_bytes: 999 })
    await expect(failed).rejects.toMatchObject({ failure: 'size_limit' })
  })

  test('an answer without end is cut off at the default limit', async () => {
    let sent = 0
    const server = await startServer((_req, res) => {
      const write = () => {
        while (!res.destroyed && res.write(Buffer.alloc(65_536))) sent += 65_536
      }
      res.on('drain', write)
      write()
    })
    await expect(open(['127.0.0.1']).fetch(server.url)).rejects.toMatchObject({ failure: 'size_limit' })
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  test.each([
    ['before the headers', (() => {}) as RequestListener],
    ['in the middle of the body', ((_req, res) => void res.write('begin')) as RequestListener],
  ])('a server that falls silent %s', async (_when, answer) => {
    const server = await startServer(answer)
    const began = Date.now()
    const failed = open(['127.0.0.1']).fetch(server.url, { timeout_ms: 150 })
    await expect(failed).rejects.toMatchObject({ failure: 'time_limit' })
    expect(Date.now() - began).toBeLessThan(5000)
    expect(server.requests).toHaveLength(1)
  })

  test('many calls that hang do not keep another to the same host waiting', async () => {
    const server = await startServer((request, response) => {
      if (request.url === '/well') response.end()
    })
    const outbound = open(['127.0.0.1'])
    const stop = new AbortController()
    const hanging = Array.from({ length: 100 }, () =>
      outbound.fetch(`${server.url}/hangs`, { timeout_ms: 60_000, signal: stop.signal }).catch(() => null),
    )
    expect(await outbound.fetch(`${server.url}/well`)).toMatchObject({ status: 200 })
    stop.abort()
    await Promise.all(hanging)
  })

  test('the time limit counts all hops together', async () => {
    const server = await startServer((_req, res) => {
      setTimeout(() => res.writeHead(302, { location: '/again' }).end(), 80)
    })
    const failed = open(['127.0.0.1']).fetch(server.url, { timeout_ms: 200, redirects: 1000 })
    await expect(failed).rejects.toMatchObject({ failure: 'time_limit' })
    expect(server.requests.length).toBeLessThan(4)
  })

  test('a lookup that takes too long is under the time limit too', async () => {
    const server = await startServer()
    let answer: (addresses: { address: string }[]) => void = () => {}
    const outbound = open(['127.0.0.1'], () => new Promise((resolve) => (answer = resolve)))
    const failed = outbound.fetch(`http://slow.example:${server.port}/`, { timeout_ms: 100 })
    await expect(failed).rejects.toMatchObject({ failure: 'time_limit' })

    // The connection that comes too late carries no request, which can only be watched for a while.
    answer([{ address: '127.0.0.1' }])
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(server.requests).toEqual([])
  })

  test('the caller may stop a call, with a reason of its own', async () => {
    const server = await startServer(() => {})
    const outbound = open(['127.0.0.1'])
    const reason = new Error('stopped')
    const controller = new AbortController()
    const stopped = outbound.fetch(server.url, { signal: controller.signal })
    setTimeout(() => controller.abort(reason), 50)
    await expect(stopped).rejects.toBe(reason)

    await expect(outbound.fetch(server.url, { signal: controller.signal })).rejects.toBe(reason)
    expect(server.requests).toHaveLength(1)
  })
})
