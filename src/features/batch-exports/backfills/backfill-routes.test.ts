import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createKey, createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type Reply, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { makeEvent } from '../../events/listing/fixture/events.ts'
import type { BackfillRow, ExportRow } from '../rows.ts'
import { addBackfill, addExport, addRun } from '../runs/fixture/rows.ts'
import { runsOf } from '../schedule/fixture/exports.ts'
import { findAskedBackfill, startAskedBackfill } from './asked.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const NO_COPIES = { persons: [], deleted_persons: [], distinct_ids: [], groups: [] }
const NO_ID = '00000000-0000-7000-8000-000000000000'

let app: TestApp
let workspace: Workspace
let key: string
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  key = workspace.owner.key
})
afterAll(() => app.close())

const ago = (ms: number) => new Date(app.services.now().getTime() - ms)
const makeExport = () => addExport(app.db, workspace.project.id, ago(HOUR))
const backfillsOf = ({ project_id, id }: Pick<ExportRow, 'project_id' | 'id'>) =>
  `/api/projects/${project_id}/batch_exports/${id}/backfills/`
const get = (url: string) => app.get(url, { key })
const idsOf = ({ body }: Reply) => body.results.map(({ id }: BackfillRow) => id)
const pathOf = (link: string) => link.replace('http://longshore.test', '')

describe('GET …/backfills/:id/', () => {
  it('200 gives exactly the fields of the API, with what the runs say, below either name', async () => {
    const owner = await makeExport()
    const now = ago(MINUTE)
    const counts = { rows_to_deliver: 130, rows_delivered_before: 7 }
    const backfill = await addBackfill(app.db, owner, now, {
      total_runs: 8,
      adjusted_start_at: ago(DAY),
      ...counts,
    })
    const ofIt = (hour: number) => ({ backfill_id: backfill.id, data_interval_end: ago(hour * HOUR) })
    await addRun(app.db, owner, now, { ...ofIt(1), records_total_count: 100 })
    await addRun(app.db, owner, now, { ...ofIt(2), status: 'Failed', records_total_count: 20 })
    await addRun(app.db, owner, now, { ...ofIt(3), status: 'Cancelled' })
    await addRun(app.db, owner, now, { ...ofIt(4), status: 'Running', records_total_count: 3 })
    await addRun(app.db, owner, now, { records_total_count: 5000 })
    for (const url of [backfillsOf(owner), backfillsOf(owner).replace('projects', 'environments')]) {
      const { status, body } = await get(`${url}${backfill.id}/`)
      expect(status).toBe(200)
      expect(body).toEqual({
        id: backfill.id,
        team: workspace.project.id,
        batch_export: owner.id,
        kind: 'backfill',
        start_at: backfill.start_at!.toISOString(),
        end_at: now.toISOString(),
        adjusted_start_at: backfill.adjusted_start_at!.toISOString(),
        status: 'Running',
        created_at: now.toISOString(),
        finished_at: null,
        last_updated_at: now.toISOString(),
        ...counts,
        total_records_count: 123,
        // Three of eight, to one digit.
        progress: { total_runs: 8, finished_runs: 3, progress: 0.4 },
      })
    }
  })

  it.each([
    ['Starting', 0, 0],
    ['Completed', 0, 1],
    ['Completed', 24, 1],
    ['Cancelled', 24, null],
    ['Failed', 24, null],
  ] as const)('200: %s, of %i runs, its progress is %s', async (status, total_runs, progress) => {
    const owner = await makeExport()
    const finished_at = status === 'Starting' ? null : ago(0)
    const fields = { status, total_runs, finished_at, start_at: null, end_at: null }
    const backfill = await addBackfill(app.db, owner, ago(MINUTE), fields)
    expect((await get(`${backfillsOf(owner)}${backfill.id}/`)).body).toMatchObject({
      start_at: null,
      end_at: null,
      total_records_count: null,
      progress: { total_runs, finished_runs: 0, progress },
    })
  })

  it('404 for a backfill of another export, or none, and below a deleted export', async () => {
    const [owner, other] = [await makeExport(), await makeExport()]
    const backfill = await addBackfill(app.db, other, ago(MINUTE))
    for (const id of [backfill.id, NO_ID, 'nonsense']) {
      expect((await get(`${backfillsOf(owner)}${id}/`)).status).toBe(404)
      expect((await app.post(`${backfillsOf(owner)}${id}/cancel/`, {}, { key })).status).toBe(404)
    }
    expect((await get(`${backfillsOf(other)}${backfill.id}/`)).body.status).toBe('Running')
    await app.db.run(sql`UPDATE batch_export SET deleted_at = now() WHERE id = ${other.id}`)
    for (const url of [backfillsOf(other), `${backfillsOf(other)}${backfill.id}/`]) {
      expect((await get(url)).status).toBe(404)
    }
    expect((await app.post(backfillsOf(other), {}, { key })).status).toBe(404)
  })
})

