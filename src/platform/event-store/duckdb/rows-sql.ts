// The rows of an export in SQL: those of its source, with their values in the form that was asked for.
import type { ExportColumn, ExportedColumn, ExportRows } from '../export-rows.ts'
import { eventRows } from './event-rows.ts'
import { formSql } from './form-sql.ts'
import { personRows } from './person-rows.ts'
import type { RawRows } from './raw-rows.ts'
import { sessionRows } from './session-rows.ts'
import type { Statement } from './statements.ts'

/**
 * The SQL selects `position` (BIGINT from 1 on, unique) and then one column `c1`, `c2`, … for each of `columns`: text as
 * VARCHAR, json as VARCHAR or JSON, integer as any integer, float as DOUBLE, boolean as BOOLEAN, timestamp as TIMESTAMP in
 * UTC; all may be null.
 */
export type WrittenRows = Statement & { project_id: number; columns: readonly ExportColumn[] }

export function writeRows(rows: ExportRows): WrittenRows {
  const { project_id, columns } = rows
  const { sql, parameters, position } = rawRows(rows)
  const list = columns.map((column, index) => `${valueSql(column, position)} AS c${index + 1}`)
  const selected = [`r.${position} AS position`, ...list].join(', ')
  return { project_id, columns, sql: `SELECT ${selected} FROM (${sql}) AS r`, parameters }
}

export function rawRows({ project_id, source }: ExportRows): RawRows {
  switch (source.model) {
    case 'events':
      return eventRows(source)
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
