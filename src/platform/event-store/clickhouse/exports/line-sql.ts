// A row as one line of text, put together by ClickHouse itself.
import type { ColumnKind, ExportColumn } from '../../export-rows.ts'
import { textLiteral } from './spelling.ts'

/** The SQL of a whole line, with its end, from `r.c1`, `r.c2`, … */
type Line = (columns: readonly ExportColumn[]) => string

/** A value as text; null where it is null. */
type Spelling = Record<ColumnKind, (column: string) => string>

const asText = (column: string) => `toString(${column})`
/** Qualified: a column's name may be one of ours. */
export const columnAt = (index: number) => `r.c${index + 1}`

const holdsAny = (text: string, parts: readonly string[]) => `multiSearchAny(${text}, [${parts.join(', ')}])`

/** Most texts hold none of these. */
function replaced(text: string, pairs: readonly (readonly [string, string])[]): string {
  const all = pairs.reduce((inner, [from, to]) => `replaceAll(${inner}, ${from}, ${to})`, text)
  return `if(${holdsAny(
    text,
    pairs.map(([from]) => from),
  )}, ${all}, ${text})`
}

/** Line separators of Unicode, which the engine escapes and nobody else does. */
const SEPARATORS = ['\u2028', '\u2029'].map(textLiteral)

/** Pairs of backslashes are set aside, so that what is left of the escapes is the engine's. */
export function jsonText(text: string): string {
  const json = `toJSONString(${text})`
  const kept = [
    [String.raw`'\\\\'`, String.raw`'\x01'`],
    [String.raw`'\\u2028'`, SEPARATORS[0]!],
    [String.raw`'\\u2029'`, SEPARATORS[1]!],
    [String.raw`'\x01'`, String.raw`'\\\\'`],
  ].reduce((inner, [from, to]) => `replaceAll(${inner}, ${from}, ${to})`, json)
  return `if(${holdsAny(text, SEPARATORS)}, ${kept}, ${json})`
}

const trueOrFalse = (column: string, yes: string, no: string) =>
  `multiIf(${column}, '${yes}', NOT ${column}, '${no}', NULL)`

const instant = (column: string, form: string) => `formatDateTime(${column}, '${form}', 'UTC')`

const JSON_SPELLING: Spelling = {
  text: (column) => jsonText(asText(column)),
  // Line breaks can only stand between values here: inside strings they are escaped.
  json: (column) => String.raw`translate(nullIf(${asText(column)}, ''), '\n\r', '  ')`,
  integer: asText,
  float: (column) => `if(isFinite(${column}), ${asText(column)}, NULL)`,
  boolean: (column) => trueOrFalse(column, 'true', 'false'),
  timestamp: (column) => instant(column, '"%Y-%m-%dT%H:%i:%S.%fZ"'),
}

/** With the names that PostgreSQL and most readers know; ClickHouse's own are `nan` and `inf`. */
function namedFloat(column: string): string {
  return (
    `multiIf(isNaN(${column}), 'NaN', ${column} = inf, 'Infinity', ${column} = -inf, '-Infinity',` +
    ` ${asText(column)})`
  )
}

const jsonLine: Line = (columns) => {
  const members = columns.map(({ name, kind }, index) => {
    const key = `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`
    return `${textLiteral(key)}, ifNull(${JSON_SPELLING[kind](columnAt(index))}, 'null')`
  })
  return String.raw`concat(${members.join(', ')}, '}\n')`
}

/** Characters that must not stand in a CSV field without quotes. */
const SPECIAL = [`','`, `'"'`, String.raw`'\n'`, String.raw`'\r'`]

/** An empty text is written as "", because nothing at all means null. */
function csvField(text: string): string {
  const quoted = `concat('"', replaceAll(${text}, '"', '""'), '"')`
  return `if(${text} = '' OR ${holdsAny(text, SPECIAL)}, ${quoted}, ${text})`
}

const CSV_SPELLING: Spelling = {
  text: (column) => csvField(asText(column)),
  json: (column) => csvField(`nullIf(${asText(column)}, '')`),
  integer: asText,
  float: namedFloat,
  boolean: (column) => trueOrFalse(column, 'true', 'false'),
  timestamp: (column) => instant(column, '%Y-%m-%dT%H:%i:%S.%fZ'),
}

const csvLine: Line = (columns) => {
  const fields = columns.map(({ kind }, index) => `ifNull(${CSV_SPELLING[kind](columnAt(index))}, '')`)
  return String.raw`concat(${fields.join(`, ',', `)}, '\r\n')`
}

// The backslash comes first: the other replacements add backslashes.
const escaped = (column: string) =>
  replaced(asText(column), [
    [String.raw`'\\'`, String.raw`'\\\\'`],
    [String.raw`'\t'`, String.raw`'\\t'`],
    [String.raw`'\n'`, String.raw`'\\n'`],
    [String.raw`'\r'`, String.raw`'\\r'`],
  ])

const COPY_SPELLING: Spelling = {
  text: escaped,
  json: escaped,
  integer: asText,
  float: namedFloat,
  boolean: (column) => trueOrFalse(column, 't', 'f'),
  timestamp: (column) => instant(column, '%Y-%m-%d %H:%i:%S.%f+00'),
}

const copyLine: Line = (columns) => {
  const cells = columns.map(
    ({ kind }, index) => String.raw`ifNull(${COPY_SPELLING[kind](columnAt(index))}, '\\N')`,
  )
  return String.raw`concat(${cells.join(String.raw`, '\t', `)}, '\n')`
}

export const LINES = { 'json-lines': jsonLine, csv: csvLine, 'copy-text': copyLine } as const
