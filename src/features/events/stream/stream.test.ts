// GET …/events/stream/ over real connections: what comes, in which form, what a client gets that comes back, and how much.
// @module-tag slow
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { IS_LONG } from '../../../../test/harness/long.ts'
import { listen, openStream, type OpenedStream, type Told } from '../../../../test/harness/stream.ts'
import { sql } from '../../../platform/db/sql.ts'
import { openPlace, store, storePerson, withQuery, type Place } from '../listing/fixture/events.ts'

let app: TestApp
let origin: string
beforeAll(async () => {
  app = await startTestApp()
  origin = await listen(app)
})
afterAll(() => app.close())

const numbered = (from: number, to: number, more: object = {}) =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ properties: { n: from + index, ...more } }))
const open = (place: Place, query: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  openStream(origin + withQuery(`${place.url}stream/`, query), { key: place.key, ...headers })
const numbersIn = (stream: OpenedStream): number[] =>
  stream.told.filter(({ event }) => event === 'event').map(({ data }) => data.properties.n)
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

describe('what comes', () => {
  it('each event as the listing shows it, with its position', async () => {
    const place = await openPlace(app)
    await storePerson(place, { distinct_ids: ['a'], properties: { email: 'a@example.com' } })
    await store(place, [{ event: 'before' }])
    const stream = await open(place)
    expect(stream.status).toBe(200)
    expect(Object.fromEntries(stream.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    })
    expect(stream.headers.get('content-encoding')).toBeNull()
    await store(place, [{ event: 'buy', distinct_id: 'a', elements_chain: 'a.btn:nth-child="1"' }])
    const [told] = await stream.until('event')
    const { body } = await app.get(`${place.url}?event=buy`, { key: place.key })
    expect(told).toEqual({ event: 'event', id: '2', data: body.results[0] })
    expect(told!.data.person.properties).toEqual({ email: 'a@example.com' })
    expect(stream.told).toHaveLength(1)
    stream.close()
  })

  it('below both names of the project', async () => {
    const place = await openPlace(app)
    const url = `${origin}${place.url.replace('projects', 'environments')}stream/`
    const stream = await openStream(url, { key: place.key })
    await store(place, numbered(1, 1))
    expect(await stream.until('event')).toHaveLength(1)
    stream.close()
  })

  it.each<[string, Record<string, unknown>]>([
    ['event', { event: 'wanted' }],
    ['distinct_id', { distinct_id: 'wanted' }],
    ['properties', { properties: [{ key: 'plan', value: 'wanted' }] }],
    ['where', { where: ["event = 'wanted'"] }],
    [
      'where, with a question of its own',
      { where: ["uuid in (select uuid from events where event = 'wanted')"] },
    ],
    [
      'where, with names of ours',
      { where: ["(1 as its_seq) = 1 and (2 as bytes) = 2 and event = 'wanted'"] },
    ],
  ])('filtered like the listing: %s', async (_name, query) => {
    const place = await openPlace(app)
    const stream = await open(place, query)
    const wanted = { event: 'wanted', distinct_id: 'wanted', properties: { plan: 'wanted' } }
    await store(place, [{ event: 'other' }, wanted, { event: 'another' }, wanted])
    expect((await stream.until('event', 2)).map(({ id }) => id)).toEqual(['2', '4'])
    const { body } = await app.get(withQuery(place.url, query), { key: place.key })
    const ids = (records: { id: string }[]) => records.map(({ id }) => id).sort()
    expect(ids(stream.told.map(({ data }) => data))).toEqual(ids(body.results))
    stream.close()
  })

  it('of a person, also by ids that they got meanwhile', async () => {
    const place = await openPlace(app)
    const person = await storePerson(place, { distinct_ids: ['a'] })
    const stream = await open(place, { person_id: person.uuid })
    await store(place, [{ distinct_id: 'a', event: 'first' }, { distinct_id: 'b' }])
    await stream.until('event')
    await app.db.run(sql`
      INSERT INTO person_distinct_id (project_id, distinct_id, person, change)
      VALUES (${place.project_id}, 'b', ${person.uuid}, nextval('people_change'))`)
    await store(place, [{ distinct_id: 'b', event: 'second' }])
    expect((await stream.until('event', 2)).map(({ data }) => data.event)).toEqual(['first', 'second'])
    stream.close()
  })

  it.each([
    ['properties=[{', 'properties', 'invalid_input'],
    ['where=["x ="]', 'where', 'hogql_syntax_error'],
    ['where=["nothing = 1"]', 'where', 'hogql_query_error'],
    ['last_event_id=x', 'last_event_id', 'invalid_input'],
    ['last_event_id=-1', 'last_event_id', 'invalid_input'],
    ['last_event_id=9999999999999999', 'last_event_id', 'invalid_input'],
  ])('400 for ?%s', async (query, attr, code) => {
    const place = await openPlace(app)
    const reply = await app.get(`${place.url}stream/?${query}`, { key: place.key })
    expect(reply).toMatchObject({ status: 400, body: { attr, code } })
  })

  it('HEAD opens nothing', async () => {
    const place = await openPlace(app)
    const headers = { authorization: `Bearer ${place.key}` }
    const reply = await fetch(`${origin}${place.url}stream/`, { method: 'HEAD', headers })
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    expect(await (await fetch(`${origin}/metrics`)).text()).not.toMatch(/open_streams\{/)
  })
})

describe('a client that comes back', () => {
  it('gets what it missed once, by the header before the parameter', async () => {
    const place = await openPlace(app)
    const first = await open(place)
    await store(place, numbered(1, 3))
    await first.until('event', 3)
    first.close()
    await store(place, numbered(4, 9))
    const again = await open(place, { last_event_id: 1 }, { 'last-event-id': first.lastId() })
    await again.until('event', 6)
    await store(place, numbered(10, 11))
    await again.until('event', 8)
    expect(numbersIn(again)).toEqual(range(4, 11))
    expect(again.told.map(({ event }) => event)).not.toContain('gap')
    again.close()
  })

  it('gets the newest and hears of the rest when it was away for too long', async () => {
    const place = await openPlace(app)
    await store(place, numbered(1, 1_500))
    const stream = await open(place, { last_event_id: 100 })
    await stream.until('event', 1_000)
    expect(stream.told[0]).toEqual({ event: 'gap', id: '500', data: { after: 100, until: 500 } })
    expect(numbersIn(stream)).toEqual(range(501, 1_500))
    stream.close()
  })

  it('to a stream of others that has not looked yet gets nothing again', async () => {
    const place = await openPlace(app)
    const others = await open(place)
    await store(place, numbered(1, 3))
    const stream = await open(place, { last_event_id: 2 })
    await others.until('event', 3)
    await stream.until('event')
    await store(place, numbered(4, 4))
    await stream.until('event', 2)
    expect(numbersIn(stream)).toEqual([3, 4])
    await others.until('event', 4)
    expect(numbersIn(others)).toEqual([1, 2, 3, 4])
    stream.close()
    others.close()
  })

  // It takes 100,000 events.
  it.runIf(IS_LONG)(
    'from further back than is looked hears where that begins',
    async () => {
      const place = await openPlace(app)
      await store(place, [{ event: 'rare' }])
      for (let n = 0; n < 10; n++) await store(place, numbered(1, 10_010))
      await store(place, [{ event: 'rare' }])
      const stream = await open(place, { event: 'rare', last_event_id: 0 })
      await stream.until('event')
      expect(stream.told.map(({ event, id }) => [event, id])).toEqual([
        ['gap', '102'],
        ['event', '100102'],
      ])
      stream.close()
    },
    120_000,
  )

  it('with a position that was never given out gets what comes from now on', async () => {
    const place = await openPlace(app)
    await store(place, numbered(1, 2))
    const stream = await open(place, { last_event_id: '999999999999999' })
    await store(place, numbered(3, 3))
    await stream.until('event')
    expect(numbersIn(stream)).toEqual([3])
    stream.close()
  })

  it('is told its position now and then, so that events it did not want are no gap', async () => {
    const place = await openPlace(app)
    const stream = await open(place, { event: 'rare' })
    await store(place, numbered(1, 40))
    app.advance(16_000)
    await expect.poll(() => stream.lastId()).not.toBe('')
    app.advance(16_000)
    await expect.poll(() => stream.lastId()).toBe('40')
    expect(stream.told).toEqual([])
    app.advance(16_000)
    await expect.poll(() => stream.text()).toMatch(/\n\n:\n\n$/)
    stream.close()
  })
})

describe('a filter that turns out to be wrong', () => {
  it('ends its own stream with the error that the listing answers, and no other', async () => {
    const place = await openPlace(app)
    const query = { where: ['match(event, properties.pattern)'] }
    const [wrong, other] = [await open(place, query), await open(place)]
    await store(place, numbered(1, 1, { pattern: '(' }))
    await wrong.untilOver()
    const listed = await app.get(withQuery(place.url, query), { key: place.key })
    expect(listed.status).toBe(400)
    expect(wrong.told).toMatchObject([{ event: 'end', data: { reason: 'error', ...listed.body } }])
    await store(place, numbered(2, 2))
    await other.until('event', 2)
    other.close()
  })
})

describe('more than a stream gets', () => {
  it('is counted: of a burst the newest hundred come, and the rest as a number', async () => {
    const place = await openPlace(app)
    const stream = await open(place)
    await store(place, numbered(1, 350))
    await stream.until('event', 100)
    expect(stream.told[0]).toEqual({ event: 'skipped', id: '250', data: { count: 250 } })
    expect(numbersIn(stream)).toEqual(range(251, 350))
    stream.close()
  })

  it('large events: as many as fit', async () => {
    const place = await openPlace(app)
    const stream = await open(place)
    await store(place, numbered(1, 10, { text: 'x'.repeat(200_000) }))
    await stream.until('event', 2)
    expect(stream.told[0]).toMatchObject({ event: 'skipped', data: { count: 8 } })
    expect(numbersIn(stream)).toEqual([9, 10])
    stream.close()
  })

  it('a fast producer: no event twice, none unaccounted for, whoever comes and goes', async () => {
    const place = await openPlace(app)
    const streams = [await open(place)]
    let stored = 0
    let last_id = '0'
    for (let round = 0; round < 30; round++) {
      await store(place, numbered(stored + 1, stored + 37))
      stored += 37
      await new Promise((resolve) => setTimeout(resolve, 100))
      if (round % 10 === 9) {
        const last = streams.at(-1)!
        last.close()
        // A client that was told nothing comes back with the id that it brought.
        last_id = last.lastId() || last_id
        streams.push(await open(place, {}, { 'last-event-id': last_id }))
      }
    }
    const last = streams.at(-1)!
    // The one before may have had everything already: then the last has nothing to say.
    await expect.poll(() => streams.flatMap(numbersIn).at(-1)).toBe(stored)
    const numbers = streams.flatMap(numbersIn)
    const told = streams.flatMap((stream) => stream.told)
    const sumOf = (name: string, count: (data: Told['data']) => number) =>
      told.filter(({ event }) => event === name).reduce((sum, { data }) => sum + count(data), 0)
    const skipped = sumOf('skipped', ({ count }) => count)
    const left_out = sumOf('gap', ({ after, until }) => until - after)
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    expect(new Set(numbers).size).toBe(numbers.length)
    expect(numbers.length + skipped + left_out).toBe(stored)
    last.close()
  })
})
