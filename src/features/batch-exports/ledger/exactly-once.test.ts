// The promise on the ways beside the schedule: whatever is backfilled, healed, repaired or retried, each event is in the
// files once, and the account knows it.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { makeEvent } from '../../events/listing/fixture/events.ts'
import { HOUR_MS, setTenPastTheHour } from '../fixture/clock.ts'

let app: TestApp
let workspace: Workspace
let key: string
let base: string
beforeEach(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  key = workspace.owner.key
  base = `/api/projects/${workspace.project.id}/batch_exports`
  setTenPastTheHour(app)
})
afterEach(() => app.close())

const NO_COPIES = { persons: [], deleted_persons: [], distinct_ids: [], groups: [] }
const DAY_MS = 24 * HOUR_MS
/** The hour that has begun, and those around it. */
const hour = (index: number) => {
  const now = app.services.now().getTime()
  return new Date(now - (now % HOUR_MS) + index * HOUR_MS).toISOString()
}

async function create(fields: object = {}, config: object = {}): Promise<string> {
  const destination = { type: 'File', config: { prefix: 'out', ...config } }
  const reply = await app.post(
    `${base}/`,
    { name: 'Nightly', interval: 'hour', destination, ...fields },
    { key },
  )
  expect(reply.body).toMatchObject({ id: expect.any(String) })
  return reply.body.id
}

