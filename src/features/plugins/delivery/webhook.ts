// The request that composeWebhook returns: read, sent, and what the answer means.
import { scrub } from '../../batch-exports/scrub.ts'
import { isObject } from '../../../lib/json-object.ts'
import type { OutboundAnswer } from '../../../platform/outbound/call.ts'
import { OutboundFailed, OutboundRefused, OutboundUnresolved } from '../../../platform/outbound/errors.ts'
import type { Outbound } from '../../../platform/outbound/outbound.ts'
import { AppFault } from '../../../platform/sandbox/sandbox.ts'
import type { Redactor } from '../../../platform/secrets/redactor.ts'

const HTTP_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'HEAD'] as const
type HttpMethod = (typeof HTTP_METHODS)[number]

export type WebhookRequest = {
  url: string
  method: HttpMethod
  headers: Record<string, string>
  body: string
}

export type WebhookAnswer =
  | { kind: 'taken' }
  /** May go better later. */
  | { kind: 'passing'; fault: AppFault; retry_after_ms: number | null }
  | { kind: 'refused'; fault: AppFault }

/** Receivers tell repeats by it. */
const EVENT_ID_HEADER = 'x-longshore-event-id'
const TIMEOUT_MS = 10_000
const MAX_BODY_BYTES = 1024 * 1024
const MAX_ANSWER_BYTES = 5 * 1024 * 1024
const MAX_SAID = 300

/** Null: nothing is to be sent. Throws AppFault. */
export function readWebhook(result: unknown): WebhookRequest | null {
  if (result === null || result === undefined) return null
  if (!isObject(result)) throw badResult('composeWebhook must return an object with url and body, or null.')
  const { url, body, headers, method } = result
  if (typeof url !== 'string') throw badResult('composeWebhook returned no url.')
  return { url, method: readMethod(method), headers: readHeaders(headers), body: readBody(body) }
}

export async function sendWebhook(
  outbound: Outbound,
  request: WebhookRequest,
  event_id: string,
  redactor: Redactor,
  signal: AbortSignal,
): Promise<WebhookAnswer> {
  const { url, method, headers, body } = request
  try {
    const answer = await outbound.fetch(url, {
      method,
      headers: { 'content-type': 'application/json', ...headers, [EVENT_ID_HEADER]: event_id },
      ...(method === 'GET' || method === 'HEAD' ? {} : { body }),
      timeout_ms: TIMEOUT_MS,
      max_bytes: MAX_ANSWER_BYTES,
      signal,
    })
    return classify(answer, redactor)
  } catch (error) {
    return judgeFailure(error)
  }
}

function readMethod(method: unknown): HttpMethod {
  if (method === undefined || method === null) return 'POST'
  const known = HTTP_METHODS.find((name) => typeof method === 'string' && name === method.toUpperCase())
  if (!known) throw badResult(`composeWebhook returned a method other than ${HTTP_METHODS.join(', ')}.`)
  return known
}

/** Names in lower case, so that each is there once. */
function readHeaders(headers: unknown): Record<string, string> {
  if (headers === undefined || headers === null) return {}
  if (!isObject(headers)) throw badResult('composeWebhook returned headers that are no object.')
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
        throw badResult('composeWebhook returned a header that is no text.')
      }
      return [name.toLowerCase(), String(value)]
    }),
  )
}

function readBody(body: unknown): string {
  const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body)
  if (Buffer.byteLength(text) > MAX_BODY_BYTES) {
    throw badResult('composeWebhook returned a body of more than 1 MB.')
  }
  return text
}

const badResult = (message: string) => new AppFault('result', message, { name: 'TypeError' })

function classify({ status, headers, body }: OutboundAnswer, redactor: Redactor): WebhookAnswer {
  if (status >= 200 && status < 300) return { kind: 'taken' }
  const message = `The endpoint answered with status ${status}`
  if (status < 400) {
    return { kind: 'refused', fault: webhookFault(`${message}, and redirects are not followed.`) }
  }
  const said = scrub(body.toString(), redactor).slice(0, MAX_SAID)
  const fault = webhookFault(said === '' ? `${message}.` : `${message}: ${said}`)
  const isPassing = status === 408 || status === 429 || status >= 500
  return isPassing
    ? { kind: 'passing', fault, retry_after_ms: retryAfterMs(headers) }
    : { kind: 'refused', fault }
}

function judgeFailure(error: unknown): WebhookAnswer {
  const passing = (message: string): WebhookAnswer => ({
    kind: 'passing',
    fault: webhookFault(message),
    retry_after_ms: null,
  })
  if (error instanceof OutboundUnresolved) return passing(error.message)
  if (error instanceof OutboundRefused) return { kind: 'refused', fault: webhookFault(error.message) }
  if (!(error instanceof OutboundFailed)) throw error
  const isTheirs = error.failure === 'connection' || error.failure === 'time_limit'
  return isTheirs ? passing(error.message) : { kind: 'refused', fault: webhookFault(error.message) }
}

const webhookFault = (message: string) => new AppFault('result', message, { name: 'WebhookError' })

/** Seconds or a date; a date is held against the answer's own, so that clocks need not agree. */
function retryAfterMs({ 'retry-after': after, date }: Record<string, string>): number | null {
  if (after === undefined) return null
  const ms = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.parse(date ?? '')
  return Number.isNaN(ms) ? null : Math.max(ms, 0)
}
