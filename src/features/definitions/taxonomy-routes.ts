// mcp_tools/read_taxonomy/: the catalogue for agents.
import { denied } from '../../platform/http/errors.ts'
import { ok, route } from '../../platform/http/route.ts'
import { hasScope } from '../../platform/http/scopes.ts'
import { ToolAnswer, toolAnswer } from '../events/tool-answer.ts'
import { readTaxonomy } from './taxonomy.ts'
import { ReadTaxonomy, SCOPES_OF_KIND } from './taxonomy-schema.ts'

type Base = '/api/projects/:project_id' | '/api/environments/:project_id'

const TAXONOMY_LIMIT = {
  name: 'taxonomy',
  rates: [
    { count: 120, window_ms: 60_000 },
    { count: 1200, window_ms: 3_600_000 },
  ],
}

export const taxonomyRoutes = [
  taxonomyRoute('/api/projects/:project_id'),
  taxonomyRoute('/api/environments/:project_id'),
]

function taxonomyRoute(base: Base) {
  return route({
    method: 'POST',
    path: `${base}/mcp_tools/read_taxonomy/`,
    summary: 'Read which events, properties and values there are, for agents',
    scope: 'event_definition:read',
    level: 'member',
    key_limit: TAXONOMY_LIMIT,
    may_time_out: true,
    body: ReadTaxonomy,
    examples: {
      'Which events there are': { args: { query: { kind: 'events' } } },
      'Properties of an event': { args: { query: { kind: 'event_properties', event_name: 'order paid' } } },
    },
    answers: { 200: ToolAnswer },
    async handle({ services, db, caller, project, body }) {
      const { query } = body.args
      const wanted = SCOPES_OF_KIND[query.kind]
      if (caller.kind !== 'session' && !wanted.some((scope) => hasScope(caller.key.scopes, scope)))
        throw denied(`The API key lacks the scope \`${wanted.join('` or `')}\`.`)
      return ok(await toolAnswer(() => readTaxonomy(services, db, project, query)))
    },
  })
}
