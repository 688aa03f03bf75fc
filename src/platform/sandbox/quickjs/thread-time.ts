// How long this thread has had a processor. A busy machine gives it none for a while, which is no app's fault.
import { openSync, readSync } from 'node:fs'

const STALE_AFTER_MS = 20

export class ThreadTime {
  readonly #file = openStatistics()
  readonly #buffer = Buffer.alloc(100)
  #known: { cpu_ms: number; at: number } = { cpu_ms: 0, at: -Infinity }

  /** Milliseconds. Where the system does not tell (only Linux does), time that passes is time that is used. */
  now(): number {
    if (this.#file === null) return performance.now()
    const length = readSync(this.#file, this.#buffer, 0, this.#buffer.length, 0)
    const cpu_ms = Number.parseInt(this.#buffer.toString('latin1', 0, length), 10) / 1e6
    this.#known = { cpu_ms, at: performance.now() }
    return cpu_ms
  }

  /** At most some milliseconds too much: asking the system before every event would take a tenth of its time. */
  roughly(): number {
    const age_ms = performance.now() - this.#known.at
    return age_ms > STALE_AFTER_MS ? this.now() : this.#known.cpu_ms + age_ms
  }
}

function openStatistics(): number | null {
  try {
    return openSync('/proc/thread-self/schedstat', 'r')
  } catch {
    return null
  }
}
