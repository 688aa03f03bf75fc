// Questions about events and persons: parameters of the lists, and bodies of the query endpoint.
import fc, { type Arbitrary } from 'fast-check'
import { DISTINCT_IDS, EVENT_NAMES, PROPERTY_NAMES } from './events.ts'
import { goodFilters, wildFilters } from './filters.ts'
import { goodColumn, goodCondition, goodQueryText, wildExpression, wildQueryText } from './hogql.ts'
import type { Operation } from './operations.ts'
import { anyJson, anyOf, hostileText, mostly, type Source } from './values.ts'

/** Operations whose parameters and bodies mean more than their schemas say. */
export const isAboutEvents = ({ path }: Pick<Operation, 'path'>) => /\/(events|persons|query)\b/.test(path)

const TIMES = ['2024-01-01', '2024-06-01T10:00:00Z', '-7d', '-30M', '-1dStart', 'mStart', '-2y', '2099-01-01']
const ODD_TIMES = [
  '2024-06-01T10:00:00 00:00',
  '2024-06-01T10:00:00.1234567+02:00',
  '0000-00-00',
  '9999-12-31T23:59:59.999999Z',
  '-0001-01-01',
  '+275760-09-13',
  '-99999999999d',
  '-1',
  '1717236000',
  'never',
]

const asJson = (value: unknown) => JSON.stringify(value) ?? ''
const jsonList = (item: Arbitrary<string>, maxLength: number) => fc.array(item, { maxLength }).map(asJson)

/** Undefined for a name that this file knows nothing of. */
function goodValue({ side }: Source, name: string, isPersons: boolean): Arbitrary<string> | undefined {
  const ofPerson = anyOf(() => side.ids.person)
  const values: Record<string, Arbitrary<string>> = {
    format: fc.constantFrom('json', 'csv'),
    event: fc.constantFrom(...EVENT_NAMES),
    event_name: fc.constantFrom(...EVENT_NAMES),
    distinct_id: fc.constantFrom(...DISTINCT_IDS),
    person_id: fc.oneof(ofPerson, fc.constantFrom('999999', 'nobody')),
    after: fc.constantFrom(...TIMES),
    before: fc.constantFrom(...TIMES),
    after_id: anyOf(() => side.ids.event),
    before_id: anyOf(() => side.ids.event),
    limit: fc.integer({ min: 1, max: 20 }).map(String),
    offset: fc.integer({ min: 0, max: 20 }).map(String),
    orderBy: fc.constantFrom('["-timestamp"]', '["timestamp"]', 'timestamp', '-timestamp'),
    properties: isPersons
      ? fc.constantFrom(
          '[{"key":"email","value":"user-1@example.com"}]',
          '[{"key":"plan","operator":"is_set"}]',
        )
      : goodFilters.map(asJson),
    select: jsonList(goodColumn, 3),
    where: jsonList(goodCondition, 2),
    key: fc.constantFrom(...PROPERTY_NAMES.filter((each) => each !== ''), 'custom_event'),
    value: fc.constantFrom('a', 'C', '5'),
    is_column: fc.constant('false'),
    email: fc.constantFrom('user-1@example.com', 'USER-1@example.com'),
    search: fc.constantFrom('ann', 'user', '%'),
  }
  return values[name]
}

export function goodEventQuery(source: Source, { query, path }: Operation): Arbitrary<string> {
  const isPersons = path.includes('/persons')
  const pairs = query.map(({ name }) =>
    (goodValue(source, name, isPersons) ?? fc.constant('')).map((value): [string, string] => [name, value]),
  )
  const filtered = fc
    .tuple(...pairs)
    .chain((all) => fc.subarray(all, { maxLength: Math.min(5, all.length) }))
    // Values are always of some key, and the one at hand may have been left out.
    .map((chosen) => (path.endsWith('/values/') ? [['key', '$browser'], ...chosen] : chosen))
  return mostly(4, filtered, fc.constant(path.endsWith('/values/') ? [['key', 'tags']] : [])).map((chosen) =>
    new URLSearchParams(chosen as [string, string][]).toString(),
  )
}

