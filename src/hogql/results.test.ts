// What queries answer, on a real DuckDB with the rows of fixture/rows.ts. Every expected row was
// checked by hand against those rows.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HogqlError } from './errors.ts'
import { sameTree } from './fixture/corpus.ts'
import { OTHER_PROJECT, PROJECT } from './fixture/rows.ts'
import { openFixture } from './fixture/store.ts'
import { parseSelect } from './parser.ts'
import { printHogql } from './print-hogql.ts'

type Answer = [hogql: string, rows: unknown[][]]

const ANSWERS: Record<string, Answer[]> = {
  sessions: [
    [
      'select session_id, distinct_id, $start_timestamp, $session_duration, $pageview_count, $entry_current_url from sessions order by session_id',
      [
        ['s1', 'ann', '2024-06-01 08:00:00', 0, 1, 'https://x.test/a?u=1'],
        ['s2', 'ann-phone', '2024-06-01 09:00:00', 0, 1, null],
        ['s3', 'bob', '2024-06-01 10:00:00', 0, 1, null],
      ],
    ],
    [
      `select s.session_id, e.event from sessions as s join events as e on e.$session_id = s.session_id
      where s.$start_timestamp > '2024-06-01 08:30:00' order by s.session_id`,
      [
        ['s2', '$pageview'],
        ['s3', '$pageview'],
      ],
    ],
    ['with sessions as (select 1 as x) select x from sessions', [[1]]],
  ],
  select: [
    [`select 1, 'a', null, true, 1.5`, [[1, 'a', null, true, 1.5]]],
    [`select event from events where event = 'signup'`, [['signup']]],
    ['select count() from events', [[30]]],
    [
      'select distinct event from events order by event',
      [['$autocapture'], ['$pageview'], ['dst'], ['odd'], ['purchase'], ['signup'], ['text'], ['visit']],
    ],
    ['select distinct event as e from events order by e desc limit 2', [['visit'], ['text']]],
    [
      'select event, distinct_id from events order by timestamp desc limit 2 offset 1',
      [
        ['text', 'bob'],
        ['text', 'bob'],
      ],
    ],
    [
      `select * from persons where id = '00000000-0000-4000-8000-000000000003'`,
      [['00000000-0000-4000-8000-000000000003', '2024-03-01 00:00:00', '{}', false]],
    ],
    [
      `select * from person_distinct_ids where distinct_id like 'ann%' order by distinct_id`,
      [
        ['ann', '00000000-0000-4000-8000-000000000001'],
        ['ann-phone', '00000000-0000-4000-8000-000000000001'],
      ],
    ],
    [
      'select * from groups where index = 1 order by key',
      [
        [1, 'acme', '2024-01-03 00:00:00', '{"name":"Team Acme"}'],
        [1, 'team-1', '2024-01-04 00:00:00', '{"name":"One"}'],
      ],
    ],
    [
      `select uuid, event, timestamp from events where event = 'signup'`,
      [['018fd000-0000-7000-8000-000000000005', 'signup', '2024-06-01 09:30:00']],
    ],
    [`select e.event, e.properties.n from events e where e.event = 'signup'`, [['signup', '3']]],
    [`select events.event from events where events.event = 'signup'`, [['signup']]],
    [
      `select timestamp as t, toDate(t) as d from events where event = 'signup'`,
      [['2024-06-01 09:30:00', '2024-06-01']],
    ],
    [`select upper(event) as event from events where event = 'SIGNUP'`, [['SIGNUP']]],
    [`select d, toDate(timestamp) as d from events where event = 'signup'`, [['2024-06-01', '2024-06-01']]],
    ['select count() as c from events having c > 100', []],
    ['select 1 as one where one = 1', [[1]]],
    ['select 1 where false', []],
    [`select count(*) from events prewhere event = 'text'`, [[8]]],
    ['select `event` from `events` where "event" = \'signup\'', [['signup']]],
  ],
  properties: [
    [
      `select properties.n from events where event in ('signup', 'purchase', 'odd') order by timestamp`,
      [['3'], [null], [null], ['0'], [null], ['7']],
    ],
    [
      'select properties.$browser, count() from events group by 1 order by 2 desc, 1',
      [
        [null, 17],
        ['Chrome', 5],
        ['Edge', 4],
        ['Firefox', 2],
        ['Opera', 1],
        ['Safari', 1],
      ],
    ],
    [
      'select properties.price from events where properties.price is not null order by timestamp',
      [['9.99'], ['12.5'], ['100'], ['50.5'], ['free']],
    ],
    [
      'select properties.flag from events where properties.flag is not null order by timestamp',
      [['true'], ['true'], ['false']],
    ],
    [
      `select properties.nested, properties.nested.a, properties.nested.a.b, properties.nested.list from events where event = 'signup'`,
      [['{"a":{"b":"deep"},"list":[10,20,[30]]}', '{"b":"deep"}', 'deep', '[10,20,[30]]']],
    ],
    [
      `select properties.list, properties.list.1, properties.list[2], properties.list[3], properties.list[-1] from events where event = 'signup'`,
      [['["x","y"]', 'x', 'y', null, 'y']],
    ],
    [
      `select properties.nested.list.3.1, properties.nested.list[3], properties.nested.list.1 from events where event = 'signup'`,
      [['30', '[30]', '10']],
    ],
    [
      `select properties.items.1.sku, properties.items[2]['sku'], properties.items[2].qty from events where properties.currency = 'EUR'`,
      [['a', 'b', '2']],
    ],
    [`select properties.big from events where properties.currency = 'EUR'`, [['12345678901234567890']]],
    [
      `select properties['a.b'], properties['x y'], properties['$x'], properties['q"uote'], properties['back\\\\slash'] from events where event = 'odd' order by timestamp limit 1`,
      [['dotted', 'spaced', 'dollar', 'quoted', 'slashed']],
    ],
    [
      `select properties['ends\\\\'], properties['two\\\\\\\\'] from events where event = 'odd' order by timestamp limit 1`,
      [['ended', 'doubled']],
    ],
    [
      `select properties.__proto__, properties.constructor, properties['ключ'], properties[''], properties['*'], properties['it\\'s'], properties['fox🦊'] from events where event = 'odd' order by timestamp limit 1`,
      [['proto', 'built', 'слово', 'empty', 'star', 'single', 'fox']],
    ],
    [
      "select properties.a.b, properties['a']['b'], properties.`a.b`, properties['[1]'], properties['semi;--'] from events where event = 'odd' order by timestamp limit 1",
      [['path', 'path', 'dotted', 'bracket', 'semi']],
    ],
    [
      `select properties.a.b, properties.__proto__, properties.constructor, properties.toString, properties[''] from events where event = 'odd' order by timestamp limit 1 offset 1`,
      [[null, null, null, null, null]],
    ],
    [
      `select properties.missing, properties.n.x, properties.n[1], properties.list.x from events where event = 'signup'`,
      [[null, null, null, null]],
    ],
    [
      `select properties['n'], properties[concat('pl', 'an')] from events where event = 'signup'`,
      [['3', 'pro']],
    ],
    [`select properties from events where event = 'dst' order by timestamp`, [['{"n":-1}'], ['{"n":-2.5}']]],
    [
      `select properties.$browser, properties['$browser'], properties.$browser.x from events where event = 'signup' or properties.n = 1 order by timestamp`,
      [
        ['Chrome', 'Chrome', null],
        [null, null, null],
      ],
    ],
    [
      `select s.properties.n, s.p.plan from (select properties, properties as p from events where event = 'signup') s`,
      [['3', 'pro']],
    ],
    [`select n.a.b from (select properties.nested as n from events where event = 'signup')`, [['deep']]],
    [`select n.a from (select properties.n as n from events where distinct_id = 'anon-3')`, [[null]]],
    [
      `select properties.n + 1, properties.n * 2, properties.n / 2, properties.n - properties.n, properties.n % 2 from events where event = 'signup'`,
      [[4, 6, 1.5, 0, 1]],
    ],
    [`select properties.n + 1 from events where distinct_id = 'anon-3'`, [[null]]],
    ['select count() from events where properties.n = 3', [[2]]],
    [`select count() from events where properties.n = '3'`, [[2]]],
    ['select count() from events where properties.n = 3.0', [[2]]],
    ['select count() from events where properties.n > 2', [[9]]],
    ['select count() from events where properties.n != 3', [[28]]],
    [`select count() from events where properties.n in (1, 2, 'abc')`, [[3]]],
    [`select count() from events where properties.n not in (1, 2, 'abc')`, [[27]]],
    ['select count() from events where properties.flag = true', [[2]]],
    ['select count() from events where properties.flag = false', [[1]]],
    ['select count() from events where properties.flag', [[2]]],
    ['select count() from events where not properties.flag', [[1]]],
    ['select count() from events where properties.flag != true', [[28]]],
    ['select count() from events where properties.n between 2 and 4', [[5]]],
    [`select count() from events where properties.when > '2024-06-01 07:59:00'`, [[1]]],
    [`select count() from events where properties.when > toDateTime('2024-06-01 07:59:00')`, [[1]]],
    [`select count() from events where properties.when < toDateTime('2024-06-01 07:59:00')`, [[0]]],
    [
      `select max(properties.n), min(properties.n), sum(properties.n), avg(properties.n) from events where event = 'visit'`,
      [[8, 3, 33, 5.5]],
    ],
  ],
  'operators and NULL': [
    ['select 1 = 1, 1 = 2, 1 = null, null = 1, null = null', [[true, false, false, false, true]]],
    ['select 1 != 1, 1 != 2, 1 != null, null != 1, null != null', [[false, true, true, true, false]]],
    [
      'select 1 < 2, 1 < null, null < 1, null < null, null >= null, null <= 1, 1 > null',
      [[true, false, false, false, false, false, false]],
    ],
    [
      `select 'a' in ('a', 'b'), 'c' in ('a', 'b'), null in ('a', 'b'), 'a' in ('a', null), 'c' in ('b', null), 'c' in (null), 'a' in []`,
      [[true, false, false, true, false, false, false]],
    ],
    [
      `select 'a' not in ('a', 'b'), 'c' not in ('a', 'b'), null not in ('a', 'b'), 'a' not in ('a', null), 'c' not in ('b', null), 'c' not in (null), 'a' not in []`,
      [[false, true, true, false, true, true, true]],
    ],
    [
      `select 'abc' like 'a%', 'abc' like 'A%', null like 'a', 'a' like null, 'abc' not like 'a%', null not like 'a', 'a' not like null`,
      [[true, false, false, false, false, true, true]],
    ],
    [
      `select 'abc' ilike 'A%', null ilike 'a', 'a' ilike null, 'abc' not ilike 'A%', null not ilike 'a'`,
      [[true, false, false, false, true]],
    ],
    [
      `select 'abc' =~ '^a', 'abc' =~ 'B', null =~ 'a', 'abc' !~ 'b', null !~ 'a', 'a' =~ null`,
      [[true, false, false, false, true, false]],
    ],
    [`select 'abc' =~* 'B', 'abc' !~* 'B', null =~* 'b', null !~* 'b'`, [[true, false, false, true]]],
    [
      'select 2 between 1 and 3, 4 between 1 and 3, null between 1 and 3, 2 between null and 3, 2 between 1 and null, 2 not between 1 and 3, 4 not between 1 and 3, null not between 1 and 3',
      [[true, false, false, false, false, false, true, false]],
    ],
    [
      'select 1 is distinct from 1, 1 is distinct from null, null is distinct from null, 1 is not distinct from 1, null is not distinct from null, 1 is not distinct from null',
      [[false, true, false, true, true, false]],
    ],
    ['select null is null, 1 is null, 1 is not null, null is not null', [[true, false, true, false]]],
    [
      'select null and true, null and false, null or true, null or false, not null',
      [[null, false, true, null, null]],
    ],
    [
      'select 1 + null, null - 1, null * null, 1 / null, null % 2, 5 / 0, 5 % 0, 7 % -3, -7 % 3, 7 / 2',
      [[null, null, null, null, null, Infinity, null, 1, -1, 3.5]],
    ],
    [
      `select not (1 = null), not (properties.missing = 'a'), not (properties.missing in ('a')) from events limit 1`,
      [[true, true, true]],
    ],
    ['select x = y, x != y from (select null as x, null as y)', [[true, false]]],
    [
      'select a.n = b.n, a.n != b.n from (select properties.missing as n from events limit 1) a cross join (select properties.missing as n from events limit 1) b',
      [[true, false]],
    ],
    [`select count() from events where properties.missing = 'a'`, [[0]]],
    [`select count() from events where properties.missing != 'a'`, [[30]]],
    ['select count() from events where properties.missing = properties.absent', [[30]]],
    [`select count() from events where not (properties.missing = 'a')`, [[30]]],
    [
      `select 1 = '1', 'x' = 1, 'x' != 1, '5' > 4, true = 'true', true = 1, false = 'no'`,
      [[true, false, true, true, true, true, false]],
    ],
    [
      `select uuid = '018FD000-0000-7000-8000-000000000005', uuid = 'nonsense', uuid != 'nonsense', uuid in ('x', '018fd000-0000-7000-8000-000000000005') from events where event = 'signup'`,
      [[true, false, true, true]],
    ],
    [`select count() from events where timestamp = '2024-06-01 09:30:00'`, [[1]]],
    [
      `select count() from events where timestamp >= '2024-06-09' and timestamp < '2024-06-09T03:00:00+00:00'`,
      [[3]],
    ],
    [`select count() from events where timestamp > '2024-06-09T10:00:00+09:00'`, [[6]]],
    [`select count() from events where timestamp > 'nonsense'`, [[0]]],
    [`select count() from events where timestamp != 'nonsense'`, [[30]]],
    [`select count() from events where timestamp between '2024-06-02' and '2024-06-03'`, [[7]]],
    [
      `select count() from events where timestamp in ('2024-06-01 08:00:00', '2024-06-01T10:00:00Z', 'x')`,
      [[2]],
    ],
    [`select count() from events where toDate(timestamp) = '2024-06-02'`, [[7]]],
    [`select count() from events where toDate(timestamp) in ('2024-06-02', '2024-06-03')`, [[8]]],
    ['select count() from events where timestamp > 1717891200', [[7]]],
    [
      `select (1, 'a') = (1, 'a'), (1, 'a') = ('1', 'a'), (1, 2) in ((1, 2), (3, 4)), (1, 2) in (1, 2), (1, 5) in ((1, 2), (3, 4)), (1, 2) not in ((1, 2))`,
      [[true, true, true, true, false, false]],
    ],
    [`select [1, 2] = [1, 2], [1, 2] = ['1', '2'], ['a'] = ['b'], [1] = []`, [[true, false, false, false]]],
    ['select count() from events where event in cohort 5', [[0]]],
    ['select count() from events where event not in cohort 5', [[30]]],
    [
      `select 3 in [1, 2, 3], 3 in (3), 'b' in arrayMap(x -> lower(x), ['A', 'B']), 5 in arrayMap(x -> x, ['5'])`,
      [[true, true, true, true]],
    ],
    [
      `select t from (select properties.t as t from events where event = 'text') where t like '%\\\\%%'`,
      [['100%']],
    ],
    [
      `select t from (select properties.t as t from events where event = 'text') where t like 'a\\\\_b'`,
      [['a_b']],
    ],
    [
      `select t from (select properties.t as t from events where event = 'text') where t ilike '%HIGH' or t ilike 'low'`,
      [['low'], ['HIGH']],
    ],
    [
      `select t from (select properties.t as t from events where event = 'text') where t =~ '^[A-Z]+$'`,
      [['HIGH']],
    ],
    [
      `select t from (select properties.t as t from events where event = 'text') where t like '%ü%'`,
      [['ünï']],
    ],
  ],
  persons: [
    [
      `select distinct distinct_id, person_id from events where distinct_id in ('ann', 'ann-phone', 'ghost', 'gone') order by distinct_id, person_id`,
      [
        ['ann', '00000000-0000-4000-8000-000000000001'],
        ['ann', 'b2e34892-ecea-50fb-9200-f21262ad9f6c'],
        ['ann-phone', '00000000-0000-4000-8000-000000000001'],
        ['ghost', '81f72fec-4241-54f4-8eb2-cb9f955d5f5c'],
        ['gone', '00000000-0000-4000-8000-000000000009'],
      ],
    ],
    [
      `select person.id, person.created_at, person.is_identified, person.properties.email from events where event = 'signup'`,
      [['00000000-0000-4000-8000-000000000001', '2024-01-01 00:00:00', true, 'ann@example.com']],
    ],
    [
      `select person.id, person_id, person.properties.email, person.created_at, person.is_identified, person from events where event = '$pageview' and timestamp >= '2024-06-02' order by timestamp`,
      [
        [null, '81f72fec-4241-54f4-8eb2-cb9f955d5f5c', null, null, null, null],
        [null, '81f72fec-4241-54f4-8eb2-cb9f955d5f5c', null, null, null, null],
        [null, 'b2e34892-ecea-50fb-9200-f21262ad9f6c', null, null, null, null],
      ],
    ],
    [
      `select person from events where event = 'signup'`,
      [
        [
          '{"id":"00000000-0000-4000-8000-000000000001","created_at":"2024-01-01T00:00:00.000000Z","properties":{"email":"ann@example.com","name":"Ann","age":30,"plan":"pro","address":{"city":"Berlin"}},"distinct_ids":["ann","ann-phone"]}',
        ],
      ],
    ],
    [
      `select person.properties from events where event = 'signup'`,
      [['{"email":"ann@example.com","name":"Ann","age":30,"plan":"pro","address":{"city":"Berlin"}}']],
    ],
    [
      'select person.properties.name, count() from events group by person.properties.name order by 2 desc, 1',
      [
        [null, 20],
        ['Zoë 🦊', 6],
        ['Ann', 4],
      ],
    ],
    [
      'select person.properties.plan, uniq(person_id) from events group by 1 order by 1',
      [
        ['free', 1],
        ['pro', 2],
        [null, 5],
      ],
    ],
    [`select e.person.properties.email from events e where e.event = 'signup'`, [['ann@example.com']]],
    [`select events.person.properties.address.city from events where events.event = 'signup'`, [['Berlin']]],
    [`select count() from events where person.properties.email = 'ann@example.com'`, [[4]]],
    [`select count() from events where person.properties.email != 'ann@example.com'`, [[26]]],
    ['select count() from events where person.properties.email is null', [[13]]],
    ['select count() from events where person.properties.age > 35', [[13]]],
    [`select sum(person.properties.age) from events where event = 'purchase'`, [[71]]],
    [
      `select person.properties['a.b'], person.properties['q"uote'], person.properties.email from events where event = 'odd' order by timestamp`,
      [
        ['dotted', 'quoted', null],
        ['dotted', 'quoted', null],
        [null, null, null],
      ],
    ],
    ['select count(), uniq(person_id), count(person.id) from events', [[30, 8, 26]]],
    [
      `select person_id from events where person_id = '00000000-0000-4000-8000-000000000003'`,
      [['00000000-0000-4000-8000-000000000003']],
    ],
    ['select count() from events where person.is_identified', [[23]]],
    [`select count() from events where person.created_at > '2024-03-31'`, [[6]]],
    [
      `select e.person.properties.name, p.properties.plan from events e join persons p on p.id = e.person_id where e.event = 'signup'`,
      [['Ann', 'pro']],
    ],
    [
      `select upper(toString(person_id)) from events where event = 'signup'`,
      [['00000000-0000-4000-8000-000000000001']],
    ],
    [
      `select person_id in (select id from persons where properties.plan = 'pro') as pro, count() from events group by pro order by pro`,
      [
        [false, 24],
        [true, 6],
      ],
    ],
  ],
  'groups, sessions, elements': [
    [
      'select $group_0, group_0.key, group_0.properties.name, group_0.properties.size from events where $group_0 is not null order by timestamp',
      [
        ['acme', 'acme', 'Acme', '100'],
        ['acme', 'acme', 'Acme', '100'],
        ['globex', 'globex', 'Globex', null],
        ['unheard-of', null, null, null],
      ],
    ],
    [
      `select $group_1, group_1.properties.name, group_1.properties from events where event = 'signup'`,
      [['team-1', 'One', '{"name":"One"}']],
    ],
    [
      'select group_0.properties.name, count() from events group by 1 order by 2 desc, 1',
      [
        [null, 27],
        ['Acme', 2],
        ['Globex', 1],
      ],
    ],
    [
      'select $session_id, $window_id, e.$session_id from events e where $session_id is not null order by timestamp',
      [
        ['s1', 'w1', 's1'],
        ['s2', null, 's2'],
        ['s3', null, 's3'],
      ],
    ],
    [
      `select elements_chain_href, arraySort(elements_chain_texts), arraySort(elements_chain_ids) from events where event = '$autocapture'`,
      [['/buy?x=1', ['Buy \\"now\\"', 'Shop'], ['buy', 'main']]],
    ],
    [
      `select elements_chain_href, elements_chain_texts, elements_chain_ids from events where event = 'signup'`,
      [['', [], []]],
    ],
    [`select count() from events where elements_chain_href like '/buy%'`, [[1]]],
  ],
  joins: [
    [
      `select e.event, p.properties.name from events e inner join persons p on e.person_id = p.id where e.event in ('signup', '$autocapture') order by e.event`,
      [
        ['$autocapture', 'Zoë 🦊'],
        ['signup', 'Ann'],
      ],
    ],
    [
      'select p.id, d.distinct_id from persons p left join person_distinct_ids d on d.person_id = p.id order by p.id, d.distinct_id',
      [
        ['00000000-0000-4000-8000-000000000001', 'ann'],
        ['00000000-0000-4000-8000-000000000001', 'ann-phone'],
        ['00000000-0000-4000-8000-000000000002', 'bob'],
        ['00000000-0000-4000-8000-000000000003', 'anon-3'],
        ['00000000-0000-4000-8000-000000000004', 'dora'],
        ['00000000-0000-4000-8000-000000000005', 'zoe'],
        ['00000000-0000-4000-8000-000000000006', null],
      ],
    ],
    [
      'select d.distinct_id, p.properties.plan from persons p right join person_distinct_ids d on d.person_id = p.id order by d.distinct_id',
      [
        ['ann', 'pro'],
        ['ann-phone', 'pro'],
        ['anon-3', null],
        ['bob', 'free'],
        ['dora', 'pro'],
        ['gone', null],
        ['zoe', null],
      ],
    ],
    [
      'select d.distinct_id, toString(p.id) from persons p full outer join person_distinct_ids d on d.person_id = p.id order by d.distinct_id, p.id',
      [
        ['ann', '00000000-0000-4000-8000-000000000001'],
        ['ann-phone', '00000000-0000-4000-8000-000000000001'],
        ['anon-3', '00000000-0000-4000-8000-000000000003'],
        ['bob', '00000000-0000-4000-8000-000000000002'],
        ['dora', '00000000-0000-4000-8000-000000000004'],
        ['gone', null],
        ['zoe', '00000000-0000-4000-8000-000000000005'],
        [null, '00000000-0000-4000-8000-000000000006'],
      ],
    ],
    ['select count() from persons cross join groups', [[24]]],
    ['select count() from persons, groups', [[24]]],
    [
      `select a.x, b.y from (select 1 as x union all select 2) a left join (select 2 as x, 'two' as y) b on a.x = b.x order by a.x`,
      [
        [1, null],
        [2, 'two'],
      ],
    ],
    [`select x, y from (select 1 as x, 'l' as k) a join (select 1 as x, 'r' as y) b using (x)`, [[1, 'r']]],
    [
      `select x, k from (select 1 as x, 'l' as k) a right join (select 2 as x, 'r' as y) b using x`,
      [[2, null]],
    ],
    [
      `select x, k, y from (select 1 as x, 'l' as k) a full join (select 2 as x, 'r' as y) b using x order by x`,
      [
        [1, 'l', null],
        [2, null, 'r'],
      ],
    ],
    [
      'select x, z from (select 1 as x) a join (select 1 as x, 2 as y) b using x join (select 1 as x, 3 as z) c using x',
      [[1, 3]],
    ],
    ['select * from (select 1 as x) a join (select 1 as x, 2 as y) b on a.x = b.x', [[1, 1, 2]]],
    ['select b.* from (select 1 as x) a join (select 1 as x, 2 as y) b on a.x = b.x', [[1, 2]]],
    [
      `select count() from events a join events b on a.distinct_id = b.distinct_id and a.event = 'signup' and b.event = 'purchase'`,
      [[1]],
    ],
    [
      `select a.event, b.event from events a left join events b on a.person_id = b.person_id and b.event = 'signup' where a.event = 'purchase' order by a.timestamp`,
      [
        ['purchase', null],
        ['purchase', 'signup'],
      ],
    ],
    ['select a.n, b.n from (select null as n) a join (select null as n) b on a.n = b.n', []],
    [
      `select b.person_id, b.person.properties.email from (select 'x' as k) a left join events b on a.k = b.distinct_id`,
      [[null, null]],
    ],
    ['select t.a, t.b from (select 1, 2) as t(a, b)', [[1, 2]]],
    [
      `select e.event, s.total from events e join (select distinct_id, count() as total from events group by distinct_id) s on s.distinct_id = e.distinct_id where e.event = 'signup'`,
      [['signup', 4]],
    ],
  ],
  'subqueries and CTEs': [
    ['select max(c) from (select event, count() as c from events group by event)', [[8]]],
    [
      `select event from events where distinct_id in (select distinct_id from person_distinct_ids where person_id = '00000000-0000-4000-8000-000000000003')`,
      [['$pageview']],
    ],
    [
      'select count() from events where distinct_id not in (select distinct_id from person_distinct_ids)',
      [[2]],
    ],
    [
      `select count() from events where properties.n not in (select properties.n from events where event = 'visit')`,
      [[21]],
    ],
    [
      `select count() from events where (event, distinct_id) in (select event, distinct_id from events where event = 'purchase')`,
      [[2]],
    ],
    ['select count() from events where person_id in (select properties.email from persons)', [[0]]],
    ['select (select count() from persons) * 2', [[12]]],
    [
      `select event, (select max(timestamp) from events) from events where event = 'signup'`,
      [['signup', '2024-06-09 07:00:00']],
    ],
    ['select event from events where timestamp = (select max(timestamp) from events)', [['text']]],
    [
      'with t as (select event, count() as c from events group by event) select event from t where c = (select max(c) from t) order by event',
      [['text']],
    ],
    ['with a as (select 1 as x), b as (select x + 1 as y from a) select x, y from a cross join b', [[1, 2]]],
    ['with t(one, two) as (select 1, 2) select two, one from t', [[2, 1]]],
    [`with '2024-06-09' as since select count() from events where timestamp >= since`, [[8]]],
    [
      'with toDate(timestamp) as day select day, count() from events group by day order by day limit 2',
      [
        ['2024-03-31', 2],
        ['2024-06-01', 7],
      ],
    ],
    [`with events as (select * from events where event = 'signup') select count() from events`, [[1]]],
    [`with t as (select 'signup' as e) select count() from events where event in t`, [[1]]],
    [
      'with x as (select 1 as v) select * from (with x as (select 2 as v) select v from x) union all select v from x',
      [[2], [1]],
    ],
    ['with u as (select 1 as a union all select 2 as a) select sum(a) from u', [[3]]],
    ['select `count()` from (select count() from persons)', [[6]]],
    [`select s.n from (select properties.n from events where event = 'signup') s`, [['3']]],
    [`select x.y from (select (1, 'two') as x, 3 as y) as x`, [[3]]],
  ],
  'set operations': [
    ['select 1 as a union all select 1', [[1], [1]]],
    ['select 1 as a union distinct select 1', [[1]]],
    [`select event from events intersect select 'signup'`, [['signup']]],
    [
      `(select distinct event from events except select 'signup') order by event limit 2`,
      [['$autocapture'], ['$pageview']],
    ],
    ['select a from (select 2 as a union all select 1 union all select 3) order by a', [[1], [2], [3]]],
    ['(select 2 as a union all select 1) order by a limit 1', [[1]]],
    ['(select 2 as a union all select 1 union all select 3) order by a desc limit 1 offset 1', [[2]]],
    [`select 1 as a union all select 'x'`, [['1'], ['x']]],
    ['select null as a union all select 5', [[null], [5]]],
    [
      `select a + 1 from (select properties.n as a from events where event = 'signup' union all select '41')`,
      [[4], [42]],
    ],
    ['select count() from (select event from events union all select event from events)', [[60]]],
  ],
  aggregates: [
    [
      'select count(), count(properties.n), count(distinct event), count(distinct event, distinct_id) from events',
      [[30, 15, 8, 15]],
    ],
    [
      `select countIf(event = 'visit'), sumIf(properties.n, event = 'visit'), avgIf(properties.n, event = 'visit'), maxIf(timestamp, event = 'signup'), uniqIf(distinct_id, event = 'visit') from events`,
      [[6, 33, 5.5, '2024-06-01 09:30:00', 2]],
    ],
    [
      `select count() filter (where event = 'visit'), sum(properties.n) filter (where event = 'visit') from events`,
      [[6, 33]],
    ],
    [`select groupArrayIf(properties.n, properties.n > 6) from events where event = 'visit'`, [[['7', '8']]]],
    [
      'select groupArray(properties.missing), sum(properties.missing), max(properties.missing), count(properties.missing), any(properties.missing) from events',
      [[[], null, null, 0, null]],
    ],
    [
      `select arraySort(groupUniqArray(event)) from events where event in ('visit', 'text')`,
      [[['text', 'visit']]],
    ],
    ['select argMax(event, timestamp), argMin(event, timestamp) from events', [['text', 'dst']]],
    [`select argMaxIf(distinct_id, timestamp, event = 'purchase') from events`, [['ann']]],
    [
      `select quantile(0.5)(properties.n), quantile(0.9)(properties.n), median(properties.n), quantiles(0, 1)(properties.n) from events where event = 'visit'`,
      [[5.5, 7.5, 5.5, [3, 8]]],
    ],
    [
      'select event, count() from events group by event having count() > 5 order by count() desc, event',
      [
        ['text', 8],
        ['$pageview', 7],
        ['visit', 6],
      ],
    ],
    [
      'select event as e, count() as c from events group by e having c between 2 and 3 order by c desc, e',
      [
        ['odd', 3],
        ['dst', 2],
        ['purchase', 2],
      ],
    ],
    [
      `select toDate(timestamp) as day, countIf(event = '$pageview') as views, count() from events group by day order by day limit 3`,
      [
        ['2024-03-31', 0, 2],
        ['2024-06-01', 4, 7],
        ['2024-06-02', 3, 7],
      ],
    ],
    [
      `select event, distinct_id, count() from events where event in ('visit', 'purchase') group by all order by 1, 2`,
      [
        ['purchase', 'ann', 1],
        ['purchase', 'bob', 1],
        ['visit', 'bob', 3],
        ['visit', 'zoe', 3],
      ],
    ],
    [
      `select count() + 1, sum(properties.n) / count(), if(count() > 5, 'many', 'few') from events where event = 'visit'`,
      [[7, 5.5, 'many']],
    ],
    [
      `select lower(event) as e, concat(e, '!') as f, count() from events where event = 'signup' group by e`,
      [['signup', 'signup!', 1]],
    ],
    [
      `select lower(event), concat(lower(event), '!'), count() from events where event = 'signup' group by lower(event)`,
      [['signup', 'signup!', 1]],
    ],
    [`select 'x' as k, count() from events group by k`, [['x', 30]]],
    ['select count() from events group by event order by event limit 1', [[1]]],
    ['select sum(x) as x, max(x) as y from (select arrayJoin([1, 2, 3]) as x)', [[6, 3]]],
    [
      `select max(timestamp) as timestamp from events where timestamp < '2024-06-01 09:00:00'`,
      [['2024-06-01 08:00:00']],
    ],
    [`select count() from events where event = 'none' group by event`, []],
    [
      `select count(), sum(properties.n), max(properties.n) from events where event = 'none'`,
      [[0, null, null]],
    ],
    ['select uniq(event, distinct_id), uniqExact(event) from events', [[15, 8]]],
    [
      'select groupArray(event) from (select event from events order by timestamp limit 3)',
      [[['dst', 'dst', '$pageview']]],
    ],
    [`select sum(distinct properties.n) from events where event = 'visit' or event = 'signup'`, [[33]]],
    ['select (select 1) as a, count() from events group by a', [[1, 30]]],
    [
      `select properties.$browser = 'Chrome' as chrome, count() from events group by chrome order by chrome`,
      [
        [false, 25],
        [true, 5],
      ],
    ],
    [
      'select arrayMap(x -> x + 1, [1]) as a, count() from events group by arrayMap(x -> x + 1, [1])',
      [[[2], 30]],
    ],
    [
      `select event, count() as total, total * 2 from events where event = 'visit' group by event`,
      [['visit', 6, 12]],
    ],
    ['select not (count() > 5) from events', [[false]]],
  ],
  windows: [
    [
      `select properties.n, row_number() over (order by timestamp desc) from events where event = 'visit' order by timestamp`,
      [
        ['3', 6],
        ['4', 5],
        ['5', 4],
        ['6', 3],
        ['7', 2],
        ['8', 1],
      ],
    ],
    [
      `select properties.n, lag(properties.n) over (order by timestamp), lead(properties.n, 2, 'none') over (order by timestamp) from events where event = 'visit' order by timestamp`,
      [
        ['3', null, '5'],
        ['4', '3', '6'],
        ['5', '4', '7'],
        ['6', '5', '8'],
        ['7', '6', 'none'],
        ['8', '7', 'none'],
      ],
    ],
    [
      `select distinct_id, rank() over (partition by distinct_id order by timestamp) as r from events where event = 'visit' order by distinct_id, r`,
      [
        ['bob', 1],
        ['bob', 2],
        ['bob', 3],
        ['zoe', 1],
        ['zoe', 2],
        ['zoe', 3],
      ],
    ],
    [
      `select sum(properties.n) over (order by timestamp rows between 1 preceding and current row) as s from events where event = 'visit' order by timestamp`,
      [[3], [7], [9], [11], [13], [15]],
    ],
    [
      `select sum(properties.n) over (order by timestamp rows between unbounded preceding and 1 following) as s from events where event = 'visit' order by timestamp`,
      [[7], [12], [18], [25], [33], [33]],
    ],
    [
      `select avg(properties.n) over w, count() over w from events where event = 'visit' window w as (partition by distinct_id) order by timestamp`,
      [
        [5, 3],
        [6, 3],
        [5, 3],
        [6, 3],
        [5, 3],
        [6, 3],
      ],
    ],
    [
      'select event, count() as c, sum(count()) over () as total, rank() over (order by count() desc, event) as r from events group by event order by r limit 3',
      [
        ['text', 8, 30, 1],
        ['$pageview', 7, 30, 2],
        ['visit', 6, 30, 3],
      ],
    ],
    [
      'select first_value(event) over (order by timestamp), last_value(event) over (order by timestamp rows between unbounded preceding and unbounded following) from events order by timestamp limit 1',
      [['dst', 'text']],
    ],
    [
      `select n from (select properties.n as n, row_number() over (partition by distinct_id order by timestamp desc) as r from events where event = 'visit') where r = 1 order by n`,
      [['7'], ['8']],
    ],
    [
      `select countIf(properties.n > 4) over (order by timestamp) from events where event = 'visit' order by timestamp`,
      [[0], [0], [1], [2], [3], [4]],
    ],
    [
      `select groupArray(properties.n) over (order by timestamp rows 1 preceding) from events where event = 'visit' order by timestamp limit 2`,
      [[['3']], [['3', '4']]],
    ],
    ['select event from events order by row_number() over (order by timestamp) limit 1', [['dst']]],
  ],
  'arrays, tuples, lambdas': [
    [
      'select arrayJoin([1, 2, 3]) as x, x * 10',
      [
        [1, 10],
        [2, 20],
        [3, 30],
      ],
    ],
    [
      `select arrayJoin([1, 2]) as a, arrayJoin(['x', 'y']) as b order by a, b`,
      [
        [1, 'x'],
        [1, 'y'],
        [2, 'x'],
        [2, 'y'],
      ],
    ],
    [`select event, arrayJoin([1, 2]) as a from events where a = 2 and event = 'signup'`, [['signup', 2]]],
    [
      `select arrayJoin(['a', 'b', 'a']) as x, count() group by x order by x`,
      [
        ['a', 2],
        ['b', 1],
      ],
    ],
    ['select sum(arrayJoin([1, 2, 3]))', [[6]]],
    [
      `select arrayJoin(groupArray(event)) as e from events where event in ('signup') group by event`,
      [['signup']],
    ],
    ['select arrayJoin(arrayJoin([[1, 2], [3]])) as x order by x', [[1], [2], [3]]],
    ['select arrayJoin([]) as x', []],
    [
      'select a, x from (select [1, 2] as a) array join a as x',
      [
        [[1, 2], 1],
        [[1, 2], 2],
      ],
    ],
    [
      `select x, i from (select ['a', 'b'] as a) array join a as x, arrayEnumerate(a) as i`,
      [
        ['a', 1],
        ['b', 2],
      ],
    ],
    [
      `select k, x from (select 1 as k, ['a'] as a union all select 2, []) left array join a as x order by k`,
      [
        [1, 'a'],
        [2, null],
      ],
    ],
    [
      `select k, x from (select 1 as k, ['a'] as a union all select 2, []) array join a as x order by k`,
      [[1, 'a']],
    ],
    [
      'select arrayMap(x -> arrayMap(y -> x + y, [10, 20]), [1, 2])',
      [
        [
          [
            [11, 21],
            [12, 22],
          ],
        ],
      ],
    ],
    [`select arrayFilter(x -> x like 'a%', ['ab', 'b', 'ac'])`, [[['ab', 'ac']]]],
    [`select arrayExists(x -> x = properties.n, ['3', '4']) from events where event = 'signup'`, [[true]]],
    [
      'select [1, 2, 3][2], [1, 2, 3][-1], [1, 2, 3][9], [1, 2, 3][1:2], [1, 2, 3][2:], [1, 2, 3][:1]',
      [[2, 3, 0, [1, 2], [2, 3], [1]]],
    ],
    [`select (1, 'a').1, (1, 'a').2, tuple(1, (2, 3)).2.1`, [[1, 'a', 2]]],
    [
      `select t.1, t.2 from (select (event, properties.n) as t from events where event = 'signup')`,
      [['signup', '3']],
    ],
    [
      `select [1, 'a', null, 2.5], [true, false], [1, 2.5], []`,
      [[['1', 'a', null, '2.5'], [true, false], [1, 2.5], []]],
    ],
    [`select [properties.n, event] from events where event = 'signup'`, [[['3', 'signup']]]],
    [`select x[1], x[y] from (select ['a', 'b'] as x, 2 as y)`, [['a', 'b']]],
  ],
  casts: [
    [
      `select '5'::int, '5.7'::int, 'x'::int, '5.5'::float, 'x'::float, 5::text, true::text`,
      [[5, null, null, 5.5, null, '5', 'true']],
    ],
    [
      `select cast('5' as int), try_cast('x' as float), cast('2024-06-01' as date), cast('2024-06-01 10:00:00' as timestamp), '2024-06-01T10:00:00Z'::datetime`,
      [[5, null, '2024-06-01', '2024-06-01 10:00:00', '2024-06-01 10:00:00']],
    ],
    [
      `select cast('00000000-0000-4000-8000-00000000000A' as uuid), 'x'::uuid, 'true'::boolean, 'x'::bool, 0::bool`,
      [['00000000-0000-4000-8000-00000000000a', null, true, null, false]],
    ],
    [`select properties.n::int + 1 from events where event = 'signup'`, [[4]]],
  ],
  'time zones': [
    [
      `select toDate(timestamp), count() from events where event = '$pageview' group by 1 order by 1`,
      [
        ['2024-06-01', 4],
        ['2024-06-02', 3],
      ],
    ],
    [
      `select toStartOfHour(timestamp), toHour(timestamp) from events where event = 'dst' order by timestamp`,
      [
        ['2024-03-31 00:00:00', 0],
        ['2024-03-31 01:00:00', 1],
      ],
    ],
    [
      'select now(), today(), now() - interval 1 day, now() + 60, today() - 1, today() + interval 1 month',
      [
        [
          '2024-06-10 12:00:00',
          '2024-06-10',
          '2024-06-09 12:00:00',
          '2024-06-10 12:01:00',
          '2024-06-09',
          '2024-07-10',
        ],
      ],
    ],
    [
      `select timestamp - interval 1 day, interval 1 hour + timestamp, timestamp + toIntervalHour(24) from events where event = 'dst' order by timestamp`,
      [
        ['2024-03-30 00:30:00', '2024-03-31 01:30:00', '2024-04-01 00:30:00'],
        ['2024-03-30 01:30:00', '2024-03-31 02:30:00', '2024-04-01 01:30:00'],
      ],
    ],
    [
      `select dateDiff('day', toDateTime('2024-06-01'), toDateTime('2024-06-03')), now() - toDateTime('2024-06-10 11:00:00'), today() - toDate('2024-06-01')`,
      [[2, 3600, 9]],
    ],
    [`select count() from events where timestamp >= '2024-06-02' and timestamp < '2024-06-03'`, [[7]]],
    [`select count() from events where toDate(timestamp) = '2024-06-02'`, [[7]]],
    [
      `select count() from events where timestamp >= toDate('2024-06-02') and timestamp < toDate('2024-06-03')`,
      [[7]],
    ],
    [
      `select toString(timestamp), concat('', timestamp) from events where event = 'signup'`,
      [['2024-06-01 09:30:00', '2024-06-01 09:30:00']],
    ],
    [
      `select - interval 1 day + toDateTime('2024-06-02'), toDateTime('2024-06-02') - 2 * interval 1 day, interval 1 day + interval 1 hour + toDateTime('2024-06-02')`,
      [['2024-06-01 00:00:00', '2024-05-31 00:00:00', '2024-06-03 01:00:00']],
    ],
  ],
  'as people ask': [
    [
      `select quantile(0.5)(properties.n) over (partition by distinct_id) as q from events where event = 'visit' order by timestamp limit 2`,
      [[5], [6]],
    ],
    [
      `select toDate(timestamp) as d, uniq(distinct_id), count() / uniq(distinct_id) from events where event = '$pageview' group by d order by d`,
      [
        ['2024-06-01', 4, 1],
        ['2024-06-02', 2, 1.5],
      ],
    ],
    [
      'select event, count() as c from events where timestamp > now() - interval 5 day group by event order by c desc',
      [
        ['text', 8],
        ['visit', 3],
      ],
    ],
    [
      'select properties.$browser as browser, count() as c from events where browser is not null group by browser order by c desc, browser limit 3',
      [
        ['Chrome', 5],
        ['Edge', 4],
        ['Firefox', 2],
      ],
    ],
    [
      `select if(properties.n > 5, 'high', 'low') as level, count() from events where event = 'visit' group by level order by level`,
      [
        ['high', 3],
        ['low', 3],
      ],
    ],
    [
      `select case when properties.n > 5 then 'high' when properties.n > 3 then 'mid' else 'low' end as level, count() from events where event = 'visit' group by level order by level`,
      [
        ['high', 3],
        ['low', 1],
        ['mid', 2],
      ],
    ],
    [`select coalesce(properties.missing, properties.n, 'x') from events where event = 'signup'`, [['3']]],
    [
      'select p.properties.email, count() from events e join persons p on e.person_id = p.id group by p.properties.email order by 2 desc, 1',
      [
        ['bob@example.com', 13],
        [null, 9],
        ['ann@example.com', 4],
      ],
    ],
    [
      `select distinct_id, groupArray(event) as path from (select distinct_id, event from events where timestamp < '2024-06-02' order by timestamp) group by distinct_id order by distinct_id`,
      [
        ['ann', ['$pageview', 'signup', 'purchase']],
        ['ann-phone', ['$pageview']],
        ['anon-3', ['$pageview']],
        ['bob', ['$pageview', 'purchase']],
        ['zoe', ['dst', 'dst']],
      ],
    ],
    [
      'with first as (select person_id, min(timestamp) as t from events group by person_id) select toStartOfMonth(t) as m, count() from first group by m order by m',
      [
        ['2024-03-01', 1],
        ['2024-06-01', 7],
      ],
    ],
    ['select avg(c) from (select person_id, count() as c from events group by person_id)', [[3.75]]],
    [
      `select a.event as x, count() as n from events a where a.properties.$browser in ('Chrome', 'Edge') group by x having n >= 2 order by n desc, x`,
      [
        ['visit', 6],
        ['$pageview', 3],
      ],
    ],
    [
      `select timestamp from events where event = 'purchase' order by timestamp`,
      [['2024-06-01 10:05:00'], ['2024-06-01 11:00:00.123456']],
    ],
    [
      'select toFloat(properties.price) as p from events where p > 10 order by p desc',
      [[100], [50.5], [12.5]],
    ],
    [
      `select sum(toFloat(properties.price)) as revenue, properties.currency as currency from events where event = 'purchase' group by currency order by revenue desc`,
      [
        [100, 'EUR'],
        [50.5, 'USD'],
      ],
    ],
    ['select max(length(event)) from events', [[12]]],
    [`select count() from events where event like '$%' and not event ilike '%VIEW'`, [[1]]],
    [
      `select e1.event, e2.event from events e1 join events e2 on e1.distinct_id = e2.distinct_id and e1.timestamp < e2.timestamp where e1.event = 'signup' and e2.event = 'purchase'`,
      [['signup', 'purchase']],
    ],
    [
      'select distinct properties.currency as c from events where c is not null order by c',
      [['EUR'], ['USD']],
    ],
    [
      `select lower(properties.t) as t from events where event = 'text' order by t limit 3`,
      [['100%'], ['a_b'], ['back\\slash']],
    ],
    [
      `select properties.t from events where event = 'text' and properties.t in ('Mid', 'HIGH') order by 1`,
      [['HIGH'], ['Mid']],
    ],
    [
      `select event from events where event in ('signup') and 1 = 1 and (2 > 1 or null) limit 10`,
      [['signup']],
    ],
    [
      'select 9007199254740993, 12345678901234567890, 1e3, -5, 0.1 + 0.2 > 0.3',
      [[9007199254740992, 12345678901234567000, 1000, -5, true]],
    ],
    [`select 'it''s', 'a\\nb', '\\\\', 'ü🦊', ''`, [[`it's`, 'a\nb', '\\', 'ü🦊', '']]],
    [`select count() from events where properties.n >= 3 and properties.n <= 4 or event = 'signup'`, [[4]]],
    [
      `select uuid from events where uuid > '018fd000-0000-7000-8000-000000000029' order by uuid`,
      [['018fd000-0000-7000-8000-000000000030']],
    ],
    [
      `select x, count() from (select event as x from events union all select 'extra') group by x having count() = 1 order by x`,
      [
        ['$autocapture', 1],
        ['extra', 1],
        ['signup', 1],
      ],
    ],
    [
      `select min(timestamp) as first, max(timestamp) as last, dateDiff('day', first, last) from events where event = 'visit'`,
      [['2024-06-03 12:00:00', '2024-06-08 12:00:00', 5]],
    ],
    [
      `select toDate(timestamp) from events where event = 'visit' and toDate(timestamp) > today() - 3 order by 1`,
      [['2024-06-08']],
    ],
    ['select count() from events where timestamp > now()', [[0]]],
    [`select tuple(event, count()) from events where event = 'signup' group by event`, [[['signup', 1]]]],
    [
      `select arrayJoin(splitByChar(',', 'a,b,a')) as part, count() as c group by part order by part`,
      [
        ['a', 2],
        ['b', 1],
      ],
    ],
    [
      `select e.event, item from events e array join ['p', 'q'] as item where e.event = 'signup' order by item`,
      [
        ['signup', 'p'],
        ['signup', 'q'],
      ],
    ],
    [`select count() from events where person.properties.name ilike '%zoë%'`, [[6]]],
    [
      `select nullIf(properties.$browser, 'Chrome') as b, count() from events where event = '$pageview' group by b order by b`,
      [
        ['Firefox', 2],
        ['Opera', 1],
        ['Safari', 1],
        [null, 3],
      ],
    ],
    ['select number from (select arrayJoin(range(3)) as number) order by number desc', [[2], [1], [0]]],
    [
      `select person.properties.email as email from events where event = 'purchase' and email like '%@example.com' order by email`,
      [['ann@example.com'], ['bob@example.com']],
    ],
    [
      `select event, properties.n from events where event = 'visit' order by toInt(properties.n) desc limit 2`,
      [
        ['visit', '8'],
        ['visit', '7'],
      ],
    ],
    [
      `select event from events where event = 'visit' order by properties.missing, timestamp desc limit 1`,
      [['visit']],
    ],
    [
      `select properties.n from events where event in ('dst', 'signup', 'purchase') order by properties.n desc, timestamp`,
      [['3'], ['-2.5'], ['-1'], [null], [null]],
    ],
    [
      `select properties.n from events where event in ('dst', 'signup', 'purchase') order by properties.n, timestamp`,
      [['-1'], ['-2.5'], ['3'], [null], [null]],
    ],
    ['select count(), 1 as k from events group by k', [[30, 1]]],
    ['select 1 group by 1', [[1]]],
    ['select count() from events group by null', [[30]]],
  ],
  tuples: [
    [`select tuple(event, count()) from events where event = 'signup' group by event`, [[['signup', 1]]]],
    [
      `select (1, 'a'), tuple(1, 2), [(1, 2), (3, 4)]`,
      [
        [
          [1, 'a'],
          [1, 2],
          [
            [1, 2],
            [3, 4],
          ],
        ],
      ],
    ],
    [
      'select count(distinct event, distinct_id), uniq((event, distinct_id)), count(distinct (event, 1)) from events',
      [[15, 15, 8]],
    ],
    ['select arrayMap(x -> x.1, [(1, 2), (3, 4)])', [[[1, 3]]]],
    ['select arrayMap((x, y) -> x + y, [1, 2], [3, 4])', [[[4, 6]]]],
  ],
}

