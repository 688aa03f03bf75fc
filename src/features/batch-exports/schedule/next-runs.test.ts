// What an export does next, as it is told, against what it then does.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { ExportRow } from '../rows.ts'
import { makeDueRuns } from './due.ts'
import { addExport, at, endLiveRuns, runsOf } from './fixture/exports.ts'
import { jitterMs } from './grid.ts'

let app: TestApp
let workspace: Workspace
let base: string
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  base = `/api/projects/${workspace.project.id}/batch_exports`
})
afterAll(() => app.close())
beforeEach(() => app.db.run(sql`DELETE FROM batch_export WHERE project_id = ${workspace.project.id}`))

const add = (fields: Partial<ExportRow> = {}) => addExport(app.db, workspace.project.id, fields)

type Times = { start: string; end: string; due: string }
async function next({ id }: ExportRow, path = base): Promise<(Times & { local: Times })[]> {
  const { status, body } = await app.get(`${path}/${id}/next_runs/`, { key: workspace.owner.key })
  expect(status).toBe(200)
  return body.results
}
const localEnds = async (row: ExportRow) => (await next(row)).map(({ local }) => local.end)

describe('GET …/:id/next_runs/', () => {
  it('gives five, which the scheduler then makes as they were told', async () => {
    for (const fields of [
      {},
      { interval: 'every 5 minutes' },
      { interval: 'day', timezone: 'Asia/Kolkata', offset_hour: 5 },
      { interval: 'week', timezone: 'America/New_York', offset_day: 3, offset_hour: 2 },
    ] as Partial<ExportRow>[]) {
      const row = await add({ created_at: at('2026-03-20T10:30:00Z'), ...fields })
      const told = await next(row)
      expect(told).toHaveLength(5)
      await makeDueRuns(app.services, at(told[4]!.end))
      const made = (await runsOf(app.db, row)).map((run) => ({
        start: run.data_interval_start!.toISOString(),
        end: run.data_interval_end.toISOString(),
        due: run.run_after.toISOString(),
      }))
      expect(told.map(({ start, end, due }) => ({ start, end, due }))).toEqual(made)
      // From there on it goes on without a gap.
      expect((await next(row))[0]!.start).toBe(told[4]!.end)
    }
  })

  it('is the same below the other name of a project, and names the zone', async () => {
    const row = await add({ timezone: 'Europe/Berlin' })
    const elsewhere = base.replace('projects', 'environments')
    expect(await next(row, elsewhere)).toEqual(await next(row))
    const { body } = await app.get(`${base}/${row.id}/next_runs/`, { key: workspace.owner.key })
    expect(body.timezone).toBe('Europe/Berlin')
  })

  it('keeps to the clocks of its zone when they are set forward, and says what both show', async () => {
    const berlin = { interval: 'day', timezone: 'Europe/Berlin', offset_hour: 2 } as const
    const row = await add({ ...berlin, created_at: at('2026-03-27T12:00:00Z') })
    const [first, second, third] = await next(row)
    expect(first).toEqual({
      start: '2026-03-27T01:00:00.000Z',
      end: '2026-03-28T01:00:00.000Z',
      due: new Date(Date.parse('2026-03-28T01:00:00Z') + jitterMs(row.id)).toISOString(),
      local: {
        start: '2026-03-27T02:00:00+01:00',
        end: '2026-03-28T02:00:00+01:00',
        due: expect.stringMatching(/^2026-03-28T02:0[01]:\d\d\+01:00$/),
      },
    })
    // Two o'clock never comes that night.
    expect(second!.local).toMatchObject({ end: '2026-03-29T03:00:00+02:00' })
    expect(second!.end).toBe('2026-03-29T01:00:00.000Z')
    expect(third).toMatchObject({
      end: '2026-03-30T00:00:00.000Z',
      local: { end: '2026-03-30T02:00:00+02:00' },
    })
  })

  it('keeps to them when they are set back, and in zones west of Greenwich and of half hours', async () => {
    const autumn = { interval: 'day', created_at: at('2026-10-31T12:00:00Z') } as const
    expect(await localEnds(await add({ ...autumn, timezone: 'America/New_York' }))).toEqual([
      '2026-11-01T00:00:00-04:00',
      '2026-11-02T00:00:00-05:00',
      '2026-11-03T00:00:00-05:00',
      '2026-11-04T00:00:00-05:00',
      '2026-11-05T00:00:00-05:00',
    ])
    const kolkata = await add({ ...autumn, timezone: 'Asia/Kolkata' })
    expect((await localEnds(kolkata))[0]).toBe('2026-11-01T00:00:00+05:30')
  })

  it('begins with what is owed, from where the runs have come to', async () => {
    const row = await add()
    await makeDueRuns(app.services, at('2026-01-01T12:00:00Z'))
    await endLiveRuns(app.db, row, at('2026-01-01T12:00:00Z'))
    // Hours ago, and the scheduler has not been there since.
    expect((await next(row))[0]).toMatchObject({
      start: '2026-01-01T12:00:00.000Z',
      end: '2026-01-01T13:00:00.000Z',
    })
  })

  it('waits for the start, and stops at the end', async () => {
    const bounded = await add({ start_at: at('2027-05-01T00:00:00Z'), end_at: at('2027-05-01T02:30:00Z') })
    expect((await next(bounded)).map(({ end }) => end)).toEqual([
      '2027-05-01T00:00:00.000Z',
      '2027-05-01T01:00:00.000Z',
      '2027-05-01T02:00:00.000Z',
    ])
  })

  it('gives none when it is paused, is over, or begins at the end of all years', async () => {
    expect(await next(await add({ paused: true }))).toEqual([])
    expect(await next(await add({ end_at: at('2026-01-01T10:45:00Z') }))).toEqual([])
    expect(await next(await add({ start_at: at('9999-12-31T23:59:59Z') }))).toEqual([])
  })
})
