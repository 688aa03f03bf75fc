import { describe, expect, it } from 'vitest'
import { isUuid } from '../../../lib/uuid.ts'
import { parseMicros } from '../../../lib/microseconds.ts'
import { toPipelineEvent } from './event-fields.ts'
import { Refusal } from './refusal.ts'

const NOW = new Date('2024-06-01T12:00:00.250Z')
const TIME = { now: NOW, sent_at: null, sent_at_of_query: null }
const micros = (iso: string) => parseMicros(iso)!

const read = (item: unknown, path: string[] = [], time: Partial<typeof TIME> | object = {}) =>
  toPipelineEvent(item, path, { ...TIME, ...time })

function faultOf(item: unknown, path: string[] = []) {
  try {
    read(item, path)
    return 'accepted'
  } catch (error) {
    if (error instanceof Refusal) return `${error.fault.code} ${error.fault.attr}`
    throw error
  }
}

const GOOD = { event: 'e', distinct_id: 'd' }

describe('event', () => {
  it.each<[unknown, string]>([
    ['signed up', 'signed up'],
    [' ', ' '],
    ['x'.repeat(201), 'x'.repeat(200)],
    ['😀'.repeat(250), '😀'.repeat(200)],
    [5, '5'],
    [false, 'false'],
    [{ a: 1 }, '{"a":1}'],
    [['a', 1], '["a",1]'],
  ])('%j is kept as %s', (event, expected) => {
    expect(read({ ...GOOD, event }).event).toBe(expected)
  })

  it.each([undefined, null, ''])('%j is refused', (event) => {
    expect(faultOf({ ...GOOD, event })).toBe('invalid_payload event')
  })

  it('may be missing where the path has a name for it, not empty', () => {
    expect(toPipelineEvent({ distinct_id: 'd' }, [], TIME, { missing_name: '$identify' }).event).toBe(
      '$identify',
    )
    expect(toPipelineEvent(GOOD, [], TIME, { missing_name: '$identify' }).event).toBe('e')
    expect(() =>
      toPipelineEvent({ distinct_id: 'd', event: '' }, [], TIME, { missing_name: '$identify' }),
    ).toThrow(Refusal)
  })
})

describe('distinct_id', () => {
  it.each<[object, string]>([
    [{ distinct_id: 'a', $distinct_id: 'b', properties: { distinct_id: 'c' } }, 'a'],
    [{ $distinct_id: 'b', properties: { distinct_id: 'c' } }, 'b'],
    [{ properties: { distinct_id: 'c' } }, 'c'],
    [{ distinct_id: null, properties: { distinct_id: 'c' } }, 'c'],
    [{ distinct_id: 5 }, '5'],
    [{ distinct_id: 0 }, '0'],
    [{ distinct_id: { a: [1] } }, '{"a":[1]}'],
    [{ distinct_id: 'x'.repeat(300) }, 'x'.repeat(200)],
  ])('%j', (fields, expected) => {
    expect(read({ event: 'e', ...fields }).distinct_id).toBe(expected)
  })

  it.each<object>([
    {},
    { distinct_id: null },
    { distinct_id: '' },
    { distinct_id: '', properties: { distinct_id: 'c' } },
    { properties: { distinct_id: '' } },
    { properties: { $distinct_id: 'c' } },
  ])('%j is refused', (fields) => {
    expect(faultOf({ event: 'e', ...fields })).toBe('invalid_payload distinct_id')
  })
})

