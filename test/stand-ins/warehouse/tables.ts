// The tables behind a warehouse's stand-in: a DuckDB of its own, one statement at a time.
import { DuckDBInstance, type DuckDBConnection, type DuckDBValue } from '@duckdb/node-api'
import { addPrintedJson } from './printed-json.ts'

export type Values = Record<string, DuckDBValue>

export type Tables = {
  /** Statements of one call run together; what fails is rolled back and thrown. */
  run(statements: readonly string[], values?: Values): Promise<Record<string, unknown>[]>
  /** A connection that keeps its transaction between calls. */
  connect(): Promise<DuckDBConnection>
  names(): Promise<string[]>
  /** By column name: JSON columns and those named parsed, instants as ISO text with six digits. */
  rows(table: string, json_columns: readonly string[]): Promise<Record<string, unknown>[]>
  close(): void
}

export async function openTables(): Promise<Tables> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', memory_limit: '256MB' })
  const main = await instance.connect()
  addPrintedJson(main)
  let last: Promise<unknown> = Promise.resolve()
  const run: Tables['run'] = (statements, values = {}) => {
    const mine = last.then(() => runAll(main, statements, values))
    last = mine.catch(() => {})
    return mine
  }
  const names = async () => {
    const found = await run(["SELECT table_name FROM information_schema.tables WHERE table_schema = 'main'"])
    return found.map((row) => String(row.table_name))
  }
  return {
    run,
    connect: () => instance.connect(),
    names,
    async rows(table, json_columns) {
      if (!(await names()).includes(table)) return []
      const found = await run([`SELECT ${await readable(run, table)} FROM ${quoted(table)}`])
      return found.map((row) => parsed(row, json_columns))
    },
    close() {
      main.closeSync()
      instance.closeSync()
    },
  }
}

async function runAll(connection: DuckDBConnection, statements: readonly string[], values: Values) {
  let rows: Record<string, unknown>[] = []
  try {
    for (const statement of statements) rows = await runOne(connection, statement, values)
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => {})
    throw error
  }
  return rows
}

/** 64-bit integers come as numbers: tests have none beyond 2^53. */
export async function runOne(
  connection: DuckDBConnection,
  statement: string,
  values: Values,
): Promise<Record<string, unknown>[]> {
  const used = Object.entries(values).filter(([name]) => new RegExp(`\\$${name}\\b`).test(statement))
  const reader = await connection.runAndReadAll(statement, Object.fromEntries(used))
  return reader
    .getRowObjectsJS()
    .map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
      ),
    )
}

async function readable(run: Tables['run'], table: string): Promise<string> {
  const columns = await run(
    [
      'SELECT column_name, data_type FROM information_schema.columns WHERE table_name = $table ORDER BY ordinal_position',
    ],
    { table },
  )
  return columns
    .map(({ column_name, data_type }) => {
      const name = quoted(String(column_name))
      return data_type === 'TIMESTAMP' ? `strftime(${name}, '%Y-%m-%dT%H:%M:%S.%fZ') AS ${name}` : name
    })
    .join(', ')
}

function parsed(row: Record<string, unknown>, json_columns: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      json_columns.includes(name) && typeof value === 'string' ? (JSON.parse(value) as unknown) : value,
    ]),
  )
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** As warehouses give values out. */
export function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'bigint') return value.toString()
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** SQL in its parts: quoted names and texts as they stand between their quotes, and all that is between them. */
export type Part = { kind: 'name' | 'text' | 'code'; text: string }

export function partsOf(sql: string, name_quote: '`' | '"'): Part[] {
  const pattern =
    name_quote === '`'
      ? /`((?:\\.|[^`\\])*)`|'((?:\\.|[^'\\])*)'/g
      : /"((?:""|[^"])*)"|'((?:\\.|''|[^'\\])*)'/g
  const parts: Part[] = []
  let end = 0
  for (const match of sql.matchAll(pattern)) {
    parts.push({ kind: 'code', text: sql.slice(end, match.index) })
    parts.push({ kind: match[1] === undefined ? 'text' : 'name', text: match[1] ?? match[2]! })
    end = match.index + match[0].length
  }
  return [...parts, { kind: 'code', text: sql.slice(end) }]
}
