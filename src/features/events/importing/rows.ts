// What the readers of all formats have in common: rows, numbered, and read only when they are wanted.
import type { JsonObject } from '../../../lib/json-object.ts'

export type Row = {
  /** Line of the file, or row of a Parquet file, counted from 1. */
  line: number
  /** Its size in the file, or about so. */
  bytes: number
  /** Fields by name. Throws a Refusal when it cannot be read. */
  read(): JsonObject
  /** As it stands in the file, for the list of what was kept aside. */
  text(): string
}

export type Source = {
  /** In lists, so that an event loop turn is spent on many. */
  rows: AsyncIterable<readonly Row[]>
  /** How far it has got, between 0 and 1. */
  share(): number
}
