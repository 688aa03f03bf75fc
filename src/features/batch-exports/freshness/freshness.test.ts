// Freshness as people ask for it: exports made through the API, fed by capture, run by the clockwork.
// @module-tag slow
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { HOUR_MS, setTenPastTheHour } from '../fixture/clock.ts'
import { jitterMs } from '../schedule/grid.ts'
import { addVerification } from '../verification/fixture/rows.ts'

let app: TestApp
let workspace: Workspace
let key: string
let base: string
beforeEach(async () => {
  app = await startTestApp({ OUTBOUND_ALLOW: '127.0.0.0/8' })
  workspace = await createOrganization(app)
  key = workspace.owner.key
  base = `/api/projects/${workspace.project.id}/batch_exports`
  setTenPastTheHour(app)
})
afterEach(() => app.close())

const now = () => app.services.now().getTime()
/** The hour that has begun, and those around it. */
const hour = (index: number) => new Date((Math.floor(now() / HOUR_MS) + index) * HOUR_MS).toISOString()

async function create(fields: object = {}, config: object = {}): Promise<string> {
  const destination = { type: 'File', config: { prefix: 'out', ...config } }
  const body = { name: 'Nightly', interval: 'hour', destination, ...fields }
  const reply = await app.post(`${base}/`, body, { key })
  expect(reply.body).toMatchObject({ id: expect.any(String) })
  return reply.body.id
}

/** Gives the time at which the last of them arrived. */
async function capture(...names: string[]): Promise<string> {
  const batch = names.map((event) => ({ event, distinct_id: 'somebody', uuid: crypto.randomUUID() }))
  const reply = await app.post('/batch/', { api_key: workspace.project.api_token, batch })
  expect(reply.status).toBe(200)
  const { eventStore } = app.services
  const last = await eventStore.lastPosition(workspace.project.id)
  const [arrived_at] = await eventStore.arrivalsOf(workspace.project.id, [last])
  expect(Math.abs(arrived_at!.getTime() - now())).toBeLessThan(HOUR_MS / 6)
  return arrived_at!.toISOString()
}

async function work(): Promise<void> {
  for (let isBusy = true; isBusy;) {
    await app.exports.tick()
    await app.exports.idle()
    const { live } = await app.db.only<{ live: number }>(sql`
      SELECT count(*)::int AS live FROM batch_export_run
      WHERE finished_at IS NULL AND run_after <= ${app.services.now()}`)
    isBusy = live > 0
  }
}

async function pass(hours = 1): Promise<void> {
  app.advance(hours * HOUR_MS)
  await work()
}

const status = async () => (await app.get(`${base}/status/`, { key })).body
const act = (id: string, action: string, body: object = {}) =>
  app.post(`${base}/${id}/${action}/`, body, { key })
const pendingOf = async (id: string) =>
  (await app.get(`${base}/${id}/reconciliation/`, { key })).body.totals.pending

/** The one export there is. Ages fit their times, and what waits is what the account calls pending. */
async function freshness(id: string) {
  const { as_of, results } = await status()
  expect(results).toHaveLength(1)
  const [shown] = results
  for (const what of ['newest_delivered', 'oldest_pending']) {
    const at = shown[`${what}_at`]
    const age_s = at === null ? null : Math.floor((Date.parse(as_of) - Date.parse(at)) / 1000)
    expect(shown[`${what}_age_s`]).toBe(age_s)
  }
  expect(shown.rows_behind).toBe(await pendingOf(id))
  return shown
}

