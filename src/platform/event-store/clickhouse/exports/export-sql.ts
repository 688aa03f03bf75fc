// SQL statements of exports. Rows are sorted by position, which is the order in which events lie in their table.
import { areaCondition, hullOf } from '../../area-condition.ts'
import { placeOfArea } from '../../area-tree.ts'
import type { ExportFormat, PositionRange } from '../../event-store.ts'
import type { Area, ColumnKind, EventChoice, ExportColumn } from '../../export-rows.ts'
import type { Statement } from '../client.ts'
import { columnAt, LINES } from './line-sql.ts'
import type { WrittenRows } from './rows-sql.ts'
import { identifier, milliseconds, SPELLING } from './spelling.ts'

/**
 * Answers with a row for each area that holds any: its place in the list, how many rows it has, and its first and last time
 * in milliseconds since 1970.
 */
export function areasSql({ query }: EventChoice, areas: readonly Area[]): Statement {
  const { sql, parameters, position, time } = query
  const hull = hullOf(areas)
  // Granules of the table outside of this are not read.
  const around = areaCondition(hull, query, SPELLING)
  const range = { from: hull.seq_from, to: hull.seq_to }
  const place = placeOfArea(areas, range, { position: 'p.position', time: 'p.time' }, SPELLING)
  return {
    sql: `
      SELECT m.place, count(), ${milliseconds('min(m.time)')}, ${milliseconds('max(m.time)')} FROM (
        SELECT p.time AS time, ${place} AS place
        FROM (SELECT ${position} AS position, ${time} AS time FROM (${sql}) WHERE ${around}) AS p) AS m
      WHERE m.place IS NOT NULL GROUP BY m.place`,
    parameters,
  }
}

/** Answers with the number of each block, and its last position, rows and times: block 0 has the positions from 1 on. */
export function countSql({ sql, parameters, has_time }: WrittenRows, block_size: number): Statement {
  const block = `intDiv(r.position - 1, ${SPELLING.whole(block_size)})`
  const times = has_time ? `, ${milliseconds('min(r.time)')}, ${milliseconds('max(r.time)')}` : ''
  return {
    sql: `SELECT ${block} AS block, max(r.position), count()${times}
      FROM (${sql}) AS r GROUP BY block ORDER BY block`,
    parameters,
  }
}

/** Answers with the last position, rows and times of each stretch of so many rows. */
export function cutSql(rows: WrittenRows, range: PositionRange, max_rows: number): Statement {
  return stretchesSql(rows, range, {
    weight: '1',
    grain: 1,
    stretch: `intDiv(g.upto - 1, ${SPELLING.whole(max_rows)})`,
  })
}

/** The same of so many bytes. */
export function cutByBytesSql(rows: WrittenRows, range: PositionRange, max_bytes: number): Statement {
  return stretchesSql(rows, range, {
    weight: bytesOf(rows.columns),
    grain: BYTES_GRAIN,
    stretch: `intDiv(toInt128(g.upto - 1) * toInt128(ceil(g.total / ${SPELLING.whole(max_bytes)})), g.total)`,
  })
}

function stretchesSql(
  rows: WrittenRows,
  range: PositionRange,
  { weight, grain, stretch }: { weight: string; grain: number; stretch: string },
): Statement {
  const [grain_times, times] = rows.has_time
    ? [
        ', min(r.time) AS first, max(r.time) AS last',
        `, ${milliseconds('min(g.first)')}, ${milliseconds('max(g.last)')}`,
      ]
    : ['', '']
  return {
    sql: `WITH grains AS (
        SELECT max(r.position) AS position, count() AS rows, sum(${weight}) AS weight${grain_times}
        ${within(rows, range)} GROUP BY intDiv(r.position, ${grain}))
      SELECT max(g.position) AS upto_position, sum(g.rows)${times}
      FROM (SELECT *, sum(weight) OVER () AS total,
          sum(weight) OVER (ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS upto
        FROM grains) AS g
      GROUP BY ${stretch} ORDER BY upto_position`,
    parameters: rows.parameters,
  }
}

/** Positions are weighed in groups of this many: what is cut finer is seldom needed. */
const BYTES_GRAIN = 16
/** Bytes of a number, or of the pointer to a text. */
const VALUE_BYTES = 8

function bytesOf(columns: readonly ExportColumn[]): string {
  const texts = columns.flatMap(({ kind }, index) =>
    kind === 'text' || kind === 'json' ? [`ifNull(length(toString(${columnAt(index)})), 0)`] : [],
  )
  return [VALUE_BYTES * columns.length, ...texts].join(' + ')
}

function within({ sql }: WrittenRows, { from, to }: PositionRange): string {
  const { whole } = SPELLING
  return `FROM (${sql}) AS r WHERE r.position > ${whole(from)} AND r.position <= ${whole(to)}`
}

/** Answers with one line of JSON for each row. Only those that are left are put into lines. */
export function lastRowsSql({ sql, parameters, columns }: WrittenRows, count: number): Statement {
  const last = `SELECT * FROM (${sql}) AS l ORDER BY l.position DESC LIMIT ${Math.trunc(count)}`
  const line = LINES['json-lines'](columns)
  return { sql: `SELECT ${line} FROM (${last}) AS r ORDER BY r.position DESC`, parameters }
}

/** Answers with the bytes of the file. */
export function exportSql(
  rows: WrittenRows,
  range: PositionRange,
  format: ExportFormat,
): Statement & { format: string } {
  const isParquet = format.kind === 'parquet'
  const list = isParquet ? parquetColumns(rows.columns) : LINES[format.kind](rows.columns)
  return {
    sql: `SELECT ${list} ${within(rows, range)} ORDER BY r.position`,
    parameters: rows.parameters,
    // Values as they are, one behind the other.
    format: isParquet ? 'Parquet' : 'RawBLOB',
  }
}

const PARQUET_TYPES: Record<ColumnKind, string> = {
  text: 'String',
  json: 'String',
  integer: 'Int64',
  float: 'Float64',
  boolean: 'Bool',
  timestamp: `DateTime64(6, \\'UTC\\')`,
}

function parquetColumns(columns: readonly ExportColumn[]): string {
  return columns
    .map(
      ({ name, kind }, index) =>
        `CAST(${columnAt(index)}, 'Nullable(${PARQUET_TYPES[kind]})') AS ${identifier(name)}`,
    )
    .join(', ')
}
