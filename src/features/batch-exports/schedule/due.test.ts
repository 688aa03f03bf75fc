// The scheduler on a real database, with a clock that the test moves: no interval missing, none twice.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { INTERVALS, type Interval } from '../definition.ts'
import { getExport, updateExport } from '../queries.ts'
import type { ExportRow, RunRow } from '../rows.ts'
import { dueAfterChange, pauseExport, unpauseExport, unpauseFrom } from './actions.ts'
import { makeDueRuns } from './due.ts'
import { addExport, at, endLiveRuns, intervalText, runsOf } from './fixture/exports.ts'
import { jitterMs } from './grid.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

let app: TestApp
let project_id: number

beforeAll(async () => {
  app = await startTestApp()
  project_id = (await createOrganization(app)).project.id
})
afterAll(() => app.close())
beforeEach(() => app.db.run(sql`DELETE FROM batch_export WHERE project_id = ${project_id}`))

const add = (fields: Partial<ExportRow> = {}) => addExport(app.db, project_id, fields)
const tick = (now: string | Date) => makeDueRuns(app.services, new Date(now))
const intervals = async (row: ExportRow) => (await runsOf(app.db, row)).map(intervalText)
const reread = (row: ExportRow) => getExport(app.db, project_id, row.id)
const pause = (row: ExportRow, now: string) => app.db.transaction((tx) => pauseExport(tx, row, at(now)))
const unpause = (row: ExportRow, now: string) => app.db.transaction((tx) => unpauseExport(tx, row, at(now)))

/** As PATCH does it. */
async function change(row: ExportRow, fields: Partial<ExportRow>, now: string): Promise<ExportRow> {
  const before = await reread(row)
  const next_due_at = dueAfterChange(before, { ...before, ...fields }, at(now))
  return updateExport(app.db, row, { ...fields, next_due_at }, at(now))
}

/** Ticks every second for as long as there is something to make, each time with all runs ended, as workers would. */
async function catchUp(row: ExportRow, from: string | Date): Promise<number> {
  let now = new Date(from)
  let ticks = 0
  while ((await tick(now)) > 0) {
    ticks++
    now = new Date(now.getTime() + 1000)
    await endLiveRuns(app.db, row, now)
  }
  return ticks
}

/** Nothing between one interval and the next, nothing in both. */
async function expectTiled(row: ExportRow): Promise<void> {
  const runs = await runsOf(app.db, row)
  for (const [index, run] of runs.slice(1).entries())
    expect(run.data_interval_start).toEqual(runs[index]!.data_interval_end)
}

describe('an interval', () => {
  it('gets its run once it has ended, the first one whole', async () => {
    const row = await add()
    expect(await tick('2026-01-01T10:59:59.999Z')).toBe(0)
    expect(await intervals(row)).toEqual([])
    expect(await tick('2026-01-01T11:00:00Z')).toBe(1)
    expect(await tick('2026-01-01T11:00:01Z')).toBe(0)
    expect(await intervals(row)).toEqual(['2026-01-01T10:00 → 2026-01-01T11:00'])
    const after = await reread(row)
    expect(after.next_due_at).toEqual(at('2026-01-01T12:00:00Z'))
    expect(after.last_updated_at).toEqual(row.last_updated_at)
  })

  it('is run by arrival, delayed by the export’s jitter, its bounds untouched', async () => {
    const row = await add()
    const now = at('2026-01-01T11:00:05Z')
    await tick(now)
    const [run] = await runsOf(app.db, row)
    expect(run).toMatchObject({
      status: 'Starting',
      selection: 'arrival',
      backfill_id: null,
      seq_from: null,
      seq_to: null,
      attempt: 0,
      created_at: now,
      finished_at: null,
      run_after: new Date(at('2026-01-01T11:00:00Z').getTime() + jitterMs(row.id)),
    })
  })

  it('is not run for exports that are paused or deleted', async () => {
    const paused = await add({ paused: true })
    const deleted = await add()
    await updateExport(
      app.db,
      deleted,
      { deleted_at: at('2026-01-01T10:45:00Z') },
      at('2026-01-01T10:45:00Z'),
    )
    expect(await tick('2026-01-01T13:00:00Z')).toBe(0)
    expect([...(await runsOf(app.db, paused)), ...(await runsOf(app.db, deleted))]).toEqual([])
  })

  it('of one export does not wait for another’s', async () => {
    const rows = await Promise.all(Array.from({ length: 130 }, () => add()))
    expect(await tick('2026-01-01T11:00:00Z')).toBe(130)
    for (const row of rows) expect(await intervals(row)).toHaveLength(1)
  })
})

