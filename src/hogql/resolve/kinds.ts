// Bringing two values into kinds that can be compared, so that no engine fails over them at run time.
import type { Dialect } from '../engines/dialect.ts'
import { isCertain, withCertainty } from '../functions/certainty.ts'
import type { Type, Value } from '../value.ts'

type Family =
  | 'text'
  | 'number'
  | 'boolean'
  | 'date'
  | 'datetime'
  | 'uuid'
  | 'other'
  | 'any'
  | `array of ${string}`

function familyOf(type: Type): Family {
  switch (type.kind) {
    case 'text':
    case 'property':
    case 'json':
      return 'text'
    case 'integer':
    case 'float':
      return 'number'
    case 'array':
      return `array of ${familyOf(type.item)}`
    case 'null':
    case 'unknown':
      return 'any'
    case 'tuple':
    case 'interval':
      return 'other'
    default:
      return type.kind
  }
}

/** What two families are compared as; null: as they are. */
function meetingOf(left: Family, right: Family): keyof Pick<Dialect, Conversion> | null {
  const families = new Set([left, right])
  const areOnly = (...allowed: Family[]) => [...families].every((family) => allowed.includes(family))
  if (
    left === right ||
    families.has('any') ||
    areOnly('array of any', left) ||
    areOnly('array of any', right)
  )
    return null
  if (areOnly('date', 'datetime', 'text', 'number') && (families.has('date') || families.has('datetime')))
    return 'datetime'
  if (areOnly('uuid', 'text')) return 'uuid'
  if (areOnly('number', 'text', 'boolean') && families.has('number')) return 'number'
  if (areOnly('boolean', 'text')) return 'boolean'
  return 'text'
}

type Conversion = 'text' | 'number' | 'boolean' | 'datetime' | 'uuid'

/** Both sides in SQL, in one kind. Tuples that were written out meet part by part. */
export function together(left: Value, right: Value, dialect: Dialect): readonly [string, string] {
  if (left.items && right.items && left.type.kind === 'tuple' && right.type.kind === 'tuple') {
    const rightItems = right.items
    const pairs = left.items.map((item, index) => together(item, rightItems[index] ?? item, dialect))
    return [dialect.tuple(pairs.map(([sql]) => sql)), dialect.tuple(pairs.map(([, sql]) => sql))]
  }
  const meeting = meetingOf(familyOf(left.type), familyOf(right.type))
  return meeting ? [dialect[meeting](left), dialect[meeting](right)] : [left.sql, right.sql]
}

/** A value in the kind of another, NULL where it is none. */
export function into(type: Type, value: Value, dialect: Dialect): string {
  const family = familyOf(type)
  if (family === familyOf(value.type)) return value.sql
  if (family === 'date') return dialect.date(value)
  return family === 'text' ||
    family === 'number' ||
    family === 'boolean' ||
    family === 'datetime' ||
    family === 'uuid'
    ? dialect[family](value)
    : value.sql
}

/** Values of one list in one kind: numbers stay numbers among themselves, anything mixed becomes text. */
export function unify(values: readonly Value[], dialect: Dialect): { sqls: readonly string[]; type: Type } {
  const known = values.filter(({ type }) => familyOf(type) !== 'any')
  const families = new Set(known.map(({ type }) => familyOf(type)))
  const first = known[0]?.type ?? { kind: 'unknown' as const }
  const type = widest(known, first)
  // ClickHouse takes whole numbers and others for different things that may be either.
  const isWidened = ({ type: { kind } }: Value) =>
    dialect.engine === 'clickhouse' && type.kind === 'float' && kind === 'integer'
  const sqls = values.map((value) => (isWidened(value) ? `toFloat64(${value.sql})` : value.sql))
  if (families.size <= 1) return { sqls, type }
  if ([...families].every((family) => family === 'date' || family === 'datetime')) {
    return { sqls: values.map((value) => dialect.datetime(value)), type: { kind: 'datetime' } }
  }
  return { sqls: values.map((value) => dialect.text(value)), type: { kind: 'text' } }
}

function widest(values: readonly Value[], first: Type): Type {
  const has = (kind: Type['kind']) => values.some(({ type }) => type.kind === kind)
  if (has('float')) return { kind: 'float' }
  return has('text') ? { kind: 'text' } : first
}

/** The type of what can be one or the other, as in the parts of a UNION. */
export function commonType(left: Type, right: Type): Type {
  return withCertainty(metType(left, right), isCertain(left) && isCertain(right))
}

function metType(left: Type, right: Type): Type {
  if (left.kind === right.kind || right.kind === 'null') return left
  if (left.kind === 'null') return right
  const families = new Set([familyOf(left), familyOf(right)])
  if (families.size === 1) return familyOf(left) === 'number' ? { kind: 'float' } : { kind: 'text' }
  return { kind: families.has('text') ? 'text' : 'unknown' }
}
