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
  CANNOT_COMPILE_REGEXP: 'A pattern in the query is not valid.',
  CANNOT_PARSE_TEXT: 'A value cannot be read as the type the query wants.',
  CANNOT_PARSE_NUMBER: 'A value cannot be read as the type the query wants.',
  CANNOT_PARSE_DATETIME: 'A value cannot be read as the type the query wants.',
  CANNOT_PARSE_INPUT_ASSERTION_FAILED: 'A value cannot be read as the type the query wants.',
  CANNOT_PARSE_UUID: 'A value cannot be read as the type the query wants.',
  DECIMAL_OVERFLOW: 'A number in the query grows beyond what can be held.',
  VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE: 'A number in the query grows beyond what can be held.',
  INCORRECT_RESULT_OF_SCALAR_SUBQUERY: 'A subquery that is used as a value gives more than one row.',
  ILLEGAL_DIVISION: 'The query divides by zero.',
  TOO_LARGE_ARRAY_SIZE: 'The query makes a list that is too long.',
}

/** What our own SQL says (`throwIf`), without what ClickHouse adds. Nobody else's SQL can throw. */
const OWN_WORDS = /More than \d+ rows would be made/

/** It has no name of its own. */
const GROWN = /Query tree is too big/
const GROWS =
  'The query grows too large: ClickHouse puts a query of WITH wherever it is used. Use it fewer times.'

const TIMED_OUT = new Set(['TIMEOUT_EXCEEDED', 'QUERY_WAS_CANCELLED', 'TOO_SLOW'])
const BUSY = new Set(['TOO_MANY_SIMULTANEOUS_QUERIES', 'TOO_MANY_PARTS', 'KEEPER_EXCEPTION'])

/** A server that has too much to do, no room or too few replicas: it may take the same events later. */
const NOT_NOW = new Set([
  ...TIMED_OUT,
  ...BUSY,
  'ALL_CONNECTION_TRIES_FAILED',
  'MEMORY_LIMIT_EXCEEDED',
  'NETWORK_ERROR',
  'NO_ZOOKEEPER',
  'NOT_ENOUGH_SPACE',
  'SERVER_OVERLOADED',
  'SOCKET_TIMEOUT',
  'TABLE_IS_READ_ONLY',
  'TOO_FEW_LIVE_REPLICAS',
  'UNKNOWN_STATUS_OF_INSERT',
  'UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE',
])

/** Why events are not stored: StoreBusy where their sender should send them again, anything else is a fault of ours. */
export function storingFault(error: unknown): unknown {
  if (!(error instanceof ClickHouseError))
    return new StoreBusy('ClickHouse does not answer', { cause: error })
  return NOT_NOW.has(error.type ?? '')
    ? new StoreBusy('ClickHouse cannot store events now', { cause: error })
    : error
}

/** A fault of the query, a time that ran out, or a store that cannot be reached now. */
export function faultOf(error: unknown): Error {
  if (!(error instanceof ClickHouseError))
    return new StoreBusy('ClickHouse does not answer', { cause: error })
  const name = error.type ?? ''
  if (TIMED_OUT.has(name)) return new QueryTimeout('stopped')
  if (BUSY.has(name)) return new StoreBusy('ClickHouse has too much to do', { cause: error })
  const own = name === 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO' ? OWN_WORDS.exec(error.message)?.[0] : undefined
  const grown = GROWN.test(error.message) ? GROWS : undefined
  const words = own ?? grown ?? EXPLAINED[name] ?? `ClickHouse cannot answer the query (${name}).`
  return new QueryFault(words, { cause: error })
}
