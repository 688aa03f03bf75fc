// Whoever walks through the events page by page misses none and gets none twice, whatever the history and the client.
// What is promised:
// - A client that follows `next` until it is null gets every event that was there when it began, exactly once, in order.
//   Events stored while it walks may appear, once, or not.
// - A client of old that takes only `before` (ascending: `after`) from the last event it saw gets no event twice, and
//   misses none except events that share the very timestamp of such a boundary: there `before` alone cannot say more.
import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPlace, store, withQuery, type Place } from '../src/features/events/listing/fixture/events.ts'
import { insertProject } from '../src/features/projects/queries.ts'
import { formatMicros, parseMicros } from '../src/lib/microseconds.ts'
import { createOrganization, type Workspace } from './factories.ts'
import { startTestApp, type TestApp } from './harness/app.ts'

const SEED = Number(process.env.COMPLETENESS_SEED ?? 20_240_601)
const RUNS = Number(process.env.COMPLETENESS_RUNS ?? 300)
// Walks are mostly waiting for the stores in turn, so a few go on at the same time.
const LANES = 4

const SECOND = 1_000_000n
const DAY = 86_400n * SECOND
const SPANS = [SECOND, 60n * SECOND, 3600n * SECOND, DAY, 7n * DAY, 40n * DAY, 366n * DAY, 3653n * DAY]
// Histories end well before now, so that no client sees them grow by the clock alone.
const END = BigInt(Date.UTC(2024, 5, 1)) * 1000n

type HistoryEvent = { uuid: string; timestamp: bigint; event: string }
type Page = { results: { id: string; timestamp: string }[]; next: string | null }

let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
})
afterAll(() => app.close())

