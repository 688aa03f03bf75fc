// Brings several values to one type, for functions that give back one of their arguments or compare them.
import type { Printing, Type, Value } from '../value.ts'
import { isCertain, withCertainty } from './certainty.ts'
import { DATETIME, FLOAT, INTEGER, TEXT, UNKNOWN } from './define.ts'

type Kind = Type['kind']

const NUMBERS: ReadonlySet<Kind> = new Set<Kind>(['integer', 'float'])
const TEXTS: ReadonlySet<Kind> = new Set<Kind>(['text', 'property', 'json', 'uuid'])
const TIMES: ReadonlySet<Kind> = new Set<Kind>(['date', 'datetime'])

const joinTypes = (left: Type, right: Type): Type =>
  withCertainty(metType(left, right), isCertain(left) && isCertain(right))

const metType = (left: Type, right: Type): Type => {
  if (left.kind === 'null') return right
  if (right.kind === 'null') return left
  if (left.kind === 'array' && right.kind === 'array')
    return { kind: 'array', item: joinTypes(left.item, right.item) }
  if (left.kind === right.kind) return left
  const kinds = [left.kind, right.kind] as const
  const are = (set: ReadonlySet<Kind>) => kinds.every((kind) => set.has(kind))
  if (kinds.some((kind) => kind === 'unknown' || kind === 'array' || kind === 'tuple')) return UNKNOWN
  if (are(NUMBERS)) return FLOAT
  if (are(TIMES)) return DATETIME
  if (are(TEXTS)) return kinds.includes('property') && kinds.includes('text') ? { kind: 'property' } : TEXT
  // A property takes the kind of what it meets; a boolean counts as 0 or 1.
  if (left.kind === 'property') return right
  if (right.kind === 'property') return left
  if (kinds.includes('boolean') && kinds.some((kind) => NUMBERS.has(kind)))
    return kinds.includes('float') ? FLOAT : INTEGER
  return TEXT
}

export const commonType = ([first, ...others]: readonly Value[]): Type =>
  others.reduce((type, value) => joinTypes(type, value.type), first?.type ?? { kind: 'null' })

export const bring = (value: Value, type: Type, printing: Printing): string => {
  // ClickHouse takes whole numbers and others for different things that may be either.
  if (printing.engine === 'clickhouse' && type.kind === 'float' && value.type.kind === 'integer')
    return `toFloat64(${value.sql})`
  if (value.type.kind === 'null' || value.type.kind === type.kind) return value.sql
  switch (type.kind) {
    case 'integer':
    case 'float':
      return printing.number(value)
    case 'boolean':
    case 'datetime':
    case 'date':
    case 'text':
      return printing[type.kind](value)
    case 'property':
      return printing.text(value)
    default:
      return value.sql
  }
}

export const unify = (values: readonly Value[], printing: Printing): { texts: string[]; type: Type } => {
  const type = commonType(values)
  return { texts: values.map((value) => bring(value, type, printing)), type }
}
