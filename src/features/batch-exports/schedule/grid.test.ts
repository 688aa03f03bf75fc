// The grid against tables of known clock changes, and against time itself: its intervals tile it, in any zone.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { INTERVALS } from '../definition.ts'
import {
  boundaries,
  boundaryAfter,
  boundaryAtOrBefore,
  countBoundaries,
  firstDueAt,
  intervalEndingAt,
  jitterMs,
  type Schedule,
} from './grid.ts'
import { instantOfLocal } from '../../../lib/time-zone.ts'

const HOUR_MS = 3_600_000

function schedule(fields: Partial<Schedule>): Schedule {
  return { interval: 'day', timezone: 'UTC', offset_day: null, offset_hour: null, ...fields }
}

const at = (text: string) => new Date(text)
const iso = (dates: Date[]) => dates.map((date) => date.toISOString().replace(':00.000Z', 'Z'))
const hoursBetween = (dates: Date[]) =>
  dates.slice(1).map((date, index) => (date.getTime() - dates[index]!.getTime()) / HOUR_MS)

describe('boundaries', () => {
  it.each([
    ['every 5 minutes', '2026-03-29T00:58:00Z', ['2026-03-29T01:00Z', '2026-03-29T01:05Z']],
    ['every 15 minutes', '2026-03-29T00:58:00Z', ['2026-03-29T01:00Z', '2026-03-29T01:15Z']],
    ['hour', '2026-03-29T00:58:00Z', ['2026-03-29T01:00Z', '2026-03-29T02:00Z']],
    ['day', '2026-03-29T00:58:00Z', ['2026-03-30T00:00Z', '2026-03-31T00:00Z']],
    // A Sunday: Temporal's own weeks would end on a Thursday.
    ['week', '2026-03-29T00:58:00Z', ['2026-04-05T00:00Z', '2026-04-12T00:00Z']],
    ['week', '2026-03-28T00:58:00Z', ['2026-03-29T00:00Z', '2026-04-05T00:00Z']],
  ] as const)('of %s after %s, in UTC', (interval, after, expected) => {
    expect(iso(boundaries(schedule({ interval }), at(after), at('2027-01-01T00:00:00Z'), 2))).toEqual(
      expected,
    )
  })

  it.each(['every 5 minutes', 'every 15 minutes', 'hour'] as const)(
    'of %s are the same in every zone, half-hour ones included',
    (interval) => {
      const range = [at('2026-04-04T14:00:00Z'), at('2026-04-04T17:00:00Z'), 100] as const
      const here = boundaries(schedule({ interval }), ...range)
      expect(here.length).toBeGreaterThan(2)
      for (const timezone of ['Australia/Lord_Howe', 'Asia/Kathmandu'])
        expect(boundaries(schedule({ interval, timezone }), ...range)).toEqual(here)
    },
  )

  it('leave out the instant they come after and take in the one they reach', () => {
    const hourly = schedule({ interval: 'hour' })
    const range = [at('2026-01-01T01:00:00Z'), at('2026-01-01T03:00:00Z')] as const
    expect(iso(boundaries(hourly, ...range, 9))).toEqual(['2026-01-01T02:00Z', '2026-01-01T03:00Z'])
    expect(iso(boundaries(hourly, ...range, 1))).toEqual(['2026-01-01T02:00Z'])
    expect(boundaries(hourly, ...range, 0)).toEqual([])
    expect(boundaryAtOrBefore(hourly, range[0])).toEqual(range[0])
    expect(intervalEndingAt(hourly, range[0])).toEqual({ start: at('2026-01-01T00:00:00Z'), end: range[0] })
  })
})

