// Time as the simulation has it: what clocks show, which may be set forth and back, and what passes meanwhile, which is
// what timers go by.

const LONG_MS = 600_000

type Timer = { at_ms: number; ring(): void; unref(): Timer }

export class Clock {
  #shown_ms: number
  #passed_ms = 0
  #highest_ms: number
  readonly #timers = new Set<Timer>()

  constructor(start: Date) {
    this.#shown_ms = start.getTime()
    this.#highest_ms = this.#shown_ms
  }

  now(): Date {
    return new Date(this.#shown_ms)
  }

  /** The latest that it has ever shown. */
  highest(): Date {
    return new Date(this.#highest_ms)
  }

  pass(ms: number): void {
    this.#passed_ms += ms
    this.#show(this.#shown_ms + ms)
    for (const timer of this.#timers) {
      if (timer.at_ms > this.#passed_ms) continue
      this.#timers.delete(timer)
      timer.ring()
    }
  }

  /** Somebody sets it: no time passes. */
  set(to: Date): void {
    this.#show(to.getTime())
  }

  /** Timers of more than ten minutes ring by this clock until `restore`; shorter ones are the machine's own. */
  takeTimers(): () => void {
    const { setTimeout: realSet, clearTimeout: realClear } = globalThis
    const set = (ring: () => void, delay_ms?: number) =>
      delay_ms !== undefined && delay_ms > LONG_MS ? this.#addTimer(ring, delay_ms) : realSet(ring, delay_ms)
    const clear = (timer: NodeJS.Timeout | undefined) => {
      if (!this.#timers.delete(timer as unknown as Timer)) realClear(timer)
    }
    Object.assign(globalThis, { setTimeout: set, clearTimeout: clear })
    return () => void Object.assign(globalThis, { setTimeout: realSet, clearTimeout: realClear })
  }

  #addTimer(ring: () => void, delay_ms: number): Timer {
    const timer: Timer = { at_ms: this.#passed_ms + delay_ms, ring, unref: () => timer }
    this.#timers.add(timer)
    return timer
  }

  #show(ms: number): void {
    this.#shown_ms = ms
    this.#highest_ms = Math.max(this.#highest_ms, ms)
  }
}
