// The end of the rounds: what is still under way is delivered in peace, the server stops in order, and what it leaves
// is held against the ledger, against undisturbed runs, and against what `longshore verify` finds.
import { sql } from '../../../src/platform/db/sql.ts'
import type { Program } from '../../../test/end-to-end/program.ts'
import { listUnknownFiles } from './leftovers.ts'
import { listGaps } from './runs.ts'
import type { Stage } from './stage.ts'
import { expectWholeTable } from './table.ts'
import { repeatRuns } from './undisturbed.ts'

export type Proof = {
  events: number
  runs: number
  /** Claims of runs, killed ones included. */
  attempts: number
  rows_in_table: number
  /** Files and batches made again at the end, to be compared. */
  repeated: number
  faults: string[]
}

export async function closeProof(program: Program, stage: Stage): Promise<Proof> {
  const faults: string[] = []
  const fault = (text: string) => void faults.push(text)
  await stage.start('forward')
  await stage.sendAgain()
  await stage.stop()
  await stage.start('forward')
  await stage.settle()
  const { runs, attempts } = await stage.db.only<{ runs: number; attempts: number }>(
    sql`SELECT count(*)::int AS runs, sum(attempt)::int AS attempts FROM batch_export_run`,
  )
  for (const id of await listGaps(stage.db)) fault(`run ${id} does not begin where the one before ended`)
  const names = await stage.db.rows<{ name: string }>(sql`
    SELECT DISTINCT file ->> 'name' AS name FROM batch_export_run, jsonb_array_elements(files) AS file`)
  await stage.stop()
  faults.push(...stage.takeFaults())
  const known = new Set(
    names.flatMap(({ name }) => [name, name.replace(/-\d+\.jsonl(\.gz)?$/, '_manifest.json')]),
  )
  for (const name of await listUnknownFiles(stage.places, known)) fault(`nobody knows of ${name}`)
  const rows_in_table = await expectWholeTable(stage.places.warehouse.admin, stage.ledger, fault)
  if (rows_in_table !== stage.events)
    fault(`Postgres: at the end ${rows_in_table} of ${stage.events} events are there`)
  const repeated = await repeatRuns(stage.env, stage.deliveries, fault)
  const { code, stdout, stderr } = await program.run(['verify'], stage.env)
  if (code !== 0) fault(`longshore verify: ${stdout}${stderr}`)
  return { events: stage.events, runs, attempts, rows_in_table, repeated, faults }
}
