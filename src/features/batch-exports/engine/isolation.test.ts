// Tenants whose destinations are dead, silent or locked, next to one that is well: real servers on loopback, a real lock in
// a real PostgreSQL. How long a destination has not answered is told by a clock that the test moves.
// @module-tag slow
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { startPostgresServer } from '../../../../test/stand-ins/postgres.ts'
import { sql } from '../../../platform/db/sql.ts'
import { HOUR_MS, setTenPastTheHour } from '../fixture/clock.ts'
import { ExportEngine } from './engine.ts'

const DAY_MS = 24 * HOUR_MS
const MINUTE_MS = 60_000

let app: TestApp
let engine: ExportEngine
let elapsed_ms: number
const closers: (() => Promise<unknown>)[] = []

async function start(env: Record<string, string> = {}): Promise<void> {
  app = await startTestApp({ OUTBOUND_ALLOW: '127.0.0.0/8', ALLOW_PLAINTEXT: 'on', ...env })
  elapsed_ms = 0
  engine = new ExportEngine(app.services, { elapsed_ms: () => elapsed_ms })
  setTenPastTheHour(app)
}
beforeEach(() => void closers.splice(0))
afterEach(async () => {
  // Whoever waits for an answer hears that the connection is gone.
  const closed = engine.close()
  for (const close of closers) await close()
  await closed
  await app.close()
})

/** Takes connections on all of loopback, and never says a word. */
async function startSilent() {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  }).listen(0, '0.0.0.0')
  await once(server, 'listening')
  closers.push(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, sockets }
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isSo()); tries++) {
    if (tries > 1_000) throw new Error('it does not come true')
    await sleep(20)
  }
}

const baseOf = ({ project }: Workspace) => `/api/projects/${project.id}/batch_exports/`

async function create(of: Workspace, destination: object, fields: object = {}): Promise<string> {
  const body = { name: 'n', interval: 'hour', destination, ...fields }
  const reply = await app.post(baseOf(of), body, { key: of.owner.key })
  expect(reply.body).toMatchObject({ id: expect.any(String) })
  return reply.body.id
}

/** An event in each of the last `hours`, by their own times. */
async function capture(of: Workspace, hours = 1): Promise<void> {
  const now = app.services.now().getTime()
  const batch = Array.from({ length: hours }, (_, index) => ({
    event: 'seen',
    distinct_id: 'd',
    timestamp: new Date(now - index * HOUR_MS).toISOString(),
  }))
  const reply = await app.post('/batch/', { api_key: of.project.api_token, batch })
  expect(reply.status).toBe(200)
}

/** The days before today, one each. */
async function backfill(of: Workspace, id: string, days: number): Promise<void> {
  const today = Math.floor(app.services.now().getTime() / DAY_MS) * DAY_MS
  for (let day = 1; day <= days; day++) {
    const [start_at, end_at] = [day, day - 1].map((back) => new Date(today - back * DAY_MS).toISOString())
    const reply = await app.post(`${baseOf(of)}${id}/backfill/`, { start_at, end_at }, { key: of.owner.key })
    expect(reply.body).toMatchObject({ backfill_id: expect.any(String) })
  }
}

type Run = { id: string; status: string; waiting_for: string | null; waiting_since: string | null }
const runsOf = async (of: Workspace, id: string): Promise<Run[]> =>
  (await app.get(`${baseOf(of)}${id}/runs/`, { key: of.owner.key })).body.results

async function held(project_id: number | null = null): Promise<number> {
  const { count } = await app.db.only<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM batch_export_run
    WHERE lease_owner IS NOT NULL AND (project_id = ${project_id} OR ${project_id}::int IS NULL)`)
  return count
}

/** Another tick, once those that began have got as far as their destination. */
async function tickAfterPatience(): Promise<void> {
  elapsed_ms += 500
  await engine.tick()
}

const httpTo = (host: string, port: number) => ({
  type: 'HTTP',
  config: { url: `http://${host}:${port}/`, token: 'a-token' },
})
const postgresAt = (port: number, fields: object = {}) => ({
  type: 'Postgres',
  config: { host: '127.0.0.1', port, user: 'u', password: 'p', database: 'd', table_name: 't', ...fields },
})

