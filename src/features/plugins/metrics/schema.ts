// Metrics as the API gives them, and what they can be asked for.
import { z } from 'zod'
import { timestamp, uuid } from '../../../platform/http/fields.ts'
import { textParameter } from '../../../platform/http/parameters.ts'
import { CATEGORIES } from './categories.ts'

const counts = z.array(z.int())

export const AppMetrics = z
  .object({
    metrics: z.object({
      dates: z
        .array(z.string())
        .describe('In UTC: hours (`YYYY-MM-DD HH:MM:SS`) when less than two days are asked for, else days.'),
      successes: counts,
      successes_on_retry: counts,
      failures: counts,
      totals: z.object({ successes: z.int(), successes_on_retry: z.int(), failures: z.int() }),
    }),
    errors: z
      .array(z.object({ error_type: z.string(), count: z.int(), last_seen: timestamp }))
      .nullable()
      .describe('Of each hour, the first 100 errors of a category are kept. Null for a batch export.'),
  })
  .meta({ id: 'AppMetrics' })

export const AppErrorDetails = z
  .object({
    result: z.array(
      z.object({
        timestamp,
        error_uuid: uuid,
        error_type: z.string(),
        error_details: z
          .record(z.string(), z.unknown())
          .describe('`error` and, where there was one, `event`.'),
      }),
    ),
  })
  .meta({ id: 'AppErrorDetails' })

const JOB_ID = 'Only what this job did.'

export const AppMetricsQuery = z.object({
  category: textParameter(`Which calls: ${CATEGORIES.join(', ')}. Not needed for a batch export.`),
  date_from: textParameter('ISO 8601 or relative, such as -7d: 30 days back unless told.'),
  date_to: textParameter('ISO 8601 or relative: now unless told.'),
  job_id: textParameter(JOB_ID),
})

export const AppErrorQuery = z.object({
  category: textParameter(`Which calls: ${CATEGORIES.join(', ')}.`),
  error_type: textParameter('As in the list of errors.'),
  job_id: textParameter(JOB_ID),
})
