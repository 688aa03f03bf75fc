// Memory that a thread shares with the main thread, so that the watchdog knows whose code runs, and until when it may,
// even while that thread answers nobody.

const APP = 0
const UNTIL = 1
const TAKEN = 2

export class RunningWord {
  readonly #words: BigInt64Array

  constructor(memory: SharedArrayBuffer) {
    this.#words = new BigInt64Array(memory)
  }

  static makeMemory(): SharedArrayBuffer {
    return new SharedArrayBuffer(3 * BigInt64Array.BYTES_PER_ELEMENT)
  }

  enter(app_id: number, until: number): void {
    Atomics.store(this.#words, UNTIL, BigInt(until))
    Atomics.store(this.#words, APP, BigInt(app_id))
  }

  leave(): void {
    Atomics.store(this.#words, APP, 0n)
  }

  /** Work up to this number is begun. */
  take(work_id: number): void {
    Atomics.store(this.#words, TAKEN, BigInt(work_id))
  }

  get taken(): number {
    return Number(Atomics.load(this.#words, TAKEN))
  }

  /** Null when no app's code runs. */
  get running(): { app_id: number; until: number } | null {
    const app_id = Number(Atomics.load(this.#words, APP))
    return app_id === 0 ? null : { app_id, until: Number(Atomics.load(this.#words, UNTIL)) }
  }
}
