// The daily sweep, from the attempt that dies to the line in the export's log: what dead runs left goes, what others use
// stays.
// @module-tag slow
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { noSuchUpload } from '../../../../test/stand-ins/s3/faults.ts'
import { startS3Server, type S3Server } from '../../../../test/stand-ins/s3/server.ts'
import { sql } from '../../../platform/db/sql.ts'
import type { Definition } from '../definition.ts'
import { HOUR_MS, setTenPastTheHour } from '../fixture/clock.ts'
import type { RunRow } from '../rows.ts'
import { addBackfill, addRun } from '../runs/fixture/rows.ts'
import { sweepExports } from './sweep.ts'

const DAY_MS = 24 * HOUR_MS
const BUCKET = 'exports'

let app: TestApp
let workspace: Workspace
let server: S3Server
let key: string
let base: string
beforeEach(async () => {
  server = await startS3Server([BUCKET, 'another'])
  app = await startTestApp({ OUTBOUND_ALLOW: '127.0.0.0/8' })
  app.canary.plant('secret access key', server.secret_access_key)
  workspace = await createOrganization(app)
  key = workspace.owner.key
  base = `/api/projects/${workspace.project.id}/batch_exports`
  setTenPastTheHour(app)
})
afterEach(async () => {
  await app.close()
  await server.close()
})

const s3 = (prefix: string) => ({
  type: 'S3',
  config: {
    bucket_name: BUCKET,
    region: server.region,
    prefix,
    aws_access_key_id: server.access_key_id,
    aws_secret_access_key: server.secret_access_key,
    endpoint_url: server.url,
  },
})

async function create(destination: object): Promise<string> {
  const reply = await app.post(`${base}/`, { name: 'Hourly', interval: 'hour', destination }, { key })
  expect(reply.status).toBe(201)
  return reply.body.id
}

const uploads = () => server.buckets.get(BUCKET)!.uploads
/** By the folder that stands for their export. */
const openIn = () => [...uploads().values()].map(({ key: name }) => name.split('/')[0]!).toSorted()
const runOf = async (id: string) => (await app.get(`${base}/${id}/runs/`, { key })).body.results.at(-1)
const linesOf = async (id: string) =>
  (await app.get(`${base}/${id}/logs/`, { key })).body.results.map(
    (line: { level: string; message: string }) => `${line.level} ${line.message}`,
  )
const noted = async () =>
  (await app.db.only<{ count: number }>(sql`SELECT count(*)::int AS count FROM batch_export_upload`)).count

async function tick(): Promise<void> {
  await app.exports.tick()
  await app.exports.idle()
}

/** One attempt for each export, none of which can finish its upload or end it, as if the worker had been killed. */
async function dieUploading(count: number): Promise<void> {
  const event = { event: 'seen', distinct_id: 'ada' }
  await app.post('/batch/', { api_key: workspace.project.api_token, batch: [event] })
  server.denied.add('AbortMultipartUpload')
  server.failNext('CompleteMultipartUpload', ...Array.from({ length: count }, noSuchUpload))
  app.advance(HOUR_MS)
  await tick()
  server.denied.clear()
  expect(uploads().size).toBe(count)
}

async function cancelRun(id: string): Promise<void> {
  const run = await runOf(id)
  expect(await app.post(`${base}/${id}/runs/${run.id}/cancel/`, {}, { key })).toMatchObject({ status: 200 })
}

const sweep = () => sweepExports.handle(app.services, {}, app.services.now())
const totals = () =>
  app.logs
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === 'exports swept')
    .map(({ exports, removed, failed }) => ({ exports, removed, failed }))

