// One question on a connection, and its answer as the API tells it.
import type { DuckDBConnection } from '@duckdb/node-api'
import type { StoreAnswer, StoreQuery, StoreValue } from '../../event-store.ts'
import { engineType, engineValue } from '../bind.ts'
import { faultOf } from '../faults.ts'
import { Interrupts } from '../interrupts.ts'
import { clickhouseType, jsonValue } from '../values.ts'

/** Throws QueryTimeout when it takes too long, QueryFault when it cannot be done, and the signal's reason once it is aborted. */
export async function readAnswer(
  connection: DuckDBConnection,
  query: StoreQuery,
  timeout_ms: number,
  signal: AbortSignal,
): Promise<StoreAnswer> {
  const interrupts = new Interrupts(connection, signal)
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    interrupts.begin()
  }, timeout_ms)
  try {
    return await read(connection, query)
  } catch (error) {
    signal.throwIfAborted()
    throw faultOf(error, isLate) ?? error
  } finally {
    clearTimeout(timer)
    interrupts.end()
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
  // Otherwise the rest keeps running, and what it has in hand with it.
  if (rows.length >= max_rows) await connection.run('SELECT 1')
  return { columns, rows }
}
