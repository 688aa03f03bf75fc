// Verifications as the API has them: asked for, listed, refused; when they come by themselves; what is shown of them.
// @module-tag slow
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startCaptureServer } from '../../../../test/stand-ins/capture-server.ts'
import { sql } from '../../../platform/db/sql.ts'
import { openMetrics } from '../../../platform/http/metrics.ts'
import { uuid7 } from '../../../lib/uuid.ts'
import { noOp } from '../fixture/bodies.ts'
import { openFolder, type FilePlace } from './fixture/file-places.ts'
import { deliverHours, neighbourOf, openWorkbench, type Workbench } from '../fixture/workbench.ts'
import { addVerificationMetrics } from './metrics.ts'
import { claimVerification, forgetOldVerifications } from './queries.ts'
import { enqueueDaily, lastMoment } from './timetable.ts'

const DAY_MS = 24 * 3_600_000

let first: Workbench
let bench: Workbench
let place: FilePlace
beforeAll(async () => {
  first = await openWorkbench({ OUTBOUND_ALLOW: '127.0.0.1' })
})
afterAll(() => first.app.close())
beforeEach(async () => {
  bench = await neighbourOf(first)
  place = (await openFolder()).open(bench)
})
afterEach(async () => {
  await bench.settle()
  await bench.deleteExports()
})

const get = (id: string, path: string) => bench.app.get(`${bench.base}/${id}/${path}`, { key: bench.key })
const ask = (id: string, body: object = {}) =>
  bench.app.post(`${bench.base}/${id}/verify/`, body, { key: bench.key })
const listed = async (id: string) => (await get(id, 'verifications/')).body.results as { id: string }[]

/** One export with one delivered file, and nothing that waits. */
async function deliver(config: object = {}): Promise<string> {
  const id = await bench.create(place.destination(config))
  await deliverHours(bench, 1)
  await bench.settle()
  return id
}

describe('POST verify/', () => {
  it('200: starts one; the live one is given to whoever asks for the same', async () => {
    const id = await deliver()
    const asked = await ask(id)
    expect(asked).toMatchObject({
      status: 200,
      body: {
        batch_export: id,
        trigger: 'request',
        run: null,
        start_at: null,
        end_at: null,
        status: 'Waiting',
        verdict: null,
        started_at: null,
        finished_at: null,
        runs: 0,
        problems: [],
        problems_count: 0,
      },
    })
    expect((await ask(id)).body).toEqual(asked.body)
    const [run] = await bench.runs(id)
    expect((await ask(id, { run: run!.id })).body.id).not.toBe(asked.body.id)
    expect((await ask(id, { start_at: null, end_at: null, run: null })).body.id).toBe(asked.body.id)
    await bench.settle()
    const again = await ask(id)
    expect(again.body.id).not.toBe(asked.body.id)
    expect(again.body.status).toBe('Waiting')
  })

  it('200: one that a clock ahead of the time has put off is done now', async () => {
    const id = await deliver()
    const { db, now } = bench.app.services
    const { body } = await ask(id)
    const put_off = new Date(now().getTime() + DAY_MS)
    await db.run(
      sql`UPDATE batch_export_verification SET run_after = ${put_off} WHERE id = ${body.id as string}`,
    )
    await bench.settle()
    expect((await listed(id))[0]).toMatchObject({ id: body.id, status: 'Waiting' })
    expect((await ask(id)).body.id).toBe(body.id)
    await bench.settle()
    expect((await listed(id))[0]).toMatchObject({ id: body.id, status: 'Completed', verdict: 'intact' })
  })

  it('200: also under the other name of the project', async () => {
    const id = await deliver()
    const path = bench.base.replace('/projects/', '/environments/')
    const asked = await bench.app.post(`${path}/${id}/verify/`, {}, { key: bench.key })
    expect(asked.status).toBe(200)
    expect((await bench.app.get(`${path}/${id}/verifications/`, { key: bench.key })).body.results[0].id).toBe(
      asked.body.id,
    )
  })

  it('400: a range that makes no sense, a run that is not the export’s; nothing is started', async () => {
    const id = await deliver()
    const other = await deliver({ prefix: 'other' })
    const [run] = await bench.runs(other)
    const before = await listed(id)
    const now = bench.app.services.now()
    const ahead = new Date(now.getTime() + 3_600_000).toISOString()
    const cases: [object, string, RegExp][] = [
      [{ end_at: ahead }, 'end_at', /^end_at lies in the future: it is .* now\.$/],
      [{ start_at: ahead }, 'start_at', /must lie before now/],
      [{ start_at: bench.hour(-1), end_at: bench.hour(-2) }, 'start_at', /must lie before end_at/],
      [{ end_at: 'yesterday' }, 'end_at', /not a date/],
      [{ run: run!.id }, 'run', /no such run/],
      [{ run: 'x' }, 'run', /no such run/],
      [{ run: (await bench.runs(id))[0]!.id, end_at: bench.hour(-1) }, 'run', /a run, or a range/],
    ]
    for (const [body, attr, detail] of cases) {
      const reply = await ask(id, body)
      expect([reply.status, reply.body.attr, reply.body.detail], JSON.stringify(body)).toEqual([
        400,
        attr,
        expect.stringMatching(detail),
      ])
    }
    expect(await listed(id)).toEqual(before)
  })

  it('404: of an export that was deleted, or is another project’s', async () => {
    const id = await deliver()
    const stranger = await neighbourOf(bench)
    const reply = await bench.app.post(`${stranger.base}/${id}/verify/`, {}, { key: stranger.key })
    expect(reply.status).toBe(404)
    await bench.deleteExports()
    expect((await ask(id)).status).toBe(404)
  })

  it('429: when twenty wait already', async () => {
    const id = await deliver()
    for (let minutes = 1; minutes <= 20; minutes++) {
      const start_at = new Date(bench.app.services.now().getTime() - minutes * 60_000).toISOString()
      expect((await ask(id, { start_at })).status).toBe(200)
    }
    expect(await ask(id)).toMatchObject({
      status: 429,
      body: { code: 'too_many_concurrent_verifications' },
      headers: { 'retry-after': '60' },
    })
    // What runs and the timetable ask for is none of them.
    await deliverHours(bench, 1)
    expect(await listed(id)).toHaveLength(22)
  })
})

