// The account of an export against one that is made event by event.
import {
  reconcile,
  type ReconciledEvents,
} from '../../src/features/batch-exports/reconciliation/reconcile.ts'
import type { ExportRow } from '../../src/features/batch-exports/rows.ts'
import { STEP_MS } from './check-schedule.ts'
import { isClaimed, passes, type DeliveryFacts, type Facts } from './facts.ts'
import type { SimulatedEvent } from './event-store.ts'

type Part = 'exported' | 'filtered_out' | 'pending' | 'skipped'
const PARTS: readonly Part[] = ['exported', 'filtered_out', 'pending', 'skipped']

export async function checkAccount(facts: Facts, row: ExportRow): Promise<void> {
  const { world } = facts
  const services = { db: world.proof.db, eventStore: world.store as never }
  const account = await reconcile(services, row, { limit: 1000, offset: 0 }, world.clock.now())
  const expected = new Map(PARTS.map((part) => [part, 0]))
  const deliveries = [...facts.deliveries.values()].filter(({ first }) => first.batch_export_id === row.id)
  for (const event of world.store.events) {
    const part = partOf(facts, row, deliveries, event)
    expected.set(part, expected.get(part)! + 1)
  }
  for (const part of PARTS) {
    if (account[part] !== expected.get(part)) {
      world.wrong(
        `export ${row.id}: the account says ${part} ${account[part]} instead of ${expected.get(part)}`,
      )
    }
  }
  checkIntervals(facts, row, account)
}

/** Each adds up, and together they hold no event twice. */
function checkIntervals(
  { world }: Facts,
  row: ExportRow,
  { intervals, received, exported }: ReconciledEvents,
): void {
  const sum = (part: Part | 'received') => intervals.reduce((total, interval) => total + interval[part], 0)
  for (const interval of intervals) {
    const parts = PARTS.reduce((total, part) => total + interval[part], 0)
    if (parts !== interval.received || PARTS.some((part) => interval[part] < 0))
      world.wrong(
        `export ${row.id}: the interval until ${interval.data_interval_end.toISOString()} does not add up`,
      )
  }
  if (sum('received') > received || sum('exported') > exported)
    world.wrong(`export ${row.id}: its intervals hold more than there is`)
}

function partOf(
  { world }: Facts,
  row: ExportRow,
  deliveries: readonly DeliveryFacts[],
  event: SimulatedEvent,
): Part {
  const holder = deliveries.find(({ claims }) => claims.some((claim) => isClaimed(event, claim)))
  if (holder) {
    // Without a completed run the last one counts, and before it has counted its rows all of them may be to deliver.
    const counted = holder.completed ?? holder.runs.at(-1)!
    const isCounted = counted.records_total_count !== null
    if (isCounted && !passes(event, counted.definition!.config)) return 'filtered_out'
    return holder.completed ? 'exported' : 'pending'
  }
  const { store } = world
  const isOpen = deliveries.some(({ first, runs }) => {
    if (first.selection !== 'arrival' || runs.some(({ definition }) => definition !== null)) return false
    const [from, to] = [first.data_interval_start!, first.data_interval_end].map((at) =>
      store.positionBefore(at),
    )
    return event.seq > from! && event.seq <= to!
  })
  // At rest, what no interval holds yet is what arrived since the last boundary.
  const isAhead = event.seq > store.positionBefore(lastBoundary(row, world.clock.now()))
  return isOpen || isAhead ? 'pending' : 'skipped'
}

function lastBoundary({ interval }: ExportRow, now: Date): Date {
  const step = STEP_MS[interval]!
  return new Date(Math.floor(now.getTime() / step) * step)
}
