// What earlier runs of the same delivery did: a run that repeats another goes on from there. Runs of one delivery take
// turns, so nothing of this changes while one of them is at work.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import { deliveryIdOf } from '../ledger/claim.ts'
import type { RunRow } from '../rows.ts'
import { RUN_COLUMNS } from './columns.ts'

export type Past = {
  /** The run that claimed the events; maybe this one. */
  first: RunRow
  /** How often others of the delivery were tried: with its own, a run's attempts have numbers that never come again. */
  attempts: number
  /** The last one that got through: its rows are at the destination. */
  completed: RunRow | null
  /** All others, oldest first. */
  others: readonly RunRow[]
}

export async function readPast(db: Db, run: RunRow): Promise<Past> {
  const delivery_id = deliveryIdOf(run)
  const runs = await db.rows<RunRow>(sql`
    SELECT ${RUN_COLUMNS} FROM batch_export_run
    WHERE project_id = ${run.project_id} AND (id = ${delivery_id} OR repeats = ${delivery_id})
    ORDER BY created_at, id`)
  const others = runs.filter(({ id }) => id !== run.id)
  return {
    first: runs.find(({ id }) => id === delivery_id) ?? run,
    attempts: others.reduce((sum, { attempt }) => sum + attempt, 0),
    completed: others.findLast(({ status }) => status === 'Completed') ?? null,
    others,
  }
}
