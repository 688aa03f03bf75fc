// How the calls of a config's app ended, over time; and the same for the runs of a batch export, whose id is a UUID.
import { isUuid } from '../../../lib/uuid.ts'
import type { ProjectInReach } from '../../../platform/http/access.ts'
import { denied, invalid } from '../../../platform/http/errors.ts'
import { ok, route } from '../../../platform/http/route.ts'
import { hasScope } from '../../../platform/http/scopes.ts'
import { countEndedRuns, getExport } from '../../batch-exports/queries.ts'
import { getAddressed, reachConfigs } from '../configs/place.ts'
import type { PluginConfigRow } from '../rows.ts'
import { CATEGORIES } from './categories.ts'
import { presentError, presentErrorType } from './present.ts'
import { listCounts, listErrors, listErrorTypes, type Calls } from './queries.ts'
import { readRange, toSeries } from './range.ts'
import { AppErrorDetails, AppErrorQuery, AppMetrics, AppMetricsQuery } from './schema.ts'

type Base = '/api/projects/:project_id' | '/api/environments/:project_id'

export const appMetricRoutes = [
  ...metricRoutesBelow('/api/projects/:project_id'),
  ...metricRoutesBelow('/api/environments/:project_id'),
]

function metricRoutesBelow(base: Base) {
  return [
    route({
      method: 'GET',
      path: `${base}/app_metrics/:plugin_config_id/`,
      summary: 'How calls of an app, or runs of a batch export, ended',
      scope: 'plugin:read',
      level: 'member',
      item: findCounted,
      query: AppMetricsQuery,
      answers: { 200: AppMetrics },
      async handle({ db, project, item, query, now }) {
        const range = readRange(query, { now, timezone: project.timezone })
        if (item.kind === 'export') {
          const runs = await countEndedRuns(db, item.row, range)
          return ok({ metrics: toSeries(range, runs), errors: null })
        }
        const calls = callsOf(item.row, query)
        const metrics = toSeries(range, await listCounts(db, calls, range))
        return ok({ metrics, errors: (await listErrorTypes(db, calls, range)).map(presentErrorType) })
      },
    }),

    route({
      method: 'GET',
      path: `${base}/app_metrics/:plugin_config_id/error_details/`,
      summary: 'The latest errors of one type',
      scope: 'plugin:read',
      level: 'member',
      item: async (context) =>
        getAddressed(context.db, await reachConfigs(context), 'plugins', context.params.plugin_config_id),
      query: AppErrorQuery,
      answers: { 200: AppErrorDetails },
      async handle({ db, item: { row }, query }) {
        const calls = callsOf(row, query)
        if (query.error_type === undefined) throw invalid('error_type', 'required', 'Name a type of error.')
        const errors = await listErrors(db, calls, query.error_type)
        return ok({ result: errors.map(presentError) })
      },
    }),
  ]
}

type InPath = Parameters<typeof reachConfigs>[0] & {
  project: ProjectInReach
  params: { plugin_config_id: string }
}

async function findCounted(context: InPath) {
  const { db, caller, project, params } = context
  if (!isUuid(params.plugin_config_id)) {
    const { row } = await getAddressed(db, await reachConfigs(context), 'plugins', params.plugin_config_id)
    return { kind: 'config' as const, row }
  }
  if (caller.kind !== 'session' && !hasScope(caller.key.scopes, 'batch_export:read')) {
    throw denied('The API key lacks the scope `batch_export:read`.')
  }
  return { kind: 'export' as const, row: await getExport(db, project.id, params.plugin_config_id) }
}

function callsOf(
  { project_id, id }: Pick<PluginConfigRow, 'project_id' | 'id'>,
  { category, job_id }: { category?: string; job_id?: string },
): Calls {
  if (category === undefined)
    throw invalid('category', 'required', `Choose one of: ${CATEGORIES.join(', ')}.`)
  const known = CATEGORIES.find((each) => each === category)
  if (!known) throw invalid('category', 'invalid_choice', `Choose one of: ${CATEGORIES.join(', ')}.`)
  return { project_id, plugin_config_id: id, category: known, job_id: job_id ?? null }
}
