// Everything there is to check once a simulation has come to rest, and what each run owns, computed without the code that
// is checked: from the claims and the definition that were frozen, and the events.
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

export type ClaimRow = {
  batch_export_id: string
  run_id: string
  seq_from: number
  seq_to: number
  time_from: Date | null
  time_to: Date | null
}

/** The runs over one set of claims, oldest first. */
export type DeliveryFacts = {
  id: string
  first: RunRow
  runs: RunRow[]
  claims: ClaimRow[]
  /** The last one that got through. */
  completed: RunRow | undefined
}

export type Facts = {
  world: World
  exports: ExportRow[]
  runs: RunRow[]
  deliveries: Map<string, DeliveryFacts>
  backfills: BackfillRow[]
  history: HistoryRow[]
}

export async function gatherFacts(world: World): Promise<Facts> {
  const { db } = world.proof
  const project_id = world.project.id
  const [exports, runs, backfills, history, claims] = await Promise.all([
    db.rows<ExportRow>(sql`SELECT * FROM batch_export WHERE project_id = ${project_id} ORDER BY id`),
    db.rows<RunRow>(sql`
      SELECT ${RUN_COLUMNS} FROM batch_export_run WHERE project_id = ${project_id} ORDER BY data_interval_end, id`),
    db.rows<BackfillRow>(
      sql`SELECT ${BACKFILL_COLUMNS} FROM batch_export_backfill WHERE project_id = ${project_id} ORDER BY id`,
    ),
    db.rows<HistoryRow>(sql`
      SELECT position::int, batch_export_id, run_id, paused, interval, next_due_at, at FROM prove_history
      WHERE project_id = ${project_id} ORDER BY position`),
    db.rows<ClaimRow>(sql`
      SELECT claim.batch_export_id, run_id, (lower(positions) - 1)::int AS seq_from,
        (upper(positions) - 1)::int AS seq_to, lower(times) AS time_from, upper(times) AS time_to
      FROM batch_export_claim AS claim JOIN batch_export ON batch_export.id = claim.batch_export_id
      WHERE project_id = ${project_id}`),
  ])
  return { world, exports, runs, deliveries: deliveriesOf(runs, claims), backfills, history }
}

function deliveriesOf(runs: readonly RunRow[], claims: readonly ClaimRow[]): Map<string, DeliveryFacts> {
  const deliveries = new Map<string, DeliveryFacts>()
  const byAge = runs.toSorted(
    (one, other) => order(one.created_at, other.created_at) || (one.id < other.id ? -1 : 1),
  )
  for (const first of byAge.filter(({ repeats }) => repeats === null)) {
    const own = byAge.filter((run) => run.id === first.id || run.repeats === first.id)
    deliveries.set(first.id, {
      id: first.id,
      first,
      runs: own,
      claims: claims.filter(({ run_id }) => run_id === first.id),
      completed: own.findLast(({ status }) => status === 'Completed'),
    })
  }
  return deliveries
}

const order = (one: Date, other: Date) => one.getTime() - other.getTime()

export const deliveryIdOf = ({ id, repeats }: RunRow) => repeats ?? id

export function isClaimed({ seq, timestamp }: SimulatedEvent, claim: ClaimRow): boolean {
  return (
    seq > claim.seq_from &&
    seq <= claim.seq_to &&
    (claim.time_from === null || timestamp >= claim.time_from) &&
    (claim.time_to === null || timestamp < claim.time_to)
  )
}

/** In the order of their positions; null for a run that was never begun. */
export function ownedBy({ world, deliveries }: Facts, run: RunRow): SimulatedEvent[] | null {
  const { definition } = run
  const delivery = deliveries.get(deliveryIdOf(run))
  if (definition === null || !delivery) return null
  return world.store.events.filter(
    (event) => delivery.claims.some((claim) => isClaimed(event, claim)) && passes(event, definition.config),
  )
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
  const kind = run.repeats !== null ? 'repeated' : run.backfill_id === null ? 'scheduled' : 'backfill'
  return `run ${run.id} (${kind}, ${run.selection}, ${start} to ${run.data_interval_end.toISOString().slice(11, 16)}, ${run.status})`
}
