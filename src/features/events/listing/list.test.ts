// GET …/events/ through HTTP: parameters, window and order, pages, the record, refusals.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, createOrganization } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { TEST_ENGINE } from '../../../../test/harness/clickhouse.ts'
import { sql } from '../../../platform/db/sql.ts'
import { formatMicros } from '../../../lib/microseconds.ts'
import {
  micros,
  openPlace,
  store,
  storePerson,
  withQuery,
  type GivenEvent,
  type Place,
} from './fixture/events.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())

const SECOND = 1_000_000n
const HOUR = 3600n * SECOND
const DAY = 24n * HOUR
const uuidOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

const list = (place: Place, parameters: Record<string, unknown> = {}) =>
  app.get(withQuery(place.url, parameters), { key: place.key })
const idsOf = ({ body }: { body: { results: { id: string }[] } }) => body.results.map(({ id }) => id)
const names = ({ body }: { body: { results: { event: string }[] } }) => body.results.map(({ event }) => event)

/** A place that holds these events and nothing else. */
async function placeWith(events: readonly GivenEvent[]): Promise<Place> {
  const place = await openPlace(app)
  await store(place, events)
  return place
}

describe('filters', () => {
  it('event: exact, and case matters', async () => {
    const place = await placeWith([{ event: 'Click' }, { event: 'click' }, { event: 'clicked' }])
    expect(names(await list(place, { event: 'click' }))).toEqual(['click'])
    expect(names(await list(place, { event: 'none' }))).toEqual([])
  })

  it('distinct_id: exact text, whatever it looks like', async () => {
    const place = await placeWith(
      ['5', '05', '5.0', 'x'].map((distinct_id) => ({ distinct_id, event: distinct_id })),
    )
    expect(names(await list(place, { distinct_id: '5' }))).toEqual(['5'])
    expect(names(await list(place, { distinct_id: 'x' }))).toEqual(['x'])
  })

  it('person_id: integer or UUID, all distinct ids of the person', async () => {
    const place = await placeWith(['a', 'b', 'c'].map((distinct_id) => ({ distinct_id, event: distinct_id })))
    const person = await storePerson(place, { distinct_ids: ['a', 'b'] })
    for (const person_id of [String(person.id), person.uuid, person.uuid.toUpperCase()]) {
      expect(names(await list(place, { person_id })).sort()).toEqual(['a', 'b'])
    }
  })

  it("person_id: unknown, malformed or another project's gives 200 and nothing", async () => {
    const place = await placeWith([{ distinct_id: 'a' }])
    const other = await storePerson(await openPlace(app), { distinct_ids: ['a'] })
    for (const person_id of [
      '2147483647',
      '99999999999999999999',
      'no-id',
      uuidOf(1),
      other.uuid,
      String(other.id),
      '-1',
    ]) {
      const answer = await list(place, { person_id })
      expect([answer.status, answer.body]).toEqual([200, { next: null, results: [] }])
    }
  })

  it('properties: as section 4 says', async () => {
    const place = await placeWith([
      { event: 'a', properties: { plan: 'pro' } },
      { event: 'b', properties: { plan: 'free' } },
      { event: 'c' },
    ])
    expect(names(await list(place, { properties: [{ key: 'plan', value: 'pro' }] }))).toEqual(['a'])
    const not = [{ key: 'plan', value: 'pro', operator: 'is_not' }]
    expect(names(await list(place, { properties: not })).sort()).toEqual(['b', 'c'])
    expect(names(await list(place, { properties: [] }))).toHaveLength(3)
    const broken = await list(place, { properties: '[{' })
    expect(broken).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: 'properties' } })
  })

  it('where without select filters the ordinary listing', async () => {
    const place = await placeWith([
      { event: 'a', properties: { amount: 10 } },
      { event: 'b', properties: { amount: 3 } },
    ])
    expect(names(await list(place, { where: ['properties.amount > 5'] }))).toEqual(['a'])
    expect(names(await list(place, { where: ['properties.amount > 1', "event = 'b'"] }))).toEqual(['b'])
    expect(names(await list(place, { where: [] }))).toHaveLength(2)
  })

  it('an empty parameter counts as absent, an unknown one is ignored, of two the last holds', async () => {
    const place = await placeWith([{ event: 'a' }, { event: 'b' }])
    const empty = ['event', 'distinct_id', 'person_id', 'after', 'before', 'limit', 'offset', 'orderBy']
    const query = [...empty, 'properties', 'select', 'where', 'format'].map((name) => `${name}=`).join('&')
    expect(names(await app.get(`${place.url}?${query}`, { key: place.key }))).toHaveLength(2)
    expect(names(await list(place, { evnt: 'x' }))).toHaveLength(2)
    expect(names(await app.get(`${place.url}?event=a&event=b`, { key: place.key }))).toEqual(['b'])
    expect(names(await app.get(`${place.url}?event=a&event=`, { key: place.key }))).toHaveLength(2)
  })
})

