// The insights that the query endpoint answers. Fields are called as PostHog's clients call them; what they send besides,
// such as how a chart is drawn, changes no number and is ignored.
import { z } from 'zod'
import { int } from '../../../platform/http/fields.ts'
import { MATHS } from './maths.ts'
import { INTERVALS } from './intervals.ts'

/** Letters name series in formulas. */
const MOST_SERIES = 26
const MOST_STEPS = 20
const MOST_EXCLUSIONS = 20

const name = z.string().max(400).nullish()
const Filters = z.unknown().optional().meta({ description: 'Property filters.' })
const groupIndex = int({ min: 0, max: 4 }).nullish()

const EventsNode = z
  .looseObject({
    kind: z.literal('EventsNode', { error: 'Only series of events are supported here: EventsNode.' }),
    event: name.meta({ description: 'Null or left out: all events.' }),
    name,
    custom_name: name,
    properties: Filters,
    fixedProperties: Filters,
    math: z.enum(MATHS).nullish(),
    math_property: name.meta({
      description: 'Of events; for sum, avg, min, max, median and the percentiles.',
    }),
    math_group_type_index: groupIndex,
  })
  .meta({ id: 'EventsNode' })

const DateRange = z
  .looseObject({
    date_from: z.string().max(64).nullish().meta({ description: '`-7d` unless told; `all` for everything.' }),
    date_to: z.string().max(64).nullish(),
  })
  .nullish()

const BREAKDOWN_TYPES = ['event', 'person', 'group', 'hogql'] as const

const BreakdownFilter = z
  .looseObject({
    breakdown: z.union([z.string().max(400), z.array(z.string().max(400)).max(1)]).nullish(),
    breakdown_type: z.enum(BREAKDOWN_TYPES).nullish(),
    breakdown_group_type_index: groupIndex,
    breakdowns: z
      .array(
        z.looseObject({
          property: z.string().max(400),
          type: z.enum(BREAKDOWN_TYPES).nullish(),
          group_type_index: groupIndex,
        }),
      )
      .max(1)
      .nullish()
      .meta({ description: 'One at most.' }),
    breakdown_limit: int({ min: 1, max: 1000 }).nullish().meta({ description: '25 unless told.' }),
    breakdown_hide_other_aggregation: z.boolean().nullish(),
  })
  .nullish()

const common = {
  dateRange: DateRange,
  properties: Filters,
  filterTestAccounts: z.unknown().optional(),
  samplingFactor: z.unknown().optional().meta({ description: 'Ignored: every event is counted.' }),
  aggregation_group_type_index: groupIndex.meta({
    description: 'Counts groups of this type instead of persons.',
  }),
}
const interval = z.enum(INTERVALS).nullish().meta({ description: 'Day unless told. Weeks begin on Sunday.' })

const Formula = z.string().min(1).max(500)

export const TrendsQuery = z
  .looseObject({
    kind: z.literal('TrendsQuery'),
    series: z.array(EventsNode).min(1).max(MOST_SERIES),
    interval,
    ...common,
    breakdownFilter: BreakdownFilter,
    compareFilter: z
      .looseObject({
        compare: z.boolean().nullish(),
        compare_to: z
          .string()
          .max(16)
          .nullish()
          .meta({ description: '`-1w`; the period before unless told.' }),
      })
      .nullish(),
    trendsFilter: z
      .looseObject({
        display: z.string().max(100).nullish(),
        formula: Formula.nullish().meta({ description: 'Such as `A / B * 100`: letters are the series.' }),
        formulas: z.array(Formula).max(10).nullish(),
        formulaNodes: z
          .array(z.looseObject({ formula: Formula, custom_name: name }))
          .max(10)
          .nullish(),
        smoothingIntervals: int({ min: 1, max: 1 }).nullish(),
      })
      .nullish(),
  })
  .meta({ id: 'TrendsQuery' })

const step = int({ min: 0, max: MOST_STEPS })

export const FunnelsQuery = z
  .looseObject({
    kind: z.literal('FunnelsQuery'),
    series: z.array(EventsNode).min(2).max(MOST_STEPS),
    interval,
    ...common,
    breakdownFilter: BreakdownFilter,
    funnelsFilter: z
      .looseObject({
        funnelVizType: z.enum(['steps', 'time_to_convert']).nullish(),
        funnelOrderType: z.enum(['ordered', 'strict', 'unordered']).nullish(),
        funnelWindowInterval: int({ min: 1, max: 100_000 })
          .nullish()
          .meta({ description: '14 unless told.' }),
        funnelWindowIntervalUnit: z
          .enum(['second', 'minute', 'hour', 'day', 'week', 'month'])
          .nullish()
          .meta({ description: 'Day unless told; a month has 30 days.' }),
        exclusions: z
          .array(EventsNode.extend({ funnelFromStep: step, funnelToStep: step }))
          .max(MOST_EXCLUSIONS)
          .nullish(),
        breakdownAttributionType: z.enum(['first_touch', 'last_touch', 'all_events', 'step']).nullish(),
        breakdownAttributionValue: step.nullish(),
        funnelFromStep: step.nullish(),
        funnelToStep: step.nullish(),
        binCount: z.union([z.literal('auto'), int({ min: 1, max: 90 })]).nullish(),
      })
      .nullish(),
  })
  .meta({ id: 'FunnelsQuery' })

const RetentionEntity = z
  .looseObject({
    id: z.string().max(400).nullish().meta({ description: 'Name of the event; null: all events.' }),
    name,
    custom_name: name,
    type: z.literal('events', { error: 'Only events are supported here.' }).nullish(),
    properties: Filters,
  })
  .nullish()
  .meta({ description: '`$pageview` unless told.' })

const NO_BREAKDOWN = 'Retention by breakdown is not supported.'

export const RetentionQuery = z
  .looseObject({
    kind: z.literal('RetentionQuery'),
    ...common,
    retentionFilter: z.looseObject({
      period: z.enum(['Hour', 'Day', 'Week', 'Month']).nullish().meta({ description: 'Day unless told.' }),
      totalIntervals: int({ min: 1, max: 100 }).nullish().meta({ description: '8 unless told.' }),
      targetEntity: RetentionEntity,
      returningEntity: RetentionEntity,
      retentionType: z.enum(['retention_first_time', 'retention_recurring']).nullish(),
      cumulative: z.literal(false, { error: 'Cumulative retention is not supported.' }).nullish(),
      minimumOccurrences: int({ min: 1, max: 1 }).nullish(),
    }),
    breakdownFilter: z
      .looseObject({
        breakdown: z.null({ error: NO_BREAKDOWN }).optional(),
        breakdowns: z.array(z.unknown()).max(0, { error: NO_BREAKDOWN }).nullish(),
      })
      .nullish(),
  })
  .meta({ id: 'RetentionQuery' })

export type EventsNode = z.output<typeof EventsNode>
export type BreakdownFilter = z.output<typeof BreakdownFilter>
export type TrendsQuery = z.output<typeof TrendsQuery>
export type FunnelsQuery = z.output<typeof FunnelsQuery>
export type RetentionQuery = z.output<typeof RetentionQuery>
export type InsightQuery = TrendsQuery | FunnelsQuery | RetentionQuery
