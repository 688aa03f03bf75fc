// GET …/events/?select=…
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { micros, openPlace, store, storePerson, withQuery, type Place } from './fixture/events.ts'

let app: TestApp
let place: Place
let person: { id: number; uuid: string }
beforeAll(async () => {
  app = await startTestApp()
  place = await openPlace(app)
  await store(place, [
    { event: 'a', distinct_id: 'x', timestamp: '2024-06-01T10:00:00Z', properties: { plan: 'pro', n: 1 } },
    { event: 'b', distinct_id: 'x', timestamp: '2024-06-01T11:00:00Z', properties: { plan: 'free', n: 2 } },
    { event: 'b', distinct_id: 'y', timestamp: '2024-06-01T12:00:00Z', properties: { plan: 'pro', n: 3 } },
    { event: 'future', distinct_id: 'y', timestamp: micros(app.services.now()) + 3_600_000_000n },
  ])
  person = await storePerson(place, {
    distinct_ids: ['x', 'x2'],
    properties: { email: 'x@example.com' },
    is_identified: true,
  })
})
afterAll(() => app.close())

const ask = (parameters: Record<string, unknown>) =>
  app.get(withQuery(place.url, parameters), { key: place.key })
const rows = async (parameters: Record<string, unknown>) => {
  const { status, body } = await ask(parameters)
  expect([status, body]).toEqual([200, body])
  return body.results
}

