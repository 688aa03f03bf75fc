// The account of an export as the API gives it: what came in against what went out.
import { z } from 'zod'
import { timestamp, uuid } from '../../../platform/http/fields.ts'
import { paged } from '../../../platform/http/paging.ts'
import { MODELS } from '../definition.ts'
import { END_STATUSES, LIVE_STATUSES } from '../rows.ts'
import { DeliveredFiles } from '../runs/schema.ts'
import { LatestVerification } from '../verification/schema.ts'

const counts = {
  received: z
    .int()
    .nullable()
    .describe('Events: exported + filtered_out + pending + skipped, always. Null for other models.'),
  exported: z.int().describe('Rows at the destination.'),
  filtered_out: z.int().nullable().describe("Left out by the export's filters."),
  pending: z.int().nullable().describe('Still to be delivered, or to be repeated where a run has failed.'),
  skipped: z.int().nullable(),
}

const Totals = z.object({
  ...counts,
  skipped: counts.skipped.describe(
    'Not delivered, and not going to be: before the export, after its end, or while it was paused. A backfill delivers them.',
  ),
  backfilled: z
    .int()
    .describe('Rows that backfills delivered, chosen by timestamp. They are part of `exported`.'),
})

const IntervalAccount = z
  .object({
    data_interval_start: timestamp.nullable(),
    data_interval_end: timestamp,
    run: uuid.describe('The run that counts: the last completed one over this interval, else the last.'),
    runs: z.array(uuid).describe('All runs that hold rows of it, backfills included.'),
    status: z.enum([...LIVE_STATUSES, ...END_STATUSES]),
    ...counts,
    skipped: counts.skipped.describe('Given up by a run that completed without them.'),
    files: DeliveredFiles.nullable(),
  })
  .meta({ id: 'BatchExportIntervalAccount' })

export const Reconciliation = paged(IntervalAccount).extend({
  model: z.enum(MODELS),
  totals: Totals,
  verification: LatestVerification.nullable().describe(
    'The result that counts: of the last verification over everything, or of a later one that has found problems.',
  ),
})
export type Totals = z.input<typeof Totals>
export type IntervalAccount = z.input<typeof IntervalAccount>
