import { describe, expect, it } from 'vitest'
import type { RunRow } from '../rows.ts'
import { waitingOf, type Obstacles } from './waiting.ts'

const NOW = new Date('2026-03-01T10:00:00.000Z')
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000)
const GIVEN_BACK = later(-90)

function runOf(fields: Partial<RunRow> = {}): RunRow {
  return {
    finished_at: null,
    lease_owner: null,
    backfill_id: null,
    attempt: 1,
    run_after: NOW,
    last_updated_at: GIVEN_BACK,
    waiting_for: null,
    waiting_since: null,
    ...fields,
  } as RunRow
}

const NONE: Obstacles = { breaker: null, active: 0, at_destination: 0, is_interval_taken: false }
const OPEN = { failures: 6, probe_at: later(60) }
const backfill_id = 'b'

describe('a run that nobody works on waits for', () => {
  it.each<[string, Partial<RunRow>, Partial<Obstacles>]>([
    ['a free worker', {}, {}],
    ['a free worker', {}, { active: 3, at_destination: 3 }],
    ['its start at 2026-03-01T10:00:30.000Z', { attempt: 0, run_after: later(30) }, {}],
    ['the next attempt at 2026-03-01T10:00:30.000Z', { run_after: later(30) }, {}],
    [
      'a lock on table t; the next attempt is at 2026-03-01T10:00:30.000Z',
      { run_after: later(30), waiting_for: 'a lock on table t' },
      {},
    ],
    [
      'the destination: it failed 6 times in a row, the next try is at 2026-03-01T10:01:00.000Z',
      { run_after: later(30) },
      { breaker: OPEN, active: 4 },
    ],
    [
      'the destination: it failed 6 times in a row, and another run is trying it',
      {},
      { breaker: { ...OPEN, probe_at: NOW }, active: 1, at_destination: 1 },
    ],
    // It may try the destination itself.
    ['a free worker', {}, { breaker: { ...OPEN, probe_at: NOW } }],
    ['its turn: another run of the same interval is running', {}, { is_interval_taken: true, active: 4 }],
    ['a free slot: all 4 of this project are taken', {}, { active: 4, at_destination: 1 }],
    ['a free worker', {}, { active: 4, at_destination: 0 }],
    [
      'a free slot: all 3 that backfills of this project may use are taken',
      { backfill_id },
      { active: 3, at_destination: 0 },
    ],
    ['a free worker', { backfill_id }, { active: 2, at_destination: 2 }],
  ])('%s', (waiting_for, run, obstacles) => {
    expect(waitingOf(runOf(run), { ...NONE, ...obstacles }, NOW)).toEqual({
      waiting_for,
      waiting_since: GIVEN_BACK,
    })
  })
})

describe('a run that somebody works on', () => {
  const lease_owner = 'w'

  it('waits for nothing', () => {
    expect(waitingOf(runOf({ lease_owner }), undefined, NOW)).toEqual({
      waiting_for: null,
      waiting_since: null,
    })
  })

  it('waits for a destination that does not answer', () => {
    expect(waitingOf(runOf({ lease_owner, waiting_since: later(-5) }), undefined, NOW)).toEqual({
      waiting_for: 'the destination to answer',
      waiting_since: later(-5),
    })
  })
})

it('a run that has ended waits for nothing, whatever it waited for before', () => {
  const run = runOf({ finished_at: NOW, waiting_since: later(-5), waiting_for: 'a lock on table t' })
  expect(waitingOf(run, NONE, NOW)).toEqual({ waiting_for: null, waiting_since: null })
})
