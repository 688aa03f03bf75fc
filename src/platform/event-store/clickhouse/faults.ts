// What ClickHouse says when it cannot go on, told without its SQL or its table names.
import { ClickHouseError } from '@clickhouse/client'
import { QueryFault, QueryTimeout, StoreBusy } from '../event-store.ts'

const TOO_LARGE = 'The query needs more memory than it may use: narrow its time range.'
const DO_NOT_FIT = 'The query combines values that do not go together.'

/** By the names that ClickHouse gives its errors. */
const EXPLAINED: Readonly<Record<string, string>> = {
  MEMORY_LIMIT_EXCEEDED: TOO_LARGE,
  NOT_ENOUGH_SPACE: TOO_LARGE,
  TOO_MANY_ROWS_OR_BYTES: TOO_LARGE,
  ILLEGAL_TYPE_OF_ARGUMENT: DO_NOT_FIT,
  TYPE_MISMATCH: DO_NOT_FIT,
  NO_COMMON_TYPE: DO_NOT_FIT,
  ILLEGAL_AGGREGATION: DO_NOT_FIT,
  NOT_AN_AGGREGATE: DO_NOT_FIT,
  CANNOT_COMPILE_REGEXP: 'A pattern in the query is no regular expression.',
  CANNOT_PARSE_TEXT: 'A value cannot be read as the type the query wants.',
  CANNOT_PARSE_NUMBER: 'A value cannot be read as the type the query wants.',
  CANNOT_PARSE_DATETIME: 'A value cannot be read as the type the query wants.',
  CANNOT_PARSE_INPUT_ASSERTION_FAILED: 'A value cannot be read as the type the query wants.',
  CANNOT_PARSE_UUID: 'A value cannot be read as the type the query wants.',
  DECIMAL_OVERFLOW: 'A number in the query grows beyond what can be held.',
  VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE: 'A number in the query grows beyond what can be held.',
  ILLEGAL_DIVISION: 'The query divides by zero.',
  TOO_LARGE_ARRAY_SIZE: 'The query makes a list that is too long.',
}

const TIMED_OUT = new Set(['TIMEOUT_EXCEEDED', 'QUERY_WAS_CANCELLED', 'TOO_SLOW'])
const BUSY = new Set(['TOO_MANY_SIMULTANEOUS_QUERIES', 'TOO_MANY_PARTS', 'KEEPER_EXCEPTION'])

/** A fault of the query, a time that ran out, or a store that cannot be reached now. */
export function faultOf(error: unknown): Error {
  if (!(error instanceof ClickHouseError))
    return new StoreBusy('ClickHouse does not answer', { cause: error })
  const name = error.type ?? ''
  if (TIMED_OUT.has(name)) return new QueryTimeout('stopped')
  if (BUSY.has(name)) return new StoreBusy('ClickHouse has too much to do', { cause: error })
  return new QueryFault(EXPLAINED[name] ?? `ClickHouse cannot answer the query (${name}).`, { cause: error })
}