describe('GET …/backfills/', () => {
  it('200 in fifties to the end and back, newest first', async () => {
    const owner = await makeExport()
    const ids: string[] = []
    for (let count = 0; count < 120; count++) ids.push((await addBackfill(app.db, owner, ago(HOUR))).id)
    ids.sort()
    await addBackfill(app.db, await makeExport(), ago(HOUR))
    const first = await get(backfillsOf(owner))
    const second = await get(pathOf(first.body.next))
    const third = await get(pathOf(second.body.next))
    expect(Object.keys(first.body)).toEqual(['next', 'previous', 'results'])
    const created = (reply: Reply): string[] => reply.body.results.map((row: BackfillRow) => row.created_at)
    expect([first, second, third].map((reply) => idsOf(reply).length)).toEqual([50, 50, 20])
    expect(new Set([first, second, third].flatMap(idsOf))).toEqual(new Set(ids))
    const times = [first, second, third].flatMap(created)
    expect(times).toEqual(times.toSorted().toReversed())
    expect([first.body.previous, third.body.next]).toEqual([null, null])
    const back = await get(pathOf(third.body.previous))
    expect(idsOf(back)).toEqual(idsOf(second))
    expect(idsOf(await get(pathOf(back.body.previous)))).toEqual(idsOf(first))
  })

  it('200 ordered by creation or start; one without a start begins before all others', async () => {
    const owner = await makeExport()
    const late = await addBackfill(app.db, owner, ago(3 * MINUTE), { start_at: ago(DAY) })
    const open = await addBackfill(app.db, owner, ago(2 * MINUTE), { start_at: null })
    const early = await addBackfill(app.db, owner, ago(MINUTE), { start_at: ago(9 * DAY) })
    for (const [ordering, rows] of [
      ['start_at', [open, early, late]],
      ['-start_at', [late, early, open]],
      ['created_at', [late, open, early]],
      ['-created_at', [early, open, late]],
      ['status', [early, open, late]],
    ] as const) {
      const reply = await get(`${backfillsOf(owner)}?ordering=${ordering}`)
      expect(idsOf(reply), ordering).toEqual(rows.map(({ id }) => id))
    }
    // Also from a cursor at the one without a start.
    const after = await get(`${backfillsOf(owner)}?ordering=start_at&cursor=n${open.id}`)
    expect(idsOf(after)).toEqual([early.id, late.id])
  })

  it('404 for a cursor that is none, or is of another export', async () => {
    const [owner, other] = [await makeExport(), await makeExport()]
    const stranger = await addBackfill(app.db, other, ago(MINUTE))
    for (const cursor of ['x', `n${NO_ID}`, `n${stranger.id}`]) {
      const reply = await get(`${backfillsOf(owner)}?cursor=${cursor}`)
      expect(reply).toMatchObject({ status: 404, body: { detail: 'Invalid cursor' } })
    }
  })
})

const range = () => ({ start_at: ago(3 * DAY).toISOString(), end_at: ago(DAY).toISOString() })

