// How far an import has come: rejected rows are written down first, then the progress that counts them. A run killed in
// between repeats the batch: the store knows the events it has, and the list of rejected rows is cut back.
import type { Delivered } from './deliveries.ts'
import { writeProgress, type Progress } from './progress-file.ts'
import { RejectsFile, type Reject } from './rejects.ts'

export type ImportCounts = {
  /** Rows of this run. */
  rows: number
  rejected: number
  /** How much of the file is behind us, between 0 and 1. */
  share: number
}

export type ImportProgressOptions = {
  /** As the last run left it, or new. */
  progress: Progress
  /** Null writes nothing at all: a trial. */
  progress_path: string | null
  onProgress(counts: ImportCounts): void
  onReject?(reject: Reject): void
}

export class ImportProgress {
  readonly progress: Progress
  readonly counts: ImportCounts = { rows: 0, rejected: 0, share: 0 }
  readonly #options: ImportProgressOptions
  readonly #rejects: RejectsFile | null

  private constructor(options: ImportProgressOptions, rejects: RejectsFile | null) {
    this.#options = options
    this.#rejects = rejects
    this.progress = { ...options.progress }
  }

  static async open(options: ImportProgressOptions): Promise<ImportProgress> {
    const { progress, progress_path } = options
    const { path, bytes } = progress.rejects
    const rejects = progress_path === null ? null : await RejectsFile.open(path, bytes)
    const import_progress = new ImportProgress(options, rejects)
    // Fails at once where nothing can be written beside the file.
    await import_progress.#save()
    return import_progress
  }

  async enter({ rows, rejects }: Delivered, share: number): Promise<void> {
    await this.#rejects?.add(rejects)
    for (const reject of rejects) this.#options.onReject?.(reject)
    this.progress.rows += rows
    this.progress.rejected += rejects.length
    await this.#save()
    this.counts.rows += rows
    this.counts.rejected += rejects.length
    this.counts.share = share
    this.#options.onProgress(this.counts)
  }

  async close(): Promise<void> {
    this.progress.is_done = true
    await this.#save()
  }

  async #save(): Promise<void> {
    const { progress_path } = this.#options
    if (progress_path === null || this.#rejects === null) return
    this.progress.rejects = { path: this.#rejects.path, bytes: this.#rejects.bytes }
    await writeProgress(progress_path, this.progress)
  }
}
