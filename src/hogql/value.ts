// A printed piece of a query with what is known of its type: what functions and operators are put together from.
import type { Parameter } from '../platform/event-store/event-store.ts'
import type { Type } from '../platform/event-store/value-type.ts'
import type { SizeEstimate } from './size-estimate.ts'

export type { Type }

export type Value = {
  /** Complete in itself: may stand beside any operator. */
  sql: string
  type: Type
  /** Set when the user wrote a constant here; `sql` is then its bound parameter. */
  constant?: string | number | boolean | null
  /** Set for `x -> …` only; `sql` is the body. */
  lambda?: { names: readonly string[] }
  /** Set when a tuple or an array was written out: its parts, so that a comparison can bring each into its kind. */
  items?: readonly Value[]
  /** Set for what was read out of JSON: where it lies, so that a deeper key extends the path. */
  path?: { json: string; keys: readonly (string | number)[] }
  /** Set for properties in columns: SQL of the same, which may be NULL where it is none of these texts. */
  only?: (values: readonly string[]) => string
  /** How much this makes out of one row; 1 when left out, as for whatever is stored. */
  estimate?: SizeEstimate | undefined
}

/** What printing for one engine offers to functions. Literals only ever reach the engine through `bind`. */
export type Printing = {
  engine: 'duckdb' | 'clickhouse'
  /** The project's zone. It is checked before it gets here, but still bound. */
  timezone: string
  /** The moment of the query, the same throughout. */
  now: Date
  bind(value: Parameter): string
  /** Values brought into a kind. NULL where the value cannot be read as one. */
  number(value: Value): string
  text(value: Value): string
  boolean(value: Value): string
  /** An instant, as the engine holds it. */
  datetime(value: Value): string
  date(value: Value): string
  /** A datetime as the wall clock of the project's zone shows it, for calendar functions, … */
  local(value: Value): string
  /** … and such a wall-clock reading back as an instant. */
  fromLocal(sql: string): string
}
