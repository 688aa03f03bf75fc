// What exported files hold, to be compared: a figure counts only when both sides wrote the same.
import { DuckDBInstance } from '@duckdb/node-api'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'

/** Columns with their types, the number of rows, and a sum over all values and their places. */
export async function parquetContent(path: string): Promise<string> {
  const instance = await DuckDBInstance.create(':memory:', { memory_limit: '1GB' })
  const connection = await instance.connect()
  try {
    const columns = await (await connection.run('DESCRIBE SELECT * FROM read_parquet($1)', [path])).getRows()
    const sums = await (
      await connection.run(
        `SELECT count(*)::VARCHAR, sum(hash(row))::VARCHAR FROM read_parquet($1, file_row_number = true) AS row`,
        [path],
      )
    ).getRows()
    return JSON.stringify([...columns.map(([name, type]) => [name, type]), ...sums])
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** Hash of the lines in a gzip file. */
export async function linesContent(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), createGunzip({ chunkSize: 1024 * 1024 }), hash)
  return hash.digest('hex')
}

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

export function assertSame(what: string, ours: string, bare: string): void {
  if (ours !== bare) throw new Error(`${what}: ours and bare differ:\n${ours}\n${bare}`)
}
