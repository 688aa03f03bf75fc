// Property filters in every form they may be sent in, and in forms they may not.
import fc, { type Arbitrary } from 'fast-check'
import { PROPERTY_NAMES, PROPERTY_VALUES } from './events.ts'
import { goodCondition, wildExpression } from './hogql.ts'
import { anyJson, hostileText, mostly } from './values.ts'

const TEXT_OPERATORS = [
  'exact',
  'is_not',
  'icontains',
  'not_icontains',
  'regex',
  'not_regex',
  'is_set',
  'is_not_set',
]
const NUMBER_OPERATORS = ['gt', 'gte', 'lt', 'lte', 'min', 'max']
const DATE_OPERATORS = ['is_date_exact', 'is_date_before', 'is_date_after']
const OPERATORS = [
  ...TEXT_OPERATORS,
  ...NUMBER_OPERATORS,
  ...DATE_OPERATORS,
  'in',
  'not_in',
  'between',
  'not_between',
]
const TYPES = [
  'event',
  'feature',
  'person',
  'event_metadata',
  'element',
  'cohort',
  'static-cohort',
  'precalculated-cohort',
  'group',
  'session',
  'hogql',
]
const KEYS = [
  ...PROPERTY_NAMES,
  'email',
  'distinct_id',
  'event',
  'timestamp',
  'person_id',
  '$group_0',
  'tag_name',
  'text',
  'href',
  'selector',
  '$session_duration',
]
const SELECTORS = [
  'a.btn',
  'div > a',
  '.btn.big',
  'a[href="/buy"]',
  '#buy',
  'a:nth-child(2)',
  '>',
  '[',
  '*',
  'a..b',
]
const PATTERNS = ['^C', '[a-z]+', '(', '(?=a)', '(a+)+b', '\\p{L}', '\\', 'a{1000}', '(?P<n>a)', '\\C']
const DATES = [
  '2024-06-01',
  '2024-06-01T10:00:00Z',
  '-7d',
  '-1mStart',
  '2024-06-01 10:00:00',
  '-99999999y',
  'never',
]

const scalar = fc.constantFrom(...PROPERTY_VALUES)
const key = fc.constantFrom(...PROPERTY_NAMES, 'email')

const goodFilter: Arbitrary<object> = fc.oneof(
  fc.record({ key, value: scalar.filter((value) => typeof value === 'string' || typeof value === 'number') }),
  fc.record({
    key,
    value: fc.array(fc.constantFrom('Chrome', 5, true), { minLength: 1, maxLength: 3 }),
    operator: fc.constantFrom('exact', 'is_not', 'in', 'not_in'),
    type: fc.constantFrom('event', 'person'),
  }),
  fc.record({
    key,
    value: fc.constantFrom('a', 'C'),
    operator: fc.constantFrom(...TEXT_OPERATORS),
    type: fc.constantFrom('event', 'person'),
  }),
  fc.record({
    key,
    value: fc.constantFrom<unknown>(5, '5', -1.5),
    operator: fc.constantFrom(...NUMBER_OPERATORS),
  }),
  fc.record({
    key,
    value: fc.constantFrom(...DATES.slice(0, 4)),
    operator: fc.constantFrom(...DATE_OPERATORS),
  }),
  fc.record({ key, value: fc.constant([1, 5]), operator: fc.constantFrom('between', 'not_between') }),
  fc.record({
    key: fc.constantFrom('event', 'distinct_id', 'person_id'),
    value: fc.constantFrom('paid', 'ann'),
    type: fc.constant('event_metadata'),
  }),
  fc.record({
    key: fc.constantFrom('tag_name', 'text', 'href', 'selector'),
    value: fc.constantFrom('a', 'div'),
    type: fc.constant('element'),
  }),
  fc.record({
    key: fc.constant('id'),
    value: fc.constantFrom(1, 2),
    type: fc.constant('cohort'),
    negation: fc.boolean(),
  }),
  fc.record({
    key: fc.constant('name'),
    value: fc.constant('Acme'),
    type: fc.constant('group'),
    group_type_index: fc.nat({ max: 4 }),
  }),
  fc.record({
    key: fc.constant('$session_duration'),
    value: fc.constant(1),
    operator: fc.constant('gt'),
    type: fc.constant('session'),
  }),
  fc.record({ key: fc.constantFrom("event = 'paid'", 'properties.amount > 1'), type: fc.constant('hogql') }),
)

const wildFilter: Arbitrary<unknown> = mostly(
  15,
  fc.record(
    {
      key: fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom<unknown>(...KEYS) },
        { weight: 2, arbitrary: fc.oneof(goodCondition, wildExpression) },
        { weight: 1, arbitrary: anyJson },
      ),
      value: fc.oneof(
        scalar,
        anyJson,
        fc.array(fc.oneof(scalar, anyJson), { maxLength: 3 }),
        fc.constantFrom<unknown>(...SELECTORS, ...PATTERNS, ...DATES, [5, 1], ['a', 'b'], [1, 2, 3]),
      ),
      operator: mostly<unknown>(12, fc.constantFrom(...OPERATORS), anyJson),
      type: mostly<unknown>(
        12,
        fc.constantFrom(...TYPES),
        fc.oneof(anyJson, fc.constantFrom('recording', 'behavioral')),
      ),
      group_type_index: mostly<unknown>(3, fc.nat({ max: 5 }), anyJson),
      negation: mostly<unknown>(3, fc.boolean(), anyJson),
    },
    { requiredKeys: ['key', 'value'] },
  ),
  anyJson,
)

/** A list, a group (of groups), or the old form with operators in the names. */
function formsOf(filter: Arbitrary<unknown>, joins: Arbitrary<unknown>): Arbitrary<unknown> {
  const list = fc.array(filter, { maxLength: 3 })
  const group = fc.record({ type: joins, values: list })
  return fc.oneof(
    { weight: 4, arbitrary: list },
    { weight: 2, arbitrary: group },
    { weight: 1, arbitrary: fc.record({ type: joins, values: fc.array(group, { maxLength: 3 }) }) },
  )
}

const joins = fc.constantFrom('AND', 'OR')
const oldName = fc.oneof(
  key,
  fc.tuple(key, fc.constantFrom(...OPERATORS)).map((parts) => parts.join('__')),
)

export const goodFilters: Arbitrary<unknown> = mostly(
  6,
  formsOf(goodFilter, joins),
  fc.constantFrom<unknown>({ $browser: 'Chrome', amount__gt: 5 }, { amount__is_set: 'true' }, [], {}),
)

const deepGroup = fc.integer({ min: 5, max: 200 }).map((depth) => {
  let group: object = { type: 'AND', values: [{ key: 'amount', value: 5 }] }
  for (let level = 0; level < depth; level++) group = { type: 'OR', values: [group] }
  return group
})
const manyFilters = fc
  .integer({ min: 90, max: 300 })
  .map((count) => Array.from({ length: count }, () => ({ key: 'a', value: 1 })))

export const wildFilters: Arbitrary<unknown> = fc.oneof(
  { weight: 8, arbitrary: formsOf(fc.oneof(wildFilter, goodFilter), mostly<unknown>(4, joins, anyJson)) },
  {
    weight: 2,
    arbitrary: fc.dictionary(fc.oneof(oldName, hostileText), fc.oneof(scalar, anyJson), { maxKeys: 3 }),
  },
  { weight: 1, arbitrary: fc.oneof(deepGroup, manyFilters, anyJson) },
)
