import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type Reply, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { Written } from '../../../platform/event-store/event-store.ts'
import { makeEvent } from '../../events/listing/fixture/events.ts'
import { insertProject } from '../../projects/queries.ts'
import type { ExportRow, RunRow, RunStatus } from '../rows.ts'
import { addBackfill, addExport, addRun, claimEvents } from '../runs/fixture/rows.ts'
import { reconcile } from './reconcile.ts'

const HOUR = 3_600_000
const NO_ID = '00000000-0000-7000-8000-000000000000'

/** Hours that have passed; the one after them has begun and not ended. */
const HOURS = 8

let app: TestApp
let workspace: Workspace
let key: string
let began: Date
beforeAll(async () => {
  app = await startTestApp({ EVENT_MEMORY_MB: '1024' })
  workspace = await createOrganization(app)
  key = workspace.owner.key
  const this_hour = Math.floor(app.services.now().getTime() / HOUR) * HOUR
  began = new Date(this_hour - HOURS * HOUR)
})
afterAll(() => app.close())

/** Where the hour of this number begins. */
const hour = (index: number) => new Date(began.getTime() + index * HOUR)
const urlOf = ({ project_id, id }: Pick<ExportRow, 'project_id' | 'id'>) =>
  `/api/projects/${project_id}/batch_exports/${id}/reconciliation/`
const get = (url: string) => app.get(url, { key })

async function newProject(): Promise<number> {
  return (await insertProject(app.db, workspace.organization.id, {}, app.services.now())).id
}

const NO_COPIES = { persons: [], deleted_persons: [], distinct_ids: [], groups: [] }

/** So many events for each project, all in one hour; they happened in another, the first unless told. */
async function arrive(counts: ReadonlyMap<number, number>, index: number, happened = 0): Promise<Written[]> {
  const writes = [...counts].map(([project_id, count]) => ({
    project_id,
    events: Array.from({ length: count }, () => makeEvent({}, hour(happened))),
    ...NO_COPIES,
  }))
  return app.services.eventStore.write(writes, new Date(hour(index).getTime() + HOUR / 2))
}

