// Every function by what it gives on a real DuckDB, by what it refuses, and by how ClickHouse is told.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IS_LONG } from '../../../test/harness/long.ts'
import { QueryFault } from '../../platform/event-store/event-store.ts'
import { AREAS, casesOf } from '../differential/cases.ts'
import { HogqlError } from '../errors.ts'
import { aggregates, scalarFunctions, windowFunctions } from './catalogue.ts'
import { aggregateRows, windowRows } from './fixture/aggregate-rows.ts'
import { dateArithmeticRows, dateRows } from './fixture/date-rows.ts'
import { compileWith, openEvaluation, type Row } from './fixture/evaluate.ts'
import { funnelRows } from './fixture/funnel-rows.ts'
import { arrayRows, jsonRows } from './fixture/json-rows.ts'
import { conversionRows, logicRows } from './fixture/logic-rows.ts'
import { numberRows } from './fixture/number-rows.ts'
import { textRows, urlRows } from './fixture/text-rows.ts'

const GROUPS: Readonly<Record<string, readonly Row[]>> = {
  logic: logicRows,
  conversions: conversionRows,
  numbers: numberRows,
  text: textRows,
  urls: urlRows,
  json: jsonRows,
  arrays: arrayRows,
  dates: dateRows,
  'date arithmetic': dateArithmeticRows,
  aggregates: aggregateRows,
  windows: windowRows,
  funnels: funnelRows,
}

let evaluation: Awaited<ReturnType<typeof openEvaluation>>
beforeAll(async () => {
  evaluation = await openEvaluation()
})
afterAll(() => evaluation.close())

describe.each(Object.entries(GROUPS))('%s', (_, rows) => {
  const cases = rows.map(([text, expected, timezone = 'UTC']) => ({ text, expected, timezone }))
  it.each(cases)('$text in $timezone', async ({ text, expected, timezone }) => {
    expect(await evaluation.evaluate(text, timezone)).toEqual(expected)
  })
})

describe('what is refused before it runs', () => {
  it.each([
    [`multiIf(true, 1)`, /3/],
    [`multiIf(true, 1, false, 2)`, /pairs of condition and value/],
    [`tupleElement(tuple(1, 2), 0)`, /whole number from 1/],
    [`tupleElement(tuple(1, 2), event)`, /whole number from 1/],
    [`multiply(timestamp, 2)`, /takes numbers/],
    [`lower(x -> x)`, /./],
    [`has(5, 1)`, /array is expected/],
    [`arrayMap(1, [1])`, /must be a lambda/],
    [`arrayMap((x, y) -> x, [1])`, /as many names/],
    [`arrayFilter((x, y) -> x, [1], [2])`, /one array/i],
    [`arraySort((x, y) -> x, [1], [2])`, /one array/i],
    [`arrayStringConcat([1], event)`, /text constant/],
    [`arrayFlatten([1])`, /array of arrays/],
    [`JSONExtract('{}', 'a', 'Map(String, String)')`, /JSONExtract reads/],
    [`JSONExtract('{}', 'a', '${'Array('.repeat(9)}String${')'.repeat(9)}')`, /JSONExtract reads/],
    [`JSONExtract('{}', event)`, /text constant/],
    [`dateDiff('fortnight', timestamp, timestamp)`, /one of microsecond/],
    [`dateDiff('day'' or 1', timestamp, timestamp)`, /one of microsecond/],
    [`dateDiff(event, timestamp, timestamp)`, /text constant/],
    [`dateTrunc('constructor', timestamp)`, /one of microsecond/],
    [`dateAdd(timestamp, 5)`, /interval/],
    [`toStartOfInterval(timestamp, 5)`, /interval/],
    [`toStartOfWeek(timestamp, 77)`, /0 to 9/],
    [`toWeek(timestamp, 1)`, /0 .* or 3/],
    [`toTimeZone(timestamp, 'Nowhere/Land')`, /time zone/],
    [`toTimeZone(timestamp, '+02:00')`, /time zone/],
    [`toTimeZone(timestamp, event)`, /text constant/],
    [`formatDateTime(timestamp, '%z')`, /no %z/],
    [`formatDateTime(timestamp, '%')`, /no %/],
    [`formatDateTime(timestamp, '')`, /empty/],
    [`formatDateTime(timestamp, event)`, /text constant/],
    [`select quantile(1.5)(timestamp) from events`, /from 0 to 1/],
    [`select quantile(event)(timestamp) from events`, /from 0 to 1/],
    [`select topK(0)(event) from events`, /1 to 1000/],
    [`select topK(1e9)(event) from events`, /1 to 1000/],
    [`select windowFunnel(event)(timestamp, true) from events`, /seconds/],
    [`select windowFunnel(-1)(timestamp, true) from events`, /seconds/],
    [`select windowFunnel(1, 'strict')(timestamp, true) from events`, /modes/],
    [`select windowFunnel(1, 'strict_once', 'strict_order')(timestamp, true) from events`, /other modes/],
    [`select windowFunnel(1)(timestamp) from events`, /at least|2 to/],
    [`select funnelPath(1, 'sideways', 1)(timestamp, true) from events`, /one of ordered/],
    [`select funnelPath(1, 'ordered', 21)(timestamp, true) from events`, /1 to 20/],
    [`select funnelPath(1, 'ordered', 3)(timestamp, true) from events`, /3 steps/],
    [`select funnelPath(1, 'unordered', 2)(timestamp, true, true, true) from events`, /any order/],
    [`select toStartOfInterval(timestamp, interval 0 minute) from events`, /above 0/],
  ])('%s', (text, message) => {
    expect(() => compileWith(text, 'duckdb')).toThrow(HogqlError)
    expect(() => compileWith(text, 'duckdb')).toThrow(message)
  })
})

