// GET …/events/values/
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { micros, openPlace, store, withQuery, type GivenEvent, type Place } from './fixture/events.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())

const DAY = 24n * 3_600_000_000n

async function placeWith(events: readonly GivenEvent[]): Promise<Place> {
  const place = await openPlace(app)
  await store(place, events)
  return place
}

const ask = (place: Place, parameters: Record<string, unknown>) =>
  app.get(withQuery(`${place.url}values/`, parameters), { key: place.key })
const names = ({ body }: { body: { name: string }[] }) => body.map(({ name }) => name)

const having = (key: string, values: readonly unknown[]) =>
  values.map((value) => ({ properties: { [key]: value } }))

describe('values', () => {
  it('a bare array of names, kept for ten seconds', async () => {
    const place = await placeWith(having('$browser', ['Chrome', 'Safari', 'Chrome']))
    const answer = await ask(place, { key: '$browser' })
    expect([answer.status, answer.body]).toEqual([200, [{ name: 'Chrome' }, { name: 'Safari' }]])
    expect(answer.headers['cache-control']).toBe('max-age=10')
  })

  it('key is needed', async () => {
    const place = await openPlace(app)
    for (const parameters of [{}, { key: '' }]) {
      expect(await ask(place, parameters)).toMatchObject({
        status: 400,
        body: { code: 'required', attr: 'key' },
      })
    }
  })

  it('always text: booleans, numbers, objects as JSON; lists are taken apart, nulls left out', async () => {
    const given = [true, 5, 1.5, { a: 1 }, ['x', ['y', 5], null, { b: 2 }], null, '', 'text']
    const place = await placeWith([...having('any', given), {}])
    expect(names(await ask(place, { key: 'any' })).sort()).toEqual(
      ['true', '5', '1.5', '{"a":1}', 'x', 'y', '{"b":2}', '', 'text'].sort(),
    )
  })

  it('ten at most, of the last seven days', async () => {
    const now = micros(app.services.now())
    const midnight = now - (now % DAY)
    const place = await placeWith([
      ...having(
        'n',
        Array.from({ length: 15 }, (_, index) => `v${index}`),
      ),
      { properties: { old: 'yes' }, timestamp: midnight - 7n * DAY },
      { properties: { old: 'no' }, timestamp: midnight - 7n * DAY - 1n },
    ])
    expect(names(await ask(place, { key: 'n' }))).toHaveLength(10)
    expect(names(await ask(place, { key: 'old' }))).toEqual(['yes'])
  })

  it('value: part of it in any case, the shortest first; % and _ are themselves', async () => {
    const place = await placeWith(
      having('v', ['a long Apple', 'APPLE', 'pineapple', 'pear', 'x%y', 'xzy', ['apple tree', 'oak']]),
    )
    expect(names(await ask(place, { key: 'v', value: 'apple' }))).toEqual([
      'APPLE',
      'pineapple',
      'apple tree',
      'a long Apple',
    ])
    expect(names(await ask(place, { key: 'v', value: 'x%' }))).toEqual(['x%y'])
    expect(names(await ask(place, { key: 'v', value: 'none' }))).toEqual([])
  })

  it('event_name may be repeated, properties_<name> narrows', async () => {
    const place = await placeWith([
      { event: 'a', properties: { v: '1', plan: 'pro' } },
      { event: 'b', properties: { v: '2', plan: 'free' } },
      { event: 'c', properties: { v: '3', plan: 'pro' } },
    ])
    const url = `${place.url}values/?key=v`
    const get = async (query: string) => names(await app.get(`${url}&${query}`, { key: place.key })).sort()
    expect(await get('event_name=a')).toEqual(['1'])
    expect(await get('event_name=a&event_name=b')).toEqual(['1', '2'])
    expect(await get('properties_plan=pro')).toEqual(['1', '3'])
    expect(await get('properties_plan=%5B%22free%22%5D')).toEqual(['2'])
    expect(await get('properties_plan=%5B%22free%22%2C%22pro%22%5D&event_name=c')).toEqual(['3'])
    expect(await get('properties_plan=')).toEqual(['1', '2', '3'])
  })

  it('is_column: event and distinct_id, nothing else', async () => {
    const place = await placeWith([
      { event: '$pageview', distinct_id: '["x"]' },
      { event: 'click', distinct_id: 'b' },
    ])
    expect(names(await ask(place, { key: 'event', is_column: 'true' })).sort()).toEqual([
      '$pageview',
      'click',
    ])
    expect(names(await ask(place, { key: 'distinct_id', is_column: true })).sort()).toEqual(['["x"]', 'b'])
    expect(names(await ask(place, { key: 'event', is_column: 'true', value: 'CLI' }))).toEqual(['click'])
    expect(names(await ask(place, { key: 'event' }))).toEqual([])
    expect(await ask(place, { key: 'properties', is_column: 'true' })).toMatchObject({
      status: 400,
      body: { attr: 'key' },
    })
  })

  it('custom_event: names that do not begin with $, however old', async () => {
    const place = await placeWith([
      { event: 'zebra' },
      { event: '$pageview' },
      { event: 'ape', timestamp: '2001-01-01T00:00:00Z' },
      { event: 'zebra' },
      { event: '%x' },
    ])
    expect(names(await ask(place, { key: 'custom_event' }))).toEqual(['%x', 'ape', 'zebra'])
  })

  it('custom_event: a hundred at most', async () => {
    const place = await placeWith(
      Array.from({ length: 120 }, (_, index) => ({ event: `e${String(index).padStart(3, '0')}` })),
    )
    const found = names(await ask(place, { key: 'custom_event' }))
    expect([found.length, found[0], found.at(-1)]).toEqual([100, 'e000', 'e099'])
  })

  it('a property may be called anything', async () => {
    for (const key of ['*', 'a.b', 'a"q', '\\', '~', '0', '😀', 'value']) {
      const place = await placeWith(having(key, ['x', 'xy']))
      expect([key, names(await ask(place, { key }))]).toEqual([key, ['x', 'xy']])
      expect([key, names(await ask(place, { key, value: 'y' }))]).toEqual([key, ['xy']])
    }
  })

  it('a name that objects know is only a name', async () => {
    const place = await placeWith([
      { properties: { constructor: 'x' } },
      { properties: JSON.parse('{"__proto__":"y"}') },
    ])
    expect(names(await ask(place, { key: 'constructor' }))).toEqual(['x'])
    expect(names(await ask(place, { key: '__proto__' }))).toEqual(['y'])
    expect(names(await ask(place, { key: "x' or 1=1 --" }))).toEqual([])
  })

  it("another project's values never show", async () => {
    await placeWith(having('secret', ['theirs']))
    expect(names(await ask(await placeWith(having('secret', ['mine'])), { key: 'secret' }))).toEqual(['mine'])
  })
})