describe('GET …/reconciliation/', () => {
  /** An hourly export whose next run is due at the end of the hour that has begun. */
  async function makeExport(fields: Partial<ExportRow> = {}): Promise<ExportRow> {
    const project_id = await newProject()
    return addExport(app.db, project_id, began, { next_due_at: hour(HOURS + 1), ...fields })
  }

  const definitionOf = ({ model, destination_type, config, hogql_query, filters }: ExportRow) => ({
    model,
    destination_type,
    config,
    hogql_query,
    filters,
    timezone: 'UTC',
  })
  /** So many events had arrived when the hour began. */
  const addBound = ({ project_id }: ExportRow, index: number, seq: number) =>
    app.db.run(
      sql`INSERT INTO batch_export_bound (project_id, at, seq) VALUES (${project_id}, ${hour(index)}, ${seq})`,
    )
  const seqs = (from: number, to: number) => ({ seq_from: from, seq_to: to })
  const interval = (index: number) => ({
    data_interval_start: hour(index),
    data_interval_end: hour(index + 1),
  })
  const done = (matching: number) => ({ records_total_count: matching, records_completed: matching })
  /** With positions it has claimed what others have left of them. */
  const runAt = async (
    row: ExportRow,
    index: number,
    fields: Partial<RunRow>,
    now = hour(index + 1),
  ): Promise<RunRow> => {
    const isFrozen = fields.seq_to !== undefined
    const definition = isFrozen ? definitionOf(row) : null
    const run = await addRun(app.db, row, now, { ...interval(index), definition, ...fields })
    if (isFrozen && row.model === 'events') await claimEvents(app.db, run)
    return run
  }

  it('200 gives exactly the fields of the API, below either name', async () => {
    const row = await makeExport()
    await arrive(new Map([[row.project_id, 10]]), HOURS)
    // As if all but the last had come before this hour, and the first of them before there was a run.
    await addBound(row, HOURS, 9)
    const files = [{ name: 'a.jsonl', rows: 7, bytes: 70, sha256: 'ab'.repeat(32) }]
    const run = await runAt(row, 6, { ...seqs(1, 9), ...done(7), files })
    for (const url of [urlOf(row), urlOf(row).replace('projects', 'environments')]) {
      const { status, body } = await get(url)
      expect(status).toBe(200)
      expect(body).toEqual({
        count: 1,
        next: null,
        previous: null,
        results: [
          {
            data_interval_start: hour(6).toISOString(),
            data_interval_end: hour(7).toISOString(),
            run: run.id,
            runs: [run.id],
            status: 'Completed',
            received: 8,
            exported: 7,
            filtered_out: 1,
            pending: 0,
            skipped: 0,
            backfilled: 0,
            files,
          },
        ],
        model: 'events',
        totals: { received: 10, exported: 7, filtered_out: 1, pending: 1, skipped: 1, backfilled: 0 },
        verification: null,
      })
    }
  })

  it('200 with nothing at all, and with the first events pending as soon as they are there', async () => {
    const row = await makeExport()
    const nothing = { received: 0, exported: 0, filtered_out: 0, pending: 0, skipped: 0, backfilled: 0 }
    expect((await get(urlOf(row))).body).toMatchObject({ count: 0, results: [], totals: nothing })
    await arrive(new Map([[row.project_id, 3]]), HOURS)
    const { body } = await get(urlOf(row))
    expect(body.totals).toEqual({ ...nothing, received: 3, pending: 3 })
  })

  it('200: a failed interval is pending until a repetition has completed it', async () => {
    const row = await makeExport()
    await arrive(new Map([[row.project_id, 10]]), HOURS)
    const failed = await runAt(row, 7, { ...seqs(0, 10), status: 'Failed', records_total_count: 9 })
    const first = await get(urlOf(row))
    expect(first.body.totals).toMatchObject({ received: 10, exported: 0, filtered_out: 1, pending: 9 })
    expect(first.body.results).toMatchObject([{ run: failed.id, runs: [], status: 'Failed', pending: 9 }])
    const again = async (status: RunStatus, minutes: number, fields: Partial<RunRow> = {}) => {
      const now = new Date(hour(8).getTime() + minutes * 60_000)
      const { id } = await addBackfill(app.db, row, now, { kind: 'retry', retry_of: failed.id })
      const again_of = { backfill_id: id, repeats: failed.id }
      return runAt(row, 7, { ...seqs(0, 10), ...again_of, status, ...fields }, now)
    }
    const running = await again('Running', 1)
    expect((await get(urlOf(row))).body.results).toMatchObject([
      { run: running.id, status: 'Running', pending: 10 },
    ])
    const completed = await again('Completed', 2, done(9))
    // What is tried once more takes nothing back.
    await again('Failed', 3)
    const { body } = await get(urlOf(row))
    expect(body.count).toBe(1)
    expect(body.results).toMatchObject([
      { run: completed.id, runs: [completed.id], status: 'Completed', exported: 9, pending: 0 },
    ])
    expect(body.totals).toMatchObject({ received: 10, exported: 9, filtered_out: 1, pending: 0, skipped: 0 })
  })

  it('200: what backfills brought is part of what was exported; what they failed to bring is pending', async () => {
    const row = await makeExport()
    await arrive(new Map([[row.project_id, 3]]), HOURS, 2)
    await arrive(new Map([[row.project_id, 1]]), HOURS, 3)
    await arrive(new Map([[row.project_id, 2]]), HOURS, 4)
    const { id } = await addBackfill(app.db, row, hour(8))
    const chosen = { selection: 'timestamp' as const, backfill_id: id, ...seqs(0, 6) }
    await runAt(row, 2, { ...chosen, ...done(3) })
    await runAt(row, 3, { ...chosen, status: 'Failed', records_total_count: 1 })
    const { body } = await get(urlOf(row))
    // They arrived in an hour that has no run yet: those that nobody has taken wait for it.
    expect(body.count).toBe(0)
    expect(body.totals).toEqual({
      received: 6,
      exported: 3,
      filtered_out: 0,
      pending: 3,
      skipped: 0,
      backfilled: 3,
    })
  })

  it('200: an hour whose events a backfill took before names both runs, and counts each event once', async () => {
    const row = await makeExport()
    await arrive(new Map([[row.project_id, 3]]), HOURS, 2)
    await arrive(new Map([[row.project_id, 2]]), HOURS, 7)
    const { id } = await addBackfill(app.db, row, hour(8))
    const chosen = { selection: 'timestamp' as const, backfill_id: id, ...seqs(0, 5) }
    const backfilled = await runAt(row, 2, { ...chosen, ...done(3) })
    const own = await runAt(row, 7, { ...seqs(0, 5), status: 'Failed' })
    const counts = async () => {
      const { body } = await get(urlOf(row))
      expect(body.totals).toMatchObject({ received: 5, skipped: 0, backfilled: 3 })
      return body.results[0]
    }
    expect(await counts()).toMatchObject({
      run: own.id,
      runs: [backfilled.id],
      received: 5,
      exported: 3,
      pending: 2,
      backfilled: 3,
    })
    const again = { backfill_id: (await addBackfill(app.db, row, hour(8))).id, repeats: own.id }
    const repeated = await runAt(row, 7, { ...seqs(0, 5), ...again, ...done(2) }, hour(9))
    expect(await counts()).toMatchObject({
      run: repeated.id,
      runs: [repeated.id, backfilled.id],
      received: 5,
      exported: 5,
      pending: 0,
      backfilled: 3,
    })
  })

  it.each<[string, Partial<ExportRow>, Partial<ExportRow>]>([
    [
      'queries',
      { hogql_query: "SELECT uuid, timestamp, event FROM events WHERE event = 'no such'" },
      { hogql_query: 'SELECT uuid, timestamp, event FROM events' },
    ],
    ['filters', { filters: [{ type: 'event', key: 'plan', operator: 'is_set', value: 'is_set' }] }, {}],
  ])(
    '200: what backfills under two %s have taken of an hour is counted by those of each',
    async (_, ...both) => {
      const row = await makeExport()
      await arrive(new Map([[row.project_id, 3]]), HOURS, 2)
      await arrive(new Map([[row.project_id, 2]]), HOURS, 3)
      const { id } = await addBackfill(app.db, row, hour(8))
      for (const [index, chosen] of both.entries()) {
        const definition = { ...definitionOf(row), ...chosen }
        const fields = { selection: 'timestamp' as const, backfill_id: id, ...seqs(0, 5), definition }
        await runAt(row, 2 + index, { ...fields, ...done(index === 0 ? 0 : 2) })
      }
      await runAt(row, 7, { ...seqs(0, 5), ...done(0) })
      const counts = { received: 5, exported: 2, filtered_out: 3, pending: 0, skipped: 0, backfilled: 2 }
      const { body } = await get(urlOf(row))
      expect(body.totals).toEqual(counts)
      expect(body.results[0]).toMatchObject(counts)
    },
  )

  it('200 before the first interval has begun: all is skipped, and the clock of the store stays where it is', async () => {
    const row = await makeExport({ next_due_at: hour(900), start_at: hour(899) })
    const [before] = await arrive(new Map([[row.project_id, 4]]), HOURS)
    await runAt(row, 897, { status: 'Starting' })
    const { body } = await get(urlOf(row))
    expect(body.totals).toMatchObject({ received: 4, exported: 0, pending: 0, skipped: 4 })
    const [after] = await arrive(new Map([[row.project_id, 1]]), HOURS)
    expect(after!.inserted_at).toBe(before!.inserted_at)
  })

  it('200 while the clock is set back: what arrived before that is pending, not skipped', async () => {
    const next = HOURS + 2
    const row = await makeExport({ next_due_at: hour(next + 1) })
    await arrive(new Map([[row.project_id, 5]]), HOURS)
    await runAt(row, next - 1, { ...seqs(0, 3), ...done(3) })
    await addBound(row, next, 3)
    const totals = { received: 5, exported: 3, filtered_out: 0, pending: 2, skipped: 0 }
    expect((await get(urlOf(row))).body.totals).toMatchObject(totals)
    // Made while the clock was ahead, and not begun.
    for (const index of [next, next + 1]) await runAt(row, index, { status: 'Starting' })
    await app.db.run(
      sql`UPDATE batch_export SET next_due_at = ${hour(next + 3)} WHERE project_id = ${row.project_id} AND id = ${row.id}`,
    )
    expect((await get(urlOf(row))).body.totals).toMatchObject(totals)
  })

  it('is of one moment: intervals that are added meanwhile, and frozen out of turn, take nothing out of it', async () => {
    const row = await makeExport({ next_due_at: hour(7) })
    await arrive(new Map([[row.project_id, 5]]), HOURS)
    const { db, eventStore } = app.services
    let isAsked = false
    // As if three had come in the hour 6 and two in the next: the store's clock went past those hours in other tests.
    const meanwhile = async (_project_id: number, at: Date) => {
      if (!isAsked) {
        isAsked = true
        await runAt(row, 6, { status: 'Starting' })
        await runAt(row, 7, { ...seqs(3, 5), status: 'Running' })
      }
      return at <= hour(6) ? 0 : 3
    }
    const services = { db, eventStore: { ...eventStore, positionAt: meanwhile } }
    const account = await reconcile(services, row, { limit: 10, offset: 0 }, app.services.now())
    expect(isAsked).toBe(true)
    expect(account).toMatchObject({
      received: 5,
      exported: 0,
      filtered_out: 0,
      pending: 5,
      skipped: 0,
      count: 2,
    })
  })

  it('adds up while the clock is set back and events arrive before the end of an interval that has passed', async () => {
    const row = await makeExport({ next_due_at: hour(8) })
    await arrive(new Map([[row.project_id, 2]]), HOURS)
    await runAt(row, 6, { status: 'Starting' })
    const { db, eventStore } = app.services
    // As if three more came after the last position was read: by the clock of then, still in the hour 6.
    const meanwhile = async (project_id: number, at: Date) => {
      if (at <= hour(6)) return 0
      await arrive(new Map([[project_id, 3]]), HOURS)
      return eventStore.lastPosition(project_id)
    }
    const services = { db, eventStore: { ...eventStore, positionAt: meanwhile } }
    const account = await reconcile(services, row, { limit: 10, offset: 0 }, app.services.now())
    expect(account).toMatchObject({ received: 5, exported: 0, filtered_out: 0, pending: 5, skipped: 0 })
  })

  it('goes by the schedule as it is by then, when it was changed since the request began', async () => {
    const row = await makeExport({ next_due_at: hour(HOURS) })
    await arrive(new Map([[row.project_id, 5]]), HOURS)
    const before: ExportRow = { ...row, interval: 'week', next_due_at: hour(HOURS + 9), end_at: hour(1) }
    const accountOf = (at: ExportRow) =>
      reconcile(app.services, at, { limit: 10, offset: 0 }, app.services.now())
    expect(await accountOf(row)).toMatchObject({ received: 5, pending: 5, skipped: 0 })
    expect(await accountOf(before)).toEqual(await accountOf(row))
  })

  it('200 counts neither the runs of another export nor the events of another project', async () => {
    const row = await makeExport()
    const [other, foreign] = [await addExport(app.db, row.project_id, began), await makeExport()]
    await arrive(
      new Map([
        [row.project_id, 5],
        [foreign.project_id, 50],
      ]),
      HOURS,
    )
    await runAt(other, 7, { ...seqs(0, 5), ...done(5) })
    await runAt(foreign, 7, { ...seqs(0, 50), ...done(50) })
    const { body } = await get(urlOf(row))
    expect(body).toMatchObject({ count: 0, totals: { received: 5, exported: 0, pending: 5 } })
  })

  it('200 page by page, newest first, with the totals of all on each', async () => {
    const row = await makeExport()
    await arrive(new Map([[row.project_id, 5]]), HOURS)
    for (let index = 0; index < 5; index++) await runAt(row, index, { ...seqs(index, index + 1), ...done(1) })
    const first = await get(`${urlOf(row)}?limit=2`)
    const second = await get(first.body.next.replace('http://longshore.test', ''))
    const third = await get(second.body.next.replace('http://longshore.test', ''))
    const ends = ({ body }: Reply) =>
      body.results.map((each: { data_interval_end: string }) => each.data_interval_end)
    expect([first, second, third].flatMap(ends)).toEqual(
      [5, 4, 3, 2, 1].map((each) => hour(each).toISOString()),
    )
    for (const { body } of [first, second, third]) {
      expect(body).toMatchObject({ count: 5, totals: { received: 5, exported: 5 } })
    }
    expect([first.body.previous, third.body.next]).toEqual([null, null])
  })

  it.each(['persons', 'sessions'] as const)(
    '200 for %s: what went out, and no claim about what came in',
    async (model) => {
      const row = await makeExport({ model })
      await arrive(new Map([[row.project_id, 6]]), HOURS)
      await runAt(row, 5, { ...seqs(0, 6), ...done(3) })
      await runAt(row, 6, { ...seqs(0, 6), status: 'Failed', records_total_count: 2 })
      await runAt(row, 7, { status: 'Starting' })
      const { body } = await get(urlOf(row))
      expect(body.model).toBe(model)
      const unknown = { received: null, filtered_out: null, skipped: null }
      const inRows = { ...unknown, backfilled: null }
      expect(body.totals).toEqual({ ...unknown, exported: 3, pending: null, backfilled: 0 })
      expect(body.results).toMatchObject([
        { ...inRows, exported: 0, pending: null },
        { ...inRows, exported: 0, pending: 2 },
        { ...inRows, exported: 3, pending: 0 },
      ])
    },
  )

  it('of persons asks the event store for nothing, however many runs there are', async () => {
    const row = await makeExport({ model: 'persons' })
    for (let index = 0; index < 5; index++) await runAt(row, index, done(1))
    const { db, eventStore } = app.services
    const refuse = () => Promise.reject(new Error('the store was asked for a position'))
    const services = { db, eventStore: { ...eventStore, positionAt: refuse } }
    const account = await reconcile(services, row, { limit: 10, offset: 0 }, app.services.now())
    expect(account).toMatchObject({ exported: 5, count: 5 })
  })

  it('404 for an export that is not there, is deleted, or is of another project', async () => {
    const [row, deleted] = [await makeExport(), await makeExport()]
    await app.db.run(sql`UPDATE batch_export SET deleted_at = now() WHERE id = ${deleted.id}`)
    for (const place of [
      deleted,
      { project_id: workspace.project.id, id: row.id },
      { project_id: row.project_id, id: NO_ID },
      { project_id: row.project_id, id: 'nonsense' },
    ]) {
      expect((await get(urlOf(place))).status).toBe(404)
    }
  })

  it('403 without the scope', async () => {
    const row = await makeExport()
    const wrong = await createKey(app, workspace.owner, { scopes: ['query:read', 'project:write'] })
    expect((await app.get(urlOf(row), { key: wrong })).status).toBe(403)
  })
})
