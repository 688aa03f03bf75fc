// Where each part of the status comes from: the same readings as /metrics and `longshore doctor`.
import { join } from 'node:path'
import { countLiveRuns } from '../../features/batch-exports/freshness/queries.ts'
import type { Ingest } from '../../features/events/ingest.ts'
import type { PluginRuntime } from '../../features/plugins/running/runtime.ts'
import { withTimeout } from '../../lib/with-timeout.ts'
import type { Database } from '../../platform/db/database.ts'
import { readPidFile } from '../../platform/db/embedded/pid-file.ts'
import { sql } from '../../platform/db/sql.ts'
import type { Services } from '../../platform/services.ts'
import { Environment, type Config } from '../config.ts'
import { checkMigrations, checkOpenStore, checkVersion, type Finding } from '../health.ts'
import { eventMemoryMb } from '../services.ts'
import { SECRET_SETTINGS, shownValue } from '../shown-settings.ts'
import { diskReader } from './disk.ts'
import { memoryReader } from './memory.ts'
import type { Parts } from './schema.ts'

type Running = { config: Config; ingest: Ingest; plugins: Pick<PluginRuntime, 'holding'> }

const STORE_LIMIT_MS = 2_000

/** `services.db` is the whole database, not a transaction. */
export function tellOfInstance(services: Services & { db: Database }, running: Running): void {
  const { config, ingest, plugins } = running
  const { db, jobs } = services
  const now = () => services.now()
  const readDisk = diskReader(config.DATA_DIR, now)
  const readMemory = memoryReader(now, () => postmasterOf(config))
  const tell = <Name extends keyof Parts>(name: Name, read: () => Promise<Parts[Name]>) =>
    void services.instance.set(name, read)
  tell('stores', async () =>
    Promise.all([
      asFinding('database', checkVersion(db)),
      asFinding('migrations', checkMigrations(db)),
      asFinding('events', checkOpenStore(services.eventStore)),
    ]),
  )
  tell('disk', readDisk)
  tell('database', () => db.only(sql`SELECT pg_database_size(current_database())::float8 AS bytes`))
  tell('queues', async () => ({
    jobs_waiting: await jobs.countWaiting(),
    jobs_failed: await jobs.countFailed(),
    export_runs: await countLiveRuns(db),
  }))
  tell('ingestion', async () => ({
    waiting: ingest.waiting(),
    held_events: plugins.holding.totals(),
    stored_events: ingest.tally.stored.total,
    events_per_minute: ingest.tally.stored.perMinute(now()),
  }))
  tell('memory', async () => ({
    ...(await readMemory()),
    event_store_limit_bytes: eventMemoryMb(config) * 1024 * 1024,
  }))
  tell('settings', async () => shownSettings(config))
}

/** A store that does not answer is a finding, not a failure of the page. */
async function asFinding(what: string, check: Promise<Finding>): Promise<Finding> {
  const wrong = (detail: string): Finding => ({ what, state: 'wrong', detail })
  return withTimeout(
    check.catch((error: unknown) => wrong(error instanceof Error ? error.message : String(error))),
    STORE_LIMIT_MS,
    () => wrong('no answer'),
  )
}

/** PostgreSQL may be older than this process, and then it is nobody's child. */
async function postmasterOf({ DATABASE_URL, DATA_DIR }: Config): Promise<number[]> {
  if (DATABASE_URL !== null) return []
  const file = await readPidFile(join(DATA_DIR, 'postgres'))
  return file ? [file.pid] : []
}

function shownSettings(config: Config): Parts['settings'] {
  return (Object.keys(Environment.shape) as (keyof Config)[]).map((name) => {
    const value = config[name]
    const is_secret = SECRET_SETTINGS.includes(name)
    const is_set = value !== null && value !== undefined
    return { name, value: is_set && !is_secret ? shownValue(value) : null, is_set, is_secret }
  })
}
