// What the schedule of an export does next. The same call below both names of a project.
import { ok, route } from '../../../platform/http/route.ts'
import { getExport } from '../queries.ts'
import { nextRuns, presentNextRun } from './next-runs.ts'
import { standings } from './queries.ts'
import { NextRuns } from './schema.ts'

type Base = '/api/projects/:project_id' | '/api/environments/:project_id'

export const scheduleRoutes = [
  nextRunsRoute('/api/projects/:project_id'),
  nextRunsRoute('/api/environments/:project_id'),
]

function nextRunsRoute(base: Base) {
  return route({
    method: 'GET',
    path: `${base}/batch_exports/:batch_export_id/next_runs/`,
    summary: 'The next runs by the schedule: their intervals, and when they are due',
    scope: 'batch_export:read',
    level: 'member',
    item: ({ db, project, params }) => getExport(db, project.id, params.batch_export_id),
    answers: { 200: NextRuns },
    async handle({ db, item }) {
      const { timezone } = item
      const { covered_until } = (await standings(db, [item.id])).get(item.id)!
      const results = nextRuns(item, covered_until).map((run) => presentNextRun(run, timezone))
      return ok({ timezone, results })
    },
  })
}
