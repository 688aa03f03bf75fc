// Funnels and retention through HTTP on the real stores: counted by hand, and retention over random histories against a
// plain count. All projects share one application.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { newProject, type Asked, type Captured } from './fixture/project.ts'

const SEED = Number(process.env.RETENTION_SEED ?? Math.floor(Math.random() * 2 ** 31))

const at = (event: string, distinct_id: string, time: string, properties: object = {}): Captured => ({
  event,
  distinct_id,
  timestamp: time.includes('T') ? time : `2024-06-03T${time}Z`,
  properties,
})

const FUNNEL = [
  at('visit', 'p1', '10:00:00', { browser: 'Chrome' }),
  at('scroll', 'p1', '10:05:00', { browser: 'Safari' }),
  at('sign', 'p1', '10:10:00', { browser: 'Safari' }),
  at('pay', 'p1', '10:20:00', { browser: 'Edge' }),
  at('visit', 'p2', '10:00:00', { browser: 'Chrome' }),
  at('sign', 'p2', '10:30:00'),
  // Out of order.
  at('visit', 'p3', '10:00:00', { browser: 'Firefox' }),
  at('pay', 'p3', '10:10:00'),
  at('sign', 'p3', '10:20:00'),
  // The second step as the window ends, the third a second later.
  at('visit', 'p4', '10:00:00'),
  at('sign', 'p4', '11:00:00'),
  at('pay', 'p4', '11:00:01'),
  // All at one instant.
  at('pay', 'p5', '12:00:00'),
  at('sign', 'p5', '12:00:00'),
  at('visit', 'p5', '12:00:00'),
  at('sign', 'p6', '10:00:00'),
  // One person by two ids.
  at('$identify', 'p7', '09:00:00', { $anon_distinct_id: 'anon-7' }),
  at('visit', 'anon-7', '10:00:00'),
  at('sign', 'p7', '10:05:00'),
  // Before the range, and after it.
  at('visit', 'p8', '2024-05-01T10:00:00Z'),
  at('pay', 'p1', '2024-06-20T10:00:00Z'),
]

const RETENTION = [
  at('start', 'a', '2024-06-01T01:00:00Z'),
  at('open', 'a', '2024-06-02T01:00:00Z'),
  at('open', 'a', '2024-06-04T01:00:00Z'),
  at('start', 'b', '2024-06-01T01:00:00Z'),
  at('start', 'b', '2024-06-02T01:00:00Z'),
  at('open', 'b', '2024-06-03T01:00:00Z'),
  at('start', 'c', '2024-05-20T01:00:00Z'),
  at('start', 'c', '2024-06-02T01:00:00Z'),
  at('open', 'c', '2024-06-02T02:00:00Z'),
  at('open', 'c', '2024-06-03T23:59:59Z'),
]

/** What thirty people did on the days round the change of the clocks. */
function randomHistory(): Captured[] {
  let state = SEED
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7f_ff_ff_ff
    return Math.floor((state / 0x80_00_00_00) * below)
  }
  return Array.from({ length: 200 }, () => {
    const time = new Date(Date.UTC(2024, 2, 24 + random(12), random(24), random(60), random(60)))
    return at(random(2) === 0 ? 'start' : 'open', `r${random(30)}`, time.toISOString())
  })
}

let app: TestApp
let home: Asked
let kept: Asked
let berlin: Asked
const history = randomHistory()
beforeAll(async () => {
  app = await startTestApp()
  home = await newProject(app, 'UTC', FUNNEL)
  kept = await newProject(app, 'UTC', RETENTION)
  berlin = await newProject(app, 'Europe/Berlin', history)
})
afterAll(() => app.close())

const nodes = (...events: string[]) => events.map((event) => ({ kind: 'EventsNode', event }))
const funnel = (funnelsFilter: object = {}, rest: object = {}) => ({
  kind: 'FunnelsQuery',
  series: nodes('visit', 'sign', 'pay'),
  dateRange: { date_from: '2024-06-01', date_to: '2024-06-10' },
  funnelsFilter: { funnelWindowInterval: 1, funnelWindowIntervalUnit: 'hour', ...funnelsFilter },
  ...rest,
})
const resultsOf = async (query: object, of: Asked = home) => {
  const { status, body } = await of.ask(query)
  expect({ status, body }).toMatchObject({ status: 200 })
  return body.results
}
const countsOf = async (query: object) =>
  ((await resultsOf(query)) as { count: number }[]).map(({ count }) => count)

