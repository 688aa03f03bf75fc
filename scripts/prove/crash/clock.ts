// The time that servers are started at. It moves from interval to interval, though rounds take seconds; sometimes by
// several at once, sometimes back.
import type { Random } from '../../crash/random.ts'

const MINUTE_MS = 60_000
export const INTERVAL_MS = 5 * MINUTE_MS
/** The longest that a run waits after its interval has ended. */
const JITTER_MS = MINUTE_MS
const HOUR_MS = 60 * MINUTE_MS
/** How far the time after the jitter varies: well within the four minutes until the next interval ends. */
const SPREAD_MS = MINUTE_MS / 2

export class Clock {
  readonly #random: Random
  #offset_ms = 0
  #furthest_ms = 0

  constructor(random: Random) {
    this.#random = random
  }

  get offset_ms(): number {
    return this.#offset_ms
  }

  now(): Date {
    return new Date(Date.now() + this.#offset_ms)
  }

  /** Moves to where all runs that cover what has arrived so far can start at once. */
  forward(): void {
    const missed = this.#random.chance(10) ? this.#random.below(4) : 0
    this.#forwardTo(INTERVAL_MS, missed)
  }

  /** Moves on until the hour in which the last events arrived has ended, too. */
  toNextHour(): void {
    this.#forwardTo(HOUR_MS, 0)
  }

  back(): void {
    this.#furthest_ms = Math.max(this.#furthest_ms, this.now().getTime())
    this.#set(this.now().getTime() - (1 + this.#random.below(9)) * MINUTE_MS)
  }

  #forwardTo(interval_ms: number, missed: number): void {
    this.#furthest_ms = Math.max(this.#furthest_ms, this.now().getTime())
    const boundary_ms = (Math.floor(this.#furthest_ms / interval_ms) + 1 + missed) * interval_ms
    this.#set(boundary_ms + JITTER_MS + this.#random.below(SPREAD_MS))
  }

  #set(instant_ms: number): void {
    this.#offset_ms = instant_ms - Date.now()
  }
}
