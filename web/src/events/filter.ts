// One filter as the API takes it in `properties`, and how it is read from an address.

export const FILTER_TYPES = [
  'event',
  'person',
  'event_metadata',
  'element',
  'group',
  'session',
  'hogql',
] as const
export type FilterType = (typeof FILTER_TYPES)[number]

/** All that the API knows. Some say the same in two ways; operators.ts says which are offered. */
export const OPERATORS = [
  'exact',
  'is_not',
  'in',
  'not_in',
  'icontains',
  'not_icontains',
  'icontains_multi',
  'not_icontains_multi',
  'regex',
  'not_regex',
  'gt',
  'gte',
  'min',
  'lt',
  'lte',
  'max',
  'between',
  'not_between',
  'is_set',
  'is_not_set',
  'is_date_exact',
  'is_date_before',
  'is_date_after',
  'semver_eq',
  'semver_gt',
  'semver_gte',
  'semver_lt',
  'semver_lte',
] as const
export type Operator = (typeof OPERATORS)[number]

/** What a filter is about. */
export type Subject = { type: FilterType; key: string; group_type_index?: number }
export type Filter = Subject & { operator: Operator; value?: readonly string[] }

export const eventIs = (...names: string[]): Filter => ({
  type: 'event_metadata',
  key: 'event',
  operator: 'exact',
  value: names,
})

/** What an address holds may be anything: what is no filter is left out. */
export function readFilters(given: unknown): Filter[] {
  return Array.isArray(given) ? given.flatMap(readFilter) : []
}

function readFilter(given: unknown): Filter[] {
  if (typeof given !== 'object' || given === null) return []
  const {
    type = 'event',
    key,
    operator = 'exact',
    value,
    group_type_index,
  } = given as Record<string, unknown>
  if (!isOneOf(FILTER_TYPES, type) || !isOneOf(OPERATORS, operator)) return []
  if (typeof key !== 'string' || key === '') return []
  const values = [value].flat().flatMap((each) => (isScalar(each) ? [String(each)] : []))
  return [
    {
      type,
      key,
      operator,
      ...(values.length > 0 ? { value: values } : {}),
      ...(type === 'group' ? { group_type_index: Number(group_type_index) || 0 } : {}),
    },
  ]
}

function isOneOf<const Choice extends string>(choices: readonly Choice[], value: unknown): value is Choice {
  return choices.some((choice) => choice === value)
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}