describe('GET verifications/', () => {
  it('200: newest first, page by page', async () => {
    const id = await deliver()
    await bench.app.db.run(sql`
      INSERT INTO batch_export_verification (id, project_id, batch_export_id, trigger, status, verdict, run_after,
        created_at, finished_at)
      SELECT gen_random_uuid(), ${bench.workspace.project.id}, ${id}, 'timetable', 'Completed', 'intact', now(),
        now() - make_interval(days => number), now() FROM generate_series(1, 60) AS number`)
    const one = (await get(id, 'verifications/')).body
    expect([one.results.length, one.previous]).toEqual([50, null])
    expect(one.results[0].trigger).toBe('run')
    const two = (await bench.app.get(one.next.replace('http://longshore.test', ''), { key: bench.key })).body
    expect([two.results.length, two.next]).toEqual([11, null])
    const ids = [...one.results, ...two.results].map((row: { id: string }) => row.id)
    expect(new Set(ids).size).toBe(61)
    const back = (await bench.app.get(two.previous.replace('http://longshore.test', ''), { key: bench.key }))
      .body
    expect(back.results).toEqual(one.results)
  })

  it('404: unknown, of another export, or a cursor of another export', async () => {
    const id = await deliver()
    const other = await deliver({ prefix: 'other' })
    const [own] = await listed(id)
    expect((await get(id, `verifications/${own!.id}/`)).body).toMatchObject({ id: own!.id, batch_export: id })
    expect((await get(other, `verifications/${own!.id}/`)).status).toBe(404)
    expect((await get(id, `verifications/${uuid7(new Date())}/`)).status).toBe(404)
    expect((await get(id, 'verifications/nonsense/')).status).toBe(404)
    expect((await get(other, `verifications/?cursor=n${own!.id}`)).status).toBe(404)
  })
})

