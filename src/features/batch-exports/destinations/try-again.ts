// Repeats what failed in passing: 5 tries, the second at once because most cuts hit one connection, then after 2, 8 and
// 18 s. For what the client of a place cannot repeat itself.
import { setTimeout as pauseFor } from 'node:timers/promises'
import { Passing } from './destination.ts'

const TRIES = 5
const UNIT_MS = 2_000
const LONGEST_MS = 32_000

type Pause = (ms: number, signal: AbortSignal) => Promise<unknown>
const byTheClock: Pause = (ms, signal) => pauseFor(ms, undefined, { signal })

export async function tryAgain<T>(
  signal: AbortSignal,
  work: () => Promise<T>,
  pause: Pause = byTheClock,
): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Passing) || failures === TRIES - 1) throw error
      await pause(error.retry_after_ms ?? Math.min(UNIT_MS * failures ** 2, LONGEST_MS), signal)
      signal.throwIfAborted()
    }
  }
}
