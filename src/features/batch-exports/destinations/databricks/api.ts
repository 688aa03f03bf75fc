// Databricks' REST API, as far as deliveries need it: files of a volume, statements, and what errors mean for a run.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import type { OutboundAnswer } from '../../../../platform/outbound/call.ts'
import type { JsonObject } from '../../../../lib/json-object.ts'
import { scrub } from '../../scrub.ts'
import { Passing, Refused, type DeliveryContext } from '../destination.ts'
import { bodyOf, keepToken, listIn, objectIn, reach, readToken, retryAfterMs, textIn } from '../bigquery/reach.ts'
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

export type Parameters = Record<string, string | number>

export type DatabricksApi = {
  context: DatabricksContext
  call(path: string, call: Call): Promise<JsonObject>
  /** Rows as texts, as Databricks gives them. */
  run(statement: string, parameters?: Parameters): Promise<(string | null)[][]>
}

const CALL_LIMIT_MS = 60_000
const UPLOAD_LIMIT_MS = 900_000
const MAX_ANSWER_BYTES = 32 * 1024 * 1024

export function openApi(workspaceUrl: WorkspaceUrl, context: DatabricksContext): DatabricksApi {
  const { config, outbound, signal } = context
  const base_url = workspaceUrl(config.server_hostname)
  const token = keepToken(async () => {
    const login = Buffer.from(`${config.client_id}:${config.client_secret}`).toString('base64')
    const answer = await reach(outbound, 'Databricks', `${base_url}/oidc/v1/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: `Basic ${login}` },
      body: 'grant_type=client_credentials&scope=all-apis',
      signal,
    })
    return readToken(answer, 'service principal')
  })
  const call: DatabricksApi['call'] = async (path, { method, body, expect = [] }) => {
    const is_file = body instanceof Uint8Array
    const answer = await reach(outbound, 'Databricks', `${base_url}${path}`, {
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
  return { context, call, run: (statement, parameters = {}) => run(call, context, statement, parameters) }
}

const STATEMENTS = '/api/2.0/sql/statements/'
const ANSWER_WITHIN = '30s'
const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 10_000

async function run(
  call: DatabricksApi['call'],
  { config, signal }: DatabricksContext,
  statement: string,
  parameters: Parameters,
): Promise<(string | null)[][]> {
  let answer = await call(STATEMENTS, {
    method: 'POST',
    body: {
      warehouse_id: config.http_path.split('/').at(-1),
      statement,
      parameters: Object.entries(parameters).map(([name, value]) => ({
        name,
        value: String(value),
        type: typeof value === 'number' ? 'BIGINT' : 'STRING',
      })),
      wait_timeout: ANSWER_WITHIN,
      on_wait_timeout: 'CONTINUE',
      disposition: 'INLINE',
      format: 'JSON_ARRAY',
    },
  })
  const path = `${STATEMENTS}${encodeURIComponent(textIn(answer, 'statement_id'))}`
  for (let wait_ms = FIRST_WAIT_MS; ; wait_ms = Math.min(wait_ms * 2, LONGEST_WAIT_MS)) {
    const state = textIn(objectIn(answer, 'status'), 'state')
    if (state === 'SUCCEEDED') return listIn(objectIn(answer, 'result'), 'data_array') as (string | null)[][]
    if (state !== 'PENDING' && state !== 'RUNNING') throw statementFailure(answer, state, config)
    await sleep(wait_ms, undefined, { signal }).catch(() => signal.throwIfAborted())
    answer = await call(path, { method: 'GET' })
  }
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
    return new Passing(said(message, config), retryAfterMs(answer))
  }
  return meaning(code, message, config)
}

function statementFailure(answer: JsonObject, state: string, config: DatabricksConfig): Error {
  const error = objectIn(objectIn(answer, 'status'), 'error')
  if (state !== 'FAILED') return new Passing(`Databricks: the statement was stopped (${state.toLowerCase()}).`)
  return meaning(textIn(error, 'error_code'), textIn(error, 'message') || 'the statement failed', config)
}

/** Another writer at the same table is told apart by the text alone. */
function meaning(code: string, message: string, config: DatabricksConfig): Error {
  const passes = PASSING_CODES.has(code) || /CONCURRENT|concurrent update/.test(message)
  return passes ? new Passing(said(message, config)) : new Refused(said(message, config))
}

function said(message: string, { client_id, client_secret }: DatabricksConfig): string {
  return `Databricks: ${scrub(message, [client_id, client_secret])}`
}
