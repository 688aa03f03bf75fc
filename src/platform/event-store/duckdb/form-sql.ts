// Values in the form that an export asks for: of the kind of their column, and texts no longer than it takes. `sql` is always
// the name of a column, so it may stand several times.
import type { ColumnKind, Form } from '../export-rows.ts'
import type { Type } from '../value-type.ts'

type Limit = NonNullable<Form['max']>

export function formSql(sql: string, kind: ColumnKind, form: Form): string {
  switch (kind) {
    case 'text':
      return cutText(textSql(sql, form), form.max)
    case 'json':
      return jsonSql(sql, form.type)
    case 'integer':
      return `try_cast(${sql} AS BIGINT)`
    case 'float':
      return finite(`CAST(${sql} AS DOUBLE)`)
    case 'boolean':
      return `CAST(${sql} AS BOOLEAN)`
    case 'timestamp':
      return finite(`CAST(${sql} AS TIMESTAMP)`)
  }
}

/** True where the text is longer than the column takes; null where none can be. */
export function tooLongSql(sql: string, form: Form): string | null {
  if (form.max === null || !(isText(form.type) || form.is_json)) return null
  return `${lengthOf(form.max)}(${textSql(sql, form)}) > ${form.max.length}`
}

const isText = ({ kind }: Type) => kind === 'text' || kind === 'property'
const lengthOf = ({ unit }: Limit) => (unit === 'bytes' ? 'strlen' : 'length')

function cutText(text: string, max: Limit | null): string {
  if (max === null) return text
  const { length, unit } = max
  if (unit === 'characters') return `left(${text}, ${length})`
  // A character has up to four bytes: one of four neighbouring places is the end of one.
  const ends = [0, 1, 2, 3].map((less) => `try(decode(encode(${text})[1:${length - less}]))`)
  return `CASE WHEN strlen(${text}) <= ${length} THEN ${text} ELSE coalesce(${ends.join(', ')}) END`
}

function textSql(sql: string, { type, is_json }: Form): string {
  if (is_json) return jsonSql(sql, type)
  if (isText(type)) return `replace(${sql}, chr(0), '')`
  return `CAST(${sql} AS VARCHAR)`
}

function jsonSql(sql: string, type: Type): string {
  if (type.kind === 'json') return sql
  return isText(type) ? validJson(sql) : `CAST(to_json(${jsonValue(sql, type)}) AS VARCHAR)`
}

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
