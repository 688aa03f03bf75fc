// Databricks' REST API, as far as deliveries need it: calls, and what its errors mean for a run.
import type { Dispatcher } from 'undici'
import type { OutboundAnswer } from '../../../../platform/outbound/call.ts'
import type { JsonObject } from '../../../../lib/json-object.ts'
import { Passing, Refused, type DeliveryContext } from '../destination.ts'
import { bodyOf, callWarehouse, keepToken, readToken, retryAfterMs, textIn } from '../warehouse/call.ts'
import { said } from '../warehouse/said.ts'
import type { DatabricksConfig } from './kind.ts'

export type DatabricksContext = Pick<DeliveryContext<DatabricksConfig>, 'config' | 'outbound' | 'signal'>

/** Where a workspace is served, from its host name. */
export type WorkspaceUrl = (server_hostname: string) => string

export type Call = {
  method: Dispatcher.HttpMethod
  body?: Uint8Array | JsonObject
  /** Statuses that are an answer and not an error. */
  expect?: readonly number[]
}

export type DatabricksApi = {
  context: DatabricksContext
  call(path: string, call: Call): Promise<JsonObject>
}

const CALL_LIMIT_MS = 60_000
const UPLOAD_LIMIT_MS = 900_000
const MAX_ANSWER_BYTES = 32 * 1024 * 1024

export function openApi(workspaceUrl: WorkspaceUrl, context: DatabricksContext): DatabricksApi {
  const { config, outbound, signal } = context
  const base_url = workspaceUrl(config.server_hostname)
  const token = keepToken(async () => {
    const login = Buffer.from(`${config.client_id}:${config.client_secret}`).toString('base64')
    const answer = await callWarehouse(outbound, 'Databricks', `${base_url}/oidc/v1/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: `Basic ${login}` },
      body: 'grant_type=client_credentials&scope=all-apis',
      signal,
    })
    return readToken(answer, 'service principal')
  })
  const call = async (path: string, { method, body, expect = [] }: Call) => {
    const is_file = body instanceof Uint8Array
    const answer = await callWarehouse(outbound, 'Databricks', `${base_url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${await token()}`,
        'content-type': is_file ? 'application/octet-stream' : 'application/json',
      },
      ...(body !== undefined && { body: is_file ? body : JSON.stringify(body) }),
      max_bytes: MAX_ANSWER_BYTES,
      timeout_ms: is_file ? UPLOAD_LIMIT_MS : CALL_LIMIT_MS,
      signal,
    })
    const is_good = (answer.status >= 200 && answer.status < 300) || expect.includes(answer.status)
    if (!is_good) throw failure(answer, config)
    return bodyOf(answer)
  }
  return { context, call }
}

/** Reasons that pass by themselves. */
const PASSING_CODES = new Set([
  'ABORTED',
  'DEADLINE_EXCEEDED',
  'INTERNAL_ERROR',
  'IO_ERROR',
  'REQUEST_LIMIT_EXCEEDED',
  'RESOURCE_EXHAUSTED',
  'SERVICE_UNDER_MAINTENANCE',
  'TEMPORARILY_UNAVAILABLE',
  'WORKSPACE_TEMPORARILY_UNAVAILABLE',
])

function failure(answer: OutboundAnswer, config: DatabricksConfig): Error {
  const body = bodyOf(answer)
  const code = textIn(body, 'error_code')
  const message = textIn(body, 'message') || code || `status ${answer.status}`
  if (answer.status === 429 || answer.status >= 500) {
    return new Passing(inOurWords(message, config), retryAfterMs(answer))
  }
  return meaning(code, message, config)
}

const ADVICE: Readonly<Record<string, string>> = {
  PERMISSION_DENIED: 'Grant it to the service principal.',
  UNAUTHENTICATED: 'Send the credentials of the service principal again.',
}

/** Another writer at the same table, and files that another attempt has dropped, are told apart by the text alone. */
export function meaning(code: string, message: string, config: DatabricksConfig): Error {
  const passes = PASSING_CODES.has(code) || /CONCURRENT|PATH_NOT_FOUND/.test(message)
  return passes
    ? new Passing(inOurWords(message, config))
    : new Refused(inOurWords(message, config, ADVICE[code]))
}

function inOurWords(message: string, config: DatabricksConfig, advice?: string): string {
  return said('Databricks', message, [config.client_id, config.client_secret], advice)
}
