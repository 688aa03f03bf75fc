// The errors an operation can answer with, for the OpenAPI document: they follow from what its route declares.
import { ERROR_CODES, errorType, type ErrorCode } from './error-codes.ts'
import type { Route } from './route.ts'

type Json = Record<string, unknown>

const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
}

/** By status: a name in the document's components, when it comes, and one code as the example. */
const ERRORS: Record<number, { name: string; description: string; code: ErrorCode; headers?: Json }> = {
  400: {
    name: 'BadRequest',
    description: 'A parameter or field is wrong. `attr` names it. Nothing was changed.',
    code: 'required',
  },
  401: {
    name: 'Unauthenticated',
    description: 'No credentials were sent, or they are not valid.',
    code: 'not_authenticated',
    headers: { 'WWW-Authenticate': { description: 'Always `Bearer`.', schema: { type: 'string' } } },
  },
  403: {
    name: 'Denied',
    description: 'The credentials are valid but lack the scope, the level or a recent sign-in.',
    code: 'permission_denied',
  },
  404: {
    name: 'NotFound',
    description: 'Nothing has this id, or the caller may not see it.',
    code: 'not_found',
  },
  409: {
    name: 'Conflict',
    description: 'Others need what would go: `detail` says what to do first.',
    code: 'conflict',
  },
  413: { name: 'TooLarge', description: 'The body is over the limit.', code: 'request_too_large' },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body is neither JSON nor form data, or it is compressed.',
    code: 'unsupported_media_type',
  },
  422: {
    name: 'IdempotencyMismatch',
    description: 'The `Idempotency-Key` was used with another request.',
    code: 'idempotency_mismatch',
  },
  429: {
    name: 'Throttled',
    description: 'Too many requests.',
    code: 'throttled',
    headers: RETRY_AFTER,
  },
  503: {
    name: 'Unavailable',
    description: 'The server is busy, or a store does not answer. Nothing was lost: try again.',
    code: 'unavailable',
    headers: RETRY_AFTER,
  },
  504: {
    name: 'QueryTimeout',
    description: 'The query ran too long and was stopped: narrow it.',
    code: 'query_timeout',
    headers: RETRY_AFTER,
  },
}

export function errorResponses(route: Route): Json {
  return Object.fromEntries(
    statusesOf(route).map((status) => [status, { $ref: `#/components/responses/${ERRORS[status]!.name}` }]),
  )
}

/** The shared responses that `errorResponses` refers to. */
export function errorComponents(): Json {
  return Object.fromEntries(
    Object.values(ERRORS).map(({ name, description, code, headers }) => [
      name,
      { description, ...(headers ? { headers } : {}), content: errorContent(code) },
    ]),
  )
}

function errorContent(code: ErrorCode): Json {
  const attr = code === 'required' ? 'name' : null
  const example = { type: errorType(code), code, detail: ERROR_CODES[code][1], attr }
  return { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, example } }
}

function statusesOf(route: Route): number[] {
  const hasId = route.path.includes(':')
  const isUnsafe = route.method !== 'GET'
  const isOpen = route.access === 'anyone'
  const applies: Record<number, boolean> = {
    // `limit` and `offset`, and parameters that no database can hold, are looked at everywhere.
    400: true,
    // A key that is not valid is refused even where none is needed.
    401: true,
    // Browsers may change things from our own pages only.
    403: !isOpen || isUnsafe,
    404: hasId || route.item !== undefined,
    409: route.method === 'DELETE' && route.changes_account !== undefined,
    413: route.body !== undefined,
    415: route.body !== undefined,
    422: route.method === 'POST',
    429: true,
    503: true,
    504: route.may_time_out === true,
  }
  return Object.keys(ERRORS)
    .map(Number)
    .filter((status) => applies[status] && !(status in route.answers))
}

/** The table of docs/errors.md; cells are padded as the formatter would. */
export function errorsPage(): string {
  const rows = (Object.keys(ERROR_CODES) as ErrorCode[]).map((code) => {
    const [status, when] = ERROR_CODES[code]
    return [String(status), `\`${code}\``, `\`${errorType(code)}\``, when]
  })
  const table = [['Status', '`code`', '`type`', 'When'], ...rows]
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  const lines = table.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)))
  const rule = widths.map((width) => '-'.repeat(width))
  return lines
    .toSpliced(1, 0, rule)
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}
