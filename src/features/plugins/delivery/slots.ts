// A few at a time, by party in turn: no party has more than its share, also where others want nothing.

export class Slots {
  readonly #share: number
  #free: number
  readonly #taken = new Map<string, number>()
  /** Who waits, by party; the party whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>()

  constructor(count: number, share: number) {
    this.#free = count
    this.#share = share
  }

  async within<T>(party: string, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0 && this.#mayHave(party)) this.#take(party)
    else await this.#turnOf(party)
    try {
      return await work()
    } finally {
      this.#giveBack(party)
    }
  }

  #mayHave(party: string): boolean {
    return (this.#taken.get(party) ?? 0) < this.#share
  }

  #take(party: string): void {
    this.#free--
    this.#taken.set(party, (this.#taken.get(party) ?? 0) + 1)
  }

  #turnOf(party: string): Promise<void> {
    return new Promise((resolve) => {
      const line = this.#waiting.get(party)
      if (line) line.push(resolve)
      else this.#waiting.set(party, [resolve])
    })
  }

  #giveBack(party: string): void {
    this.#free++
    const left = this.#taken.get(party)! - 1
    if (left > 0) this.#taken.set(party, left)
    else this.#taken.delete(party)
    const next = [...this.#waiting].find(([other]) => this.#mayHave(other))
    if (next) this.#enter(...next)
  }

  #enter(party: string, line: (() => void)[]): void {
    const enter = line.shift()!
    // To the end of the round.
    this.#waiting.delete(party)
    if (line.length > 0) this.#waiting.set(party, line)
    this.#take(party)
    enter()
  }
}
