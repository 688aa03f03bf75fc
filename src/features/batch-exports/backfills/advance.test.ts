// Backfills on real stores: made, moved on, retried, cancelled, completed, with a clock that the test moves.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { eventsOf, storedEvent } from '../../../platform/event-store/fixture/suite.ts'
import { getExport, updateExport } from '../queries.ts'
import type { BackfillRow, EndStatus, ExportRow, RunRow } from '../rows.ts'
import { BACKFILL_COLUMNS } from '../runs/columns.ts'
import { addRun, claimEvents } from '../runs/fixture/rows.ts'
import { makeDueRuns } from '../schedule/due.ts'
import { addExport, at, endLiveRuns, intervalText, runsOf } from '../schedule/fixture/exports.ts'
import { cancelBackfill, cancelLiveBackfills } from './cancel.ts'
import { createBackfill } from './create.ts'
import { estimateBackfill } from './estimate.ts'
import { makeBackfillRuns } from './make-runs.ts'
import type { BackfillRange } from './plan.ts'
import { retryRun } from './retry.ts'
import { advanceBackfill } from './advance.ts'

const NOW = at('2026-01-10T12:30:00Z')
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000)
const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000'

let app: TestApp
/** Its events; all arrived at half past eleven in the evening of the 9th, but for the last two, which came as they happened. */
const EVENTS = [
  '2026-01-05T00:00:00Z',
  '2026-01-01T02:40:00.123Z',
  '2026-01-01T04:30:00Z',
  '2026-01-05T05:30:00Z',
  '2026-01-07T12:00:00Z',
  '2026-01-09T23:00:00Z',
  '2026-01-10T09:20:00Z',
  '2026-01-10T11:50:00Z',
]
let project_id: number
/** Has none. */
let other_project_id: number

beforeAll(async () => {
  app = await startTestApp()
  project_id = (await createOrganization(app)).project.id
  other_project_id = (await createOrganization(app)).project.id
  const events = EVENTS.map((time) => storedEvent({ timestamp: BigInt(at(time).getTime()) * 1000n }))
  const write = (some: typeof events, now: string) =>
    app.services.eventStore.write([eventsOf(project_id, ...some)], at(now))
  await write(events.slice(0, 6), '2026-01-09T23:30:00Z')
  await write(events.slice(6, 7), '2026-01-10T09:20:00Z')
  await write(events.slice(7), '2026-01-10T11:50:00Z')
})
afterAll(() => app.close())
beforeEach(() =>
  app.db.run(sql`DELETE FROM batch_export WHERE project_id IN (${project_id}, ${other_project_id})`),
)

const add = (fields: Partial<ExportRow> = {}) => addExport(app.db, project_id, fields)

/** The first runs of a backfill. */
async function backfilled(row: ExportRow, asked: BackfillRange): Promise<RunRow[]> {
  await backfill(row, asked)
  return liveRuns(row)
}

async function backfill(row: ExportRow, range: BackfillRange, now = NOW): Promise<string> {
  const estimate = await estimateBackfill(app.services, row, range, now)
  const made = await app.db.transaction((tx) => createBackfill(tx, row, range, estimate, now))
  return made.backfill_id
}

const range = (start_at: string | null, end_at: string | null): BackfillRange => ({
  start_at: start_at === null ? null : at(start_at),
  end_at: end_at === null ? null : at(end_at),
})
const SIX_HOURS = range('2026-01-05T00:00:00Z', '2026-01-05T06:00:00Z')

const found = (id: string): Promise<BackfillRow> =>
  app.db.only(sql`SELECT ${BACKFILL_COLUMNS} FROM batch_export_backfill WHERE id = ${id}`)
const isLive = ({ finished_at }: RunRow) => finished_at === null
const liveRuns = async (row: ExportRow) => (await runsOf(app.db, row)).filter(isLive)
const intervals = async (row: ExportRow) => (await runsOf(app.db, row)).map(intervalText)
const cancel = (id: string, now: Date) =>
  app.db.transaction((tx) => cancelBackfill(tx, { project_id, id }, now))
