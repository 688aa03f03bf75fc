// Long work on the main thread, done in pieces: others get their turn whenever it has held the thread for a few
// milliseconds, however little or much it did in them.
import { setImmediate } from 'node:timers/promises'

const HELD_MS = 5

export class Breather {
  #since = performance.now()

  get isDue(): boolean {
    return performance.now() - this.#since > HELD_MS
  }

  async take(): Promise<void> {
    await setImmediate()
    this.#since = performance.now()
  }
}
