// Every SQL statement about annotations.
import type { Db } from '../../platform/db/database.ts'
import { assignments, sql } from '../../platform/db/sql.ts'
import type { Page } from '../../platform/http/paging.ts'
import { embeddedUser } from '../users/queries.ts'
import type { AnnotationFields, AnnotationRow, ListedAnnotation } from './schema.ts'

/** Where they are shown. */
export type AnnotatedProject = { project_id: number; organization_id: string }
export type Filter = { search?: string | undefined; scope?: string | undefined }

const shownIn = ({ project_id, organization_id }: AnnotatedProject) => sql`
  NOT annotation.deleted AND (annotation.project_id = ${project_id}
    OR annotation.organization_id = ${organization_id} AND annotation.scope = 'organization')`

const matching = ({ search, scope }: Filter) => sql`
  (${scope ?? null}::text IS NULL OR annotation.scope = ${scope ?? null})
  AND (${search ?? null}::text IS NULL OR strpos(lower(annotation.content), lower(${search ?? null})) > 0)`

const listed = sql`annotation.*, ${embeddedUser} AS creator
  FROM annotation LEFT JOIN app_user ON app_user.id = annotation.created_by`

export function listAnnotations(
  db: Db,
  place: AnnotatedProject,
  filter: Filter,
  page: Page,
): Promise<ListedAnnotation[]> {
  return db.rows(sql`
    SELECT ${listed} WHERE ${shownIn(place)} AND ${matching(filter)}
    ORDER BY annotation.date_marker DESC NULLS LAST, annotation.id DESC LIMIT ${page.limit} OFFSET ${page.offset}`)
}

export async function countAnnotations(db: Db, place: AnnotatedProject, filter: Filter): Promise<number> {
  const row = await db.only<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM annotation WHERE ${shownIn(place)} AND ${matching(filter)}`,
  )
  return row.count
}

export function findAnnotation(
  db: Db,
  place: AnnotatedProject,
  id: number,
): Promise<ListedAnnotation | undefined> {
  return db.row(sql`SELECT ${listed} WHERE ${shownIn(place)} AND annotation.id = ${id}`)
}

export async function hasRoom(db: Db, { project_id }: AnnotatedProject, most: number): Promise<boolean> {
  const { count } = await db.only<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM annotation WHERE project_id = ${project_id}`,
  )
  return count < most
}

export function insertAnnotation(
  db: Db,
  { project_id, organization_id }: AnnotatedProject,
  fields: AnnotationFields,
  user_id: number | null,
  now: Date,
): Promise<AnnotationRow> {
  return db.only(sql`
    INSERT INTO annotation (organization_id, project_id, content, date_marker, scope, creation_type, created_by, created_at,
      updated_at)
    VALUES (${organization_id}, ${project_id}, ${fields.content ?? null}, ${fields.date_marker ?? null},
      ${fields.scope ?? 'project'}, ${fields.creation_type ?? 'USR'}, ${user_id}, ${now}, ${now})
    RETURNING *`)
}

export function updateAnnotation(
  db: Db,
  { project_id }: AnnotatedProject,
  id: number,
  fields: AnnotationFields,
  now: Date,
): Promise<AnnotationRow> {
  return db.only(sql`
    UPDATE annotation SET ${assignments({ ...fields, updated_at: now })}
    WHERE project_id = ${project_id} AND id = ${id} RETURNING *`)
}
