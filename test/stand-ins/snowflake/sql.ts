// The statements that the Snowflake destination sends, as DuckDB's. Any other statement is an error.
import { digestShapes, type DigestWords } from '../warehouse/digest-shapes.ts'

export class SqlFault extends Error {
  constructor(
    readonly code: string,
    readonly sql_state: string,
    message: string,
  ) {
    super(message)
  }
}

const NAME = '"(?:""|[^"])*"'
const TEXT = String.raw`'(?:\\.|[^'\\])*'`

const DIGEST_WORDS: DigestWords = {
  name: NAME,
  text: TEXT,
  text_type: 'VARCHAR',
  integer_type: 'NUMBER\\(38, 0\\)',
  parameter: '\\?',
  md5: (text) => `MD5\\(${text}\\)`,
  numberOf: (digits) => `TO_NUMBER\\(${digits}, 'XXXXXXXX'\\)`,
  micros: (value) => `DATE_PART\\(EPOCH_MICROSECOND, ${value}\\)`,
  json: (value) => `TO_JSON\\(${value}\\)`,
  moment: `CAST\\(${TEXT} AS TIMESTAMP_NTZ\\(9\\)\\)`,
}

const KNOWN = [
  `SELECT CURRENT_WAREHOUSE\\(\\) AS "warehouse"`,
  'BEGIN TRANSACTION',
  'COMMIT',
  'ROLLBACK',
  `CREATE TABLE IF NOT EXISTS ${NAME} \\((${NAME} [A-Z]+(\\(\\d+\\))?(, )?)+\\)`,
  `CREATE OR REPLACE TRANSIENT TABLE ${NAME} \\(record VARIANT\\) DATA_RETENTION_TIME_IN_DAYS = 0`,
  `DROP TABLE IF EXISTS ${NAME}`,
  `SELECT "rows" FROM ${NAME} WHERE "run_id" = \\?`,
  `MERGE INTO ${NAME} AS t USING \\(SELECT \\? AS run_id, .+ AS row_count\\) AS s ON t\\."run_id" = s\\.run_id( WHEN MATCHED THEN UPDATE SET "rows" = s\\.row_count, "finished_at" = CURRENT_TIMESTAMP\\(\\))? WHEN NOT MATCHED THEN INSERT .+ VALUES .+`,
  `SELECT COLUMN_NAME AS "name", DATA_TYPE AS "type" FROM INFORMATION_SCHEMA\\.COLUMNS WHERE TABLE_SCHEMA = \\? AND TABLE_NAME = \\?`,
  `DESCRIBE TABLE ${NAME}`,
  `SELECT TABLE_NAME AS "name" FROM INFORMATION_SCHEMA\\.TABLES WHERE TABLE_SCHEMA = \\? AND TABLE_NAME IN \\((\\?(, )?)+\\)`,
  `INSERT INTO ${NAME} \\((${NAME}(, )?)+\\) SELECT (s\\.${NAME}(, )?)+ FROM \\(SELECT .+ FROM ${NAME}\\) AS s( WHERE NOT EXISTS \\(SELECT 1 FROM ${NAME} AS t WHERE t\\.${NAME} = s\\.${NAME}( AND t\\.${NAME} = s\\.${NAME})*\\))?`,
  `MERGE INTO ${NAME} AS t USING \\(SELECT .+ FROM ${NAME}\\) AS s ON (t\\.${NAME} = s\\.${NAME}( AND )?)+ WHEN MATCHED AND \\(.+\\) THEN UPDATE SET .+ WHEN NOT MATCHED THEN INSERT .+ VALUES .+`,
  `MERGE INTO ${NAME} AS t USING \\(SELECT (r\\.${NAME}, )+c\\.longshore_is_added FROM \\(SELECT .+ FROM ${NAME}\\)( AS s LEFT JOIN ${NAME} AS n ON .+ WHERE n\\.${NAME} IS NULL\\))? AS r CROSS JOIN \\(SELECT TRUE AS longshore_is_added UNION ALL SELECT FALSE AS longshore_is_added\\) AS c WHERE TRUE QUALIFY c\\.longshore_is_added OR ROW_NUMBER\\(\\) OVER \\(PARTITION BY (r\\.${NAME}, )+c\\.longshore_is_added ORDER BY r\\.${NAME}(, r\\.${NAME})*\\) = 1\\) AS s ON (t\\.${NAME} = s\\.${NAME} AND )+NOT s\\.longshore_is_added WHEN MATCHED THEN DELETE WHEN NOT MATCHED AND s\\.longshore_is_added THEN INSERT .+ VALUES .+`,
  ...digestShapes(DIGEST_WORDS),
].map((shape) => new RegExp(`^${shape}$`, 's'))

