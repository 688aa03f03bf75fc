// Statements at a ClickHouse server, each a POST to its HTTP interface. ClickHouse keeps nothing between two of them.
import type { OutboundAnswer } from '../../../../platform/outbound/call.ts'
import { Refused, type DeliveryContext } from '../destination.ts'
import { callWarehouse } from '../warehouse/call.ts'
import { failure } from './faults.ts'
import type { ClickHouseConfig } from './kind.ts'

export type ClickHouseContext = Pick<
  DeliveryContext<ClickHouseConfig>,
  'config' | 'outbound' | 'settings' | 'signal'
>

/** Values for `{name:Type}` in a statement. */
export type Parameters = Record<string, string | number>

export type Session = {
  /** The rows of the answer; none for statements that have no result. */
  run(statement: string, parameters?: Parameters, settings?: Record<string, string>): Promise<unknown[][]>
  /** `statement` ends with the format of the data. */
  insert(statement: string, data: Uint8Array): Promise<void>
}

const STATEMENT_LIMIT_S = 900
/** The server gives up first, so that its own words reach the owner. */
const CALL_LIMIT_MS = (STATEMENT_LIMIT_S + 30) * 1000
const MAX_ANSWER_BYTES = 16 * 1024 * 1024

export function openSession(context: ClickHouseContext): Session {
  const { config, outbound, signal } = context
  assertEncrypted(context)
  const login = Buffer.from(`${config.user}:${config.password ?? ''}`).toString('base64')
  const send = async (query: Record<string, string>, body: string | Uint8Array) => {
    const url = new URL(config.url)
    // With `wait_end_of_query` no error can follow an answer that began well.
    const settings = { wait_end_of_query: '1', max_execution_time: String(STATEMENT_LIMIT_S) }
    url.search = new URLSearchParams({ ...settings, ...query }).toString()
    const answer = await callWarehouse(outbound, 'ClickHouse', url.href, {
      method: 'POST',
      headers: { authorization: `Basic ${login}` },
      body,
      max_bytes: MAX_ANSWER_BYTES,
      timeout_ms: CALL_LIMIT_MS,
      signal,
    })
    if (answer.status !== 200) throw failure(answer, config)
    return answer
  }
  return {
    async run(statement, parameters = {}, settings = {}) {
      const values = Object.entries(parameters).map(([name, value]) => [`param_${name}`, String(value)])
      const query = { default_format: 'JSONCompactEachRow', ...settings, ...Object.fromEntries(values) }
      return rowsOf(await send(query, statement))
    },
    async insert(statement, data) {
      await send({ query: statement }, data)
    },
  }
}

/** The password and the events would travel in the clear. */
function assertEncrypted({ config, settings }: ClickHouseContext): void {
  if (settings.allow_plaintext || new URL(config.url).protocol === 'https:') return
  throw new Refused(
    'ClickHouse is called over https only. Use its https address (port 8443), or have ALLOW_PLAINTEXT switched on for this server.',
  )
}

function rowsOf({ body }: OutboundAnswer): unknown[][] {
  try {
    const lines = body.toString('utf8').split('\n')
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as unknown[])
  } catch {
    throw new Refused(
      'The server at this address does not answer as ClickHouse does. Check the address: ClickHouse serves HTTP on port 8123, HTTPS on 8443.',
    )
  }
}
