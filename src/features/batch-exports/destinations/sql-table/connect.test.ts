// Getting through to a database, and what is said when one does not: TLS, logins, names, silence, and no secrets.
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  startPostgresServer,
  type PostgresProxy,
  type PostgresStandIn,
} from '../../../../../test/stand-ins/postgres.ts'
import { openOutbound } from '../../../../platform/outbound/outbound.ts'
import { makeCertificate } from '../../../domains/fixture/certificate.ts'
import { Passing, Refused, Unreachable, type DestinationKind } from '../destination.ts'
import { postgresKind } from '../postgres/kind.ts'
import { postgres } from '../postgres/postgres.ts'
import { ATTEMPTS_OF_RUNS, ATTEMPTS_OF_TESTS, connect, type ConnectContext } from './connect.ts'
import { openSqlWorld, type SqlWorld } from './fixture/world.ts'

let server: PostgresStandIn
let plain: PostgresProxy
let secure: PostgresProxy
beforeAll(async () => {
  server = await startPostgresServer()
  const { pem, private_key_pem } = makeCertificate()
  plain = await server.openProxy()
  secure = await server.openProxy({ cert: pem, key: private_key_pem })
})
afterAll(async () => {
  await plain.close()
  await secure.close()
  await server.close()
})

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

type Change = Partial<ConnectContext['config']> & { allow_plaintext?: boolean; signal?: AbortSignal }

function contextOf({ allow_plaintext = false, signal, ...change }: Change): ConnectContext {
  const outbound = openOutbound({
    allow: ['127.0.0.1', 'db.example'],
    lookup: async (name) => (name === 'db.example' ? [{ address: '127.0.0.1' }] : []),
  })
  closers.push(() => outbound.close())
  return {
    config: { ...server.login, host: '127.0.0.1', port: plain.port, has_self_signed_cert: false, ...change },
    outbound,
    settings: { export_folder: '/nowhere', allow_plaintext },
    signal: signal ?? new AbortController().signal,
  }
}

async function failure(change: Change, attempts = ATTEMPTS_OF_TESTS): Promise<Error> {
  const context = contextOf(change)
  const error = await connect(context, attempts).then(
    () => new Error('it got through'),
    (caught: unknown) => caught as Error,
  )
  for (const secret of [context.config.password, context.config.user])
    expect(error.message).not.toContain(secret)
  return error
}

