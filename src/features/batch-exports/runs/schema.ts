// Runs as the API gives them, and what a list of them can be asked for.
import { z } from 'zod'
import { timestamp, uuid } from '../../../platform/http/fields.ts'
import { choicesParameter, textParameter } from '../../../platform/http/parameters.ts'
import { END_STATUSES, LIVE_STATUSES } from '../rows.ts'

export const RunStatus = z.enum([...LIVE_STATUSES, ...END_STATUSES])

export const DeliveredFiles = z
  .array(z.object({ name: z.string(), rows: z.int(), bytes: z.int(), sha256: z.string() }))
  .describe('What lies at the destination, to be checked against: names, rows, bytes and SHA-256.')

export const Run = z
  .object({
    id: uuid,
    status: RunStatus,
    records_completed: z.int().nullable().describe('Rows delivered; null until finished.'),
    records_total_count: z.int().nullable().describe('Rows to be delivered; null until they are known.'),
    records_failed: z.int().nullable(),
    bytes_exported: z.int().nullable(),
    latest_error: z.string().nullable(),
    data_interval_start: timestamp.nullable().describe('Null: from the beginning of time.'),
    data_interval_end: timestamp,
    cursor: z.string().nullable(),
    attempts: z.int().describe('How often a worker has begun it; 0 until the first has.'),
    created_at: timestamp,
    started_at: timestamp.nullable().describe('When its first attempt began; null until then.'),
    finished_at: timestamp.nullable(),
    last_updated_at: timestamp,
    batch_export: uuid,
    backfill: uuid.nullable().describe('The backfill that this run is part of.'),
    files: DeliveredFiles.nullable(),
    table: z
      .string()
      .nullable()
      .describe(
        'The table that its rows go into, as queries there name it: `schema.table`, `project.dataset.table`. Null until it has begun, and for files and addresses.',
      ),
    waiting_for: z
      .string()
      .nullable()
      .describe(
        'What a live run waits for: a slot, its next attempt, a lock, its destination; null while it runs.',
      ),
    waiting_since: timestamp
      .nullable()
      .describe('Since when; null while it runs, and for a run that has ended.'),
  })
  .meta({ id: 'BatchExportRun' })

export const ORDERINGS = ['created_at', '-created_at', 'data_interval_start', '-data_interval_start'] as const
export type RunOrdering = (typeof ORDERINGS)[number]

export const RunQuery = z.object({
  cursor: textParameter('From `next` or `previous` of an earlier answer.'),
  ordering: textParameter(`One of ${ORDERINGS.join(', ')}; anything else means -created_at.`),
  after: textParameter('Created then or later: ISO 8601 or relative; -7d unless told.'),
  before: textParameter('Created then or earlier; now unless told.'),
  start: textParameter(
    'When ordered by data_interval_start, in place of `after`: interval begins then or later.',
  ),
  end: textParameter(
    'When ordered by data_interval_start, in place of `before`: interval ends then or earlier.',
  ),
  status: choicesParameter(
    // The last two are reserved words of the API: no run of ours ever has them.
    [...LIVE_STATUSES, ...END_STATUSES, 'ContinuedAsNew', 'FailedBilling'],
    'Only runs of these statuses.',
  ),
})
export type RunQuery = z.output<typeof RunQuery>

export const Cancelled = z.object({ cancelled: z.literal(true) })
export const BackfillStarted = z.object({ backfill_id: uuid })
