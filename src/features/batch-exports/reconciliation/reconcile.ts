// Reconciliation of an export: every position of its project falls into exactly one of four parts. What runs have claimed
// is exported, filtered out or pending, as their runs say. What nobody has claimed is pending if the schedule will
// still come to it, and skipped otherwise. So the parts add up at any moment.
import type { Db } from '../../../platform/db/database.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { PositionRange } from '../../../platform/event-store/event-store.ts'
import { countEvents } from '../../../platform/event-store/holes.ts'
import type { Page } from '../../../platform/http/paging.ts'
import type { Services } from '../../../platform/services.ts'
import { measureParts, shareOut, withCounts, type MeasuredPart } from '../ledger/count.ts'
import { listUncounted } from '../ledger/queries.ts'
import type { ExportRow } from '../rows.ts'
import { presentIntervals, type IntervalRow } from './intervals.ts'
import { findStripes, partsWithin, type Stripe } from './open-positions.ts'
import {
  listDelivered,
  listIntervals,
  listShares,
  readOutline,
  sumDeliveries,
  type CountedInterval,
  type Outline,
  type ShownShare,
  type Sums,
} from './queries.ts'

export type ReconciledEvents = {
  received: number
  exported: number
  filtered_out: number
  pending: number
  skipped: number
  backfilled: number
  count: number
  intervals: IntervalRow[]
}

type Stores = Pick<Services, 'db' | 'eventStore'>

/** Nobody makes runs so often that this takes more than one or two tries. */
const TRIES = 5

export async function reconcile(
  stores: Stores,
  row: ExportRow,
  page: Page,
  now: Date,
): Promise<ReconciledEvents> {
  const signal = new AbortController().signal
  for (let left = TRIES; ; left--) {
    const last_position = await stores.eventStore.lastPosition(row.project_id)
    await countOpenClaims(stores, row, signal)
    const outline = await readOutline(stores.db, row)
    const stripes = await findStripes(stores, outline, last_position, now)
    const moment = await readMoment(stores.db, row, stripes, page)
    // Runs that were made, or have claimed events, since the stripes were found: those would be counted wrong.
    if (left > 1 && hasMoved(outline, moment)) continue
    const holes = await stores.eventStore.holes(row.project_id)
    const parts = await measureParts(stores, row.project_id, moment.parts, signal)
    const seen = { stripes, parts, holes }
    return { ...divide(last_position, moment.sums, seen), ...shown(moment, seen) }
  }
}

/** Figures that a run leaves when it dies between claiming its events and counting them. */
async function countOpenClaims(stores: Stores, row: ExportRow, signal: AbortSignal): Promise<void> {
  const uncounted = await listUncounted(stores.db, row.id)
  await withCounts(stores, row.project_id, row.id, uncounted, signal)
  await shareOut(stores, row, signal)
}

type Moment = {
  outline: Outline
  sums: Sums
  intervals: CountedInterval[]
  shares: ShownShare[]
  parts: Awaited<ReturnType<typeof partsWithin>>
  delivered: Set<string>
  uncounted: number
}

/** All of it as it is at one moment. */
function readMoment(db: Db, row: ExportRow, stripes: readonly Stripe[], page: Page): Promise<Moment> {
  return db.transaction(async (tx) => {
    await tx.run(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`)
    const outline = await readOutline(tx, row)
    const intervals = await listIntervals(tx, row, page)
    const ids = intervals.map(({ delivery_id }) => delivery_id)
    const parts = await partsWithin(tx, row.id, stripes)
    const run_ids = [...new Set(parts.map(({ run_id }) => run_id))]
    return {
      outline,
      sums: await sumDeliveries(tx, row),
      intervals,
      shares: await listShares(tx, ids),
      parts,
      delivered: await listDelivered(tx, run_ids),
      uncounted: (await listUncounted(tx, row.id)).length,
    }
  })
}

function hasMoved(before: Outline, { outline, uncounted }: Moment): boolean {
  return uncounted > 0 || hasOtherIntervals(before, outline)
}

/** Runs were made or have claimed events, or the schedule has changed. */
export function hasOtherIntervals(before: Outline, outline: Outline): boolean {
  const ids = ({ open_intervals }: Outline) => open_intervals.map(({ delivery_id }) => delivery_id).join()
  return (
    ids(before) !== ids(outline) ||
    before.next_due_at.getTime() !== outline.next_due_at.getTime() ||
    before.end_at?.getTime() !== outline.end_at?.getTime()
  )
}

type Seen = {
  stripes: readonly Stripe[]
  parts: readonly MeasuredPart[]
  /** Positions without events. */
  holes: readonly PositionRange[]
}

function divide(
  last_position: number,
  sums: Sums,
  { stripes, parts, holes }: Seen,
): Omit<ReconciledEvents, 'count' | 'intervals'> {
  // Since the last position was asked for a run may have claimed later ones, and where the clock was set back, events may
  // have come before the end of an interval.
  const reached = stripes.reduce(
    (most, { seq_to }) => Math.max(most, seq_to),
    Math.max(last_position, sums.reached),
  )
  const received = countEvents({ from: 0, to: reached }, holes)
  const open = stripes.reduce(
    (sum, { seq_from, seq_to }) => sum + countEvents({ from: seq_from, to: seq_to }, holes),
    0,
  )
  const taken = parts.reduce((sum, { events }) => sum + events, 0)
  const pending = sums.pending + open - taken
  const { exported, filtered_out, backfilled } = sums
  return {
    received,
    exported,
    filtered_out,
    pending,
    skipped: received - exported - filtered_out - pending,
    backfilled,
  }
}

function shown(
  { outline, intervals, shares, delivered }: Moment,
  seen: Seen,
): Pick<ReconciledEvents, 'count' | 'intervals'> {
  return {
    count: outline.intervals,
    intervals: presentIntervals(intervals, { shares, delivered, ...seen }),
  }
}
