// Helpers to write the catalogues with: how arguments are read, entries by name, types, common forms of SQL.
import { queryError } from '../errors.ts'
import { isCertain } from './certainty.ts'
import type { Printing, Type, Value } from '../value.ts'
import type { Catalogue, HogqlFunction } from './function.ts'

type ScalarKind = Exclude<Type['kind'], 'array' | 'tuple'>
const scalar = (kind: ScalarKind): Type => ({ kind })

export const TEXT = scalar('text')
export const INTEGER = scalar('integer')
export const FLOAT = scalar('float')
export const BOOLEAN = scalar('boolean')
export const DATETIME = scalar('datetime')
export const DATE = scalar('date')
export const UUID = scalar('uuid')
export const UNKNOWN = scalar('unknown')
export const arrayOf = (item: Type): Type => ({ kind: 'array', item })

/** What an argument is converted to before it is printed. `integer` cuts off the fraction, `any` changes nothing. */
type Reading =
  | 'any'
  | 'text'
  | 'number'
  | 'integer'
  | 'boolean'
  | 'datetime'
  | 'date'
  | 'local'
  | 'array'
  | 'json'

/** `text?` may be left out, `text*` may come any number of times. */
type Parameter = Reading | `${Reading}?` | `${Reading}*`

type TypeOf = HogqlFunction['type']
type Print = HogqlFunction['duckdb']
type PrintTexts = (...sql: string[]) => string

export type Named<Entry = HogqlFunction> = Entry & { name: string; aliases?: readonly string[] }

/** Item type of an array, or of a value read as one. */
export const itemTypeOf = (value: Value | undefined): Type => {
  if (value?.type.kind === 'array') return value.type.item
  return value?.type.kind === 'property' || value?.type.kind === 'json' ? { kind: 'property' } : UNKNOWN
}

/** The nth argument. Its presence was checked against the entry's `args`. */
export const nth = (args: readonly Value[], index: number): Value => {
  const value = args[index]
  if (!value) throw queryError('An argument is missing.')
  return value
}

const readInteger = (value: Value, printing: Printing): string => {
  const is_integer = value.type.kind === 'integer'
  if (printing.engine === 'clickhouse')
    return is_integer ? value.sql : `accurateCastOrNull(trunc(${printing.number(value)}), 'Int64')`
  return is_integer ? `cast(${value.sql} as bigint)` : `try_cast(trunc(${printing.number(value)}) as bigint)`
}

/** A property may hold an array: it is then read as one of texts. */
const readArray = (value: Value, printing: Printing): string => {
  switch (value.type.kind) {
    case 'array':
    case 'unknown':
    case 'null':
      return value.sql
    case 'property':
    case 'json':
      return printing.engine === 'clickhouse'
        ? `JSONExtract(ifNull(${value.sql}, ''), 'Array(Nullable(String))')`
        : `coalesce(cast(from_json(try_cast(${value.sql} as json), '["VARCHAR"]') as varchar[]), [])`
    default:
      throw queryError(`An array is expected here, not a value of type ${value.type.kind}.`)
  }
}

/** Whole properties are known to be JSON; any other text may be anything, and is NULL when it is not JSON. */
const readJson = (value: Value, printing: Printing): string =>
  value.type.kind === 'json' || printing.engine === 'clickhouse'
    ? value.sql
    : `try_cast(${printing.text(value)} as json)`

/** The last second that a JavaScript date can hold. */
const LAST_SECOND = 8_640_000_000_000

/**
 * DuckDB: NULL gets a type, without which functions of time are ambiguous; a number far out of range becomes NULL; text
 * is examined several times to find its format, so it is printed apart.
 */
const asTime = (value: Value, printing: Printing): Value => {
  if (printing.engine === 'clickhouse') return value
  const instant = (sql: string): Value => ({ sql, type: DATETIME })
  switch (value.type.kind) {
    case 'null':
      return instant('cast(null as timestamp)')
    case 'integer':
    case 'float': {
      const made = (it: string) => `make_timestamp(cast(${it} * 1000000 as bigint))`
      const seconds = `cast(${value.sql} as double)`
      return instant(once([seconds], (it) => `case when abs(${it}) < ${LAST_SECOND} then ${made(it)} end`))
    }
    case 'text':
    case 'property':
    case 'json':
      if (value.constant !== undefined) return value
      return instant(once([value.sql], (it) => printing.datetime({ sql: it, type: value.type })))
    default:
      return value
  }
}

export const read = (reading: Reading, value: Value, printing: Printing): string => {
  if (value.lambda) throw queryError('A lambda cannot stand here.')
  switch (reading) {
    case 'any':
      return value.sql
    case 'integer':
      return readInteger(value, printing)
    case 'array':
      return readArray(value, printing)
    case 'json':
      return readJson(value, printing)
    case 'datetime':
    case 'date':
    case 'local':
      return printing[reading](asTime(value, printing))
    default:
      return printing[reading](value)
  }
}

