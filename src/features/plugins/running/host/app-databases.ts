// Connections of one app to databases that speak PostgreSQL's protocol: to addresses that the outbound gate has checked,
// under TLS, few, and not for long. Nothing of the driver's own is left to chance: it would read our environment, a
// password file, or a socket's path out of an address.
import { isIP, Socket } from 'node:net'
import pg from 'pg'
import { OutboundRefused } from '../../../../platform/outbound/errors.ts'
import type { Outbound } from '../../../../platform/outbound/outbound.ts'
import { clientOfStranger } from '../../../../platform/outbound/postgres/client.ts'
import { AnswerTooLong } from '../../../../platform/outbound/postgres/message-guard.ts'
import type { SqlAddress, SqlAnswer, SqlQuery } from '../../../../platform/sandbox/sandbox.ts'
import { HostError } from './host-error.ts'

const MAX_CONNECTIONS = 5
const CONNECT_MS = 10_000
const QUERY_MS = 30_000
/** Longer than a call: between calls no connection is kept. */
const IDLE_MS = 30_000
const MAX_ANSWER_BYTES = 5 * 1024 * 1024
const DEFAULT_PORT = 5432

type Place = { host: string; port: number; user: string; password: string; database: string }
type Connection = { client: pg.Client; socket: Socket; idle: NodeJS.Timeout }

export class AppDatabases {
  readonly #connections = new Map<number, Connection>()
  #opening = 0
  #last_id = 0

  constructor(
    private readonly outbound: Outbound,
    private readonly allow_plaintext: boolean,
  ) {}

