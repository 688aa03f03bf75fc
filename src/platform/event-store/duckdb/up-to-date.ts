// The files of projects as those need them who read: with everything that was written before. What waits in the journal is
// folded first; what changes the files of a project happens one after another; and files that others stand in for now stay
// as long as somebody reads them.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Caller } from './calls.ts'
import type { JournalCalls } from './journal/messages.ts'
import { Leases } from '../leases.ts'
import type { EngineCalls } from './messages.ts'
import { splitSegments } from './segments/fold.ts'
import {
  EMPTY_MANIFEST,
  filesOf,
  projectFolder,
  segmentFiles,
  type KeptColumn,
  type Manifest,
  type Segment,
} from './segments/manifest.ts'
import { findNeighbours } from './segments/merge.ts'

export type StoreThreads = {
  folder: string
  engine: Caller<EngineCalls>
  journal: Caller<JournalCalls>
}

/** Files that could not be merged would otherwise be tried with each batch of events. */
const MERGE_AGAIN_MS = 600_000

/** `tidy` is what exports read: the same rows lie in the same portions, however they came into files. */
export type Form = 'any' | 'tidy'

export class UpToDate {
  readonly #threads: StoreThreads
  readonly #manifests = new Map<number, Manifest>()
  /** Projects that have something in the journal. */
  readonly #waiting: Set<number>
  readonly #changes = new Map<number, Promise<unknown>>()
  readonly #folding = new Map<number, Promise<unknown>>()
  readonly #merging = new Set<number>()
  /** Projects whose files could not be merged, and when that is tried again. */
  readonly #merge_again = new Map<number, number>()
  /** What they had is gone or about to go. */
  readonly #removed = new Set<number>()
  readonly #leases = new Leases()
  #is_closing = false

  constructor(threads: StoreThreads, waiting: readonly number[]) {
    this.#threads = threads
    this.#waiting = new Set(waiting)
  }

  /** The project has more in the journal than before. */
  wasWritten(project_id: number): void {
    this.#waiting.add(project_id)
  }

  read<Result>(
    project_id: number,
    form: Form,
    work: (manifest: Manifest) => Promise<Result> | Result,
  ): Promise<Result> {
    return this.#leases.read(project_id, async () => work(await this.#get(project_id, form)))
  }

  /** The files that the project has stay where they are meanwhile; null when they are gone or about to go. */
  holding<Result>(project_id: number, work: () => Promise<Result>): Promise<Result | null> {
    return this.#leases.read(project_id, async () => (this.#removed.has(project_id) ? null : work()))
  }

  /** Once at a time: a project that gets many events is asked for with each of them. */
  foldSoon(project_id: number): Promise<unknown> {
    let fold = this.#folding.get(project_id)
    if (!fold) {
      fold = this.read(project_id, 'any', () => Promise.resolve())
        // What could not be folded is in the journal, and is tried again when more comes in or somebody asks.
        .catch(() => undefined)
        .finally(() => this.#folding.delete(project_id))
      this.#folding.set(project_id, fold)
    }
    return fold
  }

  /** All that the project has goes, once those have ended who read it. */
  remove(project_id: number): Promise<void> {
    // Said before its turn comes: whoever reads from now on waits for no change, as this one waits for those who read.
    this.#removed.add(project_id)
    return this.#change(project_id, async () => {
      this.#waiting.delete(project_id)
      this.#manifests.delete(project_id)
      await new Promise<void>((resolve) => this.#leases.afterReaders(project_id, resolve))
      await this.#threads.engine.call('removeProject', project_id)
      // A file that was written again meanwhile may have brought it back.
      this.#manifests.delete(project_id)
    })
  }