describe('after a day without a server', () => {
  it.each([
    ['every 5 minutes', 288],
    ['every 15 minutes', 96],
    ['hour', 24],
    ['day', 1],
    ['week', 1],
  ] as [Interval, number][])('%s: all %i intervals are run, oldest first', async (interval, count) => {
    // A Saturday, so that a week ends too.
    const row = await add({ interval, created_at: at('2026-01-03T10:30:00Z') })
    await catchUp(row, new Date(at('2026-01-03T10:30:00Z').getTime() + DAY_MS))
    const runs = await runsOf(app.db, row)
    expect(runs).toHaveLength(count)
    await expectTiled(row)
    // As lists have them.
    const age = ({ created_at, id }: RunRow) => `${created_at.toISOString()} ${id}`
    const byAge = runs.toSorted((one, other) => (age(one) < age(other) ? -1 : 1))
    expect(byAge.map(({ id }) => id)).toEqual(runs.map(({ id }) => id))
    expect(await tick(new Date(at('2026-01-03T10:30:00Z').getTime() + DAY_MS))).toBe(0)
  })

  it('at most twenty runs of the schedule wait at a time, and none is left out', async () => {
    const row = await add({ interval: 'every 5 minutes' })
    const now = at('2026-01-02T10:30:00Z')
    expect(await tick(now)).toBe(20)
    expect(await tick(now)).toBe(0)
    const [oldest] = await runsOf(app.db, row)
    expect(intervalText(oldest!)).toBe('2026-01-01T10:30 → 2026-01-01T10:35')
    await app.db.run(sql`
      UPDATE batch_export_run SET status = 'Failed', finished_at = ${now} WHERE id = ${oldest!.id}`)
    expect(await tick(now)).toBe(1)
    expect(await catchUp(row, now)).toBe(0)
    await endLiveRuns(app.db, row, now)
    await catchUp(row, now)
    expect(await runsOf(app.db, row)).toHaveLength(288)
    await expectTiled(row)
  })

  it.each([
    ['Europe/Berlin', '2026-03-20T10:00:00Z', '2026-04-05T10:00:00Z', 16],
    ['America/New_York', '2026-10-25T10:00:00Z', '2026-11-08T10:00:00Z', 14],
    ['Australia/Lord_Howe', '2026-09-28T10:00:00Z', '2026-10-08T10:00:00Z', 10],
  ])(
    'days in %s over a change of the clocks: none missing, none twice',
    async (timezone, from, to, count) => {
      const row = await add({ interval: 'day', timezone, offset_hour: 2, created_at: at(from) })
      await catchUp(row, to)
      expect(await runsOf(app.db, row)).toHaveLength(count)
      await expectTiled(row)
    },
  )
})

