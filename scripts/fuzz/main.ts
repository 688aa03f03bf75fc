// `npm run fuzz`: valid, broken and hostile requests over all routes, bombs among them, in process on a PostgreSQL of its own.
// FUZZ_COUNT says how many (100,000), FUZZ_SEED repeats a run, FUZZ_KEEP_GOING=1 goes on after a failure,
// FUZZ_ONLY takes a pattern of operations, such as `POST .*/query/`.
import { randomInt } from 'node:crypto'
import { FUZZ_MEMORY_MB, openFuzzApp } from './app.ts'
import { fuzz, Failure, type Tally } from './run.ts'
import { watch, type Watched } from './watch.ts'

const count = Number(process.env['FUZZ_COUNT'] ?? 100_000)
const seed = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31))
const keepsGoing = process.env['FUZZ_KEEP_GOING'] === '1'
const PROGRESS_EVERY = 5_000
const only = new RegExp(process.env['FUZZ_ONLY'] ?? '.')
let failures = 0

console.log(`${count} requests, FUZZ_SEED=${seed}`)
const app = await openFuzzApp()
const watched = watch(app)
const began = performance.now()
try {
  const tally = await fuzz(app, {
    seed,
    count,
    only,
    onProgress: report,
    ...(keepsGoing ? { onFailure: tell } : {}),
  })
  console.log(closingTable(tally, await watched()))
} catch (error) {
  if (!(error instanceof Failure)) throw error
  tell(error)
} finally {
  await app.close()
}

function tell(failure: Failure): void {
  failures++
  process.exitCode = 1
  const again = `FUZZ_SEED=${seed} FUZZ_COUNT=${count} npm run fuzz`
  console.error(`\n${failure.message}\n\nThe request:\n${failure.request}\n\nAll of it again: ${again}`)
}

function perSecond(requests: number): number {
  return Math.round(requests / ((performance.now() - began) / 1000))
}

function report({ requests }: Tally): void {
  if (requests % PROGRESS_EVERY === 0) console.log(`${requests} done, ${perSecond(requests)} a second`)
}

function closingTable({ requests, by_status, by_operation, slowest }: Tally, seen: Watched): string {
  const statuses = [...by_status]
    .sort(([a], [b]) => a - b)
    .map(([status, times]) => `  ${status}  ${String(times).padStart(8)}`)
  const untouched = [...by_operation].filter(([, successes]) => successes === 0).map(([name]) => name)
  return [
    '',
    'status  requests',
    ...statuses,
    '',
    `requests           ${requests}`,
    `per second         ${perSecond(requests)}`,
    `slowest            ${Math.round(slowest.ms)} ms (${slowest.name})`,
    `_livez             p99 ${Math.round(seen.livez_p99_ms)} ms, slowest ${Math.round(seen.livez_max_ms)} ms, behind the fuzz's own work on the same thread`,
    `memory             ${Math.round(seen.peak_memory_mb)} MB at most, of all processes and of the fuzz itself; EVENT_MEMORY_MB=${FUZZ_MEMORY_MB}`,
    `routes             ${by_operation.size}, with a success ${by_operation.size - untouched.length}`,
    ...untouched.map((name) => `  never a success: ${name}`),
    `seed               ${seed}`,
    '',
    failures === 0
      ? 'no answer of 500 or above but 503 and 504 with Retry-After, every answer as the document says'
      : `${failures} failures, told above`,
  ].join('\n')
}
