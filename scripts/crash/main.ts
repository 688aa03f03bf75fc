// `npm run crash`: kills the server under load again and again and looks whether anything was lost or half made.
// `npm run crash -- events` (CRASH_ROUNDS 50, CRASH_PROJECTS 300) does so during ingestion and cuts the power as well,
// `-- plugins` (30) while events go out through a webhook, otherwise (30) while the workspace is changed; CRASH_SEED
// repeats an earlier run's choices.
import { randomInt } from 'node:crypto'
import { buildProgram, type Program } from '../../test/end-to-end/program.ts'
import { runEventCrashes, type EventRound } from './events/run.ts'
import { runPluginCrashes, type PluginRound } from './plugins/run.ts'
import { runCrashes, type Round } from './run.ts'

const PARTS: Record<string, { rounds: number; run(program: Program): Promise<number> }> = {
  workspace: { rounds: 30, run: crashWorkspace },
  events: { rounds: 50, run: crashIngestion },
  plugins: { rounds: 30, run: crashDeliveries },
}

const part = PARTS[process.argv[2] ?? 'workspace']
if (!part) throw new Error(`there is no such part; there are ${Object.keys(PARTS).join(', ')}`)
const rounds = Number(process.env.CRASH_ROUNDS ?? part.rounds)
const projects = Number(process.env.CRASH_PROJECTS ?? 300)
const MAX_FAULTS = 20
const seed = Number(process.env.CRASH_SEED ?? randomInt(2 ** 31))

console.log(`${rounds} rounds with CRASH_SEED=${seed}`)
const program = await buildProgram()
try {
  if ((await part.run(program)) > 0) process.exitCode = 1
} finally {
  await program.remove()
}

async function crashIngestion(program: Program): Promise<number> {
  console.log('round   after  ended by   batches so far  sent again  events looked at    start')
  const done = await runEventCrashes({ program, rounds, projects, seed, onRound: printEventRound })
  const faults = sum(done, (round) => round.faults.length)
  const last = done.at(-1)!
  console.log(
    `\n${last.acknowledged} batches for ${projects} projects, ${sum(done, (round) => round.again)} of them sent again; ` +
      `${sum(done, (round) => Number(round.is_power_cut))} power cuts; slowest start ${slowest(done)} ms; ${faults} faults`,
  )
  return faults
}

async function crashWorkspace(program: Program): Promise<number> {
  const done = await runCrashes({ program, rounds, seed, onRound: print })
  const faults = sum(done, (round) => round.faults.length)
  console.log(
    `\n${sum(done, (round) => round.answered)} changes answered, ${sum(done, (round) => round.open)} cut off, ` +
      `${sum(done, (round) => round.retried)} of them sent again; slowest start ${slowest(done)} ms; ${faults} faults`,
  )
  return faults
}

async function crashDeliveries(program: Program): Promise<number> {
  console.log('round   after  requests so far    start')
  const proof = await runPluginCrashes({ program, rounds, seed, onRound: printPluginRound })
  const { events, requests, failed, repeated, faults } = proof
  console.log(
    `\n${events} events in ${requests} requests, ${failed} of them failed, ${repeated} repeated after a kill, each event ` +
      `there in the end; slowest start ${slowest(proof.rounds)} ms; ${faults.length} faults`,
  )
  for (const fault of faults.slice(0, MAX_FAULTS)) console.log(`       FAULT ${fault}`)
  return faults.length
}

function sum<Item>(items: readonly Item[], pick: (item: Item) => number): number {
  return items.reduce((total, item) => total + pick(item), 0)
}

function slowest(rounds: readonly { start_ms: number }[]): number {
  return Math.max(...rounds.map((round) => round.start_ms))
}

function printEventRound(round: EventRound): void {
  const cells = [
    String(round.round).padStart(5),
    `${round.after_ms} ms`.padStart(7),
    (round.is_power_cut ? 'power cut' : 'kill').padEnd(9),
    String(round.acknowledged).padStart(14),
    String(round.again).padStart(10),
    String(round.events).padStart(16),
    `${round.start_ms} ms`.padStart(7),
  ]
  printLine(cells, round.faults)
}

function printPluginRound({ round, after_ms, requests, start_ms }: PluginRound): void {
  const cells = [
    String(round).padStart(5),
    `${after_ms} ms`.padStart(7),
    String(requests).padStart(15),
    `${start_ms} ms`.padStart(7),
  ]
  printLine(cells, [])
}

function print(round: Round): void {
  if (round.round === 1)
    console.log('round  killed                 after   answered  cut off  again  killed starts  start')
  const cells = [
    String(round.round).padStart(5),
    round.killed.padEnd(21),
    `${round.after_ms} ms`.padStart(7),
    String(round.answered).padStart(9),
    String(round.open).padStart(8),
    String(round.retried).padStart(6),
    String(round.killed_starts).padStart(14),
    `${round.start_ms} ms`.padStart(8),
  ]
  printLine(cells, round.faults)
}

function printLine(cells: readonly string[], faults: readonly string[]): void {
  console.log(cells.join('  '))
  for (const fault of faults) console.log(`       FAULT ${fault}`)
}