describe('days and weeks follow the clocks of their zone', () => {
  it.each([
    // zone, hour, after, boundaries, hours between them
    [
      'Europe/Berlin',
      0,
      '2026-03-27T23:00:00Z',
      ['2026-03-28T23:00Z', '2026-03-29T22:00Z', '2026-03-30T22:00Z'],
      [23, 24],
    ],
    [
      'Europe/Berlin',
      0,
      '2026-10-23T22:00:00Z',
      ['2026-10-24T22:00Z', '2026-10-25T23:00Z', '2026-10-26T23:00Z'],
      [25, 24],
    ],
    // 02:00 does not come on 29 March: it is 03:00. On 25 October it comes twice: the first counts.
    [
      'Europe/Berlin',
      2,
      '2026-03-28T01:00:00Z',
      ['2026-03-29T01:00Z', '2026-03-30T00:00Z', '2026-03-31T00:00Z'],
      [23, 24],
    ],
    [
      'Europe/Berlin',
      2,
      '2026-10-24T00:00:00Z',
      ['2026-10-25T00:00Z', '2026-10-26T01:00Z', '2026-10-27T01:00Z'],
      [25, 24],
    ],
    [
      'America/New_York',
      2,
      '2026-03-07T07:00:00Z',
      ['2026-03-08T07:00Z', '2026-03-09T06:00Z', '2026-03-10T06:00Z'],
      [23, 24],
    ],
    [
      'America/New_York',
      1,
      '2026-10-31T05:00:00Z',
      ['2026-11-01T05:00Z', '2026-11-02T06:00Z', '2026-11-03T06:00Z'],
      [25, 24],
    ],
    // Half an hour: forward on 4 October from 02:00 (+10:30) to 02:30 (+11), back on 5 April at 02:00 to 01:30.
    [
      'Australia/Lord_Howe',
      2,
      '2026-10-02T15:30:00Z',
      ['2026-10-03T15:30Z', '2026-10-04T15:00Z', '2026-10-05T15:00Z'],
      [23.5, 24],
    ],
    [
      'Australia/Lord_Howe',
      0,
      '2026-04-03T13:00:00Z',
      ['2026-04-04T13:00Z', '2026-04-05T13:30Z', '2026-04-06T13:30Z'],
      [24.5, 24],
    ],
    [
      'Asia/Kathmandu',
      5,
      '2026-05-01T00:00:00Z',
      ['2026-05-01T23:15Z', '2026-05-02T23:15Z', '2026-05-03T23:15Z'],
      [24, 24],
    ],
    // Clocks go from midnight to 01:00: that day begins at 01:00.
    [
      'Asia/Beirut',
      0,
      '2026-03-27T22:00:00Z',
      ['2026-03-28T22:00Z', '2026-03-29T21:00Z', '2026-03-30T21:00Z'],
      [23, 24],
    ],
    // Samoa left out 30 December 2011 altogether: no interval of no length.
    [
      'Pacific/Apia',
      0,
      '2011-12-28T10:00:00Z',
      ['2011-12-29T10:00Z', '2011-12-30T10:00Z', '2011-12-31T10:00Z'],
      [24, 24],
    ],
  ])('%s at %i, after %s', (timezone, offset_hour, after, expected, hours) => {
    const found = boundaries(schedule({ timezone, offset_hour }), at(after), at('2027-01-01T00:00:00Z'), 3)
    expect(iso(found)).toEqual(expected)
    expect(hoursBetween(found)).toEqual(hours)
  })

  it('weeks end on the chosen day and hour of the zone', () => {
    const weekly = schedule({
      interval: 'week',
      timezone: 'America/New_York',
      offset_day: 3,
      offset_hour: 6,
    })
    const found = boundaries(weekly, at('2026-03-01T00:00:00Z'), at('2026-03-20T00:00:00Z'), 9)
    // Wednesdays, 06:00: UTC-5 before the change on 8 March, UTC-4 after it.
    expect(iso(found)).toEqual(['2026-03-04T11:00Z', '2026-03-11T10:00Z', '2026-03-18T10:00Z'])
  })

  it('a year of days in a zone with summer time has 365, none of them twice', () => {
    const daily = schedule({ timezone: 'Europe/Berlin', offset_hour: 2 })
    const year = boundaries(daily, at('2025-12-31T12:00:00Z'), at('2026-12-31T12:00:00Z'), 1000)
    expect(year).toHaveLength(365)
    const hours = hoursBetween(year)
    expect([23, 24, 25].map((length) => hours.filter((each) => each === length).length)).toEqual([1, 362, 1])
  })
})

