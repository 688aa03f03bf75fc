// How functions are spelled for ClickHouse. What it answers to them is in ../differential.
import { describe, expect, it } from 'vitest'
import { compileWith } from './fixture/evaluate.ts'

const CLOCK = `toTimeZone(t1.timestamp, "Europe/Berlin")`
const NOW = `fromUnixTimestamp64Milli(toInt64(1710081327500), 'UTC')`

/** The first column, with parameters by their values and the reading of the property `price` cut short. */
const spelled = (text: string) => {
  const { sql, parameters } = compileWith(text, 'clickhouse', 'Europe/Berlin')
  const price = spelledProperty()
  return /^SELECT (.*) AS c1 FROM/s.exec(shown(sql, parameters))?.[1]?.replaceAll(price, 'PRICE')
}
const shown = (sql: string, parameters: readonly unknown[]) =>
  sql.replaceAll(/\{p(\d+):\w+\}/g, (_, number: string) => JSON.stringify(parameters[Number(number) - 1]))
const spelledProperty = () => {
  const { sql, parameters } = compileWith('properties.price', 'clickhouse')
  return /^SELECT (.*) AS c1 FROM/s.exec(shown(sql, parameters))?.[1] ?? ''
}

describe('for ClickHouse', () => {
  it.each([
    [
      `if(properties.price > 1, 1, 'x')`,
      `(case when coalesce((toFloat64OrNull(PRICE) > 1), false) then toString(1) else "x" end)`,
    ],
    [`case event when 'x' then 1 else 2 end`, `(case t1.event when "x" then 1 else 2 end)`],
    [`ifNull(properties.price, 0)`, `ifNull(toFloat64OrNull(PRICE), 0)`],
    [`coalesce(event, 'x')`, `coalesce(t1.event, "x")`],
    [`equals(event, 'x')`, `ifNull(equals(t1.event, "x"), false)`],
    [`notEquals(event, 'x')`, `ifNull(notEquals(t1.event, "x"), true)`],
    [`equals(event, NULL)`, `isNull(t1.event)`],
    [`less(properties.price, 5)`, `ifNull(less(toFloat64OrNull(PRICE), 5), false)`],
    [`least(1, 2.5)`, `least(toFloat64(1), 2.5)`],
    [`and(1, true)`, `and((1 <> 0), true)`],
    [`tupleElement(tuple(1, 'a'), 2)`, `tupleElement(tuple(1, "a"), 2)`],
    [`transform(event, ['a'], ['b'], 'c')`, `transform(t1.event, ["a"], ["b"], "c")`],
    [`generateUUIDv4()`, `generateUUIDv4()`],
    [`toInt(event)`, `toInt64OrNull(t1.event)`],
    [`toInt(1.5)`, `accurateCastOrNull(trunc(1.5), 'Int64')`],
    [`toFloat(properties.price)`, `toFloat64OrNull(PRICE)`],
    [`toInt64OrZero(event)`, `ifNull(toInt64OrNull(t1.event), 0)`],
    [`toInt32OrDefault(event, 7)`, `coalesce(toInt32OrNull(t1.event), accurateCastOrNull(7, 'Int32'), 0)`],
    [`toString(timestamp)`, `toString(${CLOCK})`],
    [`toUUID(event)`, `toUUIDOrNull(t1.event)`],
    [`plus(properties.price, 1)`, `(toFloat64OrNull(PRICE) + 1)`],
    [`intDiv(properties.price, 2)`, `intDiv(accurateCastOrNull(trunc(toFloat64OrNull(PRICE)), 'Int64'), 2)`],
    [`round(properties.price, 1)`, `round(toFloat64OrNull(PRICE), 1)`],
    [`ln(properties.price)`, `log(toFloat64OrNull(PRICE))`],
    [`power(2, 3)`, `pow(2, 3)`],
    [`lower(event)`, `lowerUTF8(t1.event)`],
    [`trim(event)`, `trimBoth(t1.event)`],
    [`substr(event, 1, 2)`, `substringUTF8(t1.event, 1, 2)`],
    [`position(event, 'a')`, `toInt64(positionUTF8(t1.event, "a"))`],
    [`left(event, 2)`, `leftUTF8(t1.event, 2)`],
    [`leftPad(event, 9, 'x')`, `leftPadUTF8(t1.event, 9, "x")`],
    [`reverse(event)`, `reverseUTF8(t1.event)`],
    [`reverse([1])`, `reverse([1])`],
    [`concat(event, 1)`, `concat(t1.event, toString(1))`],
    [`length(event)`, `toInt64(length(t1.event))`],
    [`replace(event, 'a', 'b')`, `replaceAll(t1.event, "a", "b")`],
    [`splitByChar(',', event)`, `splitByChar(",", t1.event)`],
    [`base64Decode(event)`, `nullIf(tryBase64Decode(t1.event), '')`],
    [`MD5(event)`, `lower(hex(MD5(t1.event)))`],
    [`match(event, 'b')`, `match(t1.event, "b")`],
    [`extract(event, '(b)')`, `extract(t1.event, "(b)")`],
    [`regexp_replace(event, 'b', 'c')`, `replaceRegexpAll(t1.event, "b", "c")`],
    [`domain(event)`, `domain(t1.event)`],
    [`extractURLParameter(event, 'a')`, `extractURLParameter(t1.event, "a")`],
    [`JSONExtractString(properties, 'a', 1)`, `JSONExtractString(t1.properties, "a", 1)`],
    [
      `JSONExtract(properties, 'a', 'Array(LowCardinality(String))')`,
      `JSONExtract(t1.properties, "a", 'Array(String)')`,
    ],
    [`array(1, 2.5)`, `array(toFloat64(1), 2.5)`],
    [`has([1], '1')`, `has([1], toFloat64OrNull("1"))`],
    [`has(properties.price, 'red')`, `has(JSONExtract(ifNull(PRICE, ''), 'Array(Nullable(String))'), "red")`],
    [`hasAny([1], ['1'])`, `hasAny(arrayMap(item -> toString(item), [1]), ["1"])`],
    [`arrayMap(x -> x * 2, [1])`, `arrayMap((x1) -> (x1 * 2), [1])`],
    [`arrayZip([1], [2])`, `arrayZip([1], [2])`],
    [`range(3)`, `range(3)`],
    [`now()`, NOW],
    [`today()`, `toDate(toTimeZone(${NOW}, "Europe/Berlin"))`],
    [`toDateTime(event)`, `parseDateTime64BestEffortOrNull(t1.event, 6, "Europe/Berlin")`],
    [`toDateTime(event, 'Asia/Tokyo')`, `parseDateTime64BestEffortOrNull(t1.event, 6, "Asia/Tokyo")`],
    [`fromUnixTimestamp(5)`, `fromUnixTimestamp64Micro(toInt64(5 * 1000000), 'UTC')`],
    [`toTimeZone(timestamp, 'Asia/Tokyo')`, `toTimeZone(t1.timestamp, "Asia/Tokyo")`],
    [`hour(timestamp)`, `toHour(${CLOCK})`],
    [`toStartOfDay(timestamp)`, `toStartOfDay(${CLOCK})`],
    [`toStartOfWeek(timestamp)`, `toStartOfWeek(${CLOCK}, 0)`],
    [`toStartOfFiveMinute(timestamp)`, `toStartOfFiveMinutes(${CLOCK})`],
    [`toStartOfInterval(timestamp, interval 5 minute)`, `toStartOfInterval(${CLOCK}, toIntervalMinute(5))`],
    [`dateTrunc('mm', timestamp)`, `dateTrunc('month', ${CLOCK})`],
    [`dateDiff('days', timestamp, now())`, `dateDiff('day', ${CLOCK}, toTimeZone(${NOW}, "Europe/Berlin"))`],
    [`addDays(timestamp, 1)`, `addDays(${CLOCK}, 1)`],
    [`dateSub('week', 1, toDate(timestamp))`, `subtractWeeks(toDate(${CLOCK}), 1)`],
    [`dateAdd(timestamp, interval 2 hour)`, `(t1.timestamp + toIntervalHour(2))`],
    [`formatDateTime(timestamp, '%i')`, `formatDateTime(${CLOCK}, "%i")`],
    [`toYYYYMM(timestamp)`, `toYYYYMM(${CLOCK})`],
    [`select count() from events`, `toInt64(count())`],
    [`select uniq(event, distinct_id) from events`, `toInt64(uniq(t1.event, t1.distinct_id))`],
    [`select sum(properties.price) from events`, `sum(toFloat64OrNull(PRICE))`],
    [`select max(properties.price) from events`, `max(toFloat64OrNull(PRICE))`],
    [`select max(timestamp) from events`, `max(t1.timestamp)`],
    [`select argMax(event, timestamp) from events`, `argMax(t1.event, t1.timestamp)`],
    [`select quantile(0.9)(properties.price) from events`, `quantile(0.9)(toFloat64OrNull(PRICE))`],
    [
      `select quantiles(0.1, 0.9)(properties.price) from events`,
      `quantiles(0.1, 0.9)(toFloat64OrNull(PRICE))`,
    ],
    [`select stddev_pop(properties.price) from events`, `stddevPop(toFloat64OrNull(PRICE))`],
    [
      `select lag(event, 1) over (order by event) from events`,
      `lagInFrame(toNullable(t1.event), 1) OVER (ORDER BY t1.event ASC NULLS LAST)`,
    ],
  ])('%s', (text, expected) => {
    expect(spelled(text)).toBe(expected)
  })
})
