// Writing in batches: what is handed over waits a moment for company, and only one batch is under way at a time.

export class WriteLater {
  readonly #options: WriteLaterOptions
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> = Promise.resolve()
  #is_closed = false

  constructor(options: WriteLaterOptions) {
    this.#options = options
  }

  /** There is something to write. */
  soon(): void {
    if (this.#is_closed) return
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.now().catch(this.#options.onFault)
    }, this.#options.delay_ms).unref()
  }

  /** Writes what there is. After a failure it is tried again by itself. */
  now(): Promise<void> {
    const before = this.#writing.catch(() => undefined)
    this.#writing = before.then(this.#options.write).catch((error: unknown) => {
      this.soon()
      throw error
    })
    return this.#writing
  }

  /** What cannot be written now is lost. */
  async close(): Promise<void> {
    this.#is_closed = true
    if (this.#timer) clearTimeout(this.#timer)
    await this.now().catch(this.#options.onFault)
  }
}

export type WriteLaterOptions = {
  delay_ms: number
  /** Takes all that waits; when it throws, that has to wait on. */
  write: () => Promise<void>
  onFault: (error: unknown) => void
}
