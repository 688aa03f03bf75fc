// A connection to a user's database that speaks PostgreSQL's protocol: to the address that the outbound gate has checked,
// under TLS, and gone at once when the run is stopped.
import { isIP, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { errorCode } from '../../../../lib/error-code.ts'
import { OutboundRefused, OutboundUnresolved } from '../../../../platform/outbound/errors.ts'
import { clientOfStranger } from '../../../../platform/outbound/postgres/client.ts'
import { Passing, Refused, Unreachable, type DeliveryContext } from '../destination.ts'
import { failureOf } from './failures.ts'
import { openSession, type Session } from './session.ts'

export type ServerConfig = {
  host: string
  port: number
  user: string
  password: string
  database: string
  has_self_signed_cert: boolean
}

export type ConnectContext = Pick<
  DeliveryContext<ServerConfig>,
  'config' | 'outbound' | 'settings' | 'signal'
>

const CONNECT_LIMIT_MS = 30_000
const FIRST_PAUSE_MS = 100
const KEEP_ALIVE_MS = 30_000
/** Exports ask for names, counts and digests. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024

export const ATTEMPTS_OF_RUNS = 5
/** Somebody waits for the answer. */
export const ATTEMPTS_OF_TESTS = 1

/** Starting up, going down, or full: the server is there and will answer later. */
const BUSY_STATES = new Set(['53300', '57P01', '57P02', '57P03'])
const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ETIMEDOUT',
])

export async function connect(context: ConnectContext, attempts: number): Promise<Session> {
  for (let attempt = 1; ; attempt++) {
    const failure = await tryToConnect(context)
    if (!(failure instanceof Error)) return failure
    const is_passing = failure instanceof Unreachable || failure instanceof Passing
    if (!is_passing || attempt === attempts) throw failure
    const pause_ms = FIRST_PAUSE_MS * 2 ** (attempt - 1)
    await sleep(pause_ms, undefined, { signal: context.signal }).catch(() => undefined)
    context.signal.throwIfAborted()
  }
}

async function tryToConnect(context: ConnectContext): Promise<Session | Error> {
  const { config, outbound, settings, signal } = context
  try {
    // Asked for every attempt: what the name means may have changed.
    const { address } = await outbound.checkedAddress(config.host)
    signal.throwIfAborted()
    return await dial(context, address, 'tls').catch((error: unknown) => {
      if (!offersNoTls(error) || !settings.allow_plaintext) throw error
      return dial(context, address, 'plain')
    })
  } catch (error) {
    if (signal.aborted) throw signal.reason
    return connectFailure(error, [config.password, config.user])
  }
}

async function dial(
  { config, signal }: ConnectContext,
  address: string,
  transport: 'tls' | 'plain',
): Promise<Session> {
  // Our own socket: to destroy it is the one way of stopping that works in every state of the protocol.
  const socket = new Socket()
  const client = clientOfStranger({
    socket,
    max_answer_bytes: MAX_ANSWER_BYTES,
    host: address,
    port: config.port,
    user: config.user,
    password: config.password,
    database: config.database,
    ssl: transport === 'tls' ? tlsOptions(config) : false,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: 'longshore',
  })
  const stop = () => void socket.destroy()
  signal.addEventListener('abort', stop, { once: true })
  socket.once('close', () => signal.removeEventListener('abort', stop))
  try {
    await client.connect()
  } catch (error) {
    socket.destroy()
    throw error
  }
  return openSession({ client, socket, signal, secrets: [config.password, config.user] })
}

function tlsOptions({ host, has_self_signed_cert }: ServerConfig) {
  // Said aloud because NODE_TLS_REJECT_UNAUTHORIZED=0 would turn the default off.
  const trust = { rejectUnauthorized: !has_self_signed_cert }
  // A certificate for an address is checked against the address dialled, which is this one.
  return isIP(host) ? trust : { ...trust, servername: host }
}

/** The driver has no code for it. */
function offersNoTls(error: unknown): boolean {
  return error instanceof Error && error.message === 'The server does not support SSL connections'
}

function connectFailure(error: unknown, secrets: readonly string[]): Error {
  if (error instanceof OutboundUnresolved) return new Unreachable(error.message)
  if (error instanceof OutboundRefused) return new Refused(error.message)
  if (offersNoTls(error)) {
    return new Refused('The database server offers no TLS, which is required. Turn it on there.')
  }
  const code = errorCode(error)
  if (error instanceof pg.DatabaseError) {
    const failure = failureOf(error, secrets)
    return BUSY_STATES.has(code) || failure instanceof Refused ? failure : new Unreachable(failure.message)
  }
  // Without a code: silence for too long, a connection closed in the middle, or something that is no database.
  if (code === '' || NETWORK_CODES.has(code)) {
    const named = code === '' ? '' : ` (${code})`
    return new Unreachable(
      `The database server cannot be reached${named}. Check host and port, and that its firewall lets this server in.`,
    )
  }
  return new Refused(
    `The certificate of the database server is not accepted (${code}). Install one of a known authority, or set \`has_self_signed_cert\`.`,
  )
}
