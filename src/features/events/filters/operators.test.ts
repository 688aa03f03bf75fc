// Every operator against every kind of property value, on the real store: which events are found, and which are not.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openFilteredStore, type FilteredStore } from './fixture/store.ts'

/** The property `x` of one event each; the event is named after it. */
const VALUES: Record<string, unknown> = {
  abc: 'abc',
  'ABC def': 'ABC def',
  empty: '',
  'a_b 100%': 'a_b 100%',
  'back\\slash': 'back\\slash',
  n5: 5,
  t5: '5',
  't5.0': '5.0',
  't 5 ': ' 5 ',
  n10: 10,
  t10: '10',
  'n-1.5': -1.5,
  true: true,
  false: false,
  'text true': 'true',
  list: [1, 'a'],
  object: { a: 1 },
  null: null,
  nan: 'nan',
  infinity: 'infinity',
  ünï: 'ÜNÏ\nline',
}
const NO_COPIES = { persons: [], deleted_persons: [], distinct_ids: [], groups: [] }
const MISSING = 'missing'
const ALL = [...Object.keys(VALUES), MISSING]
const but = (...names: string[]) => ALL.filter((name) => !names.includes(name))

let store: FilteredStore
beforeAll(async () => {
  store = await openFilteredStore(
    [
      ...Object.entries(VALUES).map(([event, x]) => ({ event, properties: { x } })),
      { event: MISSING, properties: { y: 1 } },
    ],
    NO_COPIES,
  )
})
afterAll(() => store.close())

const FIVES = ['n5', 't5', 't5.0', 't 5 ']
const TENS = ['n10', 't10']
const NOTHING_THERE = ['null', MISSING]

describe('equality', () => {
  it.each<[string, unknown, string[]]>([
    ['exact', 'abc', ['abc']],
    ['exact', 'ABC', []],
    ['exact', '', ['empty']],
    ['exact', 5, FIVES],
    ['exact', '5', FIVES],
    ['exact', '5.0', FIVES],
    ['exact', ' 5', FIVES],
    ['exact', '5e0', FIVES],
    ['exact', -1.5, ['n-1.5']],
    ['exact', true, ['true', 'text true']],
    ['exact', 'true', ['true', 'text true']],
    ['exact', false, ['false']],
    ['exact', 1, []],
    ['exact', 'null', []],
    ['exact', 'nan', ['nan']],
    ['exact', [], []],
    ['exact', ['abc'], ['abc']],
    ['exact', ['abc', 5, 'nothing'], ['abc', ...FIVES]],
    ['exact', '[1,"a"]', ['list']],
    ['exact', [[1, 'a']], ['list']],
    ['exact', { a: 1 }, ['object']],
    ['exact', '{"a":1}', ['object']],
    ['is_not', 'abc', but('abc')],
    ['is_not', 5, but(...FIVES)],
    ['is_not', true, but('true', 'text true')],
    ['is_not', ['abc', 5], but('abc', ...FIVES)],
    ['is_not', ['abc'], but('abc')],
    ['is_not', [], ALL],
    ['is_not', 'nothing', ALL],
    ['in', ['abc', 10], ['abc', ...TENS]],
    ['in', [], []],
    ['in', ['abc'], ['abc']],
    ['not_in', ['abc', '10'], but('abc', ...TENS)],
    ['not_in', ['abc'], but('abc')],
    ['not_in', [], ALL],
  ])('%s %j', async (operator, value, expected) => {
    expect(await store.find([{ key: 'x', value, operator }])).toEqual(
      ALL.filter((name) => expected.includes(name)),
    )
  })

  it('is the operator when none is given', async () => {
    expect(await store.find([{ key: 'x', value: 'abc' }])).toEqual(['abc'])
  })
})

