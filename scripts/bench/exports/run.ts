// Exports beside the least that anybody could do for the same result, on millions of events. Cases can be named.
import { rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { buildProgram, type Program } from '../../../test/end-to-end/program.ts'
import { benchJsonLines, benchParquet } from './files.ts'
import { benchLatency } from './latency.ts'
import { benchLedger } from './ledger.ts'
import { isMemoryWithinGoal, measureMemory, type Peaks } from './memory.ts'
import { benchPostgres } from './postgres.ts'
import { benchS3 } from './s3.ts'
import { growTo, makeStore, MEMORY_MB, type SampleStore } from './sample-store.ts'
import { benchVerification } from './verification.ts'

const EVENTS = Number(process.env.EXPORT_BENCH_EVENTS ?? 5_000_000)
const MEMORY_EVENTS = (process.env.EXPORT_BENCH_MEMORY ?? '1,5,20')
  .split(',')
  .map((text) => Number(text) * 1e6)

type World = { store: SampleStore; program: Program; peaks: Peaks }
type Step = { name: string; events: number; run(world: World): Promise<boolean> }

const STEPS: readonly Step[] = [
  { name: 'parquet', events: EVENTS, run: ({ store }) => benchParquet(store) },
  { name: 'jsonlines', events: EVENTS, run: ({ store }) => benchJsonLines(store) },
  { name: 'postgres', events: EVENTS, run: ({ store }) => benchPostgres(store) },
  { name: 's3', events: EVENTS, run: ({ store }) => benchS3(store) },
  { name: 'ledger', events: EVENTS, run: ({ store }) => benchLedger(store) },
  { name: 'verification', events: EVENTS, run: ({ store }) => benchVerification(store) },
  { name: 'latency', events: EVENTS, run: ({ store, program }) => benchLatency(program, store) },
  ...MEMORY_EVENTS.map((events) => ({
    name: 'memory',
    events,
    async run({ store, program, peaks }: World) {
      await measureMemory(program, store, peaks)
      return events < Math.max(...MEMORY_EVENTS) || isMemoryWithinGoal(peaks)
    },
  })),
]

/** Whether all goals were met. */
export async function benchExports(names: readonly string[]): Promise<boolean> {
  const unknown = names.filter((name) => !STEPS.some((step) => step.name === name))
  if (unknown.length > 0) throw new Error(`there is no case ${unknown.join(', ')}`)
  const steps = STEPS.filter(({ name }) => names.length === 0 || names.includes(name))
  const program = await buildProgram()
  const store = await makeStore()
  try {
    console.log(
      `everything in one run; ${availableParallelism()} cores, ${MEMORY_MB} MB for the engine on both sides; what they wrote was compared\n`,
    )
    return await runAll(steps, { store, program, peaks: new Map() })
  } finally {
    await rm(store.folder, { recursive: true, force: true })
    await program.remove()
  }
}

/** Those with few events first: a store only grows. */
async function runAll(steps: readonly Step[], world: World): Promise<boolean> {
  let isMet = true
  for (const { events, run } of steps.toSorted((a, b) => a.events - b.events)) {
    if (world.store.events < events) {
      await growTo(world.store, events)
      console.log(`-- ${events} events`)
    }
    isMet = (await run(world)) && isMet
  }
  return isMet
}
