// Queries: a few at a time, projects in turn, each stopped when its time is up or nobody waits for it any more.
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { StoreBusy, type StoreAnswer, type StoreQuery, type StoreValue } from '../event-store.ts'
import { engineType, engineValue } from './bind.ts'
import { faultOf } from './faults.ts'
import { Interrupts } from './interrupts.ts'
import { Turns } from '../../../lib/turns.ts'
import { clickhouseType, jsonValue } from './values.ts'

const MAX_WAITING = 200

export class Reader {
  readonly #turns: Turns<number, DuckDBConnection>
  readonly #count: number
  #waiting = 0

  private constructor(
    connections: readonly DuckDBConnection[],
    private readonly timeout_ms: number,
  ) {
    this.#turns = new Turns(connections)
    this.#count = connections.length
  }

  static async open(instance: DuckDBInstance, count: number, timeout_ms: number): Promise<Reader> {
    const connections = []
    for (let index = 0; index < count; index++) connections.push(await instance.connect())
    return new Reader(connections, timeout_ms)
  }

  /** Throws the signal's reason once it is aborted. */
  async query(query: StoreQuery, signal: AbortSignal): Promise<StoreAnswer> {
    const connection = await this.#take(query.project_id, signal)
    const interrupts = new Interrupts(connection, signal)
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      interrupts.begin()
    }, this.timeout_ms)
    try {
      return await read(connection, query)
    } catch (error) {
      signal.throwIfAborted()
      throw faultOf(error, isLate) ?? error
    } finally {
      clearTimeout(timer)
      interrupts.end()
      this.#turns.giveBack(connection)
    }
  }

  /** Returns when nothing is at work any more, because a connection must not be closed under its statement. */
  async close(): Promise<void> {
    for (let index = 0; index < this.#count; index++) (await this.#turns.take(0)).closeSync()
  }

  async #take(project_id: number, signal: AbortSignal): Promise<DuckDBConnection> {
    if (this.#waiting >= MAX_WAITING) throw new StoreBusy('too many queries are waiting')
    this.#waiting++
    try {
      return await this.#turns.take(project_id, signal)
    } finally {
      this.#waiting--
    }
  }
}

async function read(connection: DuckDBConnection, query: StoreQuery): Promise<StoreAnswer> {
  const { sql, parameters, timezone, max_rows } = query
  const result = await connection.stream(sql, parameters.map(engineValue), parameters.map(engineType))
  const types = result.columnTypes()
  const columns = result
    .columnNames()
    .map((name, index) => ({ name, type: clickhouseType(types[index]!, timezone) }))
  const rows: StoreValue[][] = []
  while (rows.length < max_rows) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) break
    for (const row of chunk.getRows()) {
      if (rows.length < max_rows) rows.push(row.map((value) => jsonValue(value, timezone)))
    }
  }
  // Otherwise the rest keeps a transaction open, and with it whatever is deleted meanwhile.
  if (rows.length >= max_rows) await connection.run('SELECT 1')
  return { columns, rows }
}
