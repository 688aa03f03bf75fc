// `npm run prove -- crash`: the server is killed at work PROVE_ROUNDS times (200), and every event is looked for.
// PROVE_SEED repeats an earlier run's choices.
import { randomInt } from 'node:crypto'
import { buildProgram } from '../../../test/end-to-end/program.ts'
import { runExportCrashes, type ExportRound } from './run.ts'

/** True: no fault was found. */
export async function proveCrashes(): Promise<boolean> {
  const rounds = Number(process.env.PROVE_ROUNDS ?? 200)
  const seed = Number(process.env.PROVE_SEED ?? randomInt(2 ** 31))
  console.log(`${rounds} rounds with PROVE_SEED=${seed}`)
  console.log('round  clock     start     killed after  runs at work  settled  events sent  killed')
  const program = await buildProgram()
  try {
    const { rounds: done, proof } = await runExportCrashes({ program, rounds, seed, onRound: printRound })
    for (const fault of proof.faults) console.log(`       FAULT ${fault}`)
    const faults = done.reduce((sum, round) => sum + round.faults.length, proof.faults.length)
    const at_work = done.filter((round) => round.at_work > 0).length
    console.log(
      `\n${proof.events} events; ${proof.runs} runs in ${proof.attempts} attempts, ${at_work} of ${rounds} kills ` +
        `while runs were at work; ${proof.rows_in_table} rows in the table; ${proof.repeated} files and batches ` +
        `compared with those of undisturbed runs; ${proof.harms} harms shown to verify; ${faults} faults`,
    )
    return faults === 0
  } finally {
    await program.remove()
  }
}

function printRound(round: ExportRound): void {
  const cells = [
    String(round.round).padStart(5),
    round.clock.toISOString().slice(11, 19),
    `${round.start_ms} ms`.padStart(8),
    `${round.after_ms} ms`.padStart(13),
    String(round.at_work).padStart(12),
    (round.is_settled ? 'yes' : '').padStart(7),
    String(round.events).padStart(11),
    round.killed,
  ]
  console.log(cells.join('  '))
  for (const fault of round.faults) console.log(`       FAULT ${fault}`)
}
