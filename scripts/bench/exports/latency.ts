// How long a light call to the API takes while an export runs at full speed, and while nothing does, at the same pace.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Program } from '../../../test/end-to-end/program.ts'
import { met } from './compare.ts'
import type { SampleStore } from './sample-store.ts'
import { serve, type Served } from './served.ts'

const GOAL = 3
const EVERY_MS = 20
const IDLE_MS = 20_000
const CALL = '/api/organizations/@current/'
const CONFIG = { file_format: 'Parquet', compression: 'zstd' }

export async function benchLatency(program: Program, store: SampleStore): Promise<boolean> {
  const server = await serve(program, store)
  try {
    await paced(server, sleep(3_000))
    const idle = await paced(server, sleep(IDLE_MS))
    const busy = await paced(server, server.exportAll(CONFIG))
    const ratio = percentile(busy, 0.99) / percentile(idle, 0.99)
    console.log(
      [
        `API      GET ${CALL} every ${EVERY_MS} ms; idle ${shown(idle)}; while exporting Parquet zstd ${shown(busy)}`,
        `         p99 ${ratio.toFixed(2)} times that of idle; goal: at most ${GOAL}: ${met(ratio <= GOAL)}`,
      ].join('\n'),
    )
    return ratio <= GOAL
  } finally {
    await server.stop()
  }
}

/** Calls begin on the beat, whether or not those before have been answered, until the work is done. */
async function paced(server: Served, work: Promise<void>): Promise<number[]> {
  const latencies_ms: number[] = []
  const calls: Promise<void>[] = []
  const call = async () => {
    const began = performance.now()
    const { id } = await server.get(CALL)
    if (typeof id !== 'string') throw new Error('the organization has no id')
    latencies_ms.push(performance.now() - began)
  }
  const beat = setInterval(() => calls.push(call()), EVERY_MS)
  await work.finally(() => clearInterval(beat))
  await Promise.all(calls)
  return latencies_ms.toSorted((a, b) => a - b)
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(sorted.length * share)]!
}

function shown(sorted: readonly number[]): string {
  const [median, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.99)]
  return `p50 ${median.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (${sorted.length} calls)`
}
