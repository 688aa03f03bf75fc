// How fresh exports are, for any number of them: three statements, and a few questions to the event store for each
// project. Called by the routes and by the metrics.
import { intervalEndingAt, jitterMs } from '../schedule/grid.ts'
import { countUnmadeRuns, openSince } from './pending.ts'
import { listDebts, listStandings, type Debt, type Standing, type WatchedExport } from './queries.ts'
import { measureWaiting, type Stores, type Waiting } from './waiting.ts'

export type Figures = Standing & {
  /** Null where the model is no stream of events. */
  rows_behind: number | null
  oldest_pending_at: Date | null
  runs_behind: number
  next_run_at: Date | null
  is_late: boolean
}

const NO_STREAM = { rows: null, oldest_at: null }
/** An export is late when its oldest pending event has waited for more intervals than this. */
const INTERVALS_IN_TIME = 2

/** Figures by export id. */
export async function measureFreshness(
  stores: Stores,
  exports: readonly WatchedExport[],
  now: Date,
): Promise<Map<string, Figures>> {
  if (exports.length === 0) return new Map()
  const standings = byExport(await listStandings(stores.db, exports))
  const asked = exports.map((row) => ({ id: row.id, open_since: openSince(row) }))
  const debts = byExport(await listDebts(stores.db, asked))
  const waiting = await measureWaiting(stores, exports, debts, now)
  return new Map(
    exports.map((row) => {
      const { id } = row
      return [id, figuresOf(row, standings.get(id)!, debts.get(id)!, waiting.get(id) ?? NO_STREAM, now)]
    }),
  )
}

function byExport<Row extends { batch_export_id: string }>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.batch_export_id, row]))
}

function figuresOf(
  row: WatchedExport,
  standing: Standing,
  debt: Debt,
  { rows, oldest_at }: Waiting | typeof NO_STREAM,
  now: Date,
): Figures {
  const { expected_end_at } = standing
  const open_since = openSince(row)
  const waits_since = row.model === 'events' ? oldest_at : (debt.since ?? open_since)
  const { start, end } = intervalEndingAt(row, row.next_due_at)
  const patience_ms = INTERVALS_IN_TIME * (end.getTime() - start.getTime())
  return {
    ...standing,
    // A run that takes longer than earlier ones did has no expected end.
    expected_end_at: expected_end_at && expected_end_at > now ? expected_end_at : null,
    rows_behind: rows,
    oldest_pending_at: oldest_at,
    runs_behind: debt.runs + countUnmadeRuns(row, now),
    next_run_at: row.paused || open_since === null ? null : nextRunAt(row),
    is_late: !row.paused && waits_since !== null && now.getTime() - waits_since.getTime() > patience_ms,
  }
}

/** Null beyond the years that ISO 8601 writes with four digits. */
function nextRunAt({ id, next_due_at }: WatchedExport): Date | null {
  const at = new Date(next_due_at.getTime() + jitterMs(id))
  return at.getUTCFullYear() > 9999 ? null : at
}
