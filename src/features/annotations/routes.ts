// Annotations: notes on a project's time line. Apps that follow releases write them through posthog.api.
import type { Db } from '../../platform/db/database.ts'
import { denied, invalid, notFound } from '../../platform/http/errors.ts'
import { paged } from '../../platform/http/paging.ts'
import { created, ok, route } from '../../platform/http/route.ts'
import { changesBetween, recordActivity, type Activity } from '../activity-log/record.ts'
import { presentAnnotation } from './present.ts'
import {
  countAnnotations,
  findAnnotation,
  hasRoom,
  insertAnnotation,
  listAnnotations,
  updateAnnotation,
  type AnnotatedProject,
} from './queries.ts'
import {
  Annotation,
  AnnotationCreate,
  AnnotationQuery,
  AnnotationUpdate,
  type AnnotationRow,
  type ListedAnnotation,
} from './schema.ts'

/** In one project: an app that runs wild fills no disk. */
const MAX_ANNOTATIONS = 10_000

const LOGGED_FIELDS = ['content', 'date_marker', 'scope', 'deleted'] as const

type Base = '/api/projects/:project_id' | '/api/environments/:project_id'

export const annotationRoutes = [
  ...annotationRoutesBelow('/api/projects/:project_id'),
  ...annotationRoutesBelow('/api/environments/:project_id'),
]

function annotationRoutesBelow(base: Base) {
  return [
    route({
      method: 'GET',
      path: `${base}/annotations/`,
      summary: 'List annotations: those of the project, and those of its whole organization',
      scope: 'annotation:read',
      level: 'member',
      query: AnnotationQuery,
      answers: { 200: paged(Annotation) },
      async handle({ db, project, query, page, paged }) {
        const place = placeOf(project)
        const rows = await listAnnotations(db, place, query, page)
        return ok(paged(await countAnnotations(db, place, query), rows.map(presentAnnotation)))
      },
    }),

    route({
      method: 'POST',
      path: `${base}/annotations/`,
      summary: 'Write an annotation',
      scope: 'annotation:write',
      level: 'member',
      body: AnnotationCreate,
      examples: { 'A release': { content: 'Version 2 is out', date_marker: '2026-03-02T09:00:00Z' } },
      answers: { 201: Annotation },
      async handle(context) {
        const { db, project, body, caller, now } = context
        const place = placeOf(project)
        const row = await db.transaction(async (tx) => {
          if (!(await hasRoom(tx, place, MAX_ANNOTATIONS)))
            throw invalid(null, 'invalid_input', `A project can have ${MAX_ANNOTATIONS} annotations.`)
          const inserted = await insertAnnotation(tx, place, body, caller.user?.id ?? null, now)
          await recordActivity(tx, context, { ...activityOf(inserted), activity: 'created' })
          return await getAnnotation(tx, place, inserted.id)
        })
        return created(presentAnnotation(row))
      },
    }),

    route({
      method: 'GET',
      path: `${base}/annotations/:id/`,
      summary: 'One annotation',
      scope: 'annotation:read',
      level: 'member',
      item: ({ db, project, params }) => getAnnotation(db, placeOf(project), readId(params.id)),
      answers: { 200: Annotation },
      handle: async ({ item }) => ok(presentAnnotation(item)),
    }),

    route({
      method: 'PATCH',
      path: `${base}/annotations/:id/`,
      summary: 'Change an annotation; `deleted: true` takes it away',
      scope: 'annotation:write',
      level: 'member',
      item: async ({ db, project, params }) => {
        const item = await getAnnotation(db, placeOf(project), readId(params.id))
        if (item.project_id === project.id) return item
        throw denied('This annotation belongs to another project of the organization: change it there.')
      },
      body: AnnotationUpdate,
      examples: { Reword: { content: 'Version 2.0 is out' } },
      answers: { 200: Annotation },
      async handle(context) {
        const { db, project, item, body, now } = context
        if (Object.keys(body).length === 0) return ok(presentAnnotation(item))
        const after = await db.transaction(async (tx) => {
          const row = await updateAnnotation(tx, placeOf(project), item.id, body, now)
          await recordActivity(tx, context, {
            ...activityOf(row),
            activity: row.deleted ? 'deleted' : 'updated',
            changes: changesBetween('Annotation', item, row, LOGGED_FIELDS),
          })
          return row
        })
        return ok(presentAnnotation({ ...item, ...after }))
      },
    }),
  ]
}

const placeOf = (project: { id: number; organization_id: string }): AnnotatedProject => ({
  project_id: project.id,
  organization_id: project.organization_id,
})

function readId(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw notFound()
  return Number(text)
}

async function getAnnotation(db: Db, place: AnnotatedProject, id: number): Promise<ListedAnnotation> {
  const row = await findAnnotation(db, place, id)
  if (!row) throw notFound()
  return row
}

function activityOf(row: AnnotationRow): Omit<Activity, 'activity'> {
  return {
    organization_id: row.organization_id,
    project_id: row.project_id,
    scope: 'Annotation',
    item_id: String(row.id),
    name: row.content ?? '',
  }
}
