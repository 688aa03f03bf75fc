// Moves one backfill on: a few runs at a time, the next when one has ended, and its own end when all have. Called when it
// is made, when a run of it ends, and with every tick.
import type { Db } from '../../../platform/db/database.ts'
import type { DataInterval } from '../definition.ts'
import type { BackfillRow, ExportRow } from '../rows.ts'
import { unpauseFrom } from '../schedule/actions.ts'
import { boundaries, earliest, intervalEndingAt } from '../schedule/grid.ts'
import { insertRuns, type NewRun } from '../schedule/new-runs.ts'
import { isFromBeginningOfTime, lastPossibleEnd } from './plan.ts'
import {
  endBackfill,
  findDelivered,
  findExportOf,
  listFirstRuns,
  lockLiveBackfill,
  standingOf,
  updateProgress,
} from './queries.ts'

export const MAX_LIVE_RUNS = 4
// A person's later state must not be overwritten by an earlier one.
const MAX_LIVE_RUNS_OF_PERSONS = 1

/**
 * Makes the next runs there is room for; without any left to make or to wait for, the backfill is completed, whether its
 * runs succeeded or not: they speak for themselves. Does nothing where another is at it: the next tick looks again.
 */
export async function advanceBackfill(tx: Db, backfill_id: string, now: Date): Promise<number> {
  const backfill = await lockLiveBackfill(tx, backfill_id)
  const row = backfill && (await findExportOf(tx, backfill))
  if (!row) return 0
  const { live_runs, last_end } = await standingOf(tx, backfill)
  const room = Math.max(0, roomFor(row) - live_runs)
  // What was claimed before comes first: those runs have waited longest.
  const again = backfill.queue.slice(0, room)
  const { intervals, next_end_at } = nextIntervals(row, backfill, last_end, room - again.length)
  if (again.length + intervals.length > 0) {
    const queue = backfill.queue.slice(again.length)
    await updateProgress(tx, backfill, { next_end_at, queue }, now)
    const runs = [...(await repeatedRuns(tx, backfill, again)), ...newRuns(backfill, intervals)]
    return insertRuns(
      tx,
      runs.map((run) => ({ ...run, run_after: now })),
      now,
    )
  }
  if (live_runs === 0) await complete(tx, backfill, now)
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
  const until = earliest(lastPossibleEnd(row, backfill), backfill.last_end_at)
  const ends = [first_end, ...boundaries(row, first_end, until, room)].filter((end) => end <= until)
  const first_start = last_end ?? firstStart(row, backfill, first_end)
  const intervals = ends.slice(0, room).map((end, index) => ({ start: ends[index - 1] ?? first_start, end }))
  return { intervals, next_end_at: ends[room] ?? null }
}

function firstStart(row: ExportRow, backfill: BackfillRow, first_end: Date): Date | null {
  if (isFromBeginningOfTime(row, backfill)) return null
  if (backfill.kind === 'unpause') return backfill.adjusted_start_at
  // The interval may have become shorter since the backfill was asked for.
  return earliest(intervalEndingAt(row, first_end).start, backfill.adjusted_start_at ?? backfill.start_at)
}

type Run = Omit<NewRun, 'run_after'>

/** What was missed during a pause goes out as it arrived, like the schedule's; the rest by its own time. */
function newRuns(backfill: BackfillRow, intervals: readonly DataInterval[]): Run[] {
  const { project_id, batch_export_id, id: backfill_id, seq_to } = backfill
  const choice =
    backfill.kind === 'unpause'
      ? ({ selection: 'arrival', seq_from: null, seq_to: null } as const)
      : ({ selection: 'timestamp', seq_from: 0, seq_to } as const)
  return intervals.map((interval) => ({ project_id, batch_export_id, backfill_id, interval, ...choice }))
}

/** A repair keeps the definition that the rows were delivered with, so that they come back as they were. */
async function repeatedRuns(tx: Db, backfill: BackfillRow, ids: readonly string[]): Promise<Run[]> {
  const runs: Run[] = []
  for (const first of await listFirstRuns(tx, backfill.project_id, ids)) {
    const { project_id, batch_export_id, selection, seq_from, seq_to } = first
    const delivered = backfill.kind === 'repair' ? await findDelivered(tx, project_id, first.id) : undefined
    const interval = { start: first.data_interval_start, end: first.data_interval_end }
    const bounds = { interval, selection, seq_from, seq_to }
    const again = { backfill_id: backfill.id, repeats: first.id, definition: delivered?.definition ?? null }
    runs.push({ project_id, batch_export_id, ...bounds, ...again })
  }
  return runs
}

/** Without an end the schedule goes on with the interval in which the backfill was made, and catches up. */
async function complete(tx: Db, backfill: BackfillRow, now: Date): Promise<void> {
  await endBackfill(tx, backfill, 'Completed', now)
  if (backfill.end_at !== null) return
  const owner = { project_id: backfill.project_id, id: backfill.batch_export_id }
  await unpauseFrom(tx, owner, backfill.created_at, now)
}