describe('select', () => {
  it('rows of values with columns as given and ClickHouse types', async () => {
    const { status, body } = await ask({
      select: ['event', 'timestamp', 'properties.n -- How many', '1 + 1 as two'],
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      next: null,
      columns: ['event', 'timestamp', 'properties.n -- How many', '1 + 1 as two'],
      types: [
        expect.stringContaining('String'),
        expect.stringContaining('DateTime64(6'),
        expect.stringContaining('String'),
        expect.stringContaining('Int'),
      ],
      hasMore: false,
      results: [
        ['b', '2024-06-01T12:00:00Z', '3', 2],
        ['b', '2024-06-01T11:00:00Z', '2', 2],
        ['a', '2024-06-01T10:00:00Z', '1', 2],
      ],
    })
  })

  it('* is one object per row, and so is no column at all', async () => {
    for (const select of [['*'], [], ['* -- Everything']]) {
      const { body } = await ask({ select, event: 'a' })
      expect(body.columns).toEqual(select.length === 0 ? ['*'] : select)
      expect(body.types).toEqual([expect.stringMatching(/^Tuple\(/)])
      expect(body.results).toEqual([
        [
          {
            uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
            event: 'a',
            properties: { plan: 'pro', n: 1 },
            timestamp: '2024-06-01T10:00:00Z',
            distinct_id: 'x',
            elements_chain: '',
            created_at: expect.any(String),
            person: {
              id: person.uuid,
              created_at: expect.any(String),
              properties: { email: 'x@example.com' },
              distinct_ids: ['x', 'x2'],
            },
          },
        ],
      ])
    }
  })

  it('person is that object, or null', async () => {
    expect(
      await rows({ select: ['event', 'person'], orderBy: ['event'], where: ["properties.plan = 'pro'"] }),
    ).toEqual([
      ['a', expect.objectContaining({ id: person.uuid, distinct_ids: ['x', 'x2'] })],
      ['b', null],
    ])
  })

  it('aggregates group by everything else, the first one descending', async () => {
    expect(await rows({ select: ['event', 'count()'] })).toEqual([
      ['b', 2],
      ['a', 1],
    ])
    expect(await rows({ select: ['count()', 'properties.plan', "'same'"] })).toEqual([
      [2, 'pro', 'same'],
      [1, 'free', 'same'],
    ])
    expect(await rows({ select: ['count()'] })).toEqual([[3]])
    expect(await rows({ select: ['count()'], person_id: '2147483647' })).toEqual([[0]])
  })

  it('where with an aggregate becomes HAVING, the rest stays a filter', async () => {
    expect(await rows({ select: ['event', 'count() as c'], where: ['count() > 1'] })).toEqual([['b', 2]])
    expect(await rows({ select: ['event'], where: ['count() > 1', 'properties.n > 1'] })).toEqual([['b']])
    expect(await rows({ select: ['event'], where: ['count() > 1', 'properties.n > 2'] })).toEqual([])
  })

  it.each<[string, string | string[] | undefined, string[]]>([
    ['by default the first column ascending', undefined, ['a', 'b', 'b']],
    ['descending by a minus', ['-event'], ['b', 'b', 'a']],
    ['descending by word', ['event DESC'], ['b', 'b', 'a']],
    ['ascending by word', ['event asc'], ['a', 'b', 'b']],
    ['by another expression', ['-toFloat(properties.n)'], ['b', 'b', 'a']],
    ['bare', '-timestamp', ['b', 'b', 'a']],
  ])('order %s', async (_, orderBy, expected) => {
    const result = await rows({ select: ['event'], ...(orderBy === undefined ? {} : { orderBy }) })
    expect(result.flat()).toEqual(expected)
  })

  it('newest first when the time is selected', async () => {
    expect(await rows({ select: ['properties.n', 'timestamp as t'] })).toEqual([
      ['3', '2024-06-01T12:00:00Z'],
      ['2', '2024-06-01T11:00:00Z'],
      ['1', '2024-06-01T10:00:00Z'],
    ])
  })

  it('all other filters apply, an alias cannot get round them', async () => {
    expect(await rows({ select: ['event'], distinct_id: 'y' })).toEqual([['b']])
    expect(await rows({ select: ['event'], event: 'a' })).toEqual([['a']])
    expect(await rows({ select: ['event'], person_id: person.uuid })).toEqual([['a'], ['b']])
    expect(
      await rows({ select: ['event'], after: '2024-06-01T10:00:00Z', before: '2024-06-01T12:00:00Z' }),
    ).toEqual([['b']])
    expect(await rows({ select: ['event'], properties: [{ key: 'plan', value: 'free' }] })).toEqual([['b']])
    const disguised = await rows({
      select: ["toDateTime('2024-06-01 10:30:00') as timestamp", 'event as e'],
      after: '2024-06-01T10:45:00Z',
      before: '2030-01-01',
    })
    expect(
      disguised.map(([, event]: string[]) => event).filter((event: string) => event !== 'future'),
    ).toEqual(['b', 'b'])
  })

  it('next carries the offset, and the end of the range stays', async () => {
    const first = await ask({ select: ['properties.n'], limit: 2, orderBy: ['properties.n'] })
    expect([first.body.hasMore, first.body.results]).toEqual([true, [['1'], ['2']]])
    const next = new URL(first.body.next)
    expect(next.searchParams.get('offset')).toBe('2')
    const second = await app.get(`${next.pathname}${next.search}`, { key: place.key })
    expect(second.body).toMatchObject({ next: null, hasMore: false, results: [['3']] })
  })

  it.each([
    ['select', 'event', 'invalid_input', 'select'],
    ['select', '{"a":1}', 'invalid_input', 'select'],
    ['select', '[1]', 'invalid_input', 'select'],
    ['select', '["event,"]', 'hogql_syntax_error', 'select'],
    ['select', '["*, event"]', 'hogql_syntax_error', 'select'],
    ['select', '["nothing"]', 'hogql_query_error', 'select'],
    ['select', '["nothing()"]', 'hogql_query_error', 'select'],
    ['select', '["team_id"]', 'hogql_query_error', 'select'],
    ['orderBy', '["event sideways"]', 'hogql_syntax_error', 'orderBy'],
    ['where', '["("]', 'hogql_syntax_error', 'where'],
    ['where', '["sum(count()) > 1"]', 'hogql_query_error', 'where'],
    ['where', '["nothing = 1"]', 'hogql_query_error', 'where'],
    ['orderBy', '["nothing"]', 'hogql_query_error', 'orderBy'],
  ])('%s=%s is 400 %s', async (name, value, code, attr) => {
    const { status, body } = await ask({ select: ['event'], [name]: value })
    expect([status, body.type, body.code]).toEqual([400, 'validation_error', code])
    if (attr !== null) expect(body.attr).toBe(attr)
  })

  it('takes no more than 500 expressions', async () => {
    const { status, body } = await ask({ select: Array(501).fill('1') })
    expect([status, body.attr]).toEqual([400, 'select'])
  })
})

describe('aliases in the text of a user', () => {
  it.each(["('{' as properties) = '{'", '(1 as timestamp) = 1', "('x' as uuid) = 'x'", "('' as event) = ''"])(
    'hide no column of the listing: where %s',
    async (where) => {
      const results = await rows({ where: [where], event: 'a' })
      expect(results).toMatchObject([{ event: 'a', distinct_id: 'x', properties: { plan: 'pro', n: 1 } }])
      expect(results[0].timestamp).toBe('2024-06-01T10:00:00+00:00')
    },
  )

  it('do not stand in for the person', async () => {
    const [[alias, found]] = await rows({ select: ["'{' as person", 'person'], event: 'a' })
    expect([alias, found]).toEqual(['{', expect.objectContaining({ id: person.uuid })])
  })
})
