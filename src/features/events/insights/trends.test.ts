// Trends through HTTP on the real stores, counted by hand. All projects share one application.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { newProject, type Asked, type Captured } from './fixture/project.ts'

const visit = (distinct_id: string, timestamp: string, properties: object = {}): Captured => ({
  event: 'visit',
  distinct_id,
  timestamp,
  properties,
})

let app: TestApp
let home: Asked
let berlin: Asked
beforeAll(async () => {
  app = await startTestApp()
  home = await newProject(app, 'UTC', [
    visit('ann', '2024-06-03T10:00:00Z', { browser: 'Chrome', price: 10, $group_0: 'acme' }),
    visit('ann', '2024-06-03T11:00:00Z', { browser: 'Chrome', price: '20', $group_0: 'acme' }),
    visit('ann', '2024-06-05T23:59:59.999Z', { browser: 'Safari', price: 5 }),
    visit('bob', '2024-06-03T12:00:00Z', { browser: 'Chrome', $set: { plan: 'pro' } }),
    // Two ids of one person.
    {
      event: '$identify',
      distinct_id: 'bob',
      timestamp: '2024-06-01T00:00:00Z',
      properties: { $anon_distinct_id: 'phone' },
    },
    visit('phone', '2024-06-03T13:00:00Z', { browser: 'Chrome' }),
    { event: 'buy', distinct_id: 'bob', timestamp: '2024-06-05T10:00:00Z' },
    visit('cy', '2024-06-10T00:00:00Z'),
    visit('di', '2024-06-10T09:00:00Z', { browser: 'Edge' }),
  ])
  berlin = await newProject(app, 'Europe/Berlin', [
    visit('a', '2024-03-30T22:30:00Z'),
    visit('a', '2024-03-30T23:30:00Z'),
    visit('b', '2024-03-31T01:10:00Z'),
    visit('a', '2024-03-31T21:30:00Z'),
    visit('a', '2024-03-31T22:30:00Z'),
    // Twice two o'clock.
    visit('a', '2024-10-27T00:30:00Z'),
    visit('a', '2024-10-27T01:30:00Z'),
  ])
})
afterAll(() => app.close())

const JUNE = { date_from: '2024-06-03', date_to: '2024-06-10' }
const trends = (rest: object = {}, series: object[] = [{ event: 'visit' }]) => ({
  kind: 'TrendsQuery',
  series: series.map((node) => ({ kind: 'EventsNode', ...node })),
  dateRange: JUNE,
  ...rest,
})
const resultsOf = async (query: object, of: Asked = home) => {
  const { status, body } = await of.ask(query)
  expect({ status, body }).toMatchObject({ status: 200 })
  return body.results as Record<string, unknown>[]
}
const dataOf = async (query: object, of?: Asked) => (await resultsOf(query, of)).map(({ data }) => data)

