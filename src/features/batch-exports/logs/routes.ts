// The log of an export, as a whole or of one run. The same calls below both names of a project.
import { paged } from '../../../platform/http/paging.ts'
import { readMoment, type Clock } from '../../../platform/http/parameters.ts'
import { ok, route } from '../../../platform/http/route.ts'
import { getExport } from '../queries.ts'
import { getRun } from '../runs/read-queries.ts'
import { presentLog } from './present.ts'
import { countLogs, listLogs, type LogFilter } from './queries.ts'
import { LOG_MESSAGES, LogEntry, LogQuery, LogStreamQuery } from './schema.ts'
import { streamLog } from './stream.ts'

type Base = '/api/projects/:project_id' | '/api/environments/:project_id'

export const logRoutes = [
  ...logRoutesBelow('/api/projects/:project_id'),
  ...logRoutesBelow('/api/environments/:project_id'),
]

function logRoutesBelow(base: Base) {
  return [
    route({
      method: 'GET',
      path: `${base}/batch_exports/:batch_export_id/logs/`,
      summary: 'The log of an export, newest first',
      scope: 'batch_export:read',
      level: 'member',
      item: ({ db, project, params }) => getExport(db, project.id, params.batch_export_id),
      query: LogQuery,
      answers: { 200: paged(LogEntry) },
      async handle({ db, project, item, query, page, paged, now }) {
        const part = { project_id: project.id, batch_export_id: item.id }
        const filter = readFilter(query, { now, timezone: project.timezone })
        const rows = await listLogs(db, part, filter, page)
        return ok(paged(await countLogs(db, part, filter), rows.map(presentLog)))
      },
    }),

    route({
      method: 'GET',
      path: `${base}/batch_exports/:batch_export_id/logs/stream/`,
      summary: 'The log of an export as it is written',
      scope: 'batch_export:read',
      level: 'member',
      item: ({ db, project, params }) => getExport(db, project.id, params.batch_export_id),
      query: LogStreamQuery,
      messages: LOG_MESSAGES,
      answers: { 200: null },
      handle: ({ services, project, item, query, request }) =>
        streamLog(services, { project_id: project.id, batch_export_id: item.id }, query, request),
    }),

    route({
      method: 'GET',
      path: `${base}/batch_exports/:batch_export_id/runs/:run_id/logs/`,
      summary: 'The log of a run, newest first',
      scope: 'batch_export:read',
      level: 'member',
      async item({ db, project, params }) {
        return getRun(db, await getExport(db, project.id, params.batch_export_id), params.run_id)
      },
      query: LogQuery,
      answers: { 200: paged(LogEntry) },
      async handle({ db, project, item, query, page, paged, now }) {
        const part = { project_id: project.id, batch_export_id: item.batch_export_id, run_id: item.id }
        const filter = readFilter(query, { now, timezone: project.timezone })
        const rows = await listLogs(db, part, filter, page)
        return ok(paged(await countLogs(db, part, filter), rows.map(presentLog)))
      },
    }),
  ]
}

function readFilter({ after, before, search, level, level_filter }: LogQuery, clock: Clock): LogFilter {
  return {
    after: readMoment('after', after, clock),
    before: readMoment('before', before, clock),
    search: search ?? null,
    levels: level ?? level_filter ?? null,
  }
}
