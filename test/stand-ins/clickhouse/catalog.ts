// The tables behind ClickHouse's stand-in: rows lie in DuckDB, and what ClickHouse knows of a table besides lies here. Names
// lead to tables for as long as nobody drops them; a statement that has found its tables keeps them until it ends.
import { openTables, quoted, type Tables } from '../warehouse/tables.ts'
import { ClickHouseError } from './errors.ts'

export type Column = {
  name: string
  type: string
  default_kind: '' | 'DEFAULT' | 'MATERIALIZED'
  expression: string
}

export type Table = {
  engine: 'MergeTree' | 'ReplacingMergeTree' | 'Memory'
  /** The column of a ReplacingMergeTree that tells the newer of two rows. */
  version: string | null
  partition_key: string
  order: readonly string[]
  columns: Column[]
  /** Its name in DuckDB. */
  rows: string
}

export type Catalog = {
  duck: Tables
  names(): string[]
  get(name: string): Table
  find(name: string): Table | null
  create(name: string, table: Omit<Table, 'rows'>): Promise<void>
  /** Keeps tables from being dropped for good while `work` goes on. */
  using<T>(tables: readonly Table[], work: () => Promise<T>): Promise<T>
  /** Ends once no statement uses the table. */
  drop(name: string): Promise<void>
  /** Names of tables that were dropped and are in use. */
  dropped(): string[]
  /** As a reader sees it: computed columns stay out, and the last of rows that replace each other is left. */
  read(name: string, json_columns: readonly string[]): Promise<Record<string, unknown>[]>
}

export async function openCatalog(): Promise<Catalog> {
  const duck = await openTables()
  await duck.run([
    "SET TimeZone = 'UTC'",
    'CREATE MACRO toUUID(text) AS CAST(text AS UUID)',
    'CREATE MACRO toUInt64(number) AS CAST(number AS UBIGINT)',
    'CREATE MACRO toString(value) AS CAST(value AS VARCHAR)',
    'CREATE MACRO toUnixTimestamp64Micro(value) AS epoch_us(value)',
    'CREATE MACRO fromUnixTimestamp64Micro(micros, zone) AS make_timestamp(micros)',
    // DuckDB's MD5 is in hexadecimal digits already.
    'CREATE MACRO hex(digits) AS digits',
  ])
  const tables = new Map<string, Table>()
  const users = new Map<Table, Promise<unknown>[]>()
  const ending: string[] = []
  let made = 0
  const find = (name: string) => tables.get(name) ?? null
  return {
    duck,
    names: () => [...tables.keys()],
    find,
    get(name) {
      const table = find(name)
      if (table === null) throw new ClickHouseError(60, 'UNKNOWN_TABLE', `Table ${name} does not exist`)
      return table
    },
    async create(name, table) {
      if (tables.has(name))
        throw new ClickHouseError(57, 'TABLE_ALREADY_EXISTS', `Table ${name} already exists`)
      const rows = `t${(made += 1)}`
      tables.set(name, { ...table, rows })
      const definitions = table.columns.map(
        (column) => `${quoted(column.name)} ${duckType(column.type)}${fillingOf(column)}`,
      )
      await duck.run([`CREATE TABLE ${rows} (${definitions.join(', ')})`])
    },
    async using(used, work) {
      const working = work()
      for (const table of used) users.set(table, [...(users.get(table) ?? []), working])
      try {
        return await working
      } finally {
        for (const table of used)
          users.set(
            table,
            (users.get(table) ?? []).filter((each) => each !== working),
          )
      }
    },
    async drop(name) {
      const table = tables.get(name)
      if (table === undefined) return
      tables.delete(name)
      ending.push(name)
      await Promise.allSettled(users.get(table) ?? [])
      ending.splice(ending.indexOf(name), 1)
      await duck.run([`DROP TABLE ${table.rows}`])
    },
    dropped: () => ending,
    async read(name, json_columns) {
      const table = find(name)
      if (table === null) return []
      await duck.run([`CREATE OR REPLACE VIEW reader AS ${readerSql(table)}`])
      return await duck.rows('reader', json_columns)
    },
  }
}

/** Replaced rows left out, as with FINAL. */
export function readerSql({ engine, version, order, columns, rows }: Table): string {
  const shown = columns
    .filter(({ default_kind }) => default_kind !== 'MATERIALIZED')
    .map(({ name, type }) =>
      type.includes('UUID') ? `CAST(${quoted(name)} AS VARCHAR) AS ${quoted(name)}` : quoted(name),
    )
  const newest =
    engine === 'ReplacingMergeTree'
      ? ` QUALIFY row_number() OVER (PARTITION BY ${order.map(quoted).join(', ')} ORDER BY ${version === null ? '' : `${quoted(version)} DESC, `}rowid DESC) = 1`
      : ''
  return `SELECT ${shown.join(', ')} FROM ${rows}${newest}`
}

const DUCK_TYPES: Record<string, string> = {
  String: 'VARCHAR',
  UUID: 'UUID',
  Int64: 'BIGINT',
  UInt64: 'UBIGINT',
  Float64: 'DOUBLE',
  Bool: 'BOOLEAN',
  "DateTime('UTC')": 'TIMESTAMP',
  "DateTime64(3, 'UTC')": 'TIMESTAMP',
  "DateTime64(6, 'UTC')": 'TIMESTAMP',
  JSON: 'JSON',
}

/** What a row gets that comes without the column. */
function fillingOf({ type, default_kind, expression }: Column): string {
  if (default_kind === 'DEFAULT') return ` DEFAULT ${expression}`
  if (type.startsWith('Nullable')) return ''
  const known = duckType(type)
  const empty = {
    VARCHAR: "''",
    UUID: `'${NO_UUID}'`,
    BOOLEAN: 'false',
    TIMESTAMP: "'1970-01-01'",
    JSON: "'{}'",
  }
  return ` DEFAULT ${(empty as Record<string, string>)[known] ?? '0'} NOT NULL`
}

const NO_UUID = '00000000-0000-0000-0000-000000000000'

function duckType(type: string): string {
  const known = DUCK_TYPES[/^(?:Nullable|LowCardinality)\((.+)\)$/.exec(type)?.[1] ?? type]
  if (known === undefined) throw new ClickHouseError(50, 'UNKNOWN_TYPE', `Unknown data type family: ${type}`)
  return known
}
