// Connections that cost the server more than their owner: silent, slow, many, or never read from. A neighbour is served
// meanwhile, and clients that keep their connections are not broken.
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import type { Socket } from 'node:net'
import { expect } from 'vitest'
import { attack, attackEach, type Attack } from './attack.ts'
import { ATTACKER, startTarget, type Target } from './target.ts'

const PER_ADDRESS = 20
const ALL = 80
const PROXY = '127.0.0.99'
const MB = 1024 * 1024

type SocketWorld = { target: Target; close(): Promise<void> }

export async function openSocketWorld(): Promise<SocketWorld> {
  const target = await startTarget({
    MAX_CONNECTIONS: String(ALL),
    MAX_CONNECTIONS_PER_ADDRESS: String(PER_ADDRESS),
    HEADER_TIMEOUT_S: '1',
    IDLE_TIMEOUT_S: '2',
    TRUSTED_PROXIES: PROXY,
  })
  return { target, close: () => target.stop() }
}

type Client = {
  socket: Socket
  received(): string
  /** Resolves when the server closes the connection, with all that it said. */
  closed: Promise<string>
}

async function connected({ target }: SocketWorld, from = ATTACKER): Promise<Client> {
  const socket = target.open(from)
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  // A connection that is cut off says so by an error as well.
  socket.on('error', () => undefined)
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)))
  await once(socket, 'connect')
  return { socket, received: () => text, closed }
}

const several = (world: SocketWorld, count: number, from?: string) =>
  Promise.all(Array.from({ length: count }, () => connected(world, from)))
const endAll = (clients: readonly Client[]) => clients.forEach(({ socket }) => socket.destroy())
const isOpen = ({ socket }: Client) => !socket.destroyed

/** The server waits for a body that does not come: the connection is at work. */
async function atWork(world: SocketWorld): Promise<Client> {
  const client = await connected(world)
  client.socket.write('POST /e/ HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\nExpect: 100-continue\r\n\r\n')
  await expect.poll(client.received).toContain('100 Continue')
  return client
}

const GET = 'GET /_livez HTTP/1.1\r\nHost: x\r\n\r\n'

const MISUSES: [string, (client: Client) => void][] = [
  ['silent ones', () => undefined],
  ['those that stop within the first line', ({ socket }) => socket.write('GET /_li')],
  ['those that stop within the headers', ({ socket }) => socket.write(`${GET.slice(0, -2)}X-Slow: `)],
  [
    'those that send a header now and then',
    ({ socket }) => {
      socket.write(GET.slice(0, -2))
      const drip = setInterval(() => socket.write('X-Slow: 1\r\n'), 300)
      socket.once('close', () => clearInterval(drip))
    },
  ],
  ['idle ones after a request', ({ socket }) => socket.write(GET)],
  [
    'idle ones that send a blank line now and then',
    ({ socket }) => {
      socket.write(GET)
      const drip = setInterval(() => socket.write('\r\n'), 300)
      socket.once('close', () => clearInterval(drip))
    },
  ],
  ['those that send blank lines only', ({ socket }) => socket.write('\r\n\r\n\r\n')],
]

const misuses = attackEach<SocketWorld, (typeof MISUSES)[number]>(
  'S38',
  MISUSES,
  ([name]) => `connections are closed: ${name}`,
  async (world, [name, misuse]) => {
    const clients = await several(world, 10)
    clients.forEach(misuse)
    const said = await Promise.all(clients.map(({ closed }) => closed))
    // A browser that has connected ahead of time would take it for the answer to its first request.
    if (name === 'silent ones') expect(new Set(said)).toEqual(new Set(['']))
  },
)

