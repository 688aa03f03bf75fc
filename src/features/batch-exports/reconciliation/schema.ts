// The account of an export as the API gives it: what came in against what went out.
import { z } from 'zod'
import { timestamp, uuid } from '../../../platform/http/fields.ts'
import { paged } from '../../../platform/http/paging.ts'
import { textParameter } from '../../../platform/http/parameters.ts'
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
    backfilled: z
      .int()
      .nullable()
      .describe(
        'Rows of it that backfills delivered before its own run. They are part of `exported`, and in files of theirs. Null for other models.',
      ),
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
const DayAccount = z
  .object({
    date: z.string().meta({ format: 'date' }).describe("In the project's zone."),
    start: timestamp,
    end: timestamp,
    received: z
      .int()
      .describe('Events with such timestamps: exported + filtered_out + pending + skipped, always.'),
    exported: z.int().describe('At the destination.'),
    filtered_out: z.int().describe("Left out by the export's filters as they are now."),
    pending: z.int().describe('The schedule comes to them, or their run goes on or has failed.'),
    skipped: z.int().describe('A backfill delivers them, and nothing else does.'),
  })
  .meta({ id: 'BatchExportDayAccount' })
export type DayAccount = z.input<typeof DayAccount>

export const DaysQuery = z.object({
  after: textParameter('The first day: ISO 8601 or relative; -30d unless told.'),
  before: textParameter('The last day, which is included; today unless told. At most 400 days.'),
})

export const ReconciledDays = z.object({
  model: z.enum(MODELS),
  timezone: z.string(),
  results: z.array(DayAccount).describe('Oldest first, without a gap. None where the model is not events.'),
})

export type Totals = z.input<typeof Totals>
export type IntervalAccount = z.input<typeof IntervalAccount>
