// SQL statements of the exporter. Rows come in order of position: the table of events is stored in that order and
// DuckDB keeps it; all other rows are sorted.
import type { ExportFormat, Parameter, ParquetCompression, PositionRange } from '../event-store.ts'
import type { ColumnKind, ExportColumn } from '../export-rows.ts'
import { columnAt, LINES, textLiteral } from './line-sql.ts'
import { milliseconds } from './milliseconds.ts'
import type { WrittenRows } from './rows-sql.ts'
import type { Statement } from './statements.ts'

/** Answers with the number of each block, and its last position, rows and times: block 0 has the positions from 1 on. */
export function countSql({ sql, parameters, has_time }: WrittenRows, block_size: number): Statement {
  const size = `$${parameters.length + 1}`
  const times = has_time ? `, ${milliseconds('min(r.time)')}, ${milliseconds('max(r.time)')}` : ''
  return {
    sql: `SELECT (r.position - 1) // ${size} AS block, max(r.position), count(*)${times}
      FROM (${sql}) AS r GROUP BY block ORDER BY block`,
    parameters: [...parameters, block_size],
  }
}

/** Answers with the last position, rows and times of each stretch of so many rows. */
export function cutSql(rows: WrittenRows, range: PositionRange, max_rows: number): Statement {
  return stretchesSql(rows, range, { weight: '1', grain: 1, stretch: `(upto - 1) // ${max_rows}` })
}

/** The same of about so many bytes. */
export function cutByBytesSql(rows: WrittenRows, range: PositionRange, max_bytes: number): Statement {
  return stretchesSql(rows, range, {
    weight: bytesOf(rows.columns),
    grain: BYTES_GRAIN,
    stretch: `(upto - 1) * ceil(total / ${max_bytes})::BIGINT // total`,
  })
}

function stretchesSql(
  rows: WrittenRows,
  range: PositionRange,
  { weight, grain, stretch }: { weight: string; grain: number; stretch: string },
): Statement {
  const { within, parameters } = stretchOf(rows, range)
  const [grain_times, times] = rows.has_time
    ? [
        ', min(r.time) AS first, max(r.time) AS last',
        `, ${milliseconds('min(first)')}, ${milliseconds('max(last)')}`,
      ]
    : ['', '']
  return {
    sql: `WITH grain AS (
        SELECT max(r.position) AS position, count(*) AS rows, sum(${weight}) AS weight${grain_times}
        ${within} GROUP BY r.position // ${grain})
      SELECT max(position), sum(rows)${times}
      FROM (SELECT *, sum(weight) OVER () AS total,
          sum(weight) OVER (ORDER BY position ROWS UNBOUNDED PRECEDING) AS upto FROM grain)
      GROUP BY ${stretch} ORDER BY 1`,
    parameters,
  }
}

/** Positions are weighed in groups of this many: adding up takes half as long as one by one. */
const BYTES_GRAIN = 16
/** Bytes of a number, or of the pointer to a text. */
const VALUE_BYTES = 8

function bytesOf(columns: readonly ExportColumn[]): string {
  const texts = columns.flatMap(({ kind }, index) =>
    kind === 'text' || kind === 'json' ? [`coalesce(strlen(CAST(${columnAt(index)} AS VARCHAR)), 0)`] : [],
  )
  return [VALUE_BYTES * columns.length, ...texts].join(' + ')
}

function stretchOf(
  { sql, parameters }: WrittenRows,
  { from, to }: PositionRange,
): { within: string; parameters: readonly Parameter[] } {
  const [above, upTo] = [`$${parameters.length + 1}`, `$${parameters.length + 2}`]
  return {
    within: `FROM (${sql}) AS r WHERE r.position > ${above} AND r.position <= ${upTo}`,
    parameters: [...parameters, from, to],
  }
}

/** Answers with the plan as JSON text, in the second column. */
export function planSql({ sql, parameters }: Statement): Statement {
  return { sql: `EXPLAIN (FORMAT json) ${sql}`, parameters }
}

