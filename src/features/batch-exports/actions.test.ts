// Pausing, going on, backfilling and deleting an export through the API.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import { hourly, postgres } from './fixture/bodies.ts'
import type { BackfillRow, ExportRow } from './rows.ts'
import { runsOf } from './schedule/fixture/exports.ts'

const HOUR_MS = 3_600_000

let app: TestApp
let key: string
let base: string
let project_id: number
beforeAll(async () => {
  app = await startTestApp()
  const workspace = await createOrganization(app)
  key = workspace.owner.key
  project_id = workspace.project.id
  base = `/api/projects/${project_id}/batch_exports/`
})
afterAll(() => app.close())

const create = async (fields: object = {}): Promise<string> =>
  (await app.post(base, hourly(fields), { key })).body.id
const act = (id: string, action: string, body: object = {}) =>
  app.post(`${base}${id}/${action}/`, body, { key })
const storedRow = (id: string) => app.db.only<ExportRow>(sql`SELECT * FROM batch_export WHERE id = ${id}`)
const backfillsOf = (id: string) =>
  app.db.rows<BackfillRow>(sql`
    SELECT * FROM batch_export_backfill WHERE batch_export_id = ${id} ORDER BY created_at, id`)
const activity = async (id: string) =>
  (await app.get(`/api/projects/${project_id}/activity_log/?item_id=${id}`, { key })).body.results

describe('pause/', () => {
  it('200 with the export, paused since now, whatever else the body says', async () => {
    const id = await create({ destination: postgres(app) })
    app.advance(1000)
    const reply = await act(id, 'pause', { name: 'Ignored', paused: false, interval: 'nonsense' })
    expect(reply).toMatchObject({ status: 200, body: { id, name: 'Nightly', paused: true } })
    expect(reply.body.last_paused_at).toBe(reply.body.last_updated_at)
    expect(reply.body.last_paused_at > reply.body.created_at).toBe(true)
    expect((await activity(id))[0]).toMatchObject({ activity: 'updated', detail: { name: 'Nightly' } })
  })

  it('200 a second time, with no timestamp touched and nothing recorded', async () => {
    const id = await create()
    const { body } = await act(id, 'pause')
    const entries = await activity(id)
    app.advance(HOUR_MS)
    expect((await act(id, 'pause')).body).toEqual(body)
    expect(await activity(id)).toEqual(entries)
  })
})

