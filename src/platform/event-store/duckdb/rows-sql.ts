// The rows of an export in SQL: those of its source, with their values in the form that was asked for.
import type { AskedProperty, PositionRange } from '../event-store.ts'
import { propertiesOf, type ExportColumn, type ExportedColumn, type ExportRows } from '../export-rows.ts'
import { eventRows } from './event-rows.ts'
import { formSql } from './form-sql.ts'
import { personRows } from './person-rows.ts'
import type { RawRows } from '../raw-rows.ts'
import { sessionRows } from './session-rows.ts'
import type { Statement } from './statements.ts'

/**
 * The SQL selects `position` (BIGINT from 1 on), `time` if it has one, and then one column `c1`, `c2`, … for each of `columns`: text as
 * VARCHAR, json as VARCHAR or JSON, integer as any integer, float as DOUBLE, boolean as BOOLEAN, timestamp as TIMESTAMP in
 * UTC; all may be null.
 */
export type WrittenRows = Statement & {
  project_id: number
  columns: readonly ExportColumn[]
  has_time: boolean
  properties: readonly AskedProperty[]
}

/** Whoever reads the positions of a range only says so, and spares the engine questions. */
export function writeRows(rows: ExportRows, range: PositionRange | null = null): WrittenRows {
  const { project_id, columns } = rows
  const { sql, parameters, position, time } = rawRows(rows, range)
  const list = columns.map((column, index) => `${valueSql(column, position)} AS c${index + 1}`)
  const times = time === null ? [] : [`r.${time} AS time`]
  const selected = [`r.${position} AS position`, ...times, ...list].join(', ')
  return {
    project_id,
    columns,
    has_time: time !== null,
    properties: propertiesOf(rows),
    sql: `SELECT ${selected} FROM (${sql}) AS r`,
    parameters,
  }
}

export function rawRows({ project_id, source }: ExportRows, range: PositionRange | null = null): RawRows {
  switch (source.model) {
    case 'events':
      return eventRows(source, range)
    case 'persons':
      return personRows(project_id, source)
    case 'sessions':
      return sessionRows(project_id, source)
  }
}

function valueSql({ kind, value }: ExportedColumn, position: string): string {
  if (value === 'position') return `r.${position}`
  const raw = `r.${value.of}`
  return value.form === null ? raw : formSql(raw, kind, value.form)
}
