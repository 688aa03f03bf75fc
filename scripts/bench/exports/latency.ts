// How long a light call to the API takes while an export runs at full speed, and while nothing does, at the same pace.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Program } from '../../../test/end-to-end/program.ts'
import { paced, percentile, shown } from '../paced.ts'
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
    const calls = (work: Promise<void>) => paced(EVERY_MS, () => call(server), work)
    await calls(sleep(3_000))
    const idle = await calls(sleep(IDLE_MS))
    const busy = await calls(server.exportAll(CONFIG))
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

async function call(server: Served): Promise<void> {
  const { id } = await server.get(CALL)
  if (typeof id !== 'string') throw new Error('the organization has no id')
}
