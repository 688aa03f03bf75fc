// Statements of ClickHouse's that DuckDB can carry out once names, types and functions are its own.
import { quoted, textOf, type Values } from '../warehouse/tables.ts'
import { readerSql, type Catalog } from './catalog.ts'
import { ClickHouseError } from './errors.ts'

export type Sent = {
  catalog: Catalog
  database: string
  /** Values for `{name:Type}`. */
  values: Record<string, string>
  /** Rows that are replaced are left out. */
  is_final: boolean
  /** A Parquet file on the disk. */
  data: string | null
  /** Deletions from tables that are under way, also those that nobody waits for. */
  deletions: string[]
  /** Called once a statement has found its tables and before it does anything. */
  pause(): Promise<void>
}

export type Rows = unknown[][]

/** As regular expressions. */
export const NAME = '`(?:\\\\.|[^`\\\\])*`'
export const TABLE = `(${NAME}\\.${NAME})`

export function unquote(name: string): string {
  return name.slice(1, -1).replaceAll(/\\(.)/g, '$1')
}

/** The table's own name, of a database that must be there. */
export function nameIn(reference: string, database: string): string {
  const [, first, second] = new RegExp(`^(${NAME})\\.(${NAME})$`).exec(reference)!
  if (unquote(first!) !== database)
    throw new ClickHouseError(81, 'UNKNOWN_DATABASE', `Database ${unquote(first!)} does not exist`)
  return unquote(second!)
}

export async function onDuckDb(
  { catalog, database, values, is_final }: Sent,
  statement: string,
): Promise<Rows> {
  const used: Values = values
  const rowsOf = (reference: string) => {
    const table = catalog.get(nameIn(reference, database))
    return is_final ? `(${readerSql(table)})` : table.rows
  }
  const local = statement
    .replaceAll(new RegExp(TABLE, 'g'), rowsOf)
    .replaceAll(
      /\{(\w+):(\w+)\}/g,
      (_, name: string, type: string) => `CAST($${name} AS ${PARAMETER_TYPES[type]})`,
    )
    .replace("now('UTC')", 'now()::TIMESTAMP')
    .replaceAll('Nullable(String)', 'VARCHAR')
    .replaceAll('Nullable(Int64)', 'BIGINT')
    .replaceAll('char(31)', 'chr(31)')
    .replaceAll('any(', 'any_value(')
    .replaceAll(/reinterpretAsUInt32\(reverse\(unhex\((.+?\))\)\)\)/g, "CAST('0x' || $1 AS UBIGINT)")
  const found = await catalog.duck.run([toDuckDb(local)], used)
  return statement.startsWith('SELECT') ? found.map((row) => Object.values(row).map(textOf)) : []
}

const PARAMETER_TYPES: Record<string, string> = { UUID: 'UUID', String: 'VARCHAR', UInt64: 'UBIGINT' }

export function toDuckDb(sql: string): string {
  return sql.replaceAll(new RegExp(NAME, 'g'), (name) => quoted(unquote(name)))
}
