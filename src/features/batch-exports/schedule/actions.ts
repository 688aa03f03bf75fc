// What people do to a schedule: stop it, set it going again, move it. Called by the routes, and by a run that pauses its
// export after too many failures.
import type { Db } from '../../../platform/db/database.ts'
import { lockExport, updateExport } from '../queries.ts'
import type { ExportRow } from '../rows.ts'
import { owedIntervals, scheduledRuns } from './due.ts'
import { boundaryAfter, firstDueAt, intervalEndingAt, justBefore, latest, earliest } from './grid.ts'
import { insertRuns } from './new-runs.ts'
import { standings } from './queries.ts'

/** Already paused: nothing changes, no timestamp either. */
export async function pauseExport(
  tx: Db,
  row: Pick<ExportRow, 'project_id' | 'id'>,
  now: Date,
): Promise<ExportRow> {
  const current = await lockExport(tx, row.project_id, row.id)
  return current.paused ? current : updateExport(tx, current, { paused: true, last_paused_at: now }, now)
}

/**
 * What ended while it was paused stays out; what had ended before, and the scheduler had not come to, is made up for.
 * Already running: nothing changes.
 */
export async function unpauseExport(
  tx: Db,
  row: Pick<ExportRow, 'project_id' | 'id'>,
  now: Date,
): Promise<ExportRow> {
  const current = await lockExport(tx, row.project_id, row.id)
  if (!current.paused) return current
  if (current.last_paused_at) await makeRunsOwedAt(tx, current, current.last_paused_at, now)
  return updateExport(tx, current, { paused: false, next_due_at: firstDueAt(current, now) }, now)
}

/**
 * Sets a paused export going from an instant of the past on: what has ended since is caught up with, and what had ended before
 * that and before the pause, and the scheduler had not come to, is made up for.
 */
export async function unpauseFrom(
  tx: Db,
  row: Pick<ExportRow, 'project_id' | 'id'>,
  from: Date,
  now: Date,
): Promise<void> {
  const current = await lockExport(tx, row.project_id, row.id)
  if (!current.paused) return
  const { last_paused_at } = current
  if (last_paused_at) await makeRunsOwedAt(tx, current, earliest(last_paused_at, from), now)
  await updateExport(tx, current, { paused: false, next_due_at: boundaryAfter(current, from) }, now)
}

async function makeRunsOwedAt(tx: Db, row: ExportRow, paused_at: Date, now: Date): Promise<void> {
  if (row.next_due_at > paused_at) return
  const standing = (await standings(tx, [row.id])).get(row.id)!
  // Without the usual limit: `next_due_at` goes on to the future and cannot point at them any more.
  const intervals = owedIntervals(
    row,
    standing.covered_until,
    earliest(paused_at, now),
    Number.POSITIVE_INFINITY,
  )
  await insertRuns(tx, scheduledRuns(row, intervals), now)
}

/**
 * `next_due_at` of an export whose interval, zone, offsets, `start_at` or `end_at` have changed. Intervals that have
 * their runs stay as they were; from there on the new grid holds, so that nothing is left out and nothing goes out twice.
 * What fell before the old start or after the old end was not owed and is not made up for.
 */
export function dueAfterChange(before: ExportRow, after: ExportRow, now: Date): Date {
  const hadNotBegun = before.start_at !== null && before.start_at > now
  const hadEnded = before.end_at !== null && before.next_due_at > before.end_at
  if (hadNotBegun || hadEnded) return firstDueAt(after, now)
  const { start } = intervalEndingAt(before, before.next_due_at)
  return boundaryAfter(after, latest(start, before.created_at, justBefore(after.start_at)))
}
