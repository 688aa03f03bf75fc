import { expect, it } from 'vitest'
import { dayIn, dayOf, endOfDay, isOver } from './expiry'

it('a day goes to the API as its last moment, and comes back as the same day', () => {
  expect(dayOf(endOfDay('2026-02-28'))).toBe('2026-02-28')
  expect(new Date(endOfDay('2026-02-28')!).getHours()).toBe(23)
  expect([endOfDay(''), dayOf(null)]).toEqual([null, ''])
})

it('counts days from now', () => {
  expect(dayIn(7, new Date(2026, 1, 27, 12))).toBe('2026-03-06')
})

it('what never expires is never over', () => {
  expect(isOver(null)).toBe(false)
  expect(isOver('2026-01-01T00:00:00Z', new Date('2026-01-01T00:00:00Z'))).toBe(true)
  expect(isOver('2026-01-01T00:00:01Z', new Date('2026-01-01T00:00:00Z'))).toBe(false)
})
