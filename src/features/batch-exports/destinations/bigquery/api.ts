// BigQuery's REST API, as far as deliveries need it: calls, and what its errors mean for a run.
import type { Dispatcher } from 'undici'
import type { OutboundAnswer, OutboundInit } from '../../../../platform/outbound/call.ts'
import type { JsonObject } from '../../../../lib/json-object.ts'
import { Passing, Refused, type DeliveryContext } from '../destination.ts'
import type { BigQueryConfig } from './kind.ts'
import { bodyOf, callWarehouse, listIn, objectIn, retryAfterMs, textIn } from '../warehouse/call.ts'
import { said } from '../warehouse/said.ts'
import { serviceAccountToken } from './token.ts'

export type BigQueryContext = Pick<DeliveryContext<BigQueryConfig>, 'config' | 'outbound' | 'signal'>

export type Call = {
  method?: Dispatcher.HttpMethod
  body?: unknown
  /** Statuses that are an answer and not an error. */
  expect?: readonly number[]
}

export type BigQueryApi = {
  context: BigQueryContext
  /** `path` follows `/bigquery/v2/projects/<project>`. */
  call(path: string, call?: Call): Promise<{ status: number; body: JsonObject }>
  /** Starts a load job with a file; `body` is multipart/related. */
  upload(body: Uint8Array, boundary: string): Promise<JsonObject>
}

/** One attempt at a run, as the parts of a delivery hand it on. */
export type Attempt = {
  api: BigQueryApi
  context: DeliveryContext<BigQueryConfig>
  location: string
  stage: string
  /** The job of the script, once there is one. */
  merge_job: string | null
}

const CALL_LIMIT_MS = 60_000
const UPLOAD_LIMIT_MS = 900_000
const MAX_ANSWER_BYTES = 16 * 1024 * 1024

export function openApi(base_url: string, context: BigQueryContext): BigQueryApi {
  const { config, outbound, signal } = context
  const token = serviceAccountToken(context)
  const project = `/bigquery/v2/projects/${encodeURIComponent(config.project_id)}`
  const send = async (url: string, init: OutboundInit) =>
    await callWarehouse(outbound, 'BigQuery', url, {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${await token()}` },
      max_bytes: MAX_ANSWER_BYTES,
      signal,
    })
  return {
    context,
    async call(path, { method = 'GET', body, expect = [] } = {}) {
      const answer = await send(`${base_url}${project}${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        body: body === undefined ? undefined : JSON.stringify(body),
        timeout_ms: CALL_LIMIT_MS,
      })
      if (!isSuccess(answer) && !expect.includes(answer.status)) throw failure(answer, config)
      return { status: answer.status, body: bodyOf(answer) }
    },
    async upload(body, boundary) {
      const answer = await send(`${base_url}/upload${project}/jobs?uploadType=multipart`, {
        method: 'POST',
        headers: { 'content-type': `multipart/related; boundary=${boundary}` },
        body,
        timeout_ms: UPLOAD_LIMIT_MS,
      })
      if (!isSuccess(answer)) throw failure(answer, config)
      return bodyOf(answer)
    },
  }
}

function isSuccess({ status }: OutboundAnswer): boolean {
  return status >= 200 && status < 300
}

/** Reasons that pass by themselves; `quotaExceeded` does when the day is over. */
const PASSING_REASONS = new Set([
  'backendError',
  'internalError',
  'jobBackendError',
  'jobInternalError',
  'jobRateLimitExceeded',
  'quotaExceeded',
  'rateLimitExceeded',
  'resourceInUse',
  'stopped',
  'timeout',
])

function failure(answer: OutboundAnswer, config: BigQueryConfig): Error {
  const error = objectIn(bodyOf(answer), 'error')
  const first = listIn(error, 'errors')[0] as JsonObject | undefined
  const message = textIn(error, 'message') || `status ${answer.status}`
  if (answer.status === 408 || answer.status === 429 || answer.status >= 500) {
    return new Passing(inOurWords(message, config), retryAfterMs(answer))
  }
  return meaning(textIn(first ?? {}, 'reason'), message, config)
}

const ADVICE: Readonly<Record<string, string>> = {
  accessDenied:
    'Grant the service account BigQuery Data Editor on the dataset and BigQuery Job User in the project.',
  notFound: 'Create it again, or correct the export.',
  invalidQuery: 'Change the table so that it takes the rows, then retry the run.',
}

/** What a reason of BigQuery's means for the run. */
export function meaning(reason: string, message: string, config: BigQueryConfig): Error {
  // A transaction that met another one is told apart by its text alone.
  const passes = PASSING_REASONS.has(reason) || /concurrent (update|transaction)/i.test(message)
  return passes
    ? new Passing(inOurWords(message, config))
    : new Refused(inOurWords(message, config, ADVICE[reason]))
}

/** Google's messages name the account, which counts as secret. */
function inOurWords(message: string, config: BigQueryConfig, advice?: string): string {
  const secrets = [config.private_key, config.private_key_id, config.client_email, config.token_uri]
  return said('BigQuery', message, secrets, advice)
}
