// The end of the rounds: what is still under way is delivered in peace, the server stops in order, and what it leaves
// is held against the ledger, against undisturbed runs, and against what `longshore verify` finds. At last the places are
// harmed, and `longshore verify` must say so.
import type { Db } from '../../../src/platform/db/database.ts'
import { sql } from '../../../src/platform/db/sql.ts'
import type { Program } from '../../../test/end-to-end/program.ts'
import { harmEverything, type Harm } from './harm.ts'
import { listUnknownFiles } from './leftovers.ts'
import { listGaps } from './runs.ts'
import type { Stage } from './stage.ts'
import { expectWholeTable } from './table.ts'
import { repeatRuns } from './undisturbed.ts'
import { expectWholePlace } from './whole-place.ts'

export type Proof = {
  events: number
  runs: number
  /** Claims of runs, killed ones included. */
  attempts: number
  rows_in_table: number
  /** Files and batches made again at the end, to be compared. */
  repeated: number
  /** What was harmed at the destinations afterwards. */
  harms: number
  faults: string[]
}

export async function closeProof(program: Program, stage: Stage): Promise<Proof> {
  const faults: string[] = []
  const fault = (text: string) => void faults.push(text)
  await stage.start('forward')
  await stage.sendAgain()
  await stage.stop()
  await stage.start('to the next hour')
  await stage.settle()
  await stage.catchUp()
  await stage.settle()
  const figures = await countRuns(stage.db)
  for (const id of await listGaps(stage.db)) fault(`run ${id} does not begin where the one before ended`)
  const names = await listFileNames(stage.db)
  await stage.stop()
  faults.push(...stage.takeFaults())
  for (const name of await listUnknownFiles(stage.parts.places, names)) fault(`nobody knows of ${name}`)
  return { events: stage.events, ...figures, ...(await checkAtRest(program, stage, fault)), faults }
}

function countRuns(db: Db): Promise<Pick<Proof, 'runs' | 'attempts'>> {
  return db.only(sql`SELECT count(*)::int AS runs, sum(attempt)::int AS attempts FROM batch_export_run`)
}

/** Manifests among them. What a later run over the same events no longer wrote must be gone. */
async function listFileNames(db: Db): Promise<Set<string>> {
  const rows = await db.rows<{ name: string }>(sql`
    SELECT DISTINCT jsonb_array_elements_text(published) AS name FROM (
      SELECT DISTINCT ON (coalesce(repeats, id)) published FROM batch_export_run
      WHERE status = 'Completed' AND published IS NOT NULL
      ORDER BY coalesce(repeats, id), created_at DESC, id DESC) AS last`)
  return new Set(rows.map(({ name }) => name))
}

async function checkAtRest(
  program: Program,
  stage: Stage,
  fault: (text: string) => void,
): Promise<Pick<Proof, 'rows_in_table' | 'repeated' | 'harms'>> {
  const { env, places, ledger, deliveries } = stage.parts
  const rows_in_table = await expectWholeTable(places.warehouse.admin, ledger, fault)
  if (rows_in_table !== stage.events)
    fault(`Postgres: at the end ${rows_in_table} of ${stage.events} events are there`)
  for (const made of stage.exports) {
    if (made.kind === 'folder' || made.kind === 'bucket')
      await expectWholePlace(places, made, ledger, stage.events, fault)
  }
  const repeated = await repeatRuns(env, deliveries, fault)
  const { code, stdout, stderr } = await program.run(['verify'], env)
  if (code !== 0) fault(`longshore verify: ${stdout}${stderr}`)
  const harms = await harmEverything(places)
  const told = (await program.run(['verify'], env)).stdout
  for (const harm of harms.filter((each) => !isTold(each, told)))
    fault(`longshore verify does not tell of ${harm.kind} ${harm.what}`)
  return { rows_in_table, repeated, harms: harms.length }
}

function isTold({ kind, what }: Harm, output: string): boolean {
  return output.split('\n').some((line) => line.includes(`: ${kind} · `) && line.includes(what))
}
