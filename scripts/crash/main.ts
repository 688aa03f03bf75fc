// `npm run crash`: kills the server under load again and again and looks whether anything was lost or half made.
// `npm run crash -- events` (CRASH_ROUNDS 50) does so during ingestion, otherwise (30) while the workspace is changed;
// CRASH_SEED repeats an earlier run's choices.
import { randomInt } from 'node:crypto'
import { buildProgram, type Program } from '../../test/end-to-end/program.ts'
import { runEventCrashes, type EventRound } from './events/run.ts'
import { runCrashes, type Round } from './run.ts'

const isAboutEvents = process.argv[2] === 'events'
const rounds = Number(process.env.CRASH_ROUNDS ?? (isAboutEvents ? 50 : 30))
const seed = Number(process.env.CRASH_SEED ?? randomInt(2 ** 31))

console.log(`${rounds} rounds with CRASH_SEED=${seed}`)
const program = await buildProgram()
try {
  const faults = await (isAboutEvents ? crashIngestion(program) : crashWorkspace(program))
  if (faults > 0) process.exitCode = 1
} finally {
  await program.remove()
}

async function crashIngestion(program: Program): Promise<number> {
  console.log('round   after  batches so far  sent again  events there  start')
  const done = await runEventCrashes({ program, rounds, seed, onRound: printEventRound })
  const faults = sum(done, (round) => round.faults.length)
  const last = done.at(-1)!
  console.log(
    `\n${last.events} events in ${last.acknowledged} batches, ${sum(done, (round) => round.again)} batches sent again, ` +
      `each event there once after every round; slowest start ${slowest(done)} ms; ${faults} faults`,
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
    String(round.acknowledged).padStart(14),
    String(round.again).padStart(10),
    String(round.events).padStart(12),
    `${round.start_ms} ms`.padStart(7),
  ]
  printLine(cells, round.faults)
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
