// From one type to another. What cannot be read becomes NULL, or 0 in the forms that say so.
import { sizeOf } from '../size-estimate.ts'
import type { Printing, Value } from '../value.ts'
import { areCertain } from './certainty.ts'
import { BOOLEAN, call, define, FLOAT, INTEGER, type Named, nth, TEXT, UUID } from './define.ts'
import { writtenText } from './written.ts'

const isNumeric = ({ type: { kind } }: Value) => kind === 'integer' || kind === 'float' || kind === 'boolean'
const isList = ({ type: { kind } }: Value) => kind === 'array' || kind === 'tuple'
const isTime = ({ type: { kind } }: Value) => kind === 'datetime' || kind === 'date'

/** Only whole numbers are read out of text: a plain cast would make 2 of '1.9'. Numbers lose their fraction. */
const toInteger = (value: Value, duckdb_type: string, printing: Printing): string => {
  if (value.type.kind === 'integer' || value.type.kind === 'boolean')
    return `try_cast(${value.sql} as ${duckdb_type})`
  if (value.type.kind === 'date') return `try_cast(${value.sql} - date '1970-01-01' as ${duckdb_type})`
  if (value.type.kind === 'datetime') return `try_cast(floor(epoch(${value.sql})) as ${duckdb_type})`
  if (isNumeric(value)) return `try_cast(trunc(${value.sql}) as ${duckdb_type})`
  return `try_cast(nullif(regexp_extract(${printing.text(value)}, '^[+-]?\\d+$'), '') as ${duckdb_type})`
}

const toFloat = (value: Value, printing: Printing): string => `try_cast(${printing.number(value)} as double)`

type Target = {
  /** ClickHouse's name of the type, from which the names of its functions are made. */
  name: string
  is_whole: boolean
  duckdb: (value: Value, printing: Printing) => string
}

const integer = (name: string, duckdb_type: string): Target => ({
  name,
  is_whole: true,
  duckdb: (value, printing) => toInteger(value, duckdb_type, printing),
})
const float = (name: string): Target => ({ name, is_whole: false, duckdb: toFloat })

const TARGETS: readonly Target[] = [
  integer('Int8', 'tinyint'),
  integer('Int16', 'smallint'),
  integer('Int32', 'integer'),
  integer('Int64', 'bigint'),
  integer('UInt8', 'utinyint'),
  integer('UInt16', 'usmallint'),
  integer('UInt32', 'uinteger'),
  integer('UInt64', 'ubigint'),
  float('Float32'),
  float('Float64'),
]

/** HogQL's short names. */
const SHORT_NAMES: Readonly<Record<string, string>> = { Int64: 'Int', Float64: 'Float' }

/** Out of range is NULL, where a plain conversion would wrap around. */
const toClickhouse = ({ name, is_whole }: Target, value: Value, printing: Printing): string => {
  if (value.type.kind === 'float' && is_whole) return `accurateCastOrNull(trunc(${value.sql}), '${name}')`
  if (value.type.kind === 'integer' && is_whole) return `accurateCastOrNull(${value.sql}, '${name}')`
  return isNumeric(value) || isTime(value)
    ? call(`to${name}`, [value.sql])
    : call(`to${name}OrNull`, [printing.text(value)])
}

/** `toInt64`, `…OrNull`, `…OrZero`, `…OrDefault`. */
const family = (target: Target): Named[] => {
  const names = [target.name, SHORT_NAMES[target.name]].filter((name) => name !== undefined)
  const type = target.is_whole ? INTEGER : FLOAT
  const [first = '', ...others] = names.flatMap((name) => [`to${name}`, `to${name}OrNull`])
  const [firstZero = '', ...otherZeros] = names.map((name) => `to${name}OrZero`)
  const [firstDefault = '', ...otherDefaults] = names.map((name) => `to${name}OrDefault`)
  return [
    {
      name: first,
      aliases: others,
      args: [1, 1],
      type,
      duckdb: (args, printing) => target.duckdb(nth(args, 0), printing),
      clickhouse: (args, printing) => toClickhouse(target, nth(args, 0), printing),
    },
    {
      name: firstZero,
      aliases: otherZeros,
      args: [1, 1],
      type,
      duckdb: (args, printing) => `coalesce(${target.duckdb(nth(args, 0), printing)}, 0)`,
      clickhouse: (args, printing) => `ifNull(${toClickhouse(target, nth(args, 0), printing)}, 0)`,
    },
    {
      name: firstDefault,
      aliases: otherDefaults,
      args: [1, 2],
      type,
      duckdb: (args, printing) =>
        `coalesce(${args.map((value) => target.duckdb(value, printing)).join(', ')}, 0)`,
      clickhouse: (args, printing) =>
        `coalesce(${args.map((value) => toClickhouse(target, value, printing)).join(', ')}, 0)`,
    },
  ]
}

export const conversionFunctions: readonly Named[] = [
  ...TARGETS.flatMap(family),
  {
    name: 'toString',
    args: [1, 1],
    type: TEXT,
    certain: areCertain,
    // Quotes within quotes get a backslash each.
    estimate: ([value]) => (value && isList(value) ? 2 : 1) * sizeOf(value?.estimate),
    duckdb: (args, printing) => {
      const value = nth(args, 0)
      if (isList(value)) return writtenText(value.sql, value.type)
      return `cast(${printing.text(value)} as varchar)`
    },
    clickhouse: (args, printing) => {
      const value = nth(args, 0)
      return isList(value) ? call('toString', [value.sql]) : printing.text(value)
    },
  },
  define('toBool', ['boolean'], BOOLEAN, (value) => value, { clickhouse: (value) => value }),
  {
    name: 'toUUID',
    aliases: ['toUUIDOrNull'],
    args: [1, 1],
    type: UUID,
    duckdb: (args) => `try_cast(cast(${nth(args, 0).sql} as varchar) as uuid)`,
    clickhouse: (args, printing) => call('toUUIDOrNull', [printing.text(nth(args, 0))]),
  },
]
