// The file of rows that could not be used: each with its line, the reason and its text, so that it can be mended.
import { appendFile, stat, truncate } from 'node:fs/promises'

export type Reject = { line: number; reason: string; text: string }

export class RejectsFile {
  readonly path: string
  bytes: number

  private constructor(path: string, bytes: number) {
    this.path = path
    this.bytes = bytes
  }

  /** @param kept how much of the file counts: what is behind was written by a run that was killed. Null: all of it */
  static async open(path: string, kept: number | null): Promise<RejectsFile> {
    const size = await stat(path).then(
      (facts) => facts.size,
      () => 0,
    )
    if (kept === null || kept >= size) return new RejectsFile(path, size)
    await truncate(path, kept)
    return new RejectsFile(path, kept)
  }

  /** The file is made with the first row that needs it. */
  async add(rejects: readonly Reject[]): Promise<void> {
    if (rejects.length === 0) return
    const text = rejects.map((reject) => `${JSON.stringify(reject)}\n`).join('')
    await appendFile(this.path, text, { flush: true })
    this.bytes += Buffer.byteLength(text)
  }
}
