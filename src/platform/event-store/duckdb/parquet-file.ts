// Looks into Parquet files on this machine, with an engine of its own: the store may read nothing but its staging folder.
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api'

export type ParquetReader = {
  countRows(path: string): Promise<number>
  /** The values of a column of texts, in order, some thousand at a time. */
  texts(path: string, column: string): AsyncGenerator<(string | null)[]>
  close(): void
}

export async function openParquetReader(): Promise<ParquetReader> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', memory_limit: '256MB' })
  const connection = await instance.connect()
  return {
    async countRows(path) {
      const result = await connection.run('SELECT count(*) FROM read_parquet($1)', [path])
      const [row] = await result.getRows()
      return Number(row![0])
    },
    texts: (path, column) => streamTexts(connection, path, column),
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

async function* streamTexts(
  connection: DuckDBConnection,
  path: string,
  column: string,
): AsyncGenerator<(string | null)[]> {
  const name = `"${column.replaceAll('"', '""')}"`
  const result = await connection.stream(`SELECT ${name} FROM read_parquet($1)`, [path])
  for (;;) {
    const chunk = await result.fetchChunk()
    if (!chunk || chunk.rowCount === 0) return
    yield chunk.getColumnValues(0) as (string | null)[]
  }
}
