// The files of all projects: the only place that changes them. Folds happen one after another; merges, which take longer,
// beside them.
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ToFold } from '../journal/journal.ts'
import { makeFolder } from '../durable.ts'
import { fold, splitSegments, type FoldOptions } from './fold.ts'
import {
  changeSegments,
  filesOf,
  MANIFEST_NAME,
  projectFolder,
  readManifest,
  wantedColumns,
  writeManifest,
  type KeptColumn,
  type Manifest,
  type Segment,
} from './manifest.ts'
import { findNeighbours, hasRoomToMerge, mergeSegments } from './merge.ts'
import { NewFiles } from './new-files.ts'
import { readSections, type Gathered } from './sections.ts'

export class ProjectFiles {
  readonly #folder: string
  readonly #folding: DuckDBConnection
  readonly #merging: DuckDBConnection
  readonly #manifests = new Map<number, Manifest>()
  #folds: Promise<unknown> = Promise.resolve()
  #merges: Promise<unknown> = Promise.resolve()

  private constructor(folder: string, folding: DuckDBConnection, merging: DuckDBConnection) {
    this.#folder = folder
    this.#folding = folding
    this.#merging = merging
  }

  static async open(folder: string, instance: DuckDBInstance): Promise<ProjectFiles> {
    return new ProjectFiles(folder, await instance.connect(), await instance.connect())
  }

  folderOf(project_id: number): string {
    return projectFolder(this.#folder, project_id)
  }

  manifest(project_id: number): Manifest {
    let manifest = this.#manifests.get(project_id)
    if (!manifest) {
      manifest = readManifest(this.#folder, project_id)
      this.#clean(project_id, manifest)
      this.#manifests.set(project_id, manifest)
    }
    return manifest
  }

  fold(project_id: number, waiting: ToFold | null, options: FoldOptions): Promise<Manifest> {
    return this.add(project_id, () => readSections(waiting ?? { upto: null, sections: [] }), options)
  }

  /** Read when it is its turn: many may be waiting. */
  add(project_id: number, read: () => Gathered, options: FoldOptions): Promise<Manifest> {
    const folded = this.#folds.then(async () => {
      if (!existsSync(this.folderOf(project_id))) makeFolder(this.folderOf(project_id))
      return this.#writing(project_id, async (files) => {
        const before = this.manifest(project_id)
        const { gone, made, ...rest } = await fold(this.#folding, files, before, read(), options)
        // Read anew: a merge may have ended meanwhile.
        const manifest = this.manifest(project_id)
        const segments = changeSegments(manifest.segments, { gone, made })
        return this.#keep(project_id, { ...manifest, ...rest, segments })
      })
    })
    this.#folds = folded.catch(() => undefined)
    return folded
  }

  /** Null when nothing was to be done. */
  merge(project_id: number): Promise<Manifest | null> {
    const merged = this.#merges.then(async () => {
      const before = this.manifest(project_id)
      const neighbours = findNeighbours(before)
      if (!neighbours || !hasRoomToMerge(this.folderOf(project_id), neighbours)) return null
      return this.#writing(project_id, async (files) => {
        const made = [await mergeSegments(this.#merging, files, neighbours, wantedColumns(before))]
        const manifest = this.manifest(project_id)
        const segments = changeSegments(manifest.segments, { gone: neighbours, made })
        return this.#keep(project_id, { ...manifest, segments })
      })
    })
    this.#merges = merged.catch(() => undefined)
    return merged
  }

  /** Files that are written from now on have these columns. */
  keepColumns(project_id: number, columns: readonly KeptColumn[]): Manifest {
    const manifest = this.manifest(project_id)
    return manifest.version === 0 ? manifest : this.#keep(project_id, { ...manifest, columns })
  }

  /** What a move brings besides events: which positions have none, and that no copies are there yet. */
  keepMoved(project_id: number, moved: Pick<Manifest, 'holes'> | Pick<Manifest, 'copies'>): Manifest {
    makeFolder(this.folderOf(project_id))
    return this.#keep(project_id, { ...this.manifest(project_id), ...moved })
  }

  /** Puts a file with other columns in the place of one with the same events; null when that one is gone. */
  replaceSegment(project_id: number, file: string, made: Segment): Promise<Manifest | null> {
    const replace = () => {
      const manifest = this.manifest(project_id)
      const gone = manifest.segments.filter((segment) => segment.file === file)
      if (gone.length === 0) return null
      const segments = changeSegments(manifest.segments, { gone, made: [made] })
      return this.#keep(project_id, { ...manifest, segments })
    }
    // A loose file is in the hands of folds alone, any other in those of merges alone.
    const { loose } = splitSegments(this.manifest(project_id).segments)
    const isLoose = loose.some((segment) => segment.file === file)
    const replaced = (isLoose ? this.#folds : this.#merges).then(replace)
    const ended = replaced.catch(() => undefined)
    if (isLoose) this.#folds = ended
    else this.#merges = ended
    return replaced
  }

  remove(project_id: number): Promise<void> {
    const removed = Promise.all([this.#folds, this.#merges]).then(() => {
      rmSync(this.folderOf(project_id), { recursive: true, force: true })
      this.#manifests.delete(project_id)
    })
    this.#folds = removed.catch(() => undefined)
    return removed
  }

  async close(): Promise<void> {
    await Promise.all([this.#folds, this.#merges])
    this.#folding.closeSync()
    this.#merging.closeSync()
  }

  /** Files that did not come onto the list are removed, whether or not the work failed. */
  async #writing(project_id: number, work: (files: NewFiles) => Promise<Manifest>): Promise<Manifest> {
    const files = new NewFiles(this.folderOf(project_id))
    try {
      const manifest = await work(files)
      files.remove(new Set(filesOf(manifest)))
      return manifest
    } catch (error) {
      // The list on the disk may be newer than ours: what comes after its replacement can fail too.
      files.remove(new Set(filesOf(readManifest(this.#folder, project_id))))
      throw error
    }
  }

  #keep(project_id: number, changed: Omit<Manifest, 'version'>): Manifest {
    const manifest = { ...changed, version: this.manifest(project_id).version + 1 }
    writeManifest(this.#folder, project_id, manifest)
    this.#manifests.set(project_id, manifest)
    return manifest
  }

  /** Files that a killed process was at. */
  #clean(project_id: number, manifest: Manifest): void {
    const known = new Set([...filesOf(manifest), MANIFEST_NAME])
    for (const name of listFiles(this.folderOf(project_id))) {
      if (!known.has(name)) rmSync(join(this.folderOf(project_id), name), { force: true })
    }
  }
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