describe('by itself', () => {
  it('a run that has delivered rows is verified, one without rows or to nowhere is not', async () => {
    const id = await bench.create(place.destination())
    const nowhere = await bench.create(noOp)
    await bench.pass()
    expect(await listed(id)).toEqual([])
    await deliverHours(bench, 1)
    const [, run] = await bench.runs(id)
    expect(await listed(id)).toMatchObject([
      { trigger: 'run', run: run!.id, status: 'Waiting', verdict: null },
    ])
    expect(await listed(nowhere)).toEqual([])
    await bench.settle()
    expect(await listed(id)).toMatchObject([
      { status: 'Completed', verdict: 'intact', runs: 1, files: 1, rows: 3, started_at: expect.any(String) },
    ])
  })

  it('everything is verified once a day, at an hour of the export’s own', async () => {
    const id = await deliver()
    const never = await bench.create(place.destination({ prefix: 'never' }))
    const { db } = bench.app
    const count = async () => {
      const rows = await listed(id)
      return rows.filter((row) => 'trigger' in row && row.trigger === 'timetable').length
    }
    const { created_at } = await db.only<{ created_at: Date }>(sql`
      SELECT created_at FROM batch_export WHERE id = ${id}`)
    const next = new Date(lastMoment(id, created_at).getTime() + DAY_MS)
    await enqueueDaily(db, new Date(next.getTime() - 1))
    expect(await count()).toBe(0)
    await enqueueDaily(db, next)
    await enqueueDaily(db, next)
    // The moment may have passed while the export was delivered, and the clock must not go back.
    bench.app.advance(Math.max(0, next.getTime() - bench.app.services.now().getTime()))
    await bench.settle()
    await enqueueDaily(db, new Date(next.getTime() + DAY_MS - 1))
    expect(await count()).toBe(1)
    await enqueueDaily(db, new Date(next.getTime() + DAY_MS))
    expect(await count()).toBe(2)
    expect(await listed(never)).toEqual([])
  })

  it('moments of many exports are spread over the day', () => {
    const now = new Date('2026-03-01T12:00:00Z')
    const moments = Array.from({ length: 500 }, () => lastMoment(crypto.randomUUID(), now).getTime())
    expect(Math.min(...moments)).toBeGreaterThan(now.getTime() - DAY_MS)
    expect(Math.max(...moments)).toBeLessThanOrEqual(now.getTime())
    const hours = new Set(moments.map((moment) => new Date(moment).getUTCHours()))
    expect(hours.size).toBe(24)
  })
})

describe('what is shown', () => {
  it('reconciliation has the result that counts', async () => {
    const id = await bench.create(place.destination())
    const shown = async () => (await get(id, 'reconciliation/')).body.verification
    expect(await shown()).toBeNull()
    await deliverHours(bench, 1)
    expect(await shown()).toBeNull()
    await bench.settle()
    const [after_run] = await listed(id)
    expect(await shown()).toEqual({
      id: after_run!.id,
      finished_at: expect.any(String),
      verdict: 'intact',
      problems_count: 0,
    })
    const [name] = await place.names()
    const content = await place.read(name!)
    await place.remove(name!)
    const { id: found } = await bench.verify(id)
    expect(await shown()).toMatchObject({ id: found, verdict: 'problems', problems_count: 1 })
    // The next run is in order, which says nothing of the file that is missing.
    await deliverHours(bench, 1)
    await bench.settle()
    expect((await listed(id))[0]).toMatchObject({ trigger: 'run', verdict: 'intact' })
    expect(await shown()).toMatchObject({ id: found, verdict: 'problems' })
    await place.write(name!, content)
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact' })
    expect(await shown()).toMatchObject({ verdict: 'intact', problems_count: 0 })
  })

  it('metrics count verdicts and problems, without names', async () => {
    const metrics = openMetrics()
    addVerificationMetrics(metrics, bench.app.services, bench.verifier)
    const lines = async () =>
      (await metrics.text()).split('\n').filter((line) => line.startsWith('longshore_export_ver'))
    const id = await deliver()
    const figure = (text: readonly string[], label: string) =>
      Number(text.find((line) => line.includes(label))?.split(' ')[1] ?? 0)
    const before = await lines()
    const [name] = await place.names()
    await place.remove(name!)
    await bench.verify(id)
    const after = await lines()
    const verdict = 'longshore_export_verifications_total{verdict="problems"}'
    const kind = 'longshore_export_verification_problems{kind="missing_file"}'
    expect(figure(after, verdict)).toBe(figure(before, verdict) + 1)
    expect(figure(after, kind)).toBe(figure(before, kind) + 1)
    expect(after.join()).not.toMatch(/Nightly|[0-9a-f]{8}-[0-9a-f]{4}/)
    await bench.deleteExports()
    expect(figure(await lines(), kind)).toBe(figure(before, kind))
  })

  it('old ones are forgotten, but for the last over everything', async () => {
    const id = await deliver()
    await bench.verify(id)
    const { id: last } = await bench.verify(id)
    expect(await listed(id)).toHaveLength(3)
    const { db, services } = bench.app
    await forgetOldVerifications(db, services.now())
    expect(await listed(id)).toHaveLength(3)
    await forgetOldVerifications(db, new Date(services.now().getTime() + 31 * DAY_MS))
    expect(await listed(id)).toMatchObject([{ id: last }])
    await bench.deleteExports()
    await forgetOldVerifications(db, new Date(services.now().getTime() + 31 * DAY_MS))
    const rows = await db.rows(sql`SELECT 1 FROM batch_export_verification WHERE batch_export_id = ${id}`)
    expect(rows).toEqual([])
  })
})

