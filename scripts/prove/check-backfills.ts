// Backfills: every event of their range that was there when they were asked for is in exactly one of their runs.
import type { BackfillRow, RunRow } from '../../src/features/batch-exports/rows.ts'
import { runText, type Facts } from './facts.ts'

export function checkBackfills(facts: Facts): void {
  for (const backfill of facts.backfills) {
    const runs = facts.runs.filter((run) => run.backfill_id === backfill.id)
    if (backfill.finished_at === null) facts.world.wrong(`backfill ${backfill.id} has not ended`)
    if (backfill.retry_of !== null) checkRetry(facts, backfill, runs)
    else checkRange(facts, backfill, runs)
  }
}

/** It chooses its rows as the run that it repeats. */
function checkRetry({ world, runs }: Facts, { retry_of }: BackfillRow, made: readonly RunRow[]): void {
  const before = runs.find(({ id }) => id === retry_of)!
  if (made.length !== 1) world.wrong(`${made.length} runs repeat ${runText(before)}`)
  for (const run of made) {
    const isSame =
      run.selection === before.selection &&
      run.data_interval_end.getTime() === before.data_interval_end.getTime() &&
      run.data_interval_start?.getTime() === before.data_interval_start?.getTime() &&
      (before.seq_to === null ||
        run.seq_to === null ||
        (run.seq_from === before.seq_from && run.seq_to === before.seq_to))
    if (!isSame) world.wrong(`${runText(run)} is another than the one it repeats, ${runText(before)}`)
  }
}

function checkRange({ world }: Facts, backfill: BackfillRow, runs: readonly RunRow[]): void {
  for (const [index, run] of runs.slice(1).entries()) {
    const end_before = runs[index]!.data_interval_end.getTime()
    if (run.data_interval_start?.getTime() !== end_before)
      world.wrong(`${runText(run)} does not follow the one before`)
  }
  for (const run of runs) {
    const isFrozen = run.seq_to === backfill.seq_to && run.selection === 'timestamp'
    if (!isFrozen) world.wrong(`${runText(run)} has other bounds than its backfill`)
  }
  if (backfill.status === 'Completed') checkComplete({ world }, backfill, runs)
}

/** Whole intervals of five minutes are in every grid: what lies in one of the range is in a run. */
function checkComplete(
  { world }: Pick<Facts, 'world'>,
  backfill: BackfillRow,
  runs: readonly RunRow[],
): void {
  const longest_ms = 60 * 60_000
  const until = (backfill.end_at ?? backfill.created_at).getTime() - longest_ms
  const from = backfill.start_at?.getTime() ?? 0
  for (const { uuid, seq, timestamp } of world.store.events) {
    const isIn = seq <= backfill.seq_to && timestamp.getTime() >= from && timestamp.getTime() < until
    const holders = runs.filter(
      (run) => run.data_interval_start! <= timestamp && run.data_interval_end > timestamp,
    )
    if (isIn && holders.length !== 1)
      world.wrong(`event ${uuid} is in ${holders.length} runs of backfill ${backfill.id}`)
  }
}
