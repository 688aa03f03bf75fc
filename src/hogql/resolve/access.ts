// One step into a value: a key of JSON, an item of an array, a part of a tuple.
import type { Span } from '../ast.ts'
import type { Dialect } from '../engines/dialect.ts'
import { queryError } from '../errors.ts'
import { orDefault } from '../functions/certainty.ts'
import { itemsOf, sizeOf } from '../size-estimate.ts'
import type { Value } from '../value.ts'

export type Key = string | number

export function access(value: Value, key: Key, dialect: Dialect, span: Span): Value {
  const { type } = value
  if (type.kind === 'null') return value
  if (type.kind === 'json' || type.kind === 'property') return property(value, key, dialect)
  if (typeof key === 'number') {
    if (type.kind === 'array') return itemOf(value, dialect.bind(key), dialect)
    if (type.kind === 'unknown') return itemOf(value, dialect.bind(key), dialect)
    if (type.kind === 'tuple') {
      const part = type.items[key - 1]
      if (!part) throw queryError(`The tuple has ${type.items.length} parts, there is no part ${key}`, span)
      return { sql: dialect.part(value.sql, key), type: part, estimate: value.estimate }
    }
  }
  throw queryError(`Cannot look for ${JSON.stringify(key)} in a value of type ${type.kind}`, span)
}

export function itemOf(array: Value, index: string, dialect: Dialect): Value {
  const type = array.type.kind === 'array' ? array.type.item : ({ kind: 'unknown' } as const)
  const sql = dialect.item(array.sql, index)
  const isDefaulted = dialect.engine === 'duckdb'
  return { sql: isDefaulted ? orDefault(sql, type) : sql, type, estimate: itemsOf(array).item }
}

function property(value: Value, key: Key, dialect: Dialect): Value {
  const json = value.path?.json ?? dialect.asJson(value)
  const keys = [...(value.path?.keys ?? []), key]
  const estimate = value.type.kind === 'json' ? 1 : sizeOf(value.estimate)
  return { sql: dialect.property(json, keys), type: { kind: 'property' }, path: { json, keys }, estimate }
}