describe('after and before', () => {
  const at = (second: string) => `2024-06-01T10:00:${second}`
  let place: Place
  beforeAll(async () => {
    place = await placeWith(
      ['00', '01', '01.000001', '02'].map((second) => ({ event: second, timestamp: `${at(second)}Z` })),
    )
  })

  it.each<[string, Record<string, string>, string[]]>([
    ['after is strict', { after: '2024-06-01T10:00:01Z' }, ['02', '01.000001']],
    ['before is strict', { before: '2024-06-01T10:00:01Z' }, ['00']],
    ['both, to the microsecond', { after: at('01'), before: at('01.000002') }, ['01.000001']],
    ['no offset is UTC', { before: '2024-06-01T10:00:01' }, ['00']],
    ['an offset', { before: '2024-06-01T12:00:01+02:00' }, ['00']],
    [
      'a date is its midnight',
      { after: '2024-06-01', before: '2024-06-02' },
      ['02', '01.000001', '01', '00'],
    ],
    ['a date after all', { after: '2024-06-02' }, []],
    ['ends the wrong way round', { after: '2024-06-02', before: '2024-06-01' }, []],
  ])('%s', async (_, parameters, expected) => {
    expect(names(await list(place, parameters))).toEqual(expected)
  })

  it('a plus that arrived as a space', async () => {
    const answer = await app.get(`${place.url}?before=2024-06-01T10:00:01+00:00`, { key: place.key })
    expect(names(answer)).toEqual(['00'])
  })

  it('relative to now', async () => {
    const now = micros(app.services.now())
    const recent = await placeWith([
      { event: 'minutes', timestamp: now - 10n * 60n * SECOND },
      { event: 'hours', timestamp: now - 5n * HOUR },
      { event: 'days', timestamp: now - 3n * DAY },
      { event: 'year', timestamp: now - 300n * DAY },
    ])
    expect(names(await list(recent, { after: '-30M' }))).toEqual(['minutes'])
    expect(names(await list(recent, { after: '-24h' }))).toEqual(['minutes', 'hours'])
    expect(names(await list(recent, { after: '-7d' }))).toEqual(['minutes', 'hours', 'days'])
    expect(names(await list(recent, { after: '1y', before: '-1w' }))).toEqual(['year'])
    expect(names(await list(recent, { before: '-1dStart' }))).toEqual(['days', 'year'])
  })

  it.each([
    ['after', 'yesterday'],
    ['before', '2024-13-01'],
    ['after', '2024-06-01T25:00:00'],
    ['before', '-7x'],
  ])('%s=%s is 400', async (name, value) => {
    const { status, body } = await list(place, { [name]: value })
    expect([status, body.type, body.code, body.attr]).toEqual([
      400,
      'validation_error',
      'invalid_input',
      name,
    ])
  })
})

