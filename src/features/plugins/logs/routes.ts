// What an app and the server have said while it ran, below every path that shows its config.
import { paged } from '../../../platform/http/paging.ts'
import { readMoment, type Clock } from '../../../platform/http/parameters.ts'
import { ok, route } from '../../../platform/http/route.ts'
import { CONFIG_BASES, type ConfigBase } from '../configs/paths.ts'
import { getAddressed, reachConfigs } from '../configs/place.ts'
import type { Family } from '../families.ts'
import { presentLog } from './present.ts'
import { countLogs, listLogs, type LogFilter } from './queries.ts'
import { PLUGIN_LOG_MESSAGES, PluginLogEntry, PluginLogQuery, PluginLogStreamQuery } from './schema.ts'
import { streamLog } from './stream.ts'

export const pluginLogRoutes = CONFIG_BASES.flatMap(({ base, family }) => [
  logRouteAt(base, family),
  logStreamAt(base, family),
])

function logRouteAt(base: ConfigBase, family: Family) {
  return route({
    method: 'GET',
    path: `${base}/:id/logs/`,
    summary: 'The log of a plugin config, newest first',
    scope: 'plugin:read',
    level: 'member',
    item: async (context) => getAddressed(context.db, await reachConfigs(context), family, context.params.id),
    query: PluginLogQuery,
    answers: { 200: paged(PluginLogEntry) },
    async handle({ db, item: { project, row }, query, page, paged, now }) {
      const owner = { project_id: project.id, plugin_config_id: row.id }
      const filter = readFilter(query, { now, timezone: project.timezone })
      const rows = await listLogs(db, owner, filter, page)
      return ok(paged(await countLogs(db, owner, filter), rows.map(presentLog)))
    },
  })
}

function logStreamAt(base: ConfigBase, family: Family) {
  return route({
    method: 'GET',
    path: `${base}/:id/logs/stream/`,
    summary: 'The log of a plugin config as it is written',
    scope: 'plugin:read',
    level: 'member',
    item: async (context) => getAddressed(context.db, await reachConfigs(context), family, context.params.id),
    query: PluginLogStreamQuery,
    messages: PLUGIN_LOG_MESSAGES,
    answers: { 200: null },
    handle: ({ services, item: { project, row }, query, request }) =>
      streamLog(services, { project_id: project.id, plugin_config_id: row.id }, query, request),
  })
}

function readFilter({ after, before, search, type_filter }: PluginLogQuery, clock: Clock): LogFilter {
  return {
    after: readMoment('after', after, clock),
    before: readMoment('before', before, clock),
    search: search ?? null,
    types: type_filter ?? null,
  }
}
