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
  [
    /^Invalid Input Error: More than one row returned by a subquery/,
    'A subquery that is used as a value gives more than one row.',
  ],
  [/^Out of Range Error/, 'A number in the query grows beyond what can be held.'],
  [/^Conversion Error/, 'A value cannot be read as the type the query wants.'],
]

/** What RE2 says of a pattern; the part of it that is at fault follows. */
const PATTERN_FAULT =
  /^(invalid (escape sequence|character class( range)?|repetition size|perl operator|UTF-8|named capture group)|(missing|unexpected) [)\]]|trailing \\|no argument for repetition operator|bad repetition operator|pattern too large)/

const ended = (sentence: string) => (sentence.endsWith('.') ? sentence : `${sentence}.`)

/** Null: no fault of the query. */
export function faultOf(error: unknown, isStopped: boolean): QueryFault | QueryTimeout | null {
  const message = error instanceof Error ? error.message : String(error)
  if (isStopped && message.startsWith('INTERRUPT Error')) return new QueryTimeout('stopped')
  const explained = EXPLAINED.find(([pattern]) => pattern.test(message))
  if (explained) return new QueryFault(explained[1])
  // The engine's own words on a bad argument; they quote what the user wrote and nothing of ours.
  const [, words] = /^Invalid Input Error: ([^\n]{1,300})/.exec(message) ?? []
  if (words === undefined) return null
  return new QueryFault(
    PATTERN_FAULT.test(words) ? `A pattern in the query is not valid: ${ended(words)}` : ended(words),
  )
}
