// The statements that the Databricks destination sends, as DuckDB's. Any other statement is an error.
import { digestShapes, type DigestWords } from '../warehouse/digest-shapes.ts'
import { partsOf, quoted } from '../warehouse/tables.ts'

/** How names look once they are quoted as DuckDB wants them. */
const NAME = '"(?:""|[^"])*"'
const TEXT = "'(?:''|[^'])*'"

const COLUMNS = `\\((${NAME} [A-Z]+(\\(\\d+\\))?(, )?)+\\)`
const SELECTED = `SELECT .+`

const DIGEST_WORDS: DigestWords = {
  name: NAME,
  text: TEXT,
  text_type: 'STRING',
  integer_type: 'BIGINT',
  parameter: ':bucket',
  md5: (text) => `md5\\(${text}\\)`,
  numberOf: (digits) => `CAST\\(conv\\(${digits}, 16, 10\\) AS BIGINT\\)`,
  micros: (value) => `unix_micros\\(${value}\\)`,
  json: (value) => `to_json\\(${value}\\)`,
  moment: `CAST\\(${TEXT} AS TIMESTAMP\\)`,
}

const KNOWN = [
  'SELECT 1',
  `CREATE VOLUME IF NOT EXISTS ${NAME}`,
  `CREATE TABLE IF NOT EXISTS ${NAME} ${COLUMNS}( TBLPROPERTIES \\('delta.columnMapping.mode' = 'name'\\))?`,
  `ALTER TABLE ${NAME} ADD COLUMNS ${COLUMNS}`,
  `DROP TABLE IF EXISTS ${NAME}`,
  `SELECT ${NAME} FROM ${NAME} WHERE ${NAME} = :run_id`,
  `MERGE INTO ${NAME} AS t USING \\(SELECT :run_id AS run_id, .+ AS row_count\\) AS s ON t\\.${NAME} = s\\.run_id( WHEN MATCHED THEN UPDATE SET ${NAME} = s\\.row_count, ${NAME} = current_timestamp\\(\\))? WHEN NOT MATCHED THEN INSERT .+`,
  `SELECT column_name, data_type FROM information_schema\\.columns WHERE table_schema = lower\\(:schema\\) AND table_name = lower\\(:table\\)`,
  `MERGE INTO ${NAME} AS t USING \\(${SELECTED} FROM \\(SELECT from_json\\(value, ${TEXT}\\) AS r FROM read_files\\(${TEXT}, format => 'text'\\)\\)\\) AS s ON (t\\.${NAME} = s\\.${NAME}( AND )?)+( WHEN MATCHED AND .+)? WHEN NOT MATCHED THEN INSERT .+`,
  `MERGE INTO ${NAME} AS t USING \\(SELECT (r\\.${NAME}, )+c\\.longshore_is_added FROM \\(SELECT .+read_files\\(${TEXT}, format => 'text'\\)\\)\\)( AS s LEFT JOIN ${NAME} AS n ON .+ WHERE n\\.${NAME} IS NULL\\))? AS r CROSS JOIN \\(SELECT TRUE AS longshore_is_added UNION ALL SELECT FALSE AS longshore_is_added\\) AS c WHERE TRUE QUALIFY c\\.longshore_is_added OR ROW_NUMBER\\(\\) OVER \\(PARTITION BY (r\\.${NAME}, )+c\\.longshore_is_added ORDER BY r\\.${NAME}(, r\\.${NAME})*\\) = 1\\) AS s ON (t\\.${NAME} = s\\.${NAME} AND )+NOT s\\.longshore_is_added WHEN MATCHED THEN DELETE WHEN NOT MATCHED AND s\\.longshore_is_added THEN INSERT .+ VALUES .+`,
  `COPY INTO ${NAME} FROM \\(${SELECTED} FROM ${TEXT}\\) FILEFORMAT = TEXT FILES = \\((${TEXT}(, )?)+\\)`,
  ...digestShapes(DIGEST_WORDS),
].map((shape) => new RegExp(`^${shape}$`, 's'))

