// BigQuery works in jobs: waiting for one, and asking a question, which is one as well.
import { setTimeout as sleep } from 'node:timers/promises'
import { isObject, type JsonObject } from '../../../../lib/json-object.ts'
import { meaning, type BigQueryApi } from './api.ts'
import { listIn, objectIn, textIn } from '../warehouse/call.ts'

const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 10_000

/** Waits for the end of a job and gives it; what went wrong in it is the caller's to look at. */
export async function endOfJob(api: BigQueryApi, job_id: string, location: string): Promise<JsonObject> {
  const path = `/jobs/${encodeURIComponent(job_id)}?location=${encodeURIComponent(location)}`
  for (let wait_ms = FIRST_WAIT_MS; ; wait_ms = Math.min(wait_ms * 2, LONGEST_WAIT_MS)) {
    const { body } = await api.call(path)
    if (textIn(objectIn(body, 'status'), 'state') === 'DONE') return body
    await pause(wait_ms, api.context.signal)
  }
}

/** Null when the job did what it should. */
export function jobFailure(job: JsonObject, api: BigQueryApi): Error | null {
  const result = objectIn(objectIn(job, 'status'), 'errorResult')
  const reason = textIn(result, 'reason')
  return reason === '' ? null : meaning(reason, textIn(result, 'message') || reason, api.context.config)
}

export function jobId(job: JsonObject): string {
  return textIn(objectIn(job, 'jobReference'), 'jobId')
}

type QueryValue = string | number

export function queryParameters(values: Record<string, QueryValue>): unknown[] {
  return Object.entries(values).map(([name, value]) => ({
    name,
    parameterType: { type: typeof value === 'number' ? 'INT64' : 'STRING' },
    parameterValue: { value: String(value) },
  }))
}

const ANSWER_WITHIN_MS = 20_000

/** Rows as texts, as BigQuery gives them. */
export async function ask(
  api: BigQueryApi,
  location: string,
  query: string,
  values: Record<string, QueryValue>,
): Promise<(string | null)[][]> {
  const first = await api.call('/queries', {
    method: 'POST',
    body: {
      query,
      useLegacySql: false,
      location,
      timeoutMs: ANSWER_WITHIN_MS,
      parameterMode: 'NAMED',
      queryParameters: queryParameters(values),
    },
  })
  let answer = first.body
  const path = `/queries/${encodeURIComponent(jobId(answer))}?location=${encodeURIComponent(location)}`
  const rows: (string | null)[][] = []
  for (;;) {
    if (answer.jobComplete === true) rows.push(...listIn(answer, 'rows').map(rowValues))
    const page = textIn(answer, 'pageToken')
    if (answer.jobComplete === true && page === '') return rows
    const from = page === '' ? '' : `&pageToken=${encodeURIComponent(page)}`
    const next = await api.call(`${path}&timeoutMs=${ANSWER_WITHIN_MS}${from}`)
    answer = next.body
  }
}

function rowValues(row: unknown): (string | null)[] {
  const cells = isObject(row) ? listIn(row, 'f') : []
  return cells.map((cell) => (isObject(cell) && typeof cell.v === 'string' ? cell.v : null))
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
}