describe('what is refused while it runs, before it takes the memory', () => {
  it.each([
    [`range(1000000000)`, /at most|up to/],
    [`range(length(event) * 1000000000)`, /up to/],
    [`range(-1000000000, 1000000000)`, /at most/],
    [`range(0, -1000000000, -1)`, /at most/],
    [`repeat('x', 1000000000)`, /at most/],
    [`repeat(repeat('x', 9000), 9000)`, /at most/],
    [`leftPad('x', 1000000000)`, /up to/],
    [`rightPad('x', length(event) * 1000000000)`, /up to/],
  ])('%s', async (text, message) => {
    await expect(evaluation.evaluate(text)).rejects.toThrow(message)
    await expect(evaluation.evaluate(text)).rejects.toThrow(QueryFault)
  })

  it.each([
    `match(event, '(')`,
    `extract(event, '[')`,
    `toStartOfInterval(timestamp, toIntervalMinute(length(event) - length(event)))`,
  ])('%s is a fault of the query', async (text) => {
    await expect(evaluation.evaluate(text)).rejects.toThrow(QueryFault)
  })
})

describe('odd arguments', () => {
  const ODD = (
    `NULL | '' | 'x' | '-1' | 0 | -1 | 1.5 | 1e300 | 999999999999 | true | toFloat('nan') | [] | ['a', 'b'] | [1, NULL]` +
    ` | tuple(1, 2) | interval 1 day | x -> x | nullIf('a', 'a') | event | timestamp | today() | uuid | properties` +
    ' | properties.missing | properties.tags | 7'
  ).split(' | ')

  /** With each number of arguments once, or twice. */
  const ROUNDS = IS_LONG ? 6 : 3

  it('give a value, a refusal or a fault of the query, never anything else', { tags: 'slow' }, async () => {
    const outcomes = { value: 0, refused: 0, fault: 0 }
    const surprises: string[] = []
    let turn = 0
    for (const [name, { args }] of Object.entries(scalarFunctions))
      for (let round = 0; round < ROUNDS; round++) {
        const count = Math.min(args[0] + (round % 3), args[1])
        // A step that shares no divisor with the length, so that all arguments come to all functions in the end.
        const list = Array.from({ length: count }, () => ODD[(turn += 7) % ODD.length])
        const text = `${name}(${list.join(', ')})`
        try {
          await evaluation.evaluate(text, round % 2 === 0 ? 'UTC' : 'Asia/Kolkata')
          outcomes.value++
        } catch (error) {
          if (error instanceof HogqlError) outcomes.refused++
          else if (error instanceof QueryFault) outcomes.fault++
          else surprises.push(`${text}: ${String(error)}`)
        }
      }
    expect(surprises).toEqual([])
    expect(outcomes.value).toBeGreaterThan(ROUNDS * 170)
  })
})

