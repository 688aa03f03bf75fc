import { describe, expect, it } from 'vitest'
import { OPERATORS } from '../../events/filter.ts'
import {
  filterBody,
  filterOf,
  isUnfinished,
  kindOfValue,
  NEW_FILTER,
  operatorChoices,
  withOperator,
  type Filter,
} from './filters.ts'

const filter = (fields: Partial<Filter>): Filter => ({ ...NEW_FILTER, key: 'plan', ...fields })

describe('a stored filter', () => {
  const STORED = [
    { key: 'city', value: ['Berlin, DE'], operator: 'exact', type: 'event' },
    { key: 'city', value: 'Berlin, DE' },
    { key: 'amount', value: 5, operator: 'gt', type: 'event' },
    { key: 'amount', value: [5, '6', true], operator: 'is_not', type: 'person' },
    { key: 'amount', value: [1, 2.5], operator: 'between', type: 'event' },
    { key: 'paid', value: false, operator: 'exact', type: 'event' },
    { key: 'place', value: [{ city: 'Rome' }, ['a']], operator: 'exact', type: 'event' },
    { key: 'plan', value: [], operator: 'exact', type: 'event' },
    { key: 'plan', operator: 'is_set', type: 'event' },
    { key: 'plan', value: null, operator: 'is_not_set', type: 'event', label: 'Plan' },
    { key: 'path', value: ['^/a', '^/b'], operator: 'regex', type: 'event' },
    { key: "properties.plan = 'a, b'", value: null, type: 'hogql' },
    ...OPERATORS.map((operator) => ({ key: 'version', value: ['1', '2'], operator, type: 'event' })),
  ]
  it.each(STORED)('%j goes back as it came, also through a draft of the browser', (stored) => {
    const shown = filterOf(stored)
    expect(filterBody(shown)).toBe(stored)
    expect(filterBody(JSON.parse(JSON.stringify(shown)))).toEqual(stored)
    expect(isUnfinished(shown)).toBe(false)
  })

  it.each(STORED)('%j is shown with its operator and all of its values', (stored) => {
    const shown = filterOf(stored)
    const offered = operatorChoices(shown).flatMap(({ items }) => items.map(({ value }) => value))
    expect(offered).toContain(shown.operator)
    expect(new Set(offered).size).toBe(offered.length)
    const shows = { many: 100, range: 2, none: 0 }[kindOfValue(shown) as string] ?? 1
    if (shows > 0) expect(shown.value.length).toBeLessThanOrEqual(shows)
  })

  it('is sent as it is shown once something of it is changed', () => {
    const shown = filterOf({ key: 'amount', value: [5, 'a, b', true], operator: 'exact', label: 'old' })
    expect(filterBody({ ...shown, key: 'sum' })).toEqual({
      type: 'event',
      key: 'sum',
      operator: 'exact',
      value: ['5', 'a, b', 'true'],
    })
  })
})

it.each<[Partial<Filter>, unknown]>([
  [{ value: ['a, b'] }, ['a, b']],
  [{ operator: 'in', value: ['a'] }, ['a']],
  [{ operator: 'between', value: ['1', '2'] }, ['1', '2']],
  [{ operator: 'gt', value: ['5'] }, '5'],
  [{ operator: 'semver_gte', value: ['1.2'] }, '1.2'],
  [{ operator: 'is_date_exact', value: ['-7d'] }, '-7d'],
  [{ operator: 'is_set' }, 'is_set'],
])('%j is sent with the value %j', (fields, value) => {
  expect(filterBody(filter(fields))).toEqual({
    type: 'event',
    key: 'plan',
    operator: fields.operator ?? 'exact',
    value,
  })
})

it('another operator takes what it can of the value', () => {
  const given = filter({ value: ['1', '2'] })
  expect(withOperator(given, 'is_not').value).toEqual(['1', '2'])
  expect(withOperator(given, 'gt').value).toEqual(['1'])
  expect(withOperator(given, 'between').value).toEqual([])
})

it.each<[boolean, Partial<Filter>]>([
  [true, { key: '' }],
  [true, { key: ' ', value: ['pro'] }],
  [true, {}],
  [true, { operator: 'between', value: ['5'] }],
  [false, { value: ['pro'] }],
  [false, { operator: 'is_set' }],
  [false, { key: "properties.plan = 'pro'", type: 'hogql' }],
])('unfinished: %s for %j', (expected, fields) => {
  expect(isUnfinished(filter(fields))).toBe(expected)
})