const retry = async (run: RunRow, now = NOW) =>
  (await app.db.transaction((tx) => retryRun(tx, run, now))).backfill_id

/** As a worker ends a run: what follows from it happens in the same transaction. */
async function end(run: RunRow, now: Date, status: EndStatus = 'Completed'): Promise<void> {
  await app.db.transaction(async (tx) => {
    await tx.run(sql`
      UPDATE batch_export_run SET status = ${status}, finished_at = ${now}, last_updated_at = ${now} WHERE id = ${run.id}`)
    if (run.backfill_id !== null) await advanceBackfill(tx, run.backfill_id, now)
  })
}

async function endAll(row: ExportRow, now: Date, status?: EndStatus): Promise<void> {
  for (;;) {
    const live = await liveRuns(row)
    if (live.length === 0) return
    for (const run of live) await end(run, now, status)
  }
}

describe('a new backfill', () => {
  it('has its first four runs at once, by the time of the events, up to a frozen position', async () => {
    const row = await add({ paused: true })
    const id = await backfill(row, SIX_HOURS)
    expect(await found(id)).toMatchObject({
      ...SIX_HOURS,
      project_id,
      batch_export_id: row.id,
      adjusted_start_at: null,
      retry_of: null,
      kind: 'backfill',
      seq_to: 8,
      status: 'Running',
      total_runs: 6,
      rows_to_deliver: 2,
      rows_delivered_before: 0,
      next_end_at: at('2026-01-05T05:00:00Z'),
      created_at: NOW,
      finished_at: null,
    })
    const runs = await runsOf(app.db, row)
    expect(runs.map(intervalText)).toEqual([
      '2026-01-05T00:00 → 2026-01-05T01:00',
      '2026-01-05T01:00 → 2026-01-05T02:00',
      '2026-01-05T02:00 → 2026-01-05T03:00',
      '2026-01-05T03:00 → 2026-01-05T04:00',
    ])
    for (const run of runs) {
      const expected = { status: 'Starting', selection: 'timestamp', seq_from: 0, seq_to: 8, run_after: NOW }
      expect(run).toMatchObject({ ...expected, backfill_id: id, repeats: null, definition: null })
    }
    expect((await getExport(app.db, project_id, row.id)).paused).toBe(true)
  })

  it('begins with the interval of the first event, and says so, and ends with that of the last', async () => {
    const row = await add()
    const id = await backfill(row, range('2020-01-01T00:00:00Z', '2026-01-04T00:00:00Z'))
    expect(await found(id)).toMatchObject({
      start_at: at('2020-01-01T00:00:00Z'),
      end_at: at('2026-01-04T00:00:00Z'),
      adjusted_start_at: at('2026-01-01T02:00:00Z'),
      last_end_at: at('2026-01-01T05:00:00Z'),
      total_runs: 3,
    })
    await endAll(row, later(1))
    expect(await intervals(row)).toEqual([
      '2026-01-01T02:00 → 2026-01-01T03:00',
      '2026-01-01T03:00 → 2026-01-01T04:00',
      '2026-01-01T04:00 → 2026-01-01T05:00',
    ])
    expect((await found(id)).status).toBe('Completed')
  })

  it('without a start does so too', async () => {
    const row = await add()
    const id = await backfill(row, range(null, '2026-01-01T05:00:00Z'))
    expect(await found(id)).toMatchObject({
      start_at: null,
      adjusted_start_at: at('2026-01-01T02:00:00Z'),
      total_runs: 3,
    })
  })

  it('of people without a start is one run from the beginning of time', async () => {
    const row = await add({ model: 'persons' })
    const id = await backfill(row, range(null, '2026-01-05T05:30:00Z'))
    expect(await intervals(row)).toEqual(['START → 2026-01-05T05:00'])
    await endAll(row, later(1))
    expect(await found(id)).toMatchObject({ status: 'Completed', total_runs: 1 })
    expect(await runsOf(app.db, row)).toHaveLength(1)
  })

  it.each([
    ['less than an interval', range('2026-01-05T00:10:00Z', '2026-01-05T00:50:00Z')],
    ['before the first event', range('2020-01-01T00:00:00Z', '2020-01-02T00:00:00Z')],
    ['between two events', range('2026-01-02T00:00:00Z', '2026-01-04T00:00:00Z')],
  ])('over %s is completed, without runs', async (_, empty) => {
    const row = await add()
    const id = await backfill(row, empty)
    expect(await found(id)).toMatchObject({
      status: 'Completed',
      total_runs: 0,
      next_end_at: null,
      finished_at: NOW,
    })
    expect(await runsOf(app.db, row)).toEqual([])
  })

  it('over events that are claimed is completed, without runs, and says how many were delivered', async () => {
    const row = await add()
    const [first] = await backfilled(row, SIX_HOURS)
    await claimEvents(app.db, first!)
    await endAll(row, later(1))
    const id = await backfill(row, range('2026-01-05T00:00:00Z', '2026-01-05T02:00:00Z'), later(2))
    expect(await found(id)).toMatchObject({
      status: 'Completed',
      total_runs: 0,
      rows_to_deliver: 0,
      rows_delivered_before: 1,
    })
    expect(await runsOf(app.db, row)).toHaveLength(6)
  })

  it('takes up what was claimed and not delivered, first of all, under the claims it had', async () => {
    const row = await add({ created_at: at('2026-01-09T22:30:00Z') })
    await makeDueRuns(app.services, at('2026-01-09T23:00:00Z'))
    const [failed] = await runsOf(app.db, row)
    await app.db.run(sql`UPDATE batch_export_run SET seq_from = 0, seq_to = 1 WHERE id = ${failed!.id}`)
    await claimEvents(app.db, (await runsOf(app.db, row))[0]!)
    await end(failed!, later(1), 'Failed')
    const id = await backfill(row, SIX_HOURS, later(2))
    expect(await found(id)).toMatchObject({ total_runs: 2, rows_to_deliver: 2, rows_delivered_before: 0 })
    const [again, own] = (await liveRuns(row)).toSorted((one) => (one.repeats ? -1 : 1))
    expect(again).toMatchObject({ repeats: failed!.id, selection: 'arrival', seq_from: 0, seq_to: 1 })
    expect(intervalText(again!)).toBe(intervalText(failed!))
    // Its own runs: the hour of the one event that nobody has claimed.
    expect(own).toMatchObject({ repeats: null, selection: 'timestamp' })
    expect(intervalText(own!)).toBe('2026-01-05T05:00 → 2026-01-05T06:00')
    await endAll(row, later(3))
    expect(await found(id)).toMatchObject({ status: 'Completed', queue: [] })
    expect(await runsOf(app.db, row)).toHaveLength(3)
  })

  it('counts all rows of a run that is done again, also those beyond the range', async () => {
    const row = await add({ created_at: at('2026-01-09T22:30:00Z') })
    await makeDueRuns(app.services, at('2026-01-09T23:00:00Z'))
    const [failed] = await runsOf(app.db, row)
    // The second of its two events lies days before the range.
    await app.db.run(sql`UPDATE batch_export_run SET seq_from = 0, seq_to = 2 WHERE id = ${failed!.id}`)
    await claimEvents(app.db, (await runsOf(app.db, row))[0]!)
    await end(failed!, later(1), 'Failed')
    const id = await backfill(row, SIX_HOURS, later(2))
    expect(await found(id)).toMatchObject({ total_runs: 2, rows_to_deliver: 3, rows_delivered_before: 0 })
  })

  it('leaves what is being delivered to whoever is at it', async () => {
    const row = await add()
    const [first] = await backfilled(row, SIX_HOURS)
    await claimEvents(app.db, first!)
    const id = await backfill(row, range('2026-01-05T00:00:00Z', '2026-01-05T02:00:00Z'), later(1))
    expect(await found(id)).toMatchObject({ status: 'Completed', total_runs: 0, rows_to_deliver: 0 })
  })

  it('in a project without events is completed, without runs', async () => {
    const row = await addExport(app.db, other_project_id)
    const id = await backfill(row, SIX_HOURS)
    expect(await found(id)).toMatchObject({ status: 'Completed', total_runs: 0, seq_to: 0 })
  })

  it('over the range of a live one is that one', async () => {
    const [row, other] = [await add(), await add()]
    const ids = await Promise.all([backfill(row, SIX_HOURS), backfill(row, SIX_HOURS)])
    expect(ids[0]).toBe(ids[1])
    expect(await backfill(other, SIX_HOURS)).not.toBe(ids[0])
    expect(await backfill(row, range('2026-01-05T00:00:00Z', '2026-01-05T05:00:00Z'))).not.toBe(ids[0])
    await cancel(ids[0]!, later(1))
    expect(await backfill(row, SIX_HOURS, later(2))).not.toBe(ids[0])
  })

  it('is the tenth at most, also when many ask at once', async () => {
    const row = await add()
    const ask = (hour: number) => backfill(row, range('2026-01-05T00:00:00Z', `2026-01-05T${hour}:00:00Z`))
    const asked = await Promise.allSettled(Array.from({ length: 12 }, (_, index) => ask(10 + index)))
    const refused = asked.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
    expect(refused.map(({ reason }) => [reason.code, reason.status])).toEqual(
      Array(2).fill(['too_many_concurrent_backfills', 429]),
    )
    const { count } = await app.db.only<{ count: number }>(sql`
      SELECT count(*)::int AS count FROM batch_export_backfill WHERE project_id = ${project_id}`)
    expect(count).toBe(10)
    // A live one is still given, and other projects have their own ten.
    const live = asked.find(({ status }) => status === 'fulfilled') as PromiseFulfilledResult<string>
    const { start_at, end_at } = await found(live.value)
    expect(await backfill(row, { start_at, end_at })).toBe(live.value)
    await backfill(await addExport(app.db, other_project_id, { model: 'persons' }), SIX_HOURS)
    await cancel(live.value, later(1))
    await ask(23)
  })
})

