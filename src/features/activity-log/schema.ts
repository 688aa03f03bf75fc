// An entry of the activity log as the API gives it.
import { z } from 'zod'
import { PageQuery } from '../../platform/http/paging.ts'
import { instant, int, timestamp, uuid } from '../../platform/http/fields.ts'
import { User } from '../users/schema.ts'

export const Change = z.object({
  type: z.string(),
  action: z.enum(['created', 'changed', 'deleted']),
  field: z.string().nullable(),
  before: z.unknown(),
  after: z.unknown(),
})
export type Change = z.infer<typeof Change>

export const ActivityLogEntry = z
  .object({
    id: uuid,
    user: User.nullable(),
    unread: z.boolean(),
    is_system: z.boolean(),
    was_impersonated: z.boolean(),
    activity: z.string(),
    scope: z.string(),
    item_id: z.string().nullable(),
    organization_id: uuid.nullable(),
    created_at: timestamp,
    actor: z
      .object({ name: z.string(), key_id: z.string().nullable() })
      .describe('Who acted: also names service keys.'),
    detail: z.object({
      name: z.string().nullable(),
      short_id: z.string().nullable(),
      type: z.string().nullable(),
      trigger: z.null(),
      changes: z.array(Change),
    }),
  })
  .meta({ id: 'ActivityLogEntry' })

// A filter left blank, as a form sends it, filters nothing.
const blankOr = <Field extends z.ZodType>(field: Field) =>
  z.preprocess((value) => (value === '' ? undefined : value), field.optional())

const filters = z.object({
  user: blankOr(int()).describe('Id of the user who acted.'),
  scope: z.string().trim().optional().describe('Kind of thing, e.g. `Organization`.'),
  scopes: z.string().trim().optional().describe('Several kinds, separated by commas.'),
  item_id: z.string().trim().optional(),
  start_date: blankOr(instant()).describe('Entries of this moment and later.'),
  end_date: blankOr(instant()).describe('Entries of before this moment.'),
})
export type ActivityFilter = z.output<typeof filters>

/** Whether the hashes of an organization's entries follow from each other. */
export const ChainCheck = z
  .object({
    is_intact: z.boolean(),
    entries: z.int().describe('So many were read.'),
    broken_entry: uuid.nullable().describe('The first that was altered, or that lacks the one before it.'),
  })
  .meta({ id: 'ChainCheck' })

export const ActivityQuery = PageQuery.extend(filters.shape)

/** As with `limit` and `offset`, a wrong value is no error but counts as not given. */
function countingFromOne({ max, description }: { max: number; description: string }) {
  return z
    .unknown()
    .transform((value) =>
      typeof value === 'string' && /^0*[1-9]\d*$/.test(value) ? Math.min(Number(value), max) : undefined,
    )
    .optional()
    .meta({ type: 'integer', description })
}

export const ActivityCursorQuery = filters.extend({
  cursor: z.string().optional().describe('From `next` or `previous` of an earlier answer.'),
  page: countingFromOne({ max: 1_000_000, description: 'Number of the page, in place of a cursor.' }),
  page_size: countingFromOne({ max: 1000, description: 'Entries per page: 100 unless told, 1000 at most.' }),
})

export const ActivityCursorAnswer = z.object({
  next: z.string().nullable(),
  previous: z.string().nullable(),
  results: z.array(ActivityLogEntry),
})
