// A select into a Parquet file that is on the disk when it is done.
import type { DuckDBConnection } from '@duckdb/node-api'
import { sync } from '../durable.ts'

export async function writeParquet(
  connection: DuckDBConnection,
  select: string,
  path: string,
  row_group: number,
): Promise<void> {
  await connection.run(
    `COPY (${select}) TO ${textLiteral(path)} (FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd, COMPRESSION_LEVEL 1,
       ROW_GROUP_SIZE ${row_group}, USE_TMP_FILE false)`,
  )
  sync(path)
}

export function readParquet(paths: readonly string[]): string {
  return `read_parquet([${paths.map(textLiteral).join(', ')}])`
}

export function textLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
