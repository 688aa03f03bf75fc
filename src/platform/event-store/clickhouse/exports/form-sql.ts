// Values in the form that an export asks for: of the kind of their column, and texts no longer than it takes. `sql` is always
// the name of a column, so it may stand several times: the engine computes what is the same once.
import type { ColumnKind, Form } from '../../export-rows.ts'
import type { Type } from '../../value-type.ts'
import { jsonText } from './line-sql.ts'

type Limit = NonNullable<Form['max']>

export function formSql(sql: string, kind: ColumnKind, form: Form): string {
  switch (kind) {
    case 'text':
      return cutText(textSql(sql, form), form.max)
    case 'json':
      return jsonSql(sql, form.type)
    case 'integer':
      return `accurateCastOrNull(${sql}, 'Int64')`
    case 'float':
      return `if(isFinite(toFloat64(${sql})), toFloat64(${sql}), NULL)`
    case 'boolean':
      return asBoolean(sql)
    case 'timestamp':
      return `toDateTime64(${sql}, 6, 'UTC')`
  }
}

/** True where the text is longer than the column takes; null where none can be. */
export function tooLongSql(sql: string, form: Form): string | null {
  if (form.max === null || !(isText(form.type) || form.is_json)) return null
  return `${lengthOf(form.max)}(${textSql(sql, form)}) > ${form.max.length}`
}

const isText = ({ kind }: Type) => kind === 'text' || kind === 'property'
const lengthOf = ({ unit }: Limit) => (unit === 'bytes' ? 'length' : 'lengthUTF8')
/** Conditions are numbers to the engine. */
const asBoolean = (sql: string) => `CAST(${sql}, 'Nullable(Bool)')`

function cutText(text: string, max: Limit | null): string {
  if (max === null) return text
  const { length, unit } = max
  if (unit === 'characters') return `substringUTF8(${text}, 1, ${length})`
  // A character has up to four bytes: it may not go on behind the cut.
  const cuts = [0, 1, 2, 3].map((less) => Math.max(0, length - less))
  const choices = cuts.flatMap((cut) => [`NOT ${goesOnAt(text, cut + 1)}`, `substring(${text}, 1, ${cut})`])
  return `multiIf(length(${text}) <= ${length}, ${text}, ${choices.join(', ')}, '')`
}

/** Whether the byte at this place is one of a character that began before. */
function goesOnAt(text: string, place: number): string {
  return `bitAnd(reinterpretAsUInt8(substring(${text}, ${place}, 1)), 192) = 128`
}

function textSql(sql: string, { type, is_json }: Form): string {
  if (is_json) return jsonSql(sql, type)
  return isText(type) ? `replaceAll(${sql}, '\\0', '')` : `toString(${sql})`
}

function jsonSql(sql: string, type: Type): string {
  if (type.kind === 'json') return sql
  return isText(type) ? validJson(sql) : `toJSONString(${jsonValue(sql, type)})`
}

/** A number of JSON, and what comes before it. */
const NUMBER = `'(^|[\\\\[,:\\\\s])-?(?:0|[1-9][0-9]*)(?:\\\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?'`

/** The engine takes JSON with numbers beyond 64 bits for none, so that it is asked again with other numbers. */
function validJson(text: string): string {
  const isValid = `isValidJSON(${text}) OR isValidJSON(replaceRegexpAll(${text}, ${NUMBER}, '\\\\10'))`
  return `if(${isValid}, ${text}, ${jsonText(text)})`
}

/** What becomes right JSON. NaN and infinities are null there by the settings of the statement. */
function jsonValue(sql: string, type: Type, depth = 1): string {
  switch (type.kind) {
    case 'boolean':
      return asBoolean(sql)
    case 'array': {
      const item = `x${depth}`
      const made = jsonValue(item, type.item, depth + 1)
      return made === item ? sql : `arrayMap(${item} -> ${made}, ${sql})`
    }
    case 'tuple': {
      const parts = type.items.map((item, index) =>
        jsonValue(`tupleElement(${sql}, ${index + 1})`, item, depth),
      )
      return `tuple(${parts.join(', ')})`
    }
    default:
      return sql
  }
}
