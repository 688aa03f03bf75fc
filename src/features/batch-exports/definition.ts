// What an export is made of, in the words that all parts of this slice share.
import type { Area, ExportColumn } from '../../platform/event-store/export-rows.ts'

export const MODELS = ['events', 'persons', 'sessions'] as const
export type Model = (typeof MODELS)[number]

export const INTERVALS = ['hour', 'day', 'week', 'every 5 minutes', 'every 15 minutes'] as const
export type Interval = (typeof INTERVALS)[number]

/** Half-open; a start of null is the beginning of time. */
export type DataInterval = { start: Date | null; end: Date }

/** Frozen into a run when it begins, so that every attempt does the same. */
export type Definition = {
  model: Model
  destination_type: string
  /** Without secrets, with defaults filled in. */
  config: Record<string, unknown>
  /** Normalised HogQL, null for the destination's own columns. */
  hogql_query: string | null
  filters: readonly unknown[] | null
  /** The project's time zone: it decides what dates in a query mean. */
  timezone: string
}

/**
 * How a run chooses among the project's events: those that arrived in its interval, or those that happened in it. Either
 * way it gets what no other run of the export has claimed.
 */
export type Selection = 'arrival' | 'timestamp'

/** Which rows of the project belong to a run. Events are chosen by its areas, everything else by the interval. */
export type Bounds = {
  selection: Selection
  interval: DataInterval
  seq_from: number
  seq_to: number
  areas: readonly Area[]
}

/** A column as it leaves: its name at the destination, and how long a text may be there. */
export type OutputColumn = ExportColumn & {
  /** Longer texts are cut when rows are read, with one warning per run. */
  max_characters?: number
  /** The documented type at the destination where it is not the one its kind gives, e.g. `VARCHAR(200)`. */
  type?: string
}