describe('POST …/backfills/', () => {
  it('201 with its id; it is there to be looked at, and in the activity log', async () => {
    const { project, owner: user } = await createOrganization(app)
    const owner = await addExport(app.db, project.id, ago(HOUR))
    const asked = range()
    const { status, body } = await app.post(backfillsOf(owner), asked, { key: user.key })
    expect([status, Object.keys(body)]).toEqual([201, ['backfill_id']])
    // There are no events, so there is nothing to do.
    expect(
      (await app.get(`${backfillsOf(owner)}${body.backfill_id}/`, { key: user.key })).body,
    ).toMatchObject({
      ...asked,
      kind: 'backfill',
      status: 'Completed',
      rows_to_deliver: 0,
      rows_delivered_before: 0,
      progress: { total_runs: 0, finished_runs: 0, progress: 1 },
    })
    const activity = await app.get(`/api/projects/${project.id}/activity_log/?item_id=${owner.id}`, {
      key: user.key,
    })
    expect(activity.body.results).toMatchObject([{ scope: 'BatchExport', activity: 'updated' }])
  })

  it.each([
    [{}, 'start_at'],
    [{ start_at: 'yesterday', end_at: '2024-01-02T00:00:00Z' }, 'start_at'],
    [{ start_at: '2024-01-02T00:00:00Z', end_at: '2024-01-01T00:00:00Z' }, 'start_at'],
    [{ start_at: '2024-01-02T00:00:00Z', end_at: '2999-01-01T00:00:00Z' }, 'end_at'],
    [{ start_at: 5, end_at: { a: 1 } }, 'start_at'],
  ])('400 for %o, and nothing is begun', async (body, attr) => {
    const owner = await makeExport()
    const reply = await app.post(backfillsOf(owner), body, { key })
    expect(reply).toMatchObject({ status: 400, body: { attr } })
    expect(idsOf(await get(backfillsOf(owner)))).toEqual([])
  })

  it('400 for an event of 1970 that would make a run for every five minutes since; 201 from later on', async () => {
    const { project, owner: user } = await createOrganization(app)
    const owner = await addExport(app.db, project.id, ago(HOUR), { interval: 'every 5 minutes' })
    const at = [new Date(0), ago(2 * HOUR), ago(HOUR)]
    const events = at.map((time) => makeEvent({ timestamp: time.toISOString() }, ago(0)))
    await app.services.eventStore.write([{ project_id: project.id, events, ...NO_COPIES }], ago(0))
    const ask = (start_at: string | null) =>
      app.post(backfillsOf(owner), { start_at, end_at: ago(0).toISOString() }, { key: user.key })
    const refused = await ask(null)
    expect(refused).toMatchObject({ status: 400, body: { attr: 'start_at', code: 'invalid_input' } })
    expect(refused.body.detail).toMatch(
      /would have \d{7} intervals, the first until 1970-01-01T00:05:00.000Z;/,
    )
    expect(await runsOf(app.db, owner)).toEqual([])
    const { status, body } = await ask(ago(DAY).toISOString())
    expect(status).toBe(201)
    const made = await app.get(`${backfillsOf(owner)}${body.backfill_id}/`, { key: user.key })
    // The hour between the two is empty and has its runs all the same.
    expect(made.body).toMatchObject({ rows_to_deliver: 2, progress: { total_runs: 13 } })
  })

  it('429 when the project has ten at work', async () => {
    const { project, owner: user } = await createOrganization(app)
    const owner = await addExport(app.db, project.id, ago(HOUR))
    for (let count = 0; count < 10; count++) await addBackfill(app.db, owner, ago(MINUTE))
    const reply = await app.post(backfillsOf(owner), range(), { key: user.key })
    expect(reply).toMatchObject({ status: 429, body: { code: 'too_many_concurrent_backfills' } })
    expect(reply.headers['retry-after']).toBe('60')
  })

  it('403 with a key that may only read', async () => {
    const owner = await makeExport()
    const reader = await createKey(app, workspace.owner, { scopes: ['batch_export:read'] })
    expect((await app.post(backfillsOf(owner), range(), { key: reader })).status).toBe(403)
    expect((await app.get(backfillsOf(owner), { key: reader })).body.results).toEqual([])
  })
})