export function wildEventQuery(source: Source, operation: Operation): Arbitrary<string> {
  const isPersons = operation.path.includes('/persons')
  const names = [
    ...operation.query.map(({ name }) => name),
    'properties_$browser',
    'include_person',
    'limit[]',
  ]
  const value = (name: string): Arbitrary<string> => {
    const odd = fc.oneof(
      hostileText,
      fc.constantFrom('1', '0', '-1', '1e3', '100001', '99999999999999999999', '[]', '[1]'),
    )
    return fc.oneof(
      { weight: 3, arbitrary: goodValue(source, name, isPersons) ?? odd },
      { weight: 4, arbitrary: wildValue(name) ?? odd },
      { weight: 1, arbitrary: odd },
    )
  }
  const pair = fc
    .constantFrom(...names)
    .chain((name) =>
      value(name).map((text) => `${name}=${encodeURIComponent(text.toWellFormed()).slice(0, 8_000)}`),
    )
  // Without a key, which other parameters may still override, values are not looked for.
  const first = operation.path.endsWith('/values/') ? ['key=$browser'] : []
  return fc.array(pair, { maxLength: 5 }).map((pairs) => [...first, ...pairs].join('&'))
}

function wildValue(name: string): Arbitrary<string> | undefined {
  switch (name) {
    case 'after':
    case 'before':
      return fc.constantFrom(...ODD_TIMES)
    case 'properties':
      return mostly(6, wildFilters.map(asJson), fc.json())
    case 'select':
    case 'where':
    case 'orderBy':
      return mostly(6, jsonList(fc.oneof(wildExpression, goodColumn), 4), fc.json())
    default:
      return undefined
  }
}

export function goodQueryBody(source: Source): Arbitrary<object> {
  const { event, person_id, after, before } = {
    event: goodValue(source, 'event', false)!,
    person_id: goodValue(source, 'person_id', false)!,
    after: fc.constantFrom(...TIMES),
    before: fc.constantFrom(...TIMES),
  }
  const hogql = fc.record(
    {
      kind: fc.constant('HogQLQuery'),
      query: mostly(
        4,
        goodQueryText,
        fc.constantFrom('select {x}, {variables.y} from events where {filters}'),
      ),
      values: fc.constantFrom<object>({ x: 'a' }, { x: [1, 'b', null] }),
      variables: fc.constantFrom<object>({ y: 5 }, { id: { code_name: 'y', value: true } }),
      filters: fc.record(
        { properties: goodFilters, dateRange: fc.record({ date_from: after, date_to: before }) },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: ['kind', 'query'] },
  )
  const events = fc.record(
    {
      kind: fc.constant('EventsQuery'),
      select: fc.array(goodColumn, { maxLength: 3 }),
      where: fc.array(goodCondition, { maxLength: 2 }),
      orderBy: fc.constantFrom([], ['timestamp DESC'], ['-timestamp'], ['event']),
      event,
      personId: person_id,
      after,
      before,
      properties: goodFilters,
      limit: fc.integer({ min: 1, max: 50 }),
      offset: fc.nat({ max: 20 }),
    },
    { requiredKeys: ['kind', 'select'] },
  )
  return fc
    .oneof({ weight: 2, arbitrary: hogql }, { weight: 1, arbitrary: events })
    .map((query) => ({ query }))
}

const FIELDS = [
  'kind',
  'query',
  'values',
  'variables',
  'filters',
  'select',
  'where',
  'orderBy',
  'personId',
  'after',
  'properties',
  'limit',
  'offset',
]

/** The question itself broken, or what stands around it. */
export function wildQueryBody(source: Source): Arbitrary<unknown> {
  const value = fc.oneof(
    { weight: 4, arbitrary: wildQueryText },
    { weight: 2, arbitrary: fc.array(wildExpression, { maxLength: 4 }) },
    { weight: 2, arbitrary: wildFilters },
    {
      weight: 2,
      arbitrary: wildFilters.map((properties) => ({ properties, dateRange: { date_from: 'all' } })),
    },
    { weight: 2, arbitrary: anyJson },
    { weight: 1, arbitrary: fc.dictionary(hostileText, anyJson, { maxKeys: 3 }) },
    { weight: 1, arbitrary: fc.constantFrom(...ODD_TIMES) },
  )
  const text = fc
    .tuple(goodQueryBody(source), wildQueryText)
    .map(([, query]) => ({ query: { kind: 'HogQLQuery', query } }))
  const changed = fc
    .tuple(
      goodQueryBody(source),
      fc.array(fc.tuple(fc.constantFrom(...FIELDS), value), { minLength: 1, maxLength: 2 }),
    )
    .map(([body, changes]) => ({
      ...body,
      query: { ...(body as { query: object }).query, ...Object.fromEntries(changes) },
    }))
  return fc.oneof(
    { weight: 6, arbitrary: text },
    { weight: 6, arbitrary: changed },
    { weight: 1, arbitrary: anyJson.map((query) => ({ query })) },
  )
}
