// Moments: every unit and edge of the relative form, calendars of zones, and what is refused.
import { describe, expect, it } from 'vitest'
import { formatMicros } from './microseconds.ts'
import { parseMoment } from './relative-time.ts'

const NOW = new Date('2024-03-31T14:30:45.678Z')

function read(text: string, timezone = 'UTC', now = NOW): string | null {
  const micros = parseMoment(text, now, timezone)
  return micros === null ? null : formatMicros(micros)
}

describe('parseMoment', () => {
  it.each([
    ['-7d', '2024-03-24T14:30:45.678000Z'],
    ['7d', '2024-03-24T14:30:45.678000Z'],
    ['-0d', '2024-03-31T14:30:45.678000Z'],
    ['-24h', '2024-03-30T14:30:45.678000Z'],
    ['-30M', '2024-03-31T14:00:45.678000Z'],
    ['-2w', '2024-03-17T14:30:45.678000Z'],
    ['-1q', '2023-12-31T14:30:45.678000Z'],
    ['-1m', '2024-02-29T14:30:45.678000Z'],
    ['-13m', '2023-02-28T14:30:45.678000Z'],
    ['-1y', '2023-03-31T14:30:45.678000Z'],
    ['-1dStart', '2024-03-30T00:00:00Z'],
    ['-1dEnd', '2024-03-30T23:59:59.999000Z'],
    ['dStart', '2024-03-31T00:00:00Z'],
    ['mStart', '2024-03-01T00:00:00Z'],
    ['-1mStart', '2024-02-01T00:00:00Z'],
    ['-1mEnd', '2024-02-29T23:59:59.999000Z'],
    ['yStart', '2024-01-01T00:00:00Z'],
    ['-1yEnd', '2023-12-31T23:59:59.999000Z'],
    ['hStart', '2024-03-31T14:00:00Z'],
    [' -7d ', '2024-03-24T14:30:45.678000Z'],
    ['2024-06-01', '2024-06-01T00:00:00Z'],
    ['2024-06-01T10:00:00', '2024-06-01T10:00:00Z'],
    ['2024-06-01 10:00:00', '2024-06-01T10:00:00Z'],
    ['2024-06-01T10:00:00.123456+02:00', '2024-06-01T08:00:00.123456Z'],
    ['2024-06-01T10:00:00 02:00', '2024-06-01T08:00:00Z'],
  ])('%s', (text, expected) => {
    expect(read(text)).toBe(expected)
  })

  it.each([
    '',
    'd',
    '-d',
    'now',
    '7',
    '-7',
    '-7x',
    '7dstart',
    '-7D',
    '--7d',
    '+7d',
    '-1wStart',
    '-1qEnd',
    '-99999y',
  ])('refuses %j', (text) => {
    expect(read(text)).toBeNull()
  })

  it.each([
    // Clocks went forward at 01:00 UTC that day: its start is an hour less ago than the wall clock says.
    ['dStart', 'Europe/Berlin', '2024-03-30T23:00:00Z'],
    ['dEnd', 'Europe/Berlin', '2024-03-31T21:59:59.999000Z'],
    ['-1d', 'Europe/Berlin', '2024-03-30T15:30:45.678000Z'],
    ['-24h', 'Europe/Berlin', '2024-03-30T14:30:45.678000Z'],
    ['mStart', 'America/New_York', '2024-03-01T05:00:00Z'],
    ['dStart', 'Asia/Kathmandu', '2024-03-30T18:15:00Z'],
    // Text without an offset stays UTC.
    ['2024-06-01', 'Asia/Tokyo', '2024-06-01T00:00:00Z'],
  ])('%s in %s', (text, timezone, expected) => {
    expect(read(text, timezone)).toBe(expected)
  })
})
