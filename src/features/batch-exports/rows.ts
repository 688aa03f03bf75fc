// The tables' rows, as the statements of this slice give them. Positions and byte counts come as numbers.
import type { DeliveredFile } from './destinations/destination.ts'
import type { Definition, Interval, Model, Selection } from './definition.ts'

export type ExportRow = {
  id: string
  project_id: number
  name: string
  model: Model
  destination_type: string
  /** The name that the type was given by, where it is an alias. */
  destination_alias: string | null
  /** Without secrets. */
  config: Record<string, unknown>
  /** Sealed; see secrets.ts of this slice. */
  secrets: string
  interval: Interval
  timezone: string
  offset_day: number | null
  offset_hour: number | null
  paused: boolean
  last_paused_at: Date | null
  start_at: Date | null
  end_at: Date | null
  /** As it was sent; its normal form is in `schema`. */
  hogql_query: string | null
  schema: ExportSchema | null
  filters: unknown[] | null
  next_due_at: Date
  created_by: number | null
  created_at: Date
  last_updated_at: Date
  notified_at: Date | null
  deleted_at: Date | null
  /** Where it goes, for slots and breakers; null for exports older than that. */
  destination_key: string | null
}

/** The type as whoever made the export calls it. */
export function shownType(row: Pick<ExportRow, 'destination_type' | 'destination_alias'>): string {
  return row.destination_alias ?? row.destination_type
}

export type ExportSchema = {
  fields: { expression: string; alias: string }[]
  values: Record<string, string | number | boolean | null>
  hogql_query: string
}

export const LIVE_STATUSES = ['Starting', 'Running'] as const
export const END_STATUSES = [
  'Completed',
  'Failed',
  'FailedRetryable',
  'Cancelled',
  'Terminated',
  'TimedOut',
] as const
export type EndStatus = (typeof END_STATUSES)[number]
export type RunStatus = (typeof LIVE_STATUSES)[number] | EndStatus

export type RunRow = {
  id: string
  project_id: number
  batch_export_id: string
  backfill_id: string | null
  /** The run whose events this one delivers again, under the same names and keys. */
  repeats: string | null
  status: RunStatus
  data_interval_start: Date | null
  data_interval_end: Date
  selection: Selection
  seq_from: number | null
  seq_to: number | null
  definition: Definition | null
  records_total_count: number | null
  records_completed: number | null
  records_failed: number | null
  bytes_exported: number | null
  files: DeliveredFile[] | null
  /** Names of files that may have become visible, whatever became of the run. */
  published: string[] | null
  /** Columns that it did not bring because the table lacked them; null where that is not known. */
  left_out: string[] | null
  progress: unknown
  latest_error: string | null
  attempt: number
  failures: number
  run_after: Date
  lease_owner: string | null
  lease_until: Date | null
  created_at: Date
  started_at: Date | null
  finished_at: Date | null
  last_updated_at: Date
  /** The lock that it gave way to. */
  waiting_for: string | null
  /** While it is at work: since when its destination has not answered. */
  waiting_since: Date | null
}

export const BACKFILL_KINDS = ['backfill', 'unpause', 'repair', 'retry'] as const

export type BackfillRow = {
  id: string
  project_id: number
  batch_export_id: string
  kind: (typeof BACKFILL_KINDS)[number]
  start_at: Date | null
  end_at: Date | null
  adjusted_start_at: Date | null
  retry_of: string | null
  seq_to: number
  status: RunStatus
  total_runs: number
  next_end_at: Date | null
  /** No run of it ends later: there is nothing to deliver beyond. */
  last_end_at: Date | null
  /** Runs to be done again that have no run of this backfill yet. */
  queue: string[]
  rows_to_deliver: number | null
  rows_delivered_before: number | null
  created_at: Date
  finished_at: Date | null
  last_updated_at: Date
}

export type LogLevel = 'DEBUG' | 'LOG' | 'INFO' | 'WARNING' | 'ERROR'

export type LogRow = {
  id: number
  project_id: number
  batch_export_id: string
  run_id: string | null
  timestamp: Date
  level: LogLevel
  message: string
}
