// Statements at a SQL warehouse of Databricks, one after the other.
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../../lib/json-object.ts'
import { Passing } from '../destination.ts'
import { listIn, objectIn, textIn } from '../warehouse/call.ts'
import { meaning, type DatabricksApi } from './api.ts'
import type { DatabricksConfig } from './kind.ts'

export type Parameters = Record<string, string | number>

export type Session = {
  api: DatabricksApi
  /** Rows as texts, as Databricks gives them. */
  run(statement: string, parameters?: Parameters): Promise<(string | null)[][]>
  /** Asks for the end of the statement that was going on, if any, through an API that may still call. */
  cancel(last: DatabricksApi): Promise<void>
}

const STATEMENTS = '/api/2.0/sql/statements/'
const ANSWER_WITHIN = '10s'
const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 10_000

export function openSession(api: DatabricksApi): Session {
  let going_on: string | null = null
  return {
    api,
    async run(statement, parameters = {}) {
      const answer = await api.call(STATEMENTS, {
        method: 'POST',
        body: request(api.context.config, statement, parameters),
      })
      going_on = `${STATEMENTS}${encodeURIComponent(textIn(answer, 'statement_id'))}`
      const rows = await resultOf(api, going_on, answer)
      going_on = null
      return rows
    },
    async cancel(last) {
      if (going_on !== null) await last.call(`${going_on}/cancel`, { method: 'POST', expect: [404] })
    },
  }
}

function request({ http_path }: DatabricksConfig, statement: string, parameters: Parameters): JsonObject {
  return {
    warehouse_id: http_path.split('/').at(-1),
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
  }
}

async function resultOf(api: DatabricksApi, path: string, first: JsonObject): Promise<(string | null)[][]> {
  const { config, signal } = api.context
  let answer = first
  for (let wait_ms = FIRST_WAIT_MS; ; wait_ms = Math.min(wait_ms * 2, LONGEST_WAIT_MS)) {
    const state = textIn(objectIn(answer, 'status'), 'state')
    if (state === 'SUCCEEDED') return await allRows(api, path, objectIn(answer, 'result'))
    if (state !== 'PENDING' && state !== 'RUNNING') throw statementFailure(answer, state, config)
    await sleep(wait_ms, undefined, { signal }).catch(() => signal.throwIfAborted())
    answer = await api.call(path, { method: 'GET' })
  }
}

/** A long result comes in chunks, each of which says which is the next. */
async function allRows(api: DatabricksApi, path: string, first: JsonObject): Promise<(string | null)[][]> {
  const rows: (string | null)[][] = []
  let chunk = first
  for (;;) {
    rows.push(...(listIn(chunk, 'data_array') as (string | null)[][]))
    const next = chunk.next_chunk_index
    if (typeof next !== 'number') return rows
    chunk = await api.call(`${path}/result/chunks/${next}`, { method: 'GET' })
  }
}

function statementFailure(answer: JsonObject, state: string, config: DatabricksConfig): Error {
  const error = objectIn(objectIn(answer, 'status'), 'error')
  if (state !== 'FAILED')
    return new Passing(`Databricks: somebody stopped the statement (${state.toLowerCase()}).`)
  return meaning(textIn(error, 'error_code'), textIn(error, 'message') || 'the statement failed', config)
}
