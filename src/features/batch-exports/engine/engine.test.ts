// Exports as their owner meets them: made through the API, fed by capture, run by the clockwork, found in a folder.
// @module-tag slow
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { constants, deflateRawSync, gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { TEST_ENGINE } from '../../../../test/harness/clickhouse.ts'
import { sql } from '../../../platform/db/sql.ts'
import { HOUR_MS, setTenPastTheHour } from '../fixture/clock.ts'
import { addRun } from '../runs/fixture/rows.ts'
import { claimRun, makeSlots } from '../runs/claim.ts'

const MINUTE_MS = 60_000

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

/** Where the event store writes what exports send. */
const stagingFolder = () =>
  join(app.services.settings.export_folder, TEST_ENGINE === 'clickhouse' ? '../staging' : '../events/staging')

const file = (config: object = {}) => ({ type: 'File', config: { prefix: 'out', ...config } })

async function create(fields: object = {}): Promise<string> {
  const body = { name: 'Nightly', interval: 'hour', destination: file(), ...fields }
  const reply = await app.post(`${base}/`, body, { key })
  expect(reply.body).toMatchObject({ id: expect.any(String) })
  return reply.body.id
}

async function capture(count: number, event = 'seen', timestamp?: string): Promise<string[]> {
  const batch = Array.from({ length: count }, (_, index) => ({
    event,
    distinct_id: `user-${index}`,
    uuid: crypto.randomUUID(),
    ...(timestamp ? { timestamp } : {}),
    properties: { index, text: 'it\'s "quoted" \\ 💥' },
  }))
  const reply = await app.post('/batch/', { api_key: workspace.project.api_token, batch })
  expect(reply.status).toBe(200)
  return batch.map(({ uuid }) => uuid)
}

/** The next hour comes, and everything that is due then is done. */
async function pass(ms = HOUR_MS): Promise<void> {
  app.advance(ms)
  await work()
}

async function work(): Promise<void> {
  for (let made = true; made;) {
    await app.exports.tick()
    made = await isBusy()
    await app.exports.idle()
  }
}

async function isBusy(): Promise<boolean> {
  const { live } = await app.db.only<{ live: number }>(sql`
    SELECT count(*)::int AS live FROM batch_export_run
    WHERE finished_at IS NULL AND run_after <= ${app.services.now()}`)
  return live > 0
}

const runsOf = async (id: string) => (await app.get(`${base}/${id}/runs/`, { key })).body.results
const logsOf = async (id: string) =>
  (await app.get(`${base}/${id}/logs/`, { key })).body.results.map(
    (line: { level: string; message: string }) => `${line.level} ${line.message}`,
  )

async function exported(): Promise<Record<string, unknown>[]> {
  const folder = join(app.services.settings.export_folder, String(workspace.project.id), 'out')
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.includes('.jsonl'))
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  return texts.flatMap((text) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  )
}

const uuidsOf = (rows: readonly Record<string, unknown>[]) => rows.map(({ uuid }) => String(uuid)).toSorted()

/** Answers with these statuses in turn, and keeps what it has accepted. */
async function startEndpoint(statuses: readonly number[]) {
  const taken: { event: string }[] = []
  let calls = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const status = statuses[calls++] ?? 500
      if (status === 200) taken.push(...JSON.parse(Buffer.concat(chunks).toString()).batch)
      response.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = () => new Promise((resolve) => server.close(resolve))
  return { url: `http://127.0.0.1:${port}/batch/`, taken, close }
}

