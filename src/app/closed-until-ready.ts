// The moment between taking the port and having an owner. Called by serve.ts.
import type { FastifyInstance } from 'fastify'
import { ApiError } from '../platform/http/errors.ts'

/**
 * The port is taken before the first owner is made, lest a taken one swallow the credentials; but until there is an
 * owner nobody is let in, lest a stranger sign up as the first user.
 */
export function closedUntilReady(app: FastifyInstance): () => void {
  let isOpen = false
  app.addHook('onRequest', (request, reply, done) => {
    if (isOpen || request.url === '/_livez') done()
    else if (request.url === '/_readyz')
      void reply.code(503).send({ status: 'not ready', missing: ['start'] })
    else done(new ApiError('unavailable', 'The server is starting.', null, { 'retry-after': '1' }))
  })
  return () => {
    isOpen = true
  }
}
