import { describe, expect, it } from 'vitest'
import { instantOf, isInstant, rangeText, wallClock } from './time-range.ts'

describe('clocks of a zone', () => {
  it.each([
    ['2026-11-16T13:02:00.000Z', 'Europe/Berlin', '2026-11-16T14:02'],
    ['2026-06-30T23:30:00.000Z', 'Europe/Berlin', '2026-07-01T01:30'],
    ['2026-11-16T13:02:00.000Z', 'Asia/Kathmandu', '2026-11-16T18:47'],
    ['2026-01-01T00:00:00.000Z', 'UTC', '2026-01-01T00:00'],
    // Both sides of the hour that is skipped in spring.
    ['2026-03-29T00:59:00.000Z', 'Europe/Berlin', '2026-03-29T01:59'],
    ['2026-03-29T01:00:00.000Z', 'Europe/Berlin', '2026-03-29T03:00'],
  ])('%s in %s is %s, and back', (instant, zone, wall) => {
    expect(wallClock(instant, zone)).toBe(wall)
    expect(instantOf(wall, zone)).toBe(instant)
  })

  it('a time that clocks skip is one that exists', () => {
    expect(['2026-03-29T00:30:00.000Z', '2026-03-29T01:30:00.000Z']).toContain(
      instantOf('2026-03-29T02:30', 'Europe/Berlin'),
    )
  })

  it.each(['', 'soon', '2026-13-01T00:00'])('%j is no time', (text) =>
    expect(instantOf(text, 'UTC')).toBeNull(),
  )
})

describe('ranges in words', () => {
  it.each([
    [{}, 'Any time'],
    [{ after: '-24h' }, 'Last 24 hours'],
    [{ after: 'dStart' }, 'Today'],
    [{ after: '-3h' }, 'Since -3h'],
    [{ after: '2020-11-16T13:00:00Z' }, 'Since 16 Nov 2020, 13:00'],
    [{ before: '2020-11-16T13:00:00Z' }, 'Until 16 Nov 2020, 13:00'],
    [
      { after: '2020-11-16T13:00:00Z', before: '2020-11-17T13:00:00Z' },
      '16 Nov 2020, 13:00 to 17 Nov 2020, 13:00',
    ],
  ])('%j: %s', (range, text) => expect(rangeText(range, 'UTC').replaceAll(' UTC', '')).toBe(text))

  it('relative times are no instants', () => {
    expect(['-7d', 'dStart', undefined, '2020-11-16'].map(isInstant)).toEqual([false, false, false, true])
  })
})
