// Fewer columns of the same rows: what verification compares of them.
import type { ExportRows } from '../../../platform/event-store/export-rows.ts'

/** These columns, in this order, and with a name for it the position as one more. */
export function pickColumns(
  rows: ExportRows,
  names: readonly string[],
  position_as: string | null = null,
): ExportRows {
  const picked = names.map((name) => rows.columns.find((column) => column.name === name)!)
  const position = { name: position_as!, kind: 'integer', value: 'position' } as const
  return { ...rows, columns: position_as === null ? picked : [...picked, position] }
}
