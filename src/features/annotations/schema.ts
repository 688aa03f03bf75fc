// Annotations of a project, in and out.
import { z } from 'zod'
import { bool, instant, text, timestamp } from '../../platform/http/fields.ts'
import { PageQuery } from '../../platform/http/paging.ts'
import { User, type EmbeddedUser } from '../users/schema.ts'

export const Annotation = z
  .object({
    id: z.int(),
    content: z.string().nullable(),
    date_marker: timestamp.nullable(),
    creation_type: z.string(),
    // There are no dashboards and insights here.
    dashboard_item: z.null(),
    insight_short_id: z.null(),
    insight_name: z.null(),
    created_by: User.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    deleted: z.boolean(),
    scope: z.string(),
  })
  .meta({ id: 'Annotation' })
export type Annotation = z.output<typeof Annotation>

const fields = z.object({
  content: text({ max: 400, blank: true }).nullable(),
  date_marker: instant().nullable(),
  scope: z.enum(['project', 'organization', 'dashboard_item', 'dashboard']),
  creation_type: z.enum(['USR', 'GIT']),
  deleted: bool(),
})

export const AnnotationCreate = fields.omit({ deleted: true }).partial()
export const AnnotationUpdate = fields.omit({ creation_type: true }).partial()
export type AnnotationFields = Partial<z.output<typeof fields>>

export const AnnotationQuery = PageQuery.extend({
  search: z.string().optional().meta({ description: 'Only those whose content holds this text.' }),
  scope: z.string().optional().meta({ description: '`project` or `organization`.' }),
})

export type AnnotationRow = {
  id: number
  organization_id: string
  project_id: number
  content: string | null
  date_marker: Date | null
  scope: string
  creation_type: string
  deleted: boolean
  created_by: number | null
  created_at: Date
  updated_at: Date
}
export type ListedAnnotation = AnnotationRow & { creator: EmbeddedUser | null }