describe('unpause/', () => {
  it('200 going on from now: what was missed stays out', async () => {
    const id = await create()
    const { body } = await act(id, 'pause')
    app.advance(3 * HOUR_MS)
    const reply = await act(id, 'unpause')
    expect(reply.body).toMatchObject({ paused: false, last_paused_at: body.last_paused_at })
    expect(reply.body).not.toHaveProperty('backfill_id')
    expect(reply.body.last_updated_at > body.last_updated_at).toBe(true)
    expect((await storedRow(id)).next_due_at > app.services.now()).toBe(true)
    expect(await backfillsOf(id)).toEqual([])
  })

  it('200 while it runs: nothing changes, and nothing is backfilled', async () => {
    const id = await create()
    const { body } = await app.get(`${base}${id}/`, { key })
    app.advance(HOUR_MS)
    const reply = await act(id, 'unpause', { backfill: true })
    expect({ ...reply.body, freshness: body.freshness }).toEqual(body)
    expect(await backfillsOf(id)).toEqual([])
  })

  it('200 with a backfill of what was missed, when it is asked for', async () => {
    const id = await create()
    const { body } = await act(id, 'pause')
    app.advance(3 * HOUR_MS)
    const reply = await act(id, 'unpause', { backfill: 'true' })
    expect(reply.body).toMatchObject({ paused: false, backfill_id: expect.any(String) })
    const backfills = await backfillsOf(id)
    // Without events too: whatever arrived meanwhile, each hour that was skipped gets its run.
    expect(backfills).toMatchObject([
      { id: reply.body.backfill_id, project_id, kind: 'unpause', total_runs: 3 },
    ])
    expect(await runsOf(app.db, { project_id, id })).toMatchObject(
      Array(3).fill({ backfill_id: reply.body.backfill_id, selection: 'arrival', status: 'Starting' }),
    )
    expect(backfills[0]!.start_at!.toISOString()).toBe(body.last_paused_at)
    expect(backfills[0]!.end_at!.toISOString()).toBe(reply.body.last_updated_at)
  })

  it('400 for a pause of too many intervals, and it stays paused', async () => {
    const id = await create({ paused: true })
    await app.db.run(sql`
      UPDATE batch_export SET interval = 'every 5 minutes', last_paused_at = '0001-01-01' WHERE id = ${id}`)
    expect(await act(id, 'unpause', { backfill: true })).toMatchObject({
      status: 400,
      body: {
        attr: 'backfill',
        code: 'invalid_input',
        detail: expect.stringMatching(/^The backfill would have 2\d{8} intervals, .*at most 210000/),
      },
    })
    expect((await storedRow(id)).paused).toBe(true)
    expect(await backfillsOf(id)).toEqual([])
    expect(await runsOf(app.db, { project_id, id })).toEqual([])
    expect((await act(id, 'unpause')).body).toMatchObject({ paused: false })
  })

  it('400 for a wish that is neither yes nor no, and it stays paused', async () => {
    const id = await create({ paused: true })
    expect(await act(id, 'unpause', { backfill: 'perhaps' })).toMatchObject({
      status: 400,
      body: { attr: 'backfill' },
    })
    expect((await storedRow(id)).paused).toBe(true)
  })
})

describe('backfill/', () => {
  it('200 with the export and the id of the backfill, recorded; a paused one stays paused', async () => {
    const id = await create({ destination: postgres(app), paused: true })
    const { last_updated_at } = await storedRow(id)
    const range = { start_at: '2024-01-01T00:00:00Z', end_at: '2024-01-02T00:00:00+00:00' }
    const reply = await act(id, 'backfill', range)
    expect(reply).toMatchObject({ status: 200, body: { id, paused: true, backfill_id: expect.any(String) } })
    expect(await backfillsOf(id)).toMatchObject([
      { id: reply.body.backfill_id, start_at: new Date(range.start_at), end_at: new Date(range.end_at) },
    ])
    expect((await storedRow(id)).last_updated_at).toEqual(last_updated_at)
    const [entry] = await activity(id)
    expect(entry).toMatchObject({
      activity: 'updated',
      detail: { changes: [{ action: 'created', field: 'backfill', after: { id: reply.body.backfill_id } }] },
    })
  })

  it.each<[object, string]>([
    [{}, 'start_at'],
    [{ start_at: '2024-01-02T00:00:00Z', end_at: '2024-01-01T00:00:00Z' }, 'start_at'],
    [{ start_at: '2024-01-01 00:00:00', end_at: '2024-01-02T00:00:00Z' }, 'start_at'],
    [{ start_at: '2024-01-01T00:00:00Z', end_at: '2999-01-01T00:00:00Z' }, 'end_at'],
    [{ start_at: '2024-01-01T00:00:00Z', end_at: 'later' }, 'end_at'],
    [{ start_at: '2024-01-01T00:00:00Z' }, 'end_at'],
  ])('400 for %j', async (range, attr) => {
    const id = await create({ destination: postgres(app) })
    expect(await act(id, 'backfill', range)).toMatchObject({ status: 400, body: { attr } })
    expect(await backfillsOf(id)).toEqual([])
  })
})

