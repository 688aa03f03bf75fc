// How much of what was written late is still in the journal. The journal is everybody's, and must not fill up with it.

/** Characters of one project, and of all. */
const MAX_OF_PROJECT = 32 * 1024 * 1024
const MAX_OF_ALL = 128 * 1024 * 1024

export class Unfolded {
  readonly #fold: (project_id: number) => Promise<void>
  readonly #text = new Map<number, number>()
  readonly #folding = new Map<number, Promise<void>>()

  constructor(fold: (project_id: number) => Promise<void>) {
    this.#fold = fold
  }

  add(project_id: number, text: number): void {
    this.#text.set(project_id, this.#of(project_id) + text)
  }

  /** Others wait for folds of this project only while there is too much of all. */
  async waitForRoom(project_id: number): Promise<void> {
    while (this.#of(project_id) >= MAX_OF_PROJECT) await this.#folded(project_id)
    while (this.#total >= MAX_OF_ALL) await this.#folded(this.#largest)
  }

  #of(project_id: number): number {
    return this.#text.get(project_id) ?? 0
  }

  get #total(): number {
    return [...this.#text.values()].reduce((total, text) => total + text, 0)
  }

  get #largest(): number {
    const [largest] = [...this.#text].sort(([, one], [, other]) => other - one)
    return largest![0]
  }

  /** Once at a time. */
  #folded(project_id: number): Promise<void> {
    let folding = this.#folding.get(project_id)
    if (!folding) {
      const text = this.#of(project_id)
      folding = this.#fold(project_id)
        // What cannot be folded now is in the journal.
        .catch(() => undefined)
        .then(() => {
          this.#folding.delete(project_id)
          const left = this.#of(project_id) - text
          if (left > 0) this.#text.set(project_id, left)
          else this.#text.delete(project_id)
        })
      this.#folding.set(project_id, folding)
    }
    return folding
  }
}
