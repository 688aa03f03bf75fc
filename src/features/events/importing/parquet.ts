// Parquet, through a DuckDB of its own that holds nothing: it reads the columns we know and no others.
import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api'
import { invalidPayload } from '../capture/refusal.ts'
import type { JsonObject } from '../../../lib/json-object.ts'
import { COLUMNS } from './columns.ts'
import { MAX_ROW_BYTES } from './lines.ts'
import type { Row, Source } from './rows.ts'

const SETTINGS = {
  memory_limit: '512MB',
  threads: '1',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
}

export async function openParquet(path: string): Promise<Source> {
  // Only here: its library is large, and no other command needs it in this thread.
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:', SETTINGS)
  const connection = await instance.connect()
  const file = withoutWildcards(path)
  const columns = await columnsOf(connection, file)
  if (!columns.some(({ name }) => name === 'event')) throw new Error(`${path} has no column named event`)
  const counted = await connection.run('SELECT count(*)::DOUBLE FROM read_parquet($1)', [file])
  const total = (await counted.getRows())[0]![0] as number
  const read = { rows: 0 }
  return {
    rows: readRows(connection, file, columns, read),
    share: () => (total === 0 ? 1 : read.rows / total),
  }
}

async function* readRows(
  connection: DuckDBConnection,
  file: string,
  columns: readonly Column[],
  read: { rows: number },
): AsyncGenerator<Row[]> {
  const list = columns.map(({ expression }) => expression).join(', ')
  const names = columns.map(({ name }) => name)
  try {
    const result = await connection.stream(`SELECT ${list} FROM read_parquet($1)`, [file])
    for (;;) {
      const chunk = await result.fetchChunk()
      if (!chunk || chunk.rowCount === 0) return
      const first = read.rows + 1
      read.rows += chunk.rowCount
      yield chunk.getRows().map((values, index) => rowOf(first + index, names, values))
    }
  } finally {
    connection.closeSync()
  }
}

type Column = { name: string; expression: string }

/** The names are ours, never the file's, so nothing of the file becomes SQL. Times come as microseconds, the rest as text. */
async function columnsOf(connection: DuckDBConnection, file: string): Promise<Column[]> {
  const described = await connection.run('DESCRIBE SELECT * FROM read_parquet($1)', [file])
  const types = new Map((await described.getRows()).map(([name, type]) => [String(name), String(type)]))
  return COLUMNS.flatMap((name) => {
    const type = types.get(name)
    return type === undefined ? [] : [{ name, expression: expressionOf(`"${name}"`, type) }]
  })
}

function expressionOf(column: string, type: string): string {
  if (/^(TIMESTAMP|DATE)/.test(type)) return `epoch_us(${column}::TIMESTAMP)`
  if (/^(STRUCT|MAP|LIST)|\[\d*\]$/.test(type)) return `to_json(${column})::VARCHAR`
  return type === 'BLOB' ? `decode(${column})` : `${column}::VARCHAR`
}

function rowOf(line: number, names: readonly string[], values: readonly DuckDBValue[]): Row {
  const bytes = values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0)
  const fields = (): JsonObject => {
    const present = names.map((name, index) => [name, values[index]] as const)
    return Object.fromEntries(present.filter(([, value]) => value !== null))
  }
  return {
    line,
    bytes,
    text: () => JSON.stringify(fields(), (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    read() {
      if (bytes > MAX_ROW_BYTES) throw invalidPayload(`the row is larger than 1 MB (${bytes} bytes)`)
      if (values.some((value) => typeof value === 'string' && value.includes('\0')))
        throw invalidPayload('the row holds NUL characters')
      return fields()
    },
  }
}

/** The reader takes patterns: a name that looks like one stands for itself. */
function withoutWildcards(path: string): string {
  return path.replace(/[*?[]/g, '[$&]')
}
