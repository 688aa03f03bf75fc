// Counting requests and failures per window, in memory. A refused request does not count.
import { throttled } from './errors.ts'

export type Rate = { count: number; window_ms: number }

const FIRST_SWEEP_AT = 10_000

type Window = { started_at: number; used: number; window_ms: number }

export class Throttle {
  readonly #windows = new Map<string, Window>()
  #sweep_at = FIRST_SWEEP_AT

  constructor(private readonly is_on: boolean) {}

  /** Takes one (or `amount`) from every rate of the bucket, or throws 429 and takes none. */
  take(bucket: string, key: string, rates: readonly Rate[], now: Date, amount = 1): void {
    if (!this.is_on) return
    const windows = rates.map((rate) => this.#window(bucket, key, rate, now.getTime()))
    const waits = windows.map((window, index) =>
      window.used + amount > rates[index]!.count ? window.started_at + window.window_ms - now.getTime() : 0,
    )
    const wait_ms = Math.max(...waits)
    if (wait_ms > 0) throw throttled(wait_ms)
    for (const window of windows) window.used += amount
  }

  #window(bucket: string, key: string, rate: Rate, now: number): Window {
    const name = `${bucket}|${rate.window_ms}|${key}`
    const known = this.#windows.get(name)
    if (known && now < known.started_at + known.window_ms) return known
    if (this.#windows.size >= this.#sweep_at) this.#sweep(now)
    const fresh = { started_at: now, used: 0, window_ms: rate.window_ms }
    this.#windows.set(name, fresh)
    return fresh
  }

  /** Next at twice what is left: many live windows must not make each new one walk through all of them. */
  #sweep(now: number): void {
    for (const [name, window] of this.#windows) {
      if (now >= window.started_at + window.window_ms) this.#windows.delete(name)
    }
    this.#sweep_at = Math.max(FIRST_SWEEP_AT, this.#windows.size * 2)
  }
}
