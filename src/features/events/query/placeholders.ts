// What may stand between braces in a query: values and variables as constants, and `{filters}` as a condition.
import { isObject } from '../../../lib/json-object.ts'
import type { Expr } from '../../../hogql/ast.ts'
import { parseMoment } from '../../../lib/relative-time.ts'
import { invalid } from '../../../platform/http/errors.ts'
import { filterExpression, readPropertyFilters } from '../property-filters.ts'
import { allOf, compare, constant, field, moment } from '../tree.ts'
import type { HogqlQuery } from './schema.ts'

type Clock = { now: Date; timezone: string }
type Filters = NonNullable<HogqlQuery['filters']>

// All lists in `values` together hold at most this, and so do those in `variables`: each item is a query parameter.
const MAX_ITEMS = 10_000

/** Placeholders by the text between the braces. `attr` is the field that holds the query, for errors. */
export function placeholdersOf(query: HogqlQuery, clock: Clock, attr: string): Map<string, Expr> {
  const { values, variables, filters } = query
  assertFewItems(values, `${attr}__values`)
  assertFewItems(variables, `${attr}__variables`)
  const named = Object.entries(values ?? {}).map(([name, value]): [string, Expr] => [
    name,
    constantTree(value, `${attr}__values__${name}`),
  ])
  return new Map<string, Expr>([
    ['filters', filtersTree(filters ?? {}, clock, `${attr}__filters`)],
    ...named,
    ...Object.entries(variables ?? {}).map((variable) => variableOf(variable, `${attr}__variables`)),
  ])
}

function assertFewItems(given: Readonly<Record<string, unknown>> | null | undefined, attr: string): void {
  const lists = Object.values(given ?? {}).map((value) => (isObject(value) ? value.value : value))
  const count = lists.reduce<number>((sum, list) => sum + (Array.isArray(list) ? list.length : 0), 0)
  if (count > MAX_ITEMS) throw invalid(attr, 'max_length', `At most ${MAX_ITEMS} entries are allowed.`)
}

/** `{"name": 5}`, or as PostHog's own pages send it: `{"<id>": {"code_name": "name", "value": 5}}`. */
function variableOf([name, given]: [string, unknown], of: string): [string, Expr] {
  const attr = `${of}__${name}`
  if (!isObject(given) || typeof given.code_name !== 'string') {
    return [`variables.${name}`, constantTree(given, attr)]
  }
  return [`variables.${given.code_name}`, constantTree(given.value ?? null, attr)]
}

function constantTree(value: unknown, attr: string): Expr {
  if (!Array.isArray(value)) return scalarTree(value, attr)
  return { node: 'Array', exprs: value.map((item) => scalarTree(item, attr)) }
}

function scalarTree(value: unknown, attr: string): Expr {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return constant(value)
  if (typeof value === 'number' && Number.isFinite(value)) return constant(value)
  throw invalid(attr, 'invalid_input', 'Only texts, numbers, booleans, null and lists of them can be given.')
}

/** Unqualified names: the query may call its events anything. */
function filtersTree({ dateRange, properties }: Filters, clock: Clock, attr: string): Expr {
  const timestamp = field('timestamp')
  const from = bound(dateRange?.date_from, `${attr}__dateRange__date_from`, clock)
  const to = bound(dateRange?.date_to, `${attr}__dateRange__date_to`, clock)
  const group = readPropertyFilters(properties ?? [], `${attr}__properties`)
  const wanted = filterExpression(group, { ...clock, table: null })
  const conditions = [
    ...(from === null ? [] : [compare(timestamp, '>=', moment(from))]),
    ...(to === null ? [] : [compare(timestamp, '<', moment(to))]),
    ...(wanted === null ? [] : [wanted]),
  ]
  return allOf(conditions) ?? constant(true)
}

/** Null: no bound. PostHog's pages say `all` for it. */
function bound(text: string | null | undefined, attr: string, { now, timezone }: Clock): bigint | null {
  if (!text || text === 'all') return null
  const micros = parseMoment(text, now, timezone)
  if (micros !== null) return micros
  throw invalid(attr, 'invalid_input', 'This is neither a date nor a distance into the past such as -7d.')
}
