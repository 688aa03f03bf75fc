// What has come out at each place since the last look, run by run, and whether it is what the run says.
import { createHash } from 'node:crypto'
import type { RunRow } from '../../../src/features/batch-exports/rows.ts'
import type { Ledger } from './ledger.ts'
import type { MadeExport } from './api.ts'
import type { Places } from './places.ts'
import { uuidsIn } from './outside-readers.ts'
import type { Db } from '../../../src/platform/db/database.ts'
import { listEnded } from './runs.ts'
import { expectPromisedRows, indexTable } from './table.ts'

type Fault = (text: string) => void
type DeliveredFile = NonNullable<RunRow['files']>[number]

export class Deliveries {
  readonly #places: Places
  readonly #ledger: Ledger
  readonly #fault: Fault
  /** Deliveries that were counted: a run that repeats one brings nothing new. */
  readonly #counted = new Set<string>()
  /** Batches at the endpoint, by run and number: what was in them. */
  readonly #batches = new Map<string, { sha256: string; uuids: string[] }>()

  constructor(places: Places, ledger: Ledger, fault: Fault) {
    this.#places = places
    this.#ledger = ledger
    this.#fault = fault
  }

  /** What a run has brought that has just ended. */
  async look(run: RunRow, made: MadeExport): Promise<void> {
    const name = `the run of ${made.name} until ${run.data_interval_end.toISOString()}`
    if (run.status !== 'Completed') return this.#fault(`${name} ended as ${run.status}: ${run.latest_error}`)
    const uuids = await this.#uuidsOf(run, made, name)
    if (uuids === null) return
    if (uuids.length !== run.records_completed)
      this.#fault(`${name} says ${run.records_completed} rows, and ${uuids.length} are there`)
    const delivery_id = run.repeats ?? run.id
    if (!this.#counted.has(delivery_id)) this.#ledger.deliver(made.name, uuids, name)
    this.#counted.add(delivery_id)
  }

  /** Batches that the endpoint has taken. One that comes again must be what it was. */
  takeBatches(): void {
    for (const { run_id, sequence, events } of this.#places.endpoint.batches.splice(0)) {
      const key = `${run_id} ${sequence}`
      const sha256 = hashOf(JSON.stringify(events))
      const known = this.#batches.get(key)
      if (known && known.sha256 !== sha256) this.#fault(`batch ${key} came again with other content`)
      const uuids = events.map(({ uuid }) => uuid)
      if (!known) this.#batches.set(key, { sha256, uuids })
    }
  }

  batchHash(run_id: string, sequence: number): string | undefined {
    return this.#batches.get(`${run_id} ${sequence}`)?.sha256
  }

  /** Null for tables, which do not say which run a row came with. */
  async #uuidsOf(run: RunRow, made: MadeExport, name: string): Promise<string[] | null> {
    if (made.kind === 'table') return null
    if (made.kind === 'endpoint') return this.#uuidsOfBatches(run)
    const files: string[][] = []
    for (const file of run.files ?? []) files.push(await this.#uuidsOfFile(file, made, name))
    if (run.definition!.config.max_file_size_mb !== null) await this.#checkManifest(run, made, name)
    return files.flat()
  }

  #uuidsOfBatches(run: RunRow): string[] {
    const batches: string[][] = []
    for (let sequence = 0; ; sequence++) {
      const batch = this.#batches.get(`${run.repeats ?? run.id} ${sequence}`)
      if (!batch) return batches.flat()
      batches.push(batch.uuids)
    }
  }

  async #uuidsOfFile(file: DeliveredFile, made: MadeExport, name: string): Promise<string[]> {
    const content = await this.#places.read(made.kind, file.name)
    if (content === null) {
      this.#fault(`${name}: ${file.name} is not there`)
      return []
    }
    if (hashOf(content) !== file.sha256 || content.length !== file.bytes)
      this.#fault(`${name}: ${file.name} is not what was delivered`)
    return uuidsIn(file.name, content)
  }

  async #checkManifest(run: RunRow, made: MadeExport, name: string): Promise<void> {
    const [first] = run.files ?? []
    if (!first) return
    const manifest = first.name.replace(/-0\.(jsonl|parquet)(\.\w+)?$/, '_manifest.json')
    const text = (await this.#places.read(made.kind, manifest))?.toString() ?? '{}'
    const { files, rows, contents } = JSON.parse(text) as Record<string, unknown>
    const isRight =
      rows === run.records_completed &&
      JSON.stringify(files) === JSON.stringify(run.files!.map((file) => file.name)) &&
      JSON.stringify(contents) === JSON.stringify(run.files)
    if (!isRight) this.#fault(`${name}: its manifest is ${text.slice(0, 200)}`)
  }
}

export function hashOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

/** What every run has brought that has ended since the last look. `known` are the runs of earlier looks. */
export async function lookAtEnded({
  db,
  known,
  exports,
  deliveries,
}: {
  db: Db
  known: Set<string>
  exports: readonly MadeExport[]
  deliveries: Deliveries
}): Promise<void> {
  deliveries.takeBatches()
  const made_by_id = new Map(exports.map((made) => [made.id, made]))
  for (const run of await listEnded(db, known)) {
    known.add(run.id)
    await deliveries.look(run, made_by_id.get(run.batch_export_id)!)
  }
}

/** Whatever is promised is at every place that has a schedule. */
export async function expectPromised(
  places: Places,
  exports: readonly MadeExport[],
  ledger: Ledger,
  fault: Fault,
): Promise<void> {
  await indexTable(places.warehouse.admin)
  for (const { name, kind, paused } of exports) {
    if (paused) continue
    if (kind === 'table') await expectPromisedRows(places.warehouse.admin, ledger, fault)
    else ledger.expectPromised(name)
  }
  ledger.promisesKept()
}
