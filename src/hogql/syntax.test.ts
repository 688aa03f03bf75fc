// Clauses that go beyond plain SQL, on a real DuckDB with the rows of fixture/rows.ts: which rows are kept, made or seen.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openFixture } from './fixture/store.ts'

let fixture: Awaited<ReturnType<typeof openFixture>>

beforeAll(async () => {
  fixture = await openFixture()
})

afterAll(() => fixture.close())

type Answer = [hogql: string, rows: unknown[][]]

const ANSWERS: Record<string, Answer[]> = {
  'LIMIT BY': [
    [
      `select event, timestamp from events where event in ('$pageview', 'purchase') order by timestamp limit 1 by event`,
      [
        ['$pageview', '2024-06-01 08:00:00'],
        ['purchase', '2024-06-01 10:05:00'],
      ],
    ],
    // The key need not be selected, nor what is ordered by.
    [
      `select distinct_id from events order by timestamp, uuid limit 1 offset 1 by event limit 2`,
      [['zoe'], ['ann-phone']],
    ],
    [
      'select event, count() as c from events group by event order by c desc, event limit 1 by c',
      [
        ['text', 8],
        ['$pageview', 7],
        ['visit', 6],
        ['odd', 3],
        ['dst', 2],
        ['$autocapture', 1],
      ],
    ],
    [
      'select distinct event from events order by event limit 1 by event limit 2',
      [['$autocapture'], ['$pageview']],
    ],
    [
      'select number % 2 as n, number from numbers(6) order by number limit 1, 2 by 1',
      [
        [0, 2],
        [1, 3],
        [0, 4],
        [1, 5],
      ],
    ],
    ['select number from numbers(3) limit 0 by number', []],
    [
      'select event from events qualify row_number() over (partition by event order by uuid) <= 2 order by event limit 1 by event limit 2',
      [['$autocapture'], ['$pageview']],
    ],
    ['select count() from (select event from events limit 1 by event)', [[8]]],
  ],
  'WITH TIES': [
    ['select number % 3 as n from numbers(6) order by n limit 1 with ties', [[0], [0]]],
    ['select number % 3 as n from numbers(6) order by n limit 1 with ties offset 1', [[0]]],
    ['select number % 3 as n from numbers(6) order by n limit 2 with ties offset 1', [[0], [1], [1]]],
    ['select number % 3 as n from numbers(6) order by n limit 0 with ties offset 1', []],
    ['(select 1 as a) union all (select 1) union all (select 2) order by a limit 1 with ties', [[1], [1]]],
    [
      'select number % 3 as n from numbers(9) order by n limit 2 by n limit 3 with ties',
      [[0], [0], [1], [1]],
    ],
  ],
  'numbers(…)': [
    ['select number from numbers(3)', [[0], [1], [2]]],
    ['select n.number * 2 from numbers(3, 2) as n', [[6], [8]]],
    ['select count() from numbers(1000000)', [[1_000_000]]],
    ['select count() from numbers(0)', [[0]]],
    [`select count() from numbers(dateDiff('day', toDate('2024-01-01'), toDate('2024-02-01')))`, [[31]]],
    [
      'select a.number, b.number from numbers(2) a cross join numbers(2) b order by 1, 2',
      [
        [0, 0],
        [0, 1],
        [1, 0],
        [1, 1],
      ],
    ],
  ],
  QUALIFY: [
    [
      `select event, timestamp from events where event in ('purchase', 'signup')
      qualify row_number() over (partition by event order by timestamp) = 1 order by event`,
      [
        ['purchase', '2024-06-01 10:05:00'],
        ['signup', '2024-06-01 09:30:00'],
      ],
    ],
    [
      'select event, count() c from events group by event qualify rank() over (order by c desc) <= 2 order by c desc',
      [
        ['text', 8],
        ['$pageview', 7],
      ],
    ],
    ['select number, row_number() over (order by number desc) as n from numbers(9) qualify n = 3', [[6, 3]]],
    [
      'select number from numbers(9) qualify row_number() over w = 3 window w as (order by number desc)',
      [[6]],
    ],
  ],
  'several groupings': [
    [
      `select event, count() from events where event in ('purchase', 'signup') group by rollup(event) order by 2`,
      [
        ['signup', 1],
        ['purchase', 2],
        [null, 3],
      ],
    ],
    [
      `select event, distinct_id, count() from events where event in ('purchase', 'signup')
      group by cube(event, distinct_id) order by 1, 2`,
      [
        ['purchase', 'ann', 1],
        ['purchase', 'bob', 1],
        ['purchase', null, 2],
        ['signup', 'ann', 1],
        ['signup', null, 1],
        [null, 'ann', 2],
        [null, 'bob', 1],
        [null, null, 3],
      ],
    ],
    [
      `select event as e, count() from events where event in ('purchase', 'signup')
      group by grouping sets ((e), ()) having count() > 1 order by 2`,
      [
        ['purchase', 2],
        [null, 3],
      ],
    ],
  ],
  SAMPLE: [
    ['select count() from events sample 1', [[30]]],
    ['select count() from events sample 1/2', [[10]]],
    ['select count() from events sample 1/2 offset 0.5', [[20]]],
    ['select count() from events sample 0.9 offset 0.5', [[20]]],
    // Whoever is in is in with all events, also beside a person's columns.
    ['select count(), uniq(person.id) from events as e sample 0.5 where e.event != 1', [[10, 3]]],
    [
      `select count() from (select distinct_id from events sample 1/2) as a
      join (select distinct_id from events sample 1/2 offset 1/2) as b on a.distinct_id = b.distinct_id`,
      [[0]],
    ],
  ],
  'WITH FILL': [
    [
      'select number, 1.5, true, [number] from numbers(2) order by number with fill to 3',
      [
        [0, 1.5, true, [0]],
        [1, 1.5, true, [1]],
        [2, 0, false, []],
      ],
    ],
    [
      'select number * 3 as n, 1 as one from numbers(2) order by n with fill',
      [
        [0, 1],
        [1, 0],
        [2, 0],
        [3, 1],
      ],
    ],
    ['select number * 3 as n from numbers(3) order by n desc with fill step -2', [[6], [4], [3], [2], [0]]],
    [
      'select number * 3 as n from numbers(3) order by n with fill from -1 to 8 step 2 limit 3',
      [[-1], [0], [1]],
    ],
    [
      'select number / 2 as n from numbers(2) order by n with fill to 1 step 0.25',
      [[0], [0.25], [0.5], [0.75]],
    ],
    [`select 'x' from numbers(1) order by number with fill to 3`, [['x'], [''], ['']]],
    ['select number from numbers(0) order by number with fill', []],
    ['select number from numbers(0) order by number with fill from 1 to 3', [[1], [2]]],
    [
      `select toDate(timestamp) as day, count() as c from events where day >= '2024-06-07' group by day
      order by day with fill from toDate('2024-06-06') to toDate('2024-06-12')`,
      [
        ['2024-06-06', 0],
        ['2024-06-07', 1],
        ['2024-06-08', 1],
        ['2024-06-09', 8],
        ['2024-06-10', 0],
        ['2024-06-11', 0],
      ],
    ],
    [
      `select toStartOfMonth(timestamp) as m, count() from events group by m
      order by m with fill from toDate('2024-02-01') to toDate('2024-08-01') step interval 1 month`,
      [
        ['2024-02-01', 0],
        ['2024-03-01', 2],
        ['2024-04-01', 0],
        ['2024-05-01', 0],
        ['2024-06-01', 28],
        ['2024-07-01', 0],
      ],
    ],
    [
      `select toStartOfHour(timestamp) as h, count() from events where toDate(timestamp) = '2024-06-01' and h < '2024-06-01 11:00:00'
      group by h order by h desc with fill from toDateTime('2024-06-01 11:00:00') step interval -1 hour limit 3`,
      [
        ['2024-06-01 11:00:00', 0],
        ['2024-06-01 10:00:00', 2],
        ['2024-06-01 09:00:00', 2],
      ],
    ],
    ['select number % 2 as n from numbers(4) order by n with fill to 4 limit 1 by n', [[0], [1], [2], [3]]],
  ],
  sessions: [
    [
      `select session_id, id, distinct_id, $session_duration, $pageview_count, $entry_current_url, $urls, $num_uniq_urls,
      $is_bounce, session_id_v7, $vitals_lcp, $entry_referrer, $entry__kx from sessions order by session_id limit 2`,
      [
        [
          's1',
          's1',
          'ann',
          0,
          1,
          'https://x.test/a?u=1',
          ['https://x.test/a?u=1'],
          1,
          true,
          null,
          null,
          null,
          null,
        ],
        ['s2', 's2', 'ann-phone', 0, 1, null, [], 0, true, null, null, null, null],
      ],
    ],
    [
      `select event, session.$session_duration, e.session.$entry_current_url, session.id, person.properties.email
      from events e where session.id is not null order by timestamp limit 2`,
      [
        ['$pageview', 0, 'https://x.test/a?u=1', 's1', 'ann@example.com'],
        ['$pageview', 0, null, 's2', 'ann@example.com'],
      ],
    ],
    // An event without a session stays.
    [
      'select session.$is_bounce, count() from events sample 1 group by 1 order by 2',
      [
        [true, 3],
        [null, 27],
      ],
    ],
  ],
  'whose a distinct id is': [
    [
      `select pdi.distinct_id, pdi.person_id, pdi.person.id, pdi.person.properties.email, e.pdi.person.is_identified
      from events e where event = 'signup'`,
      [
        [
          'ann',
          '00000000-0000-4000-8000-000000000001',
          '00000000-0000-4000-8000-000000000001',
          'ann@example.com',
          true,
        ],
      ],
    ],
    [
      `select distinct_id, person.properties.email, d.person.created_at from person_distinct_ids d where distinct_id in ('ann', 'gone') order by 1`,
      [
        ['ann', 'ann@example.com', '2024-01-01 00:00:00'],
        ['gone', null, null],
      ],
    ],
    [`select distinct group_0.created_at from events where group_0.key = 'acme'`, [['2024-01-01 00:00:00']]],
    // Its person is gone.
    [
      `select pdi.person_id, pdi.person.id from events where distinct_id = 'gone'`,
      [['00000000-0000-4000-8000-000000000009', null]],
    ],
    [
      `select pdi.person_id, pdi.person.properties.email from events where distinct_id = 'ghost' limit 1`,
      [[null, null]],
    ],
  ],
  'subqueries that look at the row outside': [
    [
      `select distinct distinct_id from events e
      where exists (select 1 from events f where f.distinct_id = e.distinct_id and f.event = 'signup')`,
      [['ann']],
    ],
    [
      `select distinct distinct_id from events e where not exists (select 1 from person_distinct_ids d where d.distinct_id = e.distinct_id) order by 1`,
      [['ghost']],
    ],
    [
      `select distinct_id, (select count() from events f where f.distinct_id = e.distinct_id) as n from events e
      group by distinct_id order by n desc limit 2`,
      [
        ['bob', 13],
        ['zoe', 6],
      ],
    ],
    // Each event's last one.
    [
      'select count() from events e where timestamp = (select max(timestamp) from events f where f.event = e.event)',
      [[8]],
    ],
    [
      `select id, (select count() from events where person_id = persons.id and event = 'purchase') from persons order by id limit 2`,
      [
        ['00000000-0000-4000-8000-000000000001', 1],
        ['00000000-0000-4000-8000-000000000002', 1],
      ],
    ],
    // What is inside hides what is outside.
    ['select number from numbers(3) where exists (select 1 from numbers(1) where number = 2)', []],
    [
      `select a.number from numbers(4) a where exists (select 1 from numbers(2) b where exists (select 1 from numbers(1) c where a.number = b.number + 2 + c.number)) order by 1`,
      [[2], [3]],
    ],
  ],
}

