import { describe, expect, it } from 'vitest'
import { readRange, toSeries } from './range.ts'

const clock = { now: new Date('2024-06-05T10:20:30Z'), timezone: 'Europe/Berlin' }

describe('readRange', () => {
  it.each([
    [undefined, undefined, '2024-05-06T00:00', '2024-06-06T00:00', 'day'],
    ['-24h', undefined, '2024-06-04T10:00', '2024-06-05T11:00', 'hour'],
    ['-47h', undefined, '2024-06-03T11:00', '2024-06-05T11:00', 'hour'],
    ['-48h', undefined, '2024-06-03T00:00', '2024-06-06T00:00', 'day'],
    ['2024-06-01', '2024-06-02', '2024-06-01T00:00', '2024-06-02T01:00', 'hour'],
    ['2024-06-01', '2024-06-03', '2024-06-01T00:00', '2024-06-04T00:00', 'day'],
    [
      '2024-06-01T10:30:00+02:00',
      '2024-06-01T10:31:00+02:00',
      '2024-06-01T08:00',
      '2024-06-01T09:00',
      'hour',
    ],
    // Midnight in Berlin.
    ['dStart', undefined, '2024-06-04T22:00', '2024-06-05T11:00', 'hour'],
    ['2024-06-03', '2024-06-01', '2024-06-03T00:00', '2024-06-03T01:00', 'hour'],
  ])('from %s to %s', (date_from, date_to, from, to, bucket) => {
    const asked = { ...(date_from && { date_from }), ...(date_to && { date_to }) }
    const range = readRange(asked, clock)
    expect(range).toEqual({ from: new Date(`${from}Z`), to: new Date(`${to}Z`), bucket })
  })

  it.each([
    [{ date_from: 'soon' }, 'date_from'],
    [{ date_to: 'never' }, 'date_to'],
    [{ date_from: '-2y' }, 'date_from'],
    [{ date_from: '0001-01-01' }, 'date_from'],
    [{ date_to: '9999-12-31' }, 'date_from'],
  ])('refuses %j', (asked, attr) => {
    expect(() => readRange(asked, clock)).toThrow(expect.objectContaining({ attr, code: 'invalid_input' }))
  })
})

describe('toSeries', () => {
  it('has a place for each bucket, in order, and sums them', () => {
    const range = readRange({ date_from: '-2h' }, clock)
    const found = [
      { begins_at: new Date('2024-06-05T10:00Z'), successes: 5, successes_on_retry: 0, failures: 1 },
      { begins_at: new Date('2024-06-05T08:00Z'), successes: 2, successes_on_retry: 3, failures: 0 },
    ]
    expect(toSeries(range, found)).toEqual({
      dates: ['2024-06-05 08:00:00', '2024-06-05 09:00:00', '2024-06-05 10:00:00'],
      successes: [2, 0, 5],
      successes_on_retry: [3, 0, 0],
      failures: [0, 0, 1],
      totals: { successes: 7, successes_on_retry: 3, failures: 1 },
    })
  })

  it('names days without a time', () => {
    const { dates } = toSeries(readRange({ date_from: '-2d' }, clock), [])
    expect(dates).toEqual(['2024-06-03', '2024-06-04', '2024-06-05'])
  })
})