describe('a scheduled export', () => {
  it('carries what arrived in each interval, once, and says so', async () => {
    const id = await create()
    const first = await capture(3)
    await pass(2 * HOUR_MS)
    const late = await capture(2, 'late', '2019-01-01T00:00:00Z')
    await pass()
    expect(uuidsOf(await exported())).toEqual([...first, ...late].toSorted())
    const runs = await runsOf(id)
    expect(
      runs.map((run: { status: string; records_completed: number }) => [run.status, run.records_completed]),
    ).toEqual([
      ['Completed', 2],
      ['Completed', 0],
      ['Completed', 3],
    ])
    expect(runs[2]).toMatchObject({
      records_total_count: 3,
      latest_error: null,
      files: [{ rows: 3, bytes: expect.any(Number), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
    })
    expect(await logsOf(id)).toContain(
      'INFO Nothing to export in this interval; the destination was not contacted.',
    )
  })

  it('makes up for intervals that passed while nobody looked, oldest first', async () => {
    const id = await create()
    const uuids = await capture(2)
    app.advance(5 * HOUR_MS)
    uuids.push(...(await capture(2)))
    await pass()
    const runs = await runsOf(id)
    const ends = runs.map((run: { data_interval_end: string }) => Date.parse(run.data_interval_end))
    expect(ends).toHaveLength(6)
    expect(ends).toEqual(ends.toSorted((a: number, b: number) => b - a))
    expect(uuidsOf(await exported())).toEqual(uuids.toSorted())
  })

  it('hands on what the filters let through, and counts the rest', async () => {
    const id = await create({ destination: file({ include_events: ['paid'] }) })
    await capture(3, 'seen')
    const paid = await capture(2, 'paid')
    await pass(2 * HOUR_MS)
    expect(uuidsOf(await exported())).toEqual(paid.toSorted())
    const { body } = await app.get(`${base}/${id}/reconciliation/`, { key })
    expect(JSON.stringify(body)).toContain('"filtered_out":3')
  })

  it('keeps what it began with: a change between two attempts does not reach the run', async () => {
    const endpoint = await startEndpoint([503, 200])
    const id = await create({
      destination: { type: 'HTTP', config: { url: endpoint.url, token: 'a-token' } },
    })
    await capture(2, 'seen')
    await capture(1, 'paid')
    app.advance(2 * HOUR_MS)
    await app.exports.tick()
    await app.exports.idle()
    const change = { destination: { config: { include_events: ['paid'] } } }
    expect((await app.patch(`${base}/${id}/`, change, { key })).status).toBe(200)
    app.advance(5_000)
    await work()
    expect(endpoint.taken.map((event) => event.event).toSorted()).toEqual(['paid', 'seen', 'seen'])
    await endpoint.close()
  })

  it('keeps having no rows when it is retried under wider filters: what is posted cannot be taken back', async () => {
    const endpoint = await startEndpoint([200])
    const config = { url: endpoint.url, token: 'a-token', include_events: ['paid'] }
    const id = await create({ destination: { type: 'HTTP', config } })
    await capture(2, 'seen')
    await pass()
    const [run] = await runsOf(id)
    expect(run).toMatchObject({ status: 'Completed', records_completed: 0 })
    const change = { destination: { config: { include_events: [] } } }
    expect((await app.patch(`${base}/${id}/`, change, { key })).status).toBe(200)
    expect((await app.post(`${base}/${id}/runs/${run.id}/retry/`, {}, { key })).status).toBe(200)
    await work()
    expect(endpoint.taken).toEqual([])
    expect((await runsOf(id))[0]).toMatchObject({ status: 'Completed', records_completed: 0 })
    const { body } = await app.get(`${base}/${id}/reconciliation/`, { key })
    expect(body.totals).toMatchObject({ received: 2, exported: 0, filtered_out: 2 })
    await endpoint.close()
  })

  it('keeps the level of compression it began with: a repeated attempt writes the same bytes', async () => {
    const id = await create({ destination: file({ compression: 'gzip', compression_level: 9 }) })
    await capture(200)
    const staging = stagingFolder()
    await rename(staging, `${staging}-away`)
    await pass()
    const change = { destination: { config: { compression_level: 1 } } }
    expect((await app.patch(`${base}/${id}/`, change, { key })).status).toBe(200)
    await rename(`${staging}-away`, staging)
    await pass(5_000)
    const [{ files }] = await runsOf(id)
    const folder = join(app.services.settings.export_folder, String(workspace.project.id))
    const content = await readFile(join(folder, files[0].name))
    const deflated = (level: number) =>
      deflateRawSync(gunzipSync(content), { level, finishFlush: constants.Z_SYNC_FLUSH })
    expect(content.includes(deflated(9))).toBe(true)
    expect(content.includes(deflated(1))).toBe(false)
  })
})

describe('a run that fails', () => {
  it('ends at once when the user must act, with a reason and without the secret', async () => {
    app.canary.plant('token', 'secret-token-1')
    const endpoint = await startEndpoint([400])
    const destination = { type: 'HTTP', config: { url: endpoint.url, token: 'secret-token-1' } }
    const id = await create({ destination })
    await capture(1)
    await pass()
    expect(await runsOf(id)).toMatchObject([
      {
        status: 'Failed',
        records_completed: null,
        records_total_count: 1,
        latest_error: 'The endpoint answered with status 400. Its log says why.',
      },
    ])
    expect((await logsOf(id))[0]).toBe(
      'ERROR Failed: The endpoint answered with status 400. Its log says why.',
    )
    await endpoint.close()
  })

  it('is tried again when it may pass, and then completes', async () => {
    const endpoint = await startEndpoint([503, 200])
    const destination = { type: 'HTTP', config: { url: endpoint.url, token: 'secret-token-1' } }
    const id = await create({ destination })
    await capture(1)
    await pass()
    expect(await runsOf(id)).toMatchObject([{ status: 'Running', finished_at: null }])
    await pass(5_000)
    expect(await runsOf(id)).toMatchObject([
      { status: 'Completed', records_completed: 1, latest_error: null },
    ])
    await endpoint.close()
  })

  it.each([
    [0, 'ends at once', { status: 'Failed', finished_at: expect.any(String) }],
    [1, 'is tried again', { status: 'Running', finished_at: null }],
  ])(
    'because nobody answers, after an export has delivered %i rows, %s',
    async (records_completed, _, expected) => {
      const config = { host: '127.0.0.1', port: 1, user: 'u', password: 'p-secret', database: 'd' }
      const id = await create({ destination: { type: 'Postgres', config } })
      const owner = { id, project_id: workspace.project.id }
      await addRun(app.db, owner, app.services.now(), { status: 'Completed', records_completed })
      await capture(1)
      await pass()
      const latest_error = expect.stringContaining('The database server cannot be reached')
      expect((await runsOf(id))[0]).toMatchObject({ ...expected, latest_error, records_completed: null })
    },
  )

  it('for want of a disk of ours is tried again, and says what is missing', async () => {
    const id = await create()
    await capture(1)
    const staging = stagingFolder()
    await rename(staging, `${staging}-away`)
    await pass()
    expect(await runsOf(id)).toMatchObject([
      { status: 'Running', latest_error: expect.stringContaining('could not write the export to its disk') },
    ])
    expect(await exported()).toEqual([])
    await rename(`${staging}-away`, staging)
    await pass(5_000)
    expect(await runsOf(id)).toMatchObject([{ status: 'Completed', records_completed: 1 }])
    expect(await exported()).toHaveLength(1)
  })

  it('ends when its worker was lost each time, and says what to do', async () => {
    const id = await create()
    await capture(1)
    const now = app.services.now()
    await addRun(app.db, { id, project_id: workspace.project.id }, now, { status: 'Starting', failures: 14 })
    await makeSlots(app.db)
    expect(await claimRun(app.db, crypto.randomUUID(), now)).toMatchObject({ failures: 14 })
    app.advance(MINUTE_MS)
    await work()
    expect(await runsOf(id)).toMatchObject([
      {
        status: 'FailedRetryable',
        latest_error: expect.stringMatching(/^The worker process was lost .* 15 /),
      },
    ])
    expect(await exported()).toEqual([])
  })

  it('pauses its export when it is the tenth, and no more runs begin', async () => {
    const endpoint = await startEndpoint(Array.from({ length: 20 }, () => 400))
    const destination = { type: 'HTTP', config: { url: endpoint.url, token: 'secret-token-1' } }
    const id = await create({ destination })
    for (let hour = 0; hour < 12; hour++) {
      await capture(1)
      await pass()
    }
    const failed = (await runsOf(id)).filter((run: { status: string }) => run.status === 'Failed')
    expect(failed).toHaveLength(10)
    expect((await app.get(`${base}/${id}/`, { key })).body).toMatchObject({ paused: true })
    expect(await logsOf(id)).toContain('WARNING Paused: 10 of the last 50 runs have failed.')
    await endpoint.close()
  })
})

/** Another worker takes a run over while this one makes its files visible. */
async function takeOverAtTheEnd(): Promise<void> {
  await app.db.run(sql`
    CREATE FUNCTION take_over() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN NEW.lease_owner := gen_random_uuid(); RETURN NEW; END $$`)
  await app.db.run(sql`
    CREATE TRIGGER take_over BEFORE UPDATE ON batch_export_run FOR EACH ROW
    WHEN (NEW.is_committing AND NOT OLD.is_committing) EXECUTE FUNCTION take_over()`)
}

describe('files that an earlier attempt at the run has left', () => {
  it.each([0, 2])('go when the attempt that gets through does not write them, with %i rows', async (rows) => {
    const id = await create()
    if (rows > 0) await capture(rows)
    const run = await addRun(app.db, { id, project_id: workspace.project.id }, app.services.now(), {
      status: 'Running',
      attempt: 1,
    })
    await app.db.run(sql`
      UPDATE batch_export_run SET published = '["out/old.jsonl", "out/old-3.jsonl"]' WHERE id = ${run.id}`)
    const folder = join(app.services.settings.export_folder, String(workspace.project.id), 'out')
    await mkdir(folder, { recursive: true })
    for (const name of ['old.jsonl', 'old-3.jsonl', 'of-somebody.jsonl']) {
      await writeFile(join(folder, name), '{}\n')
    }
    await work()
    const [{ status, files }] = await runsOf(id)
    expect(status).toBe('Completed')
    const names: string[] = files.map(({ name }: { name: string }) => name)
    expect(names).toHaveLength(rows === 0 ? 0 : 1)
    expect((await readdir(folder)).map((name) => `out/${name}`).toSorted()).toEqual(
      [...names, 'out/of-somebody.jsonl'].toSorted(),
    )
    expect(await app.db.only(sql`SELECT published FROM batch_export_run WHERE id = ${run.id}`)).toEqual({
      published: names,
    })
  })

  it('stay written down until they are gone', async () => {
    const id = await create()
    await capture(1)
    const run = await addRun(app.db, { id, project_id: workspace.project.id }, app.services.now(), {
      status: 'Running',
      attempt: 1,
    })
    await app.db.run(sql`UPDATE batch_export_run SET published = '["out/old.jsonl"]' WHERE id = ${run.id}`)
    await takeOverAtTheEnd()
    await app.exports.tick()
    await app.exports.idle()
    const { published } = await app.db.only<{ published: string[] }>(
      sql`SELECT published FROM batch_export_run WHERE id = ${run.id}`,
    )
    expect(published).toHaveLength(2)
    expect(published).toContain('out/old.jsonl')
    expect((await runsOf(id))[0].status).not.toBe('Completed')
  })
})

describe('a worker that loses its run before the end', () => {
  it('removes no file of the run before: that is left to whoever has the run now', async () => {
    const id = await create()
    await capture(2)
    await pass()
    const [first] = await runsOf(id)
    const change = { destination: { config: { compression: 'gzip' } } }
    expect((await app.patch(`${base}/${id}/`, change, { key })).status).toBe(200)
    await takeOverAtTheEnd()
    expect((await app.post(`${base}/${id}/runs/${first.id}/retry/`, {}, { key })).status).toBe(200)
    await app.exports.tick()
    await app.exports.idle()
    const names = async () => {
      const folder = join(app.services.settings.export_folder, String(workspace.project.id), 'out')
      return (await readdir(folder)).map((name) => name.replace(/^.*\.jsonl/, '.jsonl')).toSorted()
    }
    expect(await names()).toEqual(['.jsonl', '.jsonl.gz'])
    expect((await runsOf(id))[0]).toMatchObject({ status: 'Running', finished_at: null })
    await app.db.run(sql`DROP TRIGGER take_over ON batch_export_run`)
    await pass(MINUTE_MS)
    expect((await runsOf(id))[0]).toMatchObject({ status: 'Completed', records_completed: 2 })
    expect(await names()).toEqual(['.jsonl.gz'])
  })
})

describe('a backfill', () => {
  it('takes events by their own time, also of a paused export, and leaves it paused', async () => {
    const id = await create({ paused: true })
    const old = await capture(4, 'old', '2024-03-01T10:30:00Z')
    await capture(1, 'older', '2024-02-01T10:30:00Z')
    const body = { start_at: '2024-03-01T00:00:00Z', end_at: '2024-03-02T00:00:00Z' }
    const reply = await app.post(`${base}/${id}/backfill/`, body, { key })
    expect(reply.body).toMatchObject({ id, paused: true, backfill_id: expect.any(String) })
    await work()
    expect(uuidsOf(await exported())).toEqual(old.toSorted())
    const backfill = await app.get(`${base}/${id}/backfills/${reply.body.backfill_id}/`, { key })
    expect(backfill.body).toMatchObject({ status: 'Completed', total_records_count: 4 })
  })
})

describe('cancelling', () => {
  it('a waiting run ends at once and nothing of it goes out', async () => {
    const id = await create({ destination: { type: 'NoOp', config: {} } })
    await capture(1)
    app.advance(2 * HOUR_MS)
    await app.db.run(sql`UPDATE batch_export SET next_due_at = ${app.services.now()} WHERE id = ${id}`)
    const run_id = crypto.randomUUID()
    const now = app.services.now()
    await app.db.run(sql`
      INSERT INTO batch_export_run (id, project_id, batch_export_id, status, data_interval_start, data_interval_end,
        selection, run_after, created_at, last_updated_at)
      VALUES (${run_id}, ${workspace.project.id}, ${id}, 'Starting', ${new Date(now.getTime() - HOUR_MS)}, ${now},
        'arrival', ${now}, ${now}, ${now})`)
    const reply = await app.post(`${base}/${id}/runs/${run_id}/cancel/`, {}, { key })
    expect(reply.body).toEqual({ cancelled: true })
    await work()
    const run = await app.get(`${base}/${id}/runs/${run_id}/`, { key })
    expect(run.body).toMatchObject({ status: 'Cancelled', records_completed: null })
    expect((await app.post(`${base}/${id}/runs/${run_id}/cancel/`, {}, { key })).status).toBe(400)
  })
})