describe('an export that keeps up', () => {
  it('shows what waits for its next run, and what is delivered after it', async () => {
    const id = await create()
    const first = await capture('one')
    await capture('two')
    const next_run_at = new Date(Date.parse(hour(1)) + jitterMs(id)).toISOString()
    expect(await freshness(id)).toEqual({
      id,
      name: 'Nightly',
      paused: false,
      destination_type: 'File',
      model: 'events',
      interval: 'hour',
      newest_delivered_at: null,
      newest_delivered_age_s: null,
      oldest_pending_at: first,
      oldest_pending_age_s: expect.any(Number),
      rows_behind: 2,
      runs_behind: 0,
      live_runs: 0,
      last_run: null,
      last_completed_at: null,
      next_run_at,
      expected_end_at: null,
      is_late: false,
      last_verification: null,
      recent_runs: [],
    })
    const last = await capture('three')
    await pass()
    const shown = await freshness(id)
    expect(shown).toMatchObject({
      newest_delivered_at: last,
      oldest_pending_at: null,
      rows_behind: 0,
      runs_behind: 0,
      live_runs: 0,
      last_run: { status: 'Completed', finished_at: expect.any(String), latest_error: null },
      is_late: false,
    })
    expect(shown.last_completed_at).toBe(shown.last_run.finished_at)
    expect(shown.newest_delivered_age_s).toBeGreaterThan(3_000)
  })

  it('is not late when nothing comes in, however long that lasts', async () => {
    const id = await create()
    const arrived_at = await capture('one')
    await pass(8)
    expect(await freshness(id)).toMatchObject({
      newest_delivered_at: arrived_at,
      oldest_pending_at: null,
      rows_behind: 0,
      runs_behind: 0,
      is_late: false,
    })
  })

  it('is told by the events that pass its filters', async () => {
    const id = await create({}, { include_events: ['paid'] })
    const paid_at = await capture('seen', 'paid')
    await capture('seen')
    expect(await freshness(id)).toMatchObject({ rows_behind: 3 })
    await pass()
    expect(await freshness(id)).toMatchObject({ newest_delivered_at: paid_at, rows_behind: 0 })
    await capture('seen')
    await pass(4)
    expect(await freshness(id)).toMatchObject({
      newest_delivered_at: paid_at,
      rows_behind: 0,
      is_late: false,
    })
  })

  it('says the same in the list and where it is read alone', async () => {
    const id = await create()
    expect((await act(id, 'pause')).body).not.toHaveProperty('freshness')
    await act(id, 'unpause')
    await capture('one')
    // Time goes on between the calls.
    const ages = { oldest_pending_age_s: expect.any(Number) }
    const listed = (await app.get(`${base}/`, { key })).body.results[0].freshness
    expect(await freshness(id)).toMatchObject({ ...listed, ...ages })
    expect(listed).toMatchObject({ rows_behind: 1, is_late: false, next_run_at: expect.any(String) })
    const read = await app.get(`${base}/${id}/`, { key })
    expect(read.body.freshness).toEqual({ ...listed, ...ages })
    expect(Object.keys(read.body).at(-1)).toBe('freshness')
    const below = await app.get(`/api/organizations/${workspace.organization.id}/batch_exports/`, { key })
    expect(below.body.results[0].freshness).toEqual({ ...listed, ...ages })
  })
})

