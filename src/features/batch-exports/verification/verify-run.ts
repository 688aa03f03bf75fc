// Is what a run says it delivered really there? Files are read back and compared by rows, bytes and hash; of tables each
// event of the run is asked for by its uuid.
import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import type { JsonObject } from '../../../lib/json-object.ts'
import type { ExportRows } from '../../../platform/event-store/event-store.ts'
import type { Services } from '../../../platform/services.ts'
import {
  Refused,
  type Inspection,
  type InspectionContext,
  type TableInspection,
} from '../destinations/destination.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import { bucketOf } from '../destinations/warehouse/digest.ts'
import type { Encoding } from '../formats/encoding.ts'
import { planPieces } from '../formats/plan.ts'
import type { ExportRow, RunRow } from '../rows.ts'
import { configOf, factsOf, selectionOf, type FrozenRun } from '../runs/frozen.ts'
import { readContent } from './read-file.ts'

export type Verified = {
  /** What was looked at. */
  rows: number
  files: number
  bytes: number
  /** Empty: all is as the run says. */
  problems: string[]
  /** Nothing can be read back from this destination, or the run has no events to look for. */
  is_skipped: boolean
}

const UUIDS_AT_A_TIME = 5_000

export async function verifyRun(
  services: Services,
  row: ExportRow,
  run: FrozenRun,
  signal: AbortSignal,
): Promise<Verified> {
  const verified: Verified = { rows: 0, files: 0, bytes: 0, problems: [], is_skipped: false }
  const { definition } = run
  const kind = DESTINATIONS.get(definition.destination_type)!
  const { inspect, encoding } = await kind.load()
  if (!inspect || run.records_completed === 0) return { ...verified, is_skipped: true }
  const facts = factsOf(run)
  const selection = selectionOf(run)
  const config = configWhereItWent(services, row, run)
  if (config === null) return { ...verified, is_skipped: true }
  const context: InspectionContext = {
    config,
    run: facts,
    columns: selection.columns,
    outbound: services.outbound,
    settings: services.settings,
    signal,
    log: () => undefined,
  }
  const inspection = await inspect(context)
  try {
    if (inspection.read) await verifyFiles(inspection, run, encoding(config, facts), verified)
    else if (selection.columns.some(({ name }) => name === 'uuid')) {
      await verifyTable(services, inspection, selection.rows, verified, signal)
    } else verified.is_skipped = true
  } finally {
    await inspection.close()
  }
  return verified
}

/** Null when the export goes elsewhere by now: its secrets are not for the place where this run went. */
function configWhereItWent(services: Services, row: ExportRow, run: FrozenRun): JsonObject | null {
  try {
    return configOf(services, row, run)
  } catch (error) {
    if (error instanceof Refused) return null
    throw error
  }
}

async function verifyFiles(
  inspection: Inspection,
  run: RunRow,
  encoding: Encoding,
  verified: Verified,
): Promise<void> {
  for (const file of run.files ?? []) {
    const chunks = await inspection.read!(file.name)
    if (!chunks) {
      verified.problems.push(`${file.name} is not there`)
      continue
    }
    const found = await readContent(chunks, encoding).catch((error: unknown) => {
      verified.problems.push(
        `${file.name} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      )
    })
    if (!found) continue
    verified.files++
    verified.rows += found.rows
    verified.bytes += found.bytes
    for (const what of ['rows', 'bytes', 'sha256'] as const) {
      if (found[what] !== file[what])
        verified.problems.push(`${file.name} has ${what} ${found[what]}, not ${file[what]}`)
    }
  }
  if (verified.problems.length === 0 && verified.rows !== run.records_completed) {
    verified.problems.push(`the files hold ${verified.rows} rows, the run delivered ${run.records_completed}`)
  }
}

async function verifyTable(
  { eventStore }: Pick<Services, 'eventStore'>,
  inspection: Inspection,
  rows: ExportRows,
  verified: Verified,
  signal: AbortSignal,
): Promise<void> {
  let [missing, repeated] = [0, 0]
  const countOf = countsIn(inspection.table!, rows.project_id)
  for await (const uuids of uuidsOf(eventStore, rows, signal)) {
    for (const uuid of uuids) {
      const count = await countOf(uuid)
      if (count === 0) missing++
      if (count > 1) repeated++
      verified.rows += Math.min(count, 1)
    }
  }
  if (missing > 0) verified.problems.push(`${missing} events are missing from the table`)
  if (repeated > 0) verified.problems.push(`${repeated} events are in the table more than once`)
}

/** How many rows the table has for a uuid. Each bucket is read once. */
function countsIn(table: TableInspection, project_id: number): (uuid: string) => Promise<number> {
  const uuid_at = table.columns.findIndex(({ name }) => name === 'uuid')
  const buckets = new Map<string, Map<string, number>>()
  const readBucket = async (bucket: string) => {
    const counts = new Map<string, number>()
    for (const row of await table.rows({ project_id, times: null }, bucket)) {
      const uuid = row[uuid_at] ?? ''
      counts.set(uuid, (counts.get(uuid) ?? 0) + 1)
    }
    buckets.set(bucket, counts)
    return counts
  }
  return async (uuid) => {
    const bucket = bucketOf(uuid)
    return (buckets.get(bucket) ?? (await readBucket(bucket))).get(uuid) ?? 0
  }
}

async function* uuidsOf(
  store: Services['eventStore'],
  rows: ExportRows,
  signal: AbortSignal,
): AsyncIterable<string[]> {
  const at = rows.columns.findIndex(({ name }) => name === 'uuid')
  const uuids: ExportRows = {
    ...rows,
    sql: `SELECT position, c${at + 1} AS c1 FROM (${rows.sql})`,
    columns: [{ name: 'uuid', kind: 'text' }],
  }
  const { pieces } = await planPieces(store, uuids, signal)
  for (const piece of pieces) {
    const file = await store.exportRows(uuids, piece, { kind: 'json-lines' }, signal)
    try {
      yield* inBatches(createInterface({ input: createReadStream(file.path) }))
    } finally {
      await rm(file.path, { force: true })
    }
  }
}

async function* inBatches(lines: AsyncIterable<string>): AsyncIterable<string[]> {
  let batch: string[] = []
  for await (const line of lines) {
    batch.push((JSON.parse(line) as { uuid: string }).uuid)
    if (batch.length === UUIDS_AT_A_TIME) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}
