// Counting requests and failures per window, in memory. A refused request does not count. Where several processes serve the same
// callers, shared-limits.ts brings what each has counted together.
import { throttled } from './errors.ts'

export type Rate = { count: number; window_ms: number }

/** `unshared`: those of `used` that other processes do not know of yet. */
export type Window = { started_at: number; used: number; unshared: number; window_ms: number; count: number }

const FIRST_SWEEP_AT = 10_000
/** A process tells the others at once when it has let through as much of a limit as this. */
const BLOCK_SHARE = 1 / 20

export class Throttle {
  readonly #windows = new Map<string, Window>()
  #sweep_at = FIRST_SWEEP_AT
  /** Windows to be shared, and who is told of a full block; null where nobody shares. */
  #sharing: { changed: Set<string>; onBlock(): void } | null = null

  constructor(private readonly is_on: boolean) {}

  /** Takes one (or `amount`) from every rate of the bucket, or throws 429 and takes none. */
  take(bucket: string, key: string, rates: readonly Rate[], now: Date, amount = 1): void {
    if (!this.is_on) return
    const windows = rates.map((rate) => this.#window(bucket, key, rate, now.getTime()))
    const waits = windows.map(({ window }) =>
      window.used + amount > window.count ? window.started_at + window.window_ms - now.getTime() : 0,
    )
    const wait_ms = Math.max(...waits)
    if (wait_ms > 0) throw throttled(wait_ms)
    for (const { name, window } of windows) {
      window.used += amount
      this.#note(name, window, amount)
    }
  }

  /** From now on it keeps in mind what others have to know; `onBlock` is called when that is urgent. */
  share(onBlock: () => void): void {
    this.#sharing = { changed: new Set(), onBlock }
  }

  /** Up to `most` windows that others have to know of. They count as told. */
  takeUnshared(most: number): Map<string, Window> {
    const taken = new Map<string, Window>()
    for (const name of this.#sharing?.changed ?? []) {
      if (taken.size >= most) break
      this.#sharing!.changed.delete(name)
      const window = this.#windows.get(name)
      if (!window) continue
      taken.set(name, { ...window })
      window.unshared = 0
    }
    return taken
  }

  /** They could not be told. */
  putBack(untold: ReadonlyMap<string, Window>): void {
    for (const [name, { started_at, unshared }] of untold) {
      const window = this.#windows.get(name)
      if (window?.started_at === started_at) this.#note(name, window, unshared)
    }
  }

  /** What all processes together have let through, in the window that counts for all. */
  learn(name: string, { started_at, used }: Pick<Window, 'started_at' | 'used'>): void {
    const window = this.#windows.get(name)
    const isOver = window && window.started_at >= started_at + window.window_ms
    if (window && !isOver) Object.assign(window, { started_at, used: used + window.unshared })
  }

  #note(name: string, window: Window, amount: number): void {
    if (!this.#sharing) return
    window.unshared += amount
    this.#sharing.changed.add(name)
    if (window.unshared >= window.count * BLOCK_SHARE) this.#sharing.onBlock()
  }

  #window(bucket: string, key: string, rate: Rate, now: number): { name: string; window: Window } {
    const name = `${bucket}|${rate.window_ms}|${key}`
    const known = this.#windows.get(name)
    if (known && now < known.started_at + known.window_ms) return { name, window: known }
    if (this.#windows.size >= this.#sweep_at) this.#sweep(now)
    const window = { started_at: now, used: 0, unshared: 0, ...rate }
    this.#windows.set(name, window)
    return { name, window }
  }

  /** Next at twice what is left: many live windows must not make each new one walk through all of them. */
  #sweep(now: number): void {
    for (const [name, window] of this.#windows) {
      if (now >= window.started_at + window.window_ms) this.#windows.delete(name)
    }
    this.#sweep_at = Math.max(FIRST_SWEEP_AT, this.#windows.size * 2)
  }
}
