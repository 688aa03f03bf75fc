// Positions that nobody has claimed and that the schedule will come to: those of intervals whose run has not begun, and
// all from the next interval on.
import type { Db } from '../../../platform/db/database.ts'
import type { Area } from '../../../platform/event-store/export-rows.ts'
import type { Services } from '../../../platform/services.ts'
import { findPosition, positionBefore } from '../engine/positions.ts'
import { intersect, subtract } from '../ledger/areas.ts'
import type { Part } from '../ledger/count.ts'
import { listBackfilled, listScheduled, type Positions } from '../ledger/queries.ts'
import type { ExportRow } from '../rows.ts'
import { intervalEndingAt } from '../schedule/grid.ts'
import type { Outline } from './queries.ts'

/** Positions (seq_from, seq_to] of an interval without claims; null for what lies beyond all intervals. */
export type Stripe = { delivery_id: string | null; seq_from: number; seq_to: number }

type Stores = Pick<Services, 'db' | 'eventStore'>

/** They do not overlap each other, nor what runs of the schedule have claimed. None where it is not events that go out. */
export async function findStripes(
  stores: Stores,
  outline: Outline,
  last_position: number,
  now: Date,
): Promise<Stripe[]> {
  if (outline.model !== 'events') return []
  const wanted: Stripe[] = []
  for (const { delivery_id, start, end } of outline.open_intervals) {
    const seq_from = start === null ? 0 : await edgeAt(stores, outline.project_id, start, now)
    const seq_to = await edgeAt(stores, outline.project_id, end, now)
    if (seq_from === null) continue
    wanted.push({ delivery_id, seq_from, seq_to: seq_to ?? last_position })
  }
  const seq_from = await nextPosition(stores, outline, now)
  if (seq_from !== null) wanted.push({ delivery_id: null, seq_from, seq_to: last_position })
  return withoutOverlap(stores.db, outline, wanted)
}

/** What backfills have claimed of the stripes. */
export async function partsWithin(
  db: Db,
  batch_export_id: string,
  stripes: readonly Stripe[],
): Promise<Part[]> {
  const parts: Part[] = []
  for (const stripe of stripes) {
    if (stripe.seq_from >= stripe.seq_to) continue
    for (const claim of await listBackfilled(db, batch_export_id, stripe)) {
      const common = intersect(claim, areaOf(stripe))
      if (common) parts.push({ ...common, run_id: claim.run_id })
    }
  }
  return parts
}

function areaOf({ seq_from, seq_to }: Positions): Area {
  return { seq_from, seq_to, time_from: null, time_to: null }
}

/** An interval that has changed may overlap its neighbours: the first has the positions. */
async function withoutOverlap(db: Db, row: ExportRow, wanted: readonly Stripe[]): Promise<Stripe[]> {
  const taken: Area[] = []
  const stripes: Stripe[] = []
  for (const stripe of wanted) {
    if (stripe.seq_from >= stripe.seq_to) continue
    const scheduled = await listScheduled(db, row.project_id, row.id, stripe)
    for (const { seq_from, seq_to } of subtract(areaOf(stripe), [...scheduled.map(areaOf), ...taken])) {
      stripes.push({ delivery_id: stripe.delivery_id, seq_from, seq_to })
      taken.push(areaOf({ seq_from, seq_to }))
    }
  }
  return stripes
}

/** Null: it lies ahead. To ask the store for it would move the store's clock there. */
async function edgeAt(stores: Stores, project_id: number, at: Date, now: Date): Promise<number | null> {
  return at > now ? findPosition(stores.db, project_id, at) : positionBefore(stores, project_id, at)
}

/** Where the next interval without a run begins; null when there is none, or it lies ahead. */
async function nextPosition(stores: Stores, row: ExportRow, now: Date): Promise<number | null> {
  const isOver = row.end_at !== null && row.next_due_at > row.end_at
  if (isOver) return null
  return edgeAt(stores, row.project_id, intervalEndingAt(row, row.next_due_at).start, now)
}
