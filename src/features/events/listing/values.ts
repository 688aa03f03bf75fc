// GET …/events/values/: what a property (or a column) holds these days, for pickers that complete what is typed.
import type { Expr, SelectQuery } from '../../../hogql/ast.ts'
import { invalid } from '../../../platform/http/errors.ts'
import type { Services } from '../../../platform/services.ts'
import { filterExpression, readPropertyFilters } from '../property-filters.ts'
import { runQuery, type AskedProject } from '../run-query.ts'
import { cellsOfRecord, type CsvTable } from './csv.ts'
import { allTexts, defaultBefore, lastText, type Clock, type GivenQuery } from './parameters.ts'
import {
  allOf,
  ascending,
  call,
  compare,
  constant,
  descending,
  eventField,
  field,
  moment,
  oneOf,
} from '../tree.ts'

export type PropertyValue = { name: string }

const MAX_VALUES = 10
const MAX_EVENT_NAMES = 100
// More than shown, because a list counts as one value until it is taken apart.
const CANDIDATES = 1000
const DAYS = 7
const DAY_MS = 24 * 60 * 60 * 1000
const COLUMNS = new Set(['event', 'distinct_id'])
const OTHER_PROPERTY = 'properties_'

export async function findValues(
  services: Services,
  project: AskedProject,
  query: GivenQuery,
): Promise<PropertyValue[]> {
  const key = lastText(query, 'key')
  if (key === null) throw invalid('key', 'required', 'Name a property with `key`.')
  const isColumn = lastText(query, 'is_column')?.toLowerCase() === 'true'
  if (isColumn && !COLUMNS.has(key)) {
    throw invalid(
      'key',
      'invalid_input',
      `Values can be listed for these columns: ${[...COLUMNS].join(', ')}.`,
    )
  }
  if (key === 'custom_event' && !isColumn) return findCustomEventNames(services, project)
  const part = lastText(query, 'value')
  const texts = await findTexts(services, project, isColumn ? eventField(key) : field('properties', key), {
    conditions: conditionsOf(query, key, isColumn, part, { now: services.now(), timezone: project.timezone }),
    shortest_first: part !== null,
  })
  return shownValues(texts, isColumn, part)
}

/** One column. */
export function valuesTable(rows: readonly PropertyValue[]): CsvTable<PropertyValue> {
  const cellsOf = ({ name }: PropertyValue) => [cellsOfRecord({ name })]
  return { rows, weightOf: ({ name }) => name.length, cellsOf, header_of_nothing: ['name'] }
}

/** Names that no library makes up by itself. */
async function findCustomEventNames(services: Services, project: AskedProject): Promise<PropertyValue[]> {
  const event = field('event')
  const query: SelectQuery = {
    node: 'SelectQuery',
    select: [event],
    distinct: true,
    select_from: { node: 'JoinExpr', table: field('events') },
    where: compare(event, 'not like', constant('$%')),
    order_by: [ascending(event)],
    limit: constant(MAX_EVENT_NAMES),
  }
  const { rows } = await runQuery(services, project, { query, max_rows: MAX_EVENT_NAMES })
  return rows.map(([name]) => ({ name: String(name) }))
}

function conditionsOf(
  query: GivenQuery,
  key: string,
  isColumn: boolean,
  part: string | null,
  clock: Clock,
): Expr[] {
  const midnight = Math.floor(clock.now.getTime() / DAY_MS) * DAY_MS
  const names = allTexts(query, 'event_name')
  const filters = [
    ...(part === null
      ? []
      : [{ key, value: part, operator: 'icontains', type: isColumn ? 'event_metadata' : 'event' }]),
    ...otherProperties(query),
  ]
  const expression = filterExpression(readPropertyFilters(filters, 'properties'), clock)
  return [
    compare(eventField('timestamp'), '>=', moment(BigInt(midnight - DAYS * DAY_MS) * 1000n)),
    compare(eventField('timestamp'), '<', moment(defaultBefore(clock.now))),
    ...(names.length > 0 ? [oneOf(eventField('event'), names)] : []),
    ...(expression === null ? [] : [expression]),
  ]
}

/** `properties_<name>=…`: only events whose property has one of these values. */
function otherProperties(query: GivenQuery): object[] {
  return Object.keys(query)
    .filter((name) => name.startsWith(OTHER_PROPERTY) && name !== OTHER_PROPERTY)
    .map((name) => ({ name, value: allTexts(query, name).flatMap(oneOrMany) }))
    .filter(({ value }) => value.length > 0)
    .map(({ name, value }) => ({
      key: name.slice(OTHER_PROPERTY.length),
      value,
      operator: 'exact',
      type: 'event',
    }))
}

function oneOrMany(text: string): unknown[] {
  return parseList(text) ?? [text]
}

async function findTexts(
  services: Services,
  project: AskedProject,
  expr: Expr,
  { conditions, shortest_first }: { conditions: readonly Expr[]; shortest_first: boolean },
): Promise<string[]> {
  const query: SelectQuery = {
    node: 'SelectQuery',
    // With a name of its own: a property called `*` would stand for all columns there.
    select: [{ node: 'Alias', alias: 'value', expr }, call('count')],
    select_from: { node: 'JoinExpr', table: field('events') },
    where: allOf([...conditions, call('isNotNull', expr)])!,
    group_by: [expr],
    order_by: [shortest_first ? ascending(call('length', expr)) : descending(call('count')), ascending(expr)],
    limit: constant(CANDIDATES),
  }
  const { rows } = await runQuery(services, project, { query, max_rows: CANDIDATES })
  return rows.map(([text]) => String(text))
}

function shownValues(texts: readonly string[], isColumn: boolean, part: string | null): PropertyValue[] {
  const names = [...new Set(isColumn ? texts : texts.flatMap(itemsOf))]
  if (part === null) return names.slice(0, MAX_VALUES).map((name) => ({ name }))
  const wanted = part.toLowerCase()
  return names
    .filter((name) => name.toLowerCase().includes(wanted))
    .toSorted((a, b) => a.length - b.length)
    .slice(0, MAX_VALUES)
    .map((name) => ({ name }))
}

/** A list is taken apart, lists in it as well; anything else is one value. */
function itemsOf(text: string): string[] {
  return parseList(text)?.flat(10).flatMap(itemText) ?? [text]
}

function itemText(item: unknown): string[] {
  if (item === null) return []
  return [typeof item === 'string' ? item : JSON.stringify(item)]
}

function parseList(text: string): unknown[] | null {
  if (!text.startsWith('[')) return null
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
