// What is sent to ClickHouse: the SQL itself is looked at. What each expression means is checked on DuckDB in
// results.test.ts.
import { describe, expect, it } from 'vitest'
import { compileQuery } from './compile.ts'
import { PROJECT } from './fixture/rows.ts'
import { parseSelect } from './parser.ts'

const compile = (hogql: string, timezone = 'UTC') =>
  compileQuery(
    parseSelect(hogql),
    { project_id: PROJECT, timezone, now: new Date('2024-06-10T12:00:00Z'), placeholders: new Map() },
    'clickhouse',
  )

/** Bound by the store when the query runs. */
const onlyVisible = (project: string) =>
  ` AND seq <= {visible_end:Int64} AND batch NOT IN (SELECT arrayJoin({hidden:Array(UUID)})` +
  ` UNION ALL SELECT batch FROM closed_batches WHERE project_id = ${project})`

/** Tables, properties and ids of the personless, which have tests of their own, in short. */
const brief = (sql: string) =>
  sql
    .replaceAll(/ = (\{p\d+:Int64\}) AND seq <= .*? = \1\)/g, ' = $1')
    .replaceAll(/(?<=SELECT )e\.project_id AS project_id(?:, e\.(\w+) AS \1)+/g, 'e.*')
    .replaceAll(
      /\(SELECT \*(?: EXCEPT \(batch\))? FROM (\w+)(?: FINAL)? WHERE project_id = \{p\d+:Int64\}(?: AND is_deleted = 0)?\)/g,
      '[$1]',
    )
    .replaceAll(/toUUID\((?:(?!AS current_person_id).)*\)\)(?=\) AS current_person_id)/g, 'personless')
    .replaceAll(
      /if\(JSONType\(([^()]*)\) = 'String', JSONExtractString\(\1\), nullIf\(nullIf\(JSONExtractRaw\(\1\), ''\), 'null'\)\)/g,
      'property($1)',
    )

