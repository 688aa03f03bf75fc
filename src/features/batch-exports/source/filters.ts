// `filters`: which events go out, by properties of the event, of the person as stored with it, or a HogQL condition.
import { filterExpression, readPropertyFilters } from '../../events/property-filters.ts'
import { constant } from '../../events/tree.ts'
import { explained } from '../../events/run-query.ts'
import type { Expr } from '../../../hogql/ast.ts'
import { parseExpression } from '../../../hogql/parser.ts'
import { assertPerRow } from '../../../hogql/per-row.ts'
import { isObject, type JsonObject } from '../../../lib/json-object.ts'
import type { EventStore } from '../../../platform/event-store/event-store.ts'
import { invalid } from '../../../platform/http/errors.ts'
import { compileEvents, FROM_EVENTS } from './compile-events.ts'

const ATTR = 'filters'
const TYPES: readonly unknown[] = ['event', 'person', 'hogql']
const NOT_FOR_FILTERS = ['data_interval_start', 'data_interval_end']

// Whether filters can be read hangs neither on the project nor on the day.
const SOME_PROJECT = { id: 0, timezone: 'UTC' }
const SOME_DAY = new Date('2024-01-01T00:00:00Z')

/** Checked, and otherwise as sent. Throws what the API answers. */
export function readFilters(value: unknown, engine: EventStore['engine']): unknown[] | null {
  if (value === null || value === undefined) return null
  if (!Array.isArray(value)) throw complain('Filters are a list.')
  for (const filter of value as unknown[]) assertFilter(filter)
  explained(ATTR, () => {
    const where = filterCondition(value, SOME_PROJECT.timezone, SOME_DAY) ?? constant(true)
    compileEvents({ ...SOME_PROJECT, engine }, { select: [], select_from: FROM_EVENTS }, where, SOME_DAY)
  })
  return value
}

/** All of them together, null when there are none; relative dates count from `now`. */
export function filterCondition(filters: readonly unknown[], timezone: string, now: Date): Expr | null {
  return filterExpression(readPropertyFilters(filters, ATTR), { now, timezone, table: null })
}

function assertFilter(filter: unknown): void {
  if (!isObject(filter)) throw complain('Each filter is an object.')
  const { type = 'event', key } = filter
  if (!TYPES.includes(type)) throw complain('The type of a filter is event, person or hogql.')
  const extra = NOT_FOR_FILTERS.find((name) => Object.hasOwn(filter, name))
  if (extra) throw complain(`A filter has no ${extra}: runs have their own.`)
  if (type === 'person' && key === 'distinct_id') {
    throw complain('Persons are filtered by their properties: use the type hogql for the distinct id.')
  }
  if (type === 'hogql') assertPerRowIn(filter)
}

function assertPerRowIn({ key }: JsonObject): void {
  if (typeof key !== 'string') throw complain('A filter of the type hogql has its condition as key.')
  explained(ATTR, () => assertPerRow(parseExpression(key)))
}

const complain = (detail: string) => invalid(ATTR, 'invalid_input', detail)
