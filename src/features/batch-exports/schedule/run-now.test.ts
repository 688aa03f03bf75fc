// A run before its time. Whatever happens around it, each event is in the files once.
// @module-tag slow
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { HOUR_MS } from '../fixture/clock.ts'
import { neighbourOf, openWorkbench, type Workbench } from '../fixture/workbench.ts'
import { runNow as makeRunNow } from './run-now.ts'

let first: Workbench
let bench: Workbench
beforeAll(async () => {
  first = await openWorkbench()
})
beforeEach(async () => {
  bench = await neighbourOf(first)
})
afterAll(() => first.app.close())

type Run = Awaited<ReturnType<Workbench['runs']>>[number]

const MINUTE_MS = 60_000
const folder = { type: 'File', config: { prefix: 'out' } }

const ask = (id: string) => bench.app.post(`${bench.base}/${id}/runs/`, {}, { key: bench.key })

const askAt = (id: string, now: Date) =>
  bench.app.db.transaction((tx) => makeRunNow(tx, { project_id: bench.workspace.project.id, id }, now))

/** And works off what that makes: the second in which it was asked for has to end. */
async function runNow(id: string): Promise<Run> {
  const reply = await ask(id)
  expect(reply.status).toBe(200)
  bench.app.advance(1_000)
  await bench.work()
  return reply.body
}

/** All that lies in the export's folder, files after each other. */
async function delivered(): Promise<string[]> {
  const path = join(bench.app.services.settings.export_folder, String(bench.workspace.project.id), 'out')
  const names = (await readdir(path)).filter((name) => name.endsWith('.jsonl')).toSorted()
  const texts = await Promise.all(names.map((name) => readFile(join(path, name), 'utf8')))
  return texts.flatMap((text) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { uuid: string }).uuid),
  )
}

async function expectAccount(id: string, wanted: object): Promise<void> {
  const { body } = await bench.app.get(`${bench.base}/${id}/reconciliation/`, { key: bench.key })
  expect(body.totals).toMatchObject(wanted)
}

const intervalsOf = async (id: string) =>
  (await bench.runs(id)).map(({ data_interval_start, data_interval_end }) => [
    data_interval_start,
    data_interval_end,
  ])

