// Looks into a Parquet file on this machine, with an engine of its own: the store may read nothing but its staging folder.
import { DuckDBInstance } from '@duckdb/node-api'

/** Reads every page, so that a file which only looks whole is found out. */
export async function countParquetRows(path: string): Promise<number> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', memory_limit: '256MB' })
  try {
    const connection = await instance.connect()
    const result = await connection.run(
      'SELECT count(*) FROM (SELECT COLUMNS(*) IS NULL FROM read_parquet($1))',
      [path],
    )
    const [row] = await result.getRows()
    connection.closeSync()
    return Number(row![0])
  } finally {
    instance.closeSync()
  }
}
