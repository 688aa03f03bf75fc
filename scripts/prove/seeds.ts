// Thousands of simulated half hours of exports, each from a seed, with crashes, stalls, lost answers and clocks that are
// set; then everything must be where it belongs, once. PROVE_SEEDS says how many (10000), PROVE_SEED repeats one and shows
// what happened in it; both together are a range that begins at PROVE_SEED. As many processes as there are cores share
// the seeds and one PostgreSQL.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrateAll } from '../../src/app/services.ts'
import { openDatabase } from '../../src/platform/db/database.ts'
import { openEmbeddedPostgres } from '../../src/platform/db/embedded/embedded.ts'
import { openLog } from '../../src/platform/log/log.ts'
import { startAgain } from '../start-again.ts'
import { openProof, type Connection } from './proof.ts'
import { runSimulation } from './simulation.ts'
import { Tally } from './tally.ts'

const REPORT_EVERY_MS = 5_000

/** One process's part of the seeds: every `step`th from `first` on. */
type Share = { connection: Connection; first: number; step: number; end: number; is_shown: boolean }
type Report = { seed: number; counts: [string, number][]; wrongs: string[]; trace: string[] }

export async function proveSeeds(): Promise<boolean> {
  if (process.env.PROVE_SHARE !== undefined) return proveShare(JSON.parse(process.env.PROVE_SHARE) as Share)
  const folder = await mkdtemp(join(tmpdir(), 'longshore-prove-'))
  const log = openLog({ level: 'error', format: 'json' })
  // What it holds need not survive a power cut.
  const settings = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', autovacuum: 'off' }
  const postgres = await openEmbeddedPostgres({ dataDir: folder, log, role: 'server', settings })
  const close = async () => {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => void close().then(() => process.exit(1)))
  try {
    return await proveAll(postgres.connection)
  } finally {
    await close()
  }
}

async function proveAll(connection: Connection): Promise<boolean> {
  const { PROVE_SEED, PROVE_SEEDS } = process.env
  const first = Number(PROVE_SEED ?? 1)
  const count = Number(PROVE_SEEDS ?? (PROVE_SEED === undefined ? 10_000 : 1))
  const processes = Math.min(count, availableParallelism())
  const connections = await makeDatabases(connection, processes)
  const progress = new Progress(count)
  const shares = connections.map((each, index) =>
    runShare(
      {
        connection: each,
        first: first + index,
        step: processes,
        end: first + count,
        is_shown: count === 1,
      },
      (report) => progress.add(report),
    ),
  )
  const isProven = (await Promise.all(shares)).every((isRight) => isRight)
  if (isProven) progress.printEnd()
  return isProven
}

async function makeDatabases(connection: Connection, count: number): Promise<Connection[]> {
  const db = openDatabase(connection)
  await migrateAll(db)
  await db.close()
  const admin = openDatabase({ ...connection, database: 'postgres' })
  const names = Array.from({ length: count }, (_, index) => `prove_${index}`)
  for (const name of names) {
    await admin.pool.query(`CREATE DATABASE ${name} TEMPLATE ${connection.database}`)
  }
  await admin.close()
  return names.map((database) => ({ ...connection, database }))
}

async function runShare(share: Share, onReport: (report: Report) => void): Promise<boolean> {
  const child = startAgain({ PROVE_SHARE: JSON.stringify(share) }, { args: ['simulation'] })
  child.on('message', (message) => onReport(message as Report))
  // Its last report, which may be long, is on its way until then.
  const [[code]] = (await Promise.all([once(child, 'exit'), once(child, 'disconnect')])) as [
    [number | null],
    unknown,
  ]
  return code === 0
}

async function proveShare({ connection, first, step, end, is_shown }: Share): Promise<boolean> {
  const leave = () => process.exit(1)
  process.once('disconnect', leave)
  const proof = await openProof(connection)
  try {
    for (let seed = first; seed < end; seed += step) {
      const { wrongs, trace, tally } = await runSimulation(proof, seed)
      const isTold = wrongs.length > 0 || is_shown
      await report({ seed, counts: [...tally.counts], wrongs, trace: isTold ? trace : [] })
      if (wrongs.length > 0) return false
    }
    return true
  } finally {
    await proof.close()
    process.off('disconnect', leave)
    process.disconnect()
  }
}

/** Ends when it was sent: a process that leaves before takes it along. */
function report(report: Report): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send!(report, undefined, undefined, (error) => (error ? reject(error) : resolve()))
  })
}

class Progress {
  readonly #count: number
  readonly #tally = new Tally()
  readonly #started_at = Date.now()
  #reported_at = Date.now()
  #done = 0

  constructor(count: number) {
    this.#count = count
  }

  add({ seed, counts, wrongs, trace }: Report): void {
    this.#done++
    for (const [what, count] of counts) this.#tally.add(what, count)
    if (trace.length > 0) printTrace(seed, trace, wrongs)
    if (Date.now() - this.#reported_at < REPORT_EVERY_MS) return
    this.#reported_at = Date.now()
    console.log(`${this.#done} of ${this.#count} seeds, ${this.#speed()} a second`)
  }

  printEnd(): void {
    console.log(`\n${this.#done} seeds, nothing wrong; ${this.#speed()} a second. What happened in them:`)
    console.log(this.#tally.toString())
  }

  #speed(): string {
    return (this.#done / ((Date.now() - this.#started_at) / 1000)).toFixed(1)
  }
}

function printTrace(seed: number, trace: readonly string[], wrongs: readonly string[]): void {
  console.log(trace.join('\n'))
  console.log(`\nseed ${seed} (PROVE_SEED=${seed} repeats it): ${wrongs.length === 0 ? 'nothing wrong' : ''}`)
  for (const wrong of wrongs) console.log(`  ${wrong}`)
}
