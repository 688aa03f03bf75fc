// What DuckDB says when it cannot go on, told without its SQL, its table names or its inner types.
import { QueryFault, QueryTimeout } from '../event-store.ts'

export const TOO_LARGE = 'The query needs more memory than it may use: narrow its time range.'

const EXPLAINED: readonly (readonly [RegExp, string])[] = [
  // What does not fit into memory goes to the disk; that may be full as well.
  [/^Out of Memory Error|^IO Error: .*No space left/s, TOO_LARGE],
  [
    /^(?:Failed to extract statements: )?(Binder|Catalog|Parser|Not implemented) Error/,
    'The query combines values that do not go together.',
  ],
  [/^Out of Range Error/, 'A number in the query grows beyond what can be held.'],
  [/^Conversion Error/, 'A value cannot be read as the type the query wants.'],
]

/** Null: no fault of the query. */
export function faultOf(error: unknown, isStopped: boolean): QueryFault | QueryTimeout | null {
  const message = error instanceof Error ? error.message : String(error)
  if (isStopped && message.startsWith('INTERRUPT Error')) return new QueryTimeout('stopped')
  const explained = EXPLAINED.find(([pattern]) => pattern.test(message))
  if (explained) return new QueryFault(explained[1])
  // The engine's own words on a bad pattern or argument; they quote what the user wrote and nothing of ours.
  const [, words] = /^Invalid Input Error: ([^\n]{1,300})/.exec(message) ?? []
  return words === undefined ? null : new QueryFault(words)
}
