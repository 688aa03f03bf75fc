// Shapes of the events listing, for the document: parameters are read in parameters.ts, records written in record.ts.
import { z } from 'zod'
import { EndOfStream, LeftOut } from '../../../platform/http/live/messages.ts'
import { PositionQuery } from '../../../platform/http/live/position.ts'

const Element = z.object({
  event: z.null(),
  text: z.string().nullable(),
  tag_name: z.string().nullable(),
  attr_class: z.array(z.string()).nullable(),
  href: z.string().nullable(),
  attr_id: z.string().nullable(),
  nth_child: z.int().nullable(),
  nth_of_type: z.int().nullable(),
  attributes: z.record(z.string(), z.string()),
  order: z.int(),
})

export const Event = z
  .object({
    id: z.string().meta({ format: 'uuid' }),
    distinct_id: z.string(),
    properties: z.record(z.string(), z.unknown()),
    event: z.string(),
    timestamp: z.string().meta({ format: 'date-time' }),
    person: z
      .object({
        is_identified: z.boolean(),
        distinct_ids: z.array(z.string()),
        properties: z.record(z.string(), z.unknown()),
      })
      .nullable(),
    elements: z.array(Element),
    elements_chain: z.string(),
  })
  .meta({ id: 'Event' })

export const EventsAnswer = z.object({
  next: z.string().nullable(),
  results: z
    .array(z.union([Event, z.array(z.unknown())]))
    .meta({ description: 'Events; with `select` a list of values per row.' }),
  columns: z.array(z.string()).optional(),
  types: z.array(z.string()).optional(),
  hasMore: z.boolean().optional(),
})

export const ValuesAnswer = z.array(z.object({ name: z.string() }))

// Any text is taken here and read by hand, so that faults come in the order of the checks.
const parameter = (description: string, type: 'string' | 'integer' = 'string') =>
  z.unknown().optional().meta({ type, description })

export const FormatQuery = z.object({
  format: parameter('`json` or `csv`; the Accept header says the same.'),
})

export const ListQuery = FormatQuery.extend({
  event: parameter('Name of the event, exactly.'),
  distinct_id: parameter('Distinct id, exactly.'),
  person_id: parameter('Id or UUID of a person: events of all their distinct ids.'),
  after: parameter('Only later events: ISO 8601, or relative such as -7d.'),
  before: parameter('Only earlier events; 5 seconds from now unless told.'),
  after_id: parameter('With `after`: events of that very time follow from this id on.'),
  before_id: parameter('With `before`: events of that very time end before this id.'),
  limit: parameter('Events per page: 100 unless told (CSV: 3500), 50000 at most.', 'integer'),
  offset: parameter('Index of the first event; with `select` 100000 at most.', 'integer'),
  orderBy: parameter('`["-timestamp"]` or `["timestamp"]`; with `select` HogQL expressions.'),
  properties: parameter('Property filters as JSON.'),
  select: parameter('HogQL expressions to return, as a JSON list.'),
  where: parameter('HogQL expressions that must hold, as a JSON list.'),
})

export const StreamQuery = ListQuery.pick({
  event: true,
  distinct_id: true,
  person_id: true,
  properties: true,
  where: true,
}).extend(PositionQuery.shape)

/** By the names of the messages. */
export const STREAM_MESSAGES = {
  event: Event,
  skipped: z
    .object({ count: z.int() })
    .meta({ description: 'More came within a second than a stream gets: so many are left out.' }),
  gap: LeftOut,
  end: EndOfStream,
}

export const ValuesQuery = FormatQuery.extend({
  key: parameter('Name of the property.'),
  value: parameter('Part of the value, in any case.'),
  event_name: parameter('Only of this event; may be repeated.'),
  is_column: parameter('`true`: `key` is a column, `event` or `distinct_id`.'),
})
