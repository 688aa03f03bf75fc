// Every form of every column that files have.
import { describe, expect, it } from 'vitest'
import { formatMicros } from '../../../lib/microseconds.ts'
import { isUuid } from '../../../lib/uuid.ts'
import { Refusal } from '../capture/refusal.ts'
import type { JsonObject } from '../../../lib/json-object.ts'
import { toEvent } from './map-row.ts'

const PLACE = { identity: 'file', line: 3, started_at: new Date('2026-01-02T03:04:05Z') }
const UUID = '0190a6b2-7e4c-7b9a-8d51-3f1f6a3c9e21'
const BASE = { event: 'bought', distinct_id: 'ada' }
const mapped = (fields: JsonObject) => toEvent({ ...BASE, ...fields }, PLACE)

function refusal(fields: JsonObject): string {
  try {
    toEvent(fields, PLACE)
  } catch (error) {
    if (error instanceof Refusal) return error.fault.detail
    throw error
  }
  throw new Error('was taken')
}

describe('names and ids', () => {
  it('all fields of our own', () => {
    const event = mapped({ uuid: UUID, timestamp: '2025-05-06T07:08:09.123456Z', properties: { a: 1 } })
    expect(event).toMatchObject({ ...BASE, uuid: UUID, properties: { a: 1 } })
    expect(formatMicros(event.timestamp)).toBe('2025-05-06T07:08:09.123456Z')
  })

  it.each([
    [{ uuid: UUID.toUpperCase() }, UUID],
    [{ uuid: UUID.replaceAll('-', '') }, UUID],
    [{ id: UUID }, UUID],
    [{ uuid: UUID, id: '7' }, UUID],
  ])('%j is the id', (fields, uuid) => {
    expect(mapped(fields).uuid).toBe(uuid)
  })

  it('without one the place in the file gives it: the same each time, another for each line and file', () => {
    const ids = [
      mapped({}).uuid,
      mapped({ uuid: '', id: 17 }).uuid,
      toEvent(BASE, { ...PLACE, started_at: new Date() }).uuid,
      toEvent(BASE, { ...PLACE, line: 4 }).uuid,
      toEvent(BASE, { ...PLACE, identity: 'other' }).uuid,
    ]
    expect(ids.every(isUuid)).toBe(true)
    expect(new Set(ids.slice(0, 3)).size).toBe(1)
    expect(new Set(ids).size).toBe(3)
  })

  it.each([
    [{ distinct_id: 17 }, '17'],
    [{ distinct_id: undefined, $distinct_id: 'eve' }, 'eve'],
    [{ distinct_id: null, properties: { distinct_id: 'eve' } }, 'eve'],
  ])('%j: whose event it is', (fields, distinct_id) => {
    expect(mapped(fields).distinct_id).toBe(distinct_id)
  })
})

describe('timestamp', () => {
  it.each([
    ['2025-05-06T07:08:09Z', '2025-05-06T07:08:09Z'],
    ['2025-05-06T07:08:09.5+02:00', '2025-05-06T05:08:09.500000Z'],
    ['2025-05-06 07:08:09.123456+00', '2025-05-06T07:08:09.123456Z'],
    ['2025-05-06 07:08:09 UTC', '2025-05-06T07:08:09Z'],
    ['2025-05-06', '2025-05-06T00:00:00Z'],
    [1746515289, '2025-05-06T07:08:09Z'],
    [1746515289.25, '2025-05-06T07:08:09.250000Z'],
    ['1746515289123', '2025-05-06T07:08:09.123000Z'],
    ['1746515289123456', '2025-05-06T07:08:09.123456Z'],
    [1746515289123456n, '2025-05-06T07:08:09.123456Z'],
    ['0099-01-01', '0099-01-01T00:00:00Z'],
    ['2026-01-03T02:00:00Z', '2026-01-03T02:00:00Z'],
    ['', '2026-01-02T03:04:05Z'],
    [null, '2026-01-02T03:04:05Z'],
  ])('%s is %s', (timestamp, iso) => {
    expect(formatMicros(mapped({ timestamp }).timestamp)).toBe(iso)
  })
})

