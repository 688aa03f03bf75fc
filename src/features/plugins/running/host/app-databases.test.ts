// Connections of apps to databases: a real PostgreSQL behind TLS, and everything that must not be reached.
import { createServer, type AddressInfo, type Server } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import {
  startPostgresServer,
  type PostgresProxy,
  type PostgresStandIn,
} from '../../../../../test/stand-ins/postgres.ts'
import { openOutbound } from '../../../../platform/outbound/outbound.ts'
import type { SqlAddress } from '../../../../platform/sandbox/sandbox.ts'
import { makeCertificate } from '../../../domains/fixture/certificate.ts'
import { AppDatabases } from './app-databases.ts'

const outbound = openOutbound({ allow: ['127.0.0.1'] })
const closed = openOutbound({ allow: [] })
let server: PostgresStandIn
let secure: PostgresProxy
let plain: PostgresProxy
let databases: AppDatabases
let opened: number[] = []
beforeAll(async () => {
  server = await startPostgresServer()
  const { pem, private_key_pem } = makeCertificate()
  secure = await server.openProxy({ cert: pem, key: private_key_pem })
  plain = await server.openProxy()
  databases = new AppDatabases(outbound, false)
})
afterEach(async () => {
  for (const id of opened) await databases.close(id)
  opened = []
})
afterAll(async () => {
  await secure.close()
  await plain.close()
  await server.close()
  await outbound.close()
  await closed.close()
})

const { signal } = new AbortController()

const at = (given: Partial<SqlAddress> = {}): SqlAddress => ({
  url: null,
  ...server.login,
  host: '127.0.0.1',
  port: secure.port,
  is_checked: false,
  ...given,
})
async function open(given: Partial<SqlAddress> = {}, by = signal): Promise<number> {
  const id = await databases.open(at(given), by)
  opened.push(id)
  return id
}
const ask = (id: number, text: string, values: unknown[] = [], by = signal) =>
  databases.query(id, { text, values }, by)

it('statements with values, and answers as the database writes them', async () => {
  const id = await open()
  await ask(id, 'CREATE TABLE sent (n int, doc jsonb, at timestamptz)')
  expect(
    await ask(id, 'INSERT INTO sent VALUES ($1, $2, $3), (2, NULL, NULL)', [
      1,
      '{"a":1}',
      '2026-11-01T00:00:00Z',
    ]),
  ).toMatchObject({ command: 'INSERT', count: 2 })
  expect(await ask(id, 'SELECT n, doc FROM sent ORDER BY n')).toEqual({
    command: 'SELECT',
    count: 2,
    fields: [
      { name: 'n', type: 23 },
      { name: 'doc', type: 3802 },
    ],
    rows: [
      ['1', '{"a": 1}'],
      ['2', null],
    ],
  })
  await expect(ask(id, 'SELECT * FROM missing')).rejects.toThrow('relation "missing" does not exist')
  expect((await ask(id, 'SELECT 1')).rows).toEqual([['1']])
})

it('an address as text, of which only user, password, host, port and database count', async () => {
  const { user, password, database } = server.login
  const url = `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${secure.port}/${database}?host=/tmp&sslmode=disable`
  const id = await open({ url })
  expect((await ask(id, 'SELECT current_user')).rows).toEqual([[user]])
})

it.each([
  ['a socket of the machine', { host: '/var/run/postgresql' }, /may not be called/],
  ['an address within', { host: '10.0.0.1' }, /may not be called/],
  ['metadata', { host: '169.254.169.254' }, /may not be called/],
  ['another protocol', { url: 'http://127.0.0.1/' }, /begins with postgres/],
  ['no host', { host: null }, /needs a host/],
  ['no port', { port: 70_000 }, /no port/],
  ['a wrong password', { password: 'wrong' }, /password authentication failed/],
  ['no password', { password: null }, /password/],
])('%s is refused', async (_what, given, message) => {
  await expect(open(given)).rejects.toThrow(message)
})

it('loopback is refused like any other address within, unless the operator allows it', async () => {
  await expect(new AppDatabases(closed, true).open(at(), signal)).rejects.toThrow(/may not be called/)
})

it('a certificate that nobody vouches for is refused if the app wants it checked', async () => {
  await expect(open({ is_checked: true })).rejects.toThrow(/cannot be reached|certificate/)
})

it('without TLS only where the operator allows it', async () => {
  await expect(open({ port: plain.port })).rejects.toThrow('offers no TLS')
  const lax = new AppDatabases(outbound, true)
  const id = await lax.open(at({ port: plain.port }), signal)
  expect((await lax.query(id, { text: 'SELECT 1', values: [] }, signal)).rows).toEqual([['1']])
  await lax.close(id)
})

it('five at once', async () => {
  for (let n = 0; n < 5; n++) await open()
  await expect(open()).rejects.toThrow('5 connections')
  await databases.close(opened.pop()!)
  expect(await open()).toBeGreaterThan(0)
})

it('an answer of more than 5 MB ends the connection, and so does the end of the call', async () => {
  const id = await open()
  await expect(ask(id, `SELECT repeat('x', 100000000)`)).rejects.toThrow('5 MB at most')
  await expect(ask(id, 'SELECT 1')).rejects.toThrow('was closed')
  const controller = new AbortController()
  const other = await open()
  const waiting = ask(other, 'SELECT pg_sleep(60)', [], controller.signal)
  controller.abort()
  await expect(waiting).rejects.toThrow('has ended')
  await expect(ask(other, 'SELECT 1')).rejects.toThrow('was closed')
})

it('a server that says nothing is left when the call ends', async () => {
  const silent: Server = createServer((socket) => socket.resume()).listen(0, '127.0.0.1')
  await new Promise((resolve) => silent.once('listening', resolve))
  const controller = new AbortController()
  const waiting = open({ port: (silent.address() as AddressInfo).port }, controller.signal)
  setTimeout(() => controller.abort(), 50)
  await expect(waiting).rejects.toThrow('has ended')
  await new Promise((resolve) => silent.close(resolve))
})