const TYPES: Record<string, string> = {
  STRING: 'VARCHAR',
  TEXT: 'VARCHAR',
  VARIANT: 'JSON',
  INTEGER: 'BIGINT',
  NUMBER: 'BIGINT',
  FLOAT: 'DOUBLE',
  TIMESTAMP: 'TIMESTAMP',
  'TIMESTAMP_NTZ(9)': 'TIMESTAMP',
  'TIMESTAMP_NTZ(3)': 'TIMESTAMP_MS',
}

/** The types of DuckDB by the names that Snowflake gives its own. */
const REPORTED =
  "CASE data_type WHEN 'VARCHAR' THEN 'TEXT' WHEN 'JSON' THEN 'VARIANT' WHEN 'BIGINT' THEN 'NUMBER' WHEN 'DOUBLE' THEN 'FLOAT' WHEN 'TIMESTAMP' THEN 'TIMESTAMP_NTZ' WHEN 'TIMESTAMP_MS' THEN 'TIMESTAMP_NTZ' ELSE data_type END"
/** The same as a description of the table has them. */
const DESCRIBED =
  "CASE column_type WHEN 'TIMESTAMP' THEN 'TIMESTAMP_NTZ(9)' WHEN 'TIMESTAMP_MS' THEN 'TIMESTAMP_NTZ(3)' ELSE column_type END"

export function toDuckDb(sql: string, place: { database: string; schema: string }): string {
  const statement = sql
    .replaceAll(`"${place.database}"."${place.schema}".`, '')
    .replaceAll(`"${place.database}".INFORMATION_SCHEMA`, 'INFORMATION_SCHEMA')
  if (!KNOWN.some((known) => known.test(statement))) {
    throw new SqlFault('001003', '42000', `SQL compilation error: syntax error in ${sql}`)
  }
  return statement
    .replaceAll(
      new RegExp(`TO_JSON\\(STRIP_NULL_VALUE\\(GET\\(record, (${TEXT})\\)\\)\\)`, 'g'),
      (_, key: string) => `printed_json(${jsonAt(key)})`,
    )
    .replaceAll(
      new RegExp(`STRIP_NULL_VALUE\\(GET\\(record, (${TEXT})\\)\\)`, 'g'),
      (_, key: string) => `CAST(${jsonAt(key)} AS JSON)`,
    )
    .replaceAll(
      new RegExp(`GET\\(record, (${TEXT})\\)::([A-Z_]+(?:\\(\\d\\))?)`, 'g'),
      (_, key: string, type: string) =>
        `CAST(json_extract_string(record, ${pointer(key)}) AS ${TYPES[type] ?? type})`,
    )
    .replaceAll(/(?<=[( ]"(?:""|[^"])*" )(STRING|VARIANT|INTEGER|FLOAT)(?=[,)])/g, (type) => TYPES[type]!)
    .replace('(record VARIANT) DATA_RETENTION_TIME_IN_DAYS = 0', '(record JSON)')
    .replace('OR REPLACE TRANSIENT TABLE', 'OR REPLACE TABLE')
    .replaceAll('CURRENT_TIMESTAMP()', 'now()::TIMESTAMP')
    .replace('DATA_TYPE AS "type"', `${REPORTED} AS "type"`)
    .replace(
      new RegExp(`^DESCRIBE TABLE (${NAME})$`),
      `SELECT column_name AS "name", ${DESCRIBED} AS "type" FROM (DESCRIBE $1)`,
    )
    .replaceAll(/TO_NUMBER\((SUBSTRING\("hash", \d, 8\)), 'XXXXXXXX'\)/g, "CAST('0x' || $1 AS BIGINT)")
    .replaceAll('DATE_PART(EPOCH_MICROSECOND, ', 'epoch_us(')
    .replaceAll(new RegExp(`TO_JSON\\((${NAME})\\)`, 'g'), 'printed_json(CAST($1 AS VARCHAR))')
    .replaceAll('AS NUMBER(38, 0))', 'AS DECIMAL(38, 0))')
    .replaceAll('AS TIMESTAMP_NTZ(9))', 'AS TIMESTAMP)')
    .replace('TABLE_SCHEMA = ?', `? = '${place.schema}'`)
}

/** Neither a missing value nor the null of JSON is a value. */
function jsonAt(key: string): string {
  return `NULLIF(CAST(json_extract(record, ${pointer(key)}) AS VARCHAR), 'null')`
}

function pointer(literal: string): string {
  const key = literal.slice(1, -1).replaceAll(/\\(.)/g, '$1')
  return `'/${key.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll("'", "''")}'`
}
