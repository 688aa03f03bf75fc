// Who changed what: the organization's log for its admins, a project's log for its members.
import type { z } from 'zod'
import type { Db } from '../../platform/db/database.ts'
import { paged } from '../../platform/http/paging.ts'
import { ok, route, type RequestFacts } from '../../platform/http/route.ts'
import { checkChain } from './chain.ts'
import { NEWEST, readCursor, writeCursor, type Cursor } from './cursor.ts'
import { presentEntry } from './present.ts'
import { countActivity, listActivity, listActivityFrom, type EntryRow, type LogOwner } from './queries.ts'
import {
  ActivityCursorAnswer,
  ActivityCursorQuery,
  ActivityLogEntry,
  ActivityQuery,
  ChainCheck,
} from './schema.ts'

// The whole log is read for each.
const CHAIN_RATES = [{ count: 6, window_ms: 60_000 }]

const DEFAULT_PAGE_SIZE = 100

export const activityLogRoutes = [
  route({
    method: 'GET',
    path: '/api/organizations/:organization_id/activity_log/',
    summary: "An organization's activity log, newest first",
    scope: ['organization:read', 'activity_log:read'],
    level: 'admin',
    query: ActivityQuery,
    answers: { 200: paged(ActivityLogEntry) },
    async handle({ db, organization, query, page, paged }) {
      const owner = { organization_id: organization.id }
      const rows = await listActivity(db, owner, query, page)
      return ok(paged(await countActivity(db, owner, query), rows.map(presentEntry)))
    },
  }),

  route({
    method: 'GET',
    path: '/api/organizations/:organization_id/activity_log/chain/',
    summary:
      'Whether an entry of the log was altered or is missing: each entry holds the hash of the one before it',
    scope: ['organization:read', 'activity_log:read'],
    level: 'admin',
    answers: { 200: ChainCheck },
    async handle({ services, db, organization, now }) {
      services.throttle.take('activity chain', organization.id, CHAIN_RATES, now)
      const { entries, broken } = await checkChain(db, organization.id)
      return ok({ is_intact: broken === null, entries, broken_entry: broken?.id ?? null })
    },
  }),

  projectLogRoute('/api/projects/:project_id/activity_log/'),
  projectLogRoute('/api/environments/:project_id/activity_log/'),
]

function projectLogRoute(path: `/api/${'projects' | 'environments'}/:project_id/activity_log/`) {
  return route({
    method: 'GET',
    path,
    summary: "A project's activity log, newest first",
    scope: 'activity_log:read',
    level: 'member',
    query: ActivityCursorQuery,
    answers: { 200: ActivityCursorAnswer },
    async handle({ db, project, query, request }) {
      const owner = { organization_id: project.organization_id, project_id: project.id }
      const isNumbered = query.page !== undefined || query.page_size !== undefined
      return ok(
        isNumbered
          ? await numberedPage(db, owner, query, request)
          : await cursorPage(db, owner, query, request),
      )
    },
  })
}

type ProjectQuery = z.output<typeof ActivityCursorQuery>

// Both kinds of page read one entry more than they show: it tells whether another page follows.

async function numberedPage(db: Db, owner: LogOwner, query: ProjectQuery, request: RequestFacts) {
  const { page = 1, page_size: size = DEFAULT_PAGE_SIZE } = query
  const rows = await listActivity(db, owner, query, { limit: size + 1, offset: (page - 1) * size })
  const link = (number: number) => request.urlWith({ page: String(number) })
  return {
    next: rows.length > size ? link(page + 1) : null,
    previous: page > 1 ? link(page - 1) : null,
    results: rows.slice(0, size).map(presentEntry),
  }
}

async function cursorPage(db: Db, owner: LogOwner, query: ProjectQuery, request: RequestFacts) {
  const from = query.cursor ? readCursor(query.cursor) : NEWEST
  const nearest = await listActivityFrom(db, owner, query, from, DEFAULT_PAGE_SIZE + 1)
  const hasMore = nearest.length > DEFAULT_PAGE_SIZE
  const shown = nearest.slice(0, DEFAULT_PAGE_SIZE)
  const rows = from.direction === 'older' ? shown : shown.reverse()
  const link = (direction: Cursor['direction'], row: EntryRow | undefined) =>
    row ? request.urlWith({ cursor: writeCursor({ direction, position: row.position }) }) : null
  // Behind the reader there is always the page they came from, unless they came from nowhere.
  const hasOlder = from.direction === 'older' ? hasMore : true
  const hasNewer = from.direction === 'newer' ? hasMore : from !== NEWEST
  return {
    next: hasOlder ? link('older', rows.at(-1)) : null,
    previous: hasNewer ? link('newer', rows[0]) : null,
    results: rows.map(presentEntry),
  }
}
