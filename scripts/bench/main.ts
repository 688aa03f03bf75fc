// `npm run bench`: what things cost, as ratios inside one run. Machines differ and are noisy; ratios hold.
// `npm run bench -- api`, `-- hogql` or `-- events` runs one part. A figure counts only if its checks held.
import { benchApi } from './api/run.ts'
import { runBenchServer, type ServerOrder } from './api/server.ts'
import { benchEvents } from './events/run.ts'
import { runEventServer } from './events/server.ts'
import { benchHogql } from './hogql.ts'

const PARTS = { api: benchApi, hogql: benchHogql, events: benchEvents }

if (process.env.BENCH_SERVER) await runBenchServer(JSON.parse(process.env.BENCH_SERVER) as ServerOrder)
else if (process.env.BENCH_EVENT_SERVER) await runEventServer(process.env.BENCH_EVENT_SERVER)
else await runBench(process.argv[2])

async function runBench(only: string | undefined): Promise<void> {
  for (const [name, run] of Object.entries(PARTS)) {
    if (only !== undefined && only !== name) continue
    console.log(`\n== ${name}\n`)
    if (!(await run())) process.exitCode = 1
  }
}
