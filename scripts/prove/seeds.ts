// Thousands of simulated half hours of exports, each from a seed, with crashes, stalls, lost answers and clocks that are
// set; then everything must be where it belongs, once. PROVE_SEEDS says how many (10000), PROVE_SEED repeats one and shows
// what happened in it.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrateAll } from '../../src/app/services.ts'
import { openDatabase } from '../../src/platform/db/database.ts'
import { openEmbeddedPostgres } from '../../src/platform/db/embedded/embedded.ts'
import { openLog } from '../../src/platform/log/log.ts'
import { openProof, type Proof } from './proof.ts'
import { runSimulation, type Outcome } from './simulation.ts'
import { Tally } from './tally.ts'

const REPORT_EVERY_MS = 5_000

const only = process.env.PROVE_SEED
const first = Number(only ?? 1)
const count = only === undefined ? Number(process.env.PROVE_SEEDS ?? 10_000) : 1

export async function proveSeeds(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'longshore-prove-'))
  const log = openLog({ level: 'error', format: 'json' })
  // What it holds need not survive a power cut.
  const settings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', autovacuum: 'off' }
  const postgres = await openEmbeddedPostgres({ dataDir: folder, log, role: 'server', settings })
  try {
    const db = openDatabase(postgres.connection)
    await migrateAll(db)
    await db.close()
    const proof = await openProof(postgres.connection)
    try {
      return await prove(proof)
    } finally {
      await proof.close()
    }
  } finally {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function prove(proof: Proof): Promise<boolean> {
  const tally = new Tally()
  const started_at = Date.now()
  let reported_at = started_at
  for (let done = 0; done < count; done++) {
    const outcome = await runSimulation(proof, first + done)
    tally.addAll(outcome.tally)
    if (outcome.wrongs.length > 0 || only !== undefined) printTrace(outcome)
    if (outcome.wrongs.length > 0) return false
    if (Date.now() - reported_at < REPORT_EVERY_MS) continue
    reported_at = Date.now()
    console.log(`${done + 1} of ${count} seeds, ${speed(done + 1, started_at)} a second`)
  }
  console.log(`\n${count} seeds, nothing wrong; ${speed(count, started_at)} a second. What happened in them:`)
  console.log(tally.toString())
  return true
}

function speed(done: number, since: number): string {
  return (done / ((Date.now() - since) / 1000)).toFixed(1)
}

function printTrace({ seed, trace, wrongs }: Outcome): void {
  console.log(trace.join('\n'))
  console.log(`\nseed ${seed} (PROVE_SEED=${seed} repeats it): ${wrongs.length === 0 ? 'nothing wrong' : ''}`)
  for (const wrong of wrongs) console.log(`  ${wrong}`)
}
