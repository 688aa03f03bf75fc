// What readers of the destinations see, and what is on its way there: folders and buckets of files, tables with and
// without a key, and an endpoint that takes batches.
import type { RunFacts } from '../../src/features/batch-exports/destinations/destination.ts'

export type ShownFile = { content: string; run_id: string }
export type StagedPart = { id: string; name: string; content: string; run_id: string; attempt: number }
export type Row = { uuid: string; run_id: string }
export type Batch = { run_id: string; sequence: number; body: string }

export class Table {
  rows: Row[] = []
  /** Runs that were committed, and how many rows each brought. */
  readonly ledger = new Map<string, number>()
}

/** Ways to break what a destination promises, which the proof must notice. */
export type PlaceOptions = {
  /** Without, tables forget which runs they have. */
  has_ledger: boolean
  has_shared_names: boolean
  keeps_leftovers: boolean
}

export class Places {
  readonly files = new Map<string, ShownFile>()
  readonly staged = new Set<StagedPart>()
  #uploads = 0
  readonly batches: Batch[] = []
  readonly #tables = new Map<string, Table>()
  readonly #options: PlaceOptions

  constructor(options: PlaceOptions) {
    this.#options = options
  }

  /** As readers find it. */
  nameOf(name: string): string {
    return this.#options.has_shared_names ? name.replace(/_backfill-[0-9a-f-]{36}/, '') : name
  }

  remove(name: string): void {
    if (!this.#options.keeps_leftovers) this.files.delete(name)
  }

  table(export_id: string): Table {
    const known = this.#tables.get(export_id)
    if (known) return known
    const table = new Table()
    this.#tables.set(export_id, table)
    return table
  }

  /** A folder is cleared of what earlier attempts have left; a bucket keeps each upload apart, until somebody ends it. */
  stage(made: Omit<StagedPart, 'id'>, is_folder: boolean): StagedPart {
    const part = { ...made, id: String(++this.#uploads) }
    const isOlder = (other: StagedPart) => other.run_id === part.run_id && other.attempt < part.attempt
    if (is_folder) for (const other of this.staged) if (isOlder(other)) this.staged.delete(other)
    this.staged.add(part)
    return part
  }

  endUpload(id: string): void {
    for (const part of this.staged) if (part.id === id) this.staged.delete(part)
  }

  /** As a whole, in place of what had that name. False: somebody has removed it. */
  publish(part: StagedPart): boolean {
    if (!this.staged.delete(part)) return this.files.get(part.name)?.run_id === part.run_id
    this.files.set(part.name, { content: part.content, run_id: part.run_id })
    return true
  }

  /** One transaction. A key on the uuid leaves out what is there already; a repair replaces it. */
  commit(run: RunFacts, uuids: readonly string[], has_key: boolean): number {
    const table = this.table(run.batch_export_id)
    const known = this.#options.has_ledger ? table.ledger.get(run.id) : undefined
    if (known !== undefined && !run.is_repair) return known
    if (run.is_repair) table.rows = table.rows.filter(({ uuid }) => !uuids.includes(uuid))
    const there = new Set(has_key ? table.rows.map(({ uuid }) => uuid) : [])
    for (const uuid of uuids) if (!there.has(uuid)) table.rows.push({ uuid, run_id: run.id })
    table.ledger.set(run.id, uuids.length)
    return uuids.length
  }
}