describe('window and order', () => {
  it('newest first, ties by uuid, both descending', async () => {
    const timestamp = '2024-06-01T10:00:00Z'
    const place = await placeWith([
      { uuid: uuidOf(1), timestamp },
      { uuid: uuidOf(3), timestamp },
      { uuid: uuidOf(2), timestamp },
      { uuid: uuidOf(9), timestamp: '2024-06-01T09:59:59.999999Z' },
      { uuid: uuidOf(0), timestamp: '2024-06-01T10:00:00.000001Z' },
    ])
    const newest = [0, 3, 2, 1, 9].map(uuidOf)
    expect(idsOf(await list(place))).toEqual(newest)
    for (const orderBy of ['["-timestamp"]', '-timestamp', '[]'])
      expect(idsOf(await list(place, { orderBy }))).toEqual(newest)
    for (const orderBy of ['["timestamp"]', 'timestamp']) {
      expect(idsOf(await list(place, { orderBy }))).toEqual(newest.toReversed())
    }
  })

  it.each([
    'event',
    '["event"]',
    '["-timestamp","event"]',
    '{"timestamp":1}',
    '["timestamp"',
    '[1]',
    'timestamp DESC',
  ])('orderBy=%s is 400', async (orderBy) => {
    const answer = await list(await openPlace(app), { orderBy })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: 'orderBy' } })
  })

  it('however old, an event is listed when fewer newer ones match', async () => {
    const now = micros(app.services.now())
    const ages = [
      0n,
      30n * 60n * SECOND,
      3n * HOUR,
      2n * DAY,
      20n * DAY,
      400n * DAY,
      3650n * DAY,
      700_000n * DAY,
    ]
    const place = await placeWith(ages.map((age) => ({ event: String(age), timestamp: now - age })))
    expect(names(await list(place))).toEqual(ages.map(String))
    // Each length of page ends its search in another trial range.
    for (let limit = 1; limit <= ages.length; limit++) {
      expect(names(await list(place, { limit }))).toEqual(ages.slice(0, limit).map(String))
      const oldest = await list(place, { limit, orderBy: 'timestamp', after: '0005-01-01' })
      expect(names(oldest)).toEqual(ages.toReversed().slice(0, limit).map(String))
    }
  })

  it('what lies more than five seconds ahead is hidden unless before says otherwise', async () => {
    const now = micros(app.services.now())
    const place = await placeWith([
      { event: 'now', timestamp: now },
      { event: 'soon', timestamp: now + 3n * SECOND },
      { event: 'later', timestamp: now + HOUR },
    ])
    expect(names(await list(place))).toEqual(['soon', 'now'])
    expect(names(await list(place, { before: formatMicros(now + DAY) }))).toEqual(['later', 'soon', 'now'])
    expect(names(await list(place, { orderBy: 'timestamp' }))).toEqual(['now', 'soon'])
  })
})