/** A server with a table that somebody has locked, and how many sessions wait for it. */
async function startLocked() {
  const server = await startPostgresServer()
  const proxy = await server.openProxy()
  closers.push(async () => {
    await proxy.close()
    await server.close()
  })
  await server.admin.query(
    `CREATE SCHEMA of_exports AUTHORIZATION exporter;
     CREATE TABLE of_exports.events (uuid text, event text, properties jsonb, timestamp timestamptz);
     ALTER TABLE of_exports.events OWNER TO exporter`,
  )
  const other = await server.admin.connect()
  await other.query(`BEGIN; LOCK TABLE of_exports.events`)
  let is_locked = true
  const release = async () => {
    if (is_locked) await other.query('ROLLBACK').then(() => other.release())
    is_locked = false
  }
  closers.unshift(release)
  const { user, password, database } = server.login
  return {
    destination: postgresAt(proxy.port, {
      user,
      password,
      database,
      schema: 'of_exports',
      table_name: 'events',
    }),
    release,
    rows: async () =>
      (await server.admin.query<{ count: number }>('SELECT count(*)::int AS count FROM of_exports.events'))
        .rows[0]!.count,
    waiting: async () =>
      (await server.admin.query('SELECT FROM pg_stat_activity WHERE wait_event_type = $1', ['Lock']))
        .rowCount!,
  }
}

describe('three projects with dead or locked destinations and twenty backfills', () => {
  it('do not keep a fourth from starting at once, every time', async () => {
    await start({ EXPORT_LOCK_TIMEOUT_S: '3600' })
    const [silent, locked] = [await startSilent(), await startLocked()]
    const dead: { of: Workspace; id: string }[] = []
    for (const destination of [
      locked.destination,
      httpTo('127.0.0.2', silent.port),
      postgresAt(silent.port),
    ]) {
      const of = await createOrganization(app)
      await capture(of, 8 * 24)
      dead.push({ of, id: await create(of, destination, { paused: true }) })
    }
    const well = await createOrganization(app)
    const ids = [1, 2, 3].map((index) => ({ type: 'File', config: { prefix: `out-${index}` } }))
    for (const destination of ids) await create(well, destination)
    for (const [index, { of, id }] of dead.entries()) await backfill(of, id, index === 2 ? 6 : 7)

    await engine.tick()
    const atDestination = async () => silent.sockets.size + (await locked.waiting())
    await until(async () => (await atDestination()) === 6)
    await tickAfterPatience()
    await until(async () => (await atDestination()) === 8)
    await tickAfterPatience()
    // They hold as much as may be at work, and no more: each has had its share.
    expect(await held()).toBe(8)
    for (const { of } of dead) expect(await held(of.project.id)).toBeGreaterThanOrEqual(2)

    for (let hour = 1; hour <= 3; hour++) {
      await capture(well)
      app.advance(HOUR_MS)
      await engine.beat()
      await tickAfterPatience()
      expect(await held(well.project.id)).toBeGreaterThanOrEqual(2)
      await until(async () => (await held(well.project.id)) === 0)
      await engine.tick()
      await until(async () => (await held(well.project.id)) === 0)
      const folder = join(app.services.settings.export_folder, String(well.project.id))
      const files = await Promise.all([1, 2, 3].map((index) => readdir(join(folder, `out-${index}`))))
      expect(files.map((names) => names.length)).toEqual([hour, hour, hour])
      expect(await held()).toBe(8)
    }
    for (const { of, id } of dead) {
      const stuck = (await runsOf(of, id)).filter(({ status }) => status === 'Running')
      expect(stuck).toHaveLength(await held(of.project.id))
      for (const { waiting_for } of stuck) expect(waiting_for).toBe('the destination to answer')
    }
  })
})

describe('many projects with dead destinations', () => {
  it('do not keep another from starting, and hold no more than they may', async () => {
    // Two at work, sixteen with those that wait, and a quarter of those for projects that have none.
    await start({ EXPORT_MAX_RUNS: '2' })
    const silent = await startSilent()
    const projects = 13
    for (let index = 0; index < projects; index++) {
      const of = await createOrganization(app)
      await capture(of)
      for (const name of ['a', 'b']) await create(of, httpTo(`127.0.1.${index + 1}`, silent.port), { name })
    }
    app.advance(HOUR_MS)
    let live = -1
    for (let before = -1; live > before || before === -1;) {
      before = live
      await tickAfterPatience()
      live = await held()
      expect(live - Math.max(before, 0)).toBeLessThanOrEqual(2)
      await until(() => silent.sockets.size === live)
    }
    // One for each, and no second one: what is left is for those that have none.
    expect(live).toBe(projects)

    const well = await createOrganization(app)
    const id = await create(well, { type: 'File', config: { prefix: 'out' } })
    await capture(well)
    app.advance(HOUR_MS)
    await engine.beat()
    await tickAfterPatience()
    await until(async () => (await runsOf(well, id))[0]?.status === 'Completed')
    expect(await held()).toBe(projects)
  })
})

