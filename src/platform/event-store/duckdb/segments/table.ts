// Tables that files are made from: their columns, and rows into them through DuckDB's appender, which is three times as
// fast as SQL.
import { DuckDBDataChunk, type DuckDBConnection, type DuckDBType, type DuckDBValue } from '@duckdb/node-api'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { VECTOR_ROWS } from './vectors.ts'

export type Columns = readonly (readonly [name: string, type: DuckDBType])[]

export function createTable(table: string, columns: Columns): string {
  return `CREATE TABLE ${table} (${columns.map(([name, type]) => `"${name}" ${type.toString()}`).join(', ')})`
}

/** What a file would give that has no rows. */
export function selectNone(columns: Columns): string {
  return `SELECT ${columns.map(([name, type]) => `NULL::${type.toString()} AS "${name}"`).join(', ')} WHERE false`
}

/** `columnsOf` gives the values of some of the rows, column by column. */
export async function appendRows<Row>(
  connection: DuckDBConnection,
  table: string,
  columns: Columns,
  rows: readonly Row[],
  columnsOf: (rows: readonly Row[]) => readonly (readonly DuckDBValue[])[],
): Promise<void> {
  if (rows.length === 0) return
  const types = columns.map(([, type]) => type)
  const appender = await connection.createAppender(table)
  try {
    for (let offset = 0; offset < rows.length; offset += VECTOR_ROWS) {
      // Others wait for this thread as well.
      if (offset > 0) await nextTurn()
      const part = rows.slice(offset, offset + VECTOR_ROWS)
      const chunk = DuckDBDataChunk.create(types, part.length)
      for (const [index, column] of columnsOf(part).entries()) chunk.setColumnValues(index, column)
      appender.appendDataChunk(chunk)
    }
  } finally {
    appender.closeSync()
  }
}
