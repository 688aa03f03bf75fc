import { expect, it } from 'vitest'
import { instantOf, localText } from './zone.ts'

it.each([
  ['UTC', '2026-11-17T14:02', '2026-11-17T14:02:00.000Z'],
  ['Europe/Berlin', '2026-07-01T00:00', '2026-06-30T22:00:00.000Z'],
  ['Europe/Berlin', '2026-10-25T04:00', '2026-10-25T03:00:00.000Z'],
  ['Asia/Kolkata', '2026-11-17T05:30', '2026-11-17T00:00:00.000Z'],
  ['America/New_York', '2026-03-08T03:30', '2026-03-08T07:30:00.000Z'],
])('%s: %s is %s, and back', (zone, local, instant) => {
  expect(instantOf(local, zone)).toBe(instant)
  expect(localText(instant, zone)).toBe(local)
})

it('says nothing of what is no time', () => {
  expect(instantOf('', 'UTC')).toBeNull()
})
