// Looks into Parquet files on this machine, with an engine of its own: the store may read nothing but its staging folder.
import { DuckDBInstance } from '@duckdb/node-api'
import { textsSql } from './export-sql.ts'

export type ParquetReader = {
  countRows(path: string): Promise<number>
  /** One column of texts to a file of COPY text: through values in JavaScript it would take five times as long. */
  writeTexts(path: string, column: string, target: string): Promise<void>
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
    async writeTexts(path, column, target) {
      const rows = `(SELECT ${quoted(column)} AS c1 FROM read_parquet($1)) AS r`
      await connection.run(textsSql(rows, target), [path])
    },
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

function quoted(column: string): string {
  return `"${column.replaceAll('"', '""')}"`
}
