// Filters on times: how properties hold them, what a date alone means, and whose midnight counts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openFilteredStore, type FilteredStore } from './fixture/store.ts'

const NO_COPIES = { persons: [], deleted_persons: [], distinct_ids: [], groups: [] }

/** The property `at`; events are named after it. All times are of 10 June 2024, 10:00 UTC, unless their name says more. */
const VALUES: Record<string, unknown> = {
  iso: '2024-06-10T10:00:00Z',
  offset: '2024-06-10T12:00:00+02:00',
  'no zone': '2024-06-10 10:00:00',
  fraction: '2024-06-10T10:00:00.75Z',
  seconds: Math.floor(Date.UTC(2024, 5, 10, 10) / 1000),
  'milliseconds as text': String(Date.UTC(2024, 5, 10, 10)),
  'date, 10 June': '2024-06-10',
  'day before': '2024-06-09T23:59:59Z',
  'day after': '2024-06-11T00:00:00Z',
  'small number': 20_240_610,
  infinity: 'infinity',
  words: 'last Monday',
  'no such day': '2024-02-30',
  null: null,
}
const ALL = Object.keys(VALUES)
const TEN = ['iso', 'offset', 'no zone', 'fraction', 'seconds', 'milliseconds as text']

let store: FilteredStore
beforeAll(async () => {
  const events = Object.entries(VALUES).map(([event, at]) => ({ event, properties: { at } }))
  store = await openFilteredStore([...events, { event: 'missing' }], NO_COPIES)
})
afterAll(() => store.close())

const find = (operator: string, value: unknown, timezone?: string) =>
  store.find([{ key: 'at', operator, value }], timezone)
const inOrder = (names: readonly string[]) => ALL.filter((name) => names.includes(name))

describe.each(['UTC', 'America/New_York', 'Asia/Tokyo'])('in a project of %s', (timezone) => {
  it.each<[string, unknown, string[]]>([
    ['is_date_exact', '2024-06-10', [...TEN, 'date, 10 June']],
    ['is_date_exact', '2024-06-10T10:00:00Z', TEN],
    ['is_date_exact', '2024-06-10 10:00:00', TEN],
    ['is_date_exact', '2024-06-10T12:00:00.2+02:00', TEN],
    ['is_date_exact', '2024-06-10T10:00:01Z', []],
    ['is_date_exact', ['2024-06-09', '2024-06-11'], ['day before', 'day after']],
    ['is_date_exact', [], []],
    ['is_date_before', '2024-06-10', ['day before']],
    ['is_date_before', '2024-06-10T10:00:00Z', ['date, 10 June', 'day before']],
    [
      'is_date_before',
      '2024-06-10T10:00:00.5Z',
      [...TEN.filter((name) => name !== 'fraction'), 'date, 10 June', 'day before'],
    ],
    ['is_date_after', '2024-06-10', ['day after']],
    ['is_date_after', '2024-06-09', [...TEN, 'date, 10 June', 'day after']],
    ['is_date_after', '2024-06-10T10:00:00Z', ['fraction', 'day after']],
    // Now is 15 June, 12:00 UTC.
    ['is_date_after', '-5d', ['day after']],
    ['is_date_before', '-5d', ['day before', 'date, 10 June', ...TEN]],
    ['is_date_after', '-1y', [...TEN, 'date, 10 June', 'day before', 'day after']],
    // Numbers take no part in a comparison with a date.
    ['gt', '2024-06-10T10:00:00Z', ['fraction', 'day after']],
    ['gte', '2024-06-10', ['iso', 'offset', 'no zone', 'fraction', 'date, 10 June', 'day after']],
    ['lt', '2024-06-10', ['day before']],
    ['lte', '2024-06-10T00:00:00Z', ['day before', 'date, 10 June']],
  ])('%s %j', async (operator, value, expected) => {
    expect(await find(operator, value, timezone)).toEqual(inOrder(expected))
  })
})

it('relative days start and end with the midnight of the project', async () => {
  // Midnight of 11 June in Tokyo is 15:00 UTC of the 10th.
  expect(await find('is_date_before', '-4dStart', 'Asia/Tokyo')).not.toContain('day after')
  expect(await find('is_date_before', '-4dEnd', 'Asia/Tokyo')).toContain('day after')
  expect(await find('is_date_before', '-4dEnd', 'America/New_York')).toContain('day after')
  expect(await find('is_date_after', '-4dStart', 'Asia/Tokyo')).toEqual(['day after'])
  expect(await find('is_date_after', '-4dStart', 'America/New_York')).toEqual([])
})

describe('columns that are times', () => {
  let timed: FilteredStore
  beforeAll(async () => {
    timed = await openFilteredStore(
      ['2024-06-09T12:00:00Z', '2024-06-10T00:00:00Z', '2024-06-10T10:00:00.5Z'].map((timestamp, index) => ({
        event: `e${index}`,
        timestamp,
      })),
      NO_COPIES,
    )
  })
  afterAll(() => timed.close())

  it.each<[string, unknown, string[]]>([
    ['exact', '2024-06-10', ['e1']],
    ['is_not', '2024-06-10T00:00:00Z', ['e0', 'e2']],
    ['gt', '2024-06-10', ['e2']],
    ['gte', '2024-06-10', ['e1', 'e2']],
    ['lt', '2024-06-10T00:00:00+02:00', ['e0']],
    ['lte', '2024-06-10', ['e0', 'e1']],
    ['is_date_exact', '2024-06-10', ['e1', 'e2']],
    ['is_date_exact', '2024-06-10T10:00:00Z', ['e2']],
    ['is_date_before', '2024-06-10', ['e0']],
    ['is_date_after', '2024-06-09', ['e1', 'e2']],
    ['is_date_after', '-5d', []],
    ['is_set', undefined, ['e0', 'e1', 'e2']],
    ['is_not_set', undefined, []],
  ])('timestamp %s %j', async (operator, value, expected) => {
    expect(await timed.find([{ type: 'event_metadata', key: 'timestamp', operator, value }])).toEqual(
      expected,
    )
  })

  it.each<[string, unknown]>([
    ['exact', 'abc'],
    ['gt', 5],
    ['regex', '2024'],
    ['between', [1, 2]],
  ])('400: timestamp %s %j', async (operator, value) => {
    const found = timed.find([{ type: 'event_metadata', key: 'timestamp', operator, value }])
    await expect(found).rejects.toMatchObject({ status: 400, code: 'invalid_input' })
  })
})