describe.each(Object.entries(ANSWERS))('%s', (_, answers) => {
  it.each(answers)('%s', async (hogql, rows) => {
    expect(await fixture.ask(hogql)).toEqual(rows)
  })
})

it('days are filled in as the zone of the project has them', async () => {
  const rows = await fixture.ask(
    `select toStartOfDay(timestamp) as day, count() from events where event = 'dst' group by day
    order by day with fill from toDateTime('2024-03-30 00:00:00') to toDateTime('2024-04-03 00:00:00') step interval 1 day`,
    { timezone: 'Europe/Berlin' },
  )
  expect(rows.map(([day]) => day)).toEqual([
    '2024-03-29 23:00:00',
    '2024-03-30 23:00:00',
    '2024-03-31 22:00:00',
    '2024-04-01 22:00:00',
  ])
})

it.each([
  ['select count() from numbers(1000 * 100000)', 'More than 1000000 rows would be made'],
  [
    'select number from numbers(3) order by number with fill to 1000000',
    'More than 50000 rows would be made',
  ],
  [
    `select toDate('2024-01-01') as d order by d with fill to toDate('9999-01-01')`,
    'More than 50000 rows would be made',
  ],
])('%s is refused while it runs', async (hogql, message) => {
  await expect(fixture.ask(hogql)).rejects.toThrow(message)
})
