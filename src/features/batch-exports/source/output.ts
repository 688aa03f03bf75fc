// The form that values take at a destination: kinds, documented types, and texts cut to the length that those allow.
// The SQL is DuckDB's.
import type { Type } from '../../../hogql/value.ts'
import type { ColumnKind } from '../../../platform/event-store/event-store.ts'
import type { OutputColumn } from '../definition.ts'
import type { ColumnSet } from '../destinations/destination.ts'
import type { SourceColumn } from './source-rows.ts'

export type Target = { columns: ColumnSet; config: Readonly<Record<string, unknown>> }

type Form = Omit<OutputColumn, 'name'>

/** The longest VARCHAR of Redshift, in bytes. */
const LONGEST = 65_535
const LONG_TEXT: Form = { kind: 'text', type: `VARCHAR(${LONGEST})`, max_characters: LONGEST }
const SHORT_TEXT: Form = { kind: 'text', type: 'VARCHAR(200)', max_characters: 200 }

const hasVarchars = (columns: ColumnSet) => columns === 'postgres' || columns === 'redshift'

const KINDS: Readonly<Record<Type['kind'], ColumnKind>> = {
  text: 'text',
  property: 'text',
  uuid: 'text',
  interval: 'text',
  null: 'text',
  unknown: 'text',
  integer: 'integer',
  float: 'float',
  boolean: 'boolean',
  datetime: 'timestamp',
  date: 'timestamp',
  json: 'json',
  array: 'json',
  tuple: 'json',
}

export function outputColumn({ name, type, hint }: SourceColumn, target: Target): OutputColumn {
  return { name, ...formOf(hint, isJson({ type, hint }) ? 'json' : KINDS[type.kind], target) }
}

const isText = ({ kind }: Type) => kind === 'text' || kind === 'property'
const isJson = ({ type, hint }: Pick<SourceColumn, 'type' | 'hint'>) =>
  KINDS[type.kind] === 'json' || (hint === 'json' && isText(type))

function formOf(hint: SourceColumn['hint'], kind: ColumnKind, target: Target): Form {
  const { columns } = target
  if (kind === 'json') return jsonForm(target)
  if (hint === 'varchar200' && hasVarchars(columns)) return SHORT_TEXT
  if (hint === 'int32' && hasVarchars(columns)) return { kind, type: 'INTEGER' }
  return kind === 'text' && columns === 'redshift' ? LONG_TEXT : { kind }
}

/** Where there is no type for JSON, or it was not chosen, JSON goes out as text. */
function jsonForm({ columns, config }: Target): Form {
  switch (columns) {
    case 'redshift':
      return config.properties_data_type === 'super' ? { kind: 'json', type: 'SUPER' } : LONG_TEXT
    case 'bigquery':
      return config.use_json_type === true ? { kind: 'json', type: 'JSON' } : { kind: 'text', type: 'STRING' }
    case 'databricks':
      return config.use_variant_type === false
        ? { kind: 'text', type: 'STRING' }
        : { kind: 'json', type: 'VARIANT' }
    default:
      return { kind: 'json' }
  }
}

/** `sql` is the name of a column, so it may stand several times. */
export function outputSql(sql: string, source: SourceColumn, column: OutputColumn, target: Target): string {
  switch (column.kind) {
    case 'text':
      return cutText(textSql(sql, source), column, target)
    case 'json':
      return jsonSql(sql, source.type)
    case 'integer':
      // No warehouse has more than 64 bits.
      return `try_cast(${sql} AS BIGINT)`
    case 'float':
      // Neither JSON nor every warehouse knows NaN and infinities.
      return finite(`CAST(${sql} AS DOUBLE)`)
    case 'boolean':
      return `CAST(${sql} AS BOOLEAN)`
    case 'timestamp':
      return finite(`CAST(${sql} AS TIMESTAMP)`)
  }
}

/** True where the text is longer than the column takes; null where none can be. */
export function tooLongSql(
  sql: string,
  source: SourceColumn,
  { max_characters }: OutputColumn,
  target: Target,
): string | null {
  if (max_characters === undefined || !(isText(source.type) || isJson(source))) return null
  return `${lengthOf(target)}(${textSql(sql, source)}) > ${max_characters}`
}

/** Redshift counts bytes, PostgreSQL characters. */
const lengthOf = ({ columns }: Target) => (columns === 'redshift' ? 'strlen' : 'length')

function cutText(text: string, { max_characters }: OutputColumn, { columns }: Target): string {
  if (max_characters === undefined) return text
  if (columns !== 'redshift') return `left(${text}, ${max_characters})`
  // A character has up to four bytes: one of four neighbouring places is the end of one.
  const ends = [0, 1, 2, 3].map((less) => `try(decode(encode(${text})[1:${max_characters - less}]))`)
  return `CASE WHEN strlen(${text}) <= ${max_characters} THEN ${text} ELSE coalesce(${ends.join(', ')}) END`
}

function textSql(sql: string, source: SourceColumn): string {
  if (isJson(source)) return jsonSql(sql, source.type)
  // PostgreSQL and others refuse NUL.
  if (isText(source.type)) return `replace(${sql}, chr(0), '')`
  return `CAST(${sql} AS VARCHAR)`
}

function jsonSql(sql: string, type: Type): string {
  if (type.kind === 'json') return sql
  return isText(type) ? validJson(sql) : `CAST(to_json(${jsonValue(sql, type)}) AS VARCHAR)`
}

/** Text that is no JSON goes out as a JSON text: one that cannot be read would sink all rows with it. */
const validJson = (text: string) =>
  `CASE WHEN json_valid(${text}) THEN ${text} ELSE CAST(to_json(${text}) AS VARCHAR) END`

/** What becomes right JSON: tuples are lists there, and there are neither NaN nor infinities. */
function jsonValue(sql: string, type: Type, depth = 1): string {
  switch (type.kind) {
    case 'float':
      return finite(`CAST(${sql} AS DOUBLE)`)
    case 'array': {
      const item = `x${depth}`
      const made = jsonValue(item, type.item, depth + 1)
      return made === item ? sql : `list_transform(${sql}, lambda ${item}: ${made})`
    }
    case 'tuple': {
      const parts = type.items.map((item, index) =>
        jsonValue(`struct_extract_at(${sql}, ${index + 1})`, item, depth),
      )
      return `CASE WHEN ${sql} IS NOT NULL THEN json_array(${parts.join(', ')}) END`
    }
    default:
      return sql
  }
}

const finite = (sql: string) => `CASE WHEN isfinite(${sql}) THEN ${sql} END`