/** The functions of the mapping table in the specification; arrayJoin and …If belong to the compiler. */
const SPECIFIED = `toString toFloat toInt toUUID toDate toDateTime parseDateTimeBestEffort now today yesterday
  toIntervalSecond toIntervalMinute toIntervalHour toIntervalDay toIntervalWeek toIntervalMonth toIntervalQuarter
  toIntervalYear addDays subtractMonths dateAdd toStartOfSecond toStartOfMinute toStartOfHour toStartOfDay toStartOfMonth
  toStartOfQuarter toStartOfYear toStartOfFiveMinutes toStartOfTenMinutes toStartOfFifteenMinutes toStartOfInterval
  toStartOfWeek toMonday dateTrunc dateDiff age toYear toQuarter toMonth toDayOfMonth toHour toMinute toSecond toDayOfWeek
  toUnixTimestamp toUnixTimestamp64Milli fromUnixTimestamp toYYYYMM toYYYYMMDD formatDateTime toTimeZone count uniq
  uniqExact argMax argMin any anyLast groupArray groupUniqArray quantile quantiles median topK stddevPop stddevSamp varPop
  varSamp covarPop covarSamp corr min max sum avg arrayMap arrayFilter arrayExists arrayAll arrayCount has hasAny hasAll
  indexOf length empty notEmpty arraySum arrayMin arrayMax arrayAvg arraySort arrayReverse arrayDistinct arrayConcat
  arrayFlatten arrayZip range arraySlice arrayStringConcat splitByChar splitByString splitByRegexp match extract extractAll
  replaceAll replaceOne replaceRegexpAll replaceRegexpOne concat lower upper trim substring position startsWith endsWith
  leftPad like ilike notLike JSONExtractString JSONExtractRaw JSONExtractInt JSONExtractFloat JSONExtractBool
  JSONExtractArrayRaw JSONExtractKeys JSONHas JSONLength JSONType isValidJSON if multiIf ifNull coalesce nullIf isNull
  transform least greatest round floor ceil abs sqrt pow log exp intDiv modulo domain path queryString extractURLParameter
  protocol cutQueryString encodeURLComponent decodeURLComponent base64Encode MD5 tuple generateUUIDv4 row_number rank
  dense_rank first_value last_value lag lead lagInFrame leadInFrame`.split(/\s+/)

const CATALOGUES = { ...scalarFunctions, ...aggregates, ...windowFunctions }

describe('the catalogues', () => {
  it('hold every function of the specification', () => {
    expect(SPECIFIED.filter((name) => !Object.hasOwn(CATALOGUES, name.toLowerCase()))).toEqual([])
  })

  it('hold nothing that has no true form on DuckDB, nor names every object has', () => {
    const absent = `sumMap sequenceMatch groupBitmap simpleLinearRegression cityHash64 sipHash64
      constructor toString__ __proto__ hasOwnProperty read_csv getenv`.split(/\s+/)
    for (const catalogue of [scalarFunctions, aggregates, windowFunctions])
      expect(absent.filter((name) => name.toLowerCase() in catalogue)).toEqual([])
  })

  it('have no name twice', () => {
    const names = [scalarFunctions, aggregates, windowFunctions].flatMap(Object.keys)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  it('have a checked result for every name', () => {
    const rows = Object.values(GROUPS).flatMap((group) => group.map(([text]) => text))
    const texts = [...rows, ...AREAS.flatMap(casesOf).map(({ hogql }) => hogql)].map((text) =>
      text.toLowerCase(),
    )
    const called = new Set(texts.flatMap((text) => [...text.matchAll(/(\w+)\s*\(/g)].map(([, name]) => name)))
    expect(Object.keys(CATALOGUES).filter((name) => !called.has(name))).toEqual([])
  })

  it('print each argument once, so that nesting does not multiply the SQL', () => {
    const lengthOf = (name: string, args: number, depth: number) => {
      let text = 'properties.count'
      for (let level = 0; level < depth; level++)
        text = `${name}(${[text, ...Array(args - 1).fill('1')].join(', ')})`
      return compileWith(text, 'duckdb', 'Europe/Berlin').sql.length
    }
    const lengths = Object.entries(scalarFunctions).flatMap(([name, { args }]) => {
      try {
        const count = Math.max(args[0], 1)
        return [{ name, short: lengthOf(name, count, 8), long: lengthOf(name, count, 16) }]
      } catch (error) {
        if (!(error instanceof HogqlError)) throw error
        return /too large/.test(error.message) ? [{ name, short: 0, long: Infinity }] : []
      }
    })
    expect(lengths.length).toBeGreaterThan(150)
    expect(lengths.filter(({ short, long }) => long > short * 2.2)).toEqual([])
  })
})
