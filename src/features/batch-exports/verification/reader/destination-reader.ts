// Reads back what lies at destinations and compares it: the part of verification that costs CPU. Runs in its own thread
// (thread.ts); thread-reader.ts calls it from outside.
import { createReadStream } from 'node:fs'
import {
  openParquetReader,
  type ParquetReader,
} from '../../../../platform/event-store/duckdb/parquet-file.ts'
import { openOutbound, type Outbound } from '../../../../platform/outbound/outbound.ts'
import type { OutputColumn } from '../../definition.ts'
import type {
  Destination,
  DestinationSettings,
  Inspection,
  RunFacts,
  TableInspection,
  TableScope,
} from '../../destinations/destination.ts'
import { DESTINATIONS } from '../../destinations/index.ts'
import type { Entry } from './compare-rows.ts'
import { forEachLine } from './lines.ts'
import { OutOfReach, reachFault } from './out-of-reach.ts'
import { readContent, sumUuids, type FileContent } from './read-file.ts'
import { TableComparison, type Compared, type Totals } from './table-comparison.ts'
import type { Sums } from './uuid-sums.ts'

export type ReaderOptions = {
  settings: DestinationSettings
  outbound_allow: readonly string[]
  /** How long a destination may take to answer, and to send the next part of a file. */
  answer_ms: number
  stall_ms: number
}

export type ReadPlace = {
  destination_type: string
  /** Includes secrets. */
  config: Record<string, unknown>
  run: RunFacts
  columns: readonly OutputColumn[]
  /** A folder for this verification alone. */
  folder: string
}

/** What can be read back at a place. */
export type Offer = { kind: 'files' | 'nothing' } | ({ kind: 'table' } & OfferedTable)

/** Its columns are those that can be compared. */
export type OfferedTable = Pick<TableInspection, 'columns' | 'lacking' | 'has_one_row_for_uuid'>

export type FileToRead = {
  name: string
  /** The definition that its rows were written with; null for a file without rows. */
  content: { config: Record<string, unknown>; run: RunFacts; uuid_at: number | null } | null
}

/** Calls throw OutOfReach for what cannot be reached. Only one call may run at a time. */
export type PlaceReader = {
  open(place: ReadPlace): Promise<Offer>
  /** Null when the file is not there. */
  readFile(file: FileToRead): Promise<FileContent | null>
  /** The next files directly in the folder; empty at the end. */
  listMore(folder: string): Promise<string[]>
  /** Sums the uuids of rows of the store, in a file. */
  sumUuids(path: string): Promise<Sums>
  /** Hours since 1970 in which events of the store happened, read from the only column of a file. */
  listHours(path: string): Promise<number[]>
  /** How many rows say no project, where those of one are asked for. */
  digest(scope: TableScope): Promise<number>
  passOverUnowned(): Promise<void>
  expect(path: string): Promise<void>
  totals(): Promise<Totals>
  fetchDiffering(): Promise<number>
  setAside(path: string, from: Exclude<Entry['from'], 'table'>, position_as: string): Promise<void>
  /** `is_by_time`: events are told apart by their time as well as by their uuid. */
  compare(is_by_time: boolean): Promise<Compared>
  close(): Promise<void>
}

const HOUR_MS = 3_600_000
const NAMES_AT_ONCE = 5_000

export class DestinationReader implements PlaceReader {
  readonly #outbound: Outbound
  #place: ReadPlace | null = null
  #destination: Destination | null = null
  #inspection: Inspection | null = null
  #table: TableComparison | null = null
  #stop = new AbortController()
  #listing: { folder: string; names: AsyncIterator<string> } | null = null
  #parquet: Promise<ParquetReader> | null = null

  constructor(private readonly options: ReaderOptions) {
    this.#outbound = openOutbound({ allow: options.outbound_allow })
  }

