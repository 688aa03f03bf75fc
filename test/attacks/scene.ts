// A running program with two organizations in it, one of everything in each, and the servers around it: mail, names, one
// outside that may be called, and one inside that must hear nothing.
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { everyConfig } from '../../src/features/batch-exports/fixture/every-kind.ts'
import type { Env } from '../end-to-end/program.ts'
import { makeWorld, type World } from '../every-route-world.ts'
import type { Reply } from '../harness/app.ts'
import { Canary } from '../harness/canary.ts'
import { startDnsServer, type DnsStandIn } from '../stand-ins/dns.ts'
import { startSmtpServer, type SmtpStandIn } from '../stand-ins/smtp.ts'
import { startWebhookServer, type Reaction, type WebhookStandIn } from '../stand-ins/webhook-server.ts'
import { startTarget, type Target } from './target.ts'

/** Addresses of this machine: the one that OUTBOUND_ALLOW opens, and a proxy of ours. */
export const OUTSIDE = '127.0.0.77'
export const PROXY = '127.0.0.99'
/** Public, and given back by those who had it, so that nobody can be called. */
export const NOWHERE = '3ffe::1'

const NAMES = ['db', 's3', 'token', 'capture', 'azure', 'databricks', 'clickhouse', 'other', 'mine'].map(
  (name) => `${name}.example`,
)

export type Call = {
  key?: string | null
  session?: string
  /** A text goes as it is. */
  body?: unknown
  headers?: Record<string, string>
  from?: string
}

/** How it answers; a promise that stays open is silence. */
type Outside = { react: Reaction | Promise<Reaction> }

/** Nobody may be heard here. */
export type Inner = { port: number; connections: number }

export type Scene = Omit<World, 'home' | 'foreign'> & {
  target: Target
  dns: DnsStandIn
  smtp: SmtpStandIn
  outside: WebhookStandIn & Outside
  inner: Inner
  /** The organization of those who attack; they have no rights in the other. */
  home: World['home']
  victim: World['home']
  canary: Canary
  call(method: string, path: string, call?: Call): Promise<Reply>
  /** Path of the exports in the attackers' project. */
  exports: string
  close(): Promise<void>
}

// One that signs, lest BigQuery fail before it calls anybody.
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PRIVATE_KEY = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

/** A complete configuration of each kind of destination. */
export const CONFIGS = everyConfig((name) => (name === 'private_key' ? PRIVATE_KEY : `stored ${name} 7f3a`))

export async function openScene(env: Env = {}): Promise<Scene> {
  const [dns, smtp, inner] = await Promise.all([startDnsServer(), startSmtpServer(), listenInside()])
  for (const name of [...NAMES, 'acme.snowflakecomputing.com']) dns.setAddresses(name, [NOWHERE])
  dns.setAddresses('localhost', ['127.0.0.1', '::1'])
  const reacts: Outside = { react: { status: 200 } }
  const outside = Object.assign(reacts, await startWebhookServer(() => reacts.react, OUTSIDE))
  const target = await startTarget({
    SMTP_URL: smtp.url,
    DNS_SERVERS: dns.address,
    OPEN_SIGNUP: 'on',
    TRUSTED_PROXIES: PROXY,
    OUTBOUND_ALLOW: OUTSIDE,
    QUERY_TIMEOUT_S: '2',
    EVENT_MEMORY_MB: '256',
    MAX_KEYS_PER_USER: '1000',
    TEST_NAME_SERVER: dns.address,
    NODE_OPTIONS: `--require ${join(import.meta.dirname, '../stand-ins/system-resolver.cjs')}`,
    ...env,
  })
  const call = (method: string, path: string, options: Call = {}) => callTarget(target, method, path, options)
  const canary = new Canary()
  const maker = {
    db: target.db,
    canary,
    services: { now: () => new Date() },
    post: (path: string, body?: unknown, options?: Call) =>
      call('POST', path, { body: body ?? {}, ...options }),
  }
  const { foreign: victim, ...world } = await makeWorld(maker)
  return {
    ...world,
    victim,
    target,
    dns,
    smtp,
    outside,
    inner,
    canary,
    call,
    exports: `/api/projects/${world.home.project.id}/batch_exports/`,
    async close() {
      await target.stop()
      await Promise.all([dns.close(), smtp.close(), outside.close(), inner.close()])
      canary.assertAbsent(target.stdout() + target.stderr(), 'the log')
    },
  }
}

async function callTarget(target: Target, method: string, path: string, call: Call): Promise<Reply> {
  const { key, session, body, headers, from } = call
  const isText = typeof body === 'string'
  const answer = await target.send({
    method,
    path,
    headers: {
      ...(key ? { authorization: `Bearer ${key}` } : {}),
      ...(session ? { cookie: `sessionid=${session}` } : {}),
      ...(body === undefined || isText ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    ...(from ? { from } : {}),
  })
  const cookie = [answer.headers['set-cookie'] ?? ''].flat().join()
  return { ...answer, session: /^sessionid=([^;]*)/.exec(cookie)?.[1] }
}

async function listenInside(): Promise<Inner & { close(): Promise<unknown> }> {
  const server = createServer((socket) => {
    inner.connections++
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const inner = {
    port: (server.address() as AddressInfo).port,
    connections: 0,
    close: () => once(server.close(), 'close'),
  }
  return inner
}
