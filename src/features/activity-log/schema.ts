// An entry of the activity log as the API gives it.
import { z } from 'zod'
import { PageQuery } from '../../platform/http/paging.ts'
import { int, timestamp, uuid } from '../../platform/http/fields.ts'
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
    actor: z.object({ name: z.string(), key_id: z.string().nullable() }).describe('Who acted: also names service keys.'),
    detail: z.object({
      name: z.string().nullable(),
      short_id: z.string().nullable(),
      type: z.string().nullable(),
      trigger: z.unknown().nullable(),
      changes: z.array(Change),
    }),
  })
  .meta({ id: 'ActivityLogEntry' })

export const ActivityFilter = PageQuery.extend({
  user: int().optional().describe('Id of the user who acted.'),
  scope: z.string().optional().describe('Kind of thing, e.g. `Organization`.'),
  scopes: z.string().optional().describe('Several kinds, separated by commas.'),
  item_id: z.string().optional(),
})
export type ActivityFilter = z.output<typeof ActivityFilter>

export const ActivityCursorQuery = ActivityFilter.extend({
  cursor: z.string().optional(),
  page: int({ min: 1, max: 1_000_000 }).optional(),
  page_size: int({ min: 1, max: 1000 }).optional(),
}).omit({ limit: true, offset: true })

export const ActivityCursorAnswer = z.object({
  next: z.string().nullable(),
  previous: z.string().nullable(),
  results: z.array(ActivityLogEntry),
})
