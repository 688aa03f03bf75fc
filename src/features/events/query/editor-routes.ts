// What an editor of HogQL asks for while somebody types: which names there are, and what is wrong with the text so far.
import { createHash } from 'node:crypto'
import { describeHogql } from '../../../hogql/describe.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { ok, ready, route } from '../../../platform/http/route.ts'
import { QUERY_LIMIT } from './routes.ts'
import { checkHogql } from './run.ts'
import { QueryCheck, QueryCheckBody, QueryLanguage } from './schema.ts'

type Base = '/api/projects/:project_id' | '/api/environments/:project_id'

const TEXT_FIELD = 'query__query'

/** The same for every project of this version, so it is put together once. */
let made: { text: string; etag: string } | undefined

export const queryEditorRoutes = [
  ...editorRoutesAt('/api/projects/:project_id'),
  ...editorRoutesAt('/api/environments/:project_id'),
]

function editorRoutesAt(base: Base) {
  return [
    route({
      method: 'GET',
      path: `${base}/query/schema/`,
      summary: 'Tables, columns, functions and words of HogQL; 304 while `If-None-Match` is still right',
      scope: 'query:read',
      level: 'member',
      answers: { 200: QueryLanguage, 304: null },
      async handle({ request }) {
        const { text, etag } = language()
        const headers = { etag, 'cache-control': 'private, no-cache' }
        const known = [request.headers['if-none-match'] ?? ''].flat().join()
        if (known.includes(etag)) return { status: 304 as const, body: null, headers }
        return { ...ready('application/json; charset=utf-8', text), headers }
      },
    }),

    route({
      method: 'POST',
      path: `${base}/query/check/`,
      summary: 'Whether a HogQL query can be run, without running it',
      scope: 'query:read',
      level: 'member',
      key_limit: QUERY_LIMIT,
      body: QueryCheckBody,
      examples: { 'While typing': { query: { kind: 'HogQLQuery', query: 'select evnt from events' } } },
      answers: { 200: QueryCheck },
      async handle({ services, project, body: { query } }) {
        try {
          const { columns, hogql } = checkHogql(services, project, query, 'query')
          return ok({ valid: true, errors: [], columns: [...columns], hogql })
        } catch (error) {
          const fault = faultOf(error)
          if (!fault) throw error
          return ok({ valid: false, errors: [fault], columns: null, hogql: null })
        }
      },
    }),
  ]
}

function language() {
  if (!made) {
    const text = JSON.stringify(QueryLanguage.parse(describeHogql()))
    made = { text, etag: `"${createHash('sha256').update(text).digest('hex').slice(0, 32)}"` }
  }
  return made
}

type Place = { start: number | null; end: number | null; did_you_mean: string | null }

/** The fault in the query's own text; whatever else is wrong in the body is an error like any other. */
function faultOf(error: unknown): (Place & { code: string; detail: string }) | null {
  if (!(error instanceof ApiError) || error.attr !== TEXT_FIELD) return null
  return { code: error.code, detail: error.detail, ...(error.extra as Place) }
}