const SPELLED: [hogql: string, sql: string][] = [
  [
    'select event from events order by timestamp limit 2 by event limit 5',
    'SELECT t1.event AS c1 FROM [events] AS t1 ORDER BY t1.timestamp ASC NULLS LAST LIMIT {p2:Int64} OFFSET {p3:Int64} BY c1 LIMIT {p4:Int64}',
  ],
  [
    'select event from events order by event limit 2 with ties offset 1',
    'SELECT t1.event AS c1 FROM [events] AS t1 ORDER BY c1 ASC NULLS LAST LIMIT {p2:Int64} OFFSET {p3:Int64} WITH TIES',
  ],
  [
    'select toDate(timestamp) as d from events order by d with fill to today() step interval 2 day',
    `SELECT toDate(t1.timestamp) AS c1 FROM [events] AS t1 ORDER BY c1 ASC NULLS LAST WITH FILL TO assumeNotNull(toDate(fromUnixTimestamp64Milli(toInt64({p2:Int64}), 'UTC'))) STEP toIntervalDay(2)`,
  ],
  [
    'select event from events qualify row_number() over (order by timestamp) = 1',
    'SELECT t1.event AS c1 FROM [events] AS t1 QUALIFY coalesce((toInt64(row_number() OVER (ORDER BY t1.timestamp ASC NULLS LAST)) = {p2:Int64}), false)',
  ],
  [
    'select count() from events sample 1/2',
    'SELECT toInt64(count()) AS c1 FROM (SELECT e.* FROM [events] AS e WHERE (reinterpretAsUInt32(reverse(substring(MD5(e.distinct_id), 1, 4))) / 4294967296) >= {p2:Int64} AND (reinterpretAsUInt32(reverse(substring(MD5(e.distinct_id), 1, 4))) / 4294967296) < {p3:Float64}) AS t1',
  ],
  [
    'select event, count() from events group by grouping sets ((event), ())',
    'SELECT t1.event AS c1, toInt64(count()) AS c2 FROM [events] AS t1 GROUP BY GROUPING SETS ((t1.event), ())',
  ],
  [
    `select 1, 'a', null, true, 1.5`,
    'SELECT {p1:Int64} AS c1, {p2:String} AS c2, NULL AS c3, true AS c4, {p3:Float64} AS c5',
  ],
  ['select event from events', 'SELECT t1.event AS c1 FROM [events] AS t1'],
  [
    'select * from events',
    'SELECT t1.uuid AS c1, t1.event AS c2, t1.properties AS c3, t1.timestamp AS c4, t1.distinct_id AS c5, t1.elements_chain AS c6, t1.created_at AS c7 FROM [events] AS t1',
  ],
  [
    'select * from persons',
    'SELECT t1.id AS c1, t1.created_at AS c2, t1.properties AS c3, t1.is_identified AS c4 FROM [persons] AS t1',
  ],
  [
    'select * from person_distinct_ids',
    'SELECT t1.distinct_id AS c1, t1.person_id AS c2 FROM [person_distinct_ids] AS t1',
  ],
  [
    'select * from groups',
    'SELECT t1.index AS c1, t1.key AS c2, t1.created_at AS c3, t1.properties AS c4 FROM [groups] AS t1',
  ],
  [
    `select e.event from events e where e.event = 'a'`,
    'SELECT t1.event AS c1 FROM [events] AS t1 WHERE (t1.event = {p2:String})',
  ],
  [
    'select distinct event from events order by event desc limit 10 offset 5',
    'SELECT DISTINCT t1.event AS c1 FROM [events] AS t1 ORDER BY c1 DESC NULLS LAST LIMIT {p2:Int64} OFFSET {p3:Int64}',
  ],
  [
    'select properties.x from events',
    'SELECT property(t1.properties, {p1:String}) AS c1 FROM [events] AS t1',
  ],
  [
    `select properties['x y'].z from events`,
    'SELECT property(t1.properties, {p1:String}, {p2:String}) AS c1 FROM [events] AS t1',
  ],
  [
    'select properties.list.1, properties.list[-1] from events',
    'SELECT property(t1.properties, {p1:String}, {p2:Int64}) AS c1, property(t1.properties, {p1:String}, {p3:Int64}) AS c2 FROM [events] AS t1',
  ],
  ['select properties.$browser from events', 'SELECT t1.p_browser AS c1 FROM [events] AS t1'],
  [
    'select properties[event] from events',
    'SELECT property(t1.properties, t1.event) AS c1 FROM [events] AS t1',
  ],
  [
    'select count() from events where properties.n > 5',
    'SELECT toInt64(count()) AS c1 FROM [events] AS t1 WHERE (toFloat64OrNull(property(t1.properties, {p2:String})) > {p3:Int64})',
  ],
  [
    'select count() from events where properties.flag = true',
    `SELECT toInt64(count()) AS c1 FROM [events] AS t1 WHERE (multiIf(lower(property(t1.properties, {p2:String})) IN ('true', '1'), true, lower(property(t1.properties, {p2:String})) IN ('false', '0'), false, NULL) = true)`,
  ],
  [
    `select count() from events where event = 'a'`,
    'SELECT toInt64(count()) AS c1 FROM [events] AS t1 WHERE (t1.event = {p2:String})',
  ],
  [
    `select count() from events where event != 'a'`,
    'SELECT toInt64(count()) AS c1 FROM [events] AS t1 WHERE coalesce((NOT (t1.event = {p2:String})), true)',
  ],
  [
    'select count() from events where properties.a = properties.b',
    'SELECT toInt64(count()) AS c1 FROM [events] AS t1 WHERE ifNull(property(t1.properties, {p2:String}) = property(t1.properties, {p3:String}), isNull(property(t1.properties, {p2:String})) AND isNull(property(t1.properties, {p3:String})))',
  ],
  [
    `select event = 'a', event != 'a', event is null, event = null from events`,
    'SELECT coalesce((t1.event = {p1:String}), false) AS c1, coalesce((NOT (t1.event = {p1:String})), true) AS c2, (t1.event IS NULL) AS c3, (t1.event IS NULL) AS c4 FROM [events] AS t1',
  ],
  [
    `select count() from events where event in ('a', 'b') or event not in ('c')`,
    'SELECT toInt64(count()) AS c1 FROM [events] AS t1 WHERE ((t1.event IN ({p2:String}, {p3:String})) OR coalesce((NOT (t1.event IN ({p4:String}))), true))',
  ],
  [
    `select count() from events where event like 'a%' and event not ilike 'b%'`,
    'SELECT toInt64(count()) AS c1 FROM [events] AS t1 WHERE ((t1.event LIKE {p2:String}) AND coalesce((NOT (t1.event ILIKE {p3:String})), true))',
  ],
  [
    `select count() from events where event =~ 'a' and event !~* 'b'`,
    `SELECT toInt64(count()) AS c1 FROM [events] AS t1 WHERE (match(t1.event, {p2:String}) AND coalesce((NOT match(t1.event, concat('(?i)', {p3:String}))), true))`,
  ],
  [
    'select count() from events where properties.n between 1 and 2',
    'SELECT toInt64(count()) AS c1 FROM [events] AS t1 WHERE ((toFloat64OrNull(property(t1.properties, {p2:String})) >= {p3:Int64}) AND (toFloat64OrNull(property(t1.properties, {p2:String})) <= {p4:Int64}))',
  ],
  [
    `select event is distinct from 'a', event is not distinct from distinct_id from events`,
    'SELECT (NOT ifNull(t1.event = {p1:String}, isNull(t1.event) AND isNull({p1:String}))) AS c1, ifNull(t1.event = t1.distinct_id, isNull(t1.event) AND isNull(t1.distinct_id)) AS c2 FROM [events] AS t1',
  ],
  [
    'select 1 + 2, 1 - 2, 1 * 2, 1 / 2, 1 % 2',
    'SELECT ({p1:Int64} + {p2:Int64}) AS c1, ({p1:Int64} - {p2:Int64}) AS c2, ({p1:Int64} * {p2:Int64}) AS c3, ({p1:Int64} / {p2:Int64}) AS c4, ({p1:Int64} % {p2:Int64}) AS c5',
  ],
  [
    `select timestamp > '2024-06-01' from events`,
    'SELECT coalesce((t1.timestamp > parseDateTime64BestEffortOrNull({p1:String}, 6, {p2:String})), false) AS c1 FROM [events] AS t1',
  ],
  [
    'select timestamp - interval 1 day, timestamp + 5, timestamp - created_at from events',
    `SELECT (t1.timestamp - toIntervalDay({p1:Int64})) AS c1, (t1.timestamp + toIntervalSecond({p2:Int64})) AS c2, dateDiff('second', t1.created_at, t1.timestamp) AS c3 FROM [events] AS t1`,
  ],
  [
    `select toDate(timestamp) = '2024-06-01' from events`,
    'SELECT coalesce((toDateTime64(toDate(t1.timestamp), 6, {p1:String}) = parseDateTime64BestEffortOrNull({p2:String}, 6, {p1:String})), false) AS c1 FROM [events] AS t1',
  ],
  [
    `select uuid = 'x', uuid in ('x') from events`,
    'SELECT coalesce((t1.uuid = toUUIDOrNull({p1:String})), false) AS c1, coalesce((t1.uuid IN (toUUIDOrNull({p1:String}))), false) AS c2 FROM [events] AS t1',
  ],
  [
    'select event in cohort 5, event not in cohort 5 from events',
    'SELECT false AS c1, true AS c2 FROM [events] AS t1',
  ],
  [
    'select person_id from events',
    'SELECT t1.current_person_id AS c1 FROM (SELECT e.*, coalesce(CASE WHEN e.person_mode = 0 THEN d.person_id END, personless) AS current_person_id FROM [events] AS e LEFT JOIN [person_distinct_ids] AS d ON d.distinct_id = e.distinct_id) AS t1',
  ],
  [
    'select person.id, person.properties.email, person.created_at, person.is_identified from events',
    'SELECT t1.person_key AS c1, property(t1.current_person_properties, {p1:String}) AS c2, t1.person_created_at AS c3, t1.person_is_identified AS c4 FROM (SELECT e.*, CASE WHEN e.person_mode = 0 THEN p.id END AS person_key, CASE WHEN e.person_mode = 0 THEN p.created_at END AS person_created_at, CASE WHEN e.person_mode = 0 THEN p.properties END AS current_person_properties, CASE WHEN e.person_mode = 0 THEN p.is_identified END AS person_is_identified FROM [events] AS e LEFT JOIN [person_distinct_ids] AS d ON d.distinct_id = e.distinct_id LEFT JOIN [persons] AS p ON p.id = d.person_id) AS t1',
  ],
  [
    'select person from events',
    `SELECT t1.person AS c1 FROM (SELECT e.*, CASE WHEN e.person_mode = 0 AND p.id IS NOT NULL THEN concat('{"id":"', toString(p.id), '","created_at":"', formatDateTime(p.created_at, '%Y-%m-%dT%H:%i:%S.%fZ'), '","properties":', p.properties, ',"distinct_ids":', toJSONString(i.ids), '}') END AS person FROM [events] AS e LEFT JOIN [person_distinct_ids] AS d ON d.distinct_id = e.distinct_id LEFT JOIN [persons] AS p ON p.id = d.person_id LEFT JOIN (SELECT person_id, arraySort(groupArray(distinct_id)) AS ids FROM [person_distinct_ids] GROUP BY person_id) AS i ON i.person_id = p.id) AS t1`,
  ],
  [
    'select group_0.key, group_0.properties.name, $group_1 from events',
    'SELECT t1.group_0_key AS c1, property(t1.group_0_properties, {p1:String}) AS c2, t1.p_group_1 AS c3 FROM (SELECT e.*, g0.key AS group_0_key, g0.properties AS group_0_properties FROM [events] AS e LEFT JOIN [groups] AS g0 ON g0.index = 0 AND g0.key = e.p_group_0) AS t1',
  ],
  [
    'select $session_id, $window_id from events',
    'SELECT t1.p_session_id AS c1, property(t1.properties, {p1:String}) AS c2 FROM [events] AS t1',
  ],
  [
    'select elements_chain_href, elements_chain_texts, elements_chain_ids from events',
    'SELECT extract(t1.elements_chain, {p1:String}) AS c1, arrayDistinct(extractAll(t1.elements_chain, {p2:String})) AS c2, arrayDistinct(extractAll(t1.elements_chain, {p3:String})) AS c3 FROM [events] AS t1',
  ],
  [
    'select event, count() from events group by event having count() > 1 order by count() desc',
    'SELECT t1.event AS c1, toInt64(count()) AS c2 FROM [events] AS t1 GROUP BY t1.event HAVING coalesce((toInt64(count()) > {p2:Int64}), false) ORDER BY c2 DESC NULLS LAST',
  ],
  [
    'select count(), count(event), count(distinct event), count(distinct event, distinct_id) from events',
    'SELECT toInt64(count()) AS c1, toInt64(count(t1.event)) AS c2, toInt64(count(DISTINCT t1.event)) AS c3, toInt64(count(DISTINCT tuple(t1.event, t1.distinct_id))) AS c4 FROM [events] AS t1',
  ],
  [
    `select countIf(event = 'a'), sumIf(properties.n, event = 'a'), sum(properties.n) filter (where event = 'a') from events`,
    'SELECT toInt64(count() FILTER (WHERE (t1.event = {p1:String}))) AS c1, sum(toFloat64OrNull(property(t1.properties, {p2:String}))) FILTER (WHERE (t1.event = {p1:String})) AS c2, sum(toFloat64OrNull(property(t1.properties, {p2:String}))) FILTER (WHERE (t1.event = {p1:String})) AS c3 FROM [events] AS t1',
  ],
  [
    'select uniq(person_id), max(timestamp), groupArray(event), quantile(0.9)(properties.n) from events',
    'SELECT toInt64(uniq(t1.current_person_id)) AS c1, max(t1.timestamp) AS c2, groupArray(t1.event) AS c3, quantile(0.9)(toFloat64OrNull(property(t1.properties, {p1:String}))) AS c4 FROM (SELECT e.*, coalesce(CASE WHEN e.person_mode = 0 THEN d.person_id END, personless) AS current_person_id FROM [events] AS e LEFT JOIN [person_distinct_ids] AS d ON d.distinct_id = e.distinct_id) AS t1',
  ],
  [
    'select toStartOfDay(timestamp) as day, count() from events group by day order by day',
    'SELECT toStartOfDay(t1.timestamp) AS c1, toInt64(count()) AS c2 FROM [events] AS t1 GROUP BY toStartOfDay(t1.timestamp) ORDER BY c1 ASC NULLS LAST',
  ],
  [
    'select row_number() over (partition by event order by timestamp) from events',
    'SELECT toInt64(row_number() OVER (PARTITION BY t1.event ORDER BY t1.timestamp ASC NULLS LAST)) AS c1 FROM [events] AS t1',
  ],
  [
    'select sum(properties.n) over (order by timestamp rows between 1 preceding and current row) from events',
    'SELECT sum(toFloat64OrNull(property(t1.properties, {p1:String}))) OVER (ORDER BY t1.timestamp ASC NULLS LAST ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS c1 FROM [events] AS t1',
  ],
  [
    'select arrayJoin([1, 2]) as x, x + 1',
    'SELECT arrayJoin([{p1:Int64}, {p2:Int64}]) AS c1, (arrayJoin([{p1:Int64}, {p2:Int64}]) + {p1:Int64}) AS c2',
  ],
  [
    `select item from (select ['a'] as list) array join list as item`,
    'SELECT c2 AS c3 FROM (SELECT [{p1:String}] AS c1) AS t1 ARRAY JOIN t1.c1 AS c2',
  ],
  [
    `select item from (select ['a'] as list) left array join list as item`,
    'SELECT c2 AS c3 FROM (SELECT [{p1:String}] AS c1) AS t1 LEFT ARRAY JOIN t1.c1 AS c2',
  ],
  [
    'select arrayMap(x -> x + 1, [1, 2]), arrayFilter((x, y) -> x > y, [1], [2])',
    'SELECT arrayMap((x1) -> (x1 + {p1:Int64}), [{p1:Int64}, {p2:Int64}]) AS c1, arrayFilter((x1, x2) -> coalesce((x1 > x2), false), [{p1:Int64}], [{p2:Int64}]) AS c2',
  ],
  [
    `select [1, 2][1], [1, 2][1:2], (1, 'a').2, tuple(1, 2)`,
    'SELECT arrayElement([{p1:Int64}, {p2:Int64}], {p1:Int64}) AS c1, arraySlice([{p1:Int64}, {p2:Int64}], {p1:Int64}, {p2:Int64} - {p1:Int64} + 1) AS c2, tupleElement(tuple({p1:Int64}, {p3:String}), 2) AS c3, tuple({p1:Int64}, {p2:Int64}) AS c4',
  ],
  [`select [1, 'a']`, 'SELECT [toString({p1:Int64}), {p2:String}] AS c1'],
  [
    `select '5'::int, cast('x' as float), '2024-06-01'::date, 'x'::uuid`,
    'SELECT toInt64OrNull({p1:String}) AS c1, toFloat64OrNull({p2:String}) AS c2, toDate(parseDateTime64BestEffortOrNull({p3:String}, 6, {p4:String})) AS c3, toUUIDOrNull({p2:String}) AS c4',
  ],
  [
    'select a.event, p.id from events a left join persons p on a.person_id = p.id',
    'SELECT t1.event AS c1, t2.id AS c2 FROM (SELECT e.*, coalesce(CASE WHEN e.person_mode = 0 THEN d.person_id END, personless) AS current_person_id FROM [events] AS e LEFT JOIN [person_distinct_ids] AS d ON d.distinct_id = e.distinct_id) AS t1 LEFT JOIN [persons] AS t2 ON (t1.current_person_id = t2.id)',
  ],
  [
    'select x, y from (select 1 as x) a join (select 1 as x, 2 as y) b using x',
    'SELECT t1.c1 AS c4, t2.c3 AS c5 FROM (SELECT {p1:Int64} AS c1) AS t1 INNER JOIN (SELECT {p1:Int64} AS c2, {p2:Int64} AS c3) AS t2 ON (t1.c1 = t2.c2)',
  ],
  [
    'select count() from events cross join persons',
    'SELECT toInt64(count()) AS c1 FROM [events] AS t1 CROSS JOIN [persons] AS t2',
  ],
  [
    'select max(c) from (select count() as c from events group by event)',
    'SELECT max(t1.c1) AS c2 FROM (SELECT toInt64(count()) AS c1 FROM [events] AS t2 GROUP BY t2.event) AS t1',
  ],
  [
    'with t as (select event from events) select count() from t',
    'WITH q1 AS (SELECT t1.event AS c1 FROM [events] AS t1) SELECT toInt64(count()) AS c2 FROM q1 AS t2',
  ],
  ['with 5 as n select n + 1', 'SELECT ({p1:Int64} + {p2:Int64}) AS c1'],
  [
    'select event from events where distinct_id in (select distinct_id from person_distinct_ids)',
    'SELECT t1.event AS c2 FROM [events] AS t1 WHERE (t1.distinct_id IN (SELECT q1.c1 FROM (SELECT t2.distinct_id AS c1 FROM [person_distinct_ids] AS t2) AS q1))',
  ],
  [
    `select count() from events where (event, distinct_id) in (('a', 'b'))`,
    'SELECT toInt64(count()) AS c1 FROM [events] AS t1 WHERE (tuple(t1.event, t1.distinct_id) IN (tuple({p2:String}, {p3:String})))',
  ],
  [
    'select (select count() from events) + 1',
    'SELECT ((SELECT toInt64(count()) AS c1 FROM [events] AS t1) + {p2:Int64}) AS c2',
  ],
  ['select 1 as a union all select 2', '(SELECT {p1:Int64} AS c1) UNION ALL (SELECT {p2:Int64} AS c2)'],
  [
    'select 1 as a union distinct select 2',
    '(SELECT {p1:Int64} AS c1) UNION DISTINCT (SELECT {p2:Int64} AS c2)',
  ],
  ['select 1 intersect select 2', '(SELECT {p1:Int64} AS c1) INTERSECT DISTINCT (SELECT {p2:Int64} AS c2)'],
  [
    `select event from events except select 'a'`,
    '(SELECT t1.event AS c1 FROM [events] AS t1) EXCEPT DISTINCT (SELECT {p2:String} AS c2)',
  ],
  [
    '(select 1 as a union all select 2) order by a limit 1',
    'SELECT t1.c1 AS c3 FROM ((SELECT {p1:Int64} AS c1) UNION ALL (SELECT {p2:Int64} AS c2)) AS t1 ORDER BY c3 ASC NULLS LAST LIMIT {p1:Int64}',
  ],
  [
    `select if(event = 'a', 1, 2), coalesce(properties.x, 'y'), concat(event, 'x'), toString(timestamp) from events`,
    'SELECT (case when coalesce((t1.event = {p1:String}), false) then {p2:Int64} else {p3:Int64} end) AS c1, coalesce(property(t1.properties, {p4:String}), {p5:String}) AS c2, concat(t1.event, {p4:String}) AS c3, toString(t1.timestamp) AS c4 FROM [events] AS t1',
  ],
]

