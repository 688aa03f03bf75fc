import { describe, expect, it } from 'vitest'
import { HOT_PROPERTIES } from '../../../platform/event-store/layout.ts'
import { toStoredEvent } from './store-form.ts'

const event = (properties: Record<string, unknown>) => ({
  uuid: '0190b5b0-8f2a-7c3e-9d4f-123456789abc',
  event: 'e',
  distinct_id: 'd',
  properties,
  timestamp: 1n,
  created_at: 2n,
})

const SOMEBODY = { id: '018f0000-0000-7000-8000-000000000001', properties: '{"plan":"pro"}' }

const hotOf = (properties: Record<string, unknown>) =>
  Object.fromEntries(
    toStoredEvent(event(properties), true, SOMEBODY).hot.flatMap((text, at) =>
      text === null ? [] : [[HOT_PROPERTIES[at], text]],
    ),
  )

describe('toStoredEvent', () => {
  it('keeps the fields and writes the properties as JSON, elements aside', () => {
    const stored = toStoredEvent(
      event({ a: { b: [1, null] }, n: Infinity, $elements_chain: 'a:' }),
      false,
      SOMEBODY,
    )
    expect(stored).toEqual({
      uuid: '0190b5b0-8f2a-7c3e-9d4f-123456789abc',
      event: 'e',
      distinct_id: 'd',
      timestamp: 1n,
      created_at: 2n,
      elements_chain: 'a:',
      has_person: false,
      person_id: SOMEBODY.id,
      person_properties: SOMEBODY.properties,
      properties: '{"a":{"b":[1,null]},"n":null}',
      hot: HOT_PROPERTIES.map(() => null),
    })
  })

  it.each<[unknown, string | undefined]>([
    ['Chrome', 'Chrome'],
    ['', ''],
    [5, '5'],
    [1.5e300, '1.5e+300'],
    [true, 'true'],
    [false, 'false'],
    [{ a: [1, 'x'] }, '{"a":[1,"x"]}'],
    [['a', null], '["a",null]'],
    [null, undefined],
    [undefined, undefined],
    [Infinity, undefined],
  ])('the hot column of %j', (value, expected) => {
    expect(hotOf({ $browser: value })).toEqual(expected === undefined ? {} : { $browser: expected })
  })

  it('has a place for every hot property', () => {
    const properties = Object.fromEntries(HOT_PROPERTIES.map((name, at) => [name, `value ${at}`]))
    expect(hotOf(properties)).toEqual(properties)
  })
})