describe('limit and offset', () => {
  let place: Place
  beforeAll(async () => {
    const start = micros(new Date('2024-06-01T00:00:00Z'))
    place = await placeWith(
      Array.from({ length: 120 }, (_, index) => ({ event: String(index), timestamp: start - BigInt(index) })),
    )
  })

  it('100 unless told', async () => {
    expect(names(await list(place))).toHaveLength(100)
    expect(names(await list(place, { limit: 7 }))).toHaveLength(7)
    expect(names(await list(place, { limit: 60_000 }))).toHaveLength(120)
    expect(names(await list(place, { limit: '999999999999999999999' }))).toHaveLength(120)
  })

  it('offset skips', async () => {
    expect(names(await list(place, { offset: 118 }))).toEqual(['118', '119'])
    expect(names(await list(place, { offset: 100_000 }))).toEqual([])
    expect(names(await list(place, { offset: 9_000_000_000_000_000 }))).toEqual([])
    expect(names(await list(place, { offset: 117, orderBy: 'timestamp' }))).toEqual(['2', '1', '0'])
    const values = await list(place, { select: ['event'], offset: 100_001 })
    expect(values).toMatchObject({ status: 400, body: { attr: 'offset' } })
  })

  describe('a walk by offset, as ELT tools do', () => {
    const before = '2024-06-02T00:00:00Z'
    const HOUR_OF = micros(new Date('2024-06-01T12:00:00Z'))

    /** Runs the work; what the store was asked meanwhile, without what is bound to it. */
    async function questionsOf(work: () => Promise<unknown>): Promise<string[]> {
      const { eventStore } = app.services
      const query = eventStore.query.bind(eventStore)
      const asked: string[] = []
      eventStore.query = (question) => {
        asked.push(question.sql)
        return query(question)
      }
      try {
        await work()
      } finally {
        eventStore.query = query
      }
      return asked
    }

    it('meets every event once, also when others come in meanwhile', async () => {
      const walked = await placeWith(
        Array.from({ length: 23 }, (_, index) => ({
          event: String(index),
          timestamp: HOUR_OF - BigInt(index),
        })),
      )
      for (const orderBy of ['-timestamp', 'timestamp']) {
        const seen: string[] = []
        for (let offset = 0; ; offset += 5) {
          const page = names(await list(walked, { before, orderBy, limit: 5, offset }))
          seen.push(...page)
          const isNewest = orderBy === '-timestamp'
          await store(walked, [{ event: 'late', timestamp: HOUR_OF + (isNewest ? HOUR : -HOUR) }])
          if (page.length < 5) break
        }
        const own = seen.filter((name) => name !== 'late')
        const expected = Array.from({ length: 23 }, (_, index) => String(index))
        expect(own).toEqual(orderBy === '-timestamp' ? expected : expected.toReversed())
      }
    })

    it('asks for each page what it asks for the second; only a leap is counted, and no more is read for it', async () => {
      const pages = [20, 40, 60, 80].map((offset) => ({ before, limit: 20, offset }))
      await list(place, { before, limit: 20 })
      const asked: string[][] = []
      for (const page of pages) asked.push(await questionsOf(() => list(place, page)))
      expect(asked).toEqual(pages.map(() => asked[0]))
      expect(asked[0]!.join()).not.toMatch(/\boffset\b/i)
      const leap = await questionsOf(() => list(place, { before, limit: 20, offset: 77 }))
      const counted = leap.filter((sql) => /\boffset\b/i.test(sql))
      expect(counted.length).toBeGreaterThan(0)
      expect(counted.join()).not.toContain('properties')
      expect(leap.filter((sql) => !counted.includes(sql))).toEqual(asked[0])
    })

    it('another question, another caller and a later day begin anew', async () => {
      const at = { before, limit: 20, offset: 20 }
      const isCounted = async (work: () => Promise<unknown>) =>
        (await questionsOf(work)).some((sql) => /\boffset\b/i.test(sql))
      await list(place, { before, limit: 20 })
      expect(await isCounted(() => list(place, at))).toBe(false)
      expect(await isCounted(() => list(place, { ...at, distinct_id: 'someone' }))).toBe(true)
      expect(await isCounted(() => list(place, { ...at, before: '2024-06-03' }))).toBe(true)
      const [owner] = await app.db.rows<{ user_id: number }>(sql`
        SELECT user_id FROM membership JOIN project USING (organization_id) WHERE project.id = ${place.project_id}`)
      const key = await createKey(app, { id: owner!.user_id }, { scopes: ['query:read'] })
      expect(await isCounted(() => app.get(withQuery(place.url, at), { key }))).toBe(true)
      app.advance(11 * 60_000)
      expect(await isCounted(() => list(place, at))).toBe(true)
    })
  })

  it.each([
    ['limit', '0'],
    ['limit', '-1'],
    ['limit', '1.5'],
    ['limit', 'ten'],
    ['limit', '1e3'],
    ['offset', '9'.repeat(17)],
    ['offset', '-1'],
    ['offset', 'ten'],
    ['offset', '1.5'],
  ])('%s=%s is 400', async (name, value) => {
    const { status, body } = await list(place, { [name]: value })
    expect([status, body.type, body.code, body.attr]).toEqual([
      400,
      'validation_error',
      'invalid_input',
      name,
    ])
  })
})

