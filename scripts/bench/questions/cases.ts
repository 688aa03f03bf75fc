// The questions that people ask most, in HogQL and as somebody who knows the tables writes them by hand.
import { tablesOf } from '../../../src/platform/event-store/layout.ts'

export const PROJECT = 1
const { events, distinct_ids, persons } = tablesOf(PROJECT)
const WITH_PERSON = `${events} AS e JOIN ${distinct_ids} AS d ON d.distinct_id = e.distinct_id`
const json = (property: string) => `json_extract_string(properties, '$."${property}"')`
const DAY = `date_trunc('day', timestamp)`
const WEEK = `date_trunc('week', timestamp)`

export type Question = { name: string; hogql: string; sql: string }

export const QUESTIONS: readonly Question[] = [
  {
    name: 'count by event and day',
    hogql: `select event, toStartOfDay(timestamp) as day, count() from events group by event, day order by day, event`,
    sql: `SELECT event, ${DAY} AS day, count(*) FROM ${events} GROUP BY ALL ORDER BY day, event`,
  },
  {
    name: 'unique persons by day',
    hogql: 'select toStartOfDay(timestamp) as day, uniq(person_id) from events group by day order by day',
    sql: `SELECT ${DAY} AS day, count(DISTINCT d.person_id) FROM ${WITH_PERSON} GROUP BY day ORDER BY day`,
  },
  {
    name: 'top values, hot',
    hogql:
      'select properties.$pathname as value, count() from events group by value order by count() desc, value limit 10',
    sql: `SELECT p_pathname, count(*) FROM ${events} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`,
  },
  {
    name: 'top values, cold',
    hogql:
      'select properties.$screen_width as value, count() from events group by value order by count() desc, value limit 10',
    sql: `SELECT ${json('$screen_width')}, count(*) FROM ${events} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`,
  },
  {
    name: 'revenue by day',
    hogql: `select toStartOfDay(timestamp) as day, sum(toFloat(properties.revenue)) from events where event = 'order completed' group by day order by day`,
    sql: `SELECT ${DAY} AS day, sum(CAST(${json('revenue')} AS DOUBLE)) FROM ${events} WHERE event = 'order completed' GROUP BY day ORDER BY day`,
  },
  {
    name: 'three properties',
    hogql:
      'select uniq(properties.$screen_width), uniq(properties.$browser_version), uniq(properties.$timezone) from events',
    sql: `SELECT count(DISTINCT v[1]), count(DISTINCT v[2]), count(DISTINCT v[3]) FROM (SELECT json_extract_string(properties, ['$."$screen_width"', '$."$browser_version"', '$."$timezone"']) AS v FROM ${events})`,
  },
  {
    name: 'funnel of three steps within a day',
    hogql: `select level, count() from (
      select person_id, windowFunnel(86400)(timestamp, event = '$pageview', event = 'product added to cart', event = 'order completed') as level
      from events group by person_id) where level > 0 group by level order by level`,
    sql: `WITH own AS (SELECT d.person_id, event, timestamp AS t FROM ${WITH_PERSON}
        WHERE event IN ('$pageview', 'product added to cart', 'order completed')),
      first AS (SELECT *, max(t) FILTER (event = '$pageview') OVER (PARTITION BY person_id ORDER BY t) AS one FROM own),
      second AS (SELECT *, max(one) FILTER (event = 'product added to cart' AND t - one <= INTERVAL 1 DAY)
        OVER (PARTITION BY person_id ORDER BY t) AS two FROM first),
      levels AS (SELECT person_id, max(CASE WHEN event = 'order completed' AND t - two <= INTERVAL 1 DAY THEN 3
        WHEN two IS NOT NULL THEN 2 WHEN one IS NOT NULL THEN 1 ELSE 0 END) AS level FROM second GROUP BY person_id)
      SELECT level, count(*) FROM levels WHERE level > 0 GROUP BY level ORDER BY level`,
  },
  {
    name: 'retention by week',
    hogql: `with seen as (select distinct person_id, toStartOfWeek(timestamp, 1) as week from events where event = '$pageview'),
        firsts as (select person_id, min(week) as first from seen group by person_id)
      select firsts.first as first, seen.week as week, count() from seen join firsts on seen.person_id = firsts.person_id
      group by first, week order by first, week`,
    sql: `WITH seen AS MATERIALIZED (SELECT DISTINCT d.person_id, ${WEEK} AS week FROM ${WITH_PERSON} WHERE event = '$pageview'),
        firsts AS (SELECT person_id, min(week) AS first FROM seen GROUP BY person_id)
      SELECT first, week, count(*) FROM seen JOIN firsts USING (person_id) GROUP BY ALL ORDER BY first, week`,
  },
  {
    name: 'paths within sessions',
    hogql: `select path, next, count() as times from (
        select properties.$pathname as path,
          lead(properties.$pathname) over (partition by properties.$session_id order by timestamp) as next
        from events where event = '$pageview')
      where next is not null group by path, next order by times desc, path, next limit 20`,
    sql: `SELECT path, next, count(*) FROM (SELECT p_pathname AS path,
        lead(p_pathname) OVER (PARTITION BY p_session_id ORDER BY timestamp) AS next FROM ${events} WHERE event = '$pageview')
      WHERE next IS NOT NULL GROUP BY ALL ORDER BY 3 DESC, 1, 2 LIMIT 20`,
  },
  {
    name: 'by a property of persons',
    hogql: 'select person.properties.plan as plan, count() from events group by plan order by plan',
    sql: `SELECT p.plan, count(*) FROM ${WITH_PERSON} JOIN (SELECT id, json_extract_string(properties, '$.plan') AS plan FROM ${persons}) AS p
      ON p.id = d.person_id GROUP BY 1 ORDER BY 1`,
  },
  {
    name: 'newest 100',
    hogql: 'select event, distinct_id, properties from events order by timestamp desc, uuid limit 100',
    sql: `SELECT event, distinct_id, properties FROM ${events} ORDER BY timestamp DESC, uuid LIMIT 100`,
  },
  {
    name: 'conversion',
    hogql: `select uniqIf(person_id, event = 'order completed') / uniqIf(person_id, event = 'product viewed') from events`,
    sql: `SELECT count(DISTINCT d.person_id) FILTER (event = 'order completed') / count(DISTINCT d.person_id) FILTER (event = 'product viewed') FROM ${WITH_PERSON}`,
  },
  {
    name: 'active users by week',
    hogql: `select toStartOfWeek(timestamp, 1) as week, uniq(person_id) from events where event = '$pageview' group by week order by week`,
    sql: `SELECT ${WEEK} AS week, count(DISTINCT d.person_id) FROM ${WITH_PERSON} WHERE event = '$pageview' GROUP BY week ORDER BY week`,
  },
  {
    name: 'quantiles',
    hogql: `select quantile(0.5)(toFloat(properties.price)), quantile(0.95)(toFloat(properties.price)) from events where event = 'product viewed'`,
    sql: `SELECT quantile_cont(price, 0.5), quantile_cont(price, 0.95) FROM (SELECT CAST(${json('price')} AS DOUBLE) AS price FROM ${events} WHERE event = 'product viewed')`,
  },
  {
    name: 'a rare value',
    hogql: `select count() from events where properties.coupon = 'SPRING10'`,
    sql: `SELECT count(*) FROM ${events} WHERE ${json('coupon')} = 'SPRING10'`,
  },
]