describe('properties', () => {
  it.each([
    [undefined, {}],
    [null, {}],
    ['', {}],
    ['{}', {}],
    [{ a: [1] }, { a: [1] }],
    ['{"a":[1]}', { a: [1] }],
    [JSON.stringify('{"a":[1]}'), { a: [1] }],
  ])('%j', (properties, expected) => {
    expect(mapped({ properties }).properties).toEqual(expected)
  })

  it('from columns of their own, as the CSV of the listing has them', () => {
    const fields = {
      'properties.$browser': 'Chrome',
      'properties.amount': '12.5',
      'properties.code': '007',
      'properties.paid': 'True',
      'properties.long': '12345678901234567890',
      'properties.__proto__': 'x',
      'person.properties.email': 'ada@example.com',
    }
    const expected = {
      $browser: 'Chrome',
      amount: 12.5,
      code: '007',
      paid: true,
      long: '12345678901234567890',
    }
    const { properties } = mapped(fields)
    expect(properties).toEqual(expected)
    expect(Object.keys(properties)).not.toContain('__proto__')
  })

  it.each(['$set', 'set', 'people_set'])('`%s` becomes $set, over what the properties have', (name) => {
    const properties = { $set: { a: 1, b: 1 } }
    expect(mapped({ properties, [name]: '{"b":2}' }).properties).toEqual({ $set: { a: 1, b: 2 } })
    expect(mapped({ [name]: { c: 3 } }).properties).toEqual({ $set: { c: 3 } })
  })

  it.each(['$set_once', 'set_once', 'people_set_once'])('`%s` becomes $set_once', (name) => {
    expect(mapped({ [name]: '{"b":2}' }).properties).toEqual({ $set_once: { b: 2 } })
  })

  it.each([null, '', 'null', '""', '{}'])('an empty set column (%j) sets nothing', (set) => {
    expect(Object.keys((mapped({ set }).properties.$set as object | undefined) ?? {})).toEqual([])
  })

  it('`ip` becomes $ip unless there is one', () => {
    expect(mapped({ ip: '192.0.2.1' }).properties).toEqual({ $ip: '192.0.2.1' })
    expect(mapped({ ip: '192.0.2.1', properties: { $ip: '192.0.2.2' } }).properties).toEqual({
      $ip: '192.0.2.2',
    })
    expect(mapped({ ip: '' }).properties).toEqual({})
  })

  it.each([
    ['elements_chain', 'a.nav:nth-child="1"', { $elements_chain: 'a.nav:nth-child="1"' }],
    ['elements', 'a.nav:nth-child="1"', { $elements_chain: 'a.nav:nth-child="1"' }],
    ['elements', JSON.stringify('a:href="/"'), { $elements_chain: 'a:href="/"' }],
    ['elements', '[{"tag_name":"a","$el_text":"Go"}]', { $elements: [{ tag_name: 'a', $el_text: 'Go' }] }],
    ['elements', [], {}],
    ['elements', '[]', {}],
    ['elements', null, {}],
    ['elements_chain', '', {}],
    [
      'elements',
      [
        {
          tag_name: 'a',
          text: 'Go',
          href: '/',
          attr_class: ['x'],
          attr_id: null,
          nth_child: 1,
          attributes: { attr__rel: 'me' },
        },
      ],
      {
        $elements: [
          {
            tag_name: 'a',
            $el_text: 'Go',
            attr__href: '/',
            attr__class: ['x'],
            nth_child: 1,
            attr__rel: 'me',
          },
        ],
      },
    ],
  ])('%s: %j', (name, value, expected) => {
    expect(mapped({ [name]: value }).properties).toEqual(expected)
  })

  it('elements inside the properties win over the column', () => {
    const properties = { $elements_chain: 'a' }
    expect(mapped({ properties, elements_chain: 'b' }).properties).toEqual({ $elements_chain: 'a' })
  })

  it('what tells of the row, the project or the person is passed over', () => {
    const other = {
      team_id: 3,
      site_url: '',
      created_at: '2020-01-01',
      _inserted_at: '2020-01-01',
      inserted_at: '2020-01-01',
      bq_ingested_timestamp: '2020-01-01',
      person_id: UUID,
      person_properties: { a: 1 },
      person: null,
      sent_at: '2020-01-01',
      offset: 5000,
    }
    expect(mapped(other)).toEqual(mapped({}))
  })
})

describe('refused', () => {
  it.each([
    [{ distinct_id: 'a' }, /`event` must be given/],
    [{ event: '', distinct_id: 'a' }, /`event` must be given/],
    [{ event: 'a' }, /`distinct_id` must be given/],
    [{ ...BASE, uuid: 'seven' }, /`uuid` is not a UUID/],
    [{ ...BASE, timestamp: 'yesterday' }, /`timestamp` is not a time: yesterday/],
    [{ ...BASE, timestamp: '2025-02-30' }, /`timestamp` is not a time/],
    [{ ...BASE, timestamp: 12 }, /`timestamp` is not a time/],
    [{ ...BASE, timestamp: 9n * 10n ** 18n }, /`timestamp` is not a time/],
    [{ ...BASE, timestamp: '2026-02-01' }, /`timestamp` lies in the future/],
    [{ ...BASE, properties: 'none' }, /`properties` must be an object/],
    [{ ...BASE, properties: '[1]' }, /`properties` must be an object/],
    [{ ...BASE, set: '7' }, /`set` must be an object/],
    [{ ...BASE, elements: 7 }, /`elements` must be a list/],
    [{ ...BASE, properties: `${'{"a":'.repeat(101)}1${'}'.repeat(101)}` }, /nested 100 levels/],
  ])('%o', (fields, message) => {
    expect(refusal(fields)).toMatch(message)
  })
})