const IN_BERLIN: [hogql: string, sql: string][] = [
  [
    `select toDate(timestamp), timestamp > '2024-06-01 10:00:00', toHour(timestamp) from events`,
    'SELECT toDate(toTimeZone(t1.timestamp, {p1:String})) AS c1, coalesce((t1.timestamp > parseDateTime64BestEffortOrNull({p2:String}, 6, {p1:String})), false) AS c2, toHour(toTimeZone(t1.timestamp, {p1:String})) AS c3 FROM [events] AS t1',
  ],
  [
    'select timestamp - interval 1 day from events',
    'SELECT (toTimeZone(t1.timestamp, {p1:String}) - toIntervalDay({p2:Int64})) AS c1 FROM [events] AS t1',
  ],
]

it.each(SPELLED)('%s', (hogql, sql) => {
  expect(brief(compile(hogql).sql)).toBe(sql)
})

it.each(IN_BERLIN)('in Berlin: %s', (hogql, sql) => {
  const { sql: compiled, parameters } = compile(hogql, 'Europe/Berlin')
  expect(brief(compiled)).toBe(sql)
  expect(parameters).toContain('Europe/Berlin')
})

describe('the fence', () => {
  it('is a condition on the project wherever a table is named', () => {
    const { sql, parameters } = compile('select event from events')
    expect(sql).toBe(
      `SELECT t1.event AS c1 FROM (SELECT * EXCEPT (batch) FROM events WHERE project_id = {p1:Int64}${onlyVisible('{p1:Int64}')}) AS t1`,
    )
    expect(parameters).toEqual([PROJECT])
  })

  it.each([...SPELLED, ...IN_BERLIN].map(([hogql]) => hogql))('holds: %s', (hogql) => {
    const { sql, parameters } = compile(hogql)
    const tables = [
      ...sql.matchAll(/\b(?:events|persons|person_distinct_ids|groups|closed_batches)\b(?!\.)/g),
    ]
    const fenced = [...sql.matchAll(/FROM \w+(?: FINAL)? WHERE project_id = \{p(\d+):Int64\}/g)]
    expect(fenced.length).toBe(tables.length)
    for (const [, number] of fenced) expect(parameters[Number(number) - 1]).toBe(PROJECT)
  })
})

