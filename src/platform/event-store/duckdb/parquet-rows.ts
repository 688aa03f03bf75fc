// Rows out of a Parquet file, through an engine of its own that holds nothing: it reads the columns asked for and no others.
import type { DuckDBConnection } from '@duckdb/node-api'

const SETTINGS = {
  memory_limit: '512MB',
  threads: '1',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
}

/** Times as microseconds since 1970, the rest as text. */
export type ParquetValue = string | bigint | null

export type ParquetRows = {
  /** Those of the columns asked for that the file has. */
  names: readonly string[]
  total: number
  /** Some thousand at a time, each with a value for every name. Can be read once. */
  chunks: AsyncGenerator<ParquetValue[][]>
}

export async function openParquetRows(path: string, wanted: readonly string[]): Promise<ParquetRows> {
  // Only here: its library is large, and who reads no Parquet does without it.
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:', SETTINGS)
  const connection = await instance.connect()
  const file = withoutWildcards(path)
  const columns = await columnsOf(connection, file, wanted)
  const counted = await connection.run('SELECT count(*)::DOUBLE FROM read_parquet($1)', [file])
  return {
    names: columns.map(({ name }) => name),
    total: (await counted.getRows())[0]![0] as number,
    chunks: readChunks(connection, file, columns),
  }
}

async function* readChunks(
  connection: DuckDBConnection,
  file: string,
  columns: readonly Column[],
): AsyncGenerator<ParquetValue[][]> {
  const list = columns.map(({ expression }) => expression).join(', ')
  try {
    const result = await connection.stream(`SELECT ${list} FROM read_parquet($1)`, [file])
    for (;;) {
      const chunk = await result.fetchChunk()
      if (!chunk || chunk.rowCount === 0) return
      yield chunk.getRows() as ParquetValue[][]
    }
  } finally {
    connection.closeSync()
  }
}

type Column = { name: string; expression: string }

/** The names are ours, never the file's, so nothing of the file becomes SQL. */
async function columnsOf(
  connection: DuckDBConnection,
  file: string,
  wanted: readonly string[],
): Promise<Column[]> {
  const described = await connection.run('DESCRIBE SELECT * FROM read_parquet($1)', [file])
  const types = new Map((await described.getRows()).map(([name, type]) => [String(name), String(type)]))
  return wanted.flatMap((name) => {
    const type = types.get(name)
    return type === undefined ? [] : [{ name, expression: expressionOf(`"${name}"`, type) }]
  })
}

function expressionOf(column: string, type: string): string {
  if (/^(TIMESTAMP|DATE)/.test(type)) return `epoch_us(${column}::TIMESTAMP)`
  if (/^(STRUCT|MAP|LIST)|\[\d*\]$/.test(type)) return `to_json(${column})::VARCHAR`
  return type === 'BLOB' ? `decode(${column})` : `${column}::VARCHAR`
}

/** The reader takes patterns: a name that looks like one stands for itself. */
function withoutWildcards(path: string): string {
  return path.replace(/[*?[]/g, '[$&]')
}
