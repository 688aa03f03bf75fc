// Every run once more on the store at rest, with nobody to disturb it: its files, and batches, must be the same bytes.
import { createReadStream } from 'node:fs'
import { createHash } from 'node:crypto'
import { readConfig } from '../../../src/app/config.ts'
import { withWorkspace } from '../../../src/cli/exports/open-workspace.ts'
import { DESTINATIONS } from '../../../src/features/batch-exports/destinations/index.ts'
import { batchesOf } from '../../../src/features/batch-exports/destinations/http/batches.ts'
import { encode } from '../../../src/features/batch-exports/formats/encode.ts'
import { planPieces } from '../../../src/features/batch-exports/formats/plan.ts'
import type { RunRow } from '../../../src/features/batch-exports/rows.ts'
import { RUN_COLUMNS } from '../../../src/features/batch-exports/runs/columns.ts'
import {
  factsOf,
  isBegun,
  readFrozen,
  selectionOf,
  type FrozenRun,
} from '../../../src/features/batch-exports/runs/frozen.ts'
import { sql } from '../../../src/platform/db/sql.ts'
import type { EventStore } from '../../../src/platform/event-store/event-store.ts'
import type { Env } from '../../../test/end-to-end/program.ts'
import { hashOf, type Deliveries } from './deliveries.ts'
import { TOKEN } from './places.ts'

type Fault = (text: string) => void

/** How many files and batches were made again. */
export async function repeatRuns(env: Env, deliveries: Deliveries, fault: Fault): Promise<number> {
  let repeated = 0
  await withWorkspace(readConfig(env), async ({ db, eventStore }) => {
    const runs = await db.rows<RunRow>(sql`
      SELECT ${RUN_COLUMNS} FROM batch_export_run
      WHERE status = 'Completed' AND records_completed > 0 ORDER BY id`)
    for (const run of runs) {
      if (!isBegun(run)) fault(`run ${run.id} has completed without being frozen`)
      else repeated += await repeatRun(eventStore, await readFrozen(db, run), deliveries, fault)
    }
  })
  return repeated
}

async function repeatRun(
  store: EventStore,
  run: FrozenRun,
  deliveries: Deliveries,
  fault: Fault,
): Promise<number> {
  const { destination_type, config } = run.definition
  const isHttp = destination_type === 'HTTP'
  if (!isHttp && (run.files ?? []).length === 0) return 0
  const { signal } = new AbortController()
  const { encoding } = await DESTINATIONS.get(destination_type)!.load()
  const { rows } = selectionOf(store, run)
  const { pieces } = await planPieces(store, rows, signal)
  let [count, delivered] = [0, 0]
  for await (const file of encode(store, rows, pieces, encoding(config, factsOf(run)), signal)) {
    delivered += file.rows
    if (isHttp) {
      count = await compareBatches(file.path, run, count, deliveries, fault)
      continue
    }
    const expected = run.files?.[count++]
    if (expected?.sha256 !== (await hashOfFile(file.path)) || expected.rows !== file.rows)
      fault(`${expected?.name ?? `file ${count} of run ${run.id}`} would be another undisturbed`)
  }
  if (!isHttp && count !== run.files!.length)
    fault(`run ${run.id} delivered ${run.files!.length} files, not ${count}`)
  if (delivered !== run.records_completed)
    fault(`run ${run.id} delivered ${run.records_completed} rows, not ${delivered}`)
  return count
}

/** Gives the number of the next batch. */
async function compareBatches(
  path: string,
  run: FrozenRun,
  first: number,
  deliveries: Deliveries,
  fault: Fault,
): Promise<number> {
  let sequence = first
  for await (const { body } of batchesOf(path, TOKEN, new AbortController().signal)) {
    const { batch } = JSON.parse(body.toString()) as { batch: unknown[] }
    if (deliveries.batchHash(run.past.first.id, sequence) !== hashOf(JSON.stringify(batch)))
      fault(`batch ${sequence} of run ${run.id} would be another undisturbed`)
    sequence++
  }
  return sequence
}

async function hashOfFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
