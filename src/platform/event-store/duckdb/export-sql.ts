// The statements of the exporter. Rows are sorted by position, whatever the plan of their SQL: pieces are small, and what
// Parquet makes of rows depends on how they are dealt out, which sorting makes the same on any number of cores.
import type {
  ColumnKind,
  ExportColumn,
  ExportFormat,
  ExportRows,
  Parameter,
  ParquetCompression,
} from '../event-store.ts'
import { columnAt, LINE_FORMATS, textLiteral } from './line-sql.ts'

type Statement = { sql: string; parameters: readonly Parameter[] }

/** Blocks by number: block 0 holds the positions from 1 on. */
export function countSql({ sql, parameters }: ExportRows, block_size: number): Statement {
  const size = `$${parameters.length + 1}`
  return {
    sql: `SELECT (r.position - 1) // ${size} AS block, count(*) FROM (${sql}) AS r GROUP BY block ORDER BY block`,
    parameters: [...parameters, block_size],
  }
}

/** Answers how many lines or rows it wrote. */
export function copySql(
  rows: ExportRows,
  { from, to }: { from: number; to: number },
  format: ExportFormat,
  path: string,
): Statement & { header_lines: number } {
  const [above, upTo] = [`$${rows.parameters.length + 1}`, `$${rows.parameters.length + 2}`]
  const within = `FROM (${rows.sql}) AS r WHERE r.position > ${above} AND r.position <= ${upTo}`
  const parameters = [...rows.parameters, from, to]
  if (format.kind === 'parquet') {
    const select = `SELECT ${parquetColumns(rows.columns)} ${within} ORDER BY r.position`
    return {
      sql: `COPY (${select}) TO ${textLiteral(path)} ${parquetOptions(format.compression)}`,
      parameters,
      header_lines: 0,
    }
  }
  const { line, header } = LINE_FORMATS[format.kind]
  const first = header(rows.columns)
  const lines = `SELECT r.position, ${line(rows.columns)} AS line ${within}`
  // Before all positions.
  const all =
    first === null ? lines : `SELECT 0 AS position, ${textLiteral(first)} AS line UNION ALL ${lines}`
  return {
    sql: `COPY (SELECT line FROM (${all}) ORDER BY position) TO ${textLiteral(path)} ${AS_IT_IS}`,
    parameters,
    header_lines: first === null ? 0 : 1,
  }
}

// Otherwise it writes to a file of its own naming first, and leaves that one when it fails.
const TO_THE_FILE = 'USE_TMP_FILE false'

// One column, and no quotes: every text becomes a line as it is.
const AS_IT_IS = `(${TO_THE_FILE}, FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\\x01', NULLSTR '')`

const CODECS: Record<ParquetCompression, string> = {
  zstd: 'zstd',
  snappy: 'snappy',
  lz4: 'lz4_raw',
  gzip: 'gzip',
  brotli: 'brotli',
  none: 'uncompressed',
}

function parquetOptions(compression: ParquetCompression): string {
  return `(${TO_THE_FILE}, FORMAT parquet, COMPRESSION ${CODECS[compression]}, ROW_GROUP_SIZE 122880)`
}

const PARQUET_VALUES: Partial<Record<ColumnKind, (column: string) => string>> = {
  text: (column) => `CAST(${column} AS VARCHAR)`,
  json: (column) => `CAST(${column} AS VARCHAR)`,
  // The connection's zone is UTC.
  timestamp: (column) => `CAST(${column} AS TIMESTAMPTZ)`,
}

function parquetColumns(columns: readonly ExportColumn[]): string {
  return columns
    .map(({ name, kind }, index) => {
      const column = columnAt(index)
      return `${PARQUET_VALUES[kind]?.(column) ?? column} AS "${name.replaceAll('"', '""')}"`
    })
    .join(', ')
}
