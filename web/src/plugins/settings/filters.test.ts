import { expect, it } from 'vitest'
import { eventNames, withEventNames } from './filters.ts'

it('names come and go, and conditions stay with theirs', () => {
  const filters = { events: [{ id: 'paid', properties: [{ key: 'usd' }] }, { id: 'left' }], source: 'events' }
  expect(eventNames(filters)).toEqual(['paid', 'left'])
  expect(withEventNames(filters, ['paid', 'came'])).toEqual({
    source: 'events',
    events: [{ id: 'paid', properties: [{ key: 'usd' }] }, { id: 'came' }],
  })
  expect(withEventNames(filters, [])).toBeNull()
  expect(eventNames(null)).toEqual([])
  expect(eventNames({ events: 'x' })).toEqual([])
})
