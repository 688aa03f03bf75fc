import { describe, expect, it } from 'vitest'
import { expectedEndOf, originOf, progressOf, rateText, rowsPerSecond, secondsAtWork } from './figures.ts'

const at = (second: number) => new Date(Date.UTC(2026, 10, 17, 14, 0, second)).toISOString()
const now = Date.parse(at(30))
const run = { created_at: at(0), started_at: at(10), finished_at: at(20), records_completed: 1234 }

describe('time at work', () => {
  it('counts from the first attempt, not from when it was due', () => {
    expect(secondsAtWork(run, now)).toBe(10)
    expect(secondsAtWork({ ...run, finished_at: null }, now)).toBe(20)
    expect(secondsAtWork({ ...run, started_at: null }, now)).toBeNull()
  })
})

describe('rate', () => {
  it('is known once the run has ended with rows', () => {
    expect(rowsPerSecond(run)).toBe(123.4)
    expect(rowsPerSecond({ ...run, finished_at: null })).toBeNull()
    expect(rowsPerSecond({ ...run, records_completed: 0 })).toBeNull()
    expect(rowsPerSecond({ ...run, finished_at: run.started_at })).toBeNull()
    expect(rateText(123.4)).toBe('123 rows/s')
  })
})

describe('progress', () => {
  it('is by time, and never whole', () => {
    const live = { ...run, finished_at: null }
    expect(progressOf(live, at(50), now)).toBe(0.5)
    expect(progressOf(live, at(20), now)).toBe(0.97)
    expect(progressOf(live, null, now)).toBeUndefined()
    expect(progressOf(run, at(50), now)).toBeUndefined()
  })
})

describe('the expected end', () => {
  const live = { status: 'Running', started_at: at(10) } as const
  it.each([
    ['of the only live run', live, { live_runs: 1, expected_end_at: at(50) }, at(50)],
    ['not of one of several', live, { live_runs: 2, expected_end_at: at(50) }, null],
    ['not before its start', live, { live_runs: 1, expected_end_at: at(5) }, null],
    [
      'not of one that waits',
      { status: 'Starting', started_at: null },
      { live_runs: 1, expected_end_at: at(50) },
      null,
    ],
    [
      'not of one that has ended',
      { ...live, status: 'Completed' },
      { live_runs: 1, expected_end_at: at(50) },
      null,
    ],
    ['not without a figure', live, undefined, null],
  ] as const)('%s', (_what, each, freshness, expected) => {
    expect(expectedEndOf(each, freshness)).toBe(expected)
  })
})

it.each([
  ['schedule', null, 20, 10],
  ['schedule', null, 10, 10],
  ['run now', null, 9, 10],
  ['repair', 'a', 9, 10],
  ['backfill', 'unknown', 9, 10],
] as const)('the origin is %s', (origin, backfill, created, end) => {
  const made = { backfill, created_at: at(created), data_interval_end: at(end) }
  expect(originOf(made, new Map([['a', 'repair']]))).toBe(origin)
})