describe('a backfill at work', () => {
  it('gets its next run when one ends, in order, and is completed by the last', async () => {
    const row = await add()
    const id = await backfill(row, SIX_HOURS)
    const ended: string[] = []
    for (let step = 1; (await liveRuns(row)).length > 0; step++) {
      const live = await liveRuns(row)
      expect(live.length).toBeLessThanOrEqual(4)
      ended.push(intervalText(live[0]!))
      await end(live[0]!, later(step))
    }
    expect(ended).toEqual(await intervals(row))
    expect(ended).toHaveLength(6)
    expect(await found(id)).toMatchObject({ status: 'Completed', next_end_at: null, finished_at: later(6) })
  })

  it('goes on and is completed when runs fail', async () => {
    const row = await add()
    const id = await backfill(row, SIX_HOURS)
    await endAll(row, later(1), 'Failed')
    expect(await runsOf(app.db, row)).toHaveLength(6)
    expect(await found(id)).toMatchObject({ status: 'Completed', finished_at: later(1) })
  })

  it('of people has one run at a time', async () => {
    const row = await add({ model: 'persons' })
    const id = await backfill(row, SIX_HOURS)
    for (let step = 1; step <= 6; step++) {
      const live = await liveRuns(row)
      expect(live.map(intervalText)).toEqual([`2026-01-05T0${step - 1}:00 → 2026-01-05T0${step}:00`])
      await end(live[0]!, later(step))
    }
    expect(await found(id)).toMatchObject({ status: 'Completed' })
  })

  it('is moved on by the tick when nobody told it that its runs had ended', async () => {
    const row = await add()
    const id = await backfill(row, SIX_HOURS)
    expect(await makeBackfillRuns(app.services, later(1))).toBe(0)
    await endLiveRuns(app.db, row, later(2))
    const made = await Promise.all(Array.from({ length: 4 }, () => makeBackfillRuns(app.services, later(3))))
    expect(made.reduce((sum, each) => sum + each, 0)).toBe(2)
    await endLiveRuns(app.db, row, later(4), 'Cancelled')
    expect(await makeBackfillRuns(app.services, later(5))).toBe(0)
    expect(await found(id)).toMatchObject({ status: 'Completed', finished_at: later(5) })
    expect(await runsOf(app.db, row)).toHaveLength(6)
  })

  it('is left to whoever is at it, without waiting', async () => {
    const row = await add()
    const id = await backfill(row, SIX_HOURS)
    await endLiveRuns(app.db, row, later(1))
    await app.db.transaction(async (tx) => {
      expect(await advanceBackfill(tx, id, later(2))).toBe(2)
      // One that waited would wait for this very transaction.
      const waits = new Promise((resolve) => setTimeout(resolve, 5000, 'waits').unref())
      expect(await Promise.race([makeBackfillRuns(app.services, later(2)), waits])).toBe(0)
    })
    expect(await runsOf(app.db, row)).toHaveLength(6)
  })

  it('is completed once when its last runs end at the same moment', async () => {
    const row = await add()
    const id = await backfill(row, range('2026-01-01T02:00:00Z', '2026-01-01T05:00:00Z'))
    const live = await liveRuns(row)
    expect(live).toHaveLength(3)
    await Promise.all(live.map((run) => end(run, later(1))))
    await makeBackfillRuns(app.services, later(2))
    expect((await found(id)).status).toBe('Completed')
  })

  it('leaves nothing out and takes nothing twice when the interval changes', async () => {
    const row = await add({ interval: 'day' })
    const id = await backfill(row, range('2026-01-01T00:00:00Z', '2026-01-08T00:00:00Z'))
    await updateExport(app.db, row, { interval: 'hour' }, later(1))
    await endAll(row, later(2))
    const runs = await runsOf(app.db, row)
    for (const [index, run] of runs.slice(1).entries())
      expect(run.data_interval_start).toEqual(runs[index]!.data_interval_end)
    expect(runs[0]!.data_interval_start).toEqual(at('2026-01-01T00:00:00Z'))
    expect(runs.at(-1)!.data_interval_end).toEqual(at('2026-01-08T00:00:00Z'))
    expect(runs.length).toBeGreaterThan(7)
    expect(await found(id)).toMatchObject({ status: 'Completed' })
  })

  it('begins where it was to begin when the interval is shorter by the time of its first run', async () => {
    const row = await add({ interval: 'day' })
    const days = ['2025-12-01', '2025-12-02', '2025-12-03', '2025-12-04'].map((day) => at(`${day}T00:00:00Z`))
    const failed = await Promise.all(days.map((day) => addRun(app.db, row, day, { status: 'Failed' })))
    const week = range('2026-01-01T00:00:00Z', '2026-01-08T00:00:00Z')
    const found = await estimateBackfill(app.services, row, week, NOW)
    // As many as may be at work at once: these come first.
    const estimate = { ...found, unfinished: failed.map(({ id }) => id) }
    await app.db.transaction((tx) => createBackfill(tx, row, week, estimate, NOW))
    await updateExport(app.db, row, { interval: 'hour' }, later(1))
    await endAll(row, later(2))
    const own = (await runsOf(app.db, row)).filter(({ selection }) => selection === 'timestamp')
    expect(own[0]!.data_interval_start).toEqual(at('2026-01-01T00:00:00Z'))
    for (const [index, run] of own.slice(1).entries())
      expect(run.data_interval_start).toEqual(own[index]!.data_interval_end)
    expect(own.at(-1)!.data_interval_end).toEqual(at('2026-01-08T00:00:00Z'))
  })

  it('does not disturb the schedule’s own run of the same interval', async () => {
    const row = await add({ created_at: at('2026-01-05T00:30:00Z') })
    await makeDueRuns(app.services, at('2026-01-05T02:00:00Z'))
    await backfill(row, SIX_HOURS)
    const twice = (await runsOf(app.db, row)).filter(
      ({ data_interval_end }) => data_interval_end <= at('2026-01-05T02:00:00Z'),
    )
    expect(twice.map(({ selection }) => selection).sort()).toEqual([
      'arrival',
      'arrival',
      'timestamp',
      'timestamp',
    ])
    // Which of them has the events is for the ledger to say, when they begin.
    expect(twice.every(({ repeats }) => repeats === null)).toBe(true)
  })
})