export const attacks: Attack<SocketWorld>[] = [
  ...misuses,
  attack<SocketWorld>(
    'S38',
    'connections are closed: those that do not read their answers',
    async (world) => {
      const clients = await several(world, 5)
      for (const { socket } of clients) {
        socket.pause()
        // More than the buffers of both sides hold.
        socket.write('GET /api/schema/ HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(15))
      }
      // Only a write tells of an end that lies behind unread bytes.
      const gone = clients.map(async ({ socket }) => {
        const probe = setInterval(() => socket.write('\r\n'), 200)
        await new Promise((resolve) => socket.once('error', resolve).once('close', resolve))
        clearInterval(probe)
      })
      await Promise.all(gone)
    },
  ),

  attack<SocketWorld>('S38', 'idle ones make room for new ones, the oldest first', async (world) => {
    const early = await several(world, PER_ADDRESS)
    const late = await several(world, PER_ADDRESS)
    await Promise.all(early.map(({ closed }) => closed))
    const last = late.at(-1)!
    last.socket.write(GET)
    await expect.poll(last.received).toContain('200 OK')
    endAll(late)
  }),

  attack<SocketWorld>(
    'S38',
    'beside those at work another is turned away with 503, and a neighbour is not',
    async (world) => {
      const working = await Promise.all(Array.from({ length: PER_ADDRESS }, () => atWork(world)))
      expect(working.filter(isOpen)).toHaveLength(PER_ADDRESS)
      const answer = await (await connected(world)).closed
      expect(answer).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/)
      expect(answer.toLowerCase()).toContain('\r\nretry-after: 1\r\n')
      expect(answer.toLowerCase()).toContain('\r\nconnection: close\r\n')
      expect(answer).toContain('"code":"too_many_connections"')
      expect(working.filter(isOpen)).toHaveLength(PER_ADDRESS)
      endAll(working)
    },
  ),

  attack<SocketWorld>('S38', 'a proxy of ours may have more', async (world) => {
    const clients = await several(world, 2 * PER_ADDRESS, PROXY)
    for (const { socket } of clients) socket.write(GET)
    for (const { received } of clients) await expect.poll(received).toContain('200 OK')
    expect(clients.filter(isOpen)).toHaveLength(2 * PER_ADDRESS)
    endAll(clients)
  }),

  attack<SocketWorld>('S38', 'many addresses together: whoever has most gives way', async (world) => {
    const { target } = world
    const senders = ['127.0.0.71', '127.0.0.72', '127.0.0.73', '127.0.0.74']
    const clients = (await Promise.all(senders.map((from) => several(world, PER_ADDRESS, from)))).flat()
    expect((await target.send({ method: 'GET', path: '/_livez', from: '127.0.0.75' })).status).toBe(200)
    await expect.poll(() => clients.filter(isOpen).length).toBeLessThan(ALL)
    endAll(clients)
  }),

  attack<SocketWorld>(
    'S38',
    'of one client behind a proxy: those over the limit get 503, another client is served',
    async (world) => {
      const client = await connected(world, PROXY)
      const flood = `POST /e/ HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.5\r\nContent-Length: 2\r\n\r\n{}`
      const other =
        'GET /api/users/@me/ HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.6\r\nConnection: close\r\n\r\n'
      client.socket.write(flood.repeat(10 * PER_ADDRESS) + other)
      const statuses = [...(await client.closed).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
      expect(statuses).toHaveLength(10 * PER_ADDRESS + 1)
      expect(new Set(statuses.slice(0, -1))).toEqual(new Set(['401', '503']))
      expect(statuses.at(-1)).toBe('401')
    },
  ),

  attack<SocketWorld>(
    'S38',
    'bodies that are begun and never ended take up a bounded share',
    async (world) => {
      const { target } = world
      const clients = await several(world, 3)
      for (const { socket } of clients) {
        socket.write(`POST /batch/ HTTP/1.1\r\nHost: x\r\nContent-Length: ${20 * MB}\r\n\r\n`)
        socket.write(Buffer.alloc(19 * MB, ' '))
      }
      for (const { socket } of clients) await expect.poll(() => socket.writableLength).toBe(0)
      const large = { path: '/batch/', body: Buffer.alloc(18 * MB, ' '), from: ATTACKER }
      await expect.poll(async () => (await target.send(large)).status).toBe(503)
      const answer = await target.send(large)
      expect(answer).toMatchObject({
        status: 503,
        headers: { 'retry-after': '1' },
        body: { code: 'too_many_requests_underway' },
      })
      expect((await target.send({ ...large, from: '127.0.0.80' })).status).toBe(400)
      endAll(clients)
    },
  ),

  attack<SocketWorld>(
    'S38',
    'are told for how long, and served on the same connection until then',
    async (world) => {
      const client = await connected(world)
      for (let n = 1; n <= 5; n++) {
        client.socket.write(GET)
        await expect.poll(() => client.received().split('200 OK')).toHaveLength(n + 1)
      }
      expect(client.received().toLowerCase()).toContain('\r\nkeep-alive: timeout=2\r\n')
      endAll([client])
    },
  ),

  attack<SocketWorld>('S38', 'an agent of Node sends a hundred batches over two of them', async (world) => {
    const { target } = world
    const agent = new Agent({ keepAlive: true, maxSockets: 2 })
    const ports = new Set<number>()
    const send = () =>
      new Promise<number>((resolve, reject) => {
        const sent = request({ port: target.port, host: '127.0.0.1', method: 'POST', path: '/e/', agent })
        sent.on('error', reject)
        sent.on('response', (response) => {
          ports.add(response.socket.localPort!)
          response.resume().on('end', () => resolve(response.statusCode!))
        })
        sent.end(JSON.stringify({ api_key: target.token, event: 'kept', distinct_id: 'd' }))
      })
    expect(new Set(await Promise.all(Array.from({ length: 100 }, send)))).toEqual(new Set([200]))
    expect(ports.size).toBe(2)
    agent.destroy()
  }),
]
