import { describe, expect, it } from 'vitest'
import { eventIs, OPERATORS, readFilters, type Filter } from './filter.ts'
import { conditionWords, operatorsFor, problemOf, subjectWords, valueKind } from './operators.ts'

const filter = (rest: Partial<Filter>): Filter => ({
  type: 'event',
  key: '$browser',
  operator: 'exact',
  value: ['Safari'],
  ...rest,
})

describe('filters of an address', () => {
  it('come as they were written', () => {
    const filters = [eventIs('a', 'b'), filter({ operator: 'is_set', value: undefined })]
    expect(readFilters(JSON.parse(JSON.stringify(filters)))).toEqual(filters)
  })

  it('values of any kind become texts, and PostHog’s short forms are understood', () => {
    expect(
      readFilters([
        { key: 'n', operator: 'gt', value: 5 },
        { key: 'vip', value: true },
      ]),
    ).toEqual([
      { type: 'event', key: 'n', operator: 'gt', value: ['5'] },
      { type: 'event', key: 'vip', operator: 'exact', value: ['true'] },
    ])
    expect(
      readFilters([{ type: 'group', key: 'plan', value: 'x', group_type_index: '2' }])[0]!.group_type_index,
    ).toBe(2)
  })

  it.each([
    [null],
    ['x'],
    [{}],
    [[null, 5, 'x', {}, { key: '' }, { key: 'a', type: 'cohort' }, { key: 'a', operator: 'like' }]],
  ])('what is no filter is left out: %j', (given) => expect(readFilters(given)).toEqual([]))
})

describe('a filter in words', () => {
  it.each<[Partial<Filter>, string]>([
    [{}, '$browser is Safari'],
    [{ operator: 'is_not', value: ['Safari', 'Chrome'] }, '$browser is not Safari or Chrome'],
    [{ operator: 'between', value: ['1', '5'] }, '$browser is between 1 and 5'],
    [{ operator: 'is_not_set', value: undefined }, '$browser is not set'],
    [{ type: 'person', key: 'email', operator: 'icontains', value: ['@'] }, 'person’s email contains @'],
    [{ type: 'group', key: 'plan', group_type_index: 1 }, 'team’s plan is Safari'],
    [{ type: 'group', key: 'plan', group_type_index: 4 }, 'group 4’s plan is Safari'],
    [{ type: 'event_metadata', key: 'distinct_id' }, 'distinct id is Safari'],
    [{ type: 'element', key: 'tag_name' }, 'element tag is Safari'],
  ])('%j', (rest, words) => {
    const given = filter(rest)
    expect(`${subjectWords(given, ['company', 'team'])} ${conditionWords(given)}`).toBe(words)
  })
})

describe('operators', () => {
  it('of a property are all that mean something of their own', () => {
    const offered = operatorsFor({ type: 'event', key: 'x' }).flatMap(({ operators }) => operators)
    const same = ['in', 'not_in', 'icontains_multi', 'not_icontains_multi', 'min', 'max']
    expect([...offered, ...same].toSorted()).toEqual([...OPERATORS].toSorted())
  })

  it.each<[Partial<Filter>, string | null]>([
    [{}, null],
    [{ value: [] }, 'A value is missing.'],
    [{ value: [' '] }, 'A value is missing.'],
    [{ operator: 'is_set', value: [] }, null],
    [{ operator: 'between', value: ['1', '2'] }, null],
    [{ operator: 'between', value: ['2', '1'] }, 'Two numbers are needed, the smaller one first.'],
    [{ operator: 'not_between', value: ['1'] }, 'Two numbers are needed, the smaller one first.'],
    [{ type: 'hogql', value: [] }, null],
  ])('%j: %s', (rest, problem) => expect(problemOf(filter(rest))).toBe(problem))

  it('each takes some kind of value', () => expect(OPERATORS.map(valueKind)).not.toContain(undefined))
})
