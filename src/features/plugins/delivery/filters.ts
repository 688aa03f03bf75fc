// `filters` of a config: which events its destination gets, by name and by properties. The store does the choosing.
import { filterExpression, readPropertyFilters } from '../../events/property-filters.ts'
import { explained } from '../../events/run-query.ts'
import { allOf, anyOf, compare, constant, field } from '../../events/tree.ts'
import type { Expr } from '../../../hogql/ast.ts'
import { parseExpression } from '../../../hogql/parser.ts'
import { assertPerRow } from '../../../hogql/per-row.ts'
import { isObject } from '../../../lib/json-object.ts'
import type { EventStore } from '../../../platform/event-store/event-store.ts'
import { invalid } from '../../../platform/http/errors.ts'
import { compilePage } from './compile-events.ts'

const ATTR = 'filters'
const MAX_EVENTS = 100

// Whether filters can be read hangs neither on the project nor on the day.
const SOME_PROJECT = { id: 0, timezone: 'UTC' }
const SOME_DAY = new Date('2024-01-01T00:00:00Z')
const SOME_LIMITS = { max_events: 1, max_bytes: 1 }

/** Throws what the API answers when an event could not be held against them. */
export function assertFilters(filters: unknown, engine: EventStore['engine']): void {
  // A misspelt name would let every event through. What is stored goes on as it is.
  if (isObject(filters) && Object.keys(filters).length > 0 && !('events' in filters))
    throw complain('Filters have no events.')
  const condition = filterCondition(filters, SOME_PROJECT.timezone, SOME_DAY) ?? constant(true)
  explained(ATTR, () => compilePage({ ...SOME_PROJECT, engine }, condition, SOME_DAY, SOME_LIMITS))
}

/** Null when every event is wanted; relative dates count from `now`. */
export function filterCondition(filters: unknown, timezone: string, now: Date): Expr | null {
  if (filters === null || filters === undefined) return null
  if (!isObject(filters)) throw complain('Filters are an object with a list of events.')
  const { events = [] } = filters
  if (!Array.isArray(events)) throw complain('The events of filters are a list.')
  if (events.length > MAX_EVENTS) throw complain(`Filters name ${MAX_EVENTS} events at most.`)
  if (events.length === 0) return null
  return anyOf(...events.map((event: unknown) => eventCondition(event, timezone, now)))
}

function eventCondition(event: unknown, timezone: string, now: Date): Expr {
  if (!isObject(event)) throw complain('Each event of filters is an object with its name as id.')
  const { id, properties = [] } = event
  if (id !== null && typeof id !== 'string') {
    throw complain('The id of an event is its name, or null for any event.')
  }
  const listed = properties ?? []
  assertPerRowIn(listed)
  const named = id === null ? constant(true) : compare(field('event'), '==', constant(id))
  const having = filterExpression(readPropertyFilters(listed, ATTR), { now, timezone, table: null })
  return allOf(having === null ? [named] : [named, having])!
}

/** A condition that looks at other events could not be told of one event alone. */
function assertPerRowIn(value: unknown): void {
  if (Array.isArray(value)) value.forEach(assertPerRowIn)
  if (!isObject(value)) return
  const { type, key, values } = value
  if (type === 'hogql' && typeof key === 'string') {
    explained(ATTR, () => assertPerRow(parseExpression(key)))
  }
  assertPerRowIn(values)
}

const complain = (detail: string) => invalid(ATTR, 'invalid_input', detail)