describe('a backfill without an end', () => {
  it('hands over to the schedule, which catches up from there by arrival', async () => {
    const row = await add({ paused: true })
    const id = await backfill(row, range('2026-01-10T09:00:00Z', null))
    expect(await found(id)).toMatchObject({ end_at: null, total_runs: 3, seq_to: 8 })
    // It takes two hours.
    const done = at('2026-01-10T14:30:00Z')
    await endAll(row, done)
    expect(await found(id)).toMatchObject({ status: 'Completed', end_at: null })
    expect(await getExport(app.db, project_id, row.id)).toMatchObject({
      paused: false,
      next_due_at: at('2026-01-10T13:00:00Z'),
      last_updated_at: done,
    })
    await makeDueRuns(app.services, done)
    const runs = await runsOf(app.db, row)
    expect(runs.map((run) => `${intervalText(run)} ${run.selection}`)).toEqual([
      '2026-01-10T09:00 → 2026-01-10T10:00 timestamp',
      '2026-01-10T10:00 → 2026-01-10T11:00 timestamp',
      '2026-01-10T11:00 → 2026-01-10T12:00 timestamp',
      '2026-01-10T12:00 → 2026-01-10T13:00 arrival',
      '2026-01-10T13:00 → 2026-01-10T14:00 arrival',
    ])
  })

  it('leaves to the schedule what happened in the interval that it was made in', async () => {
    const row = await add({ paused: true })
    // The event of 23:00 belongs to the schedule's run of 23:00 to 24:00, which begins before the backfill was made.
    const id = await backfill(row, range('2026-01-09T20:00:00Z', null), at('2026-01-09T23:45:00Z'))
    expect(await found(id)).toMatchObject({ status: 'Completed', total_runs: 0, rows_to_deliver: 0 })
    const after = await getExport(app.db, project_id, row.id)
    expect(after).toMatchObject({ paused: false, next_due_at: at('2026-01-10T00:00:00Z') })
    await makeDueRuns(app.services, at('2026-01-10T00:00:00Z'))
    expect(await intervals(row)).toEqual(['2026-01-09T23:00 → 2026-01-10T00:00'])
  })

  it('takes all positions there are, paused or not: the ledger keeps it and the schedule apart', async () => {
    const upToNow = { start_at: at('2026-01-05T00:00:00Z'), end_at: NOW }
    for (const paused of [false, true]) {
      const id = await backfill(await add({ paused }), upToNow)
      expect(await found(id)).toMatchObject({ seq_to: 8, rows_to_deliver: 6 })
    }
  })

  it('makes up for an interval that had ended before the pause and had no run yet', async () => {
    const paused_at = at('2026-01-10T12:00:05Z')
    const next_due_at = at('2026-01-10T12:00:00Z')
    const row = await add({ paused: true, last_paused_at: paused_at, next_due_at })
    await backfill(row, range('2026-01-10T11:00:00Z', null), later(1))
    await endAll(row, later(2))
    const runs = (await runsOf(app.db, row)).filter(({ selection }) => selection === 'arrival')
    expect(runs.map(intervalText)).toEqual(['2026-01-10T11:00 → 2026-01-10T12:00'])
    expect(await getExport(app.db, project_id, row.id)).toMatchObject({
      paused: false,
      next_due_at: at('2026-01-10T13:00:00Z'),
    })
  })

  it('sets the export going at once when there is nothing to do', async () => {
    const row = await addExport(app.db, other_project_id, { paused: true })
    const id = await backfill(row, range('2026-01-10T09:00:00Z', null))
    expect(await found(id)).toMatchObject({ status: 'Completed', total_runs: 0 })
    expect(await getExport(app.db, other_project_id, row.id)).toMatchObject({
      paused: false,
      next_due_at: at('2026-01-10T13:00:00Z'),
    })
  })

  it('leaves an export alone that runs already', async () => {
    const row = await add({ created_at: at('2026-01-10T12:00:00Z') })
    await backfill(row, range('2026-01-10T09:00:00Z', null))
    await endAll(row, later(1))
    expect(await getExport(app.db, project_id, row.id)).toEqual(row)
  })

  it('does not set it going when it is cancelled', async () => {
    const row = await add({ paused: true })
    await cancel(await backfill(row, range('2026-01-10T09:00:00Z', null)), later(1))
    await makeBackfillRuns(app.services, later(2))
    expect((await getExport(app.db, project_id, row.id)).paused).toBe(true)
  })
})

