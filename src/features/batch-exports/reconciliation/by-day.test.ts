// The calendar of an export: days by the timestamps of events, against what backfills then deliver.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization } from '../../../../test/factories.ts'
import { sql } from '../../../platform/db/sql.ts'
import { neighbourOf, openWorkbench, type Workbench } from '../fixture/workbench.ts'
import type { DayAccount } from './schema.ts'

let first: Workbench
let bench: Workbench
beforeAll(async () => {
  first = await openWorkbench()
})
afterAll(() => first.app.close())
beforeEach(async () => {
  bench = await neighbourOf(first)
})
afterEach(() => bench.deleteExports())

const FILE = { type: 'File', config: { prefix: '{export_id}' } }
const DAY_MS = 86_400_000

/** Taken once: a test moves the clock, perhaps past midnight. */
let began_ms: number
beforeEach(() => {
  began_ms = bench.app.services.now().getTime()
})
/** The date so many days before the test began, in UTC. */
const date = (ago: number) => new Date(began_ms - ago * DAY_MS).toISOString().slice(0, 10)
const ask = (id: string, query = '', base = bench.base) =>
  bench.app.get(`${base}/${id}/reconciliation/days/${query}`, { key: bench.key })

/** By date, and only where there is something. What each says adds up. */
async function days(id: string, query = ''): Promise<Record<string, Partial<DayAccount>>> {
  const { status, body } = await ask(id, query)
  expect(status).toBe(200)
  const results = body.results as DayAccount[]
  for (const day of results) {
    expect(day.exported + day.filtered_out + day.pending + day.skipped).toBe(day.received)
    expect(Math.min(day.exported, day.filtered_out, day.pending, day.skipped)).toBeGreaterThanOrEqual(0)
  }
  const shown = results.filter(({ received }) => received > 0)
  return Object.fromEntries(
    shown.map(({ date: on, received, exported, filtered_out, pending, skipped }) => [
      on,
      { received, exported, filtered_out, pending, skipped },
    ]),
  )
}

const figures = (exported: number, filtered_out: number, pending: number, skipped: number) => ({
  received: exported + filtered_out + pending + skipped,
  exported,
  filtered_out,
  pending,
  skipped,
})