/** The same for a project in Berlin: one hour ahead of UTC in winter, two in summer. */
const IN_BERLIN: Answer[] = [
  [
    `select toDate(timestamp), count() from events where event = '$pageview' group by 1 order by 1`,
    [
      ['2024-06-01', 3],
      ['2024-06-02', 4],
    ],
  ],
  [
    `select toStartOfHour(timestamp), toHour(timestamp) from events where event = 'dst' order by timestamp`,
    [
      ['2024-03-31 00:00:00', 1],
      ['2024-03-31 01:00:00', 3],
    ],
  ],
  [
    'select now(), today(), now() - interval 1 day, now() + 60, today() - 1',
    [['2024-06-10 12:00:00', '2024-06-10', '2024-06-09 12:00:00', '2024-06-10 12:01:00', '2024-06-09']],
  ],
  [
    `select timestamp - interval 1 day, timestamp + interval 1 day, timestamp + toIntervalHour(24) from events where event = 'dst' order by timestamp`,
    [
      ['2024-03-30 00:30:00', '2024-03-31 23:30:00', '2024-04-01 00:30:00'],
      ['2024-03-30 02:30:00', '2024-04-01 01:30:00', '2024-04-01 01:30:00'],
    ],
  ],
  [`select count() from events where timestamp >= '2024-06-02' and timestamp < '2024-06-03'`, [[8]]],
  [
    `select count() from events where timestamp >= '2024-06-02T00:00:00Z' and timestamp < '2024-06-03T00:00:00Z'`,
    [[7]],
  ],
  [`select count() from events where toDate(timestamp) = '2024-06-02'`, [[8]]],
  [
    `select count() from events where timestamp >= toDate('2024-06-02') and timestamp < toDate('2024-06-03')`,
    [[8]],
  ],
  [
    `select toString(timestamp), concat('', timestamp) from events where event = 'signup'`,
    [['2024-06-01 11:30:00', '2024-06-01 11:30:00']],
  ],
  [`select count() from events where properties.when = toDateTime('2024-06-01 10:00:00')`, [[1]]],
  [
    `select toDateTime('2024-06-01 10:00:00'), toDateTime('2024-06-01T10:00:00Z'), toDateTime('2024-06-01 10:00:00+05:00'), toDateTime('1717236000'), toDateTime(1717236000), toDateTime('1717236000123')`,
    [
      [
        '2024-06-01 08:00:00',
        '2024-06-01 10:00:00',
        '2024-06-01 05:00:00',
        '2024-06-01 10:00:00',
        '2024-06-01 10:00:00',
        '2024-06-01 10:00:00.123',
      ],
    ],
  ],
  [
    `select toDateTime(t) from (select '2024-06-01 10:00:00' as t union all select '2024-06-01T10:00:00Z' union all select 'x' union all select '1717236000')`,
    [['2024-06-01 08:00:00'], ['2024-06-01 10:00:00'], [null], ['2024-06-01 10:00:00']],
  ],
]

