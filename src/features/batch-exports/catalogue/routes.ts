// The kinds of destinations there are. The same call below both names of a project.
import { ok, route } from '../../../platform/http/route.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import { describeKind } from './describe.ts'
import { DestinationDescriptions } from './schema.ts'

type Base = '/api/projects/:project_id' | '/api/environments/:project_id'

export const destinationRoutes = [
  destinationsRoute('/api/projects/:project_id'),
  destinationsRoute('/api/environments/:project_id'),
]

function destinationsRoute(base: Base) {
  return route({
    method: 'GET',
    path: `${base}/batch_exports/destinations/`,
    summary: 'The kinds of destinations: what each takes, as JSON Schema, and how it is tested',
    scope: 'batch_export:read',
    level: 'member',
    answers: { 200: DestinationDescriptions },
    async handle({ services }) {
      const kinds = [...DESTINATIONS.values()]
      return ok({ results: await Promise.all(kinds.map((kind) => describeKind(kind, services.settings))) })
    },
  })
}