describe('200', () => {
  it('a whole answer', async () => {
    const { status, body } = await home.ask(trends({ unknown: { kept: true } }))
    expect(status).toBe(200)
    expect(body).toMatchObject({
      hasMore: false,
      resolved_date_range: { date_from: '2024-06-03T00:00:00.000Z', date_to: '2024-06-10T23:59:59.999Z' },
      query: { kind: 'TrendsQuery', unknown: { kept: true } },
      hogql: expect.stringMatching(/^SELECT .*toDate\(events\.timestamp\).* FROM events WHERE /i),
      error: null,
      is_cached: false,
      timezone: 'UTC',
    })
    expect(body.results).toEqual([
      {
        label: 'visit',
        data: [4, 0, 1, 0, 0, 0, 0, 2],
        count: 7,
        days: ['03', '04', '05', '06', '07', '08', '09', '10'].map((day) => `2024-06-${day}`),
        labels: [3, 4, 5, 6, 7, 8, 9, 10].map((day) => `${day}-Jun-2024`),
        action: {
          id: 'visit',
          type: 'events',
          order: 0,
          name: 'visit',
          custom_name: null,
          math: null,
          math_property: null,
          math_group_type_index: null,
        },
      },
    ])
    // What it says it asked is HogQL that gives the same.
    const { body: again } = await home.ask({ kind: 'HogQLQuery', query: body.hogql })
    expect(again.results).toHaveLength(3)
  })

  it.each<[string, object, number[]]>([
    ['dau', {}, [2, 0, 1, 0, 0, 0, 0, 2]],
    ['weekly_active', {}, [2, 2, 2, 2, 2, 2, 2, 3]],
    ['monthly_active', {}, [2, 2, 2, 2, 2, 2, 2, 4]],
    ['unique_group', { math_group_type_index: 0 }, [1, 0, 0, 0, 0, 0, 0, 0]],
    ['sum', { math_property: 'price' }, [30, 0, 5, 0, 0, 0, 0, 0]],
    ['avg', { math_property: 'price' }, [15, 0, 5, 0, 0, 0, 0, 0]],
    ['min', { math_property: 'price' }, [10, 0, 5, 0, 0, 0, 0, 0]],
    ['max', { math_property: 'price' }, [20, 0, 5, 0, 0, 0, 0, 0]],
    ['median', { math_property: 'price' }, [15, 0, 5, 0, 0, 0, 0, 0]],
    ['p90', { math_property: 'price' }, [19, 0, 5, 0, 0, 0, 0, 0]],
  ])('%s', async (math, rest, expected) => {
    expect(await dataOf(trends({}, [{ event: 'visit', math, ...rest }]))).toEqual([expected])
  })

  it('weeks begin on Sunday, months on the first, and the first of each is counted whole', async () => {
    const [week] = await resultsOf(
      trends({ interval: 'week', dateRange: { ...JUNE, date_from: '2024-06-05' } }),
    )
    expect(week).toMatchObject({ data: [5, 2], days: ['2024-06-02', '2024-06-09'] })
    const [month] = await resultsOf(trends({ interval: 'month' }))
    expect(month).toMatchObject({ data: [7], days: ['2024-06-01'] })
    // People of the last seven days of each week.
    expect(await dataOf(trends({ interval: 'week' }, [{ event: 'visit', math: 'weekly_active' }]))).toEqual([
      [2, 2],
    ])
  })

  it('several series, all events, filters of a series and of all', async () => {
    const properties = {
      type: 'AND',
      values: [{ type: 'OR', values: [{ key: 'browser', value: 'Chrome' }] }],
    }
    expect(
      await dataOf(
        trends({ dateRange: { date_from: '2024-06-03', date_to: '2024-06-05' } }, [
          { event: 'visit', properties: [{ key: 'price', value: 5, operator: 'gt' }] },
          { event: null },
          { event: 'nothing' },
        ]),
      ),
    ).toEqual([
      [2, 0, 0],
      [4, 0, 2],
      [0, 0, 0],
    ])
    expect(await dataOf(trends({ properties, filterTestAccounts: true, samplingFactor: 0.1 }))).toEqual([
      [4, 0, 0, 0, 0, 0, 0, 0],
    ])
  })

  it('a breakdown: the largest values, then those without one, then the rest', async () => {
    const breakdownFilter = { breakdown: 'browser', breakdown_type: 'event', breakdown_limit: 1 }
    const { body } = await home.ask(trends({ breakdownFilter }))
    expect(body.hasMore).toBe(true)
    const shown = (body.results as Record<string, unknown>[]).map(({ label, breakdown_value, count }) => [
      label,
      breakdown_value,
      count,
    ])
    expect(shown).toEqual([
      ['Chrome', 'Chrome', 4],
      ['$$_posthog_breakdown_null_$$', '$$_posthog_breakdown_null_$$', 1],
      ['$$_posthog_breakdown_other_$$', '$$_posthog_breakdown_other_$$', 2],
    ])
    const hidden = { ...breakdownFilter, breakdown_hide_other_aggregation: true }
    expect(await resultsOf(trends({ breakdownFilter: hidden }))).toHaveLength(2)
    const person = { breakdowns: [{ property: 'plan', type: 'person' }] }
    const persons = await resultsOf(trends({ breakdownFilter: person }, [{ event: 'visit', math: 'dau' }]))
    expect(persons.map(({ breakdown_value, data }) => [breakdown_value, data])).toEqual([
      [['pro'], [1, 0, 0, 0, 0, 0, 0, 0]],
      [['$$_posthog_breakdown_null_$$'], [1, 0, 1, 0, 0, 0, 0, 2]],
    ])
    const two = await resultsOf(trends({ breakdownFilter }, [{ event: 'visit' }, { event: 'buy' }]))
    expect(two.map(({ label }) => label)).toContain('buy - $$_posthog_breakdown_null_$$')
    const active = await resultsOf(trends({ breakdownFilter }, [{ event: 'visit', math: 'weekly_active' }]))
    expect(active[0]).toMatchObject({ breakdown_value: 'Chrome', data: [2, 2, 2, 2, 2, 2, 2, 0] })
    expect(await resultsOf(trends({ breakdownFilter }, [{ event: 'nothing' }]))).toEqual([])
  })

  it('compared with the days before, and with the same days of another week', async () => {
    const dateRange = { date_from: '2024-06-10', date_to: '2024-06-10' }
    const before = await resultsOf(trends({ dateRange, compareFilter: { compare: true } }))
    expect(before.map(({ compare_label, data, days }) => [compare_label, data, days])).toEqual([
      ['current', [2], ['2024-06-10']],
      ['previous', [0], ['2024-06-09']],
    ])
    const week = await resultsOf(trends({ dateRange, compareFilter: { compare: true, compare_to: '-1w' } }))
    expect(week[1]).toMatchObject({
      compare: true,
      compare_label: 'previous',
      data: [4],
      days: ['2024-06-03'],
    })
  })

  it('formulas, where a rate of nothing is nothing', async () => {
    const series = [{ event: 'visit' }, { event: 'visit', math: 'dau' }]
    const results = await resultsOf(trends({ trendsFilter: { formula: '(A - -1) / b * 10' } }, series))
    expect(results).toEqual([
      expect.objectContaining({
        label: 'Formula ((A - -1) / b * 10)',
        action: null,
        data: [25, 0, 20, 0, 0, 0, 0, 15],
        count: 60,
      }),
    ])
  })

  it('one number for the whole range, and sums that go on', async () => {
    const [bold] = await resultsOf(
      trends({ trendsFilter: { display: 'BoldNumber' } }, [{ event: 'visit', math: 'dau' }]),
    )
    expect(bold).toMatchObject({ aggregated_value: 4, data: [], count: 0 })
    const display = 'ActionsLineGraphCumulative'
    const [sum] = await resultsOf(trends({ trendsFilter: { display } }))
    expect(sum).toMatchObject({ data: [4, 4, 5, 5, 5, 5, 5, 7], count: 7 })
  })

  it('days and hours of the zone, where clocks are changed', async () => {
    const spring = { date_from: '2024-03-30', date_to: '2024-04-01' }
    expect(await dataOf(trends({ dateRange: spring }), berlin)).toEqual([[1, 3, 1]])
    const day = (date: string) => trends({ interval: 'hour', dateRange: { date_from: date, date_to: date } })
    const [short] = await resultsOf(day('2024-03-31'), berlin)
    expect(short!.data).toHaveLength(23)
    expect(short!.days).not.toContain('2024-03-31 02:00:00')
    expect(short).toMatchObject({ count: 3, labels: expect.arrayContaining(['31-Mar-2024 03:00']) })
    const [long] = await resultsOf(day('2024-10-27'), berlin)
    expect(long!.data).toHaveLength(25)
    expect((long!.data as number[]).slice(0, 5)).toEqual([0, 0, 1, 1, 0])
  })

  it('everything there is, and the last days', async () => {
    const [all] = await resultsOf(
      trends({ interval: 'month', dateRange: { date_from: 'all', date_to: '2024-10-31' } }),
      berlin,
    )
    expect(all).toMatchObject({ data: [4, 1, 0, 0, 0, 0, 0, 2] })
    const [last] = await resultsOf(trends({ dateRange: undefined }))
    expect(last!.data).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
    const shown = { kind: 'InsightVizNode', source: trends() }
    expect(await dataOf(shown)).toEqual([[4, 0, 1, 0, 0, 0, 0, 2]])
  })
})

