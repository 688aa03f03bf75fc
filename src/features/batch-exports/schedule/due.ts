// The scheduler's tick: every interval that has ended gets its run, once, oldest first, however long nobody looked and
// however many look at the same time. The worker calls it every few seconds.
import type { Db } from '../../../platform/db/database.ts'
import type { Services } from '../../../platform/services.ts'
import type { DataInterval } from '../definition.ts'
import type { ExportRow } from '../rows.ts'
import {
  boundaries,
  boundaryAfter,
  earliest,
  intervalEndingAt,
  jitterMs,
  justBefore,
  latest,
  type Schedule,
} from './grid.ts'
import { insertRuns, type NewRun } from './new-runs.ts'
import { listDueExports, lockDueExports, moveDue, standings, type Standing } from './queries.ts'

/** Limit of unfinished runs of one export's schedule. After a long absence it catches up as they end. */
export const MAX_LIVE_RUNS = 20
// Short transactions: a locked export can be neither paused nor edited.
const EXPORTS_AT_A_TIME = 100

/** Returns how many runs were made. */
export async function makeDueRuns({ db }: Pick<Services, 'db'>, now: Date): Promise<number> {
  const due = await listDueExports(db, now)
  let made = 0
  for (let from = 0; from < due.length; from += EXPORTS_AT_A_TIME) {
    const ids = due.slice(from, from + EXPORTS_AT_A_TIME)
    made += await db.transaction((tx) => makeRunsOf(tx, ids, now))
  }
  return made
}

async function makeRunsOf(tx: Db, ids: readonly string[], now: Date): Promise<number> {
  const rows = await lockDueExports(tx, ids, now)
  const standing = await standings(
    tx,
    rows.map(({ id }) => id),
  )
  const plans = rows.map((row) => {
    const { live_runs, covered_until } = standing.get(row.id)!
    return { row, intervals: owedIntervals(row, covered_until, now, MAX_LIVE_RUNS - live_runs) }
  })
  const moves = plans.flatMap(({ row, intervals }) => {
    const last = intervals.at(-1)
    return last ? [{ ...row, next_due_at: boundaryAfter(row, last.end) }] : []
  })
  await moveDue(tx, moves)
  return insertRuns(
    tx,
    plans.flatMap(({ row, intervals }) => scheduledRuns(row, intervals)),
    now,
  )
}

export type OwingSchedule = Schedule & Pick<ExportRow, 'next_due_at' | 'start_at' | 'end_at'>

/**
 * Intervals of the schedule that have ended by `until` and have no run yet. `covered_until` keeps them apart from what
 * has gone out: where a longer interval has replaced a shorter one, the first is cut short; where the clock was set back,
 * what was made before is not made again.
 */
export function owedIntervals(
  row: OwingSchedule,
  covered_until: Standing['covered_until'],
  until: Date,
  limit: number,
): (DataInterval & { start: Date })[] {
  const after = latest(justBefore(row.next_due_at)!, justBefore(row.start_at), covered_until)
  return boundaries(row, after, earliest(until, row.end_at), limit).map((end) => {
    const { start } = intervalEndingAt(row, end)
    return { start: latest(start, covered_until), end }
  })
}

export function scheduledRuns(row: ExportRow, intervals: readonly DataInterval[]): NewRun[] {
  return intervals.map((interval) => ({
    project_id: row.project_id,
    batch_export_id: row.id,
    backfill_id: null,
    interval,
    selection: 'arrival',
    seq_from: null,
    seq_to: null,
    run_after: new Date(interval.end.getTime() + jitterMs(row.id)),
  }))
}