describe('a retry', () => {
  it('repeats a run of the schedule by arrival, within its frozen positions', async () => {
    const row = await add({ created_at: at('2026-01-09T22:30:00Z') })
    await makeDueRuns(app.services, at('2026-01-09T23:00:00Z'))
    await app.db.run(sql`
      UPDATE batch_export_run SET status = 'Failed', finished_at = ${NOW}, seq_from = 1, seq_to = 2
      WHERE batch_export_id = ${row.id}`)
    const [failed] = await runsOf(app.db, row)
    const id = await retry(failed!)
    expect(await found(id)).toMatchObject({
      start_at: failed!.data_interval_start,
      end_at: failed!.data_interval_end,
      retry_of: failed!.id,
      status: 'Running',
      total_runs: 1,
      next_end_at: null,
      kind: 'retry',
      queue: [],
    })
    const [repeated] = await liveRuns(row)
    expect(repeated).toMatchObject({
      backfill_id: id,
      repeats: failed!.id,
      status: 'Starting',
      data_interval_start: failed!.data_interval_start,
      data_interval_end: failed!.data_interval_end,
      selection: 'arrival',
      seq_from: 1,
      seq_to: 2,
      definition: null,
      attempt: 0,
    })
    expect((await runsOf(app.db, row)).find((run) => run.id === failed!.id)).toEqual(failed)
    await end(repeated!, later(1))
    expect(await found(id)).toMatchObject({ status: 'Completed' })
    expect(await runsOf(app.db, row)).toHaveLength(2)
    // A retry of the retry repeats the first run as well: its claims, its names, its id at the destination.
    await retry(
      (await runsOf(app.db, row)).find(({ repeats }) => repeats !== null)!,
      later(2),
    )
    expect(await liveRuns(row)).toMatchObject([{ repeats: failed!.id, seq_from: 1, seq_to: 2 }])
  })

  it('of a run that froze nothing leaves the freezing to the new one', async () => {
    const row = await add({ created_at: at('2026-01-09T22:30:00Z') })
    await makeDueRuns(app.services, at('2026-01-09T23:00:00Z'))
    const [run] = await runsOf(app.db, row)
    await end(run!, later(1), 'Cancelled')
    await retry(run!)
    expect(await liveRuns(row)).toMatchObject([
      { selection: 'arrival', seq_from: null, seq_to: null, repeats: run!.id },
    ])
  })

  it('repeats a run of a backfill by time, up to that backfill’s position', async () => {
    const row = await add({ model: 'persons' })
    await backfill(row, range(null, '2026-01-05T05:30:00Z'))
    const [first] = await liveRuns(row)
    await end(first!, later(1), 'Failed')
    const id = await retry(first!, later(2))
    const [repeated] = await liveRuns(row)
    const bounds = { selection: 'timestamp', seq_from: 0, seq_to: 8 }
    expect(repeated).toMatchObject({ ...bounds, backfill_id: id, repeats: first!.id })
    expect(intervalText(repeated!)).toBe('START → 2026-01-05T05:00')
    // The tick adds nothing to it.
    await makeBackfillRuns(app.services, later(3))
    expect(await liveRuns(row)).toHaveLength(1)
  })

  it('that is asked for twice is made once, and again when the first has ended', async () => {
    const row = await add()
    await backfill(row, SIX_HOURS)
    const [first] = await liveRuns(row)
    await end(first!, later(1), 'Failed')
    const ids = await Promise.all([retry(first!, later(2)), retry(first!, later(2))])
    expect(ids[0]).toBe(ids[1])
    await endAll(row, later(3))
    expect(await retry(first!, later(4))).not.toBe(ids[0])
  })
})

