// How much a query may make out of each row, and what else engines must never be asked for.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Expr } from './ast.ts'
import { compileQuery } from './compile.ts'
import { HogqlError } from './errors.ts'
import { PROJECT } from './fixture/rows.ts'
import { NOW, openFixture } from './fixture/store.ts'
import { parseSelect } from './parser.ts'

const compile = (
  hogql: string,
  engine: 'duckdb' | 'clickhouse' = 'duckdb',
  placeholders: ReadonlyMap<string, Expr> = new Map(),
) =>
  compileQuery(parseSelect(hogql), { project_id: PROJECT, timezone: 'UTC', now: NOW, placeholders }, engine)

function faultOf(action: () => unknown): HogqlError {
  try {
    action()
  } catch (error) {
    if (error instanceof HogqlError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

const times = (count: number, text: string, between = ', ') => Array(count).fill(text).join(between)

/** Each named query puts the one before together with itself, eight times. */
const ctes = (count: number) => {
  const steps = Array.from(
    { length: count },
    (_, index) => `q${index + 1} as (select concat(${times(8, 's')}) as s from q${index})`,
  )
  return `with q0 as (select event as s from events), ${steps.join(', ')}`
}

const TOO_MUCH = 'The query would make too much out of each row: more than 30000 items or characters'

describe('too much', () => {
  /** What brings the query above the limit is what stands between the arrows. */
  it.each([
    `select length(replaceAll(→replaceAll(repeat('a',10000),'a',repeat('b',10000))←,'b',repeat('c',100)))`,
    `select length(arrayFlatten(→arrayMap(x -> range(10000), range(10000))←))`,
    `select length(→arrayMap(x -> concat(event, repeat('a', 9000)), range(1000))←) from events`,
    `select range(10000), range(10000), range(10000), →range(10000)←, ${times(496, 'range(10000)')}`,
    // Lambdas within each other.
    `select →arrayMap(x -> arrayMap(y -> arrayMap(z -> 1, range(100)), range(100)), range(100))←`,
    `select arrayMap(x -> →arrayMap(y -> x, x)←, [range(10000)])`,
    `select arrayMap(x -> →arrayMap(y -> x, x)←, [splitByChar(',', repeat('a,', 1000))])`,
    `select →arrayMap(x -> range(x), range(1000))←`,
    `select →arrayMap(x -> properties, range(1000))← from events`,
    `select →arrayMap(x -> event, range(5000))← from events`,
    `select →arrayMap(x -> JSONExtractString(properties, 'a'), range(5000))← from events`,
    `select →arrayMap(x -> properties.a.b, range(5000))← from events`,
    `select →arrayMap(x -> properties[event], range(5000))← from events`,
    `select →arrayMap(x -> person.properties, range(1000))← from events`,
    `select →arrayMap(x -> range(1000), [${times(100, `'a'`)}])←`,
    `select →arrayMap(x -> [x, 1, 2, 3], range(8000))←`,
    `select event as e, →arrayMap(x -> e, range(5000))← from events`,
    `with event as e select →arrayMap(x -> e, range(5000))← from events`,
    `select →arrayMap((x, y) -> repeat('a', 100), range(10), range(400))←`,
    `select →arrayMax(x -> repeat('a', 100), range(400))←`,
    `select →arrayMap(x -> repeat('a', 100), arrayFilter(y -> y > 1, range(400)))←`,
    `select →arrayMap(x -> repeat('a', 100), coalesce(range(400), [1]))←`,
    `select →arrayMap(x -> range(1000), groupArray(event))← from events`,
    `select →groupArray(range(1000))← from events`,
    // Texts.
    `select →replaceRegexpAll(repeat('a', 1000), '.', 'ten letters, and more of them, and more')←`,
    `select →replaceRegexpOne(replaceRegexpOne(event, '.*', '${times(200, '\\\\0', '')}'), '.*', '${times(200, '\\\\0', '')}')← from events`,
    `select →replaceAll(repeat('a', 5000), 'a', event)← from events`,
    `select length(→concat(${times(100, 'properties')})←) from events`,
    `select →replaceAll(properties, 'a', '${'b'.repeat(301)}')← from events`,
    `select →replaceAll(replaceAll(event, 'a', '${'b'.repeat(60)}'), 'b', '${'c'.repeat(60)}')← from events`,
    `select →replace(rightPad('a', 5000, 'a'), 'a', leftPad('b', 10))←`,
    `select →arrayStringConcat(range(1000), '${'-'.repeat(50)}')←`,
    `select repeat(event, 10000), repeat(distinct_id, length(event)), repeat('b', 9000), →leftPad('a', 9000)← from events`,
    `select toJSONString(→${times(14, 'toJSONString(', '')}event${')'.repeat(14)}←) from events`,
    `select toString(→[${times(13, 'toString([', '')}event${'])'.repeat(13)}]←) from events`,
    // Where it does not show in the result.
    `select 1 from events where length(→arrayMap(x -> range(1000), range(1000))←) > 1`,
    `select count() from events group by →arrayMap(x -> range(1000), range(1000))←`,
    `select count() from events having length(→arrayMap(x -> range(1000), range(1000))←) > 1`,
    `select event from events order by →arrayMap(x -> range(1000), range(1000))←`,
    `select arrayJoin(→arrayMap(x -> range(1000), range(1000))←) from events`,
    `select 1 from events array join →arrayMap(x -> range(1000), range(1000))← as a`,
    `select max(length(→arrayMap(x -> range(1000), range(1000))←)) over () from events`,
    // Through columns of other queries and through names.
    `select →arrayMap(x -> a, range(20))← from (select repeat('a', 900) as a)`,
    `select →arrayMap(x -> a, range(20))← from (select 'a' as a union all select repeat('a', 900))`,
    `select arrayMap(x -> (select →arrayMap(y -> range(1000), range(1000))←), [1])`,
    `with q as (select range(9000) as r) select →arrayConcat(r, r, r, r)← from q`,
    `select r, r, r, →r←, r from (select range(9000) as r)`,
    `select range(9000) as r, r, r, →r←`,
    `select range(9000) as r, →arrayConcat(r, r, r)←`,
    `select 1 from (select range(9000) as a) join (select range(9000) as b) on length(→arrayConcat(a, b)←) = 1`,
  ])('%s', (marked) => {
    const start = marked.indexOf('→')
    const end = marked.indexOf('←') - 1
    const fault = faultOf(() => compile(marked.replace(/[→←]/g, '')))
    expect(fault).toMatchObject({ kind: 'query', message: TOO_MUCH, start, end })
  })

  it('a chain of named queries', () => {
    const fault = faultOf(() => compile(`${ctes(8)} select length(s) from q8`))
    expect(fault.message).toBe(TOO_MUCH)
    expect(fault.start).toBeGreaterThan(0)
    expect(() => compile(`${ctes(4)} select length(s) from q4`)).not.toThrow()
  })

  it('for whichever engine', () => {
    const fault = faultOf(() =>
      compile('select arrayMap(x -> range(1000), range(1000)) from events', 'clickhouse'),
    )
    expect(fault.message).toBe(TOO_MUCH)
  })
})

describe('with the engine', () => {
  let fixture: Awaited<ReturnType<typeof openFixture>>
  beforeAll(async () => {
    fixture = await openFixture()
  })
  afterAll(() => fixture.close())

  it.each([
    `range(1000)`,
    `range(toInt(properties.n))`,
    `arrayMap(x -> x + 1, range(100))`,
    `arrayMap(x -> x + 1, range(10000))`,
    `arrayMap(x -> concat('day ', toString(x)), range(365))`,
    `arrayMap(x -> properties.n, range(100))`,
    `arrayMap(x -> JSONExtractString(properties, x), splitByChar(',', properties.tags))`,
    `arrayMap(x -> arrayMap(y -> x * y, range(20)), range(20))`,
    `arrayFlatten(arrayMap(x -> range(10), [1, 2, 3]))`,
    `arrayMap((x, y) -> concat(x, y), splitByChar(',', properties.a), splitByChar(',', properties.b))`,
    `arrayFilter(x -> x != '', splitByChar(',', properties.tags))`,
    `arraySum(arrayMap(x -> length(x), splitByChar(' ', properties.text)))`,
    `replaceAll(properties.a, 'x', 'yyy')`,
    `replaceAll(replaceAll(replaceAll(properties.a, '&', '&amp;'), '<', '&lt;'), '>', '&gt;')`,
    `replaceRegexpAll(properties.$current_url, '/[0-9]+', '/:id')`,
    `concat(${times(50, 'properties.a')})`,
    `arrayStringConcat(splitByChar(',', properties.tags), ';')`,
    `repeat('ab', 100)`,
    `leftPad(toString(properties.n), 10, '0')`,
    `event in (${times(5000, `'pageview'`)})`,
    `has([${times(5000, `'pageview'`)}], event)`,
    `toJSONString(properties)`,
    `event in (${times(9000, `123`)})`,
    `${times(300, `JSONExtractString(properties, 'a')`)}`,
    `arrayMap(x -> JSONExtractString(x, 'name'), JSONExtractArrayRaw(properties, 'items'))`,
    `*, person.properties, properties`,
    `arraySort(x -> x.1, groupArray((timestamp, event, properties.n)))`,
    `arrayMap(x -> dateAdd('day', x, toDate('2024-01-01')), range(0, dateDiff('day', min(timestamp), now())))`,
    `multiIf(${times(50, `event = 'a', 'b'`)}, 'c')`,
    `arrayElement(splitByChar('/', properties.$current_url), 2)`,
    `topK(100)(event)`,
    `${times(100, 'properties.a')}`,
    `${times(20, `arrayStringConcat(arrayMap(x -> lower(x), splitByChar(',', properties.tags)), ',')`)}`,
  ])('%s is not too much', async (columns) => {
    await expect(fixture.plan(`select ${columns} from events`)).resolves.toBeUndefined()
  })

  it('puts many texts together as it does few', async () => {
    const parts = (part: string) => `concat(${times(9, `'a'`)}, ${part})`
    expect(
      await fixture.ask(`select ${parts(`'b'`)}, ${parts(`''`)}, ${parts('NULL')}, ${parts('1')}`),
    ).toEqual([['aaaaaaaaab', 'aaaaaaaaa', null, 'aaaaaaaaa1']])
    expect(await fixture.ask(`select concat(${times(9, 'NULL')})`)).toEqual([[null]])
  })

  it.each([
    ['select anyLast(properties.n) over (order by timestamp)', [['1'], ['1'], ['2']]],
    [`select anyLastIf(event, event != 'b') over (order by timestamp)`, [['a'], ['a'], ['c']]],
    [`select anyLast(properties.n) over (partition by event)`, [['1'], [null], ['2']]],
  ])('%s', async (select, expected) => {
    const row = (event: string, n: string, day: number) =>
      `select '${event}' as event, ${n} as n, toDateTime('2024-01-0${day} 00:00:00') as timestamp`
    const rows = [row('a', `'1'`, 1), row('b', 'NULL', 2), row('c', `'2'`, 3)].join(' union all ')
    const hogql = `${select.replace('properties.n', 'n')} from (${rows}) order by timestamp`
    expect(await fixture.ask(hogql)).toEqual(expected)
  })
})

describe('windows', () => {
  const inside = (name: string) => `A window function cannot stand inside the window function '${name}'`
  it.each([
    [
      'select →row_number() over (order by row_number() over (order by timestamp))← from events',
      inside('row_number'),
    ],
    ['select →sum(1) over (partition by rank() over (order by timestamp))← from events', inside('sum')],
    ['select →sum(rank() over (order by timestamp)) over ()← from events', inside('sum')],
    ['select →sumIf(1, rank() over () = 1) over ()← from events', inside('sumIf')],
    ['select rank() over () as r, →sum(1) over (order by r)← from events', inside('sum')],
    ['select rank() over () as r, →sum(1) over w← from events window w as (order by r)', inside('sum')],
    ['select →sum(rank() over ())← from events', `A window function cannot stand inside the aggregate 'sum'`],
    ['select arrayMap(y -> rank() over (order by →y←), [1]) from events', `Unknown field 'y'`],
    ['select arrayMap(y -> sum(→y←) over (), [1]) from events', `Unknown field 'y'`],
  ])('%s', (marked, message) => {
    const fault = faultOf(() => compile(marked.replace(/[→←]/g, '')))
    expect(fault).toMatchObject({ kind: 'query', start: marked.indexOf('→'), end: marked.indexOf('←') - 1 })
    expect(fault.message).toContain(message)
  })

  it('may stand beside each other', () => {
    expect(() =>
      compile('select rank() over () as r, sum(1) over (), r + row_number() over () from events'),
    ).not.toThrow()
  })
})

describe('a placeholder in FROM', () => {
  it.each<[string, Expr]>([
    ['a text', { node: 'Constant', value: 'events' }],
    ['NULL', { node: 'Constant', value: null }],
    ['a number', { node: 'Constant', value: 1 }],
    ['a call', { node: 'Call', name: 'now', args: [] }],
  ])('that is %s is refused', (_, content) => {
    const fault = faultOf(() => compile('select event from {x}', 'duckdb', new Map([['x', content]])))
    expect(fault).toMatchObject({ kind: 'query', message: 'A placeholder cannot stand here' })
  })
})