describe('next', () => {
  const minute = (index: number) => `2024-06-01T10:${String(index).padStart(2, '0')}:00`
  let place: Place
  beforeAll(async () => {
    place = await placeWith(
      Array.from({ length: 5 }, (_, index) => ({
        uuid: uuidOf(index),
        event: String(index),
        timestamp: `${minute(index)}.5Z`,
        properties: { even: index % 2 === 0 },
      })),
    )
  })
  const follow = async (url: string) => app.get(url.replace('http://longshore.test', ''), { key: place.key })

  it('is the same address with before moved to the last event, and null at the end', async () => {
    const first = await list(place, { limit: 2, after: '2024-01-01', event: '' })
    expect(names(first)).toEqual(['4', '3'])
    expect(first.body.next).toBe(
      `http://longshore.test${place.url}?limit=2&after=2024-01-01&event=` +
        `&before=2024-06-01T10%3A03%3A00.500000%2B00%3A00&before_id=${uuidOf(3)}`,
    )
    const second = await follow(first.body.next)
    expect(names(second)).toEqual(['2', '1'])
    const third = await follow(second.body.next)
    expect(third.body.next).toBeNull()
    expect(names(third)).toEqual(['0'])
  })

  it('is null when the page is exactly full', async () => {
    expect((await list(place, { limit: 5 })).body.next).toBeNull()
    expect((await list(place, { limit: 4 })).body.next).not.toBeNull()
  })

  it('moves after when ascending', async () => {
    const first = await list(place, { limit: 3, orderBy: '["timestamp"]' })
    const next = new URL(first.body.next)
    expect(Object.fromEntries(next.searchParams)).toEqual({
      limit: '3',
      orderBy: '["timestamp"]',
      after: '2024-06-01T10:02:00.500000+00:00',
      after_id: uuidOf(2),
    })
    expect(names(await follow(first.body.next))).toEqual(['3', '4'])
  })

  it('drops the offset, keeps filters, never repeats a key', async () => {
    const properties = JSON.stringify([{ key: 'even', value: true }])
    const url = withQuery(place.url, { limit: 1, offset: 1, properties, personal_api_key: place.key })
    const first = await app.get(url)
    expect(names(first)).toEqual(['2'])
    const next = new URL(first.body.next)
    expect([...next.searchParams.keys()].sort()).toEqual(['before', 'before_id', 'limit', 'properties'])
    expect(names(await follow(first.body.next))).toEqual(['0'])
  })

  it('keeps the path it was asked at', async () => {
    const url = `/api/environments/${place.project_id}/events.json`
    const first = await app.get(`${url}?limit=4`, { key: place.key })
    expect(new URL(first.body.next).pathname).toBe(url)
    expect(names(await follow(first.body.next))).toEqual(['0'])
  })

  it('means the same instants later: a relative end is written out', async () => {
    const now = micros(app.services.now())
    const recent = await placeWith(
      [1n, 2n, 3n].map((hours) => ({ event: String(hours), timestamp: now - hours * HOUR })),
    )
    const first = await app.get(withQuery(recent.url, { limit: 2, after: '-4h' }), { key: recent.key })
    app.advance(2 * 3600 * 1000)
    const second = await app.get(first.body.next.replace('http://longshore.test', ''), { key: recent.key })
    app.advance(-2 * 3600 * 1000)
    expect(names(second)).toEqual(['3'])
  })

  it('a client that carries only before gets what is strictly earlier', async () => {
    const timestamp = '2024-06-01T10:00:00Z'
    const tied = await placeWith([1, 2, 3].map((index) => ({ uuid: uuidOf(index), timestamp })))
    await store(tied, [{ uuid: uuidOf(4), timestamp: '2024-06-01T09:00:00Z' }])
    const first = await app.get(withQuery(tied.url, { limit: 2 }), { key: tied.key })
    expect(idsOf(first)).toEqual([3, 2].map(uuidOf))
    const before = new URL(first.body.next).searchParams.get('before')!
    expect(idsOf(await app.get(withQuery(tied.url, { limit: 2, before }), { key: tied.key }))).toEqual([
      uuidOf(4),
    ])
    expect(
      idsOf(await app.get(first.body.next.replace('http://longshore.test', ''), { key: tied.key })),
    ).toEqual([1, 4].map(uuidOf))
  })

  it.each(['before', 'after'])('%s_id that is no id is 400', async (name) => {
    const answer = await list(place, { [name]: '2024-06-01', [`${name}_id`]: "'; drop" })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: `${name}_id` } })
  })
})

