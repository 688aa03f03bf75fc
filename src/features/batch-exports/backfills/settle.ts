// Moves one backfill on: a few runs at a time, the next when one has ended, and its own end when all have. Called when it
// is made, when a run of it ends, and with every tick.
import type { Db } from '../../../platform/db/database.ts'
import type { DataInterval } from '../definition.ts'
import type { BackfillRow, ExportRow } from '../rows.ts'
import { unpauseFrom } from '../schedule/actions.ts'
import { boundaries, intervalEndingAt } from '../schedule/grid.ts'
import { insertRuns } from '../schedule/new-runs.ts'
import { isFromBeginningOfTime, lastPossibleEnd } from './plan.ts'
import { endBackfill, findExportOf, lockLiveBackfill, standingOf, updateProgress } from './queries.ts'

export const MAX_LIVE_RUNS = 4
// A person's later state must not be overwritten by an earlier one.
const MAX_LIVE_RUNS_OF_PERSONS = 1

/**
 * Makes the next runs there is room for; without any left to make or to wait for, the backfill is completed, whether its
 * runs succeeded or not: they speak for themselves. Does nothing where another is at it: the next tick looks again.
 */
export async function settleBackfill(tx: Db, backfill_id: string, now: Date): Promise<number> {
  const backfill = await lockLiveBackfill(tx, backfill_id)
  const row = backfill && (await findExportOf(tx, backfill))
  if (!row) return 0
  const { live_runs, last_end } = await standingOf(tx, backfill)
  const { intervals, next_end_at } = nextIntervals(row, backfill, last_end, roomFor(row) - live_runs)
  if (intervals.length > 0) {
    await updateProgress(tx, backfill, { status: 'Running', next_end_at }, now)
    return makeRuns(tx, backfill, intervals, now)
  }
  if (live_runs === 0) await complete(tx, backfill, last_end, now)
  return 0
}

function roomFor(row: ExportRow): number {
  return row.model === 'persons' ? MAX_LIVE_RUNS_OF_PERSONS : MAX_LIVE_RUNS
}

/** Each begins where the one before ended, also when the export's interval has changed in between. */
function nextIntervals(
  row: ExportRow,
  backfill: BackfillRow,
  last_end: Date | null,
  room: number,
): { intervals: DataInterval[]; next_end_at: Date | null } {
  const first_end = backfill.next_end_at
  if (first_end === null || room <= 0) return { intervals: [], next_end_at: first_end }
  const until = lastPossibleEnd(row, backfill)
  const ends = [first_end, ...boundaries(row, first_end, until, room)].filter((end) => end <= until)
  const first_start = last_end ?? firstStart(row, backfill, first_end)
  const intervals = ends.slice(0, room).map((end, index) => ({ start: ends[index - 1] ?? first_start, end }))
  return { intervals, next_end_at: ends[room] ?? null }
}

function firstStart(row: ExportRow, backfill: BackfillRow, first_end: Date): Date | null {
  return isFromBeginningOfTime(row, backfill) ? null : intervalEndingAt(row, first_end).start
}

function makeRuns(
  tx: Db,
  backfill: BackfillRow,
  intervals: readonly DataInterval[],
  now: Date,
): Promise<number> {
  const runs = intervals.map((interval) => ({
    project_id: backfill.project_id,
    batch_export_id: backfill.batch_export_id,
    backfill_id: backfill.id,
    interval,
    selection: 'timestamp' as const,
    seq_from: 0,
    seq_to: backfill.seq_to,
    run_after: now,
  }))
  return insertRuns(tx, runs, now)
}

/** Without an end the schedule goes on where the backfill stopped, and catches up with what came meanwhile. */
async function complete(tx: Db, backfill: BackfillRow, last_end: Date | null, now: Date): Promise<void> {
  await endBackfill(tx, backfill, 'Completed', now)
  if (backfill.end_at !== null) return
  const owner = { project_id: backfill.project_id, id: backfill.batch_export_id }
  await unpauseFrom(tx, owner, last_end ?? backfill.created_at, now)
}