const QUERIES = [...Object.values(ANSWERS).flat(), ...IN_BERLIN].map(([hogql]) => hogql)

let fixture: Awaited<ReturnType<typeof openFixture>>
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

describe.each(Object.entries(ANSWERS))('%s', (_name, answers) => {
  it.each(answers)('%s', async (hogql, rows) => {
    expect(await fixture.ask(hogql)).toEqual(rows)
  })
})

it.each(IN_BERLIN)('in Berlin: %s', async (hogql, rows) => {
  expect(await fixture.ask(hogql, { timezone: 'Europe/Berlin' })).toEqual(rows)
})

describe('placeholders', () => {
  const text = (value: string) => ({ node: 'Constant', value }) as const

  it('stand for constants, lists and whole expressions', async () => {
    const placeholders = {
      event: text('signup'),
      'variables.plan': text('pro'),
      names: { node: 'Tuple', exprs: [text('signup'), text('odd')] } as const,
      filters: { node: 'Not', expr: { node: 'Constant', value: false } } as const,
      limit: { node: 'Constant', value: 1 } as const,
    }
    const hogql =
      'select event from events where event = {event} and properties.plan = {variables.plan} and event in {names} ' +
      'and {filters} limit {limit}'
    expect(await fixture.ask(hogql, { placeholders })).toEqual([['signup']])
  })

  it('are values, whatever their text', async () => {
    const name = text("'; drop table ev_7; --")
    expect(
      await fixture.ask('select {name}, {name} = event from events limit 1', { placeholders: { name } }),
    ).toEqual([["'; drop table ev_7; --", false]])
    expect(await fixture.ask('select count() from events')).toEqual([[30]])
  })
})

