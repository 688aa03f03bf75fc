// The account of each interval: what its own run did with the events that arrived in it, and what backfills took of them
// before. Pure.
import type { PositionRange } from '../../../platform/event-store/event-store.ts'
import { countEvents } from '../../../platform/event-store/holes.ts'
import type { MeasuredPart } from '../ledger/count.ts'
import type { Stripe } from './open-positions.ts'
import type { CountedInterval, ShownShare } from './queries.ts'

export type IntervalRow = CountedInterval & {
  /** All runs that hold rows of it. */
  runs: string[]
  received: number
  /** Part of what is exported. */
  backfilled: number
  filtered_out: number
  pending: number
  skipped: number
}

type Others = {
  shares: readonly ShownShare[]
  stripes: readonly Stripe[]
  parts: readonly MeasuredPart[]
  /** Positions without events. */
  holes: readonly PositionRange[]
  /** Deliveries that are at the destination. */
  delivered: ReadonlySet<string>
}

export function presentIntervals(intervals: readonly CountedInterval[], others: Others): IntervalRow[] {
  return intervals.map((interval) => {
    const taken = takenOf(interval, others)
    const own = interval.is_claimed ? ownFigures(interval) : openFigures(interval, others, taken)
    const holders = [...(own.holds ? [interval.run] : []), ...taken.map(({ run_id }) => run_id)]
    const done = sumOf(taken.filter(({ is_done }) => is_done))
    const all = sumOf(taken)
    return {
      ...interval,
      runs: [...new Set(holders)],
      received: own.events + all.events,
      exported: interval.exported + done.rows,
      backfilled: done.rows,
      filtered_out: own.events - own.matching + all.events - all.rows,
      pending: (interval.is_done ? 0 : own.matching) + all.rows - done.rows,
      skipped: interval.is_done ? own.matching - interval.exported : 0,
    }
  })
}

type Figures = { events: number; matching: number; holds: boolean }

function ownFigures({ events, matching, exported }: CountedInterval): Figures {
  const own = events ?? 0
  return { events: own, matching: Math.min(matching ?? own, own), holds: exported > 0 }
}

/** Nothing is known of its rows yet: all that nobody else has may be. */
function openFigures(
  { delivery_id }: CountedInterval,
  { stripes, holes }: Others,
  taken: readonly Taken[],
): Figures {
  const positions = stripes
    .filter((stripe) => stripe.delivery_id === delivery_id)
    .reduce((sum, { seq_from, seq_to }) => sum + countEvents({ from: seq_from, to: seq_to }, holes), 0)
  const left = positions - sumOf(taken).events
  return { events: left, matching: left, holds: false }
}

type Taken = Pick<ShownShare, 'run_id' | 'events' | 'rows' | 'is_done'>

/** By backfills that came before the interval's own run. */
function takenOf(interval: CountedInterval, { shares, stripes, parts, delivered }: Others): Taken[] {
  if (interval.is_claimed) return shares.filter((share) => share.interval_run_id === interval.delivery_id)
  const own = stripes.filter((stripe) => stripe.delivery_id === interval.delivery_id)
  const isIn = ({ seq_from, seq_to }: MeasuredPart) =>
    own.some((stripe) => seq_from >= stripe.seq_from && seq_to <= stripe.seq_to)
  return parts
    .filter((part) => part.events > 0 && isIn(part))
    .map(({ run_id, holder, events, rows }) => ({
      run_id: holder,
      events,
      rows,
      is_done: delivered.has(run_id),
    }))
}

function sumOf(taken: readonly Taken[]): { events: number; rows: number } {
  return taken.reduce((sum, { events, rows }) => ({ events: sum.events + events, rows: sum.rows + rows }), {
    events: 0,
    rows: 0,
  })
}
