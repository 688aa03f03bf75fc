// How much waits in the journal to be folded: files, how many there may be, and how many sections of each wait.
export type JournalLimits = {
  /** The next record goes into a new file once the current one has this size. */
  file_bytes: number
  /**
   * With more files, the projects in the oldest one are folded so that it can be deleted. However small, each of them has
   * collected some events by then.
   */
  max_files: number
  /** With more files, writes wait for those folds. */
  too_many_files: number
}

export const LIMITS: JournalLimits = { file_bytes: 32 * 1024 * 1024, max_files: 16, too_many_files: 24 }

export class WaitingFiles {
  readonly #sections = new Map<number, number>()

  get count(): number {
    return this.#sections.size
  }

  get oldest(): number {
    return Math.min(...this.#sections.keys())
  }

  has(file: number): boolean {
    return this.#sections.has(file)
  }

  addSection(file: number): void {
    this.#sections.set(file, (this.#sections.get(file) ?? 0) + 1)
  }

  /** Sections that were folded, or that nobody wants any more. */
  leave(sections: readonly { file: number }[]): void {
    for (const { file } of sections) {
      const left = this.#sections.get(file)! - 1
      if (left > 0) this.#sections.set(file, left)
      else this.#sections.delete(file)
    }
  }
}
