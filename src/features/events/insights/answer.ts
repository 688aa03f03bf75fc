// What an insight answers with, and its description for the documentation.
import { z } from 'zod'
import { ANSWER_FRAME } from '../answer-frame.ts'
import type { Range } from './date-range.ts'

const TrendResult = z
  .object({
    label: z.string(),
    action: z.record(z.string(), z.unknown()).nullable().describe('The series; null for a formula.'),
    data: z.array(z.number()).describe('A number for each interval.'),
    days: z.array(z.string()),
    labels: z.array(z.string()),
    count: z.number(),
    aggregated_value: z.number().optional().describe('For displays of one number, instead of `data`.'),
    breakdown_value: z.union([z.string(), z.array(z.string())]).optional(),
    compare: z.boolean().optional(),
    compare_label: z.enum(['current', 'previous']).optional(),
  })
  .meta({ id: 'TrendResult' })

const FunnelStep = z
  .object({
    action_id: z.string().nullable(),
    name: z.string(),
    custom_name: z.string().nullable(),
    order: z.int(),
    type: z.literal('events'),
    people: z.array(z.unknown()),
    count: z.int(),
    average_conversion_time: z.number().nullable().describe('Seconds since the step before.'),
    median_conversion_time: z.number().nullable(),
    breakdown: z.array(z.string()).optional(),
    breakdown_value: z.array(z.string()).optional(),
  })
  .meta({ id: 'FunnelStep' })

const FunnelTimes = z
  .object({
    bins: z
      .array(z.tuple([z.number(), z.int()]))
      .describe('Seconds from which on, and how many took so long.'),
    average_conversion_time: z.number().nullable(),
    median_conversion_time: z.number().nullable(),
  })
  .meta({ id: 'FunnelTimes' })

const RetentionResult = z
  .object({
    date: z.string().meta({ format: 'date-time' }),
    label: z.string(),
    values: z.array(z.object({ count: z.int(), label: z.string() })),
  })
  .meta({ id: 'RetentionResult' })

export const InsightAnswer = z
  .object({
    results: z.union([
      z.array(TrendResult),
      z.array(FunnelStep),
      z.array(z.array(FunnelStep)),
      FunnelTimes,
      z.array(RetentionResult),
    ]),
    hasMore: z.boolean().describe('Whether values of the breakdown were put together as others.'),
    resolved_date_range: z.object({ date_from: z.string(), date_to: z.string() }),
    hogql: z.string(),
    ...ANSWER_FRAME,
  })
  .meta({ id: 'InsightAnswer' })

export type TrendResult = z.input<typeof TrendResult>
export type FunnelStep = z.input<typeof FunnelStep>
export type FunnelTimes = z.input<typeof FunnelTimes>
export type RetentionResult = z.input<typeof RetentionResult>

/** What differs from answer to answer. */
export type InsightAnswered = Pick<z.input<typeof InsightAnswer>, 'results' | 'hogql' | 'hasMore'> & {
  range: Range
}
