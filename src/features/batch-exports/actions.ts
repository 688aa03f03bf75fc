// What is done to an export as a whole: going on after a pause, sending old events again, deletion. Each is one
// transaction on the locked row, with its entry in the activity log.
import type { Db } from '../../platform/db/database.ts'
import { recordActivity } from '../activity-log/record.ts'
import { cancelLiveBackfills } from './backfills/cancel.ts'
import { createBackfill, createRepair, createUnpause } from './backfills/create.ts'
import { estimateBackfill } from './backfills/estimate.ts'
import { listRunBounds } from './backfills/queries.ts'
import { readBackfillRange, readRepairRange } from './backfills/range.ts'
import { changeExport, type Addressed } from './change.ts'
import { exportActivity, type Change } from './create.ts'
import { getExport, lockExport, updateExport } from './queries.ts'
import type { ExportRow } from './rows.ts'
import { cancelLiveRuns } from './runs/queries.ts'

export type ActionResult = { row: ExportRow; backfill_id?: string }

/** With a backfill, what fell due during the pause is made up for; one that was not paused has missed nothing. */
export async function resumeExport(
  change: Change,
  { project, row }: Addressed,
  { backfill = false }: { backfill?: boolean | undefined },
): Promise<ActionResult> {
  const { db, now } = change
  return db.transaction(async (tx) => {
    const before = await lockExport(tx, project.id, row.id)
    const after = await changeExport({ ...change, db: tx }, { project, row }, { paused: false })
    const start_at = before.last_paused_at ?? before.created_at
    if (!backfill || !before.paused || start_at >= now) return { row: after }
    const { backfill_id } = await createUnpause(tx, after, start_at, now)
    return recordBackfill(tx, change, { project, row: after }, { id: backfill_id, start_at, end_at: now })
  })
}

export async function backfillExport(
  change: Change,
  { project, row }: Addressed,
  body: unknown,
): Promise<ActionResult> {
  const { services, db, now } = change
  const range = readBackfillRange(body, row, now)
  // Before the transaction: the event store may take its time.
  const estimate = await estimateBackfill(services, row, range, now)
  return db.transaction(async (tx) => {
    const locked = await lockExport(tx, project.id, row.id)
    const { backfill_id } = await createBackfill(tx, locked, range, estimate, now)
    return recordBackfill(tx, change, { project, row: locked }, { id: backfill_id, ...range })
  })
}

/** What was delivered in a range goes out again, as it was. */
export async function repairExport(
  change: Change,
  { project, row }: Addressed,
  body: unknown,
): Promise<ActionResult> {
  const { db, now } = change
  return db.transaction(async (tx) => {
    const locked = await lockExport(tx, project.id, row.id)
    const range = readRepairRange(body, locked, now, await listRunBounds(tx, locked))
    const { backfill_id } = await createRepair(tx, locked, range, now)
    return recordBackfill(tx, change, { project, row: locked }, { id: backfill_id, kind: 'repair', ...range })
  })
}

type Started = { id: string; kind?: string; start_at: Date | null; end_at: Date | null }

async function recordBackfill(
  tx: Db,
  change: Change,
  { project, row }: Addressed,
  started: Started,
): Promise<ActionResult> {
  await recordActivity(tx, change, {
    ...exportActivity(project, row),
    activity: 'updated',
    changes: [{ type: 'BatchExport', action: 'created', field: 'backfill', before: null, after: started }],
  })
  // An open-ended one that has nothing to catch up with sets the export going at once.
  return { row: await getExport(tx, project.id, row.id), backfill_id: started.id }
}

/** Soft: its runs point to it. First nothing new can start, then what is under way ends. */
export async function deleteExport(change: Change, { project, row }: Addressed): Promise<void> {
  const { db, now } = change
  await db.transaction(async (tx) => {
    await lockExport(tx, project.id, row.id)
    await cancelLiveBackfills(tx, row, now)
    await cancelLiveRuns(tx, { project_id: project.id, batch_export_id: row.id }, now)
    const deleted = await updateExport(tx, row, { deleted_at: now }, now)
    await recordActivity(tx, change, { ...exportActivity(project, deleted), activity: 'deleted' })
  })
}