describe('properties', () => {
  it.each<[unknown, unknown]>([
    [undefined, {}],
    [null, {}],
    [
      { token: 't', distinct_id: 'd', a: { b: [1] } },
      { token: 't', distinct_id: 'd', a: { b: [1] } },
    ],
  ])('%j is kept whole', (properties, expected) => {
    expect(read({ ...GOOD, properties }).properties).toEqual(expected)
  })

  it.each(['text', 5, ['a'], true])('%j is refused', (properties) => {
    expect(faultOf({ ...GOOD, properties })).toBe('invalid_payload properties')
  })

  it('get $set and $set_once of the top level, which win', () => {
    const { properties } = read({
      ...GOOD,
      properties: { $set: { a: 1, b: 1 }, $set_once: 'odd' },
      $set: { b: 2, c: 2 },
      $set_once: { d: 3 },
      other: 'ignored',
    })
    expect(properties).toEqual({ $set: { a: 1, b: 2, c: 2 }, $set_once: { d: 3 } })
  })

  it.each(['text', 5, ['a'], null])('ignore a top-level $set of %j', ($set) => {
    expect(read({ ...GOOD, $set, properties: { $set: { a: 1 } } }).properties).toEqual({ $set: { a: 1 } })
  })
})

describe('uuid', () => {
  const uuid = '0190b5b0-8f2a-7c3e-9d4f-123456789abc'
  it.each([uuid, uuid.toUpperCase(), uuid.replaceAll('-', '')])('%s is kept', (given) => {
    expect(read({ ...GOOD, uuid: given }).uuid).toBe(uuid)
  })

  it.each([undefined, null, ''])('%j: one of now is made', (given) => {
    const made = read({ ...GOOD, uuid: given }).uuid
    expect(isUuid(made)).toBe(true)
    expect(made[14]).toBe('7')
    expect(parseInt(made.replaceAll('-', '').slice(0, 12), 16)).toBe(NOW.getTime())
    expect(made).not.toBe(read({ ...GOOD, uuid: given }).uuid)
  })

  it.each(['x', `${uuid}0`, `{${uuid}}`, '0190b5b0-8f2a7c3e9d4f123456789abc', 5, {}])(
    '%j is refused',
    (given) => {
      expect(faultOf({ ...GOOD, uuid: given })).toBe('invalid_payload uuid')
    },
  )
})

describe('time', () => {
  it('is corrected by the nearest sent_at', () => {
    const item = { ...GOOD, timestamp: '2024-06-01T10:00:00Z' }
    const query = { sent_at_of_query: micros('2024-06-01T10:00:03Z') }
    const event = { ...item, sent_at: '2024-06-01T10:00:02Z' }
    const body = { ...query, sent_at: micros('2024-06-01T10:00:01Z') }
    expect(read(item).timestamp).toBe(micros('2024-06-01T10:00:00Z'))
    expect(read(item, [], query).timestamp).toBe(micros('2024-06-01T11:59:57.250Z'))
    expect(read(event, [], query).timestamp).toBe(micros('2024-06-01T11:59:58.250Z'))
    expect(read(event, [], body).timestamp).toBe(micros('2024-06-01T11:59:59.250Z'))
  })

  it('is left alone with $ignore_sent_at', () => {
    const item = { ...GOOD, timestamp: '2024-06-01T10:00:00Z', properties: { $ignore_sent_at: true } }
    expect(read(item, [], { sent_at: micros('2024-06-01T10:00:01Z') }).timestamp).toBe(
      micros('2024-06-01T10:00:00Z'),
    )
  })

  it('of creation is that of arrival', () => {
    expect(read({ ...GOOD, timestamp: '2020-01-01T00:00:00Z' }).created_at).toBe(micros(NOW.toISOString()))
  })
})

describe('a fault names its place', () => {
  it.each<[unknown, string[], string]>([
    [{ event: 'e' }, ['batch', '3'], 'invalid_payload batch__3__distinct_id'],
    [{ distinct_id: 'd' }, ['0'], 'invalid_payload 0__event'],
    [{}, [], 'invalid_payload event'],
    [5, ['batch', '2'], 'invalid_payload batch__2'],
    [null, ['1'], 'invalid_payload 1'],
    [[], [], 'invalid_payload null'],
  ])('%j at %j', (item, path, expected) => {
    expect(faultOf(item, path)).toBe(expected)
  })

  it('and the index in words', () => {
    expect(() => read({ event: 'e' }, ['batch', '3'])).toThrow(/^Event 3: /)
  })
})
