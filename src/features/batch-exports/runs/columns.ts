// The columns of runs and backfills as rows.ts has them: numbers of 64 bits come as text unless told otherwise.
import { sql } from '../../../platform/db/sql.ts'

export const RUN_COLUMNS = sql`
  id, project_id, batch_export_id, backfill_id, repeats, status, data_interval_start, data_interval_end, selection,
  seq_from::float8 AS seq_from, seq_to::float8 AS seq_to, definition, records_total_count, records_completed,
  records_failed, bytes_exported::float8 AS bytes_exported, files, published, left_out, progress, latest_error, attempt, failures,
  run_after, lease_owner, lease_until, created_at, started_at, finished_at, last_updated_at, waiting_for,
  waiting_since`

export const BACKFILL_COLUMNS = sql`
  id, project_id, batch_export_id, kind, start_at, end_at, adjusted_start_at, retry_of, seq_to::float8 AS seq_to, status,
  total_runs, next_end_at, last_end_at, queue, rows_to_deliver::float8 AS rows_to_deliver,
  rows_delivered_before::float8 AS rows_delivered_before, created_at, finished_at, last_updated_at`
