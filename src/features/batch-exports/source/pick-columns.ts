// Fewer columns of the same rows: what verification compares of them.
import type { ExportRows } from '../../../platform/event-store/event-store.ts'

/** These columns, in this order, and with a name for it the position as one more. */
export function pickColumns(
  rows: ExportRows,
  names: readonly string[],
  position_as: string | null = null,
): ExportRows {
  const picked = names.map((name) => rows.columns.findIndex((column) => column.name === name))
  const list = picked.map((at, index) => `c${at + 1} AS c${index + 1}`)
  const columns = picked.map((at) => rows.columns[at]!)
  if (position_as === null) {
    return { ...rows, sql: `SELECT ${['position', ...list].join(', ')} FROM (${rows.sql})`, columns }
  }
  list.push(`position AS c${list.length + 1}`)
  return {
    ...rows,
    sql: `SELECT ${['position', ...list].join(', ')} FROM (${rows.sql})`,
    columns: [...columns, { name: position_as, kind: 'integer' }],
  }
}
