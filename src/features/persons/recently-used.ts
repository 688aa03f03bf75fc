// Values by key, each with its weight in bytes, in the order of their last use.

type Entry<Value> = { value: Value; bytes: number }

export class RecentlyUsed<Value> {
  readonly #entries = new Map<string, Entry<Value>>()
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  set(key: string, value: Value, bytes: number): void {
    this.delete(key)
    this.#entries.set(key, { value, bytes })
    this.#bytes += bytes
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#bytes -= entry.bytes
  }

  deleteAll(isMeant: (value: Value) => boolean): void {
    for (const [key, { value }] of this.#entries) if (isMeant(value)) this.delete(key)
  }

  /** Lets go of what was not used for longest, as long as there is too much. */
  trim(isTooMuch: () => boolean, letGo: (value: Value) => void = () => {}): void {
    for (const [key, { value }] of this.#entries) {
      if (!isTooMuch()) return
      this.delete(key)
      letGo(value)
    }
  }

  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }
}
