// Everything there is to check once a simulation has come to rest, and what each run owns, reckoned without the code that
// is checked: from the bounds and the definition that were frozen, and the events.
import { sql } from '../../src/platform/db/sql.ts'
import type { BackfillRow, ExportRow, RunRow } from '../../src/features/batch-exports/rows.ts'
import { BACKFILL_COLUMNS, RUN_COLUMNS } from '../../src/features/batch-exports/runs/columns.ts'
import type { SimulatedEvent } from './event-store.ts'
import type { World } from './world.ts'

export type HistoryRow = {
  position: number
  batch_export_id: string
  run_id: string | null
  paused: boolean | null
  interval: string | null
  next_due_at: Date | null
  at: Date
}

export type Facts = {
  world: World
  exports: ExportRow[]
  runs: RunRow[]
  backfills: BackfillRow[]
  history: HistoryRow[]
}

export async function gatherFacts(world: World): Promise<Facts> {
  const { db } = world.proof
  const project_id = world.project.id
  const [exports, runs, backfills, history] = await Promise.all([
    db.rows<ExportRow>(sql`SELECT * FROM batch_export WHERE project_id = ${project_id} ORDER BY id`),
    db.rows<RunRow>(sql`
      SELECT ${RUN_COLUMNS} FROM batch_export_run WHERE project_id = ${project_id} ORDER BY data_interval_end, id`),
    db.rows<BackfillRow>(
      sql`SELECT ${BACKFILL_COLUMNS} FROM batch_export_backfill WHERE project_id = ${project_id} ORDER BY id`,
    ),
    db.rows<HistoryRow>(sql`
      SELECT position::int, batch_export_id, run_id, paused, interval, next_due_at, at FROM prove_history
      WHERE project_id = ${project_id} ORDER BY position`),
  ])
  return { world, exports, runs, backfills, history }
}

/** In the order of their positions; null for a run that was never begun. */
export function ownedBy(run: RunRow, events: readonly SimulatedEvent[]): SimulatedEvent[] | null {
  const { definition, seq_from, seq_to, selection } = run
  if (definition === null || seq_from === null || seq_to === null) return null
  const start = run.data_interval_start ?? new Date(0)
  const end = run.data_interval_end
  const isIn = ({ seq, timestamp }: SimulatedEvent) =>
    seq <= seq_to && (selection === 'arrival' ? seq > seq_from : timestamp >= start && timestamp < end)
  return events.filter((event) => isIn(event) && passes(event, definition.config))
}

export function passes({ event }: SimulatedEvent, config: Record<string, unknown>): boolean {
  const { include_events: included, exclude_events: excluded } = config as Record<string, string[] | null>
  return (included ? included.includes(event) : true) && !(excluded ?? []).includes(event)
}

/** As files and batches are cut. */
export function cut<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  )
}

export function runText(run: RunRow): string {
  const start = run.data_interval_start?.toISOString().slice(11, 16) ?? 'START'
  const kind = run.backfill_id === null ? 'scheduled' : 'backfill'
  return `run ${run.id} (${kind}, ${run.selection}, ${start} to ${run.data_interval_end.toISOString().slice(11, 16)}, ${run.status})`
}