describe('the fence', () => {
  const known = /^(?:\(|(?:ev|as|pe|di|gr)_7\b|q\d+\b)/

  it.each(QUERIES)('holds: %s', (hogql) => {
    const { sql } = fixture.compile(hogql)
    const tables = [...sql.matchAll(/\b(?:ev|as|pe|di|gr)_(\d+)/g)].map((match) => Number(match[1]))
    expect(new Set([PROJECT, ...tables])).toEqual(new Set([PROJECT]))
    for (const [, after = ''] of sql.matchAll(/\b(?<!DISTINCT )(?:FROM|JOIN)\s+(?:LATERAL\s+)?(.{8})/gs)) {
      expect(after).toMatch(known)
    }
  })

  it('has something to keep out', async () => {
    expect(await fixture.ask("select count() from events where event = 'secret'")).toEqual([[0]])
    expect(OTHER_PROJECT).not.toBe(PROJECT)
  })
})

it('DuckDB takes whatever of the corpus compiles', async () => {
  const texts = sameTree().flatMap(({ rule, text }) => {
    if (rule === 'order') return []
    return rule === 'query' ? text : `select ${text}\nfrom events`
  })
  const refused: string[] = []
  for (const text of texts) {
    await fixture.plan(text).catch((error: unknown) => {
      if (!(error instanceof HogqlError)) refused.push(text)
    })
  }
  expect(refused).toEqual([])
}, 60_000)

describe('normalised HogQL', () => {
  const withoutSpans = (tree: unknown) =>
    JSON.stringify(tree, (key, value: unknown) => (key === 'start' || key === 'end' ? undefined : value))

  it.each(QUERIES)('parses back: %s', (hogql) => {
    const tree = parseSelect(hogql)
    const printed = printHogql(tree)
    expect(withoutSpans(parseSelect(printed))).toBe(withoutSpans(tree))
    expect(printHogql(parseSelect(printed))).toBe(printed)
  })
})
