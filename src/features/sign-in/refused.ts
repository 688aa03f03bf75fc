// A refusal that is answered rather than thrown: a request with an Idempotency-Key is one transaction, and what is thrown
// rolls it back, the counted failure included.
import type { ErrorCode } from '../../platform/http/error-codes.ts'
import { ApiError } from '../../platform/http/errors.ts'

export function refused(code: ErrorCode, detail: string, attr: string | null = null) {
  return { status: 400 as const, body: new ApiError(code, detail, attr).body() }
}
