// What waits for a schedule, from times to positions.
import { describe, expect, it } from 'vitest'
import { countUnmadeRuns, openSince, pendingOf } from './pending.ts'
import type { Debt, WatchedExport } from './queries.ts'

const at = (time: string) => new Date(`2026-03-01T${time}:00Z`)
const row = (fields: Partial<WatchedExport>): WatchedExport => ({
  id: '018f0000-0000-7000-8000-000000000001',
  project_id: 1,
  name: 'Nightly',
  model: 'events',
  destination_type: 'File',
  destination_alias: null,
  interval: 'hour',
  timezone: 'UTC',
  offset_day: null,
  offset_hour: null,
  paused: false,
  end_at: null,
  next_due_at: at('12:00'),
  ...fields,
})
const debt = (fields: Partial<Debt>): Debt => ({
  batch_export_id: '',
  runs: 0,
  since: null,
  claimed_rows: 0,
  claimed_from: null,
  open_from: [],
  open_to: [],
  ...fields,
})

describe('pendingOf', () => {
  /** Ten events arrive every hour; nothing is known of the afternoon. */
  const positionAt = (edge: Date) => (edge < at('12:00') ? edge.getUTCHours() * 10 : null)
  it.each<[string, Partial<Debt>, number, number | null]>([
    ['nothing', {}, 0, null],
    ['from an hour on', { open_from: [at('11:00')], open_to: [null] }, 5, 111],
    ['nothing of an hour without events', { open_from: [at('09:00')], open_to: [at('09:30')] }, 0, null],
    [
      'two hours with a hole between',
      { open_from: [at('08:00'), at('11:00')], open_to: [at('09:00'), null] },
      15,
      81,
    ],
    ['from the beginning on', { open_from: [null], open_to: [at('01:00')] }, 10, 1],
    ['nothing of what lies ahead', { open_from: [at('13:00')], open_to: [null] }, 0, null],
    [
      'up to the last, where the end lies ahead',
      { open_from: [at('11:00')], open_to: [at('13:00')] },
      5,
      111,
    ],
    [
      'what runs have claimed as well',
      { claimed_rows: 7, claimed_from: 42, open_from: [at('11:00')], open_to: [null] },
      12,
      42,
    ],
  ])('%s', (_name, fields, rows, first) => {
    expect(pendingOf(debt(fields), { last_position: 115, holes: [] }, positionAt)).toEqual({ rows, first })
  })
})

describe('the schedule', () => {
  it('owes what ended and has no run, up to its end', () => {
    expect(openSince(row({}))).toEqual(at('11:00'))
    expect(countUnmadeRuns(row({}), at('11:59'))).toBe(0)
    expect(countUnmadeRuns(row({}), at('12:00'))).toBe(1)
    expect(countUnmadeRuns(row({}), at('15:30'))).toBe(4)
    expect(countUnmadeRuns(row({ end_at: at('13:00') }), at('15:30'))).toBe(2)
  })

  it('owes nothing once it is over', () => {
    const over = row({ end_at: at('11:00') })
    expect([openSince(over), countUnmadeRuns(over, at('15:30'))]).toEqual([null, 0])
  })
})
