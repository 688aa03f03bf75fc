// A repair replaces rows that a table has already: it must be able to tell which.
import { Refused } from './destination.ts'

export function notReplaceable(table: string): Refused {
  return new Refused(
    `Rows of ${table} cannot be replaced: without a uuid column nothing tells which of them are this run's. Empty the table, and make a new export with the uuid among its columns.`,
  )
}