describe('an export that is behind', () => {
  it('is late once an event has waited for more than two intervals, and catches up', async () => {
    const id = await create()
    const first = await capture('one')
    app.advance(HOUR_MS)
    await capture('two', 'three')
    expect(await freshness(id)).toMatchObject({ runs_behind: 1, rows_behind: 3, is_late: false })
    app.advance(1.1 * HOUR_MS)
    expect(await freshness(id)).toMatchObject({
      oldest_pending_at: first,
      runs_behind: 2,
      rows_behind: 3,
      is_late: true,
    })
    await work()
    expect(await freshness(id)).toMatchObject({ oldest_pending_at: null, runs_behind: 0, is_late: false })
  })

  it('shows it at once after a restart of the event store', async () => {
    const id = await create()
    const first = await capture('one')
    await pass()
    const second = await capture('two')
    app.advance(5 * HOUR_MS)
    await app.services.eventStore.close()
    expect(await freshness(id)).toMatchObject({
      newest_delivered_at: first,
      oldest_pending_at: second,
      rows_behind: 1,
      runs_behind: 5,
      is_late: true,
    })
  })

  it('counts what failed until it is delivered, though later events are', async () => {
    const id = await create({}, { exclude_events: ['left-out'] })
    const folder = join(app.services.settings.export_folder, String(workspace.project.id), 'out')
    await mkdir(join(folder, '..'), { recursive: true })
    await writeFile(folder, 'in the way')
    const failed_at = await capture('held-up', 'left-out', 'held-up')
    await pass()
    const shown = await freshness(id)
    expect(shown).toMatchObject({
      newest_delivered_at: null,
      oldest_pending_at: failed_at,
      rows_behind: 2,
      runs_behind: 1,
      last_run: { status: 'Failed', latest_error: expect.any(String) },
      last_completed_at: null,
    })
    await rm(folder)
    const later_at = await capture('later')
    await pass(3)
    expect(await freshness(id)).toMatchObject({
      newest_delivered_at: later_at,
      oldest_pending_at: failed_at,
      rows_behind: 2,
      runs_behind: 1,
      last_run: { status: 'Completed' },
      is_late: true,
    })
    await app.post(`${base}/${id}/runs/${shown.last_run.id}/retry/`, {}, { key })
    await work()
    expect(await freshness(id)).toMatchObject({
      newest_delivered_at: later_at,
      oldest_pending_at: null,
      rows_behind: 0,
      runs_behind: 0,
      is_late: false,
    })
  })

  it('is not late while it is paused, but says what the pause costs', async () => {
    const id = await create()
    await act(id, 'pause')
    const missed_at = await capture('missed')
    await pass(4)
    expect(await freshness(id)).toMatchObject({
      paused: true,
      oldest_pending_at: missed_at,
      rows_behind: 1,
      runs_behind: 4,
      next_run_at: null,
      is_late: false,
    })
    await act(id, 'unpause')
    await work()
    expect(await freshness(id)).toMatchObject({
      paused: false,
      newest_delivered_at: null,
      oldest_pending_at: null,
      rows_behind: 0,
      runs_behind: 0,
      next_run_at: expect.any(String),
    })
    await act(id, 'pause')
    const healed_at = await capture('healed')
    app.advance(2 * HOUR_MS)
    await act(id, 'unpause', { backfill: true })
    await work()
    expect(await freshness(id)).toMatchObject({
      newest_delivered_at: healed_at,
      rows_behind: 0,
      runs_behind: 0,
    })
  })

  it('keeps what has its run apart from what has not when its interval changes', async () => {
    const id = await create()
    const first_at = await capture('one', 'two')
    await pass()
    const second_at = await capture('three')
    await app.patch(`${base}/${id}/`, { interval: 'day' }, { key })
    expect(await freshness(id)).toMatchObject({
      newest_delivered_at: first_at,
      oldest_pending_at: second_at,
      rows_behind: 1,
      runs_behind: 0,
    })
  })

  it('says what verification has found: what counts, as the account has it', async () => {
    const id = await create()
    const other = await create({}, { prefix: 'other' })
    const of = (owner: string) => ({ id: owner, project_id: workspace.project.id })
    const statusOf = async (owner: string) =>
      (await status()).results.find((each: { id: string }) => each.id === owner).last_verification
    const verify = async (range: object = {}) => {
      app.advance(1_000)
      const { body } = await app.post(`${base}/${id}/verify/`, range, { key })
      await app.verifier.tick()
      await app.verifier.idle()
      return body
    }
    expect(await statusOf(id)).toBeNull()
    const range = { start_at: hour(-2), end_at: hour(-1) }
    const part = await verify(range)
    const shown = { id: part.id, verdict: 'nothing_to_verify', created_at: part.created_at }
    expect(await statusOf(id)).toEqual(shown)
    const found = await addVerification(app.db, of(id), app.services.now())
    await verify(range)
    expect(await statusOf(id)).toMatchObject({ id: found, verdict: 'problems' })
    const { body } = await app.get(`${base}/${id}/`, { key })
    expect(body.freshness.last_verification).toEqual(await statusOf(id))
    const whole = await verify()
    expect(await statusOf(id)).toMatchObject({ id: whole.id, verdict: 'nothing_to_verify' })
    expect(await statusOf(other)).toBeNull()
  })

  it('owes nothing after its end', async () => {
    const id = await create({ end_at: hour(2) })
    const inside_at = await capture('inside')
    await pass(3)
    await capture('outside')
    expect(await freshness(id)).toMatchObject({
      newest_delivered_at: inside_at,
      oldest_pending_at: null,
      rows_behind: 0,
      runs_behind: 0,
      next_run_at: null,
    })
  })
})

