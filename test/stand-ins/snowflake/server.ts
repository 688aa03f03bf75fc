// Snowflake on loopback, as its driver speaks to it: logins, statements, and files put into a table's stage. Strict: a
// call without a good token, to an unknown path, or with a statement it does not know is refused. Rows are real.
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { startServer, type Cuts, type Exchange, type Reply } from '../warehouse/cuttable-server.ts'
import { openTables, type Tables } from '../warehouse/tables.ts'
import { isLogin, type Account } from './login.ts'
import { openSession, type Session } from './session.ts'
import { SqlFault } from './sql.ts'

export type SnowflakeStandIn = {
  url: string
  config: Record<string, unknown>
  /** The same account by its key. */
  keypair_config: Record<string, unknown>
  tables: Tables
  cuts: Cuts
  /** Sessions that were not closed. */
  open_sessions(): number
  /** Texts of the statements so far. */
  statements: string[]
  close(): Promise<void>
}

const DATABASE = 'Analytics'
const SCHEMA = 'public'
const WAREHOUSE = 'COMPUTE_WH'

/** Making one takes longer than most tests. */
let made: { publicKey: string; privateKey: string } | null = null
const keyPair = () =>
  (made ??= generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'key phrase' },
  }))

export async function startSnowflake(): Promise<SnowflakeStandIn> {
  const tables = await openTables()
  const folder = await mkdtemp(join(tmpdir(), 'snowflake-stand-in-'))
  const keys = keyPair()
  const account: Account = {
    name: 'shop-eu1',
    user: 'exporter',
    password: 'pass word 1',
    public_key: keys.publicKey,
  }
  const sessions = new Map<string, Session>()
  /** Snowflake answers a request id that it has seen with what it answered before. */
  const answers = new Map<string, Promise<Reply>>()
  const statements: string[] = []

  const login = async ({ url, body }: Exchange): Promise<Reply> => {
    const { data } = JSON.parse(body.toString()) as { data: Record<string, unknown> }
    if (!isLogin(data, account)) return failed('390100', 'Incorrect username or password was specified.')
    const warehouse = url.searchParams.get('warehouse') === WAREHOUSE ? WAREHOUSE : null
    const token = randomUUID()
    sessions.set(token, await openSession(tables, { folder, database: DATABASE, schema: SCHEMA, warehouse }))
    return succeeded({
      token,
      masterToken: randomUUID(),
      validityInSeconds: 3600,
      masterValidityInSeconds: 14_400,
      sessionId: 1,
      parameters: [],
    })
  }
  const query = async ({ body }: Exchange, session: Session): Promise<Reply> => {
    const sent = JSON.parse(body.toString()) as { sqlText: string; bindings?: Record<string, Bind> }
    statements.push(sent.sqlText)
    try {
      return succeeded({
        queryId: randomUUID(),
        ...(await session.run(sent.sqlText, bindsOf(sent.bindings))),
      })
    } catch (error) {
      if (error instanceof SqlFault) return failed(error.code, error.message, error.sql_state)
      return failed('001003', `SQL compilation error: ${String(error)}`, '42000')
    }
  }
  const answer = async (exchange: Exchange): Promise<Reply> => {
    const { method, url, headers } = exchange
    if (method !== 'POST') return { status: 405, body: {} }
    const read = {
      ...exchange,
      body: headers['content-encoding'] === 'gzip' ? gunzipSync(exchange.body) : exchange.body,
    }
    if (url.pathname === '/session/v1/login-request') return await login(read)
    const token = /^Snowflake Token="(.+)"$/.exec(headers.authorization ?? '')?.[1] ?? ''
    const session = sessions.get(token)
    if (session === undefined) return failed('390104', 'Session no longer exists.')
    if (url.pathname === '/telemetry/send') return succeeded({})
    if (url.pathname === '/queries/v1/abort-request') return succeeded({})
    if (url.pathname === '/session' && url.searchParams.get('delete') === 'true') {
      sessions.delete(token)
      await session.close()
      return succeeded(null)
    }
    const request_id = url.searchParams.get('requestId')
    if (url.pathname !== '/queries/v1/query-request' || request_id === null) return { status: 404, body: {} }
    if (!answers.has(request_id)) answers.set(request_id, query(read, session))
    return await answers.get(request_id)!
  }
  const server = await startServer(answer)
  const place = {
    account: account.name,
    database: DATABASE,
    schema: SCHEMA,
    warehouse: WAREHOUSE,
    table_name: 'events',
  }
  return {
    url: server.url,
    config: { ...place, user: account.user, password: account.password },
    keypair_config: {
      ...place,
      user: account.user,
      authentication_type: 'keypair',
      private_key: keys.privateKey,
      private_key_passphrase: 'key phrase',
    },
    tables,
    cuts: server.cuts,
    open_sessions: () => sessions.size,
    statements,
    async close() {
      await server.close()
      await Promise.all([...sessions.values()].map((session) => session.close()))
      tables.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

type Bind = { type: string; value: string | null }

function bindsOf(bindings: Record<string, Bind> = {}): (string | number | null)[] {
  return Object.values(bindings).map(({ type, value }) =>
    type === 'FIXED' && value !== null ? Number(value) : value,
  )
}

function succeeded(data: unknown): Reply {
  return { status: 200, body: { success: true, code: null, message: null, data } }
}

function failed(code: string, message: string, sqlState?: string): Reply {
  return { status: 200, body: { success: false, code, message, data: { sqlState } } }
}
