// Turns on the main thread: of those who wait, one goes in each round of the event loop, and what else waits for the loop
// gets its turn in between. Senders share the turns fairly.
import { FairQueue } from './fair-queue.ts'

export class LoopTurns {
  readonly #waiting = new FairQueue<() => void>()
  #isTaken = false

  /** Resolves when it is the sender's turn: at once, when nobody had one in this round. */
  take(sender: string, cost: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve, sender, cost)
      if (!this.#isTaken) this.#next()
    })
  }

  #next(): void {
    const next = this.#waiting.shift()
    this.#isTaken = next !== undefined
    if (!next) return
    next()
    setImmediate(() => this.#next())
  }
}
