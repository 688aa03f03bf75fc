// `npm run prove -- restarts`: the server is ended PROVE_ROUNDS times (30) under load, by SIGKILL or SIGTERM, while apps
// guard what is stored and now and then do not answer. PROVE_SEED repeats an earlier run's choices.
import { randomInt } from 'node:crypto'
import { buildProgram } from '../../../test/end-to-end/program.ts'
import { runRestarts, type RestartRound } from './run.ts'

/** True: no event went past its app, none was lost, none is there twice. */
export async function proveRestarts(): Promise<boolean> {
  const rounds = Number(process.env.PROVE_ROUNDS ?? 30)
  const seed = Number(process.env.PROVE_SEED ?? randomInt(2 ** 31))
  console.log(`${rounds} rounds with PROVE_SEED=${seed}`)
  console.log('round  ended by     after     start  held then  events acknowledged')
  const program = await buildProgram()
  try {
    const { faults, sent, stored, held, dropped } = await runRestarts({
      program,
      rounds,
      seed,
      onRound: print,
    })
    for (const fault of faults) console.log(`  FAULT ${fault}`)
    console.log(
      `\n${sent} events acknowledged, ${stored} stored, of which up to ${held} waited at once for an app that holds; ` +
        `${dropped} dropped by an app that drops; ${faults.length} faults`,
    )
    return faults.length === 0
  } finally {
    await program.remove()
  }
}

function print({ round, signal, after_ms, start_ms, held, acknowledged }: RestartRound): void {
  const cells = [
    String(round).padStart(5),
    signal.padEnd(8),
    `${after_ms} ms`.padStart(8),
    `${start_ms} ms`.padStart(8),
    String(held).padStart(9),
    String(acknowledged).padStart(19),
  ]
  console.log(cells.join('  '))
}