describe('the record', () => {
  const only = async (event: GivenEvent, prepare?: (place: Place) => Promise<unknown>) => {
    const place = await placeWith([event])
    await prepare?.(place)
    return (await list(place)).body.results[0]
  }

  it('has eight fields', async () => {
    const record = await only({
      uuid: '0AB00000-0000-4000-8000-00000000000F'.toLowerCase(),
      event: '$pageview "quoted"',
      distinct_id: 'id "with" \u2028 signs',
      timestamp: '2024-06-01T10:00:00.123456Z',
      properties: {
        $browser: '"Chrome"',
        list: [1, { deep: null }],
        price: 1.5,
        empty: '',
        'key.with.dots': true,
      },
    })
    expect(record).toEqual({
      id: '0ab00000-0000-4000-8000-00000000000f',
      distinct_id: 'id "with" \u2028 signs',
      properties: {
        $browser: '"Chrome"',
        list: [1, { deep: null }],
        price: 1.5,
        empty: '',
        'key.with.dots': true,
      },
      event: '$pageview "quoted"',
      timestamp: '2024-06-01T10:00:00.123456+00:00',
      person: null,
      elements: [],
      elements_chain: '',
    })
  })

  it.each([
    ['2024-06-01T10:00:00Z', '2024-06-01T10:00:00+00:00'],
    ['2024-06-01T10:00:00.5Z', '2024-06-01T10:00:00.500000+00:00'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999+00:00'],
    // ClickHouse holds times from 1900 on.
    ['0001-01-01T00:00:00Z', `${TEST_ENGINE === 'duckdb' ? '0001' : '1900'}-01-01T00:00:00+00:00`],
  ])('%s is written %s', async (timestamp, written) => {
    expect((await only({ timestamp })).timestamp).toBe(written)
  })

  it('shows the person: first distinct id, and of the properties only who it is', async () => {
    const record = await only({ distinct_id: 'b' }, (place) =>
      storePerson(place, {
        distinct_ids: ['a', 'b'],
        is_identified: true,
        properties: { email: 'a@example.com', name: 'A', age: 5 },
      }),
    )
    expect(record.person).toEqual({
      is_identified: true,
      distinct_ids: ['a'],
      properties: { email: 'a@example.com', name: 'A' },
    })
  })

  it('has no person when the event asked for no profile, whatever its distinct id has', async () => {
    const makePerson = (place: Place) => storePerson(place, { distinct_ids: ['b'] })
    const without = await only(
      { distinct_id: 'b', properties: { $process_person_profile: false } },
      makePerson,
    )
    expect(without.person).toBeNull()
    const quoted = { note: '"$process_person_profile":false', inner: { $process_person_profile: false } }
    const withOne = await only({ distinct_id: 'b', properties: quoted }, makePerson)
    expect(withOne.person).toEqual({ is_identified: false, distinct_ids: ['b'], properties: {} })
  })

  it('reads the elements', async () => {
    const elements_chain =
      'a.btn:attr__x="1"href="/go"nth-child="1"nth-of-type="2"text="Go";body:nth-child="3"'
    const record = await only({ elements_chain })
    expect(record.elements_chain).toBe(elements_chain)
    expect(record.elements).toMatchObject([
      { tag_name: 'a', attr_class: ['btn'], href: '/go', text: 'Go', attributes: { attr__x: '1' }, order: 0 },
      { tag_name: 'body', nth_child: 3, order: 1 },
    ])
  })

  it('a long page is the same in pieces', async () => {
    const place = await openPlace(app)
    const filling = 'x'.repeat(2000)
    const given = Array.from({ length: 1000 }, (_, index) => ({
      event: String(index),
      properties: { filling, index },
    }))
    await store(place, given)
    const { body } = await list(place, { limit: 1000 })
    expect(
      body.results.map(({ event }: { event: string }) => Number(event)).sort((a: number, b: number) => a - b),
    ).toEqual(given.map((_, index) => index))
    expect(
      body.results.every(
        ({ properties }: { properties: { filling: string } }) => properties.filling === filling,
      ),
    ).toBe(true)
  })
})

describe('the rest', () => {
  it("the project's zone moves nothing but the edges of relative times", async () => {
    const place = await placeWith([{ event: 'a', timestamp: '2024-06-01T10:00:00Z' }])
    await app.patch(`/api/projects/${place.project_id}/`, { timezone: 'Asia/Tokyo' }, { key: place.key })
    const { body } = await list(place, { after: '2024-06-01T09:59:59', before: '2024-06-01T10:00:01' })
    expect(body.results).toMatchObject([{ timestamp: '2024-06-01T10:00:00+00:00' }])
    const selected = await list(place, { select: ['timestamp'] })
    expect(selected.body).toMatchObject({
      types: [`DateTime64(6, 'Asia/Tokyo')`],
      results: [['2024-06-01T19:00:00+09:00']],
    })
    const now = app.services.now()
    const tokyo = new Date(now.getTime() + 9 * 3_600_000)
    const midnight = BigInt(Math.floor(tokyo.getTime() / 86_400_000) * 86_400_000 - 9 * 3_600_000) * 1000n
    await store(place, [
      { event: 'today', timestamp: midnight + 1n },
      { event: 'yesterday', timestamp: midnight - 1n },
    ])
    expect(names(await list(place, { after: 'dStart' }))).toEqual(['today'])
  })
})

describe('refusals', () => {
  it('who may not, and which project is not there', async () => {
    const place = await placeWith([{}])
    const { owner } = await createOrganization(app)
    const poor = await createKey(app, owner, { scopes: ['project:read'] })
    expect((await app.get(place.url)).status).toBe(401)
    expect(await app.get(place.url, { key: poor })).toMatchObject({
      status: 403,
      body: { code: 'permission_denied' },
    })
    expect((await app.get(place.url, { key: owner.key })).status).toBe(403)
    expect((await app.get('/api/projects/2147483647/events/', { key: owner.key })).status).toBe(404)
    expect((await app.post(place.url, {}, { key: place.key })).status).toBe(405)
  })

  it("another project's events never show", async () => {
    const mine = await placeWith([{ event: 'mine' }])
    const other = await placeWith([{ event: 'other' }])
    expect(names(await list(mine))).toEqual(['mine'])
    expect(names(await list(other))).toEqual(['other'])
    for (const where of ['1 = 1', "event = 'other' or true"])
      expect(names(await list(mine, { where: [where] }))).toEqual(['mine'])
  })

  it.each([
    ['where', '["properties.x ="]', 'hogql_syntax_error'],
    ['where', '["nothing = 1"]', 'hogql_query_error'],
    ['where', '["event = 1", "count() > 1"]', 'hogql_query_error'],
    ['where', 'properties.x = 1', 'invalid_input'],
    ['where', '[1]', 'invalid_input'],
    ['where', '{}', 'invalid_input'],
  ])('%s=%s is 400 %s', async (name, value, code) => {
    const answer = await list(await openPlace(app), { [name]: value })
    expect(answer).toMatchObject({ status: 400, body: { type: 'validation_error', code, attr: name } })
  })

  it('an unknown format is 404', async () => {
    expect(await list(await openPlace(app), { format: 'xml' })).toMatchObject({
      status: 404,
      body: { detail: expect.stringContaining('json or csv') },
    })
  })

  it('list and retrieve share 240 a minute and 1,200 an hour; values have 60 and 300', async () => {
    const limited = await startTestApp({ RATE_LIMITS: 'on' })
    try {
      const { project, owner } = await createOrganization(limited)
      const base = `/api/projects/${project.id}/events`
      const statuses = async (url: string, count: number) =>
        (await Promise.all(Array.from({ length: count }, () => limited.get(url, { key: owner.key })))).map(
          ({ status }) => status,
        )
      expect(new Set(await statuses(`${base}/?limit=0`, 200))).toEqual(new Set([400]))
      expect(new Set(await statuses(`${base}/no-id/`, 40))).toEqual(new Set([400]))
      const refused = await limited.get(`${base}.csv`, { key: owner.key })
      expect(refused).toMatchObject({ status: 429, body: { type: 'throttled_error', code: 'throttled' } })
      expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1)
      expect(new Set(await statuses(`${base}/values/`, 60))).toEqual(new Set([400]))
      expect((await limited.get(`${base}/values/`, { key: owner.key })).status).toBe(429)
    } finally {
      await limited.close()
    }
  })
})