/** Something on loopback that is no database. */
async function listen(serve: (socket: Socket) => void): Promise<{ port: number; calls(): number }> {
  let calls = 0
  const listener: Server = createServer((socket) => {
    calls += 1
    socket.on('error', () => undefined)
    closers.push(() => socket.destroy())
    serve(socket)
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  closers.push(() => listener.close())
  return { port: (listener.address() as AddressInfo).port, calls: () => calls }
}

describe('TLS', () => {
  it('a server without it is refused, and the login stays here', async () => {
    plain.reset()
    expect(await failure({})).toBeInstanceOf(Refused)
    expect(plain.count()).toBe(0)
  })

  it('a server without it is fine where that is allowed', async () => {
    const session = await connect(contextOf({ allow_plaintext: true }), ATTEMPTS_OF_TESTS)
    expect(await session.rows('SELECT 1 AS one')).toEqual([{ one: 1 }])
    await session.close()
  })

  it('a certificate nobody vouches for is refused, also where plain connections are allowed', async () => {
    secure.reset()
    const error = await failure({ port: secure.port, allow_plaintext: true })
    expect(error).toBeInstanceOf(Refused)
    expect(error.message).toMatch(/certificate.*SELF_SIGNED/)
    expect(secure.count()).toBe(0)
  })

  it('and taken when the user says so; the name is told, the checked address dialled', async () => {
    const context = contextOf({ host: 'db.example', port: secure.port, has_self_signed_cert: true })
    const session = await connect(context, ATTEMPTS_OF_TESTS)
    expect(await session.rows('SELECT current_user AS name')).toEqual([{ name: server.login.user }])
    await session.close()
    expect(secure.names).toEqual(['db.example'])
  })
})

describe('refusals', () => {
  it.each([
    ['a wrong password', { password: 'wrong password' }, '28P01'],
    ['an unknown user', { user: 'somebody' }, '28P01'],
    ['an unknown database', { database: 'nowhere' }, '3D000'],
  ])('%s is the user’s matter and tried once', async (_what, change, state) => {
    plain.reset()
    const error = await failure({ allow_plaintext: true, ...change }, ATTEMPTS_OF_RUNS)
    expect(error).toBeInstanceOf(Refused)
    expect(error.message).toContain(state)
    expect(plain.count()).toBeLessThan(5)
  })

  it('an address the gate refuses is never dialled', async () => {
    const { port, calls } = await listen(() => undefined)
    const context = contextOf({ port })
    const outbound = openOutbound({ allow: [] })
    closers.push(() => outbound.close())
    await expect(connect({ ...context, outbound }, ATTEMPTS_OF_RUNS)).rejects.toBeInstanceOf(Refused)
    expect(calls()).toBe(0)
  })
})

describe('nobody there', () => {
  it('a name without an address and a port without a listener are out of reach', async () => {
    expect(await failure({ host: 'gone.example' })).toBeInstanceOf(Unreachable)
    expect(await failure({ port: 1 })).toMatchObject({ message: expect.stringContaining('ECONNREFUSED') })
    expect(await failure({ port: 1 })).toBeInstanceOf(Unreachable)
  })

  it('a run tries five times, a test once', async () => {
    const { port, calls } = await listen((socket) => socket.destroy())
    expect(await failure({ port }, ATTEMPTS_OF_TESTS)).toBeInstanceOf(Unreachable)
    expect(calls()).toBe(1)
    expect(await failure({ port }, ATTEMPTS_OF_RUNS)).toBeInstanceOf(Unreachable)
    expect(calls()).toBe(6)
  })

  it('something that answers and is no database is out of reach', async () => {
    const { port } = await listen((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    expect(await failure({ port, allow_plaintext: true })).toBeInstanceOf(Unreachable)
  })

  it('a server that is full will have room later', async () => {
    const message = Buffer.from('SFATAL\0VFATAL\0C53300\0Msorry, too many clients already\0\0')
    const head = Buffer.from([0x45, 0, 0, 0, message.length + 4])
    const { port, calls } = await listen((socket) =>
      socket.on('data', (request: Buffer) =>
        request.length === 8 ? socket.write('N') : socket.end(Buffer.concat([head, message])),
      ),
    )
    expect(await failure({ port, allow_plaintext: true }, ATTEMPTS_OF_RUNS)).toBeInstanceOf(Passing)
    expect(calls()).toBe(ATTEMPTS_OF_RUNS * 2)
  })

  it('a stop ends the wait for a silent server at once, with its reason', async () => {
    const { port } = await listen(() => undefined)
    const controller = new AbortController()
    const reason = new Error('cancelled')
    const waiting = connect(contextOf({ port, signal: controller.signal }), ATTEMPTS_OF_RUNS)
    setTimeout(() => controller.abort(reason), 50)
    await expect(waiting).rejects.toBe(reason)
  })
})

describe('test steps', () => {
  let world: SqlWorld
  const stepAt = async (index: number, change: Record<string, unknown> = {}) => {
    const { config, outbound, settings } = world
    const context = {
      config: postgresKind.config.parse({ ...config, ...change }),
      outbound,
      settings,
      signal: new AbortController().signal,
    }
    return await postgres.steps[index]!.run(context).then(
      () => 'passed',
      (error: unknown) => (error as Error).message,
    )
  }
  const open = async () => {
    world = await openSqlWorld(server, postgresKind as unknown as DestinationKind)
    closers.push(() => world.close())
  }

  it('each says what its part of the way lacks', async () => {
    await open()
    expect(await stepAt(0, { password: 'wrong' })).toContain('28P01')
    expect(await stepAt(1, { schema: 'nowhere' })).toBe(
      'There is no schema "nowhere" in this database. Create it, or correct `schema`.',
    )
    const schema = `"${world.schema.replaceAll('"', '""')}"`
    await server.admin.query(
      `ALTER SCHEMA ${schema} OWNER TO longshore; GRANT USAGE ON SCHEMA ${schema} TO exporter`,
    )
    expect(await stepAt(1)).toBe('passed')
    expect(await stepAt(2)).toContain('42501')
    await server.admin.query(`CREATE TABLE ${world.table} (uuid text)`)
    expect(await stepAt(2)).toContain('42501')
    await server.admin.query(`GRANT SELECT, INSERT ON ${world.table} TO exporter`)
    expect(await stepAt(2)).toBe('passed')
    expect(await world.leftovers()).toEqual([])
    expect(await world.rows()).toEqual([])
  })
})
