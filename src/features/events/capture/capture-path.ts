// The open paths of client libraries, and how they are told what was refused.
import type { FastifyInstance } from 'fastify'
import { StoreBusy } from '../../../platform/event-store/event-store.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { addOpenPath, type OpenAnswer } from '../../../platform/http/open-path.ts'
import { NoRoom } from '../no-room.ts'
import { Refusal } from './refusal.ts'

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
