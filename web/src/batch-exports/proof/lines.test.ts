import { describe, expect, it } from 'vitest'
import type { IntervalAccount } from '../queries.ts'
import { kindOf, linesOf, rangeBetween, rangeOfPicked, within } from './lines.ts'

const HOUR_MS = 3_600_000
function hourAt(start: string, fields: Partial<IntervalAccount> = {}): IntervalAccount {
  return {
    data_interval_start: start,
    data_interval_end: new Date(Date.parse(start) + HOUR_MS).toISOString(),
    run: start,
    runs: [],
    status: 'Completed',
    received: 3,
    exported: 3,
    filtered_out: 0,
    pending: 0,
    skipped: 0,
    backfilled: 0,
    files: null,
    ...fields,
  }
}
const hours = (from: string, count: number) =>
  Array.from({ length: count }, (_, index) =>
    hourAt(new Date(Date.parse(from) + index * HOUR_MS).toISOString()),
  ).toReversed()

describe('lines', () => {
  it('put each hour at its place, and leave places free where there was none', () => {
    const lines = linesOf(hours('2026-11-17T22:00:00.000Z', 4), 'hour', 'UTC')
    expect(lines.map(({ label, cells }) => [label, cells.length])).toEqual([
      ['17 Nov', 24],
      ['18 Nov', 24],
    ])
    expect(lines[0]!.cells.flatMap((cell, index) => (cell ? [index] : []))).toEqual([22, 23])
    expect(lines[1]!.cells.flatMap((cell, index) => (cell ? [index] : []))).toEqual([0, 1])
  })

  it('mark what a pause left out, but not the hour that clocks leave out', () => {
    const paused = [...hours('2026-11-17T13:00:00.000Z', 1), ...hours('2026-11-17T10:00:00.000Z', 1)]
    expect(linesOf(paused, 'hour', 'UTC')[0]!.cells.slice(9, 15)).toEqual([
      null,
      expect.any(Object),
      'gap',
      'gap',
      expect.any(Object),
      null,
    ])
    const spring = linesOf(hours('2026-03-28T23:00:00.000Z', 4), 'hour', 'Europe/Berlin')
    expect(spring[0]!.cells.slice(1, 4)).toEqual([expect.any(Object), null, expect.any(Object)])
  })

  it('have 25 hours where clocks are set back', () => {
    const lines = linesOf(hours('2026-10-24T22:00:00.000Z', 25), 'hour', 'Europe/Berlin')
    expect(lines.map(({ label, cells }) => [label, cells.length, cells.includes(null)])).toEqual([
      ['25 Oct', 25, false],
    ])
  })

  it.each([
    ['day', 31, 'Nov 2026'],
    ['week', 53, '2026'],
    ['every 5 minutes', 72, '17 Nov, 12h'],
    ['every 15 minutes', 96, '17 Nov'],
  ] as const)('of every %s have %i columns', (interval, columns, label) => {
    const [line] = linesOf([hourAt('2026-11-17T14:00:00.000Z')], interval, 'UTC')
    expect([line!.cells.length, line!.label]).toEqual([columns, label])
  })
})

describe('the state of an interval', () => {
  it.each([
    ['delivered', {}],
    ['failed', { status: 'Failed', exported: 0, pending: 3 }],
    ['running', { status: 'Running', exported: 0, pending: 3 }],
    ['skipped', { exported: 2, skipped: 1 }],
    ['delivered', { status: 'Cancelled', received: 0, exported: 0 }],
    ['failed', { exported: 4 }],
  ] as const)('%s', (kind, fields) => {
    expect(kindOf(hourAt('2026-11-17T14:00:00.000Z', fields))).toBe(kind)
  })
})

it('a range goes from the earlier start to the later end, and holds whole intervals', () => {
  const all = hours('2026-11-17T10:00:00.000Z', 4)
  const range = rangeBetween(all[0]!, all[2]!)
  expect(range).toEqual({ from: '2026-11-17T11:00:00.000Z', to: '2026-11-17T14:00:00.000Z' })
  expect(within(all, range)).toHaveLength(3)
})

describe('a picked range', () => {
  const day = hours('2026-11-17T00:00:00.000Z', 24)
  it.each([
    [{}, null],
    [{ after: '-1h' }, ['23:00', '24:00']],
    [{ after: '-15M' }, ['23:45', '24:00']],
    [{ after: '-30d' }, ['00:00', '24:00']],
    [{ after: '2026-11-17T03:10:00Z', before: '2026-11-17T06:50:00Z' }, ['04:00', '06:00']],
    [{ before: '2026-11-17T02:00:00Z' }, ['00:00', '02:00']],
    [{ after: '2026-11-17T22:00:00Z' }, ['22:00', '24:00']],
  ])('%j is made of whole intervals', (picked, expected) => {
    const at = (clock: string) =>
      clock === '24:00' ? '2026-11-18T00:00:00.000Z' : `2026-11-17T${clock}:00.000Z`
    expect(rangeOfPicked(picked, day, 'UTC')).toEqual(
      expected && { from: at(expected[0]!), to: at(expected[1]!) },
    )
  })

  it('begins with the day of the zone in which the last interval ended', () => {
    const some = day.slice(4)
    expect(rangeOfPicked({ after: 'dStart' }, some, 'Europe/Berlin')?.from).toBe('2026-11-17T00:00:00.000Z')
    expect(rangeOfPicked({ after: 'dStart' }, some, 'America/New_York')?.from).toBe(
      '2026-11-17T05:00:00.000Z',
    )
    expect(rangeOfPicked({ after: 'dStart' }, [], 'UTC')).toBeNull()
  })
})