  /** Files that are written from now on have these columns. */
  keepColumns(project_id: number, columns: readonly KeptColumn[]): Promise<Manifest> {
    return this.#change(project_id, async () =>
      this.#replace(project_id, await this.#threads.engine.call('keepColumns', project_id, columns)),
    )
  }

  /** Puts one in the place of a file with the same events, which stays where it is meanwhile. */
  replaceSegment(project_id: number, { file }: Segment, write: () => Promise<Segment>): Promise<void> {
    return this.#leases.read(project_id, async () => {
      const made = await write()
      const manifest = await this.#threads.engine.call('replaceSegment', project_id, file, made)
      if (!manifest) return this.#removeFiles(project_id, segmentFiles(made))
      this.#replace(project_id, manifest)
    })
  }

  /** Nothing is begun any more that nobody waits for. */
  close(): void {
    this.#is_closing = true
  }

  #get(project_id: number, form: Form): Promise<Manifest> {
    if (this.#removed.has(project_id)) return Promise.resolve(EMPTY_MANIFEST)
    const known = this.#manifests.get(project_id)
    const isReady =
      known && !this.#waiting.has(project_id) && !this.#changes.has(project_id) && hasForm(known, form)
    return isReady ? Promise.resolve(known) : this.#change(project_id, () => this.#fold(project_id, form))
  }

  async #fold(project_id: number, form: Form): Promise<Manifest> {
    const { engine, journal } = this.#threads
    const before = this.#replace(project_id, await engine.call('manifest', project_id))
    const isWaiting = this.#waiting.delete(project_id)
    if (!isWaiting && hasForm(before, form)) return before
    try {
      const waiting = isWaiting ? await journal.call('seal', project_id) : null
      const manifest = await engine.call('fold', project_id, waiting, { isTidy: form === 'tidy' })
      await journal.call('folded', project_id, manifest)
      return this.#replace(project_id, manifest)
    } catch (error) {
      if (isWaiting) this.#waiting.add(project_id)
      throw error
    }
  }

  /** Gives the newest there is: a fold and a merge may end in any order. */
  #replace(project_id: number, manifest: Manifest): Manifest {
    const before = this.#manifests.get(project_id)
    if (before && before.version > manifest.version) return before
    this.#manifests.set(project_id, manifest)
    const kept = new Set(filesOf(manifest))
    const replaced = before ? filesOf(before).filter((file) => !kept.has(file)) : []
    if (replaced.length > 0) void this.#removeReplaced(project_id, manifest, replaced).catch(() => undefined)
    if (findNeighbours(manifest)) this.#mergeSoon(project_id)
    return manifest
  }

  /** Until there is nothing more to be put together. */
  #mergeSoon(project_id: number): void {
    const isEarly = performance.now() < (this.#merge_again.get(project_id) ?? 0)
    if (isEarly || this.#merging.has(project_id) || this.#is_closing) return
    this.#merging.add(project_id)
    // What could not be merged is read as it is.
    void this.#merge(project_id)
      .then(() => this.#merge_again.delete(project_id))
      .catch(() => this.#merge_again.set(project_id, performance.now() + MERGE_AGAIN_MS))
      .finally(() => this.#merging.delete(project_id))
  }

  async #merge(project_id: number): Promise<void> {
    const next = () => (this.#is_closing ? null : this.#threads.engine.call('merge', project_id))
    for (let manifest = await next(); manifest; manifest = await next()) this.#replace(project_id, manifest)
  }

  #change<Result>(project_id: number, work: () => Promise<Result>): Promise<Result> {
    const before = this.#changes.get(project_id) ?? Promise.resolve()
    const change = before.then(work)
    const settled = change
      .catch(() => undefined)
      .then(() => {
        if (this.#changes.get(project_id) === settled) this.#changes.delete(project_id)
      })
    this.#changes.set(project_id, settled)
    return change
  }

  /** The journal reads files beside those of events: it has to know the others before these go. */
  async #removeReplaced(project_id: number, manifest: Manifest, files: readonly string[]): Promise<void> {
    await this.#threads.journal.call('replaced', project_id, manifest)
    this.#leases.afterReaders(project_id, () => void this.#removeFiles(project_id, files))
  }

  async #removeFiles(project_id: number, files: readonly string[]): Promise<void> {
    const folder = projectFolder(this.#threads.folder, project_id)
    // What cannot be removed is when the project is asked for after the next start.
    for (const file of files) await rm(join(folder, file), { force: true }).catch(() => undefined)
  }
}

function hasForm({ segments }: Manifest, form: Form): boolean {
  return form === 'any' || splitSegments(segments).loose.length <= 1
}
