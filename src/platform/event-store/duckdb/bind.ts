// Parameters on their way into DuckDB.
import {
  BIGINT,
  BOOLEAN,
  DOUBLE,
  HUGEINT,
  VARCHAR,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api'
import type { Parameter } from '../event-store.ts'

const MAX_BIGINT = 2n ** 63n - 1n

export function engineValue(value: Parameter): DuckDBValue {
  return Number.isSafeInteger(value) ? BigInt(value) : value
}

/** Left to itself, DuckDB's client takes every integer for one of 128 bits, which few functions accept. */
export function engineType(value: Parameter): DuckDBType {
  if (typeof value === 'string') return VARCHAR
  if (typeof value === 'boolean') return BOOLEAN
  if (typeof value === 'bigint') return value <= MAX_BIGINT && value >= -MAX_BIGINT ? BIGINT : HUGEINT
  return Number.isSafeInteger(value) ? BIGINT : DOUBLE
}
