// The whole application in process, on a database of its own: what most tests talk to. Every answer is held against the
// OpenAPI document, and no planted secret may turn up in answers, logs or tables.
import type { FastifyInstance } from 'fastify'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeClickHouseDatabase, TEST_ENGINE } from './clickhouse.ts'
import { inject as provided } from 'vitest'
import { buildHttp, compose } from '../../src/app/compose.ts'
import { readConfig } from '../../src/app/config.ts'
import { openEventStore, openServices } from '../../src/app/services.ts'
import type { ExportEngine } from '../../src/features/batch-exports/engine/engine.ts'
import type { Verifier } from '../../src/features/batch-exports/verification/verifier.ts'
import type { DefinitionStream } from '../../src/features/definitions/stream.ts'
import type { PluginRuntime } from '../../src/features/plugins/running/runtime.ts'
import { openDatabase, type Database } from '../../src/platform/db/database.ts'
import type { EventStore } from '../../src/platform/event-store/event-store.ts'
import { openLog } from '../../src/platform/log/log.ts'
import type { Services } from '../../src/platform/services.ts'
import { assertMatchesDocument } from './contract.ts'
import { Canary } from './canary.ts'
import { inject } from './inject.ts'

export type Call = {
  key?: string | null
  /** Value of the session cookie. */
  session?: string
  body?: unknown
  headers?: Record<string, string>
  ip?: string
  /** For answers that may repeat a secret, such as the repeat of an idempotent request. */
  may_show_secrets?: true
}

export type Reply = {
  status: number
  // Tests read answers of every shape; asserting on a field that is not there fails the test, which is the point.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
  headers: Record<string, string | string[] | number | undefined>
  /** The session cookie set by this answer: its token, '' when cleared, undefined when untouched. */
  session: string | undefined
}

export type TestApp = {
  http: FastifyInstance
  services: Services
  db: Database
  canary: Canary
  /** Log lines so far, as JSON text. */
  logs: string[]
  call(method: string, url: string, call?: Call): Promise<Reply>
  get(url: string, call?: Call): Promise<Reply>
  post(url: string, body?: unknown, call?: Call): Promise<Reply>
  patch(url: string, body?: unknown, call?: Call): Promise<Reply>
  delete(url: string, call?: Call): Promise<Reply>
  /** The clockwork of exports, standing still: tests move it by `tick` and wait by `idle`. */
  exports: ExportEngine
  /** That of verification, likewise. */
  verifier: Verifier
  /**
   * The clockwork of apps: it hears of edits as a server's does, but timetables, jobs and setups that are tried again move
   * only by `tick`, deliveries by `delivery.tick`. Wait by `idle`.
   */
  plugins: PluginRuntime
  /** Sees every event, and writes when it is flushed. */
  definitions: DefinitionStream
  /** Moves the application's clock. */
  advance(ms: number): void
  close(): Promise<void>
}

const TEST_URL = 'http://longshore.test'
const NEVER_MS = 2 ** 31 - 1

/**
 * Settings are given as in the environment; rate limits are off unless a test is about them. On the database of another
 * application, with its SECRET_KEY, it is that application after a restart.
 */
