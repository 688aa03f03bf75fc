// `npm run bench`: what things cost, as ratios inside one run. Machines differ and are noisy; ratios hold.
// `npm run bench -- api` runs one part (PARTS), and `-- exports parquet memory` some cases of it. A figure counts only if
// its checks held.
import { benchApi } from './api/run.ts'
import { runBenchServer, type ServerOrder } from './api/server.ts'
import { benchColumns } from './columns.ts'
import { benchConsole } from './console/run.ts'
import { benchEvents } from './events/run.ts'
import { runEventServer } from './events/server.ts'
import { runOrder, type Order } from './exports/measured-process.ts'
import { benchExports } from './exports/run.ts'
import { benchHogql } from './hogql.ts'
import { benchPlugins } from './plugins/run.ts'
import { runSandboxOrder, type SandboxOrder } from './plugins/sandbox-process.ts'
import { runBareRoute } from './projects/bare.ts'
import { benchProjects } from './projects/run.ts'
import { benchQuestions } from './questions/run.ts'
import { runNoClickHouse } from './scaling/no-clickhouse.ts'
import { benchScaling } from './scaling/run.ts'
import { runScalingServer, type ScalingOrder } from './scaling/server.ts'
import { watchStolen } from './stolen.ts'
import { benchStreams } from './streams/run.ts'

const PARTS = {
  api: benchApi,
  hogql: benchHogql,
  questions: benchQuestions,
  events: benchEvents,
  columns: benchColumns,
  projects: benchProjects,
  exports: benchExports,
  plugins: benchPlugins,
  streams: benchStreams,
  console: benchConsole,
  scaling: benchScaling,
}

if (process.env.BENCH_SERVER) await runBenchServer(JSON.parse(process.env.BENCH_SERVER) as ServerOrder)
else if (process.env.BENCH_EVENT_SERVER) await runEventServer(process.env.BENCH_EVENT_SERVER)
else if (process.env.BENCH_BARE_ROUTE) await runBareRoute(process.env.BENCH_BARE_ROUTE)
else if (process.env.BENCH_EXPORT_ORDER) await runOrder(JSON.parse(process.env.BENCH_EXPORT_ORDER) as Order)
else if (process.env.BENCH_SANDBOX_ORDER)
  await runSandboxOrder(JSON.parse(process.env.BENCH_SANDBOX_ORDER) as SandboxOrder)
else if (process.env.BENCH_NO_CLICKHOUSE) await runNoClickHouse()
else if (process.env.BENCH_SCALING_SERVER)
  await runScalingServer(JSON.parse(process.env.BENCH_SCALING_SERVER) as ScalingOrder)
else await runBench(process.argv[2], process.argv.slice(3))

async function runBench(only: string | undefined, cases: readonly string[]): Promise<void> {
  for (const [name, run] of Object.entries(PARTS)) {
    if (only !== undefined && only !== name) continue
    console.log(`\n== ${name}\n`)
    const stolen = watchStolen()
    if (!(await run(cases))) process.exitCode = 1
    const share = stolen()
    if (share !== null)
      console.log(`\n${(share * 100).toFixed(1)} % of the processors' time went to other machines`)
  }
}