describe('400', () => {
  it('filters that would be written too often', async () => {
    const value = Array.from({ length: 5000 }, (_, index) => `v${index}`)
    const query = trends(
      { properties: [{ key: 'x', value }] },
      Array(26).fill({ event: 'visit' }) as object[],
    )
    const { status, body } = await home.ask(query)
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { code: 'max_length', attr: 'query__properties' },
    })
    expect(await dataOf({ ...query, series: query.series.slice(0, 1) })).toEqual([[0, 0, 0, 0, 0, 0, 0, 0]])
  })

  it.each<[object, string, RegExp]>([
    [{ kind: 'LifecycleQuery' }, 'query__kind', /not supported.*TrendsQuery/],
    [trends({ series: [] }), 'query__series', /./],
    [trends({ series: [{ kind: 'ActionsNode', id: 1 }] }), 'query__series__0__kind', /EventsNode/],
    [trends({}, [{ event: 'a', math: 'cube' }]), 'query__series__0__math', /./],
    [trends({}, [{ event: 'a', math: 'sum' }]), 'query__series__0__math_property', /missing/],
    [
      trends({}, [{ event: 'a', math: 'unique_group' }]),
      'query__series__0__math_group_type_index',
      /missing/,
    ],
    [
      trends({ interval: 'hour' }, [{ event: 'a', math: 'weekly_active' }]),
      'query__series__0__math',
      /by day/,
    ],
    [
      trends({}, [{ event: 'a', properties: [{ key: 'x', operator: 'odd', value: 1 }] }]),
      'query__series__0__properties',
      /operator/,
    ],
    [trends({ dateRange: { date_from: 'soon' } }), 'query__dateRange__date_from', /neither/],
    [trends({ dateRange: { date_from: '2024-06-02', date_to: '2024-06-01' } }), 'query__dateRange', /before/],
    [trends({ interval: 'hour', dateRange: { date_from: '2000-01-01' } }), 'query__dateRange', /2500/],
    [
      trends({
        interval: 'hour',
        dateRange: { date_from: '-90d' },
        breakdownFilter: { breakdown: 'x', breakdown_limit: 1000 },
      }),
      'query__dateRange',
      /200000/,
    ],
    [
      trends({ breakdownFilter: { breakdown: 'x', breakdown_type: 'cohort' } }),
      'query__breakdownFilter__breakdown_type',
      /./,
    ],
    [
      trends({ breakdownFilter: { breakdown: 'x', breakdown_type: 'group' } }),
      'query__breakdownFilter__breakdown',
      /index/,
    ],
    [
      trends({ breakdownFilter: { breakdown: '1 +', breakdown_type: 'hogql' } }),
      'query__breakdownFilter__breakdown',
      /./,
    ],
    // Names between braces are those of our own statements.
    [trends({ properties: [{ type: 'hogql', key: '{where}' }] }), 'query__properties', /placeholder/],
    [
      trends({ breakdownFilter: { breakdown: '{where}', breakdown_type: 'hogql' } }),
      'query__breakdownFilter__breakdown',
      /placeholder/,
    ],
    [
      trends({ compareFilter: { compare: true, compare_to: 'last' } }),
      'query__compareFilter__compare_to',
      /distance/,
    ],
    [trends({ trendsFilter: { formula: 'A +' } }), 'query__trendsFilter__formula', /end/],
    [trends({ trendsFilter: { formula: 'A + C' } }), 'query__trendsFilter__formula', /no series C/],
    [trends({ trendsFilter: { formula: 'A; B' } }), 'query__trendsFilter__formula', /";/],
    [trends({ trendsFilter: { formula: '('.repeat(99) } }), 'query__trendsFilter__formula', /deep/],
    [
      { kind: 'InsightVizNode', source: trends({}, [{ event: 'a', math: 'sum' }]) },
      'query__source__series__0__math_property',
      /missing/,
    ],
  ])('%j', async (query, attr, detail) => {
    const { status, body } = await home.ask(query)
    expect({ status, body }).toMatchObject({ status: 400, body: { type: 'validation_error', attr } })
    expect(body.detail).toMatch(detail)
  })
})