describe('an upload that a dead attempt left open', () => {
  it('is ended once its run is cancelled; those of a waiting run and of a stranger stay', async () => {
    const [dead, live] = [await create(s3('dead')), await create(s3('live'))]
    await dieUploading(2)
    const ours = [...uploads().values()].find(({ key: name }) => name.startsWith('dead/'))!
    uploads().set('foreign', { ...ours, id: 'foreign' })
    await cancelRun(dead)
    app.advance(2 * HOUR_MS)
    await sweep()
    expect(openIn()).toEqual(['dead', 'live'])
    expect(uploads().has('foreign')).toBe(true)
    expect((await linesOf(dead))[0]).toBe(
      `INFO Removed 1 unfinished upload that earlier runs left: ${ours.key}.`,
    )
    expect((await linesOf(live)).join()).not.toContain('Removed')
    expect(totals()).toEqual([{ exports: 1, removed: 1, failed: 0 }])
    await tick()
    expect(await runOf(live)).toMatchObject({ status: 'Completed', records_completed: 1 })
    expect([...uploads().keys()]).toEqual(['foreign'])
  })

  it('is left to the worker for an hour, and looked for once', async () => {
    const id = await create(s3('out'))
    await dieUploading(1)
    await cancelRun(id)
    await sweep()
    expect(openIn()).toEqual(['out'])
    app.advance(2 * HOUR_MS)
    await sweep()
    expect(openIn()).toEqual([])
    expect(await noted()).toBe(0)
    const calls = server.calls.length
    app.advance(DAY_MS)
    await sweep()
    expect(server.calls).toHaveLength(calls)
    expect(totals()).toEqual([
      { exports: 0, removed: 0, failed: 0 },
      { exports: 1, removed: 1, failed: 0 },
      { exports: 0, removed: 0, failed: 0 },
    ])
  })

  it('goes with the export when that is deleted', async () => {
    const id = await create(s3('out'))
    await dieUploading(1)
    expect((await app.delete(`${base}/${id}/`, { key })).status).toBe(204)
    app.advance(2 * HOUR_MS)
    await sweep()
    expect(openIn()).toEqual([])
  })

  it('waits for the next day where S3 says no, and other exports do not wait with it', async () => {
    const [refused, other] = [await create(s3('refused')), await create(file('other'))]
    await dieUploading(1)
    await cancelRun(refused)
    const partial = await leavePartial(other, 'other')
    app.advance(2 * HOUR_MS)
    server.denied.add('AbortMultipartUpload')
    await sweep()
    expect(openIn()).toEqual(['refused'])
    expect(await partial.isThere()).toBe(false)
    expect((await linesOf(refused))[0]).toMatch(
      /^WARNING What earlier runs left could not be removed.*denied/,
    )
    expect(totals()).toEqual([{ exports: 2, removed: 1, failed: 1 }])
    server.denied.clear()
    app.advance(DAY_MS)
    await sweep()
    expect(openIn()).toEqual([])
    expect(totals().at(-1)).toEqual({ exports: 1, removed: 1, failed: 0 })
  })

  it('stays, with a warning, where the export no longer goes: its credentials are for another place', async () => {
    const id = await create(s3('out'))
    await dieUploading(1)
    await cancelRun(id)
    const elsewhere = { ...s3('out').config, bucket_name: 'another' }
    const moved = await app.patch(
      `${base}/${id}/`,
      { destination: { type: 'S3', config: elsewhere } },
      { key },
    )
    expect(moved.status).toBe(200)
    const calls = server.calls.length
    app.advance(2 * HOUR_MS)
    await sweep()
    expect(openIn()).toEqual(['out'])
    expect(server.calls).toHaveLength(calls)
    expect((await linesOf(id))[0]).toMatch(
      /^WARNING Earlier runs may have left .* at s3:\/\/exports\/out\. .* remove it by hand/,
    )
  })

  it('of an attempt before the one that got through is gone with that, and nothing is kept of it', async () => {
    const id = await create(s3('out'))
    await dieUploading(1)
    app.advance(HOUR_MS / 2)
    // It may not look for what the first attempt left, and need not: the id is written down.
    server.denied.add('ListMultipartUploads')
    await tick()
    server.denied.clear()
    expect(await runOf(id)).toMatchObject({ status: 'Completed' })
    expect(openIn()).toEqual([])
    app.advance(2 * HOUR_MS)
    await sweep()
    expect(await noted()).toBe(0)
    expect(server.buckets.get(BUCKET)!.objects.size).toBe(1)
  })
})

