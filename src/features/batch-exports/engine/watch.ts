// Watches one attempt from outside: whether it waits for its destination, since when, and whether for too long.
import { Passing, type Delivery, type Destination } from '../destinations/destination.ts'

/** An answer that takes longer is waited for; until then the run counts as at work. */
const PATIENCE_MS = 500
const MINUTE_MS = 60_000
const OPEN_LIMIT_MS = 15 * MINUTE_MS
/** A file may take as long as opening, and a second for each of these: the slowest line that gets anywhere. */
const SLOWEST_BYTES_PER_S = 64 * 1024
/** One statement of a warehouse may move all rows of a run. */
const FINISH_LIMIT_MS = 180 * MINUTE_MS

type Surroundings = {
  /** Milliseconds that only ever grow: the clock on the wall may be set. */
  elapsed_ms(): number
  now(): Date
  /** Told when the run begins to wait. */
  onWaiting(): void
}

export class Watch {
  readonly #around: Surroundings
  /** The call to the destination that is going on. */
  #call: { began_ms: number; began_at: Date; limit_ms: number } | null = null

  constructor(around: Surroundings) {
    this.#around = around
  }

  /** The destination, each of whose calls is noted here. */
  over<Config>(destination: Destination<Config>): Destination<Config> {
    return {
      ...destination,
      open: async (context) =>
        this.#deliveryOf(await this.#during(OPEN_LIMIT_MS, () => destination.open(context))),
    }
  }

  /** Null while the run is at work. */
  waitingSince(): Date | null {
    return this.#call && this.#callMs() >= PATIENCE_MS ? this.#call.began_at : null
  }

  /** What the attempt fails of when its destination has been silent for too long. */
  silence(): Passing | null {
    if (!this.#call || this.#callMs() < this.#call.limit_ms) return null
    const minutes = Math.round(this.#callMs() / MINUTE_MS)
    return new Passing(`The destination did not answer for ${minutes} minutes; the run will be tried again.`)
  }

  #callMs(): number {
    return this.#around.elapsed_ms() - this.#call!.began_ms
  }

  #deliveryOf(delivery: Delivery): Delivery {
    return {
      ...delivery,
      write: (file) => this.#during(writeLimitMs(file.bytes), () => delivery.write(file)),
      finish: (confirm) => this.#during(FINISH_LIMIT_MS, () => delivery.finish(confirm)),
      abort: () => this.#during(OPEN_LIMIT_MS, () => delivery.abort()),
    }
  }

  async #during<T>(limit_ms: number, call: () => Promise<T>): Promise<T> {
    const { elapsed_ms, now, onWaiting } = this.#around
    this.#call = { began_ms: elapsed_ms(), began_at: now(), limit_ms }
    // A little later: timers go by another clock, and may ring a moment too early.
    const patience = setTimeout(onWaiting, PATIENCE_MS + 5).unref()
    try {
      return await call()
    } finally {
      clearTimeout(patience)
      this.#call = null
    }
  }
}

function writeLimitMs(bytes: number): number {
  return OPEN_LIMIT_MS + (bytes / SLOWEST_BYTES_PER_S) * 1000
}
