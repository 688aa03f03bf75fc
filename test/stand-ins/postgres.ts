// A PostgreSQL of its own for tests of what connects to users' databases: logins by password, and a way in over TCP on
// loopback that can speak TLS, counts what the client asks, and cuts the connection where a test wants it.
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import pg from 'pg'
import { openEmbeddedPostgres } from '../../src/platform/db/embedded/embedded.ts'
import { openLog } from '../../src/platform/log/log.ts'

export type PostgresStandIn = {
  /** As superuser. */
  admin: pg.Pool
  /** Who may log in by password, to a database of their own. */
  login: { user: string; password: string; database: string }
  openProxy(tls?: { key: string; cert: string }): Promise<PostgresProxy>
  close(): Promise<void>
}

export type PostgresProxy = {
  port: number
  /** Names that clients gave for the server in TLS. */
  names: string[]
  /** Exchanges since `reset`, and the one to cut: see World. */
  reset(): void
  count(): number
  cutAt(exchange: number, when: 'before' | 'after'): void
  /** Calls back as soon as the client has sent this in a statement. */
  onStatement(part: string, then: () => void): void
  close(): Promise<void>
}

const LOGIN = { user: 'exporter', password: 'pass word 7$', database: 'warehouse' }

export async function startPostgresServer(): Promise<PostgresStandIn> {
  const folder = await mkdtemp(join(tmpdir(), 'longshore-warehouse-'))
  await chmod(folder, 0o755)
  const hba_file = join(folder, 'hba.conf')
  await writeFile(hba_file, 'local all longshore trust\nlocal all all scram-sha-256\n', { mode: 0o644 })
  const settings = { hba_file, fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }
  const log = openLog({ level: 'error', format: 'json' })
  const server = await openEmbeddedPostgres({ dataDir: folder, log, role: 'server', settings })
  const { database: _own, ...connection } = server.connection
  const first = new pg.Client(server.connection)
  await first.connect()
  await first.query(`CREATE ROLE ${LOGIN.user} LOGIN PASSWORD '${LOGIN.password}'`)
  await first.query(`CREATE DATABASE ${LOGIN.database} OWNER ${LOGIN.user}`)
  await first.end()
  const admin = new pg.Pool({ ...connection, database: LOGIN.database, max: 3 })
  admin.on('error', () => undefined)
  return {
    admin,
    login: LOGIN,
    openProxy: (tls) => openProxy(join(connection.host, `.s.PGSQL.${connection.port}`), tls ?? null),
    async close() {
      await admin.end()
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

type Watch = {
  count: number
  cut: { exchange: number; when: 'before' | 'after' } | null
  statements: Map<string, () => void>
}

async function openProxy(path: string, tls: { key: string; cert: string } | null): Promise<PostgresProxy> {
  const watch: Watch = { count: 0, cut: null, statements: new Map() }
  const open = new Set<Socket>()
  const names: string[] = []
  const server = createServer((raw) => {
    open.add(raw)
    raw.on('error', () => undefined).on('close', () => open.delete(raw))
    raw.once('data', (first: Buffer) => {
      if (!first.equals(TLS_REQUEST)) {
        relay(raw, path, watch)
        return raw.emit('data', first)
      }
      raw.write(tls === null ? 'N' : 'S')
      if (tls === null) return
      const secure = new TLSSocket(raw, {
        isServer: true,
        ...tls,
        SNICallback: (name, done) => {
          names.push(name)
          done(null)
        },
      })
      relay(secure, path, watch)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    names,
    reset: () => {
      watch.count = 0
      watch.cut = null
    },
    count: () => watch.count,
    cutAt: (exchange, when) => {
      watch.cut = { exchange, when }
    },
    onStatement: (part, then) => void watch.statements.set(part, then),
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** What a client asks before anything else when it wants TLS. */
const TLS_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** Parts of one request: the server acts on none of them before the last, if they come together. */
const CONTINUED = new Set(['P', 'B', 'D', 'E', 'C', 'H'])
/** The server has acted: it is ready, waits for the rows of a COPY, or goes on with the login. */
const ANSWERED = new Set(['Z', 'G', 'R'])

function relay(client: Socket, path: string, watch: Watch): void {
  const server = connect(path)
  const end = () => {
    client.destroy()
    server.destroy()
  }
  let is_muted = false
  let held: Buffer[] = []
  const forward = (message: Buffer, type: string) => {
    held.push(message)
    if (CONTINUED.has(type)) return
    const request = Buffer.concat(held)
    held = []
    watch.count += 1
    for (const [part, then] of watch.statements) if (request.includes(part)) then()
    const cut = watch.cut?.exchange === watch.count ? watch.cut.when : null
    if (cut === 'before') return end()
    is_muted ||= cut === 'after'
    server.write(request)
    // Rows of a COPY and the goodbye are never answered.
    if (cut === 'after' && (type === 'd' || type === 'X')) setImmediate(end)
  }
  // The first message, the start of the session, has no letter.
  client.on('data', framed(false, forward))
  const watchAnswers = framed(true, (_message, type) => {
    if (is_muted && ANSWERED.has(type)) end()
  })
  server.on('data', (bytes: Buffer) => {
    if (!is_muted) client.write(bytes)
    watchAnswers(bytes)
  })
  for (const socket of [client, server]) socket.on('error', end).on('close', end)
}

/** Cuts a stream of bytes into messages: a letter, except for the first where told, and a length that counts itself. */
function framed(has_letter_at_first: boolean, each: (message: Buffer, type: string) => void) {
  let rest = Buffer.alloc(0)
  let letters = has_letter_at_first ? 1 : 0
  return (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes])
    while (rest.length >= letters + 4 && rest.length >= letters + rest.readInt32BE(letters)) {
      const end = letters + rest.readInt32BE(letters)
      const message = rest.subarray(0, end)
      rest = rest.subarray(end)
      each(message, letters === 0 ? '' : String.fromCharCode(message[0]!))
      letters = 1
    }
  }
}
