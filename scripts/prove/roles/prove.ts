// `npm run prove -- roles`: nine processes of all roles on one PostgreSQL and one ClickHouse, which are killed, stopped for
// longer than their leases and cut off from their stores for PROVE_ROUNDS rounds (200), and every event is looked for.
// PROVE_SEED repeats an earlier run's choices. Without CLICKHOUSE_URL it brings ClickHouse's engine along.
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { buildProgram } from '../../../test/end-to-end/program.ts'
import { CLICKHOUSE_ADDRESS } from '../../../test/harness/clickhouse.ts'
import { runRoles, type RolesRound } from './run.ts'

/** True: no fault was found. */
export async function proveRoles(): Promise<boolean> {
  if (CLICKHOUSE_ADDRESS === null) return proveBesideClickHouse()
  const rounds = Number(process.env.PROVE_ROUNDS ?? 200)
  const seed = Number(process.env.PROVE_SEED ?? randomInt(2 ** 31))
  console.log(`${rounds} rounds with PROVE_SEED=${seed}`)
  const program = await buildProgram()
  try {
    const proof = await runRoles({ program, rounds, seed, onRound: printRound })
    for (const fault of proof.faults) console.log(`       FAULT ${fault}`)
    console.log(
      `\n${proof.events} events; ${proof.runs} runs in ${proof.attempts} attempts by ${proof.holders.join(', ')}; ` +
        `${proof.looks} times compared with what was seen before; ${proof.repeated} events given to the app again; ` +
        `${proof.faults.length} faults`,
    )
    return proof.faults.length === 0
  } finally {
    await program.remove()
  }
}

async function proveBesideClickHouse(): Promise<boolean> {
  const command = [process.execPath, 'bin/start.cjs', process.argv[1]!, 'roles']
  const child = spawn('bash', ['scripts/clickhouse/with-chdb.sh', ...command], { stdio: 'inherit' })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code === 0
}

function printRound({ round, deeds, events, is_settled, faults }: RolesRound): void {
  const settled = is_settled ? `  everything is where it belongs: ${events} events` : ''
  console.log(
    `${String(round).padStart(5)}  ${new Date().toISOString().slice(11, 19)}  ${deeds.join(', ')}${settled}`,
  )
  for (const fault of faults) console.log(`       FAULT ${fault}`)
}
