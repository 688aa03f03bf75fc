// How fresh an export is, as the API gives it.
import { z } from 'zod'
import { int, timestamp, uuid } from '../../../platform/http/fields.ts'
import { INTERVALS, MODELS } from '../definition.ts'
import { RunStatus } from '../runs/schema.ts'
import { VERDICTS } from '../verification/rows.ts'

const age = z.int().nullable()

export const Freshness = z
  .object({
    newest_delivered_at: timestamp
      .nullable()
      .describe('When the newest event that is at the destination arrived here. Null for other models.'),
    newest_delivered_age_s: age.describe(
      'Also grows while nothing arrives, or nothing that passes the filters.',
    ),
    oldest_pending_at: timestamp
      .nullable()
      .describe('When the oldest event that waits for the schedule arrived here; null when none does.'),
    oldest_pending_age_s: age,
    rows_behind: z
      .int()
      .nullable()
      .describe(
        'Events that wait for the schedule, or are to be repeated where a run has failed; filters are applied, and what backfills took is left out, when the run begins. Null for other models.',
      ),
    runs_behind: z
      .int()
      .describe('Intervals of the schedule that have ended and are not at the destination.'),
    live_runs: z.int().describe('Runs that wait or are worked on, those of backfills included.'),
    last_run: z
      .object({
        id: uuid,
        status: RunStatus,
        finished_at: timestamp.nullable(),
        latest_error: z.string().nullable(),
      })
      .nullable()
      .describe('The newest, of the schedule or of a backfill.'),
    last_completed_at: timestamp.nullable(),
    next_run_at: timestamp.nullable().describe('By the schedule; null when it is paused or over.'),
    expected_end_at: timestamp
      .nullable()
      .describe('Of the run that is worked on, by the speed of earlier ones; null when there is no telling.'),
    is_late: z
      .boolean()
      .describe(
        'An event, or for other models an interval, has waited for more than two intervals. Never while paused.',
      ),
    last_verification: z
      .object({ id: uuid, verdict: z.enum(VERDICTS), created_at: timestamp })
      .nullable()
      .describe(
        'The result that counts: of the last verification over everything, or of a later one that has found problems.',
      ),
  })
  .meta({ id: 'BatchExportFreshness' })

/** As many as a strip of bars shows: a day of hourly runs. */
const MAX_RECENT_RUNS = 24

export const StatusQuery = z.object({
  recent_runs: z
    .preprocess((value) => value || undefined, int({ min: 0, max: MAX_RECENT_RUNS }).default(0))
    .describe('How many of its newest runs each export is shown with.'),
})

const RecentRun = z
  .object({
    id: uuid,
    status: RunStatus,
    data_interval_start: timestamp.nullable().describe('Null: from the beginning of time.'),
    data_interval_end: timestamp,
    rows: z.int().nullable().describe('Delivered; of a live run those to be delivered, once they are known.'),
    backfill: uuid.nullable().describe('The backfill that it is part of.'),
  })
  .meta({ id: 'BatchExportRecentRun' })

const ExportStatus = z
  .object({
    id: uuid,
    name: z.string(),
    paused: z.boolean(),
    destination_type: z.string(),
    model: z.enum(MODELS),
    interval: z.enum(INTERVALS),
    ...Freshness.shape,
    recent_runs: z.array(RecentRun).describe('Newest first, as many as were asked for.'),
  })
  .meta({ id: 'BatchExportStatus' })

export const StatusOfAll = z.object({
  as_of: timestamp.describe('Ages are counted to this instant.'),
  max_exports: z.int().describe('How many batch exports a project can have.'),
  results: z.array(ExportStatus).describe('Every batch export of the project, newest first.'),
})
export type RecentRun = z.input<typeof RecentRun>
export type ExportStatus = z.input<typeof ExportStatus>
export type Freshness = z.input<typeof Freshness>