describe('several schedulers on one database', () => {
  it('make each run once', async () => {
    const rows = await Promise.all(INTERVALS.map((interval) => add({ interval })))
    const now = at('2026-01-12T10:30:00Z')
    for (let round = 0; round < 5; round++) {
      const made = await Promise.all(Array.from({ length: 6 }, () => tick(now)))
      const { count } = await app.db.only<{ count: number }>(sql`
        SELECT count(*)::int AS count FROM batch_export_run WHERE project_id = ${project_id} AND finished_at IS NULL`)
      expect(made.reduce((sum, each) => sum + each, 0)).toBe(count)
      for (const row of rows) {
        const live = (await runsOf(app.db, row)).filter(({ finished_at }) => finished_at === null)
        expect(live.length).toBeLessThanOrEqual(20)
        await endLiveRuns(app.db, row, now)
        await expectTiled(row)
      }
    }
    expect((await intervals(rows[0]!)).slice(0, 2)).toEqual([
      '2026-01-01T10:00 → 2026-01-01T11:00',
      '2026-01-01T11:00 → 2026-01-01T12:00',
    ])
  })

  it('pass over an export that somebody is just changing, without waiting', async () => {
    const row = await add()
    await app.db.transaction(async (tx) => {
      await updateExport(tx, row, { name: 'Another' }, at('2026-01-01T11:00:00Z'))
      // One that waited would wait for this very transaction.
      const waits = new Promise((resolve) => setTimeout(resolve, 5000, 'waits').unref())
      expect(await Promise.race([tick('2026-01-01T11:00:00Z'), waits])).toBe(0)
    })
    expect(await tick('2026-01-01T11:00:00Z')).toBe(1)
  })

  it('do not make a run for an export that is paused at the same moment', async () => {
    for (let round = 0; round < 10; round++) {
      const row = await add()
      const [, made] = await Promise.all([pause(row, '2026-01-01T11:00:00Z'), tick('2026-01-01T11:00:00Z')])
      const after = await reread(row)
      // Whoever came first: the run is there and its interval done with, or still owed.
      expect(await runsOf(app.db, row)).toHaveLength(made)
      expect(after.next_due_at).toEqual(at(`2026-01-01T1${made + 1}:00:00Z`))
    }
  })
})

describe('start_at and end_at', () => {
  it('let runs be due from the one to the other, both included', async () => {
    const row = await add({ start_at: at('2026-01-01T13:00:00Z'), end_at: at('2026-01-01T15:00:00Z') })
    await catchUp(row, '2026-01-01T12:59:00Z')
    expect(await intervals(row)).toEqual([])
    await catchUp(row, '2026-01-02T00:00:00Z')
    expect(await intervals(row)).toEqual([
      '2026-01-01T12:00 → 2026-01-01T13:00',
      '2026-01-01T13:00 → 2026-01-01T14:00',
      '2026-01-01T14:00 → 2026-01-01T15:00',
    ])
  })

  it('are compared with the end of the interval', async () => {
    const row = await add({ start_at: at('2026-01-01T13:00:01Z'), end_at: at('2026-01-01T14:59:59Z') })
    await catchUp(row, '2026-01-02T00:00:00Z')
    expect(await intervals(row)).toEqual(['2026-01-01T13:00 → 2026-01-01T14:00'])
  })

  it('when moved, leave out what was not owed until then', async () => {
    const waiting = await add({ start_at: at('2030-01-01T00:00:00Z') })
    await change(waiting, { start_at: null }, '2026-01-01T15:30:00Z')
    await catchUp(waiting, '2026-01-01T16:00:00Z')
    expect(await intervals(waiting)).toEqual(['2026-01-01T15:00 → 2026-01-01T16:00'])

    const ended = await add({ end_at: at('2026-01-01T11:00:00Z') })
    await catchUp(ended, '2026-01-01T15:30:00Z')
    await change(ended, { end_at: null }, '2026-01-01T15:30:00Z')
    await catchUp(ended, '2026-01-01T16:00:00Z')
    expect(await intervals(ended)).toEqual([
      '2026-01-01T10:00 → 2026-01-01T11:00',
      '2026-01-01T15:00 → 2026-01-01T16:00',
    ])
  })

  it('when moved while intervals are owed, lose none of them', async () => {
    const row = await add()
    await change(row, { end_at: at('2026-01-01T13:00:00Z') }, '2026-01-01T12:30:00Z')
    await catchUp(row, '2026-01-01T18:00:00Z')
    expect(await runsOf(app.db, row)).toHaveLength(3)
    await expectTiled(row)
  })
})