describe('cancelling', () => {
  it('ends the backfill and its live runs, and nothing else', async () => {
    const row = await add({ created_at: at('2026-01-09T22:30:00Z') })
    await makeDueRuns(app.services, at('2026-01-09T23:00:00Z'))
    const [id, other] = [
      await backfill(row, SIX_HOURS),
      await backfill(row, range(null, '2026-01-06T00:00:00Z')),
    ]
    const [first] = (await liveRuns(row)).filter(({ backfill_id }) => backfill_id === id)
    await end(first!, later(1))
    await cancel(id, later(2))
    expect(await found(id)).toMatchObject({ status: 'Cancelled', finished_at: later(2) })
    const runs = (await runsOf(app.db, row)).filter(({ backfill_id }) => backfill_id === id)
    expect(runs.map(({ status }) => status)).toEqual(['Completed', ...Array(4).fill('Cancelled')])
    expect((await found(other)).status).toBe('Running')
    const spared = (await liveRuns(row)).map(({ backfill_id }) => backfill_id)
    expect(spared.filter((each) => each === other)).toHaveLength(4)
    expect(spared.filter((each) => each === null)).toHaveLength(1)
    await makeBackfillRuns(app.services, later(3))
    expect((await liveRuns(row)).filter(({ backfill_id }) => backfill_id === id)).toEqual([])
  })

  it.each([
    [
      'a cancelled one',
      async () => {
        const id = await backfill(await add(), SIX_HOURS)
        await cancel(id, later(1))
        return id
      },
    ],
    [
      'a completed one',
      async () => backfill(await add(), range('2020-01-01T00:00:00Z', '2020-01-02T00:00:00Z')),
    ],
    ['an unknown one', () => Promise.resolve(UNKNOWN_ID)],
  ])('%s is refused', async (_, make) => {
    const id = await make()
    await expect(cancel(id, later(9))).rejects.toMatchObject({ status: 400, code: 'invalid_input' })
  })

  it('another project’s is refused and changes nothing', async () => {
    const id = await backfill(await add(), SIX_HOURS)
    const attempt = app.db.transaction((tx) =>
      cancelBackfill(tx, { project_id: other_project_id, id }, later(1)),
    )
    await expect(attempt).rejects.toMatchObject({ status: 400 })
    expect((await found(id)).status).toBe('Running')
  })

  it('all of an export spares those of others', async () => {
    const [row, other] = [await add(), await add()]
    const ids = [await backfill(row, SIX_HOURS), await backfill(row, range(null, '2026-01-02T00:00:00Z'))]
    const spared = await backfill(other, SIX_HOURS)
    await app.db.transaction((tx) => cancelLiveBackfills(tx, row, later(1)))
    for (const id of ids) expect((await found(id)).status).toBe('Cancelled')
    expect(await liveRuns(row)).toEqual([])
    expect((await found(spared)).status).toBe('Running')
    expect(await liveRuns(other)).toHaveLength(4)
  })
})