describe('a run says what it waits for', () => {
  it('while its destination does not answer, and since when', async () => {
    await start()
    const silent = await startSilent()
    const of = await createOrganization(app)
    const id = await create(of, httpTo('127.0.0.2', silent.port))
    await capture(of)
    app.advance(HOUR_MS)
    const due_at = app.services.now().getTime()
    await engine.tick()
    await until(() => silent.sockets.size === 1)
    await engine.beat()
    expect(await runsOf(of, id)).toMatchObject([{ waiting_for: null, waiting_since: null }])
    elapsed_ms += 500
    await engine.beat()
    const [run] = await runsOf(of, id)
    expect(run!.waiting_for).toBe('the destination to answer')
    expect(Date.parse(run!.waiting_since!)).toBeGreaterThanOrEqual(due_at)
    const listed = (await app.get(baseOf(of), { key: of.owner.key })).body.results[0].latest_runs[0]
    expect(listed).toMatchObject({ id: run!.id, waiting_for: 'the destination to answer' })
  })

  it('after it made way for a lock, which costs no attempt, and then is done', async () => {
    await start({ EXPORT_LOCK_TIMEOUT_S: '1' })
    const { destination, release, rows } = await startLocked()
    const of = await createOrganization(app)
    const id = await create(of, destination)
    await capture(of)
    app.advance(HOUR_MS)
    for (let attempt = 0; attempt < 2; attempt++) {
      await engine.tick()
      await engine.idle()
      app.advance(2 * MINUTE_MS)
    }
    app.advance(-2 * MINUTE_MS)
    const [run] = await runsOf(of, id)
    const lock = 'a lock on table "of_exports"."events", held by process'
    expect(run!.waiting_for).toContain(lock)
    expect(run!.waiting_for).toContain('; the next attempt is at ')
    expect(run).toMatchObject({
      status: 'Running',
      latest_error: expect.stringContaining(`The run waits for ${lock}`),
    })
    expect(Date.parse(run!.waiting_since!)).toBeLessThanOrEqual(app.services.now().getTime())
    const [stored] = await app.db.rows(sql`SELECT attempt, failures FROM batch_export_run`)
    expect(stored).toEqual({ attempt: 2, failures: 0 })
    expect(await app.db.rows(sql`SELECT * FROM batch_export_breaker`)).toEqual([])
    expect(await held()).toBe(0)

    await release()
    expect(await rows()).toBe(0)
    app.advance(2 * MINUTE_MS)
    await engine.tick()
    await engine.idle()
    expect(await runsOf(of, id)).toMatchObject([
      { status: 'Completed', waiting_for: null, waiting_since: null },
    ])
    expect(await rows()).toBe(1)
  })
})

describe('a destination that never answers', () => {
  it('ends the attempt after a quarter of an hour, and the run is tried again', async () => {
    await start()
    const silent = await startSilent()
    const of = await createOrganization(app)
    // It reaches the destination in `write`, which may take a little longer for its bytes.
    const id = await create(of, httpTo('127.0.0.2', silent.port))
    await capture(of)
    app.advance(HOUR_MS)
    await engine.tick()
    await until(() => silent.sockets.size === 1)
    elapsed_ms += 14 * MINUTE_MS
    await engine.beat()
    expect(await held()).toBe(1)
    elapsed_ms += 2 * MINUTE_MS
    await engine.beat()
    await engine.idle()
    expect(await runsOf(of, id)).toMatchObject([
      {
        status: 'Running',
        latest_error: 'The destination did not answer for 16 minutes; the run will be tried again.',
        waiting_for: expect.stringContaining('the next attempt at '),
      },
    ])
    const [stored] = await app.db.rows(sql`SELECT attempt, failures FROM batch_export_run`)
    expect(stored).toEqual({ attempt: 1, failures: 1 })
  })
})