  async open(address: SqlAddress, signal: AbortSignal): Promise<number> {
    const place = readPlace(address)
    if (this.#connections.size + this.#opening >= MAX_CONNECTIONS)
      throw new HostError(`An app can have ${MAX_CONNECTIONS} connections to databases at once: end some.`)
    this.#opening++
    try {
      const checked = await this.#checked(place.host)
      const { client, socket } = await dial(place, checked, address.is_checked, signal).catch(
        (error: unknown) => {
          if (!offersNoTls(error)) throw error
          if (!this.allow_plaintext)
            throw new HostError('The database server offers no TLS, which is required. Turn it on there.')
          return dial(place, checked, null, signal)
        },
      )
      const id = ++this.#last_id
      const idle = setTimeout(() => this.#drop(id), IDLE_MS).unref()
      this.#connections.set(id, { client, socket, idle })
      socket.once('close', () => this.#drop(id))
      return id
    } catch (error) {
      throw explained(error)
    } finally {
      this.#opening--
    }
  }

  async query(id: number, { text, values }: SqlQuery, signal: AbortSignal): Promise<SqlAnswer> {
    const connection = this.#connections.get(id)
    if (!connection) throw new HostError('The connection to the database was closed.')
    const { client, socket, idle } = connection
    const limit = stopAt(socket, signal)
    try {
      // Values are text, numbers, truth values and lists of them; the answer is the database's own text.
      const config = { text, values: [...values], rowMode: 'array' as const, types: AS_TEXT }
      const results = (await client.query(config)) as unknown as Raw | Raw[]
      const result = Array.isArray(results) ? results.at(-1)! : results
      return {
        command: result.command ?? '',
        count: result.rowCount,
        fields: (result.fields ?? []).map(({ name, dataTypeID }) => ({ name, type: dataTypeID })),
        rows: result.rows,
      }
    } catch (error) {
      if (error instanceof AnswerTooLong) this.#drop(id)
      throw limit.reason === null ? explained(error) : new HostError(limit.reason)
    } finally {
      limit.end()
      idle.refresh()
    }
  }

  async close(id: number): Promise<void> {
    const connection = this.#connections.get(id)
    if (!connection) return
    this.#connections.delete(id)
    clearTimeout(connection.idle)
    const { client, socket } = connection
    const closed = client.end().catch(() => undefined)
    // Whoever does not answer is not waited for.
    const timer = setTimeout(() => socket.destroy(), CONNECT_MS).unref()
    await closed
    clearTimeout(timer)
    socket.destroy()
  }

  #drop(id: number): void {
    const connection = this.#connections.get(id)
    this.#connections.delete(id)
    if (!connection) return
    clearTimeout(connection.idle)
    connection.socket.destroy()
  }

  async #checked(host: string): Promise<string> {
    try {
      return (await this.outbound.checkedAddress(host)).address
    } catch (error) {
      throw error instanceof OutboundRefused ? new HostError(error.message) : error
    }
  }
}

type Raw = {
  command: string | null
  rowCount: number | null
  rows: (string | null)[][]
  fields?: { name: string; dataTypeID: number }[]
}

const AS_TEXT = { getTypeParser: () => (text: string) => text }

/** `is_checked` null: without TLS. */
async function dial(
  { host, port, user, password, database }: Place,
  address: string,
  is_checked: boolean | null,
  signal: AbortSignal,
): Promise<{ client: pg.Client; socket: Socket }> {
  signal.throwIfAborted()
  // Our own socket: to destroy it is the one way of stopping that works in every state of the protocol.
  const socket = new Socket()
  const tls = { rejectUnauthorized: is_checked !== false, ...(isIP(host) ? {} : { servername: host }) }
  const client = clientOfStranger({
    socket,
    max_answer_bytes: MAX_ANSWER_BYTES,
    host: address,
    port,
    user,
    // As text, an empty one would be looked for in the environment.
    password: () => password,
    database,
    ssl: is_checked === null ? false : tls,
    connectionTimeoutMillis: CONNECT_MS,
    application_name: 'longshore-app',
  })
  const limit = stopAt(socket, signal)
  try {
    await client.connect()
    return { client, socket }
  } catch (error) {
    socket.destroy()
    throw limit.reason === null ? error : new HostError(limit.reason)
  } finally {
    limit.end()
  }
}

/** Ends the connection when the app no longer waits, or nothing comes for too long. */
function stopAt(socket: Socket, signal: AbortSignal) {
  const limit: { reason: string | null; end(): void } = { reason: null, end }
  const stop = (reason: string) => {
    limit.reason ??= reason
    socket.destroy()
  }
  const abort = () => stop('The call of the app has ended.')
  const timer = setTimeout(() => stop('The database did not answer within 30 seconds.'), QUERY_MS)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  return limit

  function end(): void {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}

function readPlace({ url, user, password, host, port, database }: SqlAddress): Place {
  const given = url === null ? { user, password, host, port, database } : readUrl(url)
  const { user: name, host: server } = given
  if (!server || !name) throw new HostError('A database needs a host and a user.')
  const number = given.port ?? DEFAULT_PORT
  if (number < 1 || number > 65_535) throw new HostError('This is no port.')
  return {
    host: server,
    port: number,
    user: name,
    password: given.password ?? '',
    database: given.database || name,
  }
}

/** Parameters of the address count for nothing: they could name another host. */
function readUrl(text: string): Omit<SqlAddress, 'url' | 'is_checked'> {
  if (!URL.canParse(text)) throw new HostError('The address of the database cannot be read.')
  const { protocol, username, password, hostname, port, pathname } = new URL(text)
  if (protocol !== 'postgres:' && protocol !== 'postgresql:')
    throw new HostError('The address of a database begins with postgres://')
  try {
    return {
      user: decodeURIComponent(username),
      password: decodeURIComponent(password),
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? null : Number(port),
      database: decodeURIComponent(pathname.slice(1)),
    }
  } catch {
    throw new HostError('The address of the database cannot be read.')
  }
}

/** The driver has no code for it. */
function offersNoTls(error: unknown): boolean {
  return error instanceof Error && error.message === 'The server does not support SSL connections'
}

/** What the database says of a statement is for the app; what the system says of the connection is put into our words. */
function explained(error: unknown): unknown {
  if (error instanceof HostError || !(error instanceof Error)) return error
  if (error instanceof AnswerTooLong) return new HostError('An answer of a database may have 5 MB at most.')
  if (error instanceof pg.DatabaseError) return new HostError(error.message)
  // The driver's own word on a password that is missing, or a server that cannot prove that it knows it.
  if (error.message.startsWith('SASL')) return new HostError(error.message)
  const code = 'code' in error ? ` (${String(error.code)})` : ''
  return new HostError(`The database server cannot be reached, or the connection was lost${code}.`)
}
