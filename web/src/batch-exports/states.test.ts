import { describe, expect, it } from 'vitest'
import { adviceFor, behindText, exportState, reasonOf, scheduleText } from './states.ts'

const run = (status: 'Completed' | 'Failed' | 'Running') => ({
  id: 'a',
  status,
  finished_at: null,
  latest_error: null,
})
const STANDING = {
  paused: false,
  last_run: run('Completed'),
  live_runs: 0,
  is_late: false,
  last_completed_at: '2026-11-17T10:00:00Z',
  last_verification: null,
}
const verified = (verdict: 'problems' | 'intact' | 'unreachable') => ({
  id: 'b',
  verdict,
  created_at: '2026-11-17T11:00:00Z',
})

describe('the state of an export', () => {
  it.each([
    ['Delivered', {}],
    ['Paused', { paused: true, last_run: run('Failed') }],
    ['Failing', { last_run: run('Failed'), live_runs: 2, is_late: true }],
    ['Problems', { last_verification: verified('problems'), live_runs: 1, is_late: true }],
    ['Failing', { last_run: run('Failed'), last_verification: verified('problems') }],
    ['Delivered', { last_verification: verified('intact') }],
    ['Delivered', { last_verification: verified('unreachable') }],
    ['Running', { last_run: run('Running'), live_runs: 1, is_late: true }],
    ['Late', { is_late: true }],
    ['Waiting for its first run', { last_run: null, last_completed_at: null }],
  ])('%s', (text, fields) => {
    expect(exportState({ ...STANDING, ...fields })).toMatchObject({ text })
  })
})

it('what reading back has found counts as a failure, and says where to look', () => {
  const standing = { ...STANDING, last_verification: verified('problems') }
  expect(exportState(standing).kind).toBe('failed')
  expect(reasonOf(standing)).toContain('Proof')
  const failing = { ...standing, last_run: { ...run('Failed'), latest_error: 'No such bucket.' } }
  expect(reasonOf(failing)).toBe('No such bucket.')
  expect(reasonOf(STANDING)).toBeUndefined()
})

it.each([
  [null, null, 5, 0],
  ['up to date', 0, null, 0],
  ['up to date', 3, null, 0],
  ['next run in 9 hours', 3, 3900, 0],
  ['1 h 5 min behind', 3, 3900, 1],
])('%s', (text, rows_behind, oldest_pending_age_s, runs_behind) => {
  const lag = { rows_behind, oldest_pending_age_s, runs_behind, next_run_at: '2026-11-18T00:00:00Z' }
  expect(behindText(lag, new Date('2026-11-17T15:00:00Z'))).toBe(text)
})

it('what waits for a run that is overdue, or will not come, is behind', () => {
  const lag = { rows_behind: 3, oldest_pending_age_s: 3900, runs_behind: 0 }
  const now = new Date('2026-11-17T15:00:00Z')
  for (const next_run_at of [null, '2026-11-17T14:59:00Z'])
    expect(behindText({ ...lag, next_run_at }, now)).toBe('1 h 5 min behind')
})

it('a schedule says its hour and zone where it has them', () => {
  const zone = { timezone: 'Europe/Berlin', offset_day: 1, offset_hour: 3 }
  expect(scheduleText({ interval: 'week', ...zone })).toBe('Every week on Monday at 03:00, Europe/Berlin')
  expect(scheduleText({ interval: 'day', ...zone })).toBe('Every day at 03:00, Europe/Berlin')
  expect(scheduleText({ interval: 'hour', ...zone })).toBe('Every hour')
})

it('only what did not deliver has advice', () => {
  expect(adviceFor({ status: 'Completed', attempts: 1 })).toBeNull()
  expect(adviceFor({ status: 'FailedRetryable', attempts: 1 })).toContain('once')
  expect(adviceFor({ status: 'FailedRetryable', attempts: 3 })).toContain('3 times')
})
