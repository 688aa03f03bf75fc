// DuckDB: arrays and tuples as text, the way ClickHouse writes them: `[1,'a']` as text, `[1,"a"]` as JSON.
import { floatText } from '../engines/float-text.ts'
import type { Printing, Type } from '../value.ts'

const QUOTED: ReadonlySet<Type['kind']> = new Set(['text', 'property', 'json', 'date', 'datetime', 'uuid'])

const partsOf = (sql: string, items: readonly Type[], write: (sql: string, type: Type) => string) =>
  items.map((type, index) => write(`struct_extract_at(${sql}, ${index + 1})`, type)).join(` || ',' || `)

const listOf = (sql: string, item: Type, depth: number, write: (sql: string, type: Type) => string) =>
  `'[' || array_to_string(list_transform(${sql}, lambda w${depth}: ${write(`w${depth}`, item)}), ',') || ']'`

export function writtenText(sql: string, type: Type, depth = 0): string {
  const inner = (part: string, of: Type) => `coalesce(${writtenText(part, of, depth + 1)}, 'NULL')`
  if (type.kind === 'array') return `(${listOf(sql, type.item, depth, inner)})`
  if (type.kind === 'tuple') return `('(' || ${partsOf(sql, type.items, inner)} || ')')`
  if (type.kind === 'float') return floatText(sql)
  const text = `cast(${sql} as varchar)`
  return QUOTED.has(type.kind)
    ? `('''' || replace(replace(${text}, '\\', '\\\\'), '''', '\\''') || '''')`
    : text
}

const hasTuple = (type: Type): boolean =>
  type.kind === 'tuple' || (type.kind === 'array' && hasTuple(type.item))

/** The engine's own JSON has objects for tuples, and leaves zeros of times out. */
export function writtenJson(sql: string, type: Type, printing: Pick<Printing, 'local'>, depth = 0): string {
  const inner = (part: string, of: Type) => `coalesce(${writtenJson(part, of, printing, depth + 1)}, 'null')`
  if (type.kind === 'datetime') return `strftime(${printing.local({ sql, type })}, '"%Y-%m-%d %H:%M:%S.%f"')`
  if (!hasTuple(type)) return `cast(to_json(${sql}) as varchar)`
  if (type.kind === 'array') return `(${listOf(sql, type.item, depth, inner)})`
  return type.kind === 'tuple' ? `('[' || ${partsOf(sql, type.items, inner)} || ']')` : sql
}
