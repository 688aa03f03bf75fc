// A data folder with as many events as a case wants, all within one interval of a weekly export, so that one run takes
// them all. The first are sample events that were taken in one by one; the rest are those again under ids of their own,
// which the engine copies six times as fast.
import { chmod, mkdtemp } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig, type Config } from '../../../src/app/config.ts'
import { makeFirstOwner } from '../../../src/app/first-start.ts'
import { withWorkspace } from '../../../src/cli/exports/open-workspace.ts'
import { boundaryAtOrBefore } from '../../../src/features/batch-exports/schedule/grid.ts'
import { toStoredEvent } from '../../../src/features/events/pipeline/store-form.ts'
import { sampleEvents } from '../../../src/features/events/sample/sample-events.ts'
import { sql } from '../../../src/platform/db/sql.ts'
import { openInstance } from '../../../src/platform/event-store/duckdb/database.ts'
import { openDuckDb } from '../../../src/platform/event-store/duckdb/open.ts'
import type { StoredEvent } from '../../../src/platform/event-store/event-store.ts'
import { tablesOf } from '../../../src/platform/event-store/layout.ts'
import { personOf } from '../events/person.ts'

export const KEY = `phx_${'bench0'.repeat(6)}`
/** Of both sides: with half of it the bare COPY to Parquet fails. */
export const MEMORY_MB = Number(process.env.EVENT_MEMORY_MB ?? 512)

const SAMPLED = 250_000
const BATCH = 10_000
const WEEK_DAYS = 7
const DAY_MS = 86_400_000

/** Can be handed to another process as JSON. */
export type SampleStore = {
  folder: string
  project_id: number
  events: number
  start_at: string
  end_at: string
}

/** Settings of every program on that folder. */
export function settingsOf(folder: string): Record<string, string> {
  return {
    DATA_DIR: folder,
    EVENT_MEMORY_MB: String(MEMORY_MB),
    BOOTSTRAP_API_KEY: KEY,
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'error',
    // The stand-ins of destinations are on this machine.
    OUTBOUND_ALLOW: '127.0.0.0/8',
    ALLOW_PLAINTEXT: 'on',
  }
}

export function configOf(folder: string): Config {
  return readConfig({ PATH: process.env.PATH, ...settingsOf(folder) })
}

export async function makeStore(): Promise<SampleStore> {
  const folder = await mkdtemp(join(tmpdir(), 'longshore-bench-exports-'))
  // Root's PostgreSQL runs as another user.
  await chmod(folder, 0o711)
  const config = configOf(folder)
  const project_id = await withWorkspace(config, async (services) => {
    await makeFirstOwner(services, config)
    return (await services.db.only<{ id: number }>(sql`SELECT id FROM project`)).id
  })
  const weekly = { interval: 'week', timezone: 'UTC', offset_day: null, offset_hour: null } as const
  const end = boundaryAtOrBefore(weekly, new Date())
  const start = new Date(end.getTime() - WEEK_DAYS * DAY_MS)
  return { folder, project_id, events: 0, start_at: start.toISOString(), end_at: end.toISOString() }
}

/** Nobody else may have the folder open. */
export async function growTo(store: SampleStore, events: number): Promise<void> {
  if (store.events === 0) await fill(store, Math.min(events, SAMPLED))
  if (store.events < events) await repeat(store, events)
}

async function fill(sample: SampleStore, count: number): Promise<void> {
  const { folder, project_id, end_at } = sample
  const store = await openDuckDb({
    folder: join(folder, 'events'),
    memory_mb: MEMORY_MB,
    query_timeout_ms: 60_000,
  })
  const write = (events: StoredEvent[]) =>
    store.write(
      [{ project_id, events, persons: [], deleted_persons: [], distinct_ids: [], groups: [] }],
      new Date(),
    )
  let batch: StoredEvent[] = []
  for (const event of sampleEvents({ count, seed: 1, end: new Date(end_at), days: WEEK_DAYS })) {
    batch.push(toStoredEvent(event, true, personOf(project_id, event.distinct_id)))
    if (batch.length < BATCH) continue
    await write(batch)
    batch = []
  }
  await write(batch)
  await store.close()
  sample.events = count
}

/** A commit for each time over, so that memory holds one at most. */
async function repeat(sample: SampleStore, events: number): Promise<void> {
  const { folder, project_id } = sample
  const { event_rows: table } = tablesOf(project_id)
  const threads = availableParallelism()
  const instance = await openInstance({ folder: join(folder, 'events'), memory_mb: MEMORY_MB, threads })
  const connection = await instance.connect()
  while (sample.events < events) {
    const count = Math.min(SAMPLED, events - sample.events)
    await connection.run(
      `INSERT INTO ${table}
       SELECT seq + $1, (SELECT max(inserted_at) FROM ${table}), ${NEW_UUID},
         COLUMNS(* EXCLUDE (seq, inserted_at, uuid))
       FROM ${table} WHERE seq <= $2`,
      [BigInt(sample.events), BigInt(count)],
    )
    sample.events += count
  }
  await connection.run('CHECKPOINT')
  connection.closeSync()
  instance.closeSync()
}

/** Keeps the time that an id begins with: it decides how well ids compress. */
const NEW_UUID = 'CAST(concat(left(CAST(uuid AS VARCHAR), 24), right(md5(concat(uuid, $1)), 12)) AS UUID)'