it('those who wait for an answer come first, then projects in turn', async () => {
  const other = await neighbourOf(bench)
  const ids = [await deliver()]
  const theirs = await other.create((await openFolder()).open(other).destination())
  await deliverHours(other, 1)
  await bench.settle()
  const { db, services } = bench.app
  const claim = async () =>
    (await claimVerification(db, crypto.randomUUID(), services.now(), null))?.batch_export_id
  for (const hours of [1, 2, 3]) {
    const start_at = bench.hour(-hours)
    await db.run(sql`
      INSERT INTO batch_export_verification (id, project_id, batch_export_id, trigger, start_at, status, run_after,
        created_at)
      VALUES (gen_random_uuid(), ${bench.workspace.project.id}, ${ids[0]}, 'run', ${start_at}, 'Waiting',
        ${services.now()}, ${services.now()})`)
  }
  const daily = sql`
    INSERT INTO batch_export_verification (id, project_id, batch_export_id, trigger, status, run_after, created_at)
    VALUES (gen_random_uuid(), ${other.workspace.project.id}, ${theirs}, 'timetable', 'Waiting', ${services.now()},
      ${services.now()})`
  await db.run(daily)
  const turns = [await claim(), await claim(), await claim()]
  expect(turns.map(String).toSorted()).toEqual([ids[0], ids[0], theirs].map(String).toSorted())
  expect(turns.indexOf(theirs)).toBeLessThan(2)
  await ask(ids[0]!, {})
  const asked = await claim()
  expect(asked).toBe(ids[0])
  const { trigger } = await db.only<{ trigger: string }>(sql`
    SELECT trigger FROM batch_export_verification WHERE lease_owner IS NOT NULL ORDER BY started_at DESC, id DESC LIMIT 1`)
  expect(trigger).toBe('request')
  await db.run(
    sql`UPDATE batch_export_verification SET lease_until = '-infinity' WHERE lease_owner IS NOT NULL`,
  )
  await other.settle()
  await other.deleteExports()
})

describe('HTTP', () => {
  it('what the endpoint has acknowledged is held against the events', async () => {
    const server = await startCaptureServer('phc_token')
    const id = await bench.create({ type: 'HTTP', config: { url: server.url, token: 'phc_token' } })
    await deliverHours(bench, 2)
    expect(server.batches.flatMap(({ events }) => events)).toHaveLength(6)
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact', runs: 2, files: 0, rows: 6 })
    const [run] = await bench.runs(id)
    await bench.app.db.run(sql`
      UPDATE batch_export_run SET progress = '{"acknowledged":1,"rows":2}' WHERE id = ${run!.id}`)
    expect(await bench.verify(id)).toMatchObject({
      verdict: 'problems',
      problems: [
        {
          kind: 'unacknowledged_batches',
          run: run!.id,
          message: 'The endpoint has acknowledged 2 of 3 events.',
        },
      ],
      problems_count: 1,
    })
    expect(server.requests()).toBe(2)
    await server.close()
  })
})