it('uploads of runs that were completed at once are forgotten without a call', async () => {
  const id = await create(s3('out'))
  await dieUploading(0)
  expect(await runOf(id)).toMatchObject({ status: 'Completed', records_completed: 1 })
  expect(await noted()).toBe(1)
  const calls = server.calls.length
  app.advance(2 * HOUR_MS)
  await sweep()
  expect(await noted()).toBe(0)
  expect(server.calls).toHaveLength(calls)
})

const file = (prefix: string) => ({ type: 'File', config: { prefix } })

/** As a killed attempt at a run leaves it. The run has failed, unless told. */
async function leavePartial(id: string, prefix: string, fields: Partial<RunRow> = {}) {
  const { config } = await app.db.only<{ config: Definition['config'] }>(
    sql`SELECT config FROM batch_export WHERE id = ${id}`,
  )
  const definition: Definition = {
    model: 'events',
    destination_type: 'File',
    config,
    hogql_query: null,
    filters: null,
    timezone: 'UTC',
  }
  const owner = { id, project_id: workspace.project.id }
  const frozen = { definition, seq_from: 0, seq_to: 1, attempt: 1, status: 'Failed', ...fields } as const
  const run = await addRun(app.db, owner, app.services.now(), frozen)
  const folder = join(app.services.settings.export_folder, String(workspace.project.id), prefix)
  const name = `.${run.id}.1.0.partial`
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, name), 'half')
  return { name, isThere: async () => (await readdir(folder)).includes(name) }
}

describe('a partial file', () => {
  /** Runs over the same interval belong to different backfills. */
  const backfill = async (id: string) =>
    (await addBackfill(app.db, { id, project_id: workspace.project.id }, app.services.now())).id

  it('goes when its run is over, of a paused export too, and stays while it is not', async () => {
    const [over, live] = [await create(file('over')), await create(file('live'))]
    await app.patch(`${base}/${over}/`, { paused: true }, { key })
    const gone = await leavePartial(over, 'over')
    const waiting = await leavePartial(live, 'live', { status: 'Running' })
    const lease = {
      lease_owner: crypto.randomUUID(),
      lease_until: new Date(app.services.now().getTime() + DAY_MS),
    }
    const held = await leavePartial(over, 'over', {
      status: 'Cancelled',
      backfill_id: await backfill(over),
      ...lease,
    })
    const working = await leavePartial(live, 'live', {
      status: 'Running',
      backfill_id: await backfill(live),
      ...lease,
    })
    app.advance(2 * HOUR_MS)
    await sweep()
    expect(await gone.isThere()).toBe(false)
    for (const used of [waiting, held, working]) expect(await used.isThere()).toBe(true)
    expect(await linesOf(over)).toEqual([
      `INFO Removed 1 partial file that earlier runs left: over/${gone.name}.`,
    ])
    expect(await linesOf(live)).toEqual([])
  })

  it('of a run that is being done again goes once that has ended, although others were swept meanwhile', async () => {
    const id = await create(file('again'))
    const passed_over = await leavePartial(id, 'again')
    const repeats = passed_over.name.split('.')[1]!
    const owner = { id, project_id: workspace.project.id }
    const again = await addRun(app.db, owner, app.services.now(), {
      status: 'Running',
      repeats,
      backfill_id: await backfill(id),
    })
    app.advance(1_000)
    const other = await leavePartial(id, 'again', { backfill_id: await backfill(id) })
    app.advance(2 * HOUR_MS)
    await sweep()
    expect(await other.isThere()).toBe(false)
    expect(await passed_over.isThere()).toBe(true)
    await app.db.run(sql`
      UPDATE batch_export_run SET status = 'Completed', finished_at = ${app.services.now()} WHERE id = ${again.id}`)
    app.advance(DAY_MS)
    await sweep()
    expect(await passed_over.isThere()).toBe(false)
    expect(totals().at(-1)).toEqual({ exports: 1, removed: 1, failed: 0 })
    app.advance(DAY_MS)
    await sweep()
    expect(totals().at(-1)).toEqual({ exports: 0, removed: 0, failed: 0 })
  })
})
