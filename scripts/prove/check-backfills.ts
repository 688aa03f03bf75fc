// Backfills of every kind: whether they had the runs that they promise.
import type { BackfillRow, RunRow } from '../../src/features/batch-exports/rows.ts'
import { deliveryIdOf, runText, type Facts } from './facts.ts'

export function checkBackfills(facts: Facts): void {
  for (const backfill of facts.backfills) {
    const runs = facts.runs.filter((run) => run.backfill_id === backfill.id)
    if (backfill.finished_at === null) facts.world.wrong(`backfill ${backfill.id} has not ended`)
    checkRepeated(facts, backfill, runs)
    checkIntervals(
      facts,
      backfill,
      runs.filter(({ repeats }) => repeats === null),
    )
  }
}

/** They choose their rows as the runs that they repeat; a repair also has the definition of what was delivered. */
function checkRepeated(facts: Facts, backfill: BackfillRow, runs: readonly RunRow[]): void {
  const { world, deliveries } = facts
  const repeated = runs.filter(({ repeats }) => repeats !== null)
  if (backfill.kind === 'retry') {
    const of = facts.runs.find(({ id }) => id === backfill.retry_of)!
    if (repeated.length !== 1 || repeated[0]!.repeats !== deliveryIdOf(of))
      world.wrong(`${repeated.length} runs repeat ${runText(of)}`)
  }
  if (backfill.kind === 'unpause' && repeated.length > 0)
    world.wrong(`backfill ${backfill.id} makes up for a pause and repeats runs`)
  for (const run of repeated) {
    const { first } = deliveries.get(run.repeats!)!
    const isSame =
      run.selection === first.selection &&
      run.data_interval_end.getTime() === first.data_interval_end.getTime() &&
      run.data_interval_start?.getTime() === first.data_interval_start?.getTime() &&
      (run.seq_to === null || first.seq_to === null || run.seq_to === first.seq_to)
    if (!isSame) world.wrong(`${runText(run)} is another than the one it repeats, ${runText(first)}`)
    if (backfill.kind === 'repair' && run.definition === null)
      world.wrong(`${runText(run)} repairs and does not know what`)
  }
}

/** From where it was to begin, one follows the other, by arrival after a pause and by time otherwise. */
function checkIntervals({ world }: Facts, backfill: BackfillRow, runs: readonly RunRow[]): void {
  for (const [index, run] of runs.slice(1).entries()) {
    const end_before = runs[index]!.data_interval_end.getTime()
    if (run.data_interval_start?.getTime() !== end_before)
      world.wrong(`${runText(run)} does not follow the one before`)
  }
  const from = backfill.adjusted_start_at ?? backfill.start_at
  const [first] = runs
  if (first?.data_interval_start && from && first.data_interval_start > from)
    world.wrong(`${runText(first)} begins later than backfill ${backfill.id}`)
  for (const run of runs) {
    const isRight =
      backfill.kind === 'unpause'
        ? run.selection === 'arrival'
        : backfill.kind === 'backfill' && run.selection === 'timestamp' && run.seq_to === backfill.seq_to
    if (!isRight) world.wrong(`${runText(run)} is none that a ${backfill.kind} has`)
  }
}
