// `npm run crash`: kills the server under load again and again and looks whether anything was lost or half made.
// CRASH_ROUNDS (30) says how often, CRASH_SEED repeats an earlier run's choices.
import { randomInt } from 'node:crypto'
import { buildProgram } from '../../test/end-to-end/program.ts'
import { runCrashes, type Round } from './run.ts'

const rounds = Number(process.env.CRASH_ROUNDS ?? 30)
const seed = Number(process.env.CRASH_SEED ?? randomInt(2 ** 31))

console.log(`${rounds} rounds with CRASH_SEED=${seed}`)
const program = await buildProgram()
try {
  const done = await runCrashes({ program, rounds, seed, onRound: print })
  const sum = (pick: (round: Round) => number) => done.reduce((total, round) => total + pick(round), 0)
  const slowest = Math.max(...done.map((round) => round.start_ms))
  const faults = sum((round) => round.faults.length)
  console.log(
    `\n${sum((round) => round.answered)} changes answered, ${sum((round) => round.open)} cut off, ` +
      `${sum((round) => round.retried)} of them sent again; slowest start ${slowest} ms; ${faults} faults`,
  )
  if (faults > 0) process.exitCode = 1
} finally {
  await program.remove()
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
  console.log(cells.join('  '))
  for (const fault of round.faults) console.log(`       FAULT ${fault}`)
}
