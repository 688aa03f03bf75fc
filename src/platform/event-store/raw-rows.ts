// Rows as the tables hold them, before their values take the form that was asked for. Each model has its own way to them.
import type { Parameter } from './event-store.ts'

export type RawRows = {
  /** Selects the values under their names. */
  sql: string
  /** In the order in which the engine numbers them. */
  parameters: readonly Parameter[]
  /** Names of the column with the position, and of the one by which people find a row. */
  position: string
  id: string
  /** Name of the column with the time of an event, where stretches of rows are asked for by their times; else null. */
  time: string | null
}

export function selectList(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, sql]) => `${sql} AS ${name}`)
    .join(', ')
}