/** Events that happened at these times, or now; the first word of each is its name. */
async function capture(...events: { event: string; at?: string }[]): Promise<void> {
  const batch = events.map(({ event, at }) => ({
    event,
    distinct_id: 'somebody',
    uuid: crypto.randomUUID(),
    timestamp: at ?? app.services.now().toISOString(),
  }))
  const reply = await app.post('/batch/', { api_key: workspace.project.api_token, batch })
  expect(reply.status).toBe(200)
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

const folder = (prefix = 'out') =>
  join(app.services.settings.export_folder, String(workspace.project.id), prefix)

/** Names of events by file, in order. */
async function files(prefix = 'out'): Promise<Record<string, string[]>> {
  const names = (await readdir(folder(prefix)).catch(() => []))
    .filter((name) => name.includes('.jsonl'))
    .toSorted()
  const read = names.map(async (name) => {
    const lines = (await readFile(join(folder(prefix), name), 'utf8')).trimEnd().split('\n')
    return [name, lines.map((line) => (JSON.parse(line) as { event: string }).event)] as const
  })
  return Object.fromEntries(await Promise.all(read))
}

const everything = async (prefix?: string) =>
  Object.values(await files(prefix))
    .flat()
    .toSorted()

async function totals(id: string): Promise<Record<string, number>> {
  const { body } = await app.get(`${base}/${id}/reconciliation/`, { key })
  for (const part of [body.totals, ...body.results]) {
    const { received, exported, filtered_out, pending, skipped } = part
    expect(exported + filtered_out + pending + skipped).toBe(received)
    for (const figure of [received, exported, filtered_out, pending, skipped])
      expect(figure).toBeGreaterThanOrEqual(0)
  }
  return body.totals
}

const act = async (id: string, action: string, body: object = {}) => {
  const reply = await app.post(`${base}/${id}/${action}/`, body, { key })
  expect(reply.body).toMatchObject({ id })
  return reply.body.backfill_id as string
}
const backfillOf = async (id: string, backfill_id: string) =>
  (await app.get(`${base}/${id}/backfills/${backfill_id}/`, { key })).body
const runsOf = async (id: string) => (await app.get(`${base}/${id}/runs/`, { key })).body.results

describe('a backfill', () => {
  it('of an interval that the schedule has exported delivers nothing, and says so', async () => {
    const id = await create()
    const [before, start] = [hour(0), hour(0)]
    await capture({ event: 'three-days-late', at: new Date(Date.parse(before) - 3 * DAY_MS).toISOString() })
    await capture({ event: 'own' })
    await pass()
    await capture({ event: 'late', at: start }, { event: 'next' })
    await pass()
    const exported = await files()
    expect(Object.values(exported)).toEqual([
      ['three-days-late', 'own'],
      ['late', 'next'],
    ])

    const backfill_id = await act(id, 'backfill', { start_at: hour(-2), end_at: hour(-1) })
    await work()
    expect(await files()).toEqual(exported)
    expect(await backfillOf(id, backfill_id)).toMatchObject({
      kind: 'backfill',
      status: 'Completed',
      rows_to_deliver: 0,
      rows_delivered_before: 2,
      progress: { total_runs: 0 },
    })
    expect(await totals(id)).toMatchObject({
      received: 4,
      exported: 4,
      pending: 0,
      skipped: 0,
      backfilled: 0,
    })
    const { body } = await app.get(`${base}/${id}/logs/`, { key })
    expect(body.results[0].message).toMatch(
      /^Nothing to deliver from .* 2 rows of it were delivered before\.$/,
    )
  })

  it('of events whose arrival interval is still open leaves the others to the schedule', async () => {
    const id = await create()
    await capture({ event: 'late', at: hour(-3) }, { event: 'now' })
    const range = { start_at: hour(-3), end_at: hour(-2) }
    const backfill_id = await act(id, 'backfill', range)
    await work()
    const names = Object.keys(await files())
    expect(names).toEqual([expect.stringMatching(`_backfill-${backfill_id}\\.jsonl$`)])
    expect(await everything()).toEqual(['late'])
    expect(await totals(id)).toMatchObject({
      received: 2,
      exported: 1,
      pending: 1,
      skipped: 0,
      backfilled: 1,
    })

    await pass()
    expect(await everything()).toEqual(['late', 'now'])
    expect(await totals(id)).toMatchObject({
      received: 2,
      exported: 2,
      pending: 0,
      skipped: 0,
      backfilled: 1,
    })
    const { body } = await app.get(`${base}/${id}/reconciliation/`, { key })
    const runs: string[] = (await runsOf(id)).map(({ id: run }: { id: string }) => run)
    expect(body.results).toMatchObject([{ received: 2, exported: 2, pending: 0, filtered_out: 0 }])
    expect(body.results[0].runs.toSorted()).toEqual(runs.toSorted())
  })

  it('delivers what happened before the export existed, once, however often it is asked for', async () => {
    for (let index = 0; index < 30; index++) await capture({ event: `early-${index}` })
    app.advance(HOUR_MS)
    await capture({ event: 'between' })
    app.advance(HOUR_MS)
    const id = await create()
    const range = { start_at: hour(-2), end_at: hour(-1) }
    const estimate = await app.post(`${base}/${id}/backfills/estimate/`, range, { key })
    expect(estimate.body).toMatchObject({ rows: 30, delivered_before: 0, runs: 1 })
    expect(await totals(id)).toMatchObject({ received: 31, exported: 0, pending: 0, skipped: 31 })

    await act(id, 'backfill', range)
    await work()
    await act(id, 'backfill', range)
    await act(id, 'backfill', { start_at: hour(-3), end_at: hour(0) })
    await work()
    expect(await everything()).toEqual(
      ['between', ...Array.from({ length: 30 }, (_, index) => `early-${index}`)].toSorted(),
    )
    expect(await totals(id)).toMatchObject({
      received: 31,
      exported: 31,
      skipped: 0,
      pending: 0,
      backfilled: 31,
    })
  })

  it('takes up again what failed, under the names that it had', async () => {
    const id = await create()
    await capture({ event: 'held-up' })
    await mkdir(join(folder(), '..'), { recursive: true })
    await writeFile(folder(), 'in the way')
    await pass()
    expect((await runsOf(id))[0]).toMatchObject({ status: 'Failed' })
    expect(await totals(id)).toMatchObject({ received: 1, exported: 0, pending: 1 })
    await rm(folder())

    const backfill_id = await act(id, 'backfill', { start_at: hour(-1), end_at: hour(0) })
    await work()
    expect(await backfillOf(id, backfill_id)).toMatchObject({ status: 'Completed', rows_to_deliver: 1 })
    expect(Object.keys(await files())).toEqual([expect.not.stringContaining('backfill')])
    expect(await everything()).toEqual(['held-up'])
    expect(await totals(id)).toMatchObject({ received: 1, exported: 1, pending: 0, skipped: 0 })
  })

  it('400: a range in the future, none at all, the wrong weekday', async () => {
    const id = await create({ interval: 'week' })
    const refused = async (action: string, body: object) => {
      const reply = await app.post(`${base}/${id}/${action}/`, body, { key })
      expect(reply.status).toBe(400)
      return reply.body
    }
    for (const action of ['backfill', 'repair']) {
      expect(await refused(action, { start_at: '2026-01-06', end_at: '2026-01-11' })).toMatchObject({
        attr: 'start_at',
        detail: 'The weeks of this export begin on Sunday: use 2026-01-04 or 2026-01-11.',
      })
      expect(await refused(action, { start_at: '2026-01-04', end_at: '2199-01-06' })).toMatchObject({
        attr: 'end_at',
      })
      expect(await refused(action, { start_at: '2026-01-04' })).toMatchObject({
        attr: 'end_at',
        code: 'required',
      })
    }
  })
})

describe('unpausing with a backfill', () => {
  it('delivers what arrived during the pause, whatever its timestamp, in the intervals that it arrived in', async () => {
    const id = await create()
    await capture({ event: 'before' })
    await pass()
    await app.post(`${base}/${id}/pause/`, {}, { key })
    await capture({ event: 'old', at: new Date(app.services.now().getTime() - 3 * DAY_MS).toISOString() })
    await pass()
    await capture({ event: 'fresh' })
    await pass()
    await app.post(`${base}/${id}/unpause/`, { backfill: true }, { key })
    await work()
    expect(await everything()).toEqual(['before', 'fresh', 'old'])
    expect(Object.keys(await files()).some((name) => name.includes('backfill'))).toBe(false)
    expect(await totals(id)).toMatchObject({ received: 3, exported: 3, skipped: 0, pending: 0 })
    await capture({ event: 'after' })
    await pass()
    expect(await everything()).toEqual(['after', 'before', 'fresh', 'old'])
    expect(await totals(id)).toMatchObject({ received: 4, exported: 4, skipped: 0 })
  })

  it('without one leaves it skipped, and a backfill heals it', async () => {
    const id = await create()
    await app.post(`${base}/${id}/pause/`, {}, { key })
    await capture({ event: 'missed' })
    await pass(2)
    await app.post(`${base}/${id}/unpause/`, {}, { key })
    await work()
    expect(await totals(id)).toMatchObject({ received: 1, exported: 0, skipped: 1 })
    await act(id, 'backfill', { start_at: hour(-2), end_at: hour(0) })
    await work()
    expect(await everything()).toEqual(['missed'])
    expect(await totals(id)).toMatchObject({ received: 1, exported: 1, skipped: 0, backfilled: 1 })
  })
})

describe('a repair', () => {
  it('brings files back byte by byte, those of backfills too', async () => {
    await capture({ event: 'early' })
    app.advance(HOUR_MS)
    const id = await create()
    await act(id, 'backfill', { start_at: hour(-1), end_at: hour(0) })
    await capture({ event: 'own' })
    await pass()
    const names = Object.keys(await files())
    const texts = await Promise.all(names.map((name) => readFile(join(folder(), name))))
    expect(names).toHaveLength(2)
    await rm(join(folder(), names[0]!))
    await writeFile(join(folder(), names[1]!), 'tampered')

    const backfill_id = await act(id, 'repair', { start_at: hour(-3), end_at: hour(0) })
    await work()
    expect(await backfillOf(id, backfill_id)).toMatchObject({
      kind: 'repair',
      status: 'Completed',
      rows_to_deliver: 2,
    })
    expect(Object.keys(await files())).toEqual(names)
    expect(await Promise.all(names.map((name) => readFile(join(folder(), name))))).toEqual(texts)
    expect(await totals(id)).toMatchObject({ received: 2, exported: 2 })
  })

  it('leaves what is there when fewer rows come out of the store than it counted', async () => {
    const id = await create()
    await capture({ event: 'own' }, { event: 'other' })
    await pass()
    const before = await files()
    const { eventStore } = app.services
    app.services.eventStore = {
      ...eventStore,
      exportRows: (rows, { to, ...range }, ...rest) =>
        eventStore.exportRows(rows, { ...range, from: to, to }, ...rest),
    }
    await act(id, 'repair', { start_at: hour(-1), end_at: hour(0) })
    await work()
    const { body } = await app.get(`${base}/${id}/runs/`, { key })
    expect(body.results[0]).toMatchObject({
      status: 'Failed',
      latest_error: expect.stringMatching(/^account_open: The run counted 2 rows, and wrote 0\./),
    })
    expect(await files()).toEqual(before)
  })

  it('keeps the definition that the rows were delivered with', async () => {
    const id = await create()
    await capture({ event: 'own' })
    await pass()
    const before = await files()
    const config = { file_format: 'Parquet', exclude_events: ['own'], prefix: 'elsewhere' }
    await app.patch(`${base}/${id}/`, { destination: { config } }, { key })
    await rm(folder(), { recursive: true })
    await act(id, 'repair', { start_at: hour(-1), end_at: hour(0) })
    await work()
    expect(await files()).toEqual(before)
    expect(await readdir(join(folder(), '..'))).toEqual(['out'])
  })
})

describe('a retry under another definition', () => {
  it('of a backfill that took events of a later interval is what that interval is counted by', async () => {
    const id = await create()
    await capture({ event: 'late', at: hour(-3) }, { event: 'now' })
    await mkdir(join(folder(), '..'), { recursive: true })
    await writeFile(folder(), 'in the way')
    await act(id, 'backfill', { start_at: hour(-3), end_at: hour(-2) })
    await work()
    const [failed] = await runsOf(id)
    expect(failed).toMatchObject({ status: 'Failed' })
    await rm(folder())
    await pass()
    const interval = async () => {
      const { body } = await app.get(`${base}/${id}/reconciliation/`, { key })
      return body.results[0]
    }
    expect(await interval()).toMatchObject({ received: 2, exported: 1, pending: 1, filtered_out: 0 })

    await app.patch(`${base}/${id}/`, { destination: { config: { exclude_events: ['late'] } } }, { key })
    await app.post(`${base}/${id}/runs/${failed.id}/retry/`, {}, { key })
    await work()
    expect(await everything()).toEqual(['now'])
    const figures = { received: 2, exported: 1, pending: 0, filtered_out: 1 }
    expect(await totals(id)).toMatchObject(figures)
    expect(await interval()).toMatchObject(figures)
  })

  /** Sends an export elsewhere. Gives its oldest run, to be done again there. */
  async function move(id: string, prefix: string): Promise<() => Promise<{ status: string }>> {
    const change = { destination: { config: { prefix } } }
    expect((await app.patch(`${base}/${id}/`, change, { key })).status).toBe(200)
    const run = (await runsOf(id)).at(-1)
    return async () => {
      const path = `${base}/${id}/runs/${run.id}/retry/`
      expect((await app.post(path, {}, { key })).status).toBe(200)
      await work()
      return (await runsOf(id))[0]
    }
  }

  it('takes no name under which another export has delivered before it moved', async () => {
    const [one, other] = [await create({}, { prefix: 'first' }), await create({}, { prefix: 'third' })]
    await capture({ event: 'own' })
    await pass()
    const [delivered] = await runsOf(one)
    const before = await files('first')
    const retryOne = await move(one, 'second')
    const retryOther = await move(other, 'first')
    const refused = await retryOther()
    expect(refused).toMatchObject({ status: 'Failed' })
    expect(refused).toHaveProperty(
      'latest_error',
      expect.stringMatching(
        `^The file first/\\S+\\.jsonl holds what the export ${one} has delivered there, before it went elsewhere. Retry its run ${delivered.id}: `,
      ),
    )
    expect(await files('first')).toEqual(before)
    expect(await everything('third')).toEqual(['own'])

    expect(await retryOne()).toMatchObject({ status: 'Completed' })
    expect(await everything('first')).toEqual([])
    expect(await retryOther()).toMatchObject({ status: 'Completed' })
    for (const prefix of ['first', 'second']) expect(await everything(prefix)).toEqual(['own'])
    expect(await everything('third')).toEqual([])
  })

  it('takes the name of a file whose export was deleted', async () => {
    const [one, other] = [await create({}, { prefix: 'first' }), await create({}, { prefix: 'third' })]
    await capture({ event: 'own' })
    await pass()
    expect((await app.delete(`${base}/${one}/`, { key })).status).toBe(204)
    const retryOther = await move(other, 'first')
    expect(await retryOther()).toMatchObject({ status: 'Completed' })
    expect(await everything('first')).toEqual(['own'])
    expect(await everything('third')).toEqual([])
  })

  it('keeps a file that another export has written under the old name since', async () => {
    const withManifest = { max_file_size_mb: 1 }
    const one = await create({}, { prefix: 'first', ...withManifest })
    const other = await create({}, { prefix: 'third', ...withManifest })
    await capture({ event: 'own' })
    // The manifest comes last: the run fails when its file is there.
    const [start, end] = [hour(0), hour(1)].map((at) => at.replace('.000Z', '+00:00'))
    const manifest = join(folder('first'), `${start}-${end}_manifest.json`)
    await mkdir(manifest, { recursive: true })
    await pass()
    expect(await everything('first')).toEqual(['own'])
    expect(await runsOf(one)).toMatchObject([{ status: 'Failed' }])
    await rm(manifest, { recursive: true })
    const retryOne = await move(one, 'second')
    const retryOther = await move(other, 'first')
    expect(await retryOther()).toMatchObject({ status: 'Completed' })
    expect(await retryOne()).toMatchObject({ status: 'Completed' })
    for (const prefix of ['first', 'second']) expect(await everything(prefix)).toEqual(['own'])
    expect(await everything('third')).toEqual([])
    const { body } = await app.get(`${base}/${one}/logs/`, { key })
    const warnings = body.results.filter(({ level }: { level: string }) => level === 'WARNING')
    expect(warnings.map(({ message }: { message: string }) => message)).toEqual([
      expect.stringMatching(
        /^Not removed, because another export has files of the same name: first\/\S+\.jsonl, first\/\S+_manifest\.json\.$/,
      ),
    ])
  })

  it('removes the files that the run had written before, and keeps its rows', async () => {
    const id = await create({}, { max_file_size_mb: 1 })
    const large = Array.from({ length: 6_000 }, () =>
      makeEvent({ event: 'large', properties: { text: 'x'.repeat(300) } }, app.services.now()),
    )
    const write = { project_id: workspace.project.id, events: large, ...NO_COPIES }
    await app.services.eventStore.write([write], app.services.now())
    await capture({ event: 'small' })
    await pass()
    const parts = await readdir(folder())
    expect(parts).toHaveLength(3)
    const config = { max_file_size_mb: null, exclude_events: ['small'] }
    await app.patch(`${base}/${id}/`, { destination: { config } }, { key })

    const [run] = await runsOf(id)
    await app.post(`${base}/${id}/runs/${run.id}/retry/`, {}, { key })
    await work()
    const left = await readdir(folder())
    expect(left).toEqual([expect.stringMatching(/\+00:00\.jsonl$/)])
    expect((await everything()).filter((event) => event === 'large')).toHaveLength(6_000)
    expect(await everything()).toContain('small')
    expect(await totals(id)).toMatchObject({ received: 6_001, exported: 6_001, filtered_out: 0 })
  })
})