describe('parts and patterns', () => {
  it.each<[string, unknown, string[]]>([
    ['icontains', 'aBc', ['abc', 'ABC def']],
    ['icontains', 'ünï', ['ünï']],
    ['icontains', '%', ['a_b 100%']],
    ['icontains', '_', ['a_b 100%']],
    ['icontains', '\\', ['back\\slash']],
    ['icontains', 'a_b', ['a_b 100%']],
    ['icontains', 'abc%def', []],
    ['icontains', 5, [...FIVES, 'n-1.5']],
    ['icontains', 'TRUE', ['true', 'text true']],
    ['icontains', '"a"', ['list', 'object']],
    ['icontains', '', but(...NOTHING_THERE)],
    ['icontains', ['DEF', 'slash'], ['ABC def', 'back\\slash']],
    ['icontains', [], []],
    ['icontains_multi', ['DEF', 'slash'], ['ABC def', 'back\\slash']],
    ['not_icontains', 'aBc', but('abc', 'ABC def')],
    ['not_icontains', ['DEF', 'slash'], but('ABC def', 'back\\slash')],
    ['not_icontains', '', NOTHING_THERE],
    ['not_icontains_multi', ['DEF', 'slash'], but('ABC def', 'back\\slash')],
    ['regex', '^ab', ['abc']],
    ['regex', 'BC', ['ABC def']],
    ['regex', '(?i)bc', ['abc', 'ABC def']],
    ['regex', '^-?\\d+(\\.\\d)?$', ['n5', 't5', 't5.0', ...TENS, 'n-1.5']],
    ['regex', 5, [...FIVES, 'n-1.5']],
    ['regex', 'Ï.line', ['ünï']],
    ['regex', ['^abc$', '^$'], ['abc', 'empty']],
    ['regex', '', but(...NOTHING_THERE)],
    ['regex', '(', []],
    ['regex', '(?=a)', []],
    ['regex', ['(', '^abc$'], ['abc']],
    ['not_regex', '(?i)bc', but('abc', 'ABC def')],
    ['not_regex', ['^abc$', '^$'], but('abc', 'empty')],
    ['not_regex', '(', []],
    ['not_regex', ['(', 'zzz'], []],
  ])('%s %j', async (operator, value, expected) => {
    expect(await store.find([{ key: 'x', value, operator }])).toEqual(
      ALL.filter((name) => expected.includes(name)),
    )
  })
})

describe('order', () => {
  it.each<[string, unknown, string[]]>([
    ['gt', 5, TENS],
    ['gt', '5', TENS],
    ['gt', 4.9, [...FIVES, ...TENS]],
    ['gte', 5, [...FIVES, ...TENS]],
    ['min', 10, TENS],
    ['lt', 5, ['n-1.5']],
    ['lt', 0, ['n-1.5']],
    ['lte', ' 5.0 ', [...FIVES, 'n-1.5']],
    ['max', -1.5, ['n-1.5']],
    ['gt', [9, 100], TENS],
    ['lt', [], []],
    ['gt', -1e300, [...FIVES, ...TENS, 'n-1.5']],
    ['lt', 1e300, [...FIVES, ...TENS, 'n-1.5']],
    ['between', [5, 10], [...FIVES, ...TENS]],
    ['between', ['-2', 0], ['n-1.5']],
    ['between', [5, 5], FIVES],
    ['not_between', [5, 9], [...TENS, 'n-1.5']],
    ['not_between', [-2, 10], []],
  ])('%s %j', async (operator, value, expected) => {
    expect(await store.find([{ key: 'x', value, operator }])).toEqual(
      ALL.filter((name) => expected.includes(name)),
    )
  })
})

describe('presence', () => {
  it.each<[string, unknown, string[]]>([
    ['is_set', undefined, but(...NOTHING_THERE)],
    ['is_set', 'abc', but(...NOTHING_THERE)],
    ['is_not_set', undefined, NOTHING_THERE],
    ['is_not_set', null, NOTHING_THERE],
  ])('%s %j', async (operator, value, expected) => {
    expect(await store.find([{ key: 'x', value, operator }])).toEqual(
      ALL.filter((name) => expected.includes(name)),
    )
  })
})

