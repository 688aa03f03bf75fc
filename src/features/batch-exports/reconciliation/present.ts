// The account → its JSON in the API. Persons and sessions are no stream: of them only what went out can be counted.
import type { Model } from '../definition.ts'
import type { IntervalRow } from './intervals.ts'
import type { ReconciledEvents } from './reconcile.ts'
import type { IntervalAccount, Totals } from './schema.ts'

export function presentTotals(account: ReconciledEvents, model: Model): Totals {
  const { received, exported, filtered_out, pending, skipped, backfilled } = account
  if (model === 'events') return { received, exported, filtered_out, pending, skipped, backfilled }
  return { received: null, exported, filtered_out: null, pending: null, skipped: null, backfilled }
}

export function presentInterval(row: IntervalRow, model: Model): IntervalAccount {
  const { run, runs, status, received, exported, filtered_out, pending, skipped, backfilled, files } = row
  const interval = {
    data_interval_start: row.data_interval_start?.toISOString() ?? null,
    data_interval_end: row.data_interval_end.toISOString(),
    run,
    runs,
    status,
    files,
  }
  if (model === 'events')
    return { ...interval, received, exported, filtered_out, pending, skipped, backfilled }
  const left = status === 'Completed' ? 0 : row.records_total_count
  return {
    ...interval,
    received: null,
    exported,
    filtered_out: null,
    pending: left,
    skipped: null,
    backfilled: null,
  }
}