export async function startTestApp(env: Record<string, string> = {}, before?: TestApp): Promise<TestApp> {
  const { db, url, drop } = before ? { db: before.db, url: '', drop: async () => {} } : await makeDatabase()
  const clickhouse = TEST_ENGINE === 'clickhouse' ? await makeClickHouseDatabase() : null
  const folder = await mkdtemp(join(tmpdir(), 'longshore-test-'))
  const config = readConfig({
    SECRET_KEY: randomBytes(32).toString('hex'),
    RATE_LIMITS: 'off',
    DATA_DIR: folder,
    EVENT_MEMORY_MB: '512',
    ...(clickhouse ? { DATABASE_URL: url, CLICKHOUSE_URL: clickhouse.url } : {}),
    ...env,
  })
  const logs: string[] = []
  const log = openLog({ level: 'trace', format: 'json', to: { write: (line) => void logs.push(line) } })
  const eventStore = openWhenUsed(() => openEventStore(config, db))
  // As a server does: before anything changes, whose copies a ClickHouse without tables is owed.
  if (TEST_ENGINE === 'clickhouse') await eventStore.ping()
  // Its timetable would go by the clock of the machine.
  const keeps_time = false
  const opened = await openServices(config, log, db, eventStore, TEST_URL, undefined, keeps_time)
  let ahead_ms = 0
  const services = { ...opened, now: () => new Date(Date.now() + ahead_ms) }
  const parts = compose(services, config, { delay_ms: NEVER_MS })
  const { definitions, ingest, plugins, exports, verifier } = parts
  const http = buildHttp(config, services, parts, null)
  await http.ready()
  await services.jobs.work(services)
  const canary = new Canary()

  const call = async (method: string, url: string, options: Call = {}): Promise<Reply> => {
    const response = await inject(http, {
      method: method as 'GET',
      url,
      remoteAddress: options.ip ?? '127.0.0.1',
      headers: {
        host: 'longshore.test',
        ...(options.key ? { authorization: `Bearer ${options.key}` } : {}),
        ...(options.session ? { cookie: `sessionid=${options.session}` } : {}),
        ...(options.body === undefined || typeof options.body === 'string'
          ? {}
          : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(options.body === undefined
        ? {}
        : { payload: typeof options.body === 'string' ? options.body : JSON.stringify(options.body) }),
    })
    const contentType = String(response.headers['content-type'] ?? '')
    const body = response.body === '' ? null : parse(response.body, contentType)
    assertMatchesDocument(method, url, response.statusCode, body, contentType)
    if (!options.may_show_secrets) canary.assertAbsent(response.body, `the answer of ${method} ${url}`)
    const cookie = /^sessionid=([^;]*)/.exec([response.headers['set-cookie'] ?? ''].flat().join())?.[1]
    if (cookie) canary.plant('session token', cookie)
    return { status: response.statusCode, body, headers: response.headers, session: cookie }
  }

  const app: TestApp = {
    http,
    services,
    db,
    canary,
    logs,
    call,
    get: (url, options) => call('GET', url, options),
    post: (url, body, options) => call('POST', url, { ...options, body: body ?? {} }),
    patch: (url, body, options) => call('PATCH', url, { ...options, body: body ?? {} }),
    delete: (url, options) => call('DELETE', url, options),
    exports,
    verifier,
    plugins,
    definitions,
    advance: (ms) => void (ahead_ms += ms),
    async close() {
      const closed = http.close()
      http.server.closeAllConnections()
      await closed
      await exports.close()
      await verifier.close()
      await plugins.close()
      await ingest.close()
      await definitions.close()
      await opened.close()
      await eventStore.close()
      await rm(folder, { recursive: true, force: true })
      canary.assertAbsent(logs.join('\n'), 'the log')
      await canary.assertAbsentFromTables(db)
      await clickhouse?.drop()
      await drop()
      // Test files keep their variables to the end of the run: twenty megabytes for each application.
      for (const part of Object.keys(app)) Reflect.deleteProperty(app, part)
    },
  }
  return app
}

/** Most tests never touch events: opening the store for each would cost the run a minute. Closed, it is opened anew. */
function openWhenUsed(open: () => Promise<EventStore>): EventStore {
  let opened: Promise<EventStore> | undefined
  const store = () => (opened ??= open())
  return {
    engine: TEST_ENGINE,
    is_shared: TEST_ENGINE === 'clickhouse',
    write: async (...args) => (await store()).write(...args),
    lookUp: async (...args) => (await store()).lookUp(...args),
    query: async (query, signal) => (await store()).query(query, signal),
    positionAt: async (...args) => (await store()).positionAt(...args),
    lastPosition: async (project_id) => (await store()).lastPosition(project_id),
    arrivalsOf: async (...args) => (await store()).arrivalsOf(...args),
    measureAreas: async (...args) => (await store()).measureAreas(...args),
    countBlocks: async (...args) => (await store()).countBlocks(...args),
    cutRows: async (...args) => (await store()).cutRows(...args),
    cutForParquet: async (...args) => (await store()).cutForParquet(...args),
    exportRows: async (...args) => (await store()).exportRows(...args),
    lastRows: async (...args) => (await store()).lastRows(...args),
    findCutTexts: async (rows) => (await store()).findCutTexts(rows),
    holes: async (project_id) => (await store()).holes(project_id),
    ping: async () => (await store()).ping(),
    oweCopies: async (...args) => (await store()).oweCopies(...args),
    missingCopies: async () => (await store()).missingCopies(),
    giveUpCopies: async (owed) => (await store()).giveUpCopies(owed),
    caughtUp: async (project_id) => (await store()).caughtUp(project_id),
    deleteProject: async (project_id) => (await store()).deleteProject(project_id),
    async close() {
      const closing = opened
      opened = undefined
      await (await closing)?.close()
    },
  }
}

/** `url` is for programs of their own. */
export async function makeDatabase(): Promise<{ db: Database; url: string; drop(): Promise<void> }> {
  const { template, ...connection } = provided('postgres')
  const name = `test_${randomBytes(6).toString('hex')}`
  const admin = openDatabase({ ...connection, database: 'longshore', max: 1 })
  // Copied as files it takes a third of the time.
  await admin.pool.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
  const db = openDatabase({ ...connection, database: name })
  const { host, port, user, password } = connection
  return {
    db,
    url: `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}&port=${port}`,
    async drop() {
      await db.close()
      await admin.pool.query(`DROP DATABASE ${name} WITH (FORCE)`)
      await admin.close()
    },
  }
}

function parse(text: string, contentType: string): unknown {
  return /^application\/(scim\+)?json/.test(contentType) ? JSON.parse(text) : text
}
