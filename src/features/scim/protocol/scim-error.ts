// What a directory is told when something cannot be done: SCIM's own shape of an error (RFC 7644 §3.12).
import { toApiError, type ApiError } from '../../../platform/http/errors.ts'

export const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error'

type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'

export class ScimError extends Error {
  constructor(
    readonly status: number,
    readonly scim_type: ScimType | null,
    readonly detail: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(detail)
  }

  body(): Record<string, unknown> {
    return {
      schemas: [ERROR_SCHEMA],
      ...(this.scim_type === null ? {} : { scimType: this.scim_type }),
      detail: this.detail,
      status: String(this.status),
    }
  }
}

/** 400 */
export function refused(scimType: ScimType, detail: string): ScimError {
  return new ScimError(400, scimType, detail)
}

export function taken(detail: string): ScimError {
  return new ScimError(409, 'uniqueness', detail)
}

export function missing(what: string): ScimError {
  return new ScimError(404, null, `There is no such ${what} here.`)
}

/** Faults of ours keep their status and say nothing of their cause. */
export function toScimError(error: unknown): ScimError {
  if (error instanceof ScimError) return error
  const { status, code, detail, headers }: ApiError = toApiError(error)
  const isUnreadable = code === 'parse_error' || code === 'invalid_input'
  return new ScimError(status, isUnreadable ? 'invalidSyntax' : null, detail, headers)
}
