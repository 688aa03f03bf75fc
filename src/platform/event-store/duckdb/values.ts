// From DuckDB's values and types to those of the API: JSON values, ClickHouse's type names.
import {
  DuckDBDateValue,
  DuckDBListValue,
  DuckDBStructValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBTypeId,
  type DuckDBListType,
  type DuckDBStructType,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api'
import { zonedText } from '../zoned-time.ts'
import type { StoreValue } from '../event-store.ts'

// The last instants JavaScript has a date for, less a day for the offset of a zone.
const MAX_DATE = 8_640_000_000_000_000_000n - 86_400_000_000n
const MAX_EXACT = BigInt(Number.MAX_SAFE_INTEGER)

/** Whole numbers of any width are `Int64` to whoever asks; how wide they are while they are added up is the engine's matter. */
const WHOLE_NUMBERS: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.TINYINT,
  DuckDBTypeId.SMALLINT,
  DuckDBTypeId.INTEGER,
  DuckDBTypeId.BIGINT,
  DuckDBTypeId.HUGEINT,
  DuckDBTypeId.UTINYINT,
  DuckDBTypeId.USMALLINT,
  DuckDBTypeId.UINTEGER,
  DuckDBTypeId.UBIGINT,
  DuckDBTypeId.UHUGEINT,
])

const TYPE_NAMES: Partial<Record<DuckDBTypeId, string>> = {
  [DuckDBTypeId.BOOLEAN]: 'Bool',
  [DuckDBTypeId.FLOAT]: 'Float32',
  [DuckDBTypeId.DOUBLE]: 'Float64',
  [DuckDBTypeId.DATE]: 'Date',
  [DuckDBTypeId.UUID]: 'UUID',
  [DuckDBTypeId.SQLNULL]: 'Nullable(Nothing)',
}

export function clickhouseType(type: DuckDBType, timezone: string): string {
  if (WHOLE_NUMBERS.has(type.typeId)) return 'Int64'
  switch (type.typeId) {
    case DuckDBTypeId.TIMESTAMP:
    case DuckDBTypeId.TIMESTAMP_TZ:
      return `DateTime64(6, '${timezone}')`
    case DuckDBTypeId.DECIMAL:
      return 'Float64'
    case DuckDBTypeId.LIST:
      return `Array(${clickhouseType((type as DuckDBListType).valueType, timezone)})`
    case DuckDBTypeId.STRUCT:
      return `Tuple(${(type as DuckDBStructType).entryTypes.map((entry) => clickhouseType(entry, timezone)).join(', ')})`
    default:
      return TYPE_NAMES[type.typeId] ?? 'String'
  }
}

export function jsonValue(value: DuckDBValue, timezone: string): StoreValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  // JSON knows neither NaN nor infinities.
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'bigint') {
    return value <= MAX_EXACT && value >= -MAX_EXACT ? Number(value) : String(value)
  }
  if (value instanceof DuckDBTimestampValue || value instanceof DuckDBTimestampTZValue) {
    if (!value.isFinite) return null
    // DuckDB knows years that JavaScript has no date for.
    const isDate = value.micros >= -MAX_DATE && value.micros <= MAX_DATE
    return isDate ? zonedText(value.micros, timezone) : String(value)
  }
  if (value instanceof DuckDBListValue) return value.items.map((item) => jsonValue(item, timezone))
  if (value instanceof DuckDBStructValue) {
    return Object.values(value.entries).map((item) => jsonValue(item, timezone))
  }
  if (value instanceof DuckDBDateValue) return value.toString()
  const text = String(value)
  return 'scale' in value ? Number(text) : text
}
