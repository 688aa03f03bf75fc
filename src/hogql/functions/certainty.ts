// Which values are never NULL. ClickHouse knows it by their types: where there is nothing to tell, as in the sum of no rows
// or behind the last item of an array, it then has 0, '' or 1970 instead of NULL.
import type { Type, Value } from '../value.ts'

export const isCertain = (type: Type): boolean =>
  type.kind === 'array' || (type.kind === 'tuple' ? false : type.certain === true)

export const areCertain = (values: readonly Value[]): boolean =>
  values.every(({ type, lambda }) => lambda !== undefined || isCertain(type))

/** The same where the values are read as numbers: text need not be one. */
export const areCertainNumbers = (values: readonly Value[]): boolean =>
  areCertain(values) && values.every(({ type }) => type.kind !== 'text')

export const withCertainty = (type: Type, certain: boolean): Type =>
  type.kind === 'array' || type.kind === 'tuple' || type.certain === certain ? type : { ...type, certain }

/** DuckDB's word for what stands for nothing, if the type has one. */
export const defaultOf = (type: Type): string | null => {
  if (!isCertain(type)) return null
  switch (type.kind) {
    case 'integer':
      return '0'
    case 'float':
      return 'cast(0 as double)'
    case 'text':
    case 'json':
      return `''`
    case 'boolean':
      return 'false'
    case 'date':
      return `date '1970-01-01'`
    case 'datetime':
      return `timestamp '1970-01-01'`
    case 'uuid':
      return `cast('00000000-0000-0000-0000-000000000000' as uuid)`
    default:
      return null
  }
}

/** DuckDB: the default in the place of NULL. */
export const orDefault = (sql: string, type: Type): string => {
  const otherwise = defaultOf(type)
  return otherwise === null ? sql : `coalesce(${sql}, ${otherwise})`
}
