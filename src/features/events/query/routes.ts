// Ad-hoc queries: one call that answers at once. Nothing is kept under an id, so asking for one by id finds nothing.
import { QUERY_EXAMPLES } from './examples.ts'
import { notFound } from '../../../platform/http/errors.ts'
import { route } from '../../../platform/http/route.ts'
import { answerJsonList } from '../answer.ts'
import { weightOfValues } from '../listing/select.ts'
import { runAny } from './run.ts'
import { QueryAnswer, QueryBody } from './schema.ts'

type Base = '/api/projects/:project_id' | '/api/environments/:project_id'

export const QUERY_LIMIT = {
  name: 'query',
  rates: [
    { count: 240, window_ms: 60_000 },
    { count: 2400, window_ms: 3_600_000 },
  ],
}

export const queryRoutes = [
  ...queryRoutesAt('/api/projects/:project_id'),
  ...queryRoutesAt('/api/environments/:project_id'),
]

function queryRoutesAt(base: Base) {
  return [
    route({
      method: 'POST',
      path: `${base}/query/`,
      summary: 'Run a HogQL query',
      scope: 'query:read',
      level: 'member',
      key_limit: QUERY_LIMIT,
      body: QueryBody,
      examples: QUERY_EXAMPLES,
      answers: { 200: QueryAnswer },
      async handle({ services, project, body: { query }, request, now }) {
        // Whoever leaves wants no answer: their query makes room for the next.
        const {
          results,
          explain = null,
          ...answered
        } = await runAny(services, project, query, request.signal)
        return answerJsonList({
          rows: results,
          weightOf: weightOfValues,
          textOf: (row) => JSON.stringify(row),
          beside: {
            ...answered,
            query,
            clickhouse: null,
            error: null,
            explain,
            metadata: null,
            modifiers: {},
            timings: [],
            is_cached: false,
            cache_key: null,
            last_refresh: now.toISOString(),
            next_allowed_client_refresh: now.toISOString(),
            timezone: project.timezone,
          },
        })
      },
    }),

    unknownQueryRoute('GET', `${base}/query/:id/`, 'The answer of an earlier query: none is kept'),
    unknownQueryRoute('DELETE', `${base}/query/:id/`, 'Stop a running query: none runs on its own'),
  ]
}

function unknownQueryRoute(method: 'GET' | 'DELETE', path: `${Base}/query/:id/`, summary: string) {
  return route({
    method,
    path,
    summary,
    scope: 'query:read',
    level: 'member',
    answers: { 204: null },
    async handle() {
      throw notFound()
    },
  })
}
