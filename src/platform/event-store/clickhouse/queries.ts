// Questions of users: a few at a time, projects in turn, with limits that ClickHouse keeps.
import type { ClickHouseSettings } from '@clickhouse/client'
import { Turns } from '../../../lib/turns.ts'
import {
  QueryTimeout,
  StoreBusy,
  type StoreAnswer,
  type StoreQuery,
  type StoreValue,
} from '../event-store.ts'
import type { ClickHouse, Statement } from './client.ts'
import { faultOf } from './faults.ts'
import { reader, shownType } from './values.ts'

const AT_WORK = 8
const MAX_WAITING = 200
/** ClickHouse looks at the clock now and then; a question that it forgets is left after this. */
const GRACE_MS = 5_000

/** Rows of a query within another keep their order, and the parts of tuples have no names. */
export const AS_HOGQL: ClickHouseSettings = {
  query_plan_remove_redundant_sorting: 0,
  optimize_duplicate_order_by_and_distinct: 0,
  enable_named_columns_in_function_tuple: 0,
}

export type QueryLimits = { timeout_ms: number; memory_mb: number }

export class Queries {
  readonly #turns = new Turns<number, number>(Array.from({ length: AT_WORK }, (_, index) => index))
  #waiting = 0

  constructor(
    private readonly clickhouse: ClickHouse,
    private readonly limits: QueryLimits,
  ) {}

  /** `named` is what the statement needs besides its parameters. Throws as EventStore.query does. */
  async query(query: StoreQuery, named: Statement['named'], signal?: AbortSignal): Promise<StoreAnswer> {
    const slot = await this.#take(query.project_id, signal)
    try {
      return await this.#ask(query, { ...query, ...(named ? { named } : {}) }, signal)
    } finally {
      this.#turns.giveBack(slot)
    }
  }

  async #ask(
    { timezone, max_rows }: StoreQuery,
    statement: Statement,
    signal?: AbortSignal,
  ): Promise<StoreAnswer> {
    const { timeout_ms, memory_mb } = this.limits
    const tooLong = AbortSignal.timeout(timeout_ms + GRACE_MS)
    const settings = {
      readonly: '2',
      max_execution_time: timeout_ms / 1000,
      max_memory_usage: String(memory_mb * 1024 * 1024),
      // An answer tells times by the instant; how they are written depends on whom it is for.
      date_time_output_format: 'iso',
      ...AS_HOGQL,
    } as const
    try {
      const chunks = await this.clickhouse.answer(statement, {
        signal: signal ? AbortSignal.any([signal, tooLong]) : tooLong,
        settings,
      })
      const { names, types, rows } = await firstRows(chunks, max_rows)
      const readers = types.map((type) => reader(type, timezone))
      return {
        columns: names.map((name, index) => ({ name, type: shownType(types[index]!, timezone) })),
        rows: rows.map((row) => row.map((value, index): StoreValue => readers[index]!(value))),
      }
    } catch (error) {
      signal?.throwIfAborted()
      throw tooLong.aborted ? new QueryTimeout('stopped', { cause: error }) : faultOf(error)
    }
  }

  async #take(project_id: number, signal?: AbortSignal): Promise<number> {
    if (this.#waiting >= MAX_WAITING) throw new StoreBusy('too many queries are waiting')
    this.#waiting++
    try {
      return await this.#turns.take(project_id, signal)
    } finally {
      this.#waiting--
    }
  }
}

/** Names, types, and as many rows as are wanted: leaving the loop ends the answer. */
async function firstRows(chunks: AsyncIterable<readonly unknown[][]>, max_rows: number) {
  const rows: unknown[][] = []
  for await (const chunk of chunks) {
    for (const row of chunk) rows.push(row)
    if (rows.length >= max_rows + 2) break
  }
  const [names = [], types = [], ...values] = rows
  return { names: names.map(String), types: types.map(String), rows: values.slice(0, max_rows) }
}
