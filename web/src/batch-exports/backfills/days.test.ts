import { expect, it } from 'vitest'
import { monthsBetween, rangeOfDays, stateOf } from './days.ts'

const DAY = {
  date: '2026-11-17',
  start: '2026-11-17T00:00:00.000Z',
  end: '2026-11-18T00:00:00.000Z',
  received: 10,
  exported: 10,
  filtered_out: 0,
  pending: 0,
  skipped: 0,
}

it.each([
  ['none', undefined],
  ['none', { ...DAY, received: 0, exported: 0 }],
  ['none', { ...DAY, exported: 0, filtered_out: 10 }],
  ['whole', DAY],
  ['part', { ...DAY, exported: 4, skipped: 6 }],
  ['missing', { ...DAY, exported: 0, pending: 10 }],
] as const)('%s', (state, day) => {
  expect(stateOf(day)).toBe(state)
})

it('months have all their days, each below its weekday', () => {
  const [october, november, ...none] = monthsBetween('2026-10-31', '2026-11-01')
  expect(none).toEqual([])
  expect([october!.label, november!.label]).toEqual(['October 2026', 'November 2026'])
  // 1 October 2026 is a Thursday, 1 November a Sunday.
  expect(october!.weeks[0]).toEqual([
    null,
    null,
    null,
    '2026-10-01',
    '2026-10-02',
    '2026-10-03',
    '2026-10-04',
  ])
  expect(november!.weeks[0]!.at(-1)).toBe('2026-11-01')
  expect(november!.weeks.flat().filter(Boolean)).toHaveLength(30)
})

it('a range goes from the earlier day to the later, and ends where the last interval did', () => {
  const before = { ...DAY, date: '2026-11-16', start: '2026-11-16T00:00:00.000Z', end: DAY.start }
  expect(rangeOfDays(DAY, before, '2026-11-17T14:00:00.000Z')).toEqual({
    from: before.start,
    to: '2026-11-17T14:00:00.000Z',
  })
  expect(rangeOfDays(before, before, '2026-11-17T14:00:00.000Z')).toEqual({
    from: before.start,
    to: before.end,
  })
})
