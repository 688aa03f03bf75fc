// Who goes next when several wait for the same thing: start-time fair queueing. Each sender has a clock of its own, which
// runs ahead by the cost of what it asks for; the earliest goes first. Whoever asks for little hardly waits, however much
// another has asked for before.

type Entry<Item> = { item: Item; sender: string; start: number }

const FIRST_SWEEP_AT = 1_000

/** What one sender asks for stays in its order. */
export class FairQueue<Item> {
  /** By start. */
  #waiting: Entry<Item>[] = []
  /** When a sender's next item starts; in the past for those that are missing. */
  readonly #next_start = new Map<string, number>()
  /** Start of what was taken last. */
  #now = 0
  #sweep_at = FIRST_SWEEP_AT

  get length(): number {
    return this.#waiting.length
  }

  /** What goes next. */
  get first(): Item | undefined {
    return this.#waiting[0]?.item
  }

  push(item: Item, sender: string, cost: number): void {
    const start = Math.max(this.#now, this.#next_start.get(sender) ?? 0)
    this.#next_start.set(sender, start + cost)
    if (this.#next_start.size > this.#sweep_at) this.#sweep()
    this.#waiting.splice(this.#placeFor(start), 0, { item, sender, start })
  }

  /** The first whose sender may go; undefined when there is none. */
  shift(may: (sender: string) => boolean = () => true): Item | undefined {
    const at = this.#waiting.findIndex(({ sender }) => may(sender))
    const [entry] = at === -1 ? [] : this.#waiting.splice(at, 1)
    if (!entry) return undefined
    this.#now = Math.max(this.#now, entry.start)
    return entry.item
  }

  /** Forgets the others. */
  keep(isWanted: (item: Item) => boolean): void {
    this.#waiting = this.#waiting.filter(({ item }) => isWanted(item))
  }

  /** After all that start as early. */
  #placeFor(start: number): number {
    let low = 0
    let high = this.#waiting.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#waiting[middle]!.start <= start) low = middle + 1
      else high = middle
    }
    return low
  }

  #sweep(): void {
    for (const [sender, start] of this.#next_start) {
      if (start <= this.#now) this.#next_start.delete(sender)
    }
    this.#sweep_at = Math.max(FIRST_SWEEP_AT, 2 * this.#next_start.size)
  }
}