const REPORTED =
  "CASE data_type WHEN 'VARCHAR' THEN 'STRING' WHEN 'JSON' THEN 'VARIANT' ELSE data_type END AS data_type"

/** Names and texts in DuckDB's quotes, the catalog and the schema gone; the rest as it was sent. */
export function readStatement(sql: string, place: { catalog: string; schema: string }): string {
  const here = `\`${place.catalog}\`.\`${place.schema}\`.`
  const local = sql
    .replaceAll(here, '')
    .replaceAll(`\`${place.catalog}\`.information_schema`, 'information_schema')
  const statement = partsOf(local, '`')
    .map(({ kind, text }) => {
      if (kind === 'code') return text
      return kind === 'name' ? quoted(text) : `'${text.replaceAll(/\\(.)/g, '$1').replaceAll("'", "''")}'`
    })
    .join('')
  if (!KNOWN.some((known) => known.test(statement))) throw new Error(`[PARSE_SYNTAX_ERROR] ${sql}`)
  return statement
}

/** `filesIn` gives the paths of a folder's files as DuckDB can read them. */
export function toDuckDb(statement: string, filesIn: (folder: string) => string[]): string[] {
  const altered = /^ALTER TABLE (.+?) ADD COLUMNS \((.+)\)$/s.exec(statement)
  if (altered) {
    const columns = altered[2]!.matchAll(new RegExp(`(${NAME}) ([A-Z]+(?:\\(\\d+\\))?)`, 'g'))
    return [...columns].map(
      ([, name, type]) => `ALTER TABLE ${altered[1]} ADD COLUMN ${name} ${typeOf(type!)}`,
    )
  }
  const translated = statement
    .replaceAll(/read_files\('((?:''|[^'])*)', format => 'text'\)/g, (_, folder: string) =>
      linesOf(filesIn(folder)),
    )
    .replaceAll(
      /from_json\(value, '((?:''|[^'])*)'\)/g,
      (_, ddl: string) => `json_transform(value, '${structOf(ddl)}')`,
    )
    .replaceAll(/parse_json\(((?:[^()]|\([^()]*\))+)\)/g, 'CAST($1 AS JSON)')
    .replaceAll(/(?<=[( ]"(?:""|[^"])*" )(STRING|VARIANT)(?=[,)])/g, typeOf)
    .replace(/ TBLPROPERTIES .+$/, '')
    .replaceAll('current_timestamp()', 'now()::TIMESTAMP')
    .replaceAll(/conv\((SUBSTRING\("hash", \d, 8\)), 16, 10\)/g, "'0x' || $1")
    .replaceAll('unix_micros(', 'epoch_us(')
    .replaceAll(new RegExp(`to_json\\((${NAME})\\)`, 'g'), 'printed_json(CAST($1 AS VARCHAR))')
    .replace('SELECT column_name, data_type', `SELECT column_name, ${REPORTED}`)
    .replace('table_schema = lower(:schema)', ":schema <> ''")
  return [translated.replaceAll(/(?<=[ (]):([a-z_]+)/g, '$$$1')]
}

function typeOf(type: string): string {
  return { STRING: 'VARCHAR', VARIANT: 'JSON' }[type] ?? type
}

export function linesOf(paths: readonly string[]): string {
  const list = paths.map((path) => `'${path}'`).join(', ')
  return `(SELECT CAST(json AS VARCHAR) AS value FROM read_ndjson_objects([${list}]))`
}

function structOf(ddl: string): string {
  const fields = partsOf(ddl.replaceAll("''", "'"), '`')
  const entries: Record<string, string> = {}
  fields.forEach(({ kind, text }, index) => {
    if (kind === 'name') entries[text] = typeOf(/^ ([A-Z]+)/.exec(fields[index + 1]!.text)![1]!)
  })
  return JSON.stringify(entries).replaceAll("'", "''")
}