type PlanNode = { name: string; children: PlanNode[] }

/** Whether rows are read from files in order, with no step in between that mixes them: true for events only. */
export function readsInOrder(plan: string): boolean {
  const [top] = JSON.parse(plan) as PlanNode[]
  for (let node = top; node; node = node.children[0]) {
    if (node.children.length > 1) return false
    if (node.name.trim() === 'READ_PARQUET') return true
    if (!['PROJECTION', 'FILTER'].includes(node.name.trim())) return false
  }
  return false
}

/** Answers with one line of JSON for each row. Only those that are left are put into lines. */
export function lastRowsSql({ sql, parameters, columns }: WrittenRows, count: number): Statement {
  const last = `SELECT * FROM (${sql}) AS r ORDER BY r.position DESC LIMIT ${Math.trunc(count)}`
  const line = LINES['json-lines'](columns)
  return { sql: `SELECT ${line} FROM (${last}) AS r ORDER BY r.position DESC`, parameters }
}

/** Answers how many lines or rows it wrote. */
export function copySql(
  rows: WrittenRows,
  range: PositionRange,
  format: ExportFormat,
  path: string,
  isInOrder: boolean,
): Statement {
  const { within, parameters } = stretchOf(rows, range)
  const isParquet = format.kind === 'parquet'
  const list = isParquet ? parquetColumns(rows.columns) : LINES[format.kind](rows.columns)
  const select = `SELECT ${list} ${within}${isInOrder ? '' : ' ORDER BY r.position'}`
  const options = isParquet ? parquetOptions(format) : AS_IT_IS
  return { sql: `COPY (${select}) TO ${textLiteral(path)} ${options}`, parameters }
}

/** COPY text of rows that have one text, `r.c1`. */
export function textsSql(from: string, path: string): string {
  const line = LINES['copy-text']([{ name: 'c1', kind: 'text' }])
  return `COPY (SELECT ${line} FROM ${from}) TO ${textLiteral(path)} ${AS_IT_IS}`
}

// Otherwise DuckDB writes to a temporary file first, and leaves that file behind when it fails.
const TO_THE_FILE = 'USE_TMP_FILE false'

// One column without quotes: the lines as they are. FORMAT blob would write every line to the file by itself, which takes
// twice the CPU where lines are short.
const AS_IT_IS = `(${TO_THE_FILE}, FORMAT csv, HEADER false, QUOTE '', ESCAPE '')`

const CODECS: Record<ParquetCompression, string> = {
  zstd: 'zstd',
  snappy: 'snappy',
  lz4: 'lz4_raw',
  gzip: 'gzip',
  brotli: 'brotli',
  none: 'uncompressed',
}

// The engine has the values of a row group in memory, and its pages beside them. Larger groups are read and packed a little
// better.
const ROW_GROUP_OPTIONS = "ROW_GROUP_SIZE 122880, ROW_GROUP_SIZE_BYTES '16MB'"

function parquetOptions({ compression, level }: Extract<ExportFormat, { kind: 'parquet' }>): string {
  const atLevel = level === undefined ? '' : `, COMPRESSION_LEVEL ${level}`
  return `(${TO_THE_FILE}, FORMAT parquet, COMPRESSION ${CODECS[compression]}${atLevel}, ${ROW_GROUP_OPTIONS})`
}

const PARQUET_VALUES: Partial<Record<ColumnKind, (column: string) => string>> = {
  text: (column) => `CAST(${column} AS VARCHAR)`,
  json: (column) => `CAST(${column} AS VARCHAR)`,
  // A cast would consult the calendar of the connection's time zone for every value.
  timestamp: (column) => `make_timestamptz(epoch_us(${column}))`,
}

function parquetColumns(columns: readonly ExportColumn[]): string {
  return columns
    .map(({ name, kind }, index) => {
      const column = columnAt(index)
      return `${PARQUET_VALUES[kind]?.(column) ?? column} AS "${name.replaceAll('"', '""')}"`
    })
    .join(', ')
}
