// Paths for any web page: their answers, errors included, say so, and other methods are refused alike.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { methodNotAllowed } from './errors.ts'

export type OpenAnswer = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

const PREFLIGHT_LIFETIME_S = 86_400

/** With or without a trailing slash. */
export function addOpenPath(
  app: FastifyInstance,
  path: string,
  methods: readonly ('GET' | 'HEAD' | 'POST' | 'DELETE')[],
  answer: OpenAnswer,
): void {
  const allowed: readonly string[] = [...methods, 'OPTIONS']
  app.all(path, async (request, reply) => {
    allowOrigin(request, reply, allowed.join(', '))
    if (request.method === 'OPTIONS') return reply.code(204).send()
    if (allowed.includes(request.method)) return answer(request, reply)
    throw methodNotAllowed(allowed.join(', '))
  })
}

function allowOrigin({ headers }: FastifyRequest, reply: FastifyReply, methods: string): void {
  const { origin } = headers
  reply.header('vary', 'Origin')
  if (origin === undefined) return
  reply.header('access-control-allow-origin', origin)
  reply.header('access-control-allow-credentials', 'true')
  reply.header('access-control-allow-methods', methods)
  reply.header('access-control-max-age', PREFLIGHT_LIFETIME_S)
  const asked = headers['access-control-request-headers']
  if (asked !== undefined) reply.header('access-control-allow-headers', asked)
}