describe('funnels', () => {
  it('a whole answer', async () => {
    const { body } = await home.ask(funnel())
    const step = { custom_name: null, type: 'events', people: [] }
    expect(body.results).toEqual([
      {
        ...step,
        action_id: 'visit',
        name: 'visit',
        order: 0,
        count: 6,
        average_conversion_time: null,
        median_conversion_time: null,
      },
      {
        ...step,
        action_id: 'sign',
        name: 'sign',
        order: 1,
        count: 6,
        average_conversion_time: 1250,
        median_conversion_time: 900,
      },
      {
        ...step,
        action_id: 'pay',
        name: 'pay',
        order: 2,
        count: 2,
        average_conversion_time: 300,
        median_conversion_time: 300,
      },
    ])
    expect(body).toMatchObject({ hasMore: false, hogql: expect.stringContaining('funnelPath(3600') })
    const { status } = await home.ask({ kind: 'HogQLQuery', query: body.hogql })
    expect(status).toBe(200)
  })

  it('orders, windows, exclusions, filters', async () => {
    expect(await countsOf(funnel({ funnelOrderType: 'strict' }))).toEqual([6, 4, 1])
    expect(await countsOf(funnel({ funnelOrderType: 'unordered' }))).toEqual([7, 6, 3])
    const [first, second] = await resultsOf(funnel({ funnelOrderType: 'unordered' }))
    expect([first.name, second.name]).toEqual(['Completed 1 step', 'Completed 2 steps'])
    expect(await countsOf(funnel({ funnelWindowIntervalUnit: 'day' }))).toEqual([6, 6, 3])
    const scroll = { kind: 'EventsNode', event: 'scroll', funnelFromStep: 0, funnelToStep: 1 }
    expect(await countsOf(funnel({ exclusions: [scroll] }))).toEqual([5, 5, 1])
    const later = { ...scroll, funnelFromStep: 1, funnelToStep: 2 }
    expect(await countsOf(funnel({ exclusions: [later] }))).toEqual([6, 6, 2])
    const chrome = [{ key: 'browser', value: 'Chrome' }]
    expect(await countsOf(funnel({}, { properties: chrome }))).toEqual([2, 0, 0])
    expect(await countsOf(funnel({}, { series: nodes('none', 'visit') }))).toEqual([0, 0])
    expect(await countsOf(funnel({}, { series: nodes('sign', 'sign') }))).toEqual([7, 0])
  })

  it('a breakdown by what people had first, last, at a step, or each time', async () => {
    const split = async (filter: object, limit = 25) => {
      const breakdownFilter = { breakdown: 'browser', breakdown_type: 'event', breakdown_limit: limit }
      const results: { breakdown_value: string[]; count: number }[][] = await resultsOf(
        funnel(filter, { breakdownFilter }),
      )
      return results.map((steps) => [steps[0]!.breakdown_value[0], ...steps.map(({ count }) => count)])
    }
    expect(await split({})).toEqual([
      ['', 3, 3, 1],
      ['Chrome', 2, 2, 1],
      ['Firefox', 1, 1, 0],
    ])
    expect(await split({}, 1)).toEqual([
      ['', 3, 3, 1],
      ['Other', 3, 3, 1],
    ])
    expect(await split({ breakdownAttributionType: 'last_touch' })).toContainEqual(['Edge', 1, 1, 1])
    const step = { breakdownAttributionType: 'step', breakdownAttributionValue: 1 }
    expect(await split(step)).toContainEqual(['Safari', 1, 1, 1])
    expect(await split({ breakdownAttributionType: 'all_events' })).toContainEqual(['Chrome', 2, 0, 0])
  })

  it('how long it took', async () => {
    expect(await resultsOf(funnel({ funnelVizType: 'time_to_convert' }))).toEqual({
      bins: [
        [0, 1],
        [600, 0],
        [1200, 1],
      ],
      average_conversion_time: 600,
      median_conversion_time: 600,
    })
    const bins = { funnelVizType: 'time_to_convert', funnelFromStep: 0, funnelToStep: 1, binCount: 1 }
    expect(await resultsOf(funnel(bins))).toMatchObject({
      bins: [
        [0, 5],
        [3600, 1],
      ],
    })
    const none = funnel({ funnelVizType: 'time_to_convert' }, { series: nodes('none', 'visit') })
    expect(await resultsOf(none)).toEqual({
      bins: [],
      average_conversion_time: null,
      median_conversion_time: null,
    })
  })

  it.each<[object, string]>([
    [funnel({}, { series: nodes('visit') }), 'query__series'],
    [funnel({ funnelVizType: 'trends' }), 'query__funnelsFilter__funnelVizType'],
    [funnel({ funnelOrderType: 'sideways' }), 'query__funnelsFilter__funnelOrderType'],
    [funnel({ funnelWindowInterval: 0 }), 'query__funnelsFilter__funnelWindowInterval'],
    [
      funnel({ exclusions: [{ kind: 'EventsNode', event: 'x', funnelFromStep: 1, funnelToStep: 1 }] }),
      'query__funnelsFilter__exclusions__0',
    ],
    [
      funnel({ exclusions: [{ kind: 'EventsNode', event: 'x', funnelFromStep: 0, funnelToStep: 3 }] }),
      'query__funnelsFilter__exclusions__0',
    ],
    [
      funnel({
        funnelOrderType: 'unordered',
        exclusions: [{ kind: 'EventsNode', event: 'x', funnelFromStep: 0, funnelToStep: 1 }],
      }),
      'query__funnelsFilter__exclusions',
    ],
    [funnel({ funnelVizType: 'time_to_convert', funnelToStep: 3 }), 'query__funnelsFilter__funnelToStep'],
  ])('%j is refused', async (query, attr) => {
    const { status, body } = await home.ask(query)
    expect({ status, body }).toMatchObject({ status: 400, body: { attr } })
  })

  it('one step is told that two are needed', async () => {
    const { status, body } = await home.ask({
      kind: 'FunnelsQuery',
      series: [{ kind: 'EventsNode', event: 'x' }],
    })
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { attr: 'query__series', code: 'min_length', detail: 'At least 2 entries are needed.' },
    })
  })
})

