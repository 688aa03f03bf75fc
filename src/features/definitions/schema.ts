// Definitions of events and properties as the API gives and takes them, and what lists of them can be asked for.
import { z } from 'zod'
import { bool, text, timestamp, uuid } from '../../platform/http/fields.ts'
import { PageQuery } from '../../platform/http/paging.ts'
import { textParameter } from '../../platform/http/parameters.ts'
import { User } from '../users/schema.ts'

const PROPERTY_TYPES = ['String', 'Numeric', 'Boolean', 'DateTime', 'Duration'] as const

const noted = {
  id: uuid,
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  hidden: z.boolean(),
  verified: z.boolean(),
  verified_at: timestamp.nullable(),
  verified_by: User.nullable(),
  updated_at: timestamp,
  updated_by: User.nullable(),
}

export const EventDefinition = z
  .object({
    ...noted,
    created_at: timestamp.describe('When such an event was first stored.'),
    last_seen_at: timestamp
      .nullable()
      .describe('When such an event was last stored, a minute ago or earlier.'),
    volume: z.int().describe('How many such events were stored since, as of a minute ago.'),
    last_updated_at: timestamp,
    owner: z.null(),
    created_by: z.null(),
    default_columns: z.array(z.string()),
    post_to_slack: z.literal(false),
    is_action: z.literal(false),
    action_id: z.null(),
    is_calculating: z.literal(false),
    last_calculated_at: z.null(),
  })
  .meta({ id: 'EventDefinition' })

export const PropertyDefinition = z
  .object({
    ...noted,
    property_type: z.enum(PROPERTY_TYPES).nullable(),
    is_numerical: z.boolean(),
    is_seen_on_filtered_events: z
      .boolean()
      .nullable()
      .describe('Whether one of `event_names` has had it; null when none were given.'),
    is_optimized: z.boolean().describe('Whether queries read it faster than others.'),
  })
  .meta({ id: 'PropertyDefinition' })

const notes = {
  description: text({ max: 4000, blank: true }),
  tags: z.array(text({ max: 255 })).max(50),
  hidden: bool(),
  verified: bool(),
}

export const EventDefinitionUpdate = z.object(notes).partial()
export const PropertyDefinitionUpdate = z
  .object({ ...notes, property_type: z.enum(PROPERTY_TYPES).nullable() })
  .partial()

export type DefinitionChange = z.output<typeof EventDefinitionUpdate>

const flag = (description: string) =>
  z
    .preprocess((value) => (value === '' || value === null ? undefined : value), bool().optional())
    .describe(description)

/** A JSON list of texts. */
function textList(description: string) {
  const parse = (value: unknown) => {
    const last: unknown = Array.isArray(value) ? value.at(-1) : value
    if (typeof last !== 'string' || last.trim() === '') return undefined
    try {
      return JSON.parse(last) as unknown
    } catch {
      return last
    }
  }
  return z
    .unknown()
    .transform(parse)
    .pipe(z.array(z.coerce.string().max(1000)).max(1000).optional())
    .optional()
    .meta({ type: 'string', description })
}

/** Given several times or with commas between. */
function namesParameter(description: string) {
  return z
    .unknown()
    .transform((value) =>
      [value].flat().flatMap((names) => (typeof names === 'string' ? names.split(',').filter(Boolean) : [])),
    )
    .optional()
    .meta({ type: 'string', description })
}

const search = textParameter('Parts of the name, all of which must be in it, whatever their case.')
const tags = textList('JSON list of tags, one of which it must have.')
const exclude_hidden = flag('Leave out what somebody has hidden.')
const excluded_properties = textList('JSON list of names to leave out.')

export const EventDefinitionQuery = PageQuery.extend({
  search,
  event_type: z
    .preprocess(
      (value) => value || undefined,
      z.enum(['event', 'event_custom', 'event_posthog', 'all', 'action_event']).optional(),
    )
    .describe('`event_custom`: names without a leading `$`; `event_posthog`: those with one.'),
  names: namesParameter('Exactly these names, with commas between.'),
  ordering: namesParameter(
    '`name`, `last_seen_at`, `created_at` or `volume`, with `-` for descending; the newest day first unless told.',
  ),
  verified: flag('Only those that are verified, or only the others.'),
  tags,
  exclude_hidden,
  exclude_stale: flag('Leave out what was last seen more than thirty days ago.'),
  excluded_properties,
})
export type EventDefinitionQuery = z.output<typeof EventDefinitionQuery>

export const EventNameQuery = z.object({ name: z.string().min(1).describe('The exact name of the event.') })

export const PropertyDefinitionQuery = PageQuery.extend({
  search,
  type: z
    .preprocess((value) => value || undefined, z.enum(['event', 'person', 'group', 'session']).optional())
    .describe('Whose properties; those of events unless told.'),
  group_type_index: z
    .preprocess(
      (value) => (value === '' ? undefined : value),
      z.coerce.number().int().min(0).max(4).optional(),
    )
    .describe('Which type of groups; with `type=group` alone.'),
  properties: namesParameter('Exactly these names, with commas between.'),
  is_numerical: flag('Only numbers.'),
  is_feature_flag: flag('Only, or none of, the properties that hold the value of a feature flag.'),
  event_names: textList(
    'JSON list of events: `is_seen_on_filtered_events` says whether they have had the property.',
  ),
  filter_by_event_names: flag('Only properties that one of `event_names` has had.'),
  filter_properties_by_event_names: flag('The same.'),
  verified: flag('Only those that are verified, or only the others.'),
  tags,
  exclude_hidden,
  exclude_core_properties: flag('Leave out what SDKs add by themselves.'),
  excluded_properties,
})
export type PropertyDefinitionQuery = z.output<typeof PropertyDefinitionQuery>

export const SeenTogetherQuery = z.object({
  event_names: z
    .preprocess(
      (value) => (value === undefined ? undefined : [value].flat()),
      z.array(z.string()).min(1).max(1000),
    )
    .meta({ type: 'array', items: { type: 'string' }, description: 'Given several times.' }),
  property_name: z.string().min(1),
})

type NotedRow = {
  id: string
  name: string
  description: string
  tags: string[]
  hidden: boolean
  verified: boolean
  verified_at: Date | null
  verified_by: number | null
  updated_at: Date
  updated_by: number | null
}

export type EventDefinitionRow = NotedRow & {
  properties: string[]
  volume: string
  created_at: Date
  last_seen_at: Date | null
}

export type PropertyDefinitionRow = NotedRow & {
  type: 'event' | 'person' | 'group'
  property_type: (typeof PROPERTY_TYPES)[number] | null
  is_seen: boolean | null
}
