// Row → JSON of the API.
import { presentUser } from '../users/present.ts'
import type { Annotation, ListedAnnotation } from './schema.ts'

export function presentAnnotation(row: ListedAnnotation): Annotation {
  const { id, content, creation_type, deleted, scope } = row
  return {
    id,
    content,
    date_marker: row.date_marker?.toISOString() ?? null,
    creation_type,
    dashboard_item: null,
    insight_short_id: null,
    insight_name: null,
    created_by: row.creator && presentUser(row.creator),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    deleted,
    scope,
  }
}
