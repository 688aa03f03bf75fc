// Things lent out a few at a time, to parties in turn: one party's crowd does not keep the others out.

export class Turns<Party, Thing> {
  readonly #free: Thing[]
  /** Who waits, by party; the party whose turn is next comes first. */
  readonly #waiting = new Map<Party, ((thing: Thing) => void)[]>()

  constructor(things: readonly Thing[]) {
    this.#free = [...things]
  }

  /** Throws the signal's reason when that comes first. */
  take(party: Party, signal?: AbortSignal): Promise<Thing> {
    if (signal?.aborted) return Promise.reject(signal.reason as Error)
    const free = this.#free.pop()
    if (free !== undefined) return Promise.resolve(free)
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#leave(party, enter)
        reject(signal?.reason as Error)
      }
      const enter = (thing: Thing) => {
        signal?.removeEventListener('abort', leave)
        resolve(thing)
      }
      signal?.addEventListener('abort', leave, { once: true })
      const line = this.#waiting.get(party)
      if (line) line.push(enter)
      else this.#waiting.set(party, [enter])
    })
  }

  giveBack(thing: Thing): void {
    const [next] = this.#waiting
    if (!next) {
      this.#free.push(thing)
      return
    }
    const [party, line] = next
    const enter = line.shift()!
    // To the end of the round.
    this.#waiting.delete(party)
    if (line.length > 0) this.#waiting.set(party, line)
    enter(thing)
  }

  #leave(party: Party, enter: (thing: Thing) => void): void {
    const line = (this.#waiting.get(party) ?? []).filter((other) => other !== enter)
    if (line.length > 0) this.#waiting.set(party, line)
    else this.#waiting.delete(party)
  }
}
