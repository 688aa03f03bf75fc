// The account of an export against one that is made event by event.
import { reckon } from '../../src/features/batch-exports/reconciliation/reckon.ts'
import type { ExportRow, RunRow } from '../../src/features/batch-exports/rows.ts'
import { STEP_MS } from './check-schedule.ts'
import { ownedBy, type Facts } from './facts.ts'

type Parts = { received: number; exported: number; filtered_out: number; pending: number; skipped: number }

export async function checkAccount(facts: Facts, row: ExportRow): Promise<void> {
  const { world } = facts
  const services = { db: world.proof.db, eventStore: world.store as never }
  const account = await reckon(services, row, { limit: 1, offset: 0 }, world.clock.now())
  const expected = accountOf(facts, row)
  for (const part of Object.keys(expected) as (keyof Parts)[]) {
    if (account[part] !== expected[part]) {
      world.wrong(`export ${row.id}: the account says ${part} ${account[part]} instead of ${expected[part]}`)
    }
  }
}

function accountOf({ world, runs }: Facts, row: ExportRow): Parts {
  const { store } = world
  const parts: Parts = { received: store.events.length, exported: 0, filtered_out: 0, pending: 0, skipped: 0 }
  const intervals = decide(
    runs.filter((run) => run.batch_export_id === row.id && run.selection === 'arrival'),
  )
  let covered = 0
  for (const run of intervals) {
    const from = run.seq_from ?? store.positionBefore(run.data_interval_start!)
    const to = run.seq_to ?? store.positionBefore(run.data_interval_end)
    const matching = run.records_total_count === null ? to - from : ownedBy(run, store.events)!.length
    if (run.status === 'Completed') parts.exported += matching
    else parts.pending += matching
    parts.filtered_out += to - from - matching
    covered = Math.max(covered, to)
  }
  // At rest, what no interval holds yet is what arrived since the last boundary.
  const open =
    store.events.length - Math.max(covered, store.positionBefore(lastBoundary(row, world.clock.now())))
  parts.pending += open
  parts.skipped = parts.received - parts.exported - parts.filtered_out - parts.pending
  return parts
}

/** For each interval the run that counts: completed if there is one, else the last. */
function decide(runs: readonly RunRow[]): RunRow[] {
  const decided = new Map<number, RunRow>()
  const rank = (run: RunRow) =>
    [run.status === 'Completed' ? 1 : 0, run.created_at.getTime(), run.id] as const
  const isHigher = (a: RunRow, b: RunRow) => {
    const [first, second] = [rank(a), rank(b)]
    const differing = first.findIndex((value, index) => value !== second[index])
    return differing !== -1 && first[differing]! > second[differing]!
  }
  for (const run of runs) {
    const end = run.data_interval_end.getTime()
    const other = decided.get(end)
    if (!other || isHigher(run, other)) decided.set(end, run)
  }
  return [...decided.values()]
}

function lastBoundary({ interval }: ExportRow, now: Date): Date {
  const step_ms = STEP_MS[interval]!
  return new Date(Math.floor(now.getTime() / step_ms) * step_ms)
}
