// Beside the fuzz: how long `/_livez` takes, and how much memory the whole tree of processes holds.
import { memoryMbOf } from '../../test/end-to-end/processes.ts'
import type { FuzzApp } from './app.ts'

export type Watched = { livez_p99_ms: number; livez_max_ms: number; peak_memory_mb: number }

const LIVEZ_EVERY_MS = 50
const MEMORY_EVERY_MS = 500

/** Gives what was seen when it is asked to end. */
export function watch(app: FuzzApp): () => Promise<Watched> {
  const waits: number[] = []
  let peak_memory_mb = 0
  let due = performance.now() + LIVEZ_EVERY_MS
  // Counted from when the call was due: a thread that is held up calls late.
  const livez = setInterval(() => {
    const began = due
    due = Math.max(due + LIVEZ_EVERY_MS, performance.now())
    void app.http.inject({ url: '/_livez' }).then(() => waits.push(performance.now() - began))
  }, LIVEZ_EVERY_MS)
  const look = async () => {
    peak_memory_mb = Math.max(peak_memory_mb, await memoryMbOf(process.pid))
  }
  const memory = setInterval(() => void look(), MEMORY_EVERY_MS)
  return async () => {
    clearInterval(livez)
    clearInterval(memory)
    await look()
    const sorted = waits.toSorted((a, b) => a - b)
    const livez_p99_ms = sorted[Math.floor((sorted.length - 1) * 0.99)] ?? 0
    return { livez_p99_ms, livez_max_ms: sorted.at(-1) ?? 0, peak_memory_mb }
  }
}
