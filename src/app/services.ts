// Opens the stores and clients in order and closes them in reverse; the only place that knows the real clock.
import { withTimeout } from '../lib/with-timeout.ts'
import { Changes } from '../platform/changes.ts'
import { migrate } from '../platform/db/migrate.ts'
import { openDatabase, type Database } from '../platform/db/database.ts'
import { sql } from '../platform/db/sql.ts'
import { openEmbeddedPostgres } from '../platform/db/embedded/embedded.ts'
import { openTxtLookup } from '../platform/dns/txt.ts'
import { openClickHouseStore } from '../platform/event-store/clickhouse/open.ts'
import { openDuckDb, type StoreEvents } from '../platform/event-store/duckdb/open.ts'
import { StoreTaken, type EventStore } from '../platform/event-store/event-store.ts'
import { engineAt, whyNotToOpen } from '../platform/event-store/moving/state.ts'
import { Guesses } from '../platform/http/guesses.ts'
import { SharedLooks } from '../platform/http/live/shared-looks.ts'
import { PagePlaces } from '../platform/http/page-places.ts'
import { Throttle } from '../platform/http/throttle.ts'
import { Intake } from '../platform/intake.ts'
import { migrateJobs, openJobs } from '../platform/jobs/jobs.ts'
import type { Log } from '../platform/log/log.ts'
import { openMailer } from '../platform/mail/mail.ts'
import { openOutbound } from '../platform/outbound/outbound.ts'
import { openSandbox } from '../platform/sandbox/open.ts'
import { openSecrets } from '../platform/secrets/secrets.ts'
import type { Services, Settings } from '../platform/services.ts'
import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'
import { ConfigError, type Config } from './config.ts'
import { jobs } from './jobs.ts'
import { readSecretKey } from './secret-key.ts'
import { assertUsableFolder, explainClickHouseFault, explainDatabaseFault } from './start-faults.ts'

export type OpenedDatabase = {
  db: Database
  /** Brings it up to this version: names of the migrations applied. */
  migrate(): Promise<string[]>
  close(): Promise<void>
}

const DNS_TIMEOUT_MS = 5_000
// Statements still running belong to requests that were cut off: nobody waits for their answer.
const STATEMENTS_LIMIT_MS = 1_000

/** The user's PostgreSQL, or the one we bring along; `server` is the one process that owns the data folder. */
export async function openMetadata(
  config: Config,
  log: Log,
  role: 'server' | 'command',
  signal?: AbortSignal,
): Promise<OpenedDatabase> {
  await assertUsableFolder(config.DATA_DIR)
  const url = config.DATABASE_URL
  if (url !== null) {
    const db = openDatabase({ connectionString: url })
    return {
      db,
      // The first who talks to it.
      migrate: () =>
        migrateAll(db).catch((error: unknown) => Promise.reject(explainDatabaseFault(url, error))),
      close: () => withTimeout(db.close(), STATEMENTS_LIMIT_MS, () => undefined),
    }
  }
  const embedded = await openEmbeddedPostgres({
    dataDir: config.DATA_DIR,
    log,
    role,
    ...(signal ? { signal } : {}),
  })
  const db = openDatabase(embedded.connection)
  return {
    db,
    migrate: () => migrateAll(db),
    async close() {
      await withTimeout(db.close(), STATEMENTS_LIMIT_MS, () => undefined)
      await embedded.stop()
    },
  }
}

/** Our tables and the queue's, in that order. Names of the migrations applied. */
export async function migrateAll(db: Database): Promise<string[]> {
  const applied = await migrate(db)
  await oneAtATime(db, () => migrateJobs(db, jobs))
  return applied
}

/** Any number, the same in every version. */
const START_LOCK = 7_061_002

/** Processes that start together make tables one after the other: whoever comes second finds them made. */
async function oneAtATime<T>(db: Database, work: () => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    await tx.run(sql`SELECT pg_advisory_xact_lock(${START_LOCK})`)
    return work()
  })
}

/** The user's ClickHouse, or the store we bring along, which one process at a time holds. */
export async function openEventStore(
  config: Config,
  db: Database,
  options: StoreEvents & { isWarm?: boolean } = {},
): Promise<EventStore> {
  const url = config.CLICKHOUSE_URL
  const assertNotMoved = async () => {
    const reason = await whyNotToOpen(db, engineAt(url))
    if (reason !== null) throw new ConfigError(reason)
  }
  if (url === null) {
    await assertNotMoved()
    return openEmbeddedEvents(config, options)
  }
  const store = await openClickHouseStore({
    url,
    cluster: config.CLICKHOUSE_CLUSTER,
    db,
    staging: join(config.DATA_DIR, 'staging'),
    memory_mb: eventMemoryMb(config),
    query_timeout_ms: config.QUERY_TIMEOUT_S * 1000,
    ...options,
  }).catch((error: unknown) => {
    throw error instanceof StoreTaken ? error : explainClickHouseFault(url, error)
  })
  // No move can begin or end from here on.
  await assertNotMoved().catch(async (error: unknown) => {
    await store.close()
    throw error
  })
  return store
}

