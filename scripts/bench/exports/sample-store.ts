// A data folder with as many events as a case wants, all within one interval of a weekly export, so that one run takes
// them all. The first are sample events, taken in one by one; the rest are copies of them with new ids, which the
// engine makes six times as fast.
import { DuckDBInstance } from '@duckdb/node-api'
import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { readConfig, type Config } from '../../../src/app/config.ts'
import { makeFirstOwner } from '../../../src/app/first-start.ts'
import { withWorkspace } from '../../../src/cli/exports/open-workspace.ts'
import { boundaryAtOrBefore } from '../../../src/features/batch-exports/schedule/grid.ts'
import { toStoredEvent } from '../../../src/features/events/pipeline/store-form.ts'
import { sampleEvents } from '../../../src/features/events/sample/sample-events.ts'
import { sql } from '../../../src/platform/db/sql.ts'
import { openDuckDb } from '../../../src/platform/event-store/duckdb/open.ts'
import { ROW_GROUP } from '../../../src/platform/event-store/duckdb/segments/events.ts'
import { describeSegment } from '../../../src/platform/event-store/duckdb/segments/fold.ts'
import {
  changeSegments,
  projectFolder,
  readManifest,
  writeManifest,
} from '../../../src/platform/event-store/duckdb/segments/manifest.ts'
import { findNeighbours } from '../../../src/platform/event-store/duckdb/segments/merge.ts'
import { readParquet, writeParquet } from '../../../src/platform/event-store/duckdb/segments/parquet.ts'
import type { StoredEvent } from '../../../src/platform/event-store/event-store.ts'
import { personOf } from '../events/person.ts'

export const KEY = `phx_${'bench0'.repeat(6)}`
/** Memory limit of both sides: with half of it the bare COPY to Parquet fails. */
export const MEMORY_MB = Number(process.env.EVENT_MEMORY_MB ?? 512)

const SAMPLED = 31 * ROW_GROUP
const BATCH = ROW_GROUP
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

/**
 * Nobody else may have the folder open. To whole row groups, a few thousand events more than asked for: files that come
 * after the beginning of one would all be written again, by the first export.
 */
export async function growTo(store: SampleStore, events: number): Promise<void> {
  const whole = Math.ceil(events / ROW_GROUP) * ROW_GROUP
  if (store.events === 0) await fill(store, Math.min(whole, SAMPLED))
  if (store.events < whole) await repeat(store, whole)
  await settle(store)
}

async function fill(sample: SampleStore, count: number): Promise<void> {
  const { project_id, end_at } = sample
  const store = await openStore(sample)
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
  // Asking for arrivals makes the store write all events to files first.
  await store.arrivalsOf(project_id, [1])
  await store.close()
  sample.events = count
}

const openStore = ({ folder }: SampleStore) =>
  openDuckDb({ folder: join(folder, 'events'), memory_mb: MEMORY_MB, query_timeout_ms: 60_000 })

/** Small files become large ones once somebody reads. Else the first export would pay for that, in the same process. */
async function settle(sample: SampleStore): Promise<void> {
  const store = await openStore(sample)
  await store.arrivalsOf(sample.project_id, [1])
  const folder = join(sample.folder, 'events')
  while (findNeighbours(readManifest(folder, sample.project_id))) await setTimeout(100)
  await store.close()
}

/** Writes a file for each copy: the sampled events are whole row groups, and so is each copy of them. */
async function repeat(sample: SampleStore, events: number): Promise<void> {
  const { folder: data_folder, project_id } = sample
  const folder = join(data_folder, 'events')
  const project = projectFolder(folder, project_id)
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', memory_limit: `${MEMORY_MB}MB` })
  const connection = await instance.connect()
  let manifest = readManifest(folder, project_id)
  const sampled = readParquet(manifest.segments.map(({ file }) => join(project, file)))
  while (sample.events < events) {
    const count = Math.min(SAMPLED, events - sample.events)
    const file = `${randomUUID()}.parquet`
    const path = join(project, file)
    const select = `SELECT seq + ${sample.events} AS seq, inserted_at, ${newUuid(sample.events)},
        COLUMNS(* EXCLUDE (seq, inserted_at, uuid))
      FROM ${sampled} WHERE seq <= ${count}`
    await writeParquet(connection, select, path, ROW_GROUP)
    const of_file = {
      first_row: sample.events,
      rows: count,
      within: `FROM ${readParquet([path])} WHERE true`,
      columns: [],
    }
    const made = [await describeSegment(connection, project, file, of_file)]
    const segments = changeSegments(manifest.segments, { gone: [], made })
    manifest = { ...manifest, version: manifest.version + 1, segments }
    sample.events += count
  }
  writeManifest(folder, project_id, manifest)
  connection.closeSync()
  instance.closeSync()
}

/** Keeps the time that an id begins with: it decides how well ids compress. */
const newUuid = (seed: number) =>
  `CAST(concat(left(CAST(uuid AS VARCHAR), 24), right(md5(concat(uuid, ${seed})), 12)) AS UUID) AS uuid`