describe('a backfill', () => {
  it('moves what is delivered forward, never back, and does not count as being behind', async () => {
    const early_at = await capture('early')
    app.advance(HOUR_MS)
    const between_at = await capture('between')
    app.advance(HOUR_MS)
    const id = await create()
    await act(id, 'backfill', { start_at: hour(-1), end_at: hour(0) })
    expect(await freshness(id)).toMatchObject({
      live_runs: 1,
      rows_behind: 0,
      runs_behind: 0,
      is_late: false,
    })
    await work()
    expect(await freshness(id)).toMatchObject({ newest_delivered_at: between_at, live_runs: 0 })
    await act(id, 'backfill', { start_at: hour(-2), end_at: hour(-1) })
    await work()
    expect(early_at < between_at).toBe(true)
    expect(await freshness(id)).toMatchObject({ newest_delivered_at: between_at, rows_behind: 0 })
    const own_at = await capture('own')
    await pass()
    expect(await freshness(id)).toMatchObject({ newest_delivered_at: own_at, runs_behind: 0 })
  })

  it('that takes events of the open interval: they count until the interval has its run', async () => {
    const id = await create()
    const late = { event: 'late', distinct_id: 'somebody', timestamp: hour(-3) }
    await app.post('/batch/', { api_key: workspace.project.api_token, batch: [late] })
    await capture('now')
    await act(id, 'backfill', { start_at: hour(-3), end_at: hour(-2) })
    await work()
    expect(await pendingOf(id)).toBe(1)
    expect((await status()).results[0]).toMatchObject({ rows_behind: 2 })
    await pass()
    expect(await freshness(id)).toMatchObject({ rows_behind: 0, oldest_pending_at: null })
  })
})

