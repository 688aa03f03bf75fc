// How many events this process has stored: in all, and in each of the last minutes.

const MINUTE_MS = 60_000
const KEPT_MINUTES = 15

export class EventTally {
  total = 0
  readonly #byMinute = new Map<number, number>()

  add(count: number, now: Date): void {
    this.total += count
    const minute = minuteOf(now)
    this.#byMinute.set(minute, (this.#byMinute.get(minute) ?? 0) + count)
    for (const old of this.#byMinute.keys()) if (old < minute - KEPT_MINUTES) this.#byMinute.delete(old)
  }

  /** Counts of the last full minutes, the newest last. */
  perMinute(now: Date): number[] {
    const minute = minuteOf(now)
    return Array.from({ length: KEPT_MINUTES }, (_, index) => {
      return this.#byMinute.get(minute - KEPT_MINUTES + index) ?? 0
    })
  }
}

function minuteOf(now: Date): number {
  return Math.floor(now.getTime() / MINUTE_MS)
}
