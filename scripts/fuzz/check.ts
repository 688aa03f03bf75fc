// What every answer must be, whatever was asked: no fault of ours, as the document says, with the headers of its status.
import type { Injected } from '../../test/harness/inject.ts'
import { assertMatchesDocument } from '../../test/harness/contract.ts'
import { captureOperations } from './capture.ts'
import type { FuzzRequest } from './requests.ts'

const CAPTURE_STATUSES = new Set([200, 204, 400, 401, 405, 413, 503])
/** What is told to whoever may try again, and when. */
const LATER = new Set([503, 504])
// A token in the path can be too long, or hold what makes another path of it.
const CONFIG_STATUSES = new Set([...CAPTURE_STATUSES, 404])

/** Gives what the body says; throws when the answer should not be. */
export function checkAnswer({ operation, method, url, headers }: FuzzRequest, answer: Injected): unknown {
  const status = answer.statusCode
  if (status >= 500 && !LATER.has(status))
    throw new Error(`${method} ${url} answered ${status}: ${answer.body}`)
  const contentType = String(answer.headers['content-type'] ?? '')
  const body = method === 'HEAD' ? null : bodyOf(answer.body, contentType)
  // `inject` resolves `..` in a path, as browsers do; what counts is where the request went.
  const { pathname, search } = new URL(`http://longshore.test${url}`)
  if (captureOperations.includes(operation)) {
    const { origin } = headers
    assertCaptureAnswer(pathname, status, body)
    if (status !== 404 && answer.headers['access-control-allow-origin'] !== origin)
      throw new Error(`${method} ${url} does not let ${origin} read its answer of ${status}`)
    // They stand in no document; of a path it does not know only errors are looked at.
    assertMatchesDocument(method, `/api/not-in-the-document${pathname}`, status, body, contentType)
  } else {
    assertMatchesDocument(method, pathname + search, status, body, contentType)
  }
  assertHeaders(status, body, answer.headers)
  return body
}

function bodyOf(text: string, contentType: string): unknown {
  if (text === '') return null
  return contentType.startsWith('application/json') ? JSON.parse(text) : text
}

function assertCaptureAnswer(path: string, status: number, body: unknown): void {
  const isConfig = path.startsWith('/array/')
  if (!(isConfig ? CONFIG_STATUSES : CAPTURE_STATUSES).has(status))
    throw new Error(`${path} answered ${status}, which is not an answer to captured data`)
  if (status === 204 && body !== null) throw new Error(`${path} answered 204 with a body`)
  if (status !== 200 || body === null) return
  const expected = isConfig || /^\/(decide|flags)\b/.test(path) ? 'supportedCompression' : '{"status":1}'
  if (!JSON.stringify(body).includes(expected)) throw new Error(`${path} answered ${JSON.stringify(body)}`)
}

function assertHeaders(status: number, body: unknown, headers: Record<string, unknown>): void {
  // After the right password the second factor is asked for: no header names a scheme for that.
  const isHalfWay = (body as { code?: unknown } | null)?.code === '2fa_required'
  const demanded = isHalfWay
    ? undefined
    : { 401: 'www-authenticate', 405: 'allow', 429: 'retry-after', 503: 'retry-after', 504: 'retry-after' }[
        status
      ]
  for (const name of ['x-request-id', 'x-content-type-options', ...(demanded ? [demanded] : [])]) {
    if (headers[name] === undefined) throw new Error(`the answer of ${status} has no header ${name}`)
  }
}