describe('POST …/runs/', () => {
  it('delivers what has arrived, late events too, and the schedule goes on where it ended', async () => {
    const id = await bench.create(folder)
    const early = await bench.capture(['one', 'two'])
    early.push(...(await bench.capture(['late'], bench.hour(-50))))
    const start = bench.hour(0)
    const run = await runNow(id)
    expect(run).toMatchObject({
      status: 'Starting',
      backfill: null,
      batch_export: id,
      data_interval_start: start,
    })
    const cut = run.data_interval_end
    expect(Date.parse(cut) % 1_000).toBe(0)
    expect(await delivered()).toEqual(early)
    await expectAccount(id, { received: 3, exported: 3, pending: 0, skipped: 0 })

    const later = await bench.capture(['three'])
    await expectAccount(id, { received: 4, exported: 3, pending: 1, skipped: 0 })
    const next = await bench.app.get(`${bench.base}/${id}/next_runs/`, { key: bench.key })
    expect(next.body.results[0]).toMatchObject({ start: new Date(cut).toISOString(), end: bench.hour(1) })
    await bench.pass()
    expect((await delivered()).toSorted()).toEqual([...early, ...later].toSorted())
    expect(await intervalsOf(id)).toEqual([
      [start, cut],
      [cut, bench.hour(0)],
    ])
    await expectAccount(id, { received: 4, exported: 4, pending: 0, skipped: 0, backfilled: 0 })
    expect(await bench.verify(id)).toMatchObject({ verdict: 'intact' })
  })

  it('makes one run of two requests within a second', async () => {
    const id = await bench.create(folder)
    const now = bench.app.services.now()
    const made = await Promise.all([askAt(id, now), askAt(id, now)])
    expect(made.filter(({ is_made }) => is_made)).toHaveLength(1)
    expect(new Set(made.map(({ run }) => run.id)).size).toBe(1)
    expect(await bench.runs(id)).toHaveLength(1)
  })

  it('begins where the one before ended', async () => {
    const id = await bench.create(folder)
    const uuids = await bench.capture(['one'])
    const one = await runNow(id)
    uuids.push(...(await bench.capture(['two'])))
    const other = await runNow(id)
    expect(other.data_interval_start).toBe(one.data_interval_end)
    expect(await delivered()).toEqual(uuids)
  })

  it('is in the activity log', async () => {
    const id = await bench.create(folder)
    const run = await runNow(id)
    const { body } = await bench.app.get(
      `/api/projects/${bench.workspace.project.id}/activity_log/?scope=BatchExport&item_id=${id}`,
      { key: bench.key },
    )
    expect(body.results[0].detail.changes).toEqual([
      expect.objectContaining({ action: 'created', field: 'run', after: { id: run.id } }),
    ])
  })

  it('first makes the run of an interval that nobody has come to', async () => {
    const id = await bench.create(folder)
    const before = await bench.capture(['before'])
    bench.app.advance(HOUR_MS)
    const after = await bench.capture(['after'])
    const { data_interval_end } = await runNow(id)
    await bench.work()
    expect(await intervalsOf(id)).toEqual([
      [bench.hour(-1), bench.hour(0)],
      [bench.hour(0), data_interval_end],
    ])
    bench.app.advance(MINUTE_MS)
    await bench.work()
    expect((await delivered()).toSorted()).toEqual([...before, ...after].toSorted())
  })

  it('ends with the interval when that has less than a second left', async () => {
    const id = await bench.create(folder)
    const [start, end] = [bench.hour(0), bench.hour(1)]
    const uuids = await bench.capture(['last'])
    await askAt(id, new Date(Date.parse(end) - 300))
    await bench.pass()
    expect(await delivered()).toEqual(uuids)
    expect(await intervalsOf(id)).toEqual([[start, end]])
  })

  it('ends with a whole second although the export ends within one: files are named by seconds', async () => {
    const id = await bench.create(folder)
    const [start, end] = [bench.hour(0), bench.hour(1)]
    const at = (ms: number) => new Date(Date.parse(end) + ms)
    const endAt = async (ms: number) => {
      const body = { end_at: at(ms).toISOString() }
      expect((await bench.app.patch(`${bench.base}/${id}/`, body, { key: bench.key })).status).toBe(200)
    }
    await endAt(2_500)
    await askAt(id, at(1_700))
    await expect(askAt(id, at(2_100))).rejects.toThrow('in less than a second')
    await endAt(2_900)
    await expect(askAt(id, at(2_600))).rejects.toThrow('in less than a second')
    await bench.pass()
    expect(await intervalsOf(id)).toEqual([
      [start, end],
      [end, at(2_000).toISOString()],
    ])
  })

  it('leaves nothing out and sends nothing twice around a pause, a new interval and a clock that is set back', async () => {
    const id = await bench.create(folder)
    const uuids = await bench.capture(['one'])
    await runNow(id)
    await bench.act(id, 'pause')
    bench.app.advance(HOUR_MS)
    uuids.push(...(await bench.capture(['during'])))
    bench.app.advance(HOUR_MS)
    await bench.act(id, 'unpause', { backfill: true })
    await bench.work()
    uuids.push(...(await bench.capture(['after'])))
    await runNow(id)
    const path = `${bench.base}/${id}/`
    expect((await bench.app.patch(path, { interval: 'every 5 minutes' }, { key: bench.key })).status).toBe(
      200,
    )
    uuids.push(...(await bench.capture(['short'])))
    await runNow(id)
    await bench.pass()
    expect((await bench.app.patch(path, { interval: 'day' }, { key: bench.key })).status).toBe(200)
    uuids.push(...(await bench.capture(['long'])))
    const last = await runNow(id)
    bench.app.advance(-10 * MINUTE_MS)
    expect((await ask(id)).body.id).toBe(last.id)
    bench.app.advance(25 * HOUR_MS)
    await bench.work()
    expect((await delivered()).toSorted()).toEqual(uuids.toSorted())
    await expectAccount(id, { received: 5, exported: 5, pending: 0, skipped: 0 })
  })

  it('400 while the export is paused, before it begins, after its end, and while it catches up', async () => {
    const refusals = async (fields: object, act?: string) => {
      const id = await bench.create(folder, fields)
      if (act) await bench.act(id, act)
      const reply = await ask(id)
      expect(await bench.runs(id)).toEqual([])
      await bench.app.delete(`${bench.base}/${id}/`, { key: bench.key })
      return [reply.status, reply.body.code, reply.body.detail]
    }
    const refused = (detail: string) => [400, 'invalid_input', expect.stringContaining(detail)]
    expect(await refusals({}, 'pause')).toEqual(refused('The export is paused: unpause it first.'))
    expect(await refusals({ start_at: bench.hour(2) })).toEqual(
      refused(`The export begins at ${bench.hour(2)}`),
    )
    expect(await refusals({ start_at: bench.hour(-3), end_at: bench.hour(-1) })).toEqual(
      refused(`The export ended at ${bench.hour(-1)}`),
    )
    const id = await bench.create(folder)
    bench.app.advance(30 * HOUR_MS)
    const reply = await ask(id)
    expect([reply.status, reply.body.code, reply.body.detail]).toEqual(refused('The export is catching up'))
    expect(await bench.runs(id)).toEqual([])
  })

  it('can be repaired as its verification says, also within a week', async () => {
    const offset_day = (bench.app.services.now().getUTCDay() + 3) % 7
    const id = await bench.create(folder, { interval: 'week', offset_day })
    const uuids = await bench.capture(['one'])
    const { data_interval_start: start_at, data_interval_end: end_at } = await runNow(id)
    const { export_folder } = bench.app.services.settings
    await rm(join(export_folder, String(bench.workspace.project.id), 'out'), { recursive: true })
    const [problem] = (await bench.verify(id)).problems
    expect(problem).toMatchObject({
      kind: 'missing_file',
      what_to_do: expect.stringContaining(JSON.stringify({ start_at, end_at })),
    })
    await bench.act(id, 'repair', { start_at, end_at })
    await bench.work()
    expect(await delivered()).toEqual(uuids)
    const off = new Date(Date.parse(end_at) - HOUR_MS).toISOString()
    const reply = await bench.app.post(
      `${bench.base}/${id}/repair/`,
      { start_at, end_at: off },
      { key: bench.key },
    )
    expect(reply.status).toBe(400)
  })

  it('403 to others', async () => {
    const id = await bench.create(folder)
    const other = await neighbourOf(first)
    const reply = await bench.app.post(`${bench.base}/${id}/runs/`, {}, { key: other.key })
    expect(reply.status).toBe(403)
    expect(await bench.runs(id)).toEqual([])
  })
})