const retention = (filter: object = {}, rest: object = {}) => ({
  kind: 'RetentionQuery',
  dateRange: { date_to: '2024-06-04' },
  retentionFilter: {
    period: 'Day',
    totalIntervals: 4,
    targetEntity: { id: 'start', type: 'events' },
    returningEntity: { id: 'open', type: 'events' },
    ...filter,
  },
  ...rest,
})
type Rows = { date: string; label: string; values: { count: number; label: string }[] }[]
const gridOf = (rows: Rows) => rows.map(({ values }) => values.map(({ count }) => count))

describe('retention', () => {
  it('everybody who began, and everybody who began for the first time', async () => {
    const rows: Rows = await resultsOf(retention(), kept)
    expect(gridOf(rows)).toEqual([[2, 1, 1, 1], [2, 2, 0], [0, 0], [0]])
    expect(rows[1]).toMatchObject({ date: '2024-06-02T00:00:00Z', label: 'Day 1' })
    expect(rows[1]!.values.map(({ label }) => label)).toEqual(['Day 0', 'Day 1', 'Day 2'])
    const first: Rows = await resultsOf(retention({ retentionType: 'retention_first_time' }), kept)
    expect(gridOf(first)).toEqual([[2, 1, 1, 1], [0, 0, 0], [0, 0], [0]])
    // Weeks begin on Sunday: 2 June is one.
    const weeks: Rows = await resultsOf(retention({ period: 'Week', totalIntervals: 3 }), kept)
    expect(weeks.map(({ date }) => date.slice(0, 10))).toEqual(['2024-05-19', '2024-05-26', '2024-06-02'])
    expect(gridOf(weeks)).toEqual([[1, 0, 1], [2, 2], [2]])
    const pageviews: Rows = await resultsOf(retention({ targetEntity: undefined }), kept)
    expect(gridOf(pageviews).flat()).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
  })

  it.each(['retention_recurring', 'retention_first_time'])(
    `%s over random histories, RETENTION_SEED=${SEED}`,
    async (retentionType) => {
      const rows: Rows = await resultsOf(
        retention({ retentionType, totalIntervals: 8 }, { dateRange: { date_to: '2024-04-03' } }),
        berlin,
      )
      const days = Array.from({ length: 8 }, (_, day) =>
        new Date(Date.UTC(2024, 2, 27 + day)).toISOString().slice(0, 10),
      )
      const dayOf = ({ timestamp }: Captured) =>
        new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Berlin' }).format(new Date(timestamp))
      const people = [...new Set(history.map(({ distinct_id }) => distinct_id))].map((id) => {
        const own = (name: string) =>
          history
            .filter(({ distinct_id, event }) => distinct_id === id && event === name)
            .map(dayOf)
            .toSorted()
        return { starts: own('start'), returns: own('open') }
      })
      const began = (day: string) =>
        people.filter(({ starts }) =>
          retentionType === 'retention_recurring' ? starts.includes(day) : starts[0] === day,
        )
      expect(gridOf(rows)).toEqual(
        days.map((day, place) => [
          began(day).length,
          ...days
            .slice(place + 1)
            .map((later) => began(day).filter(({ returns }) => returns.includes(later)).length),
        ]),
      )
    },
  )

  it.each<[object, string]>([
    [retention({ totalIntervals: 101 }), 'query__retentionFilter__totalIntervals'],
    [retention({ cumulative: true }), 'query__retentionFilter__cumulative'],
    [retention({ minimumOccurrences: 2 }), 'query__retentionFilter__minimumOccurrences'],
    [retention({}, { breakdownFilter: { breakdown: '$os' } }), 'query__breakdownFilter__breakdown'],
    [
      retention({}, { breakdownFilter: { breakdowns: [{ property: '$os' }] } }),
      'query__breakdownFilter__breakdowns',
    ],
    [retention({ period: 'Fortnight' }), 'query__retentionFilter__period'],
    [retention({ targetEntity: { id: 'x', type: 'actions' } }), 'query__retentionFilter__targetEntity__type'],
    [retention({}, { dateRange: { date_to: 'later' } }), 'query__dateRange__date_to'],
    [retention({}, { retentionFilter: undefined }), 'query__retentionFilter'],
  ])('%j is refused', async (query, attr) => {
    const { status, body } = await kept.ask(query)
    expect({ status, body }).toMatchObject({ status: 400, body: { attr } })
  })
})