describe('values that an operator cannot use', () => {
  it.each<[string, unknown]>([
    ['exact', undefined],
    ['exact', null],
    ['exact', ['a', null]],
    ['exact', 'a\0b'],
    ['exact', '\ud800'],
    ['exact', Array.from({ length: 10_001 }, (_, index) => index)],
    ['in', 'abc'],
    ['not_in', 5],
    ['gt', 'abc'],
    ['gt', true],
    ['lt', [5, 'abc']],
    ['between', 5],
    ['between', [1]],
    ['between', [1, 2, 3]],
    ['between', [2, 1]],
    ['between', ['a', 'b']],
    ['not_between', [1, 'b']],
    ['is_date_before', 'yesterday'],
    ['is_date_after', 5],
    ['is_date_exact', '2024-02-30'],
    ['semver_gt', 'new'],
    ['contains', 'abc'],
    ['constructor', 'abc'],
    ['is_cleaned_path_exact', '/a'],
    ['exact ', 'abc'],
  ])('400: %s %j', async (operator, value) => {
    await expect(store.find([{ key: 'x', value, operator }])).rejects.toMatchObject({
      status: 400,
      code: 'invalid_input',
      attr: 'properties',
    })
  })

  it('400 for an operator that is no text', async () => {
    await expect(store.find([{ key: 'x', value: 1, operator: 5 }])).rejects.toMatchObject({ status: 400 })
  })
})

describe('versions', () => {
  const VERSIONS = ['1.2.3', 'v2', '1.10', '2.0.0-beta', '1.2', 'abc', '1.2.3.4.5', '']
  let versioned: FilteredStore
  beforeAll(async () => {
    const events = VERSIONS.map((x) => ({ event: x || 'empty', properties: { x } }))
    versioned = await openFilteredStore([...events, { event: 'missing' }], NO_COPIES)
  })
  afterAll(() => versioned.close())

  it.each<[string, unknown, string[]]>([
    ['semver_eq', '1.2.3', ['1.2.3', '1.2.3.4.5']],
    ['semver_eq', '2.0.0', ['v2', '2.0.0-beta']],
    ['semver_eq', '1.2', ['1.2']],
    ['semver_gt', '1.2.3', ['v2', '1.10', '2.0.0-beta']],
    ['semver_gte', 'v1.10', ['v2', '1.10', '2.0.0-beta']],
    ['semver_lt', '1.2.3', ['1.2']],
    ['semver_lte', '1.2.3', ['1.2.3', '1.2', '1.2.3.4.5']],
    ['semver_eq', ['1.2', '1.10'], ['1.10', '1.2']],
  ])('%s %j', async (operator, value, expected) => {
    expect(await versioned.find([{ key: 'x', operator, value }])).toEqual(expected)
  })
})

describe('long numbers', () => {
  it('are compared as text, because numbers would blur their last digits', async () => {
    const own = await openFilteredStore(
      [
        { event: 'this', properties: { id: '10000000000000001' } },
        { event: 'other', properties: { id: '10000000000000000' } },
      ],
      NO_COPIES,
    )
    expect(await own.find([{ key: 'id', value: '10000000000000001' }])).toEqual(['this'])
    await own.close()
  })
})

it('ten thousand values are still a filter', async () => {
  const value = ['abc', ...Array.from({ length: 9_999 }, (_, index) => `value ${index}`)]
  expect(await store.find([{ key: 'x', value }])).toEqual(['abc'])
})

describe('numbers beyond those that JavaScript counts by one', () => {
  const NUMBERS: Record<string, unknown> = { large: 1e21, 'large text': '1E21', id: '9007199254740993' }
  let large: FilteredStore
  beforeAll(async () => {
    const events = Object.entries(NUMBERS).map(([event, x]) => ({ event, properties: { x } }))
    large = await openFilteredStore(events, NO_COPIES)
  })
  afterAll(() => large.close())

  it.each<[string, unknown, string[]]>([
    ['exact', 1e21, ['large', 'large text']],
    ['exact', '1e+21', ['large', 'large text']],
    ['is_not', 1e21, ['id']],
    ['exact', '9007199254740993', ['id']],
    ['exact', '9007199254740992', []],
  ])('%s %j', async (operator, value, expected) => {
    expect(await large.find([{ key: 'x', value, operator }])).toEqual(expected)
  })
})
