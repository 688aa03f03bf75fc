// What client libraries ask for that is not here: each path answers that there is none of it, so that no library logs an
// error or asks again. Feature flags and settings are in flags.ts, definitions for servers in ../feature-flags/.
import type { FastifyInstance } from 'fastify'
import { readRawBody } from '../../../platform/http/body.ts'
import { addOpenPath } from '../../../platform/http/open-path.ts'
import type { Services } from '../../../platform/services.ts'
import { addCapturePath, answerAccepted } from './capture-path.ts'
import { assertToken } from './envelope.ts'
import { getProject, outerToken } from './request.ts'

const MAX_THROWN_AWAY = 1024 * 1024

/** Asked for with the project's token in the query. */
const EMPTY_LISTS: Record<string, object> = {
  '/api/early_access_features': { earlyAccessFeatures: [] },
  '/api/product_tours': { product_tours: [] },
  '/api/surveys': { surveys: [] },
  '/api/web_experiments': { experiments: [] },
}

/** Session replay, logs, metrics and traces: taken and thrown away, so that libraries do not send them again for ever. */
const THROWN_AWAY = ['/s', '/i/v1/logs', '/i/v1/metrics', '/i/v1/traces']

export function addAbsentFeatures(app: FastifyInstance, services: Services): void {
  for (const [path, none] of Object.entries(EMPTY_LISTS)) {
    addCapturePath(app, path, async (request) => {
      request.notes.project_id = (await getProject(services.db, assertToken(outerToken(request)))).id
      return none
    })
  }
  for (const path of THROWN_AWAY) {
    addCapturePath(app, path, async (request, reply) => {
      await readRawBody(request, MAX_THROWN_AWAY)
      return answerAccepted(request, reply)
    })
  }
  // Mobile libraries register devices for pushed messages here.
  addOpenPath(app, '/api/push_subscriptions', ['POST', 'DELETE'], async (request) => {
    await readRawBody(request, MAX_THROWN_AWAY)
    return { status: 1 }
  })
}
