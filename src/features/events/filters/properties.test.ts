// The forms in which filters come, how they are joined, and the limits on them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { filterExpression, parsePropertyFilters, readPropertyFilters } from '../property-filters.ts'
import { NOW, openFilteredStore, type FilteredStore } from './fixture/store.ts'

let store: FilteredStore
beforeAll(async () => {
  const events = [
    { event: 'one', properties: { browser: 'Chrome', amount: 1, my__prop: 'x', key: 'k' } },
    { event: 'two', properties: { browser: 'Chrome', amount: 2 } },
    { event: 'three', properties: { browser: 'Safari', amount: 3, type: 'AND' } },
  ]
  store = await openFilteredStore(events, { persons: [], deleted_persons: [], distinct_ids: [], groups: [] })
})
afterAll(() => store.close())

const chrome = { key: 'browser', value: 'Chrome' }
const safari = { key: 'browser', value: 'Safari' }
const over = (value: number) => ({ key: 'amount', value, operator: 'gt' })
const group = (type: string, ...values: unknown[]) => ({ type, values })

describe('forms', () => {
  it.each<[string, unknown, string[]]>([
    ['an empty list', [], ['one', 'two', 'three']],
    ['an empty object', {}, ['one', 'two', 'three']],
    ['an empty text', '', ['one', 'two', 'three']],
    ['an empty group', group('OR'), ['one', 'two', 'three']],
    ['groups of nothing', group('AND', group('OR'), group('AND')), ['one', 'two', 'three']],
    ['a list', [chrome], ['one', 'two']],
    ['a list, all of which must hold', [chrome, over(1)], ['two']],
    ['AND', group('AND', chrome, over(1)), ['two']],
    ['OR', group('OR', safari, over(1)), ['two', 'three']],
    [
      'groups in groups',
      group('AND', group('OR', chrome, safari), group('AND', over(1), over(2))),
      ['three'],
    ],
    ['an empty group beside another', group('OR', group('AND'), group('AND', safari)), ['three']],
    ['a list of groups', [group('OR', safari, over(1)), group('AND', chrome)], ['two']],
    ['the old object', { browser: 'Chrome' }, ['one', 'two']],
    ['the old object with an operator', { browser: 'Chrome', amount__gt: 1 }, ['two']],
    ['the old object with is_set', { type__is_set: 'x' }, ['three']],
    ['the old object with underscores in a name', { my__prop: 'x' }, ['one']],
    ['the old object with both', { my__prop__icontains: 'X' }, ['one']],
    ['the old object with a list', { browser: ['Safari', 'Edge'] }, ['three']],
    ['the old object with a property called type', { type: 'OR-gate' }, []],
    ['the old object with a property called key', { key: 'k' }, ['one']],
  ])('%s', async (_name, filters, expected) => {
    expect(await store.find(filters)).toEqual(expected)
  })
})

describe('limits', () => {
  const nested = (depth: number): unknown =>
    depth === 1 ? group('AND', chrome) : group('AND', nested(depth - 1))

  it('10 levels and 100 filters are fine', async () => {
    expect(await store.find(nested(10))).toEqual(['one', 'two'])
    expect(await store.find(Array.from({ length: 100 }, () => chrome))).toEqual(['one', 'two'])
  })

  it.each<[string, unknown]>([
    ['11 levels', nested(11)],
    ['101 filters', Array.from({ length: 101 }, () => chrome)],
    [
      '101 filters over two groups',
      group('OR', group('AND', ...Array(51).fill(chrome)), group('AND', ...Array(50).fill(chrome))),
    ],
    ['101 in the old form', Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`k${index}`, 1]))],
    ['10,001 values', [{ key: 'a', value: [...Array(10_001).keys()] }]],
    ['10,001 values over two filters', [chrome, { key: 'a', value: [...Array(10_000).keys()] }]],
    ['filters and groups mixed', group('AND', chrome, group('OR', safari))],
    ['filters and groups mixed in a list', [chrome, group('OR', safari)]],
    ['a group of another type', group('XOR', chrome)],
    ['a group without values', { type: 'AND' }],
    ['values that are no list', { type: 'AND', values: chrome }],
    ['a filter that is no object', ['browser']],
    ['a filter that is null', [null]],
    ['a filter that is a list', [[chrome]]],
    ['a number', 5],
    ['a text', 'browser'],
    ['null', null],
    ['null in the old form', { browser: null }],
  ])('400: %s', (_name, filters) => {
    expect(() => readPropertyFilters(filters, 'properties')).toThrow(
      expect.objectContaining({ status: 400, code: 'invalid_input', attr: 'properties' }),
    )
  })
})

describe('parsePropertyFilters', () => {
  const treeOf = (text: string) =>
    filterExpression(parsePropertyFilters(text, 'properties'), { now: NOW, timezone: 'UTC' })

  it.each(['', '  ', '""', '[]', '{}'])('%j is no filter', (text) => {
    expect(treeOf(text)).toBeNull()
  })

  it('reads JSON', () => {
    expect(treeOf(JSON.stringify([chrome]))).toMatchObject({ node: 'CompareOperation', op: 'in' })
  })

  it.each(['browser', '[', '[{]', "[{'key':'a'}]", 'undefined'])('400: %s', (text) => {
    expect(() => parsePropertyFilters(text, 'given')).toThrow(
      expect.objectContaining({ status: 400, code: 'invalid_input', attr: 'given' }),
    )
  })

  it('a key __proto__ is a name like any other', () => {
    expect(JSON.stringify(treeOf('{"__proto__": "x"}'))).toContain('"__proto__"')
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })
})

it('names the events as the query does', () => {
  const filters = readPropertyFilters([chrome], 'properties')
  const chainIn = (table: string | null | undefined) =>
    JSON.stringify(
      filterExpression(filters, { now: NOW, timezone: 'UTC', ...(table === undefined ? {} : { table }) }),
    )
  expect(chainIn(undefined)).toContain('["events","properties","browser"]')
  expect(chainIn('e')).toContain('["e","properties","browser"]')
  expect(chainIn(null)).toContain('["properties","browser"]')
})
