// Which intervals a backfill has, and which requests for one are refused: tables of cases.
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../platform/http/errors.ts'
import type { ExportRow } from '../rows.ts'
import { NOTHING, planBackfill, planUnpause } from './plan.ts'
import { readBackfillRange } from './range.ts'

const NOW = new Date('2026-01-10T12:34:56Z')
const at = (text: string | null) => (text === null ? null : new Date(text))
/** Events from then on. */
const since = (text: string | null) => ({ first_at: at(text), last_at: null })

function exportRow(fields: Partial<ExportRow> = {}): ExportRow {
  const created_at = new Date('2026-01-01T10:30:00Z')
  return {
    id: '01900000-0000-7000-8000-000000000001',
    project_id: 1,
    name: 'To nowhere',
    model: 'events',
    destination_type: 'S3',
    destination_alias: null,
    config: {},
    secrets: '',
    interval: 'hour',
    timezone: 'UTC',
    offset_day: null,
    offset_hour: null,
    paused: false,
    last_paused_at: null,
    start_at: null,
    end_at: null,
    hogql_query: null,
    schema: null,
    filters: null,
    next_due_at: new Date('2026-01-10T13:00:00Z'),
    created_by: null,
    created_at,
    last_updated_at: created_at,
    notified_at: null,
    deleted_at: null,
    destination_key: null,
    ...fields,
  }
}

