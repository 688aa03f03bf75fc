// The timers behind an instance's buffers. They never keep the thread alive.
import { Refusal } from './untrusted.ts'

// Often enough for a buffer, and too seldom to live on.
const MIN_DELAY_MS = 1_000
const MAX_DELAY_MS = 24 * 3600 * 1000

export class Alarms {
  readonly #timers = new Map<number, NodeJS.Timeout>()

  constructor(
    private readonly max: number,
    private readonly ring: (id: number) => void,
  ) {}

  get size(): number {
    return this.#timers.size
  }

  set(id: number, delay_ms: number): void {
    if (this.#timers.size >= this.max) throw new Refusal('too many buffers at once')
    this.clear(id)
    const timer = setTimeout(
      () => {
        this.#timers.delete(id)
        this.ring(id)
      },
      Math.min(Math.max(MIN_DELAY_MS, delay_ms), MAX_DELAY_MS),
    )
    this.#timers.set(id, timer.unref())
  }

  clear(id: number): void {
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
  }

  clearAll(): void {
    for (const id of this.#timers.keys()) this.clear(id)
  }
}