describe('GET …/reconciliation/days/', () => {
  it('tells what is delivered, filtered out, coming and left to a backfill, by the day it happened', async () => {
    // Before the export was made: nothing will take them but a backfill.
    await bench.capture(['one', 'two', 'noise'], `${date(5)}T12:00:00Z`)
    await bench.pass()
    const config = { ...FILE.config, exclude_events: ['noise'] }
    const id = await bench.create({ ...FILE, config })
    // Late events: they arrive now, and happened days ago.
    await bench.capture(['three', 'noise'], `${date(4)}T23:59:59Z`)
    expect(await days(id)).toEqual({ [date(5)]: figures(0, 1, 0, 2), [date(4)]: figures(0, 1, 1, 0) })
    await bench.pass()
    expect(await days(id)).toEqual({ [date(5)]: figures(0, 1, 0, 2), [date(4)]: figures(1, 1, 0, 0) })

    const range = { start_at: `${date(5)}T00:00:00Z`, end_at: `${date(4)}T00:00:00Z` }
    const estimate = await bench.app.post(`${bench.base}/${id}/backfills/estimate/`, range, {
      key: bench.key,
    })
    expect(estimate.body.rows).toBe(2)
    await bench.act(id, 'backfill', range)
    await bench.work()
    expect(await days(id)).toEqual({ [date(5)]: figures(2, 1, 0, 0), [date(4)]: figures(1, 1, 0, 0) })
  })

  it('adds up to the account of the export', async () => {
    await bench.capture(['before'], `${date(3)}T01:00:00Z`)
    await bench.pass()
    const id = await bench.create(FILE)
    await bench.capture(['one', 'two'], `${date(2)}T01:00:00Z`)
    await bench.pass()
    await bench.act(id, 'pause')
    await bench.capture(['while paused'], `${date(2)}T02:00:00Z`)
    await bench.pass()
    await bench.act(id, 'unpause')
    await bench.capture(['open'], `${date(1)}T00:00:00Z`)
    const { totals } = (await bench.app.get(`${bench.base}/${id}/reconciliation/`, { key: bench.key })).body
    const found = Object.values(await days(id))
    const sum = (figure: 'received' | 'exported' | 'filtered_out' | 'pending' | 'skipped') =>
      found.reduce((total, day) => total + day[figure]!, 0)
    for (const figure of ['received', 'exported', 'filtered_out', 'pending', 'skipped'] as const)
      expect([figure, sum(figure)]).toEqual([figure, totals[figure]])
    expect(totals).toMatchObject({ received: 5, exported: 2, pending: 1, skipped: 2 })
  })

  it('counts what a run has claimed and not delivered as pending, whether it goes on or has failed', async () => {
    const id = await bench.create(FILE)
    await bench.capture(['one'], `${date(2)}T01:00:00Z`)
    await bench.pass()
    expect(await days(id)).toEqual({ [date(2)]: figures(1, 0, 0, 0) })
    for (const [status, finished_at] of [
      ['Failed', bench.app.services.now()],
      ['Running', null],
    ] as const) {
      await bench.app.db.run(sql`
        UPDATE batch_export_run SET status = ${status}, finished_at = ${finished_at} WHERE batch_export_id = ${id}`)
      expect(await days(id)).toEqual({ [date(2)]: figures(0, 0, 1, 0) })
    }
  })

  it('has days of the project, also those on which clocks are set, without a gap', async () => {
    const { id: project_id } = bench.workspace.project
    await bench.app.db.run(sql`UPDATE project SET timezone = 'Europe/Berlin' WHERE id = ${project_id}`)
    const id = await bench.create(FILE)
    await bench.capture(['at night'], '2026-03-28T23:30:00Z')
    const { body } = await ask(id, '?after=2026-03-28&before=2026-03-30')
    expect(body).toMatchObject({ model: 'events', timezone: 'Europe/Berlin' })
    expect(body.results.map((day: DayAccount) => [day.date, day.start, day.end, day.received])).toEqual([
      ['2026-03-28', '2026-03-27T23:00:00.000Z', '2026-03-28T23:00:00.000Z', 0],
      ['2026-03-29', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z', 1],
      ['2026-03-30', '2026-03-29T22:00:00.000Z', '2026-03-30T22:00:00.000Z', 0],
    ])
    expect(
      await ask(id, '?after=2026-03-28&before=2026-03-30', bench.base.replace('projects', 'environments')),
    ).toMatchObject({ status: 200, body })
  })

  it('gives thirty days and today unless told, and four hundred at most', async () => {
    const id = await bench.create(FILE)
    const count = async (query: string) => (await ask(id, query)).body.results?.length
    expect(await count('')).toBe(31)
    expect(await count('?after=2024-01-01&before=2025-02-03')).toBe(400)
    const refused = await ask(id, '?after=2024-01-01&before=2025-02-04')
    expect(refused).toMatchObject({ status: 400, body: { attr: 'after' } })
  })

  it.each([
    ['?after=2026-02-02&before=2026-02-01', 'before'],
    ['?after=yesterday-ish', 'after'],
    ['?after=2026-01-01&before=x', 'before'],
    ['?after=0001-01-01&before=9999-12-31', 'after'],
  ])('400 for %s', async (query, attr) => {
    const id = await bench.create(FILE)
    expect(await ask(id, query)).toMatchObject({ status: 400, body: { attr } })
  })

  it('answers about the first and the last of all years', async () => {
    const { id: project_id } = bench.workspace.project
    const id = await bench.create(FILE)
    await bench.capture(['one'])
    for (const zone of ['UTC', 'Asia/Tokyo', 'America/New_York']) {
      await bench.app.db.run(sql`UPDATE project SET timezone = ${zone} WHERE id = ${project_id}`)
      for (const on of ['0001-01-01', '0001-01-02', '9999-12-30', '9999-12-31']) {
        expect([200, 400]).toContain((await ask(id, `?after=${on}&before=${on}`)).status)
      }
    }
  })

  it('has none for persons, and is not there for strangers', async () => {
    const id = await bench.create(FILE, { model: 'persons' })
    expect((await ask(id)).body).toMatchObject({ model: 'persons', results: [] })
    const stranger = await createOrganization(bench.app)
    const elsewhere = `/api/projects/${stranger.project.id}/batch_exports/${id}/reconciliation/days/`
    expect((await bench.app.get(elsewhere, { key: stranger.owner.key })).status).toBe(404)
  })
})
