import { describe, expect, it } from 'vitest'
import type { ExportStatus } from '../batch-exports/queries.ts'
import { attentionOf, type AppConfig } from './attention.ts'

const CALM: ExportStatus = {
  id: 'e1',
  name: 'Calm',
  paused: false,
  destination_type: 'S3',
  model: 'events',
  interval: 'hour',
  newest_delivered_at: null,
  newest_delivered_age_s: null,
  oldest_pending_at: null,
  oldest_pending_age_s: null,
  rows_behind: 0,
  runs_behind: 0,
  live_runs: 0,
  last_run: null,
  last_completed_at: '2026-11-17T13:00:00Z',
  last_verification: null,
  next_run_at: null,
  expected_end_at: null,
  is_late: false,
  recent_runs: [],
}
const run = (status: 'Failed' | 'Completed') => ({
  id: 'r1',
  status,
  finished_at: null,
  latest_error: status === 'Failed' ? 'no such table' : null,
})
const APP: AppConfig = { id: 5, name: 'GeoIP', enabled: true, error: null, held_events: 0, failures_24h: 0 }
const late = { is_late: true, rows_behind: 2411, oldest_pending_age_s: 7_500 }

const words = (exports: readonly Partial<ExportStatus>[], apps: readonly Partial<AppConfig>[] = []) =>
  attentionOf(
    '1',
    exports.map((each) => ({ ...CALM, ...each })),
    apps.map((each) => ({ ...APP, ...each })),
  ).map(({ kind, subject, words: what, detail }) => [kind, subject, what, detail])

describe('what needs attention', () => {
  it('nothing, where all is well', () => {
    expect(
      words(
        [{}, { last_run: run('Completed') }, { paused: true, ...late }],
        [{}, { enabled: false, error: { message: 'x', time: '' }, failures_24h: 3 }],
      ),
    ).toEqual([])
  })

  it('exports whose verification has found problems, unless they are paused', () => {
    const last_verification = { id: 'v1', verdict: 'problems' as const, created_at: '2026-11-17T13:00:00Z' }
    const delivered = { last_run: run('Completed'), last_verification }
    expect(words([delivered, { ...delivered, paused: true }])).toEqual([
      ['failed', 'Calm', 'has problems at its destination', expect.stringContaining('Proof names them')],
    ])
  })

  it('exports that fail before those that are late', () => {
    expect(
      words([
        { name: 'B', ...late },
        { name: 'A', last_run: run('Failed') },
      ]),
    ).toEqual([
      ['failed', 'A', 'fails', 'no such table'],
      ['held', 'B', 'is 2 h 5 min behind', '2,411 rows wait.'],
    ])
    expect(words([{ is_late: true, rows_behind: null }])).toEqual([['held', 'Calm', 'is late', null]])
  })

  it('apps that cannot run, and those that hold events', () => {
    expect(
      words([], [{ held_events: 1200 }, { id: 6, name: null, error: { message: 'TypeError', time: '' } }]),
    ).toEqual([
      ['failed', 'App 6', 'cannot run', 'TypeError'],
      ['held', 'GeoIP', 'holds 1,200 events', null],
    ])
  })

  it('apps that lose deliveries, once', () => {
    const error = { message: 'TypeError', time: '' }
    expect(words([], [{ failures_24h: 1200 }, { id: 6, name: 'B', failures_24h: 1, error }])).toEqual([
      ['failed', 'B', 'cannot run', 'TypeError'],
      ['failed', 'GeoIP', 'had 1,200 failures in 24 h', null],
    ])
  })
})