export function openEmbeddedEvents(
  config: Config,
  options: StoreEvents & { isWarm?: boolean } = {},
): Promise<EventStore> {
  return openDuckDb({
    folder: eventFolder(config),
    memory_mb: eventMemoryMb(config),
    query_timeout_ms: config.QUERY_TIMEOUT_S * 1000,
    ...options,
  })
}

export function eventFolder({ DATA_DIR }: Config): string {
  return join(DATA_DIR, 'events')
}

/** Also where there are fewer cores: apps of a few projects have threads of their own, and none waits for the other's. */
const MIN_PLUGIN_THREADS = 4

export function eventMemoryMb(config: Config): number {
  return config.EVENT_MEMORY_MB ?? defaultEventMemory()
}

/** A quarter of the machine, within reason: PostgreSQL, the program and the file cache want theirs. */
function defaultEventMemory(): number {
  const quarter_mb = totalmem() / 4 / 1024 / 1024
  return Math.round(Math.min(Math.max(quarter_mb, 96), 1024))
}

/** Everything above the two stores. `siteUrl` is known only once the port is. */
export async function openServices(
  config: Config,
  log: Log,
  db: Database,
  eventStore: EventStore,
  siteUrl: string,
  now: () => Date = () => new Date(),
  keeps_time = config.ROLES.includes('worker'),
): Promise<Services & { close(): Promise<void> }> {
  const secrets = openSecrets(readSecretKey(config), config.SECRET_KEY_PREVIOUS)
  const mailer = openMailer({ smtp_url: config.SMTP_URL, from: config.MAIL_FROM })
  const outbound = openOutbound({ allow: config.OUTBOUND_ALLOW })
  const sandbox = openSandbox({
    threads: config.PLUGIN_THREADS ?? Math.max(MIN_PLUGIN_THREADS, availableParallelism() - 1),
    geoip_database: config.GEOIP_DATABASE,
  })
  const queue = await openJobs(db, jobs, log, { keeps_time })
  return {
    db,
    eventStore,
    secrets,
    jobs: queue,
    intake: new Intake(),
    mailer,
    lookupTxt: openTxtLookup({ servers: config.DNS_SERVERS, timeout_ms: DNS_TIMEOUT_MS }),
    outbound,
    sandbox,
    changes: new Changes(),
    throttle: new Throttle(config.RATE_LIMITS),
    pagePlaces: new PagePlaces(),
    looks: new SharedLooks(log),
    guesses: new Guesses(db, secrets, config.RATE_LIMITS),
    log,
    settings: {
      site_url: siteUrl,
      is_signup_open: config.OPEN_SIGNUP,
      max_keys_per_user: config.MAX_KEYS_PER_USER,
      key_limits_percent: config.KEY_LIMITS_PERCENT,
      domain_challenge_prefix: config.DOMAIN_CHALLENGE_PREFIX,
      disabled_destinations: config.DISABLED_DESTINATIONS,
      sub_hourly_exports: config.SUB_HOURLY_EXPORTS,
      export_max_runs: config.EXPORT_MAX_RUNS,
      lock_timeout_ms: config.EXPORT_LOCK_TIMEOUT_S * 1000,
      export_folder: config.EXPORT_DIR ?? join(config.DATA_DIR, 'exports'),
      allow_plaintext: config.ALLOW_PLAINTEXT,
      scratch_folder: join(config.DATA_DIR, 'scratch'),
      outbound_allow: config.OUTBOUND_ALLOW,
      plugins_folder: config.PLUGINS_LOCAL_DIR,
      plugins_min_write_level: config.PLUGINS_MIN_WRITE_LEVEL,
      plugin_patience_ms: config.PLUGIN_PATIENCE_MS,
      plugin_hold_bytes: config.PLUGIN_HOLD_MB * 1024 * 1024,
      plugins_repository_url: config.PLUGINS_REPOSITORY_URL,
      plugin_source_tokens: {
        github: config.GITHUB_TOKEN,
        gitlab: config.GITLAB_TOKEN,
        npm: config.NPM_TOKEN,
      },
      social_sign_in: socialSignIn(config),
    },
    instance: new Map(),
    now,
    async close() {
      await queue.stop()
      await sandbox.close()
      await outbound.close()
      mailer.close()
    },
  }
}

/** Both are there, or neither: config.ts refuses one alone. */
function socialSignIn(config: Config): Settings['social_sign_in'] {
  const client = (client_id: string | null, client_secret: string | null, base_url: string) =>
    client_id === null || client_secret === null ? null : { client_id, client_secret, base_url }
  return {
    'google-oauth2': client(
      config.SOCIAL_AUTH_GOOGLE_OAUTH2_KEY,
      config.SOCIAL_AUTH_GOOGLE_OAUTH2_SECRET,
      'https://accounts.google.com',
    ),
    github: client(config.SOCIAL_AUTH_GITHUB_KEY, config.SOCIAL_AUTH_GITHUB_SECRET, 'https://github.com'),
    gitlab: client(
      config.SOCIAL_AUTH_GITLAB_KEY,
      config.SOCIAL_AUTH_GITLAB_SECRET,
      config.SOCIAL_AUTH_GITLAB_API_URL,
    ),
  }
}
