// The rows of an export in SQL: those of its source, with their values in the form that was asked for.
import type { PositionRange } from '../../event-store.ts'
import type { ExportColumn, ExportedColumn, ExportRows } from '../../export-rows.ts'
import type { RawRows } from '../../raw-rows.ts'
import type { Statement } from '../client.ts'
import { eventRows } from './event-rows.ts'
import { formSql } from './form-sql.ts'
import { personRows } from './person-rows.ts'
import { sessionRows } from './session-rows.ts'

/**
 * The SQL selects `position` (from 1 on), `time` if it has one, and then one column `c1`, `c2`, … for each of
 * `columns`: text and json as String, integer as any integer, float as Float64, boolean as Bool or a number, timestamp as
 * DateTime64(6); all may be null.
 */
export type WrittenRows = Statement & { columns: readonly ExportColumn[]; has_time: boolean }

/** Whoever reads the positions of a range only says so, and spares the engine questions. */
export function writeRows(rows: ExportRows, range: PositionRange | null = null): WrittenRows {
  const { columns } = rows
  const { sql, parameters, position, time } = rawRows(rows, range)
  const list = columns.map((column, index) => `${valueSql(column, position)} AS c${index + 1}`)
  const times = time === null ? [] : [`r.${time} AS time`]
  const selected = [`r.${position} AS position`, ...times, ...list].join(', ')
  return { columns, has_time: time !== null, sql: `SELECT ${selected} FROM (${sql}) AS r`, parameters }
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