describe('a pause', () => {
  it('skips what ends during it, and its last interval comes whole', async () => {
    const row = await add()
    await tick('2026-01-01T11:00:00Z')
    const paused = await pause(row, '2026-01-01T11:20:00Z')
    expect(paused).toMatchObject({ paused: true, last_paused_at: at('2026-01-01T11:20:00Z') })
    expect(await tick('2026-01-01T14:00:00Z')).toBe(0)
    const running = await unpause(row, '2026-01-01T14:10:00Z')
    expect(running).toMatchObject({
      paused: false,
      last_paused_at: at('2026-01-01T11:20:00Z'),
      last_updated_at: at('2026-01-01T14:10:00Z'),
    })
    expect(await tick('2026-01-01T14:10:00Z')).toBe(0)
    await tick('2026-01-01T15:00:00Z')
    expect(await intervals(row)).toEqual([
      '2026-01-01T10:00 → 2026-01-01T11:00',
      '2026-01-01T14:00 → 2026-01-01T15:00',
    ])
  })

  it('within an interval skips nothing', async () => {
    const row = await add()
    await pause(row, '2026-01-01T10:40:00Z')
    await unpause(row, '2026-01-01T10:50:00Z')
    await tick('2026-01-01T11:00:00Z')
    expect(await intervals(row)).toEqual(['2026-01-01T10:00 → 2026-01-01T11:00'])
  })

  it('does not lose what had ended before it and nobody had come to', async () => {
    const row = await add()
    await tick('2026-01-01T11:00:00Z')
    await pause(row, '2026-01-01T13:20:00Z')
    expect(await tick('2026-01-01T13:30:00Z')).toBe(0)
    await unpause(row, '2026-01-01T16:10:00Z')
    await tick('2026-01-01T17:00:00Z')
    expect(await intervals(row)).toEqual([
      '2026-01-01T10:00 → 2026-01-01T11:00',
      '2026-01-01T11:00 → 2026-01-01T12:00',
      '2026-01-01T12:00 → 2026-01-01T13:00',
      '2026-01-01T16:00 → 2026-01-01T17:00',
    ])
  })

  it('that is asked for twice, or ended twice, changes nothing', async () => {
    const row = await add()
    const paused = await pause(row, '2026-01-01T10:40:00Z')
    expect(await pause(row, '2026-01-01T10:50:00Z')).toEqual(paused)
    const running = await unpause(row, '2026-01-01T11:10:00Z')
    expect(await unpause(row, '2026-01-01T12:10:00Z')).toEqual(running)
    expect(await reread(row)).toEqual(running)
  })

  it('from the beginning leaves nothing owed', async () => {
    const row = await add({ paused: true })
    await unpause(row, '2026-01-01T15:30:00Z')
    await catchUp(row, '2026-01-01T16:00:00Z')
    expect(await intervals(row)).toEqual(['2026-01-01T15:00 → 2026-01-01T16:00'])
  })

  it('can be ended from an instant of the past on, which is caught up with', async () => {
    const row = await add({ paused: true })
    const from = at('2026-01-01T13:00:00Z')
    await app.db.transaction((tx) => unpauseFrom(tx, row, from, at('2026-01-01T15:30:00Z')))
    await catchUp(row, '2026-01-01T15:30:00Z')
    expect(await intervals(row)).toEqual([
      '2026-01-01T13:00 → 2026-01-01T14:00',
      '2026-01-01T14:00 → 2026-01-01T15:00',
    ])
  })
})