/** Text need not be a number or a time: what is read out of it may be NULL. */
const staysCertain = (reading: Reading, { type, lambda }: Value): boolean => {
  if (lambda || reading === 'array') return true
  if (!isCertain(type)) return false
  switch (reading) {
    case 'number':
      return type.kind !== 'text'
    case 'integer':
      return type.kind === 'integer' || type.kind === 'boolean'
    case 'boolean':
      return type.kind === 'boolean' || type.kind === 'integer' || type.kind === 'float'
    case 'datetime':
    case 'date':
    case 'local':
      return type.kind === 'datetime' || type.kind === 'date'
    default:
      return true
  }
}

const readingOf = (parameter: Parameter): Reading => parameter.replace(/[?*]$/, '') as Reading

/** An entry whose arguments are read one by one, then put into SQL. ClickHouse gets the name and the same arguments. */
export const define = (
  name: string,
  takes: readonly Parameter[],
  type: TypeOf,
  duckdb: PrintTexts,
  more: {
    aliases?: readonly string[]
    clickhouse?: string | PrintTexts
    estimate?: Named['estimate']
    certain?: Named['certain']
  } = {},
): Named => {
  const readings = takes.map(readingOf)
  const readAll = (args: readonly Value[], printing: Printing) =>
    args.map((value, index) => read(readings[index] ?? readings.at(-1) ?? 'any', value, printing))
  const { clickhouse = name, estimate, certain } = more
  return {
    name,
    aliases: more.aliases,
    ...(estimate ? { estimate } : {}),
    args: [
      takes.filter((parameter) => !/[?*]$/.test(parameter)).length,
      takes.some((parameter) => parameter.endsWith('*')) ? Infinity : takes.length,
    ],
    type,
    certain: (args) =>
      certain?.(args) ??
      args.every((value, index) => staysCertain(readings[index] ?? readings.at(-1) ?? 'any', value)),
    duckdb: (args, printing) => {
      const sql = duckdb(...readAll(args, printing))
      // No array is ever NULL, except of what is written as NULL.
      const isArray = typeof type !== 'function' && type.kind === 'array'
      return isArray && args.every((value) => value.type.kind !== 'null') ? `coalesce(${sql}, [])` : sql
    },
    clickhouse: (args, printing) => {
      const texts = readAll(args, printing)
      return typeof clickhouse === 'string' ? call(clickhouse, texts) : clickhouse(...texts)
    },
  }
}

export const call = (name: string, texts: readonly string[]) => `${name}(${texts.join(', ')})`

/** One print for both engines. */
export const both = (print: Print) => ({ duckdb: print, clickhouse: print })

export const catalogue = <Entry extends HogqlFunction>(
  ...lists: readonly (readonly Named<Entry>[])[]
): Catalogue<Entry> => {
  const byName: Record<string, Entry & { name: string }> = Object.create(null)
  for (const entry of lists.flat())
    for (const name of [entry.name, ...(entry.aliases ?? [])]) byName[name.toLowerCase()] = entry
  return byName
}

/**
 * DuckDB: lets `body` use arguments several times though each is printed once. Printing them twice would double the text
 * at every level of nesting. Aggregates and subqueries may stand in the arguments, unlike within `try(…)`.
 */
export const once = (texts: readonly string[], body: (...names: string[]) => string): string => {
  if (texts.length === 1) return `list_transform([${texts[0]}], lambda it: ${body('it')})[1]`
  const fields = texts.map((sql, index) => `'_${index}': ${sql}`)
  const names = texts.map((_, index) => `it._${index}`)
  return `list_transform([{${fields.join(', ')}}], lambda it: ${body(...names)})[1]`
}

/** The most items that one row may be blown up to: DuckDB's memory limit does not cover vectors of 2,048 rows. */
export const MOST_ITEMS = 10_000

/** DuckDB: makes the query fail where `sql` is above `most`, rather than let the server run out of memory. */
export const atMost = (value: Value, sql: string, most: number, name: string): string => {
  if (typeof value.constant === 'number' && value.constant <= most) return sql
  const refusal = `${name} goes up to ${most}`
  return once([sql], (it) => `case when ${it} > ${most} then error('${refusal}') else ${it} end`)
}

/** How many items a generator makes: `size` where it is known, and never more than MOST_ITEMS. */
export const generated = (size: number): number => (size >= 0 && size < MOST_ITEMS ? size : MOST_ITEMS)

export const constantNumber = (value: Value | undefined): number =>
  typeof value?.constant === 'number' ? value.constant : NaN

export const constantText = (value: Value | undefined, what: string): string => {
  if (typeof value?.constant !== 'string') throw queryError(`${what} must be a text constant.`)
  return value.constant
}

export const tuple = (texts: readonly string[], { engine }: Printing): string =>
  engine === 'clickhouse'
    ? call('tuple', texts)
    : `{${texts.map((text, index) => `'_${index + 1}': ${text}`).join(', ')}}`