describe('POST …/backfills/estimate/', () => {
  it('200 with what a backfill would deliver, below either name, and nothing is begun', async () => {
    const { project, owner: user } = await createOrganization(app)
    const owner = await addExport(app.db, project.id, ago(HOUR), {
      config: { exclude_events: ['left out'] },
    })
    const this_hour = app.services.now().getTime() - (app.services.now().getTime() % HOUR)
    const at = (hours: number) => new Date(this_hour - hours * HOUR + 10 * MINUTE)
    const named = (event: string, hours: number) =>
      makeEvent({ event, timestamp: at(hours).toISOString() }, ago(0))
    const events = [named('one', 9), named('two', 7), named('left out', 8), named('before', 20)]
    await app.services.eventStore.write([{ project_id: project.id, events, ...NO_COPIES }], ago(0))
    const asked = {
      start_at: new Date(this_hour - 12 * HOUR).toISOString(),
      end_at: new Date(this_hour - 5 * HOUR).toISOString(),
    }
    for (const url of [backfillsOf(owner), backfillsOf(owner).replace('projects', 'environments')]) {
      const { status, body } = await app.post(`${url}estimate/`, asked, { key: user.key })
      expect([status, body]).toEqual([
        200,
        {
          rows: 2,
          delivered_before: 0,
          // From the first to the last of the two.
          runs: 3,
          first_event_at: at(9).toISOString(),
          last_event_at: at(7).toISOString(),
        },
      ])
    }
    expect((await app.get(backfillsOf(owner), { key: user.key })).body.results).toEqual([])
    expect(await runsOf(app.db, owner)).toEqual([])
  })

  it('503 with Retry-After when the store is too busy to count within its time, and nothing is begun', async () => {
    const { project, owner } = await createOrganization(app)
    const row = await addExport(app.db, project.id, ago(HOUR))
    const events = [makeEvent({ timestamp: ago(2 * HOUR).toISOString() }, ago(0))]
    await app.services.eventStore.write([{ project_id: project.id, events, ...NO_COPIES }], ago(0))
    const timeout = vi
      .spyOn(AbortSignal, 'timeout')
      .mockImplementation(() => AbortSignal.abort(new DOMException('too long', 'TimeoutError')))
    const hour = (count: number) =>
      new Date((Math.floor(app.services.now().getTime() / HOUR) - count) * HOUR).toISOString()
    const range = { start_at: hour(6), end_at: hour(0) }
    for (const path of ['', 'estimate/']) {
      const reply = await app.post(`${backfillsOf(row)}${path}`, range, { key: owner.key })
      expect(reply).toMatchObject({ status: 503, body: { code: 'store_busy' } })
      expect(reply.headers['retry-after']).toBe('1')
    }
    timeout.mockRestore()
    expect((await app.get(backfillsOf(row), { key: owner.key })).body.results).toEqual([])
  })

  it('404 when the project is deleted while the store counts, and nothing is begun', async () => {
    for (const path of ['', 'estimate/']) {
      const { project, owner } = await createOrganization(app)
      const row = await addExport(app.db, project.id, ago(HOUR))
      const events = [makeEvent({ timestamp: ago(2 * HOUR).toISOString() }, ago(0))]
      const { eventStore } = app.services
      await eventStore.write([{ project_id: project.id, events, ...NO_COPIES }], ago(0))
      const removals: Promise<void>[] = []
      // The time for counting is set right before the store is asked.
      const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
        removals.push(eventStore.deleteProject(project.id))
        return new AbortController().signal
      })
      const asked = { start_at: ago(DAY).toISOString(), end_at: ago(0).toISOString() }
      const reply = await app.post(`${backfillsOf(row)}${path}`, asked, { key: owner.key })
      timeout.mockRestore()
      await Promise.all(removals)
      expect(reply).toMatchObject({ status: 404, body: { code: 'not_found' } })
      expect((await app.get(backfillsOf(row), { key: owner.key })).body.results).toEqual([])
    }
  })

  it('200 of nothing, and of persons, whose number nobody knows before', async () => {
    const owner = await makeExport()
    const none = { first_event_at: null, last_event_at: null }
    const asked = { start_at: '2024-01-01T00:00:00Z', end_at: '2024-01-01T06:00:00Z' }
    const estimate = async (of: ExportRow) =>
      (await app.post(`${backfillsOf(of)}estimate/`, asked, { key })).body
    expect(await estimate(owner)).toEqual({ rows: 0, delivered_before: 0, runs: 0, ...none })
    const people = await addExport(app.db, workspace.project.id, ago(HOUR), { model: 'persons' })
    expect(await estimate(people)).toEqual({ rows: null, delivered_before: null, runs: 6, ...none })
  })

  it('400 for a range that a backfill would be refused, 404 for an export that was deleted', async () => {
    const owner = await makeExport()
    const wrong = { start_at: '2024-01-02T00:00:00Z', end_at: '2024-01-01T00:00:00Z' }
    const reply = await app.post(`${backfillsOf(owner)}estimate/`, wrong, { key })
    expect(reply).toMatchObject({ status: 400, body: { attr: 'start_at' } })
    await app.db.run(sql`UPDATE batch_export SET deleted_at = now() WHERE id = ${owner.id}`)
    expect((await app.post(`${backfillsOf(owner)}estimate/`, range(), { key })).status).toBe(404)
  })
})

