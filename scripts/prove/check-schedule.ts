// The schedule by a model of its own, which knows two rules: every boundary of the grid has its run unless it passed while
// the export was paused; and what one run does not own the next one does.
import type { ExportRow, RunRow } from '../../src/features/batch-exports/rows.ts'
import { runText, type Facts, type HistoryRow } from './facts.ts'

const MINUTE_MS = 60_000
export const STEP_MS: Record<string, number> = {
  'every 5 minutes': 5 * MINUTE_MS,
  'every 15 minutes': 15 * MINUTE_MS,
  hour: 60 * MINUTE_MS,
}
const LONGEST_MS = 60 * MINUTE_MS

/**
 * From the instant of the pause, not included, to that of its end; meanwhile the clock showed `reached` at the latest. That
 * may be after the end: the clock may have been set back.
 */
type Pause = { from: number; to: number; reached: number; began_at: number }

export function checkSchedule(facts: Facts): void {
  for (const row of facts.exports.filter(({ deleted_at }) => deleted_at === null)) {
    const history = facts.history.filter(({ batch_export_id }) => batch_export_id === row.id)
    const runs = facts.runs.filter((run) => run.batch_export_id === row.id && run.backfill_id === null)
    const pauses = pausesIn(history)
    checkBounds(
      facts,
      facts.runs.filter((run) => run.batch_export_id === row.id && run.selection === 'arrival'),
    )
    const is_moved = history.some(({ interval }) => interval !== null && interval !== row.interval)
    // A run that somebody asked for ends where it was asked for, and the next begins there.
    const is_cut = runs.some(
      ({ data_interval_end }) => data_interval_end.getTime() % STEP_MS[row.interval]! !== 0,
    )
    if (is_moved || is_cut) checkCover(facts, row, runs, pauses)
    else checkGrid(facts, row, runs, pauses, history)
  }
}

/** Positions are those that arrived in the interval, by the arrival times that the events have in the end. */
function checkBounds({ world }: Facts, runs: readonly RunRow[]): void {
  const { store } = world
  for (const run of runs) {
    if (run.seq_to === null) continue
    const from = store.positionBefore(run.data_interval_start!)
    const to = store.positionBefore(run.data_interval_end)
    if (run.seq_from !== from || run.seq_to !== to) {
      world.wrong(
        `${runText(run)} has positions (${run.seq_from}, ${run.seq_to}] instead of (${from}, ${to}]`,
      )
    }
  }
}

function pausesIn(history: readonly HistoryRow[]): Pause[] {
  const pauses: Pause[] = []
  let is_paused = false
  for (const { paused, at, next_due_at, position } of history) {
    const pause = pauses.at(-1)
    if (is_paused && pause) pause.reached = Math.max(pause.reached, at.getTime())
    if (paused === null || paused === is_paused) continue
    is_paused = paused
    if (paused) pauses.push({ from: at.getTime(), to: Infinity, reached: at.getTime(), began_at: position })
    // A backfill without an end hands over to the schedule in the past.
    else pause!.to = Math.min(at.getTime(), next_due_at!.getTime() - 1)
  }
  return pauses
}

function checkGrid(
  { world }: Facts,
  row: ExportRow,
  runs: readonly RunRow[],
  pauses: readonly Pause[],
  history: readonly HistoryRow[],
): void {
  const step = STEP_MS[row.interval]!
  const made = new Map(runs.map((run) => [run.data_interval_end.getTime(), run]))
  const until = world.clock.now().getTime()
  const first = Math.floor(row.created_at.getTime() / step) * step + step
  for (let end = first; end <= until; end += step) {
    const during = pauses.filter(({ from, to }) => end > from && end <= to)
    const run = made.get(end)
    made.delete(end)
    const hasPassed = pauses.some(({ from, reached }) => end > from && end <= reached)
    if (!run && during.length === 0 && !hasPassed)
      world.wrong(`export ${row.id} has no run that ends ${new Date(end).toISOString()}`)
    if (!run) continue
    if (run.data_interval_start?.getTime() !== end - step)
      world.wrong(`${runText(run)} is no interval of its export`)
    const at = history.find(({ run_id }) => run_id === run.id)!.position
    const isAllowed = (pause: Pause) =>
      at < pause.began_at || pauses.some((other) => other.began_at > pause.began_at && other.to < end)
    if (!during.every(isAllowed)) world.wrong(`${runText(run)} was made though its export was paused`)
  }
  for (const [end, run] of made) {
    // An export that was set going when the clock showed a time before it was made.
    const isEarly = end < first && pauses.some(({ to }) => to < end)
    if (!isEarly) world.wrong(`${runText(run)} is off the grid`)
  }
}

/** Where intervals are others than the grid's: nothing twice, nothing left out but what a pause has cut. */
function checkCover(
  { world }: Facts,
  row: ExportRow,
  runs: readonly RunRow[],
  pauses: readonly Pause[],
): void {
  const until = world.clock.now().getTime()
  const step = STEP_MS[row.interval]!
  let covered = Math.floor(row.created_at.getTime() / LONGEST_MS) * LONGEST_MS
  const tiles = runs.map((run) => ({
    from: run.data_interval_start!.getTime(),
    to: run.data_interval_end.getTime(),
  }))
  const last = Math.max(Math.floor(until / step) * step, ...tiles.map(({ to }) => to))
  for (const { from, to } of [...tiles, { from: last, to: until }]) {
    const is_first = covered <= row.created_at.getTime()
    const isCut = pauses.some(
      (pause) => pause.from - LONGEST_MS < from && Math.max(pause.to, pause.reached) >= from,
    )
    if (from < covered && !is_first)
      world.wrong(`export ${row.id}: intervals overlap at ${new Date(from).toISOString()}`)
    if (from > covered && !isCut && !(is_first && from <= row.created_at.getTime())) {
      world.wrong(
        `export ${row.id}: nothing between ${new Date(covered).toISOString()} and ${new Date(from).toISOString()}`,
      )
    }
    covered = to
  }
}