describe('repair/', () => {
  it('200 with the export and the id of the repair, recorded; without deliveries there is nothing to do', async () => {
    const id = await create()
    const range = { start_at: '2024-01-01T00:00:00Z', end_at: '2024-01-02T00:00:00Z' }
    const reply = await act(id, 'repair', range)
    expect(reply).toMatchObject({ status: 200, body: { id, backfill_id: expect.any(String) } })
    expect(await backfillsOf(id)).toMatchObject([
      { id: reply.body.backfill_id, kind: 'repair', status: 'Completed', total_runs: 0 },
    ])
    expect((await activity(id))[0]).toMatchObject({
      activity: 'updated',
      detail: { changes: [{ field: 'backfill', after: { id: reply.body.backfill_id, kind: 'repair' } }] },
    })
  })

  it.each<[object, string]>([
    [{}, 'start_at'],
    [{ start_at: '2024-01-02T00:00:00Z', end_at: '2024-01-01T00:00:00Z' }, 'start_at'],
    [{ start_at: '2024-01-01T00:00:00Z', end_at: '2999-01-01T00:00:00Z' }, 'end_at'],
    // Also where a backfill may be without an end.
    [{ start_at: '2024-01-01T00:00:00Z' }, 'end_at'],
  ])('400 for %j', async (range, attr) => {
    const id = await create()
    expect(await act(id, 'repair', range)).toMatchObject({ status: 400, body: { attr } })
    expect(await backfillsOf(id)).toEqual([])
  })

  it('404 for an export that was deleted', async () => {
    const id = await create()
    await app.delete(`${base}${id}/`, { key })
    const range = { start_at: '2024-01-01T00:00:00Z', end_at: '2024-01-02T00:00:00Z' }
    for (const action of ['repair', 'backfill']) expect((await act(id, action, range)).status).toBe(404)
    expect(await backfillsOf(id)).toEqual([])
  })
})

describe('DELETE', () => {
  it('204 once; the row stays, unseen, and nothing of it goes on', async () => {
    const id = await create({ destination: postgres(app) })
    const bystander = await create()
    const range = { start_at: '2024-01-01T00:00:00Z', end_at: '2024-01-02T00:00:00Z' }
    for (const each of [id, bystander]) await insertLive(each)
    expect((await act(id, 'backfill', range)).status).toBe(200)
    expect(await app.delete(`${base}${id}/`, { key })).toMatchObject({ status: 204, body: null })
    expect(await app.delete(`${base}${id}/`, { key })).toMatchObject({ status: 404 })
    const listed = await app.get(`${base}?limit=1000`, { key })
    expect(listed.body.results.map((each: { id: string }) => each.id)).not.toContain(id)
    expect((await storedRow(id)).deleted_at).not.toBeNull()
    expect(await liveThings(id)).toEqual({ runs: 0, backfills: 0 })
    expect(await liveThings(bystander)).toEqual({ runs: 1, backfills: 1 })
    expect((await activity(id))[0]).toMatchObject({ activity: 'deleted', detail: { name: 'Nightly' } })
  })
})

/** A run of the schedule and a backfill, both under way. */
async function insertLive(id: string): Promise<void> {
  await app.db.run(sql`
    INSERT INTO batch_export_run (id, project_id, batch_export_id, status, data_interval_end, selection, run_after,
      created_at, last_updated_at)
    VALUES (gen_random_uuid(), ${project_id}, ${id}, 'Running', now(), 'arrival', now(), now(), now())`)
  await app.db.run(sql`
    INSERT INTO batch_export_backfill (id, project_id, batch_export_id, kind, start_at, end_at, seq_to, status, total_runs,
      created_at, last_updated_at)
    VALUES (gen_random_uuid(), ${project_id}, ${id}, 'backfill', now() - interval '1 day', now(), 0, 'Running', 24, now(),
      now())`)
}

function liveThings(id: string): Promise<{ runs: number; backfills: number }> {
  return app.db.only(sql`
    SELECT
      (SELECT count(*)::int FROM batch_export_run WHERE batch_export_id = ${id} AND finished_at IS NULL) AS runs,
      (SELECT count(*)::int FROM batch_export_backfill
        WHERE batch_export_id = ${id} AND status IN ('Starting', 'Running')) AS backfills`)
}
