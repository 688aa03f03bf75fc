// Property filters in all the forms that clients send: a list, a group of groups, or an object in the old form. They
// become a HogQL tree, so that one compiler fences them in and prints them for every engine.
import { isObject, type JsonObject } from '../../lib/json-object.ts'
import type { Expr } from '../../hogql/ast.ts'
import { complainAbout, type Complain, type Condition, type FilterContext } from './filters/condition.ts'
import { OPERATORS } from './filters/operators.ts'
import { readFilter, type GivenFilter } from './filters/read-filter.ts'

export type PropertyGroup = { type: 'AND' | 'OR'; values: readonly (Condition | PropertyGroup)[] }

/** What is left of the limits while a value is read. */
type Reading = { attr: string; complain: Complain; filters_left: number; values_left: number }

const MAX_DEPTH = 10
const MAX_FILTERS = 100
// All filters together hold at most this: each value is a parameter of the query.
const MAX_VALUES = 10_000
const NOTHING: PropertyGroup = { type: 'AND', values: [] }

/** Takes the text of a parameter; `attr` is its name. */
export function parsePropertyFilters(text: string, attr: string): PropertyGroup {
  if (text.trim() === '') return NOTHING
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw complainAbout(attr)('The filters are not valid JSON.')
  }
  return readPropertyFilters(value, attr)
}

export function readPropertyFilters(value: unknown, attr: string): PropertyGroup {
  const reading: Reading = {
    attr,
    complain: complainAbout(attr),
    filters_left: MAX_FILTERS,
    values_left: MAX_VALUES,
  }
  if (value === '') return NOTHING
  if (Array.isArray(value)) return readGroup('AND', value, reading, 1)
  if (!isObject(value)) throw reading.complain('Filters are a list, or an object with type and values.')
  if (isGroup(value)) return readGivenGroup(value, reading, 1)
  return readOldForm(value, reading)
}

/** Null when there is nothing to filter by. */
export function filterExpression(group: PropertyGroup, context: FilterContext): Expr | null {
  const exprs = group.values
    .map((value) => (typeof value === 'function' ? value(context) : filterExpression(value, context)))
    .filter((expr) => expr !== null)
  if (exprs.length < 2) return exprs[0] ?? null
  return { node: group.type === 'AND' ? 'And' : 'Or', exprs }
}

function readGivenGroup({ type, values }: JsonObject, reading: Reading, depth: number): PropertyGroup {
  if (type !== 'AND' && type !== 'OR') throw reading.complain('The type of a group is AND or OR.')
  if (!Array.isArray(values)) throw reading.complain('The values of a group are a list.')
  return readGroup(type, values, reading, depth)
}

function readGroup(
  type: PropertyGroup['type'],
  values: readonly unknown[],
  reading: Reading,
  depth: number,
): PropertyGroup {
  if (depth > MAX_DEPTH) throw reading.complain(`Groups may be nested ${MAX_DEPTH} levels deep at most.`)
  if (!values.every(isObject)) throw reading.complain('Each filter is an object.')
  const groups = values.filter(isGroup)
  if (groups.length > 0 && groups.length < values.length) {
    throw reading.complain('A group holds filters or groups, not both.')
  }
  if (groups.length > 0) {
    return { type, values: groups.map((group) => readGivenGroup(group, reading, depth + 1)) }
  }
  return { type, values: values.map((filter) => readCounted(filter, reading)) }
}

/**
 * `{"$browser": "Chrome", "amount__gt": 5}`. What follows the last `__` is an operator, if there is one of that name.
 */
function readOldForm(filters: JsonObject, reading: Reading): PropertyGroup {
  const values = Object.entries(filters).map(([name, value]) => {
    const at = name.lastIndexOf('__')
    const operator = name.slice(at + 2)
    const hasOperator = at > 0 && OPERATORS.has(operator)
    return readCounted(
      hasOperator ? { key: name.slice(0, at), value, operator } : { key: name, value },
      reading,
    )
  })
  return { type: 'AND', values }
}

function readCounted(filter: GivenFilter, reading: Reading): Condition {
  const number = MAX_FILTERS - reading.filters_left + 1
  if (reading.filters_left-- === 0) throw reading.complain(`At most ${MAX_FILTERS} filters are allowed.`)
  reading.values_left -= Array.isArray(filter.value) ? filter.value.length : 1
  if (reading.values_left < 0) throw reading.complain(`At most ${MAX_VALUES} values are allowed.`)
  return readFilter(filter, reading.attr, (detail) => reading.complain(`Filter ${number}: ${detail}`))
}

/** Filters have types too, but no values. */
function isGroup(value: JsonObject): boolean {
  const isJoined = value.type === 'AND' || value.type === 'OR'
  return Object.hasOwn(value, 'values')
    ? Object.hasOwn(value, 'type') && !Object.hasOwn(value, 'key')
    : isJoined
}
