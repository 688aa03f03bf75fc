// Rows out of the store into files: a few at a time, projects in turn, without the time limit that queries have.
import type { DuckDBConnection, DuckDBInstance, DuckDBValue } from '@duckdb/node-api'
import { randomUUID } from 'node:crypto'
import { rm, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import {
  StoreBusy,
  type AskedProperty,
  type ExportFormat,
  type Measured,
  type PositionBlock,
  type PositionRange,
  type StagedFile,
} from '../event-store.ts'
import { measuredBy, NOTHING, spanOf, stretchesIn } from '../read-figures.ts'
import type { Area, EventChoice, ExportRows } from '../export-rows.ts'
import { tablesOf } from '../layout.ts'
import { engineType, engineValue } from './bind.ts'
import { hullOf } from '../area-condition.ts'
import { areasSql } from './area-sql.ts'
import { copySql, countSql, cutByBytesSql, cutSql, planSql, readsInOrder } from './export-sql.ts'
import { faultOf } from './faults.ts'
import { Interrupts } from './interrupts.ts'
import { writeRows } from './rows-sql.ts'
import type { Manifest } from './segments/manifest.ts'
import { exportedView } from './segments/views.ts'
import { isOutOfMemory, rows as rowsOf, type Statement } from './statements.ts'
import { Turns } from '../../../lib/turns.ts'

// A statement takes one core. Two keep the disk and both cores of a small machine busy, and more need memory.
const LEAST_AT_WORK = 2
const MOST_AT_WORK = 8
/** The engine holds all values of a piece of Parquet, and their pages beside them. */
const STATEMENT_MB = 96

/** A statement has room for so many; more statements read the events more often. */
const AREAS_AT_ONCE = 1_000

const PLANS_KEPT = 100

/** The engine would otherwise gather the few rows that a filter lets through, and hand them on after those that follow. */
async function connectInOrder(instance: DuckDBInstance): Promise<DuckDBConnection> {
  const connection = await instance.connect()
  await connection.run('SET enable_caching_operators = false')
  return connection
}

/** So much is sorted at once: two statements have their values in memory, and pages of files beside them. */
const SORTED_BYTES = 16 * 1024 * 1024

type Ask = (statement: Statement) => Promise<DuckDBValue[][]>

type ExporterOptions = {
  /** Where files are written. */
  staging: string
  memory_mb: number
  /** Makes the views of the project be there, when its turn has come, and says of which files they are. */
  see(project_id: number): Promise<ShownFiles>
}

export type ShownFiles = { folder: string; manifest: Manifest }
/** What a statement reads: a project, and properties of its events by name. */
type Read = { project_id: number; properties: readonly AskedProperty[] }

export class Exporter {
  readonly #turns: Turns<number, DuckDBConnection>
  readonly #inOrder = new Map<string, boolean>()
  /** Those that wait for everybody else to be done wait for each other first. */
  #alone: Promise<unknown> = Promise.resolve()

  private constructor(
    private readonly connections: readonly DuckDBConnection[],
    private readonly options: ExporterOptions,
  ) {
    this.#turns = new Turns(connections)
  }

  static async open(instance: DuckDBInstance, options: ExporterOptions): Promise<Exporter> {
    const connections: DuckDBConnection[] = []
    const wanted = Math.min(
      availableParallelism(),
      Math.floor(options.memory_mb / STATEMENT_MB),
      MOST_AT_WORK,
    )
    const count = Math.max(LEAST_AT_WORK, wanted)
    while (connections.length < count) connections.push(await connectInOrder(instance))
    return new Exporter(connections, options)
  }

  async measureAreas(events: EventChoice, areas: readonly Area[], signal: AbortSignal): Promise<Measured[]> {
    const measured: Measured[] = []
    const read = { project_id: events.project_id, properties: events.query.properties }
    for (let from = 0; from < areas.length; from += AREAS_AT_ONCE) {
      const some = areas.slice(from, from + AREAS_AT_ONCE)
      const found = await this.#run(read, signal, (ask) => ask(areasSql(events, some)))
      const by_place = new Map(found.map(([place, ...figures]) => [Number(place), measuredBy(figures)]))
      for (const place of some.keys()) measured.push(by_place.get(place) ?? NOTHING)
    }
    return measured
  }

  async countBlocks(rows: ExportRows, block_size: number, signal: AbortSignal): Promise<PositionBlock[]> {
    const selected = writeRows(rows)
    const blocks = await this.#run(selected, signal, (ask) => ask(countSql(selected, block_size)))
    return blocks.map(([block, last, count, ...times]) => ({
      from: Number(block) * block_size,
      to: Number(last),
      rows: Number(count),
      ...spanOf(times),
    }))
  }

  cutRows(
    rows: ExportRows,
    range: PositionRange,
    max_rows: number,
    signal: AbortSignal,
  ): Promise<PositionBlock[]> {
    const selected = writeRows(rows, range)
    const statement = cutSql(selected, range, max_rows)
    return this.#run(selected, signal, async (ask) => stretchesIn(range, await ask(statement)))
  }

  cutForParquet(rows: ExportRows, block: PositionBlock, signal: AbortSignal): Promise<PositionBlock[]> {
    const selected = writeRows(rows, block)
    return this.#run(selected, signal, async (ask, version) => {
      if (await this.#readsInOrder(rows, version, ask)) return [block]
      return stretchesIn(block, await ask(cutByBytesSql(selected, block, SORTED_BYTES)))
    })
  }

  async exportRows(
    rows: ExportRows,
    range: PositionRange,
    format: ExportFormat,
    signal: AbortSignal,
  ): Promise<StagedFile> {
    const path = join(this.options.staging, randomUUID())
    const selected = writeRows(rows, range)
    try {
      const written = await this.#run(selected, signal, async (ask, version) => {
        const isInOrder = await this.#readsInOrder(rows, version, ask)
        const [answer] = await ask(copySql(selected, range, format, path, isInOrder))
        return Number(answer![0])
      })
      return { path, rows: written, bytes: (await stat(path)).size }
    } catch (error) {
      // DuckDB leaves what it wrote until then.
      await rm(path, { force: true })
      throw error
    }
  }

  /** Returns when nothing is at work any more: whoever calls it has aborted what was. */
  async close(): Promise<void> {
    for (const _ of this.connections) (await this.#turns.take(0)).closeSync()
  }

  /** The pieces of a run are read alike, so only the first of them is planned twice. */
  async #readsInOrder(rows: ExportRows, version: number, ask: Ask): Promise<boolean> {
    const selected = writeRows(inOneArea(rows))
    const key = `${selected.project_id} ${version} ${selected.sql}`
    const known = this.#inOrder.get(key)
    if (known !== undefined) return known
    const [plan] = await ask(planSql(selected))
    const found = readsInOrder(plan![1] as string)
    if (this.#inOrder.size >= PLANS_KEPT) this.#inOrder.clear()
    this.#inOrder.set(key, found)
    return found
  }

  async #run<T>(
    { project_id, properties }: Read,
    signal: AbortSignal,
    work: (ask: Ask, version: number) => Promise<T>,
  ): Promise<T> {
    const workOn = async (connection: DuckDBConnection) => {
      const { folder, manifest } = await this.options.see(project_id)
      const ask: Ask = (statement) => interruptible(connection, statement, signal)
      if (properties.length === 0) return work(ask, manifest.version)
      // The view belongs to this connection alone: another one may ask for other properties.
      const { asked } = tablesOf(project_id)
      await connection.run(
        `CREATE OR REPLACE TEMP VIEW ${asked} AS ${exportedView(folder, manifest, properties)}`,
      )
      try {
        return await work(ask, manifest.version)
      } finally {
        await connection.run(`DROP VIEW ${asked}`)
      }
    }
    try {
      return await this.#inTurn(project_id, signal, workOn).catch((error: unknown) => {
        if (!isOutOfMemory(error)) throw error
        return this.#withoutOthers(project_id, signal, workOn)
      })
    } catch (error) {
      signal.throwIfAborted()
      throw exportFault(error)
    }
  }

  async #inTurn<T>(
    project_id: number,
    signal: AbortSignal,
    work: (connection: DuckDBConnection) => Promise<T>,
  ): Promise<T> {
    const connection = await this.#turns.take(project_id, signal)
    try {
      return await work(connection)
    } finally {
      this.#turns.giveBack(connection)
    }
  }

  #withoutOthers<T>(
    project_id: number,
    signal: AbortSignal,
    work: (connection: DuckDBConnection) => Promise<T>,
  ): Promise<T> {
    const result = this.#alone.then(async () => {
      const taken: DuckDBConnection[] = []
      try {
        while (taken.length < this.connections.length) taken.push(await this.#turns.take(project_id, signal))
        return await work(taken[0]!)
      } finally {
        for (const connection of taken) this.#turns.giveBack(connection)
      }
    })
    this.#alone = result.catch(() => undefined)
    return result
  }
}

/** Each piece is in areas of its own. Which areas those are decides about the rows that are left out, not about their order. */
function inOneArea(rows: ExportRows): ExportRows {
  const { source } = rows
  if (source.model !== 'events' || source.areas.length === 0) return rows
  return { ...rows, source: { ...source, areas: [hullOf(source.areas)] } }
}

async function interruptible(
  connection: DuckDBConnection,
  { sql, parameters }: Statement,
  signal: AbortSignal,
): Promise<DuckDBValue[][]> {
  signal.throwIfAborted()
  const interrupts = new Interrupts(connection, signal)
  try {
    return await rowsOf(connection, sql, parameters.map(engineValue), parameters.map(engineType))
  } finally {
    interrupts.end()
  }
}

function exportFault(error: unknown): unknown {
  if (isOutOfMemory(error)) return new StoreBusy('The event store has too little memory for this export.')
  // Its text names files of ours.
  if (error instanceof Error && error.message.startsWith('IO Error')) {
    return new StoreBusy('The event store could not write the export to its disk: it may be full.')
  }
  return faultOf(error, false) ?? error
}
