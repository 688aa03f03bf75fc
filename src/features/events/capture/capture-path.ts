// The open paths of client libraries, and how they are told what was refused.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { StoreBusy } from '../../../platform/event-store/event-store.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { addOpenPath, type OpenAnswer } from '../../../platform/http/open-path.ts'
import { NoRoom } from '../no-room.ts'
import { Refusal } from './refusal.ts'
import { parameter } from './request.ts'

/** Answers GET and POST. */
export function addCapturePath(app: FastifyInstance, path: string, answer: OpenAnswer): void {
  addOpenPath(app, path, ['GET', 'POST'], async (request, reply) => {
    try {
      return await answer(request, reply)
    } catch (error) {
      throw toApiError(error)
    }
  })
}

/** Beacons want no body: the page that sent them is gone. */
export function answerAccepted(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return parameter(request, 'beacon') === '1' ? reply.code(204).send() : reply.send({ status: 1 })
}

function toApiError(error: unknown): unknown {
  if (error instanceof NoRoom)
    return new ApiError('store_busy', error.detail, null, { 'retry-after': String(error.retry_after_s) })
  if (error instanceof StoreBusy)
    return new ApiError('store_busy', 'Too much is waiting to be stored: try again.', null, {
      'retry-after': '1',
    })
  if (!(error instanceof Refusal)) return error
  const { code, detail, attr } = error.fault
  const isAboutToken = code === 'missing_api_key' || code === 'invalid_api_key'
  return new ApiError(code, detail, attr, isAboutToken ? { 'www-authenticate': 'Bearer' } : {})
}
