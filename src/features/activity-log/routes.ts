// Who changed what: the organization's log for its admins, a project's log for its members.
import { invalid } from '../../platform/http/errors.ts'
import { paged } from '../../platform/http/paging.ts'
import { ok, route } from '../../platform/http/route.ts'
import { presentEntry } from './present.ts'
import { countActivity, listActivity } from './queries.ts'
import { ActivityCursorAnswer, ActivityCursorQuery, ActivityFilter, ActivityLogEntry } from './schema.ts'

const DEFAULT_PAGE_SIZE = 100

export const activityLogRoutes = [
  route({
    method: 'GET',
    path: '/api/organizations/:organization_id/activity_log/',
    summary: "An organization's activity log, newest first",
    scope: ['organization:read', 'activity_log:read'],
    level: 'admin',
    query: ActivityFilter,
    answers: { 200: paged(ActivityLogEntry) },
    async handle({ db, organization, query, page, paged }) {
      const owner = { organization_id: organization.id }
      const rows = await listActivity(db, owner, query, page)
      return ok(paged(await countActivity(db, owner, query), rows.map(presentEntry)))
    },
  }),

  route({
    method: 'GET',
    path: '/api/projects/:project_id/activity_log/',
    summary: "A project's activity log, newest first",
    scope: 'activity_log:read',
    level: 'member',
    query: ActivityCursorQuery,
    answers: { 200: ActivityCursorAnswer },
    async handle({ db, project, query, request }) {
      const owner = { organization_id: project.organization_id, project_id: project.id }
      const size = query.page_size ?? DEFAULT_PAGE_SIZE
      const page = query.page ?? (query.page_size === undefined ? undefined : 1)
      const slice = page === undefined ? cursorSlice(query.cursor, size) : { limit: size + 1, offset: (page - 1) * size }
      const rows = await listActivity(db, owner, query, slice)
      const results = rows.slice(0, size)
      const hasMore = rows.length > size
      const link = (parameters: Record<string, string>) => request.urlWith(parameters)
      if (page !== undefined) {
        return ok({
          next: hasMore ? link({ page: String(page + 1) }) : null,
          previous: page > 1 ? link({ page: String(page - 1) }) : null,
          results: results.map(presentEntry),
        })
      }
      return ok({ next: hasMore ? link({ cursor: results.at(-1)!.position }) : null, previous: null, results: results.map(presentEntry) })
    },
  }),
]

/** One row more than asked for tells whether another page follows. */
function cursorSlice(cursor: string | undefined, size: number) {
  if (cursor === undefined) return { limit: size + 1, offset: 0 }
  if (!/^\d{1,18}$/.test(cursor)) throw invalid('cursor', 'invalid_input', 'This cursor is not one of ours.')
  return { limit: size + 1, offset: 0, before_position: cursor }
}
