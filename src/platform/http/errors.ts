// What slices throw when a request cannot be done, and the one place where it becomes a status and a body.
import { errorCode } from '../../lib/error-code.ts'
import { isConflict, isParentGone, RowGone } from '../db/database.ts'
import { ProjectGone, StoreBusy, StoreGone } from '../event-store/event-store.ts'
import { ERROR_CODES, errorType, type ErrorCode, type ErrorType } from './error-codes.ts'

/** `extra` is for programs: facts about the error that `detail` tells people. */
export type ErrorBody = {
  type: ErrorType
  code: string
  detail: string
  attr: string | null
  extra?: Readonly<Record<string, unknown>>
}

export class ApiError extends Error {
  readonly status: number
  constructor(
    readonly code: ErrorCode,
    readonly detail: string,
    readonly attr: string | null = null,
    readonly headers: Record<string, string> = {},
    readonly extra?: ErrorBody['extra'],
  ) {
    super(detail)
    this.status = ERROR_CODES[code][0]
  }

  body(): ErrorBody {
    const { code, detail, attr, extra } = this
    return { type: errorType(code), code, detail, attr, ...(extra ? { extra } : {}) }
  }
}

/** 400: a field, or the request as a whole when `attr` is null, is wrong. */
export function invalid(attr: string | null, code: ErrorCode, detail: string): ApiError {
  return new ApiError(code, detail, attr)
}

export function denied(detail = 'You may not do this.', code: ErrorCode = 'permission_denied'): ApiError {
  return new ApiError(code, detail)
}

/** 409: what others depend on stays. */
export function conflict(detail: string): ApiError {
  return new ApiError('conflict', detail)
}

export function notFound(detail = 'Nothing found here.'): ApiError {
  return new ApiError('not_found', detail)
}

/** @param allow the methods that there are, as in the header of that name */
export function methodNotAllowed(allow: string): ApiError {
  return new ApiError('method_not_allowed', `This address takes ${allow} only.`, null, { allow })
}

/** No route has this path: a slip of the caller's, unlike an object that is not there. */
export function unknownPath(): ApiError {
  return new ApiError('not_found', 'There is no such path. /docs lists all paths of the API.')
}

export function unauthenticated(
  code: 'not_authenticated' | 'authentication_failed',
  detail = code === 'not_authenticated' ? NO_KEY : WRONG_KEY,
): ApiError {
  return new ApiError(code, detail, null, { 'www-authenticate': 'Bearer' })
}

const NO_KEY = 'Send an API key as `Authorization: Bearer <key>`, or sign in.'
const WRONG_KEY = 'The API key is wrong, expired, or its owner is deactivated.'

export function throttled(wait_ms: number): ApiError {
  const seconds = Math.max(1, Math.ceil(wait_ms / 1000))
  return new ApiError('throttled', `Request was throttled. Expected available in ${seconds} seconds.`, null, {
    'retry-after': String(seconds),
  })
}

// Connection refused or lost, server shutting down or starting: the store is away, the request was not at fault.
const STORE_AWAY = /^(ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|ETIMEDOUT|57P0[123]|08\d{3}|53300)$/
const STORE_AWAY_TEXT =
  /Connection terminated|connection error and is not queryable|timeout exceeded when trying to connect/

// PostgreSQL and the file system say it by a code, the event store in words.
const DISK_FULL = /^(53100|ENOSPC)$/
const DISK_FULL_TEXT = /no space left on device|disk quota exceeded/i

/** Somebody waits for an answer, so questions to the store have limits of their own (AbortSignal.timeout). */
const isOutOfTime = (error: unknown) => error instanceof Error && error.name === 'TimeoutError'

/** Anything that is not an ApiError is a fault of ours or of a store, told apart so that clients know to retry. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof StoreBusy || isOutOfTime(error)) {
    return new ApiError('store_busy', 'The event store is busy: try again shortly.', null, {
      'retry-after': '1',
    })
  }
  if (isConflict(error)) {
    return new ApiError('store_busy', 'Others are changing the same things: try again shortly.', null, {
      'retry-after': '1',
    })
  }
  if (error instanceof RowGone || error instanceof ProjectGone || isParentGone(error)) return notFound()
  const text = error instanceof Error ? error.message : ''
  if (DISK_FULL.test(errorCode(error)) || DISK_FULL_TEXT.test(text)) {
    return new ApiError(
      'disk_full',
      "The server's disk is full, and nothing was stored: send it again when its operator has made room.",
      null,
      { 'retry-after': '30' },
    )
  }
  const isGone = error instanceof StoreGone
  if (isGone || STORE_AWAY.test(errorCode(error)) || STORE_AWAY_TEXT.test(text)) {
    return new ApiError(
      'unavailable',
      'A store is not answering: try again, with the same Idempotency-Key if you sent one.',
      null,
      {
        'retry-after': '1',
      },
    )
  }
  return new ApiError('error', 'A server error occurred.')
}
