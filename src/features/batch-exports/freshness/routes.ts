// The freshness of all exports of a project, in one call. The same below both names of a project.
import { ok, route } from '../../../platform/http/route.ts'
import { MAX_EXPORTS } from '../rules.ts'
import { measureFreshness } from './measure.ts'
import { presentRecentRun, presentStatus } from './present.ts'
import { listWatched } from './queries.ts'
import { listRecentRuns } from './recent-runs.ts'
import { StatusOfAll, StatusQuery } from './schema.ts'

type Base = '/api/projects/:project_id' | '/api/environments/:project_id'

export const freshnessRoutes = [
  statusRoute('/api/projects/:project_id'),
  statusRoute('/api/environments/:project_id'),
]

function statusRoute(base: Base) {
  return route({
    method: 'GET',
    path: `${base}/batch_exports/status/`,
    summary: 'How fresh each batch export of the project is: what is delivered, what waits, what is late',
    scope: 'batch_export:read',
    level: 'member',
    query: StatusQuery,
    answers: { 200: StatusOfAll },
    async handle({ services, db, project, query, now }) {
      const exports = await listWatched(db, project.id)
      const figures = await measureFreshness(services, exports, now)
      const runs = await listRecentRuns(db, exports, query.recent_runs)
      const results = exports.map((row) => ({
        ...presentStatus(row, figures.get(row.id)!, now),
        recent_runs: (runs.get(row.id) ?? []).map(presentRecentRun),
      }))
      return ok({ as_of: now.toISOString(), max_exports: MAX_EXPORTS, results })
    },
  })
}