/** Holds its answers back until told. */
async function startSlowEndpoint() {
  const held: ServerResponse[] = []
  let arrived: () => void = () => undefined
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      held.push(response)
      arrived()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/batch/`,
    request: () =>
      held.length > 0 ? Promise.resolve() : new Promise<void>((resolve) => (arrived = resolve)),
    answer: () => held.splice(0).forEach((response) => response.writeHead(200).end()),
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

describe('a run that is worked on', () => {
  it('is expected to end by the speed of earlier ones', async () => {
    const endpoint = await startSlowEndpoint()
    const destination = { type: 'HTTP', config: { url: endpoint.url, token: 'secret-token' } }
    const id = await create({ destination })
    const runOne = async (...names: string[]) => {
      await capture(...names)
      app.advance(HOUR_MS)
      await app.exports.tick()
      await endpoint.request()
    }
    await runOne('first')
    expect(await freshness(id)).toMatchObject({
      live_runs: 1,
      runs_behind: 1,
      rows_behind: 1,
      expected_end_at: null,
      last_run: { status: 'Running', finished_at: null },
    })
    // It takes a minute and more, by the application's clock.
    app.advance(60_000)
    endpoint.answer()
    await app.exports.idle()

    await runOne('second', 'third')
    const { expected_end_at } = await freshness(id)
    expect(Date.parse(expected_end_at) - now()).toBeGreaterThan(60_000)
    expect(Date.parse(expected_end_at) - now()).toBeLessThan(10 * 60_000)
    // One that takes longer gives no more to go by.
    app.advance(10 * 60_000)
    expect(await freshness(id)).toMatchObject({ expected_end_at: null, live_runs: 1 })
    endpoint.answer()
    await app.exports.idle()
    expect(await freshness(id)).toMatchObject({ live_runs: 0, rows_behind: 0, expected_end_at: null })
    await endpoint.close()
  })
})

describe('other models', () => {
  it('say what can be said', async () => {
    await create({ model: 'persons' })
    await capture('seen')
    await pass()
    const completed = (await status()).results[0]
    expect(completed).toMatchObject({
      model: 'persons',
      newest_delivered_at: null,
      oldest_pending_at: null,
      rows_behind: null,
      runs_behind: 0,
      last_run: { status: 'Completed' },
      last_completed_at: expect.any(String),
      is_late: false,
    })
    app.advance(3 * HOUR_MS)
    expect((await status()).results[0]).toMatchObject({ runs_behind: 3, rows_behind: null, is_late: true })
  })
})

describe('an upgrade', () => {
  it('knows what was delivered before, at the first attempt or again', async () => {
    const id = await create()
    const folder = join(app.services.settings.export_folder, String(workspace.project.id), 'out')
    await mkdir(join(folder, '..'), { recursive: true })
    await capture('delivered')
    await pass()
    await rm(folder, { recursive: true })
    await writeFile(folder, 'in the way')
    await capture('healed')
    await pass()
    const failed = await freshness(id)
    const lost_at = await capture('lost', 'lost')
    await pass()
    await rm(folder)
    await app.post(`${base}/${id}/runs/${failed.last_run.id}/retry/`, {}, { key })
    await work()
    const before = await freshness(id)
    expect(before).toMatchObject({ oldest_pending_at: lost_at, rows_behind: 2, runs_behind: 1 })

    const file = new URL('../../../platform/db/migrations/0009_export_freshness.sql', import.meta.url)
    await app.db.pool.query('ALTER TABLE batch_export_run DROP COLUMN is_delivered')
    await app.db.pool.query('DROP TABLE batch_export_progress')
    await app.db.pool.query(await readFile(file, 'utf8'))
    // The time of arrival comes with the next run.
    const age = { oldest_pending_age_s: expect.any(Number) }
    const unknown = { newest_delivered_at: null, newest_delivered_age_s: null }
    expect(await freshness(id)).toEqual({ ...before, ...age, ...unknown })
    const next_at = await capture('next')
    await pass()
    expect(await freshness(id)).toMatchObject({ newest_delivered_at: next_at, rows_behind: 2 })
  })
})

describe('GET …/batch_exports/status/', () => {
  it('gives all exports of the project, and no other', async () => {
    const [first, second, deleted] = [
      await create(),
      await create({}, { prefix: 'second' }),
      await create({}, { prefix: 'third' }),
    ]
    await app.delete(`${base}/${deleted}/`, { key })
    const stranger = await createOrganization(app)
    const elsewhere = `/api/environments/${stranger.project.id}/batch_exports`
    const ids = ({ results }: { results: { id: string }[] }) => results.map(({ id }) => id)
    expect(ids(await status())).toEqual([second, first])
    const own = await app.get(`${elsewhere}/status/`, { key: stranger.owner.key })
    expect(own).toMatchObject({ status: 200, body: { results: [] } })
    const refused = await app.get(`${base}/status/`, { key: stranger.owner.key })
    expect(refused.status).toBe(403)
    expect(JSON.stringify(refused.body)).not.toContain(first)
  })

  it('shows the newest runs of each export, as many as are asked for, newest first', async () => {
    const [id, idle] = [await create(), await create({ paused: true }, { prefix: 'idle' })]
    await capture('one', 'two')
    await pass()
    await pass()
    const runs = (await app.get(`${base}/${id}/runs/`, { key })).body.results
    const recent = async (query: string) => {
      const { body } = await app.get(`${base}/status/${query}`, { key })
      return new Map(
        body.results.map((each: { id: string; recent_runs: unknown[] }) => [each.id, each.recent_runs]),
      )
    }
    const strip = [
      [hour(-1), hour(0), 0],
      [hour(-2), hour(-1), 2],
    ].map(([data_interval_start, data_interval_end, rows], index) => ({
      id: runs[index].id,
      status: 'Completed',
      data_interval_start,
      data_interval_end,
      rows,
      backfill: null,
    }))
    expect((await recent('?recent_runs=24')).get(id)).toEqual(strip)
    expect((await recent('?recent_runs=1')).get(id)).toEqual(strip.slice(0, 1))
    expect((await recent('?recent_runs=24')).get(idle)).toEqual([])
    for (const query of ['', '?recent_runs=', '?recent_runs=0']) {
      expect((await recent(query)).get(id)).toEqual([])
    }
    // A run that waits shows what it is about to bring, as far as that is known.
    await app.db.run(sql`
      UPDATE batch_export_run SET status = 'Running', finished_at = NULL, records_total_count = 7, records_completed = NULL
      WHERE id = ${runs[0].id}`)
    expect((await recent('?recent_runs=1')).get(id)).toMatchObject([{ status: 'Running', rows: 7 }])
  })

  it.each(['25', '-1', 'x', '1.5'])('400 for %s recent runs', async (count) => {
    const reply = await app.get(`${base}/status/?recent_runs=${count}`, { key })
    expect(reply).toMatchObject({ status: 400, body: { attr: 'recent_runs' } })
  })

  it('is no export of that name: 405 for what could be done to one', async () => {
    await create()
    for (const method of ['PATCH', 'PUT', 'DELETE', 'POST']) {
      const reply = await app.call(method, `${base}/status/`, { key, body: {} })
      expect([method, reply.status]).toEqual([method, 405])
    }
    expect((await status()).results).toHaveLength(1)
  })
})
