// The two ways in which an app cannot be had: something is wrong with what the address leads to, or nobody can say.
import { ApiError, invalid } from '../../../platform/http/errors.ts'

/** The author or the caller has to change something. */
export function badSource(detail: string): ApiError {
  return invalid('url', 'invalid_input', detail)
}

const DEFAULT_WAIT_S = 30
const MAX_WAIT_S = 3600

/** It may work later. */
export function sourceUnavailable(detail: string, wait_s = DEFAULT_WAIT_S): ApiError {
  const seconds = Math.min(Math.max(1, Math.ceil(wait_s)), MAX_WAIT_S)
  return new ApiError('source_unavailable', detail, null, { 'retry-after': String(seconds) })
}
