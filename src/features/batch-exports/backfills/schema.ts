// Backfills as the API gives them, and what a list of them can be asked for.
import { z } from 'zod'
import { timestamp, uuid } from '../../../platform/http/fields.ts'
import { textParameter } from '../../../platform/http/parameters.ts'
import { BACKFILL_KINDS, END_STATUSES, LIVE_STATUSES } from '../rows.ts'

export const Backfill = z
  .object({
    id: uuid,
    team: z.int(),
    batch_export: uuid,
    kind: z
      .enum(BACKFILL_KINDS)
      .describe(
        'What it delivers: what was not delivered, what a pause skipped, or what was delivered, again.',
      ),
    start_at: timestamp.nullable().describe('Null: from the first event on.'),
    end_at: timestamp
      .nullable()
      .describe('No interval that ends later belongs to it. Null: until it has caught up.'),
    adjusted_start_at: timestamp.nullable().describe('Where it really began, when there was nothing before.'),
    status: z.enum([...LIVE_STATUSES, ...END_STATUSES]),
    created_at: timestamp,
    finished_at: timestamp.nullable(),
    last_updated_at: timestamp,
    rows_to_deliver: z.int().nullable().describe('As estimated when it was asked for.'),
    rows_delivered_before: z.int().nullable().describe('Rows of the range that were delivered before it.'),
    total_records_count: z.int().nullable().describe('Rows of its runs, as far as they are known.'),
    progress: z
      .object({
        total_runs: z.int(),
        finished_runs: z.int(),
        progress: z.number().nullable().describe('From 0 to 1; null when it ended before its end.'),
      })
      .describe('How far it has come, in runs.'),
  })
  .meta({ id: 'BatchExportBackfill' })

export const BackfillEstimate = z
  .object({
    rows: z.int().nullable().describe('Rows that the backfill would deliver; null where they are no events.'),
    delivered_before: z.int().nullable().describe('Rows of the range that were delivered already.'),
    runs: z.int().describe('Runs that it would have.'),
    first_event_at: timestamp.nullable(),
    last_event_at: timestamp.nullable(),
  })
  .meta({ id: 'BatchExportBackfillEstimate' })

export const BACKFILL_ORDERINGS = ['created_at', '-created_at', 'start_at', '-start_at'] as const
export type BackfillOrdering = (typeof BACKFILL_ORDERINGS)[number]

export const BackfillQuery = z.object({
  cursor: textParameter('From `next` or `previous` of an earlier answer.'),
  ordering: textParameter(`One of ${BACKFILL_ORDERINGS.join(', ')}; anything else means -created_at.`),
})
