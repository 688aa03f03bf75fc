// What a destination reads: pages behind a position, filters, single events.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeEvent, type GivenEvent } from '../../events/listing/fixture/events.ts'
import { openDuckDb } from '../../../platform/event-store/duckdb/open.ts'
import type { EventStore } from '../../../platform/event-store/event-store.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { assertFilters, filterCondition } from './filters.ts'
import { readEvents, readPage, type PageRequest } from './stored-events.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const NO_COPIES = { persons: [], deleted_persons: [], distinct_ids: [], groups: [] }

let folder: string
let store: EventStore
let projects = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-delivery-'))
  store = await openDuckDb({ folder, memory_mb: 200, query_timeout_ms: 20_000 })
})
afterAll(async () => {
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

/** A project of its own that holds these. */
async function storeEvents(given: readonly GivenEvent[]): Promise<number> {
  const project_id = ++projects
  const events = given.map((event) => makeEvent(event, NOW))
  await store.write([{ project_id, events, ...NO_COPIES }], NOW)
  return project_id
}

async function read(project_id: number, change: Partial<PageRequest> = {}) {
  return await readPage(store, {
    project: { id: project_id, timezone: 'UTC' },
    from: 0,
    last: await store.lastPosition(project_id),
    condition: null,
    max_events: 100,
    max_bytes: 1_000_000,
    now: NOW,
    ...change,
  })
}

const named = (count: number) => Array.from({ length: count }, (_, index) => ({ event: `e${index + 1}` }))
const namesOf = ({ events }: { events: readonly { event: string }[] }) => events.map(({ event }) => event)

describe('a page', () => {
  it('has the events behind the position as they were stored', async () => {
    const properties = { a: 1, nested: { b: [true, null, 'ü'] } }
    const uuid = '018e0000-0000-7000-8000-0000000000aa'
    const timestamp = '2026-02-28T23:59:59.123456Z'
    const project_id = await storeEvents([
      {},
      { uuid, event: 'x', distinct_id: 'ada', timestamp, properties },
    ])
    expect(await read(project_id, { from: 1 })).toEqual({
      events: [
        {
          seq: 2,
          uuid,
          event: 'x',
          distinct_id: 'ada',
          timestamp: '2026-02-28T23:59:59.123Z',
          properties,
        },
      ],
      to: 2,
      is_full: false,
    })
  })

  it('ends after so many events, and the next goes on there', async () => {
    const project_id = await storeEvents(named(5))
    const first = await read(project_id, { max_events: 2 })
    expect([namesOf(first), first.to, first.is_full]).toEqual([['e1', 'e2'], 2, true])
    const last = await read(project_id, { max_events: 4, from: 2 })
    expect([namesOf(last), last.to, last.is_full]).toEqual([['e3', 'e4', 'e5'], 5, false])
  })

  it('ends before it is too large, unless it is one event', async () => {
    const heavy = (event: string) => ({ event, properties: { filler: 'x'.repeat(4_000) } })
    const project_id = await storeEvents(['a', 'b', 'c'].map(heavy))
    const first = await read(project_id, { max_bytes: 10_000 })
    expect([namesOf(first), first.to, first.is_full]).toEqual([['a', 'b'], 2, true])
    const single = await read(project_id, { max_bytes: 1_000 })
    expect([namesOf(single), single.to, single.is_full]).toEqual([['a'], 1, true])
  })

  it('goes past what is not wanted', async () => {
    const project_id = await storeEvents(named(5))
    const condition = filterCondition({ events: [{ id: 'e2' }] }, 'UTC', NOW)
    const page = await read(project_id, { condition })
    expect([namesOf(page), page.to, page.is_full]).toEqual([['e2'], 5, false])
  })

  it('of a project without events is empty', async () => {
    expect(await read(++projects)).toEqual({ events: [], to: 0, is_full: false })
  })
})

describe('filters', () => {
  const given = [
    { event: 'order', properties: { amount: 5, $browser: 'Chrome' } },
    { event: 'order', properties: { amount: 50, $browser: 'Safari' } },
    { event: '$pageview', properties: { $browser: 'Chrome' } },
    { event: 'signed up', properties: {}, person_properties: '{"plan":"pro"}' },
  ]
  it.each([
    [null, [1, 2, 3, 4]],
    [{}, [1, 2, 3, 4]],
    [{ events: [] }, [1, 2, 3, 4]],
    [{ events: [{ id: 'order' }] }, [1, 2]],
    [{ events: [{ id: 'order', properties: null }] }, [1, 2]],
    [{ events: [{ id: 'order' }, { id: '$pageview' }] }, [1, 2, 3]],
    [{ events: [{ id: 'order', properties: [{ key: 'amount', value: 10, operator: 'gt' }] }] }, [2]],
    [{ events: [{ id: null, properties: [{ key: '$browser', value: 'Chrome' }] }] }, [1, 3]],
    [
      {
        events: [
          { id: 'signed up' },
          { id: 'order', properties: [{ key: 'toFloat(properties.amount) < 10', type: 'hogql' }] },
        ],
      },
      [1, 4],
    ],
    [{ events: [{ id: null, properties: [{ key: 'plan', value: 'pro', type: 'person' }] }] }, [4]],
    [{ events: [{ id: "x' OR 1=1" }] }, []],
  ])('%j', async (filters, expected) => {
    assertFilters(filters, 'duckdb')
    const project_id = await storeEvents(given)
    const page = await read(project_id, { condition: filterCondition(filters, 'UTC', NOW) })
    expect(page.events.map(({ seq }) => seq)).toEqual(expected)
  })

  it.each([
    [[]],
    ['order'],
    [{ events: {} }],
    [{ events: ['order'] }],
    [{ events: [{}] }],
    [{ events: [{ id: 5 }] }],
    [{ events: [{ id: 'a', properties: 5 }] }],
    [{ events: [{ id: 'a', properties: [{ key: 'count() > 1', type: 'hogql' }] }] }],
    [{ events: [{ id: 'a', properties: [{ key: 'rand() > 1', type: 'hogql' }] }] }],
    [{ events: [{ id: 'a', properties: [{ key: 'no such field', type: 'hogql' }] }] }],
    // Names that our own query has.
    [{ events: [{ id: 'a', properties: [{ key: 'bytes > 1', type: 'hogql' }] }] }],
    [{ events: [{ id: 'a', properties: [{ key: '{max_bytes} > 1', type: 'hogql' }] }] }],
    [{ events: [{ id: 'a', properties: { type: 'OR', values: [{ key: 'max(seq)', type: 'hogql' }] } }] }],
    [{ events: Array.from({ length: 101 }, () => ({ id: 'a' })) }],
  ])('%j cannot be used', (filters) => {
    expect(() => assertFilters(filters, 'duckdb')).toThrow(ApiError)
  })
})

describe('events by their positions', () => {
  it('are those that are there, thousands of them too', async () => {
    const project_id = await storeEvents(named(4_000))
    const seqs = Array.from({ length: 4_001 }, (_, index) => index + 1)
    const events = await readEvents(store, project_id, seqs, NOW)
    expect(events.size).toBe(4_000)
    expect(events.get(4_000)?.event).toBe('e4000')
    expect(await readEvents(store, project_id, [], NOW)).toEqual(new Map())
  })
})
