// Columns that appear by themselves. Counts which properties questions read, chooses those that get a column of their own,
// and has the files that lack it written again, one at a time, by a process of the lowest priority that nobody waits for.
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AskedProperty } from '../../event-store.ts'
import type { QueryProcess } from '../queries/query-process.ts'
import {
  projectFolder,
  segmentFiles,
  wantedColumns,
  type Manifest,
  type Segment,
} from '../segments/manifest.ts'
import { findOutdated } from '../segments/rewrite.ts'
import type { UpToDate } from '../up-to-date.ts'
import { chooseColumns } from './choice.ts'
import { PropertyReads } from './reads.ts'

export type ColumnOptions = {
  folder: string
  projects: UpToDate
  process: QueryProcess
  /** Nobody waits for an answer. */
  isQuiet(): boolean
  now(): Date
  /** Between two looks at what is to be done. */
  pause_ms: number
}

/** Above this, ingestion has the machine for itself. */
const BUSY_EVENTS_PER_S = 1_000
const DAY_MS = 86_400_000
/** Properties that count for one question. Whoever asks for more asks for all there are. */
const MAX_COUNTED = 100

export class PropertyColumns {
  readonly #options: ColumnOptions
  readonly #reads = new PropertyReads()
  /** Projects that were asked since they were last looked at. */
  readonly #due = new Set<number>()
  #timer: NodeJS.Timeout | undefined
  /** Events since then. */
  #written = 0
  #paused_at = 0
  #work: { project_id: number; controller: AbortController; ended: Promise<void> } | null = null
  #is_closed = false

  constructor(options: ColumnOptions) {
    this.#options = options
  }

  /** A question reads these. */
  count(project_id: number, asked: readonly AskedProperty[]): void {
    if (asked.length === 0) return
    const properties = [...new Set(asked.map(({ property }) => property))]
    this.#reads.count(project_id, properties.slice(0, MAX_COUNTED), this.#today())
    this.#due.add(project_id)
    this.#lookSoon()
  }

  wrote(events: number): void {
    this.#written += events
  }

  /** The project is to be deleted: nobody is at its files any more once this has ended. */
  async forget(project_id: number): Promise<void> {
    this.#reads.forget(project_id)
    this.#due.delete(project_id)
    if (this.#work?.project_id === project_id) await this.#stop()
  }

  async close(): Promise<void> {
    this.#is_closed = true
    clearTimeout(this.#timer)
    await this.#stop()
    await this.#options.process.kill()
  }

  #today(): number {
    return Math.floor(this.#options.now().getTime() / DAY_MS)
  }

  #lookSoon(): void {
    if (this.#timer || this.#work || this.#is_closed) return
    this.#written = 0
    this.#paused_at = performance.now()
    this.#timer = setTimeout(() => void this.#look(), this.#options.pause_ms).unref()
  }

  /** One step of one project; then there is another look, as long as something is to be done. */
  async #look(): Promise<void> {
    this.#timer = undefined
    const [project_id] = this.#due
    if (project_id === undefined) return this.#options.process.kill()
    if (this.#isIdle()) await this.#begin(project_id)
    this.#lookSoon()
  }

  #isIdle(): boolean {
    const seconds = (performance.now() - this.#paused_at) / 1000
    const isBusy = this.#written > BUSY_EVENTS_PER_S * Math.max(1, seconds)
    return !isBusy && this.#options.isQuiet()
  }

  async #begin(project_id: number): Promise<void> {
    const controller = new AbortController()
    // What could not be done is when the project is asked for again; until then its files are read as they are.
    const ended = this.#step(project_id, controller.signal).catch(() => void this.#due.delete(project_id))
    this.#work = { project_id, controller, ended }
    await ended
    this.#work = null
  }

  async #step(project_id: number, signal: AbortSignal): Promise<void> {
    const { projects } = this.#options
    const found = await projects.read(project_id, 'any', (each) => Promise.resolve(each))
    const manifest = await this.#choose(project_id, found)
    const wanted = wantedColumns(manifest)
    const segment = findOutdated(manifest.segments, wanted)
    if (!segment) return void this.#due.delete(project_id)
    await projects.replaceSegment(project_id, segment, () =>
      this.#rewrite(project_id, segment, wanted, signal),
    )
    // The others have their turn before its next file.
    this.#due.delete(project_id)
    if (!signal.aborted) this.#due.add(project_id)
  }

  async #choose(project_id: number, manifest: Manifest): Promise<Manifest> {
    const today = this.#today()
    const { columns: kept = [] } = manifest
    const chosen = chooseColumns(kept, this.#reads.of(project_id, today), today)
    if (JSON.stringify(chosen) === JSON.stringify(kept)) return manifest
    return this.#options.projects.keepColumns(project_id, chosen)
  }

  async #rewrite(
    project_id: number,
    segment: Segment,
    columns: readonly string[],
    signal: AbortSignal,
  ): Promise<Segment> {
    const { folder, process } = this.#options
    const file = `${randomUUID()}.parquet`
    try {
      return await process.rewrite(project_id, { segment, columns, file }, signal)
    } catch (error) {
      for (const left of segmentFiles({ file })) {
        await rm(join(projectFolder(folder, project_id), left), { force: true })
      }
      throw error
    }
  }

  async #stop(): Promise<void> {
    const work = this.#work
    work?.controller.abort(new Error('nobody wants the columns any more'))
    await work?.ended
  }
}
