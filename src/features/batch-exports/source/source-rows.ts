// Rows as the store has them, before they take the form that a destination wants. Each model has its own way to them.
import type { EventStore } from '../../../platform/event-store/event-store.ts'
import type { RowSource } from '../../../platform/event-store/export-rows.ts'
import type { Type } from '../../../platform/event-store/value-type.ts'

/** What is known of a column besides the type of its values. */
export type Hint =
  /** At most 200 characters, where the documented type says so. */
  | 'varchar200'
  | 'int32'
  /** Text that is JSON. */
  | 'json'

export type SourceColumn = {
  name: string
  /** What the source calls it. */
  of: string
  type: Type
  hint?: Hint
}

export type SourceRows = {
  source: RowSource
  columns: readonly SourceColumn[]
  /** By what people find a row. */
  found_by: string
}

/** A project, and the engine that holds its events. */
export type ExportedProject = { id: number; timezone: string; engine: EventStore['engine'] }