describe('POST …/backfills/:id/cancel/', () => {
  it('200 stops it and its live runs at once, and no others', async () => {
    const owner = await makeExport()
    const backfill = await addBackfill(app.db, owner, ago(MINUTE))
    const live = await addRun(app.db, owner, ago(MINUTE), { status: 'Running', backfill_id: backfill.id })
    const other = await addRun(app.db, owner, ago(2 * MINUTE), { status: 'Running' })
    const reply = await app.post(`${backfillsOf(owner)}${backfill.id}/cancel/`, {}, { key })
    expect(reply).toMatchObject({ status: 200, body: { cancelled: true } })
    const after = await get(`${backfillsOf(owner)}${backfill.id}/`)
    expect(after.body).toMatchObject({ status: 'Cancelled', finished_at: expect.any(String) })
    const rows = await app.db.rows(sql`
      SELECT id, status FROM batch_export_run WHERE batch_export_id = ${owner.id} ORDER BY data_interval_end DESC`)
    expect(rows).toEqual([
      { id: live.id, status: 'Cancelled' },
      { id: other.id, status: 'Running' },
    ])
    const activity = await get(`/api/projects/${workspace.project.id}/activity_log/?item_id=${owner.id}`)
    expect(activity.body.results).toMatchObject([
      { detail: { changes: [{ field: 'backfill', after: { id: backfill.id, status: 'Cancelled' } }] } },
    ])
  })

  it.each(['Completed', 'Cancelled', 'Failed'] as const)('400 for one that is %s', async (status) => {
    const owner = await makeExport()
    const backfill = await addBackfill(app.db, owner, ago(MINUTE), { status, finished_at: ago(MINUTE) })
    const url = `${backfillsOf(owner)}${backfill.id}/`
    const before = (await get(url)).body
    expect((await app.post(`${url}cancel/`, {}, { key })).status).toBe(400)
    expect((await get(url)).body).toEqual(before)
  })
})

describe('a backfill that the command line asks the server for', () => {
  const ask = (owner: Pick<ExportRow, 'project_id' | 'id'>, asked_at = ago(0)) => ({
    project_id: owner.project_id,
    batch_export_id: owner.id,
    start_at: ago(3 * DAY).toISOString(),
    end_at: ago(2 * DAY).toISOString(),
    asked_at: asked_at.toISOString(),
  })

  it('is begun once by the worker, found by who asked, and is in the activity log', async () => {
    // Others have used up the room of the workspace.
    const fresh = await createOrganization(app)
    const owner = await addExport(app.db, fresh.project.id, ago(HOUR))
    const asked = ask(owner)
    expect(await findAskedBackfill(app.db, asked)).toBeUndefined()
    await app.db.transaction((tx) => app.services.jobs.enqueue(tx, startAskedBackfill, asked))
    await expect.poll(() => findAskedBackfill(app.db, asked)).toMatchObject({ id: expect.any(String) })
    const { body } = await app.get(backfillsOf(owner), { key: fresh.owner.key })
    expect(body.results).toMatchObject([{ start_at: asked.start_at, end_at: asked.end_at, kind: 'backfill' }])
    const log = await app.get(
      `/api/organizations/${fresh.organization.id}/activity_log/?item_id=${owner.id}`,
      {
        key: fresh.owner.key,
      },
    )
    expect(log.body.results[0]).toMatchObject({ activity: 'updated', is_system: true })
    // An older one over the same range is not what somebody asks for now.
    expect(
      await findAskedBackfill(app.db, { ...asked, asked_at: ago(-MINUTE).toISOString() }),
    ).toBeUndefined()
  })

  it('is not begun when nobody waits any more, nor for an export that is gone or of another project', async () => {
    const [late, deleted, foreign] = [await makeExport(), await makeExport(), await makeExport()]
    await app.db.run(sql`UPDATE batch_export SET deleted_at = now() WHERE id = ${deleted.id}`)
    const other = await createOrganization(app)
    const orders = [
      ask(late, ago(2 * MINUTE)),
      ask(deleted),
      { ...ask(foreign), project_id: other.project.id },
    ]
    for (const order of orders) {
      await startAskedBackfill.handle(app.services, order, app.services.now())
      const found = await app.db.rows(
        sql`SELECT id FROM batch_export_backfill WHERE batch_export_id = ${order.batch_export_id}`,
      )
      expect(found).toEqual([])
    }
  })
})
