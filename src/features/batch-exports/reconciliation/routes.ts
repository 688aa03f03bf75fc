// The proof that what came in went out: the account of an export, in total and for each interval. The same call below
// both names of a project.
import { PageQuery } from '../../../platform/http/paging.ts'
import { ok, route } from '../../../platform/http/route.ts'
import { getExport } from '../queries.ts'
import { presentLatest } from '../verification/present.ts'
import { findStanding } from '../verification/read-queries.ts'
import { presentInterval, presentTotals } from './present.ts'
import { reconcile } from './reconcile.ts'
import { reconcileDays } from './by-day.ts'
import { readDays } from './days.ts'
import { ReconciledDays, DaysQuery, Reconciliation } from './schema.ts'

type Base = '/api/projects/:project_id' | '/api/environments/:project_id'

/** Each reads the times of all events in its range. */
const DAYS_LIMIT = {
  name: 'export_days',
  rates: [
    { count: 60, window_ms: 60_000 },
    { count: 600, window_ms: 3_600_000 },
  ],
}

export const reconciliationRoutes = [
  reconciliationRoute('/api/projects/:project_id'),
  reconciliationRoute('/api/environments/:project_id'),
  daysRoute('/api/projects/:project_id'),
  daysRoute('/api/environments/:project_id'),
]

function reconciliationRoute(base: Base) {
  return route({
    method: 'GET',
    path: `${base}/batch_exports/:batch_export_id/reconciliation/`,
    summary:
      'Received = exported + filtered out + pending + skipped, in total and for each interval, newest first',
    scope: 'batch_export:read',
    level: 'member',
    item: ({ db, project, params }) => getExport(db, project.id, params.batch_export_id),
    query: PageQuery,
    answers: { 200: Reconciliation },
    async handle({ services, db, item, page, paged, now }) {
      const account = await reconcile(services, item, page, now)
      const intervals = account.intervals.map((row) => presentInterval(row, item.model))
      return ok({
        ...paged(account.count, intervals),
        model: item.model,
        totals: presentTotals(account, item.model),
        verification: presentLatest(await findStanding(db, item)),
      })
    },
  })
}

function daysRoute(base: Base) {
  return route({
    method: 'GET',
    path: `${base}/batch_exports/:batch_export_id/reconciliation/days/`,
    summary: 'The reconciliation for each day on which events happened: what a backfill would find',
    scope: 'batch_export:read',
    level: 'member',
    key_limit: DAYS_LIMIT,
    may_time_out: true,
    item: ({ db, project, params }) => getExport(db, project.id, params.batch_export_id),
    query: DaysQuery,
    answers: { 200: ReconciledDays },
    async handle({ services, project, item, query, now }) {
      const { timezone } = project
      const days = readDays(query, { now, timezone })
      // Persons and sessions are no stream of events.
      const results = item.model === 'events' ? await reconcileDays(services, project, item, days, now) : []
      return ok({ model: item.model, timezone, results })
    },
  })
}
