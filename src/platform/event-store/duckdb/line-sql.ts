// A row as one line of text, put together by DuckDB itself: a third cheaper than in JavaScript. The exporter writes them.
import type { ColumnKind, ExportColumn } from '../export-rows.ts'

/** The SQL of a whole line, without the line feed after it, from `r.c1`, `r.c2`, … */
type Line = (columns: readonly ExportColumn[]) => string

/** A value as text; null where it is null. */
type Spelling = Record<ColumnKind, (column: string) => string>

const [TAB, LINE_FEED, RETURN] = ['chr(9)', 'chr(10)', 'chr(13)']
const asText = (column: string) => `CAST(${column} AS VARCHAR)`
/** Qualified: a column's name may be one of ours. */
export const columnAt = (index: number) => `r.c${index + 1}`

export function textLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** `replace` reads every character twice; most texts hold none of these. */
function replaced(text: string, pairs: readonly (readonly [string, string])[]): string {
  const holdsAny = pairs.map(([from]) => `contains(${text}, ${from})`).join(' OR ')
  const all = pairs.reduce((inner, [from, to]) => `replace(${inner}, ${from}, ${to})`, text)
  return `CASE WHEN ${holdsAny} THEN ${all} ELSE ${text} END`
}

const JSON_SPELLING: Spelling = {
  text: (column) => asText(`to_json(${asText(column)})`),
  // Line breaks can only stand between values here: inside strings they are escaped.
  json: (column) =>
    replaced(`nullif(${asText(column)}, '')`, [
      [LINE_FEED, "' '"],
      [RETURN, "' '"],
    ]),
  integer: asText,
  float: (column) => `CASE WHEN isfinite(${column}) THEN ${asText(column)} END`,
  boolean: asText,
  timestamp: (column) => instant(column, '"%Y-%m-%dT%H:%M:%S.%fZ"'),
}

/** With the names that PostgreSQL and most readers know; DuckDB's own are `nan` and `inf`. */
function namedFloat(column: string): string {
  return (
    `CASE WHEN isnan(${column}) THEN 'NaN' WHEN isinf(${column}) AND ${column} > 0 THEN 'Infinity'` +
    ` WHEN isinf(${column}) THEN '-Infinity' ELSE ${asText(column)} END`
  )
}

/** Null for infinities: JSON does not know them, nor does strftime. */
function instant(column: string, form: string): string {
  return `CASE WHEN isfinite(${column}) THEN strftime(${column}, '${form}') END`
}

const jsonLine: Line = (columns) => {
  const members = columns.map(({ name, kind }, index) => {
    const key = `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`
    return `${textLiteral(key)}, coalesce(${JSON_SPELLING[kind](columnAt(index))}, 'null')`
  })
  return `concat(${members.join(', ')}, '}')`
}

/** Characters that must not stand in a CSV field without quotes. */
const SPECIAL = ["','", `'"'`, LINE_FEED, RETURN]

/** An empty text is written as "", because nothing at all means null. */
function csvField(text: string): string {
  const isSpecial = SPECIAL.map((character) => `contains(${text}, ${character})`).join(' OR ')
  const quoted = `concat('"', replace(${text}, '"', '""'), '"')`
  return `CASE WHEN ${text} = '' OR ${isSpecial} THEN ${quoted} ELSE ${text} END`
}

const CSV_SPELLING: Spelling = {
  text: (column) => csvField(asText(column)),
  json: (column) => csvField(`nullif(${asText(column)}, '')`),
  integer: asText,
  float: namedFloat,
  boolean: asText,
  timestamp: (column) => instant(column, '%Y-%m-%dT%H:%M:%S.%fZ'),
}

const csvLine: Line = (columns) => {
  const fields = columns.map(({ kind }, index) => `coalesce(${CSV_SPELLING[kind](columnAt(index))}, '')`)
  return `concat(concat_ws(',', ${fields.join(', ')}), ${RETURN})`
}

// The backslash comes first: the other replacements add backslashes.
const escaped = (column: string) =>
  replaced(asText(column), [
    ["'\\'", "'\\\\'"],
    [TAB, "'\\t'"],
    [LINE_FEED, "'\\n'"],
    [RETURN, "'\\r'"],
  ])

const COPY_SPELLING: Spelling = {
  text: escaped,
  json: escaped,
  integer: asText,
  float: namedFloat,
  boolean: (column) => `CASE WHEN ${column} THEN 't' WHEN NOT ${column} THEN 'f' END`,
  timestamp: (column) =>
    `CASE WHEN isfinite(${column}) THEN strftime(${column}, '%Y-%m-%d %H:%M:%S.%f+00') ELSE ${asText(column)} END`,
}

const copyLine: Line = (columns) => {
  const cells = columns.map(({ kind }, index) => `coalesce(${COPY_SPELLING[kind](columnAt(index))}, '\\N')`)
  return `concat_ws(${TAB}, ${cells.join(', ')})`
}

export const LINES = { 'json-lines': jsonLine, csv: csvLine, 'copy-text': copyLine } as const
