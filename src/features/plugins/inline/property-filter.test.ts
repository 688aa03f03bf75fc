import { expect, test } from 'vitest'
import { madeEvent } from './fixture/event.ts'
import { propertyFilter } from './property-filter.ts'

const given = () => ({
  gender: 'f',
  age: 30,
  'dotted.name': 1,
  address: { street: 'Quay', town: { name: 'X', zip: 1 } },
  list: [{ a: 1 }],
  $set: { gender: 'f', plan: 'pro' },
  $set_once: { gender: 'f', first: true },
})

test.each([
  ['gender', { gender: undefined, $set: { plan: 'pro' }, $set_once: { first: true } }],
  [
    ' gender , age,,',
    { gender: undefined, age: undefined, $set: { plan: 'pro' }, $set_once: { first: true } },
  ],
  ['plan', { $set: { gender: 'f' } }],
  ['$set.plan', { $set: { gender: 'f' } }],
  ['$set', { $set: undefined }],
  ['dotted.name', { 'dotted.name': undefined }],
  ['address.street', { address: { town: { name: 'X', zip: 1 } } }],
  ['address.town.zip', { address: { street: 'Quay', town: { name: 'X' } } }],
  ['address.nothing.zip', {}],
  ['age.x', {}],
  ['list.0', {}],
  ['Gender', {}],
  ['', {}],
  [undefined, {}],
  [['gender'], {}],
  ['toString,constructor.prototype,__proto__.toString', {}],
])('%j', (properties, changes) => {
  const expected = Object.fromEntries(
    Object.entries({ ...given(), ...changes }).filter(([, value]) => value !== undefined),
  )
  const event = propertyFilter.open({ properties })(madeEvent(given()))
  expect(event).toEqual(madeEvent(expected))
})

test('no prototype was touched', () => {
  propertyFilter.open({ properties: '__proto__.hasOwnProperty' })(madeEvent({}))
  expect(Object.hasOwn(Object.prototype, 'hasOwnProperty')).toBe(true)
})

test('$set that is no object stays as it is', () => {
  const event = madeEvent({ $set: 'x', $set_once: null, a: 1 })
  expect(propertyFilter.open({ properties: 'a' })(event)?.properties).toEqual({
    $set: 'x',
    $set_once: null,
  })
})