describe('values', () => {
  it('are parameters with their types, each once', () => {
    const { sql, parameters } = compile("select 1, 1, 'a', 1.5, 12345678901234567890, 1e30, true, null")
    expect(sql).toBe(
      'SELECT {p1:Int64} AS c1, {p1:Int64} AS c2, {p2:String} AS c3, {p3:Float64} AS c4, {p4:Int128} AS c5, ' +
        'CAST({p5:String} AS DOUBLE) AS c6, true AS c7, NULL AS c8',
    )
    expect(parameters).toEqual([1, 'a', 1.5, 12345678901234567890n, '1e+30'])
  })

  it('never become SQL', () => {
    const text = "'; select 1 from events where project_id = 2; --"
    const { sql, parameters } = compile(`select properties['${text.replaceAll("'", "\\'")}'] from events`)
    expect(sql).not.toContain('--')
    expect(parameters).toEqual([text, PROJECT])
  })

  it('of properties: strings as they are, other JSON as its text, NULL for null and for what is missing', () => {
    expect(compile('select properties.x from events').sql).toBe(
      "SELECT if(JSONType(t1.properties, {p1:String}) = 'String', JSONExtractString(t1.properties, {p1:String}), " +
        "nullIf(nullIf(JSONExtractRaw(t1.properties, {p1:String}), ''), 'null')) AS c1 " +
        `FROM (SELECT * EXCEPT (batch) FROM events WHERE project_id = {p2:Int64}${onlyVisible('{p2:Int64}')}) AS t1`,
    )
  })
})

it('gives whoever has no person the UUIDv5 of project and distinct id', () => {
  const { sql, parameters } = compile('select person_id from events')
  const hash =
    "lower(hex(SHA1(concat(unhex('932979b465c3442484670b66ec27bc22'), {p1:String}, e.distinct_id))))"
  expect(sql).toContain(
    `toUUID(substring(${hash}, 1, 8) || '-' || substring(${hash}, 9, 4) || '-' || '5' || `,
  )
  expect(sql).toContain(
    `substring('89ab89ab89ab89ab', position('0123456789abcdef', substring(${hash}, 17, 1)), 1)`,
  )
  expect(parameters).toEqual([`${PROJECT}:`, PROJECT])
})
