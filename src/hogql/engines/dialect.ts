// What differs between engines: how each spells values, comparisons and tables. The resolver knows no more of them.
import type { SetOperator } from '../ast.ts'
import type { QueryContext } from '../compile.ts'
import type { Parameter } from '../../platform/event-store/event-store.ts'
import type { Printing, Value } from '../value.ts'

/** The tables of a project as layout.ts names them. */
export type PhysicalTable = 'events' | 'persons' | 'distinct_ids' | 'groups'

/** What a dialect is made for: one query of one project. */
export type QuerySetting = Omit<QueryContext, 'placeholders'> & { bind: Printing['bind'] }

export type Dialect = Printing & {
  /** A uuid, NULL where the value is none. */
  uuid(value: Value): string
  /** What stands in FROM for one of the project's tables: nothing of another project can be reached through it. */
  table(name: PhysicalTable): string
  /** All columns of a table by their own names, in a query that joins others with columns of the same names. */
  everyColumn(name: PhysicalTable, alias: string): string
  /** A table in the place of the events that also offers properties as columns; null where there is none. */
  asked_events: string | null
  /** Text of what lies at the path: NULL for JSON null and for what is missing. Numbers count items from 1. */
  property(json: string, path: readonly (string | number)[]): string
  /** A value as JSON to look into: NULL where it is none. */
  asJson(value: Value): string
  /** The same for one key that is only known per row. */
  propertyNamed(json: string, key: string): string
  /** Equality that takes two NULLs as equal; never NULL itself. */
  same(left: string, right: string): string
  array(items: readonly string[]): string
  tuple(items: readonly string[]): string
  item(array: string, index: string): string
  part(tuple: string, index: number): string
  slice(array: string, start: string | null, end: string | null): string
  contains(array: string, item: string): string
  like(text: string, pattern: string, ignore_case: boolean): string
  matches(text: string, pattern: string, ignore_case: boolean): string
  /** `datetime ± whole number`, in seconds. */
  shiftSeconds(datetime: string, sign: '+' | '-', seconds: string): string
  shiftDays(date: string, sign: '+' | '-', days: string): string
  /** Seconds from the second to the first. */
  secondsBetween(later: string, earlier: string): string
  /** The id of whoever has no person: the same for the same distinct id, see personless-id.ts. */
  personlessId(distinct_id: string): string
  /** A person as JSON text; the arguments are columns of the persons table and an array of ids. */
  personObject(person: { id: string; created_at: string; properties: string; distinct_ids: string }): string
  /** Ids of each person, sorted: `person_id` and `ids`. */
  idsByPerson(distinct_ids: string): string
  /** After FROM: rows are repeated for each item of the arrays, several of them side by side. */
  unfold(alias: string, arrays: readonly { column: string; sql: string }[], keep_empty: boolean): string
  /** How such an item is named in the query. */
  unfolded(alias: string, column: string): string
  /** A table with the column `number`: `count` whole numbers from `start` on, and an error where it is more than `most`. */
  numbers(start: string, count: string, most: number): string
  /** A number in [0, 1) that hangs on the text alone: the same one in every engine. */
  shareOf(text: string): string
  /** Whether there are LIMIT BY, WITH TIES and WITH FILL. */
  has_limit_by: boolean
  set_operators: Readonly<Record<SetOperator, string>>
  /** Before the brackets of a query in WITH that is used more than once. */
  made_once: string
}

export type Engine = {
  dialect(setting: QuerySetting): Dialect
  /** How the parameter with this number is written. */
  placeholder(number: number, value: Parameter): string
  /** Finds them all, with the number as its only group. */
  placeholders: RegExp
}
