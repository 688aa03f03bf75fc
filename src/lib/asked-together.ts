// Many single questions, asked as few: those of one turn of the event loop go together, and so do all that come while an
// answer is under way. Nothing is kept, so every answer is as fresh as if it had been asked for alone.

type Waiter<Found> = { resolve(found: Found | undefined): void; reject(error: unknown): void }

export class AskedTogether<Key, Found> {
  #waiting = new Map<Key, Waiter<Found>[]>()
  #is_asking = false

  /** `ask` leaves out what it does not find. */
  constructor(
    private readonly ask: (keys: readonly Key[]) => Promise<ReadonlyMap<Key, Found>>,
    private readonly most: number,
  ) {}

  find(key: Key): Promise<Found | undefined> {
    return new Promise((resolve, reject) => {
      const waiters = this.#waiting.get(key)
      if (waiters) waiters.push({ resolve, reject })
      else this.#waiting.set(key, [{ resolve, reject }])
      if (this.#is_asking) return
      this.#is_asking = true
      setImmediate(() => void this.#askAll())
    })
  }

  async #askAll(): Promise<void> {
    while (this.#waiting.size > 0) await this.#askSome()
    this.#is_asking = false
  }

  async #askSome(): Promise<void> {
    const asked = [...this.#waiting].slice(0, this.most)
    for (const [key] of asked) this.#waiting.delete(key)
    try {
      const found = await this.ask(asked.map(([key]) => key))
      for (const [key, waiters] of asked) for (const { resolve } of waiters) resolve(found.get(key))
    } catch (error) {
      for (const [, waiters] of asked) for (const { reject } of waiters) reject(error)
    }
  }
}