async function get({ key }: Pick<Place, 'key'>, url: string): Promise<Page> {
  const response = await app.http.inject({
    url,
    headers: { host: 'longshore.test', authorization: `Bearer ${key}` },
  })
  if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}: ${response.body}`)
  return JSON.parse(response.body) as Page
}

const isBefore = (a: HistoryEvent, b: HistoryEvent) =>
  a.timestamp === b.timestamp ? a.uuid < b.uuid : a.timestamp < b.timestamp
const newestFirst = (events: readonly HistoryEvent[]) => events.toSorted((a, b) => (isBefore(a, b) ? 1 : -1))

/** Times from a few slots of a span, so that many are shared; some slots lie at the very ends. */
const history = fc
  .record({
    span: fc.constantFrom(...SPANS),
    slots: fc.constantFrom(1n, 2n, 5n, 40n, 1000n),
    places: fc.array(fc.tuple(fc.nat(999), fc.uuid(), fc.constantFrom('a', 'b')), { maxLength: 160 }),
  })
  .map(({ span, slots, places }) => {
    const taken = new Set<string>()
    const events = places.map(([place, uuid, event]) => {
      const timestamp = END - (span * (BigInt(place) % slots)) / slots
      return { uuid: taken.has(uuid) ? randomUUID() : (taken.add(uuid), uuid), timestamp, event }
    })
    return { span, events }
  })

const client = fc.record({
  limit: fc.oneof(
    fc.integer({ min: 1, max: 12 }),
    fc.integer({ min: 10, max: 60 }),
    fc.constantFrom(100, 50_000),
  ),
  /** Another size from the second page on. */
  then_limit: fc.option(fc.integer({ min: 1, max: 40 }), { freq: 1 }),
  oldest_first: fc.boolean(),
  carries: fc.constantFrom('next', 'time'),
  /** Where its range begins and ends, as parts of the history's span; null: it does not say. */
  after: fc.option(fc.integer({ min: -2, max: 12 }), { freq: 3 }),
  before: fc.option(fc.integer({ min: -2, max: 12 }), { freq: 3 }),
  event: fc.option(fc.constantFrom('a', 'b'), { freq: 3 }),
  /** Events stored after each page, at these parts of the span. */
  meanwhile: fc.oneof(
    fc.constant<number[]>([]),
    fc.array(fc.integer({ min: -1, max: 11 }), { maxLength: 4 }),
  ),
})

type Client = typeof client extends fc.Arbitrary<infer C> ? C : never
type Run = { span: bigint; events: readonly HistoryEvent[]; asked: Client }

async function newPlace(): Promise<Place> {
  const { id } = await insertProject(app.db, workspace.organization.id, {}, app.services.now())
  return { app, project_id: id, key: workspace.owner.key, url: `/api/projects/${id}/events/` }
}

type Walk = { seen: string[]; boundaries: Set<bigint>; inserted: Set<string> }

async function walk(place: Place, first: string, { span, asked }: Run): Promise<Walk> {
  const { carries, oldest_first, then_limit, meanwhile } = asked
  const found: Walk = { seen: [], boundaries: new Set(), inserted: new Set() }
  for (let url = first, pages = 0; ; pages++) {
    if (pages > 1000) throw new Error('the walk does not end')
    const page: Page = await get(place, url)
    found.seen.push(...page.results.map(({ id }) => id))
    // Somebody who inserts for ever is followed for ever: after some pages no more comes in.
    if (pages < 5 && meanwhile.length > 0) {
      const events = meanwhile.map((tenth) => ({
        uuid: randomUUID(),
        timestamp: END - (span * BigInt(tenth)) / 10n,
        event: 'a',
      }))
      await store(place, events)
      for (const { uuid } of events) found.inserted.add(uuid)
    }
    if (page.next === null) break
    const next: URL = new URL(page.next)
    if (then_limit !== null) next.searchParams.set('limit', String(then_limit))
    if (carries === 'time') {
      const name = oldest_first ? 'after' : 'before'
      const last = page.results.at(-1)!.timestamp
      expect(next.searchParams.get(name)).toBe(last)
      found.boundaries.add(parseMicros(last)!)
      next.searchParams.delete(`${name}_id`)
    }
    url = `${next.pathname}${next.search}`
  }
  return found
}

async function holds(run: Run): Promise<void> {
  const { span, events, asked } = run
  const place = await newPlace()
  await store(place, events)
  const at = (tenth: number | null) => (tenth === null ? null : END - (span * BigInt(tenth)) / 10n)
  const [after, before] = [at(asked.after), at(asked.before)]
  const url = withQuery(place.url, {
    limit: asked.limit,
    ...(asked.oldest_first ? { orderBy: '["timestamp"]' } : {}),
    ...(asked.event === null ? {} : { event: asked.event }),
    ...(after === null ? {} : { after: formatMicros(after) }),
    ...(before === null ? {} : { before: formatMicros(before) }),
  })
  const wanted = newestFirst(events).filter(
    ({ timestamp, event }) =>
      (after === null || timestamp > after) &&
      (before === null || timestamp < before) &&
      (asked.event === null || event === asked.event),
  )
  const ordered = (asked.oldest_first ? wanted.toReversed() : wanted).map(({ uuid }) => uuid)
  const { seen, boundaries, inserted } = await walk(place, url, run)
  expect(new Set(seen).size, 'an event came twice').toBe(seen.length)
  const known = new Set(ordered)
  const ofTheStart = seen.filter((id) => known.has(id))
  expect(
    seen.filter((id) => !known.has(id) && !inserted.has(id)),
    'events of another range',
  ).toEqual([])
  const excused = new Set(
    asked.carries === 'next'
      ? []
      : events.filter(({ timestamp }) => boundaries.has(timestamp)).map(({ uuid }) => uuid),
  )
  const gotten = new Set(ofTheStart)
  expect(ofTheStart).toEqual(ordered.filter((id) => gotten.has(id) || !excused.has(id)))
}

describe(`walks through the events (COMPLETENESS_SEED=${SEED})`, () => {
  it(`of ${RUNS} random histories and clients`, { timeout: 300_000 }, async () => {
    const run = fc
      .record({ history, asked: client })
      .map(({ history: { span, events }, asked }) => ({ span, events, asked }))
    const lanes = Array.from({ length: LANES }, (_, lane) =>
      fc.assert(fc.asyncProperty(run, holds), { numRuns: Math.ceil(RUNS / LANES), seed: SEED + lane }),
    )
    await Promise.all(lanes)
  })

  it('over 60,000 events of one time', { timeout: 300_000 }, async () => {
    const place = await openPlace(app)
    const ids = new Set<string>()
    for (let batch = 0; batch < 3; batch++) {
      const events = await store(
        place,
        Array.from({ length: 20_000 }, () => ({ timestamp: END })),
      )
      for (const { uuid } of events) ids.add(uuid)
    }
    for (const [limit, orderBy] of [
      [60_000, '-timestamp'],
      [7_919, 'timestamp'],
      [1_000, '-timestamp'],
    ] as const) {
      const sizes: number[] = []
      const seen: string[] = []
      for (let url: string | null = withQuery(place.url, { limit, orderBy }); url !== null;) {
        const { results, next }: Page = await get(place, url)
        for (const { id } of results) seen.push(id)
        sizes.push(results.length)
        url = next && next.replace('http://longshore.test', '')
      }
      expect([seen.length, new Set(seen).size]).toEqual([60_000, 60_000])
      expect(seen.filter((id) => !ids.has(id))).toEqual([])
      const sorted = seen.toSorted()
      const expected = orderBy === 'timestamp' ? sorted : sorted.toReversed()
      expect(seen.findIndex((id, index) => id !== expected[index])).toBe(-1)
      // Never more than 50,000 a page.
      expect(sizes[0]).toBe(Math.min(limit, 50_000))
    }
  })
})
