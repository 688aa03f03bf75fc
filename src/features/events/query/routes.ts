// Ad-hoc queries: one call that answers at once. Nothing is kept under an id, so asking for one by id finds nothing.
import { QUERY_EXAMPLES } from './examples.ts'
import { z } from 'zod'
import { notFound } from '../../../platform/http/errors.ts'
import { ok, route } from '../../../platform/http/route.ts'
import { answerJsonList } from '../answer.ts'
import { answerFrame } from '../answer-frame.ts'
import { InsightAnswer } from '../insights/answer.ts'
import { runInsight } from '../insights/run.ts'
import { weightOfValues } from '../listing/select.ts'
import { innermost, runRows } from './run.ts'
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
      summary: 'Run a query: HogQL, events, trends, a funnel or retention',
      scope: 'query:read',
      level: 'member',
      key_limit: QUERY_LIMIT,
      may_time_out: true,
      body: QueryBody,
      examples: QUERY_EXAMPLES,
      answers: { 200: z.union([QueryAnswer, InsightAnswer]) },
      async handle({ services, project, body: { query: asked }, request, now }) {
        const { query, attr } = innermost(asked)
        const frame = answerFrame(asked, project.timezone, now)
        // Whoever leaves wants no answer: their query makes room for the next.
        const { signal } = request
        if (query.kind !== 'HogQLQuery' && query.kind !== 'EventsQuery') {
          const { range, ...answered } = await runInsight(services, project, query, attr, signal)
          return ok({ ...answered, resolved_date_range: datesOf(range), ...frame })
        }
        const { results, explain = null, ...answered } = await runRows(services, project, query, attr, signal)
        return answerJsonList({
          rows: results,
          weightOf: weightOfValues,
          textOf: (row) => JSON.stringify(row),
          beside: { ...answered, ...frame, clickhouse: null, explain, metadata: null },
        })
      },
    }),

    unknownQueryRoute('GET', `${base}/query/:id/`, 'The answer of an earlier query: none is kept'),
    unknownQueryRoute('DELETE', `${base}/query/:id/`, 'Stop a running query: none runs on its own'),
  ]
}

/** The last instant that is part of it, as PostHog tells it. */
const datesOf = ({ from, to }: { from: number; to: number }) => ({
  date_from: new Date(from).toISOString(),
  date_to: new Date(to - 1).toISOString(),
})

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