describe('another interval', () => {
  it('that is longer begins where the last run ended', async () => {
    const row = await add({ created_at: at('2026-01-01T08:30:00Z') })
    await catchUp(row, '2026-01-01T10:10:00Z')
    await change(row, { interval: 'day' }, '2026-01-01T10:30:00Z')
    expect(await tick('2026-01-01T23:59:59Z')).toBe(0)
    await catchUp(row, '2026-01-03T00:00:00Z')
    expect(await intervals(row)).toEqual([
      '2026-01-01T08:00 → 2026-01-01T09:00',
      '2026-01-01T09:00 → 2026-01-01T10:00',
      '2026-01-01T10:00 → 2026-01-02T00:00',
      '2026-01-02T00:00 → 2026-01-03T00:00',
    ])
  })

  it('that is shorter takes up what the longer one had not come to', async () => {
    const row = await add({ interval: 'day' })
    await catchUp(row, '2026-01-02T04:30:00Z')
    await change(row, { interval: 'hour' }, '2026-01-02T02:30:00Z')
    await catchUp(row, '2026-01-02T02:30:00Z')
    expect(await intervals(row)).toEqual([
      '2026-01-01T00:00 → 2026-01-02T00:00',
      '2026-01-02T00:00 → 2026-01-02T01:00',
      '2026-01-02T01:00 → 2026-01-02T02:00',
    ])
    await catchUp(row, '2026-01-02T03:00:00Z')
    await expectTiled(row)
  })

  it('before the first run begins with the interval in which the export was made', async () => {
    const row = await add({ interval: 'day' })
    await change(row, { interval: 'hour' }, '2026-01-01T12:30:00Z')
    await catchUp(row, '2026-01-01T12:30:00Z')
    expect(await intervals(row)).toEqual([
      '2026-01-01T10:00 → 2026-01-01T11:00',
      '2026-01-01T11:00 → 2026-01-01T12:00',
    ])
  })

  it('back and forth, in other zones and hours, leaves no gap and no overlap', async () => {
    const row = await add()
    const changes: [string, Partial<ExportRow>][] = [
      ['2026-01-01T13:07:00Z', { interval: 'every 5 minutes' }],
      ['2026-01-01T14:12:00Z', { interval: 'day', timezone: 'Asia/Kathmandu', offset_hour: 3 }],
      ['2026-01-01T16:30:00Z', { interval: 'hour' }],
      ['2026-01-03T09:59:00Z', { interval: 'week', offset_day: 2 }],
      ['2026-01-03T10:01:00Z', { timezone: 'Europe/Berlin' }],
      ['2026-01-09T10:01:00Z', { interval: 'every 15 minutes', timezone: 'UTC' }],
    ]
    for (const [now, fields] of changes) {
      await catchUp(row, now)
      await change(row, fields, now)
      await catchUp(row, now)
      await expectTiled(row)
    }
    await catchUp(row, '2026-01-10T00:00:00Z')
    await expectTiled(row)
    const runs = await runsOf(app.db, row)
    expect(runs[0]!.data_interval_start).toEqual(at('2026-01-01T10:00:00Z'))
    expect(runs.at(-1)!.data_interval_end).toEqual(at('2026-01-10T00:00:00Z'))
    expect(runs.length).toBeGreaterThan(60)
  })
})

describe('a clock', () => {
  it('that is set back makes nothing twice and loses nothing', async () => {
    const row = await add()
    await catchUp(row, '2026-01-01T13:10:00Z')
    expect(await tick('2026-01-01T11:10:00Z')).toBe(0)
    expect(await tick('2026-01-01T13:50:00Z')).toBe(0)
    expect(await tick('2026-01-01T14:00:00Z')).toBe(1)
    await expectTiled(row)
    expect(await runsOf(app.db, row)).toHaveLength(4)
  })

  it('that jumps ahead and back makes runs for later, which wait, and loses none', async () => {
    const row = await add()
    const real = at('2026-01-01T11:00:30Z')
    expect(await tick(new Date(real.getTime() + 3 * 60 * MINUTE_MS))).toBe(4)
    for (const run of await runsOf(app.db, row))
      expect(run.run_after.getTime()).toBeGreaterThanOrEqual(run.data_interval_end.getTime())
    expect(await tick(real)).toBe(0)
    expect(await tick('2026-01-01T14:30:00Z')).toBe(0)
    expect(await tick('2026-01-01T15:00:00Z')).toBe(1)
    expect(await runsOf(app.db, row)).toHaveLength(5)
    await expectTiled(row)
  })

  it('that jumps ahead and back around a pause makes nothing twice', async () => {
    const row = await add()
    await tick('2026-01-01T14:00:30Z')
    await pause(row, '2026-01-01T11:10:00Z')
    await unpause(row, '2026-01-01T11:20:00Z')
    expect(await tick('2026-01-01T14:30:00Z')).toBe(0)
    expect(await tick('2026-01-01T15:00:00Z')).toBe(1)
    expect(await runsOf(app.db, row)).toHaveLength(5)
    await expectTiled(row)
  })

  it('that jumps ahead and back before a shorter interval makes nothing of what has its run', async () => {
    const row = await add()
    await tick('2026-01-01T14:00:30Z')
    await pause(row, '2026-01-01T11:10:00Z')
    await unpause(row, '2026-01-01T11:20:00Z')
    await change(row, { interval: 'every 15 minutes' }, '2026-01-01T11:30:00Z')
    expect(await tick('2026-01-01T14:10:00Z')).toBe(0)
    expect(await tick('2026-01-01T14:15:00Z')).toBe(1)
    expect(await runsOf(app.db, row)).toHaveLength(5)
    await expectTiled(row)
  })
})
