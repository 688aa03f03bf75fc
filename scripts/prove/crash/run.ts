// Rounds of exports under kill -9. Each starts the server an interval later, lets events come in and runs go out, and
// kills it; now and then everything may settle first and is looked at. When, and what, comes from the seed.
import type { Program } from '../../../test/end-to-end/program.ts'
import { Random } from '../../crash/random.ts'
import { closeProof, type Proof } from './closing.ts'
import { waitForMoment } from './moment.ts'
import { Stage } from './stage.ts'

export type ExportRound = {
  round: number
  /** The server's hour when it was started. */
  clock: Date
  start_ms: number
  /** How long it lived from then on. */
  after_ms: number
  /** Whether everything due could end, and was looked at, before the kill. */
  is_settled: boolean
  killed: 'server' | 'server and PostgreSQL'
  /** Runs at work when it was killed. */
  at_work: number
  /** Events sent so far. */
  events: number
  faults: string[]
}

export type ExportCrashOptions = {
  program: Program
  rounds: number
  seed: number
  onRound?(round: ExportRound): void
}

/** In percent. */
const BACK = 10
const SETTLED = 40
const RUSH = 8
const BOTH = 10
const BACKFILLED = 60

export async function runExportCrashes({
  program,
  rounds,
  seed,
  onRound,
}: ExportCrashOptions): Promise<{ rounds: ExportRound[]; proof: Proof }> {
  const random = new Random(seed)
  const plan = random.fork()
  const stage = await Stage.open(program, random)
  try {
    const done: ExportRound[] = []
    for (let round = 1; round <= rounds; round++) {
      done.push(await playRound(stage, plan, round))
      onRound?.(done.at(-1)!)
    }
    return { rounds: done, proof: await closeProof(program, stage) }
  } finally {
    await stage.close()
  }
}

async function playRound(stage: Stage, plan: Random, round: number): Promise<ExportRound> {
  const isBack = round > 1 && plan.chance(BACK)
  const is_settled = !isBack && plan.chance(SETTLED)
  const start_ms = await stage.start(isBack ? 'back' : 'forward')
  const clock = stage.clock.now()
  const began = Date.now()
  await stage.checkAccounts()
  if (plan.chance(RUSH)) stage.addRush(plan.fork())
  await stage.letEventsIn()
  if (is_settled) await stage.settle()
  if (plan.chance(BACKFILLED) || is_settled) await stage.askForMore(plan.fork())
  const killed = plan.chance(BOTH) ? 'server and PostgreSQL' : 'server'
  await waitForMoment(stage, plan.fork())
  const at_work = await stage.kill(killed)
  const after_ms = Date.now() - began
  const faults = stage.takeFaults()
  return { round, clock, start_ms, after_ms, is_settled, killed, at_work, events: stage.events, faults }
}
