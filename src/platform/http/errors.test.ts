import { describe, expect, it } from 'vitest'
import { RowGone } from '../db/database.ts'
import { ERROR_CODES, errorType, type ErrorCode } from './error-codes.ts'
import { ApiError, denied, invalid, notFound, throttled, toApiError, unauthenticated } from './errors.ts'
import { errorsPage } from './openapi-errors.ts'

describe('the type beside a code', () => {
  it.each<[ErrorCode, number, string]>([
    ['parse_error', 400, 'invalid_request'],
    ['required', 400, 'validation_error'],
    ['invalid_credentials', 400, 'validation_error'],
    ['not_authenticated', 401, 'authentication_error'],
    ['2fa_required', 401, 'authentication_error'],
    ['permission_denied', 403, 'authentication_error'],
    ['two_factor_setup_required', 403, 'authentication_error'],
    ['not_found', 404, 'invalid_request'],
    ['method_not_allowed', 405, 'invalid_request'],
    ['request_too_large', 413, 'invalid_request'],
    ['unsupported_media_type', 415, 'invalid_request'],
    ['idempotency_mismatch', 422, 'invalid_request'],
    ['throttled', 429, 'throttled_error'],
    ['error', 500, 'server_error'],
    ['unavailable', 503, 'server_error'],
  ])('%s (%i) is %s', (code, status, type) => {
    expect(new ApiError(code, 'x').status).toBe(status)
    expect(errorType(code)).toBe(type)
  })
})

describe('what slices throw', () => {
  it.each<[ApiError, object, object]>([
    [
      invalid('name', 'blank', 'Say something.'),
      { type: 'validation_error', code: 'blank', detail: 'Say something.', attr: 'name' },
      {},
    ],
    [
      denied('No.'),
      { type: 'authentication_error', code: 'permission_denied', detail: 'No.', attr: null },
      {},
    ],
    [
      notFound(),
      { type: 'invalid_request', code: 'not_found', detail: 'Nothing found here.', attr: null },
      {},
    ],
    [
      throttled(1500),
      {
        type: 'throttled_error',
        code: 'throttled',
        detail: 'Request was throttled. Expected available in 2 seconds.',
        attr: null,
      },
      { 'retry-after': '2' },
    ],
    [throttled(0), expect.anything() as object, { 'retry-after': '1' }],
    [unauthenticated('not_authenticated'), expect.anything() as object, { 'www-authenticate': 'Bearer' }],
    [unauthenticated('authentication_failed'), expect.anything() as object, { 'www-authenticate': 'Bearer' }],
  ])('%s', (error, body, headers) => {
    expect(error.body()).toEqual(body)
    expect(error.headers).toEqual(headers)
  })
})

describe('toApiError', () => {
  const coded = (code: string) => Object.assign(new Error('secret detail'), { code })

  it.each<[string, unknown, ErrorCode]>([
    ['what was thrown on purpose', notFound(), 'not_found'],
    ['a row that has just gone', new RowGone(), 'not_found'],
    ['a parent row that has just gone', coded('23503'), 'not_found'],
    ['connection refused', coded('ECONNREFUSED'), 'unavailable'],
    ['no socket there', coded('ENOENT'), 'unavailable'],
    ['PostgreSQL shutting down', coded('57P01'), 'unavailable'],
    ['PostgreSQL starting', coded('57P03'), 'unavailable'],
    ['too many connections', coded('53300'), 'unavailable'],
    ['a connection lost in the middle', new Error('Connection terminated unexpectedly'), 'unavailable'],
    ['no connection free in time', new Error('timeout exceeded when trying to connect'), 'unavailable'],
    [
      'a question to a store that has no time for it',
      AbortSignal.abort(new DOMException('secret detail', 'TimeoutError')).reason,
      'store_busy',
    ],
    ['rows that others change at the same time', coded('40001'), 'store_busy'],
    ['a deadlock that came back with every try', coded('40P01'), 'store_busy'],
    ['the disk of PostgreSQL full', coded('53100'), 'disk_full'],
    ['no room for a file', coded('ENOSPC'), 'disk_full'],
    [
      'no room for events',
      new Error('Could not write file "secret detail": No space left on device'),
      'disk_full',
    ],
    ['a wrong statement', coded('42601'), 'error'],
    ['a unique constraint nobody expected', coded('23505'), 'error'],
    ['a bug', new TypeError('x is not a function'), 'error'],
    ['no error at all', 'text', 'error'],
    ['nothing', undefined, 'error'],
  ])('%s', (_what, thrown, code) => {
    const error = toApiError(thrown)
    expect(error.code).toBe(code)
    expect(JSON.stringify(error.body())).not.toContain('secret detail')
  })
})

describe('errorsPage', () => {
  it('has one row per code', () => {
    const rows = errorsPage().split('\n').slice(2)
    expect(rows).toHaveLength(Object.keys(ERROR_CODES).length)
    expect(rows.map((row) => row.split(/ *\| */).slice(1, 5))).toContainEqual([
      '404',
      '`not_found`',
      '`invalid_request`',
      'There is no such path or thing, or it is not yours to see.',
    ])
  })
})
