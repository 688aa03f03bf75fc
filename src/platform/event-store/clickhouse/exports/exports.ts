// Rows out of ClickHouse into files: a few statements at a time, projects in turn.
import { ClickHouseError } from '@clickhouse/client'
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Turns } from '../../../../lib/turns.ts'
import {
  StoreBusy,
  StoreGone,
  type CutTexts,
  type ExportFormat,
  type Measured,
  type PositionBlock,
  type PositionRange,
  type StagedFile,
} from '../../event-store.ts'
import { measuredBy, NOTHING, spanOf, stretchesIn } from '../../read-figures.ts'
import type { Area, EventChoice, ExportRows } from '../../export-rows.ts'
import type { ClickHouse, Statement } from '../client.ts'
import { faultOf } from '../faults.ts'
import { askForCutTexts } from './cut-texts.ts'
import { areasSql, countSql, cutByBytesSql, cutSql, exportSql, lastRowsSql } from './export-sql.ts'
import { writeRows } from './rows-sql.ts'
import { EXPORT_SETTINGS, settingsOf } from './settings.ts'
import { stageFile } from './staged-file.ts'

/** The engine works on each with all its cores; more would only share its memory out. */
const AT_WORK = 4

/** A piece of Parquet is one row group, whose values it holds all at once. */
const PARQUET_BYTES = 16 * 1024 * 1024

/** A statement has room for so many; more statements read the events more often. */
const AREAS_AT_ONCE = 1_000

type ExportsOptions = {
  clickhouse: ClickHouse
  /** Where files are written. */
  staging: string
  /** What statements over events are bound to, by name. Throws when the project was deleted. */
  visible(project_id: number): Promise<Record<string, unknown>>
  /** For questions that somebody waits for; statements that write exports have no limit. */
  query_timeout_ms?: number
}

type Work = { named: Record<string, unknown>; signal: AbortSignal }

export function openExports(options: ExportsOptions): ClickHouseExports {
  return new ClickHouseExports(options)
}

export class ClickHouseExports {
  readonly #turns = new Turns<number, number>(Array.from({ length: AT_WORK }, (_, index) => index))
  readonly #closing = new AbortController()

  constructor(private readonly options: ExportsOptions) {}

  async measureAreas(events: EventChoice, areas: readonly Area[], signal: AbortSignal): Promise<Measured[]> {
    const measured: Measured[] = []
    for (let from = 0; from < areas.length; from += AREAS_AT_ONCE) {
      const some = areas.slice(from, from + AREAS_AT_ONCE)
      const found = await this.#ask(events.project_id, areasSql(events, some), signal)
      const by_place = new Map(found.map(([place, ...figures]) => [Number(place), measuredBy(figures)]))
      for (const place of some.keys()) measured.push(by_place.get(place) ?? NOTHING)
    }
    return measured
  }

  async countBlocks(rows: ExportRows, block_size: number, signal: AbortSignal): Promise<PositionBlock[]> {
    const blocks = await this.#ask(rows.project_id, countSql(writeRows(rows), block_size), signal)
    return blocks.map(([block, last, count, ...times]) => ({
      from: Number(block) * block_size,
      to: Number(last),
      rows: Number(count),
      ...spanOf(times),
    }))
  }

  async cutRows(
    rows: ExportRows,
    range: PositionRange,
    max_rows: number,
    signal: AbortSignal,
  ): Promise<PositionBlock[]> {
    const statement = cutSql(writeRows(rows, range), range, max_rows)
    return stretchesIn(range, await this.#ask(rows.project_id, statement, signal))
  }

  async cutForParquet(rows: ExportRows, block: PositionBlock, signal: AbortSignal): Promise<PositionBlock[]> {
    const statement = cutByBytesSql(writeRows(rows, block), block, PARQUET_BYTES)
    return stretchesIn(block, await this.#ask(rows.project_id, statement, signal))
  }

  async exportRows(
    rows: ExportRows,
    range: PositionRange,
    format: ExportFormat,
    wanted: AbortSignal,
  ): Promise<StagedFile> {
    const path = join(this.options.staging, randomUUID())
    const statement = exportSql(writeRows(rows, range), range, format)
    try {
      return await this.#run(rows.project_id, wanted, async ({ named, signal }) => {
        const settings = settingsOf(format)
        const answer = await this.options.clickhouse.bytes({ ...statement, named }, { signal, settings })
        return await stageFile(path, answer, format.kind, signal)
      })
    } catch (error) {
      await rm(path, { force: true })
      throw error
    }
  }

  async lastRows(rows: ExportRows, count: number): Promise<string[]> {
    const lines = await this.#ask(rows.project_id, lastRowsSql(writeRows(rows), count))
    return lines.map(([line]) => String(line))
  }

  async findCutTexts(rows: ExportRows): Promise<CutTexts> {
    const question = askForCutTexts(rows)
    if (question === null) return { rows: 0, first: null, columns: [] }
    const [answer] = await this.#ask(rows.project_id, question)
    return question.read(answer!)
  }

  /** Ends what is at work, and returns when nothing is any more. */
  async close(): Promise<void> {
    this.#closing.abort(new StoreGone('the event store is closed'))
    for (let index = 0; index < AT_WORK; index++) await this.#turns.take(0)
  }

  /** Without a signal the question has a limit of time instead. */
  async #ask(project_id: number, { sql, parameters }: Statement, wanted?: AbortSignal): Promise<unknown[][]> {
    const { clickhouse, query_timeout_ms = 60_000 } = this.options
    const limit = wanted ? {} : { max_execution_time: query_timeout_ms / 1000 }
    const settings = { ...EXPORT_SETTINGS, ...limit }
    return await this.#run(project_id, wanted, ({ named, signal }) =>
      clickhouse.rows({ sql, parameters, named }, { signal, settings }),
    )
  }

  async #run<T>(
    project_id: number,
    wanted: AbortSignal | undefined,
    work: (work: Work) => Promise<T>,
  ): Promise<T> {
    const signals = [this.#closing.signal, ...(wanted ? [wanted] : [])]
    const signal = AbortSignal.any(signals)
    const turn = await this.#turns.take(project_id, signal)
    try {
      const named = await this.options.visible(project_id)
      const result = await work({ named, signal }).catch((error: unknown) => {
        signal.throwIfAborted()
        throw exportFault(error)
      })
      // Never gives what a deleted project had.
      await this.options.visible(project_id)
      signal.throwIfAborted()
      return result
    } finally {
      this.#turns.giveBack(turn)
    }
  }
}

/** The last three: the staging folder is gone, or another's. */
const DISK_FAULTS = new Set<unknown>(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'ENOENT', 'ENOTDIR', 'EACCES'])

function exportFault(error: unknown): unknown {
  if (error instanceof ClickHouseError && error.type === 'MEMORY_LIMIT_EXCEEDED') {
    return new StoreBusy('The event store has too little memory for this export.', { cause: error })
  }
  if (error instanceof Error && 'code' in error && DISK_FAULTS.has(error.code)) {
    return new StoreBusy('The event store could not write the export to its disk: it may be full.', {
      cause: error,
    })
  }
  return faultOf(error)
}
