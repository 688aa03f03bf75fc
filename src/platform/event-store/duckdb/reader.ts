// Queries: a few at a time, projects in turn, each stopped when its time is up.
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { StoreBusy, type StoreAnswer, type StoreQuery, type StoreValue } from '../event-store.ts'
import { engineType, engineValue } from './bind.ts'
import { faultOf } from './faults.ts'
import { clickhouseType, jsonValue } from './values.ts'

const MAX_WAITING = 200

type Waiting = { resolve(connection: DuckDBConnection): void }

export class Reader {
  readonly #free: DuckDBConnection[]
  readonly #all: readonly DuckDBConnection[]
  /** Who waits, by project: taken in turn, so that one project's crowd does not keep the others out. */
  readonly #waiting = new Map<number, Waiting[]>()
  #waitingCount = 0

  private constructor(
    connections: readonly DuckDBConnection[],
    private readonly timeout_ms: number,
  ) {
    this.#all = connections
    this.#free = [...connections]
  }

  static async open(instance: DuckDBInstance, count: number, timeout_ms: number): Promise<Reader> {
    const connections = []
    for (let index = 0; index < count; index++) connections.push(await instance.connect())
    return new Reader(connections, timeout_ms)
  }

  async query(query: StoreQuery): Promise<StoreAnswer> {
    const connection = await this.#take(query.project_id)
    let isStopped = false
    const timer = setTimeout(() => {
      isStopped = true
      connection.interrupt()
    }, this.timeout_ms)
    try {
      return await read(connection, query)
    } catch (error) {
      throw faultOf(error, isStopped) ?? error
    } finally {
      clearTimeout(timer)
      this.#giveBack(connection)
    }
  }

  close(): void {
    for (const connection of this.#all) {
      connection.interrupt()
      connection.closeSync()
    }
  }

  #take(project_id: number): Promise<DuckDBConnection> {
    const free = this.#free.pop()
    if (free) return Promise.resolve(free)
    if (this.#waitingCount >= MAX_WAITING)
      return Promise.reject(new StoreBusy('too many queries are waiting'))
    return new Promise((resolve) => {
      const line = this.#waiting.get(project_id) ?? []
      line.push({ resolve })
      this.#waiting.set(project_id, line)
      this.#waitingCount++
    })
  }

  #giveBack(connection: DuckDBConnection): void {
    const [next] = this.#waiting
    if (!next) {
      this.#free.push(connection)
      return
    }
    const [project_id, line] = next
    const first = line.shift()!
    // To the end of the round.
    this.#waiting.delete(project_id)
    if (line.length > 0) this.#waiting.set(project_id, line)
    this.#waitingCount--
    first.resolve(connection)
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