function refused(body: unknown, fields: Partial<ExportRow> = {}): ApiError {
  try {
    readBackfillRange(body, exportRow(fields), NOW)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('it was accepted')
}

function refusal(body: unknown, fields: Partial<ExportRow> = {}): { code: string; attr: string | null } {
  const { code, attr } = refused(body, fields)
  return { code, attr }
}

describe('a range', () => {
  it.each([
    ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'],
    ['2026-01-01T00:00:00+02:00', '2026-01-02 00:00:00-0500', '2025-12-31T22:00:00Z', '2026-01-02T05:00:00Z'],
    ['2026-01-01', '2026-01-02', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'],
    [' 2026-01-01T00:00Z ', '2026-01-10T12:34:56Z', '2026-01-01T00:00:00Z', '2026-01-10T12:34:56Z'],
  ])('from %j to %j is read', (start_at, end_at, start, end) => {
    expect(readBackfillRange({ start_at, end_at, other: 1 }, exportRow(), NOW)).toEqual({
      start_at: at(start),
      end_at: at(end),
    })
  })

  it('of dates is cut where the export’s own days and weeks are', () => {
    const berlin = exportRow({ interval: 'day', timezone: 'Europe/Berlin', offset_hour: 5 })
    const range = readBackfillRange({ start_at: '2026-01-01', end_at: '2026-01-04' }, berlin, NOW)
    expect(range).toEqual({ start_at: at('2026-01-01T04:00:00Z'), end_at: at('2026-01-04T04:00:00Z') })
    expect(planBackfill(berlin, range, since('2020-01-01T00:00:00Z'), NOW)).toMatchObject({
      adjusted_start_at: null,
      total_runs: 3,
      next_end_at: at('2026-01-02T04:00:00Z'),
    })
  })

  it.each([
    ['HTTP', '2026-01-01T00:00:00Z'],
    ['NoOp', '2026-01-01T00:00:00Z'],
  ])('without an end is taken by %s', (destination_type, start_at) => {
    const range = readBackfillRange({ start_at }, exportRow({ destination_type }), NOW)
    expect(range).toEqual({ start_at: at(start_at), end_at: null })
  })

  it('without a start is taken by all', () => {
    const range = readBackfillRange({ start_at: null, end_at: '2026-01-02T00:00:00Z' }, exportRow(), NOW)
    expect(range).toEqual({ start_at: null, end_at: at('2026-01-02T00:00:00Z') })
  })

  const start_at = '2026-01-01T00:00:00Z'
  const end_at = '2026-01-02T00:00:00Z'
  it.each([
    [{}, 'required', 'start_at'],
    [null, 'required', 'start_at'],
    [[start_at, end_at], 'required', 'start_at'],
    [{ start_at: null, end_at: null }, 'required', 'start_at'],
    [{ start_at }, 'required', 'end_at'],
    [{ start_at: '', end_at }, 'invalid_input', 'start_at'],
    [{ start_at: 'yesterday', end_at }, 'invalid_input', 'start_at'],
    [{ start_at: '2026-02-30', end_at }, 'invalid_input', 'start_at'],
    [{ start_at: 1767225600, end_at }, 'invalid_input', 'start_at'],
    [{ start_at: [start_at], end_at }, 'invalid_input', 'start_at'],
    [{ start_at: '2026-01-01T00:00:00', end_at }, 'invalid_input', 'start_at'],
    [{ start_at, end_at: '2026-01-02T00:00' }, 'invalid_input', 'end_at'],
    [{ start_at, end_at: false }, 'invalid_input', 'end_at'],
    [{ start_at, end_at: '2026-01-10T12:34:57Z' }, 'invalid_input', 'end_at'],
    [{ start_at: end_at, end_at: start_at }, 'invalid_input', 'start_at'],
    [{ start_at, end_at: start_at }, 'invalid_input', 'start_at'],
  ])('%j is refused: %s, %s', (body, code, attr) => {
    expect(refusal(body)).toEqual({ code, attr })
  })

  it.each([
    ['2026-01-03T06:00:00Z', '2026-01-03T18:00:00Z', '2026-01-03T00:00:00.000Z to 2026-01-04T00:00:00.000Z'],
    ['2026-01-03T00:00:00Z', '2026-01-03T23:59:59Z', '2026-01-03T00:00:00.000Z to 2026-01-04T00:00:00.000Z'],
    ['2026-01-10T00:00:00Z', '2026-01-10T12:00:00Z', '2026-01-10T00:00:00.000Z to 2026-01-11T00:00:00.000Z'],
  ])('from %s to %s is refused for days: none ends in it', (start_at, end_at, interval) => {
    const { code, attr, detail } = refused({ start_at, end_at }, { interval: 'day' })
    expect({ code, attr }).toEqual({ code: 'invalid_input', attr: 'end_at' })
    expect(detail).toContain(`goes from ${interval}.`)
  })

  it('of weeks that is cut elsewhere is refused with days that have come', () => {
    const { detail } = refused({ start_at: '2025-12-28', end_at: '2026-01-08' }, { interval: 'week' })
    expect(detail).toBe('The weeks of this export begin on Sunday: use 2026-01-04.')
  })

  it.each([
    [{ start_at: '2026-01-04', end_at: '2026-01-21' }, 'end_at lies in the future'],
    [{ start_at: '2026-01-20', end_at: '2026-01-21' }, 'end_at lies in the future'],
    [{ start_at: '2026-01-20', end_at: '2026-01-04' }, 'start_at must lie before'],
  ])('%j of weeks is refused for the future, on whichever day that is', (body, detail) => {
    expect(refused(body, { interval: 'week' }).detail).toContain(detail)
  })

  it('without an end must not begin in the future', () => {
    const body = { start_at: '2026-01-10T12:34:56Z' }
    expect(refusal(body, { destination_type: 'HTTP' })).toEqual({ code: 'invalid_input', attr: 'start_at' })
  })
})

describe('a plan', () => {
  const LONG_AGO = '2020-01-01T00:30:00Z'

  it.each([
    // start, end, first event: adjusted start, runs, first end
    ['aligned', '01T00:00', '01T04:00', LONG_AGO, null, 4, '01T01:00'],
    ['a part at either end', '01T00:30', '01T04:59', LONG_AGO, null, 4, '01T01:00'],
    ['less than an interval', '01T00:10', '01T00:50', LONG_AGO, null, 0, null],
    ['events begin inside', '01T00:00', '01T04:00', '2026-01-01T02:40:00Z', '01T02:00', 2, '01T03:00'],
    ['events begin on a boundary', '01T00:00', '01T04:00', '2026-01-01T02:00:00Z', '01T02:00', 2, '01T03:00'],
    [
      'events begin in the first interval',
      '01T00:30',
      '01T04:00',
      '2026-01-01T00:40:00Z',
      null,
      4,
      '01T01:00',
    ],
    ['events begin later', '01T00:00', '01T04:00', '2026-01-01T04:00:00Z', null, 0, null],
    ['from the first event', null, '01T04:00', '2026-01-01T02:40:00Z', '01T02:00', 2, '01T03:00'],
  ])('%s', (_, start, end, first_event_at, adjusted, total_runs, first_end) => {
    const day = (text: string | null) => at(text === null ? null : `2026-01-${text}:00Z`)
    const range = { start_at: day(start), end_at: day(end) }
    expect(planBackfill(exportRow(), range, since(first_event_at), NOW)).toMatchObject({
      adjusted_start_at: day(adjusted),
      total_runs,
      next_end_at: day(first_end),
    })
  })

  it('without events is empty', () => {
    const range = { start_at: at('2026-01-01T00:00:00Z'), end_at: at('2026-01-02T00:00:00Z') }
    expect(planBackfill(exportRow(), range, since(null), NOW)).toMatchObject({
      total_runs: 0,
      next_end_at: null,
    })
  })

  it('ends with the interval of the last event', () => {
    const range = { start_at: at('2026-01-01T00:00:00Z'), end_at: at('2026-01-02T00:00:00Z') }
    const span = { first_at: at('2026-01-01T02:40:00Z'), last_at: at('2026-01-01T04:00:00Z') }
    expect(planBackfill(exportRow(), range, span, NOW)).toEqual({
      adjusted_start_at: at('2026-01-01T02:00:00Z'),
      total_runs: 3,
      next_end_at: at('2026-01-01T03:00:00Z'),
      last_end_at: at('2026-01-01T05:00:00Z'),
    })
  })

  it('without an end goes to now', () => {
    const range = { start_at: at('2026-01-10T10:00:00Z'), end_at: null }
    expect(planBackfill(exportRow(), range, since(LONG_AGO), NOW)).toMatchObject({ total_runs: 2 })
  })

  it('stays within the export’s own start and end', () => {
    const row = exportRow({ start_at: at('2026-01-01T01:30:00Z'), end_at: at('2026-01-01T05:30:00Z') })
    const range = { start_at: at('2026-01-01T00:00:00Z'), end_at: at('2026-01-02T00:00:00Z') }
    expect(planBackfill(row, range, since(LONG_AGO), NOW)).toMatchObject({
      adjusted_start_at: at('2026-01-01T02:00:00Z'),
      total_runs: 3,
      next_end_at: at('2026-01-01T03:00:00Z'),
    })
    const over = exportRow({ end_at: at('2025-01-01T00:00:00Z') })
    expect(planBackfill(over, range, since(LONG_AGO), NOW)).toMatchObject({
      total_runs: 0,
      next_end_at: null,
    })
  })

  it('counts the days of a zone with summer time', () => {
    const row = exportRow({ interval: 'day', timezone: 'Europe/Berlin' })
    const range = { start_at: at('2025-03-28T23:00:00Z'), end_at: at('2025-03-31T22:00:00Z') }
    expect(planBackfill(row, range, since(LONG_AGO), NOW)).toMatchObject({ total_runs: 3 })
  })

  describe('for people', () => {
    const row = exportRow({ model: 'persons' })

    it('takes the range as it is, events or not', () => {
      const range = { start_at: at('2026-01-01T00:00:00Z'), end_at: at('2026-01-01T04:00:00Z') }
      expect(planBackfill(row, range, since(null), NOW)).toMatchObject({
        adjusted_start_at: null,
        total_runs: 4,
      })
    })

    it('without a start is one run of everybody', () => {
      const range = { start_at: null, end_at: at('2026-01-01T04:40:00Z') }
      expect(planBackfill(row, range, since(null), NOW)).toMatchObject({
        adjusted_start_at: null,
        total_runs: 1,
        next_end_at: at('2026-01-01T04:00:00Z'),
      })
    })

    it('without a start does not go beyond the export’s own', () => {
      const bounded = { ...row, start_at: at('2026-01-01T02:00:00Z') }
      const range = { start_at: null, end_at: at('2026-01-01T04:40:00Z') }
      expect(planBackfill(bounded, range, since(null), NOW)).toMatchObject({
        adjusted_start_at: at('2026-01-01T02:00:00Z'),
        total_runs: 2,
        next_end_at: at('2026-01-01T03:00:00Z'),
      })
    })
  })
})

describe('the intervals that a pause has skipped', () => {
  const plan = (paused_at: string, covered_until: string | null) =>
    planUnpause(exportRow(), at(paused_at)!, at(covered_until), NOW)
  const until = { last_end_at: NOW }

  it.each([
    // Cut by the pause: its beginning was not delivered.
    ['2026-01-10T09:40:00Z', null, '09:00', '10:00', 3],
    ['2026-01-10T09:40:00Z', '2026-01-10T09:00:00Z', '09:00', '10:00', 3],
    // The run of a longer interval, which the export had before.
    ['2026-01-10T09:40:00Z', '2026-01-10T09:30:00Z', '09:30', '10:00', 3],
    // The clock was set back before the pause: what has its run has no other.
    ['2026-01-10T09:40:00Z', '2026-01-10T11:00:00Z', '11:00', '12:00', 1],
  ])('by a pause at %s, after runs until %s', (paused_at, covered_until, start, first_end, total_runs) => {
    const [adjusted_start_at, next_end_at] = [start, first_end].map((time) => at(`2026-01-10T${time}:00Z`))
    expect(plan(paused_at, covered_until)).toEqual({ ...until, adjusted_start_at, next_end_at, total_runs })
  })

  it('are none when runs have covered all of it', () => {
    expect(plan('2026-01-10T09:40:00Z', '2026-01-10T12:00:00Z')).toEqual(NOTHING)
    expect(plan('2026-01-10T12:10:00Z', null)).toEqual(NOTHING)
  })
})
