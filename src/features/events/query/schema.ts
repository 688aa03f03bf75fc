// What the query endpoint takes and gives. Fields are called as PostHog's clients call them.
import { z } from 'zod'
import { int } from '../../../platform/http/fields.ts'
import { ANSWER_FRAME } from '../answer-frame.ts'
import { FunnelsQuery, RetentionQuery, TrendsQuery } from '../insights/schema.ts'

const DateRange = z.looseObject({
  date_from: z.string().nullish(),
  date_to: z.string().nullish(),
})

const HogqlQuery = z
  .looseObject({
    kind: z.literal('HogQLQuery'),
    query: z.string().min(1).meta({ description: 'One SELECT statement.' }),
    values: z
      .record(z.string(), z.unknown())
      .nullish()
      .meta({ description: 'What `{name}` stands for: texts, numbers, booleans, null, or lists of them.' }),
    filters: z
      .looseObject({
        dateRange: DateRange.nullish(),
        properties: z.unknown().meta({ description: 'Property filters.' }),
        filterTestAccounts: z.unknown(),
      })
      .partial()
      .nullish()
      .meta({ description: 'What `{filters}` stands for.' }),
    variables: z
      .record(z.string(), z.unknown())
      .nullish()
      .meta({ description: 'What `{variables.name}` stands for.' }),
    explain: z
      .boolean()
      .nullish()
      .meta({ description: 'True: `explain` of the answer tells where each property was read.' }),
  })
  .meta({ id: 'HogQLQuery' })

const EventsQuery = z
  .looseObject({
    kind: z.literal('EventsQuery'),
    select: z.array(z.string()).nullish().meta({ description: 'HogQL expressions; `*` is the whole event.' }),
    where: z.array(z.string()).nullish(),
    orderBy: z.array(z.string()).nullish(),
    event: z.string().nullish(),
    personId: z.union([z.string(), z.int()]).nullish(),
    after: z.string().nullish().meta({ description: 'A time, or `all` for no lower bound.' }),
    before: z.string().nullish(),
    properties: z.unknown().optional().meta({ description: 'Property filters.' }),
    limit: int({ min: 1 }).nullish(),
    offset: int({ min: 0, max: 100_000 }).nullish(),
  })
  .meta({ id: 'EventsQuery' })

/** How a query is shown, around the query itself: insights and agents send these. */
const DataVisualizationNode = z
  .looseObject({ kind: z.literal('DataVisualizationNode'), source: ofKind([HogqlQuery]) })
  .meta({ id: 'DataVisualizationNode' })

const DataTableNode = z
  .looseObject({ kind: z.literal('DataTableNode'), source: ofKind([HogqlQuery, EventsQuery]) })
  .meta({ id: 'DataTableNode' })

const InsightVizNode = z
  .looseObject({
    kind: z.literal('InsightVizNode'),
    source: ofKind([TrendsQuery, FunnelsQuery, RetentionQuery]),
  })
  .meta({ id: 'InsightVizNode' })

export const QueryBody = z.object({
  query: ofKind([
    HogqlQuery,
    EventsQuery,
    TrendsQuery,
    FunnelsQuery,
    RetentionQuery,
    DataVisualizationNode,
    DataTableNode,
    InsightVizNode,
  ]),
})

export const QueryCheckBody = z.object({ query: ofKind([HogqlQuery]) })

/** Places are offsets into the text of the query, in UTF-16 units as JavaScript counts. */
export const QueryCheck = z
  .object({
    valid: z.boolean(),
    errors: z.array(
      z.object({
        code: z.string(),
        detail: z.string(),
        start: z.int().nullable().describe('Offset of the fault in the text, in UTF-16 units.'),
        end: z.int().nullable(),
        did_you_mean: z.string().nullable().describe('The nearest name that exists.'),
      }),
    ),
    columns: z.array(z.string()).nullable().describe('Of the answer; null when the query is not valid.'),
    hogql: z.string().nullable().describe('The query as it is understood.'),
  })
  .meta({ id: 'QueryCheck' })

export const QueryLanguage = z
  .object({
    tables: z.array(
      z.object({ name: z.string(), columns: z.array(z.object({ name: z.string(), type: z.string() })) }),
    ),
    functions: z.array(
      z.object({
        name: z.string(),
        aliases: z.array(z.string()),
        kind: z.enum(['scalar', 'aggregate', 'window']),
        min_args: z.int(),
        max_args: z.int().nullable().describe('Null: any number.'),
        min_params: z.int().describe('Of the first brackets in `quantile(0.9)(x)`.'),
        max_params: z.int(),
        takes_lambda: z.boolean(),
        with_condition: z
          .string()
          .nullable()
          .describe('Its name with a condition as the last argument, such as `countIf`.'),
      }),
    ),
    keywords: z.array(z.string()),
  })
  .meta({ id: 'QueryLanguage' })

export type HogqlQuery = z.output<typeof HogqlQuery>
export type EventsQuery = z.output<typeof EventsQuery>
export type AnyQuery = z.output<typeof QueryBody>['query']

export const QueryAnswer = z
  .object({
    results: z.array(z.array(z.unknown())),
    columns: z.array(z.string()),
    types: z.array(z.union([z.tuple([z.string(), z.string()]), z.string()])).meta({
      description: "ClickHouse's names of the columns' types; for HogQLQuery each beside its column.",
    }),
    hasMore: z.boolean(),
    limit: z.int(),
    offset: z.int(),
    hogql: z.string().nullable(),
    clickhouse: z.null(),
    explain: z
      .array(z.string())
      .nullable()
      .meta({ description: 'One sentence for each property of events, if it was asked for.' }),
    metadata: z.null(),
    ...ANSWER_FRAME,
  })
  .meta({ id: 'QueryAnswer' })

/** What differs from answer to answer. */
export type Answered = Pick<
  z.input<typeof QueryAnswer>,
  'results' | 'columns' | 'types' | 'hasMore' | 'limit' | 'offset' | 'hogql'
> & { explain?: string[] | null }

type Kind = z.ZodObject<{ kind: z.ZodLiteral<string> }>

/** One of these kinds. Others are named in the error: there are dozens of them that we have no answer to. */
function ofKind<const Kinds extends readonly [Kind, ...Kind[]]>(kinds: Kinds) {
  const names = kinds.map(({ shape }) => shape.kind.value)
  return z.preprocess(
    (value, context) => {
      const kind = kindOf(value)
      if (typeof kind === 'string' && !names.includes(kind)) {
        const message = `Queries of this kind are not supported here; there are ${names.join(', ')}.`
        context.issues.push({ code: 'custom', path: ['kind'], message, input: value })
      }
      return value
    },
    z.discriminatedUnion('kind', kinds),
  )
}

function kindOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'kind' in value ? value.kind : undefined
}
