// The step that makes a run visible: its stage is attached to the user's table, whole and once. Called by delivery.ts.
//
// Attaching twice would add the rows twice, so before it the rows that the table has already are taken out of the stage.
// Between that look and the attaching no other attempt at the run may attach anything. Each attempt therefore first drops
// the stages of all others: whichever of two attempts looks second finds either no stage of the other, which then can
// attach nothing any more, or its rows in the table (docs/decisions/0028).
import { Passing, Refused, type DeliveryContext } from '../destination.ts'
import type { ClickHouseConfig } from './kind.ts'
import { nameOf } from './names.ts'
import { RUN_COLUMN } from './new-table.ts'
import type { Session } from './session.ts'
import { shutOutOthers, stageName } from './stages.ts'
import * as statements from './statements.ts'
import { isRunKey } from './target.ts'

export type Attempt = {
  session: Session
  context: DeliveryContext<ClickHouseConfig>
  target: statements.Target
}

/** `rows` were sent. */
export async function publish(attempt: Attempt, rows: number): Promise<void> {
  const { session, context, target } = attempt
  const { config, run } = context
  const stage = nameOf(config, stageName(run))
  const staged = await count(session, statements.countRows(stage))
  if (staged !== rows)
    throw new Passing(`ClickHouse: the stage holds ${staged} rows after ${rows} were sent.`)
  await shutOutOthers(session, config, run)
  if (target.key !== null && run.is_repair) await clearAway(attempt, stage, rows)
  else if (target.key !== null) await leaveOutPresent(session, stage, target, staged)
  await session.run(statements.attach(stage, target.table))
  if (isRunKey(target)) await assertWholeRun(attempt, rows)
  else if (target.key !== null) await assertAttached(session, stage, target)
}

/** After a repeated backfill, or an attempt that got through without hearing of it. */
async function leaveOutPresent(session: Session, stage: string, target: statements.Target, staged: number) {
  const missing = await count(session, statements.countMissing(stage, target))
  if (missing < staged) await session.run(statements.dropPresent(stage, target))
}

/** As many as fit into a statement of 256 KiB. */
const UUIDS_AT_A_TIME = 5000
const TIMED_AT_A_TIME = 2500

/**
 * For a repair: makes room for the rows that the table lacks, has changed or has more than once. Rows that are as they
 * were stay where they are, so that no reader misses them.
 */
async function clearAway({ session, context, target }: Attempt, stage: string, rows: number): Promise<void> {
  const { config, run } = context
  await session.run(statements.dropIntact(stage, target))
  const at_a_time = target.key!.length === 1 ? UUIDS_AT_A_TIME : TIMED_AT_A_TIME
  for (let left = rows; left > 0; left -= at_a_time) {
    const found = await session.run(statements.findKeys(stage, target, at_a_time))
    if (found.length === 0) return
    const keys = found.map((key) => key.map(String))
    await session.run(statements.deleteKeys(config, stageName(run), target, keys))
  }
}

/** Replicated tables pass over a part that they have seen before, also when its rows were deleted since. */
async function assertAttached(session: Session, stage: string, target: statements.Target): Promise<void> {
  const missing = await count(session, statements.countMissing(stage, target))
  if (missing > 0)
    throw new Passing(`ClickHouse: ${missing} rows are not in the table although they were attached.`)
}

async function assertWholeRun({ session, context, target }: Attempt, rows: number): Promise<void> {
  const { run, config } = context
  const found = await count(session, statements.countOfRun(target), { run_id: run.id })
  if (found === rows) return
  throw new Refused(
    `The table ${config.table_name} holds ${found} of this run's ${rows} rows, as after a crash of ClickHouse. Delete those with ${RUN_COLUMN} = '${run.id}' and retry the run.`,
  )
}

async function count(session: Session, statement: string, parameters = {}): Promise<number> {
  const [row] = await session.run(statement, parameters)
  return Number(row?.[0])
}