describe('any schedule', () => {
  const someSchedule = fc.record({
    interval: fc.constantFrom(...INTERVALS),
    timezone: fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
    offset_day: fc.option(fc.integer({ min: 0, max: 6 })),
    offset_hour: fc.option(fc.integer({ min: 0, max: 23 })),
  })
  const someInstant = fc.date({
    min: at('1975-01-01T00:00:00Z'),
    max: at('2045-01-01T00:00:00Z'),
    noInvalidDate: true,
  })

  it('cuts time into intervals without gap or overlap', () => {
    fc.assert(
      fc.property(someSchedule, someInstant, (some, instant) => {
        const next = boundaryAfter(some, instant)
        const { start } = intervalEndingAt(some, next)
        expect(next > instant).toBe(true)
        expect(start <= instant).toBe(true)
        expect(start).toEqual(boundaryAtOrBefore(some, instant))
        expect(boundaryAtOrBefore(some, next)).toEqual(next)
        expect(boundaryAfter(some, start)).toEqual(next)
        const following = boundaryAfter(some, next)
        expect(intervalEndingAt(some, following).start).toEqual(next)
      }),
      { numRuns: 600 },
    )
  })

  it('has as many boundaries as are counted', () => {
    // Zones that once left out a day count it (see countBoundaries).
    const leapt = /Apia|Fakaofo|Kiritimati|Enderbury|Kanton|Kwajalein/
    const elsewhere = someSchedule.filter(({ timezone }) => !leapt.test(timezone))
    fc.assert(
      fc.property(elsewhere, someInstant, fc.integer({ min: 0, max: 30 }), (some, after, steps) => {
        const found = boundaries(some, after, at('2100-01-01T00:00:00Z'), steps)
        expect(countBoundaries(some, after, found.at(-1) ?? after)).toBe(steps)
      }),
      { numRuns: 200 },
    )
    const [now, earlier] = [at('2026-01-02T00:00:00Z'), at('2026-01-01T00:00:00Z')]
    expect(countBoundaries(schedule({}), now, earlier)).toBe(0)
  })

  it('never takes a later day for an earlier instant', () => {
    const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
    fc.assert(
      fc.property(
        zone,
        someInstant,
        fc.integer({ min: 24 * 60, max: 9 * 24 * 60 }),
        (timezone, local, minutes) => {
          const early = instantOfLocal(local.getTime(), timezone)
          const late = instantOfLocal(local.getTime() + minutes * 60_000, timezone)
          expect(late).toBeGreaterThanOrEqual(early)
        },
      ),
      { numRuns: 600 },
    )
  })
})

describe('the first due time', () => {
  const now = at('2026-01-01T10:30:00Z')
  it.each([
    [null, '2026-01-01T11:00:00Z'],
    ['2025-06-01T00:00:00Z', '2026-01-01T11:00:00Z'],
    ['2026-01-02T03:00:00Z', '2026-01-02T03:00:00Z'],
    ['2026-01-02T03:00:01Z', '2026-01-02T04:00:00Z'],
  ])('with start_at %s is %s', (start_at, expected) => {
    const row = { ...schedule({ interval: 'hour' }), start_at: start_at === null ? null : at(start_at) }
    expect(firstDueAt(row, now)).toEqual(at(expected))
  })

  it('is never now itself', () => {
    const row = { ...schedule({ interval: 'hour' }), start_at: null }
    expect(firstDueAt(row, at('2026-01-01T11:00:00Z'))).toEqual(at('2026-01-01T12:00:00Z'))
  })
})

describe('jitter', () => {
  it('is the same for an export at any time, differs between exports and stays under a minute', () => {
    fc.assert(
      fc.property(fc.uuid(), (id) => {
        const jitter_ms = jitterMs(id)
        expect(jitter_ms).toBe(jitterMs(id))
        expect(Number.isInteger(jitter_ms)).toBe(true)
        expect(jitter_ms).toBeGreaterThanOrEqual(0)
        expect(jitter_ms).toBeLessThan(60_000)
      }),
    )
    expect(jitterMs('01900000-0000-7000-8000-000000000001')).not.toBe(
      jitterMs('01900000-0000-7000-8000-000000000002'),
    )
  })
})