  async open(place: ReadPlace): Promise<Offer> {
    await this.#leave()
    this.#place = place
    const { destination_type, folder, ...context } = place
    this.#destination = await DESTINATIONS.get(destination_type)!.load()
    const { inspect } = this.#destination
    if (!inspect) return { kind: 'nothing' }
    const { settings } = this.options
    const signal = this.#stop.signal
    this.#inspection = await this.#ask(() =>
      inspect({ ...context, outbound: this.#outbound, settings, signal, log: () => undefined }),
    )
    const { files, table } = this.#inspection
    if (table) {
      // A table that is gone has no columns: every row that should be in it is missing.
      const columns = table.columns.length > 0 ? table.columns : place.columns
      this.#table = new TableComparison(this.#inTime(table), columns, folder)
    }
    if (table) {
      const { lacking, has_one_row_for_uuid } = table
      return { kind: 'table', columns: this.#table!.columns, lacking, has_one_row_for_uuid }
    }
    return { kind: files ? 'files' : 'nothing' }
  }

  async readFile({ name, content }: FileToRead): Promise<FileContent | null> {
    const chunks = await this.#ask(() => this.#inspection!.files!.read(name))
    if (!chunks) return null
    return readContent(chunks, {
      encoding: content && this.#destination!.encoding(content.config, content.run),
      uuid_at: content?.uuid_at ?? null,
      folder: this.#place!.folder,
      parquet: () => (this.#parquet ??= openParquetReader()),
      stall_ms: this.options.stall_ms,
    })
  }

  async listMore(folder: string): Promise<string[]> {
    if (this.#listing?.folder !== folder) {
      const names = this.#inspection!.files!.list(folder)[Symbol.asyncIterator]()
      this.#listing = { folder, names }
    }
    const { names } = this.#listing
    const some: string[] = []
    while (some.length < NAMES_AT_ONCE) {
      const next = await this.#ask(() => names.next())
      if (next.done) break
      some.push(next.value)
    }
    if (some.length === 0) this.#listing = null
    return some
  }

  sumUuids(path: string): Promise<Sums> {
    return sumUuids(path)
  }

  async listHours(path: string): Promise<number[]> {
    const hours = new Set<number>()
    await forEachLine(createReadStream(path), (chunk, start, end) => {
      const [text] = Object.values(JSON.parse(chunk.toString('utf8', start, end)) as Record<string, string>)
      hours.add(Math.floor(Date.parse(text!) / HOUR_MS))
    })
    hours.delete(Number.NaN)
    return [...hours]
  }

  digest = (scope: TableScope) => this.#table!.digest(scope)
  passOverUnowned = async () => this.#table!.passOverUnowned()
  expect = (path: string) => this.#table!.expect(path)
  totals = async () => this.#table!.totals()
  fetchDiffering = () => this.#table!.fetchDiffering()
  setAside: PlaceReader['setAside'] = (path, from, position_as) =>
    this.#table!.setAside(path, from, position_as)
  compare: PlaceReader['compare'] = (is_by_time) => this.#table!.compare(is_by_time)

  async close(): Promise<void> {
    await this.#leave()
    await this.#parquet?.then((parquet) => parquet.close())
    this.#parquet = null
    await this.#outbound.close()
  }

  async #leave(): Promise<void> {
    const inspection = this.#inspection
    this.#inspection = this.#table = this.#listing = null
    // Aborts what is still under way.
    this.#stop.abort()
    this.#stop = new AbortController()
    if (inspection) await this.#ask(() => inspection.close()).catch(() => undefined)
  }

  #inTime(table: TableInspection): TableInspection {
    return {
      columns: table.columns,
      lacking: table.lacking,
      has_one_row_for_uuid: table.has_one_row_for_uuid,
      digest: (scope) => this.#ask(() => table.digest(scope)),
      rows: (scope, bucket) => this.#ask(() => table.rows(scope, bucket)),
      spell: (column, value) => table.spell(column, value),
    }
  }

  /** Runs one exchange with the destination, within the time limit. */
  async #ask<T>(exchange: () => Promise<T>): Promise<T> {
    const stop = this.#stop
    const late = new OutOfReach('The destination did not answer in time.')
    if (stop.signal.aborted) throw late
    let giveUp = () => {}
    const tooLate = new Promise<never>((_resolve, reject) => (giveUp = () => reject(late)))
    const timer = setTimeout(() => stop.abort(), this.options.answer_ms)
    stop.signal.addEventListener('abort', giveUp)
    try {
      return await Promise.race([exchange(), tooLate])
    } catch (error) {
      throw reachFault(error)
    } finally {
      clearTimeout(timer)
      stop.signal.removeEventListener('abort', giveUp)
    }
  }
}
