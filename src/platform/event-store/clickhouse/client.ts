// ClickHouse as the store speaks to it: statements with bound values, over its HTTP interface.
import {
  ClickHouseError,
  createClient,
  type ClickHouseClient,
  type ClickHouseSettings,
} from '@clickhouse/client'
import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { Parameter } from '../event-store.ts'

/** `parameters` are bound to `{p1:…}`, `{p2:…}` and so on, `named` to their names. */
export type Statement = {
  sql: string
  parameters: readonly Parameter[]
  named?: Readonly<Record<string, unknown>>
}

export type ClickHouseOptions = {
  /** `http://user:password@host:8123/database` */
  url: string
  /** Tables are replicated by this cluster, if one is named. */
  cluster: string | null
}

export type ClickHouse = {
  cluster: string | null
  /** Carries out a statement that answers nothing. */
  command(sql: string): Promise<void>
  /** Rows in the order of the columns. The token keeps a batch that is sent again out. */
  insert(insertion: Insertion): Promise<void>
  /** All rows of an answer, their values as JSON has them; 64-bit integers as text. */
  rows(statement: Statement, options?: AskOptions): Promise<unknown[][]>
  /** Rows as they come: the first two are the names and the types of the columns. */
  answer(statement: Statement, options?: AskOptions): Promise<AsyncIterable<readonly unknown[][]>>
  /** Bytes of an answer in one of ClickHouse's formats. They begin once the answer is complete. */
  bytes(statement: Statement & { format: string }, options?: AskOptions): Promise<Readable>
  close(): Promise<void>
}

export type Insertion = {
  table: string
  columns: readonly string[]
  rows: readonly (readonly unknown[])[]
  token: string
  /** Whether the rows arrive is unknown once it has ended. */
  signal?: AbortSignal | undefined
}

export type AskOptions = { signal?: AbortSignal; settings?: ClickHouseSettings }

/** A statement may take hours when it writes an export; one without a limit of its own is stopped by whoever asked. */
const REQUEST_TIMEOUT_MS = 6 * 3_600_000

const INSERT_TRIES = 3

/** What every statement of ours stands on. */
const SETTINGS: ClickHouseSettings = {
  // Compiled `min` and `max` take times before 1970 for the latest, from the fourth statement of a shape on.
  compile_aggregate_expressions: 0,
  // What an outer join does not find is NULL.
  join_use_nulls: 1,
  // What a grouping leaves out, too.
  group_by_use_nulls: 1,
  allow_experimental_correlated_subqueries: 1,
  session_timezone: 'UTC',
  output_format_json_quote_64bit_integers: 1,
  // Nobody is told that an event is stored before it is.
  async_insert: 0,
  // One who no longer listens needs no answer.
  cancel_http_readonly_queries_on_client_close: 1,
}

/** With replicas: what was stored is on most of them, and is read from one that has it. */
const REPLICATED: ClickHouseSettings = { insert_quorum: 'auto', select_sequential_consistency: '1' }

export function openClickHouse({ url, cluster }: ClickHouseOptions): ClickHouse {
  const settings = cluster === null ? SETTINGS : { ...SETTINGS, ...REPLICATED }
  const client = createClient({
    url,
    application: 'longshore',
    request_timeout: REQUEST_TIMEOUT_MS,
    clickhouse_settings: settings,
    // Ids of a batch, and of batches that are not read, may be thousands.
    use_multipart_params_auto: true,
    keep_alive: { enabled: true, idle_socket_ttl: 2_000 },
    log: { level: 127 },
  })
  return {
    cluster,
    async command(sql) {
      await client.command({ query: sql })
    },
    async insert({ table, columns, rows, token, signal }) {
      const insertion = {
        table,
        columns: columns.map((name) => `\`${name}\``) as [string, ...string[]],
        values: rows,
        format: 'JSONCompactEachRow',
        clickhouse_settings: { insert_deduplication_token: token },
        ...(signal ? { abort_signal: signal } : {}),
      } as const
      await overLostConnections(() => client.insert(insertion), signal)
    },
    async rows(statement, options = {}) {
      const answer = await client.query({ ...asked(statement, options), format: 'JSONCompactEachRow' })
      // The client forgets the signal once an answer has begun.
      const stop = () => answer.close()
      options.signal?.addEventListener('abort', stop)
      try {
        return await answer.json<unknown[]>()
      } finally {
        options.signal?.removeEventListener('abort', stop)
      }
    },
    async answer(statement, options = {}) {
      const answer = await client.query({
        ...asked(statement, options),
        format: 'JSONCompactEachRowWithNamesAndTypes',
      })
      return rowsOf(answer.stream<unknown[]>())
    },
    async bytes({ format, ...statement }, options = {}) {
      const { query, ...rest } = asked(statement, options)
      const clickhouse_settings = { ...rest.clickhouse_settings, wait_end_of_query: 1 as const }
      const { stream } = await client.exec({
        ...rest,
        clickhouse_settings,
        query: `${query}\nFORMAT ${format}`,
      })
      return stream
    },
    close: () => client.close(),
  }
}

/** The token makes a second try harmless, whether or not the first came through. */
async function overLostConnections<T>(attempt: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries++) {
    // The client does not look at a signal that has ended already.
    signal?.throwIfAborted()
    try {
      return await attempt()
    } catch (error) {
      if (error instanceof ClickHouseError || tries === INSERT_TRIES) throw error
    }
  }
}

function asked({ sql, parameters, named = {} }: Statement, { signal, settings = {} }: AskOptions) {
  signal?.throwIfAborted()
  const numbered = parameters.map((value, index) => [`p${index + 1}`, value] as const)
  return {
    query: sql,
    query_params: { ...Object.fromEntries(numbered), ...named },
    query_id: randomUUID(),
    clickhouse_settings: settings,
    ...(signal ? { abort_signal: signal } : {}),
  }
}

async function* rowsOf(
  stream: ReturnType<Awaited<ReturnType<ClickHouseClient['query']>>['stream']>,
): AsyncIterable<readonly unknown[][]> {
  for await (const rows of stream as AsyncIterable<{ json(): unknown[] }[]>)
    yield rows.map((row) => row.json())
}
