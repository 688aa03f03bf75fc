// Any web page may send to these paths: their answers, errors included, say so, and other methods are refused alike.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { StoreBusy } from '../../../platform/event-store/event-store.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { Refusal } from './refusal.ts'

type Answer = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

const METHODS = 'GET, POST, OPTIONS'
const PREFLIGHT_LIFETIME_S = 86_400

/** Answers GET and POST on a path, with or without a trailing slash. */
export function addOpenPath(app: FastifyInstance, path: string, answer: Answer): void {
  app.all(path, async (request, reply) => {
    allowOrigin(request, reply)
    if (request.method === 'OPTIONS') return reply.code(204).send()
    if (request.method !== 'GET' && request.method !== 'POST')
      throw new ApiError('method_not_allowed', `${request.method} is not offered here.`, null, {
        allow: METHODS,
      })
    try {
      return await answer(request, reply)
    } catch (error) {
      throw toApiError(error)
    }
  })
}

function allowOrigin({ headers }: FastifyRequest, reply: FastifyReply): void {
  const { origin } = headers
  reply.header('vary', 'Origin')
  if (origin === undefined) return
  reply.header('access-control-allow-origin', origin)
  reply.header('access-control-allow-credentials', 'true')
  reply.header('access-control-allow-methods', METHODS)
  reply.header('access-control-max-age', PREFLIGHT_LIFETIME_S)
  const asked = headers['access-control-request-headers']
  if (asked !== undefined) reply.header('access-control-allow-headers', asked)
}

function toApiError(error: unknown): unknown {
  if (error instanceof StoreBusy)
    return new ApiError('store_busy', 'Too much is waiting to be stored: try again.', null, {
      'retry-after': '1',
    })
  if (!(error instanceof Refusal)) return error
  const { code, detail, attr } = error.fault
  const isAboutToken = code === 'missing_api_key' || code === 'invalid_api_key'
  return new ApiError(code, detail, attr, isAboutToken ? { 'www-authenticate': 'Bearer' } : {})
}
