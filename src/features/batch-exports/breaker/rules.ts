// When a destination is left alone, and for how long.

export const FAILURES_TO_OPEN = 5

const FIRST_PAUSE_MS = 30_000
const LONGEST_PAUSE_MS = 300_000

/** Before the next run tries it: half a minute, then twice as long each time, up to five minutes. */
export function pauseMs(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - FAILURES_TO_OPEN), LONGEST_PAUSE_MS)
}
