// Rows as the store holds them, before they take the form that a destination wants. Each model has its own way to them.
import type { Type } from '../../../hogql/value.ts'
import type { Parameter } from '../../../platform/event-store/event-store.ts'

/** What is known of a column besides the type of its values. */
export type Hint =
  /** At most 200 characters, where the documented type says so. */
  | 'varchar200'
  | 'int32'
  /** Text that is JSON. */
  | 'json'

export type SourceColumn = { name: string; type: Type; hint?: Hint }

/**
 * The SQL gives `c1`, the position, then `c2`, by which people find the row, and from `c3` on the columns. Parameters are
 * written `$1`, `$2` and so on.
 */
export type SourceRows = {
  sql: string
  parameters: readonly Parameter[]
  columns: readonly SourceColumn[]
  /** What `c2` is, for people. */
  found_by: string
}

/** The column at this place, where the rows are called `r`. */
export const rawColumn = (index: number) => `r.c${index + 3}`

/** Values of a statement that is written by hand. With their type, so that it does not hang on how they are bound. */
export function newParameters() {
  const bound: number[] = []
  const whole = (value: number) => `$${bound.push(value)}::BIGINT`
  return { bound, whole, instant: (date: Date) => `make_timestamp(${whole(date.getTime() * 1000)})` }
}

export type ExportedProject = { id: number; timezone: string }
