// A backfill's row, with what its runs say → its JSON in the API.
import type { z } from 'zod'
import { LIVE_STATUSES, type ExportRow } from '../rows.ts'
import type { Estimate } from './estimate.ts'
import { planBackfill, type BackfillRange } from './plan.ts'
import type { ShownBackfill } from './read-queries.ts'
import type { Backfill, BackfillEstimate } from './schema.ts'

export function presentBackfill(row: ShownBackfill): z.input<typeof Backfill> {
  return {
    id: row.id,
    team: row.project_id,
    batch_export: row.batch_export_id,
    kind: row.kind,
    start_at: row.start_at?.toISOString() ?? null,
    end_at: row.end_at?.toISOString() ?? null,
    adjusted_start_at: row.adjusted_start_at?.toISOString() ?? null,
    status: row.status,
    created_at: row.created_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
    last_updated_at: row.last_updated_at.toISOString(),
    rows_to_deliver: row.rows_to_deliver,
    rows_delivered_before: row.rows_delivered_before,
    total_records_count: row.total_records_count,
    progress: {
      total_runs: row.total_runs,
      finished_runs: row.finished_runs,
      progress: progressOf(row),
    },
  }
}

export function presentEstimate(
  row: ExportRow,
  range: BackfillRange,
  { rows, delivered_before, span, unfinished }: Estimate,
  now: Date,
): z.input<typeof BackfillEstimate> {
  const runs = rows === 0 ? 0 : planBackfill(row, range, span, now).total_runs + unfinished.length
  return {
    rows,
    delivered_before,
    runs,
    first_event_at: span.first_at?.toISOString() ?? null,
    last_event_at: span.last_at?.toISOString() ?? null,
  }
}

function progressOf({ status, total_runs, finished_runs }: ShownBackfill): number | null {
  if (status === 'Completed') return 1
  if (!LIVE_STATUSES.some((live) => live === status)) return null
  // The interval of the export may have changed since the runs were counted.
  return total_runs === 0 ? 0 : Math.round(10 * Math.min(1, finished_runs / total_runs)) / 10
}
