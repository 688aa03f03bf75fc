// What happens by the clock: tasks, jobs, edits that take effect, and a process that comes back.
// @module-tag slow
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { until } from '../../../../test/harness/until.ts'
import { startWebhookServer } from '../../../../test/stand-ins/webhook-server.ts'
import { sql } from '../../../platform/db/sql.ts'
import {
  capture,
  configState,
  logLines,
  replaceCode,
  storedEvents,
  switchOff,
  switchOn,
} from './fixture/apps.ts'
import { addJob, claimJobs, deleteJob, putOffJob } from './job-queries.ts'
import { enterProcess, takeLeases } from './lease-queries.ts'
import type { AppIds } from './running-app.ts'
import { PluginRuntime } from './runtime.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

let app: TestApp
let workspace: Workspace
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-apps-'))
  app = await startTestApp({ PLUGINS_LOCAL_DIR: folder, OUTBOUND_ALLOW: '127.0.0.1' })
})
afterAll(async () => {
  await app.close()
  await rm(folder, { recursive: true })
})
beforeEach(async () => {
  workspace = await createOrganization(app)
  // From noon on, so that no test depends on the time of day it runs at.
  const day = 24 * HOUR
  app.advance(day - ((app.services.now().getTime() + day / 2) % day))
  await app.plugins.tick()
})

const on = (code: string, fields?: Parameters<typeof switchOn>[3]) => switchOn(app, workspace, code, fields)

async function pass(ms: number): Promise<void> {
  app.advance(ms)
  await app.plugins.tick()
  await app.plugins.idle()
}

/** Counters in the app's storage. */
async function counts(ids: AppIds): Promise<Record<string, number>> {
  const rows = await app.db.rows<{ key: string; value: string }>(
    sql`SELECT key, value FROM plugin_storage WHERE plugin_config_id = ${ids.config_id}`,
  )
  return Object.fromEntries(rows.map(({ key, value }) => [key, Number(value)]))
}

describe('tasks', () => {
  const COUNTS = ['Minute', 'Hour', 'Day']
    .map(
      (name) =>
        `export async function runEvery${name}({ utils }) { await utils.cursor.increment('${name}', 1) }`,
    )
    .join('\n')

  it('run when the clock passes the minute, the hour and the day in UTC', async () => {
    const ids = await on(COUNTS)
    await pass(30 * SECOND)
    expect(await counts(ids)).toEqual({})
    await pass(31 * SECOND)
    expect(await counts(ids)).toEqual({ Minute: 1 })
    await pass(20 * SECOND)
    expect(await counts(ids)).toEqual({ Minute: 1 })
    await pass(HOUR)
    expect(await counts(ids)).toEqual({ Minute: 2, Hour: 1 })
    await pass(11 * HOUR)
    expect(await counts(ids)).toEqual({ Minute: 3, Hour: 2, Day: 1 })
    await app.plugins.metrics.flush()
    const metric = await app.db.row(sql`
      SELECT sum(successes)::int AS successes, sum(failures)::int AS failures FROM plugin_metric
      WHERE plugin_config_id = ${ids.config_id} AND category = 'scheduledTask'`)
    expect(metric).toEqual({ successes: 6, failures: 0 })
  })

  it('are skipped while the last run goes on, and stop with the config', async () => {
    const ids = await on(`export async function runEveryMinute({ utils, storage }) {
      await utils.cursor.increment('begun', 1)
      while (!(await storage.get('open', false))) {}
    }`)
    app.advance(MINUTE)
    await app.plugins.tick()
    await expect.poll(() => counts(ids)).toEqual({ begun: 1 })
    app.advance(MINUTE)
    await app.plugins.tick()
    await app.db.run(sql`
      INSERT INTO plugin_storage (project_id, plugin_config_id, key, value)
      VALUES (${ids.project_id}, ${ids.config_id}, 'open', 'true')`)
    await app.plugins.idle()
    expect((await counts(ids)).begun).toBe(1)
    await pass(MINUTE)
    expect((await counts(ids)).begun).toBe(2)
    await switchOff(app, ids)
    await pass(MINUTE)
    expect((await counts(ids)).begun).toBe(2)
  })

  it('that fail are logged and counted, and run again the next time', async () => {
    const ids = await on(`export async function runEveryMinute({ utils }) {
      await utils.cursor.increment('begun', 1)
      throw new Error('no luck')
    }`)
    await pass(MINUTE)
    await pass(MINUTE)
    expect(await counts(ids)).toEqual({ begun: 2 })
    expect(await logLines(app, ids)).toEqual(
      Array(2).fill(expect.stringMatching(/^ERROR runEveryMinute failed: Error: no luck/)),
    )
    await app.plugins.metrics.flush()
    const faults = await app.db.rows(sql`
      SELECT category, error_type FROM plugin_metric_error WHERE plugin_config_id = ${ids.config_id}`)
    expect(faults).toHaveLength(2)
    expect(faults[0]).toMatchObject({ category: 'scheduledTask' })
    expect(await configState(app, ids)).toEqual({ enabled: true, error: null })
  })
})

describe('jobs', () => {
  const jobs = (body: string) => `
    export const jobs = { work: async (payload, { utils, storage, jobs }) => { ${body} } }
    export async function onEvent(event, { jobs }) {
      const job = jobs.work(event.properties)
      await (event.properties.at ? job.runAt(new Date(event.properties.at)) : job.runNow())
    }`
  const COUNTS = jobs(`await utils.cursor.increment('runs', 1); await storage.set('n', payload.n)`)

  const order = (ids: AppIds, properties: object) =>
    app.plugins.call(app.plugins.current(ids.config_id)!, {
      method: 'onEvent',
      event: { event: 'ordered', properties },
    })
  const waiting = async (ids: AppIds) =>
    (
      await app.db.rows<{ attempt: number }>(
        sql`SELECT attempt FROM plugin_job WHERE plugin_config_id = ${ids.config_id}`,
      )
    ).map(({ attempt }) => attempt)

  it('run once when they are due, with what they were given', async () => {
    const ids = await on(COUNTS)
    await order(ids, { n: 7, at: new Date(app.services.now().getTime() + 10 * MINUTE).toISOString() })
    await pass(9 * MINUTE)
    expect(await counts(ids)).toEqual({})
    expect(await waiting(ids)).toEqual([0])
    await pass(2 * MINUTE)
    await pass(10 * MINUTE)
    expect(await counts(ids)).toEqual({ runs: 1, n: 7 })
    expect(await waiting(ids)).toEqual([])
  })

  it('of a process that died are run again within half a minute', async () => {
    const ids = await on(COUNTS)
    await order(ids, { n: 1 })
    const now = app.services.now()
    const dead = randomUUID()
    await enterProcess(app.db, dead, new Date(now.getTime() + 26 * SECOND))
    await takeLeases(app.db, dead, [ids.project_id], 1)
    const [begun] = await claimJobs(
      app.db,
      dead,
      [{ config_id: ids.config_id, free: 5 }],
      [],
      now,
      new Date(now.getTime() + HOUR),
    )
    expect(begun).toBeDefined()
    const next = new PluginRuntime(app.services, { accept: async () => {}, store: async () => {} })
    await next.refresh()
    await next.tick()
    await next.idle()
    expect(await counts(ids)).toEqual({})
    app.advance(27 * SECOND)
    await next.leases.keep()
    // Whoever was only asleep neither ends it nor puts it off.
    await deleteJob(app.db, begun!)
    await putOffJob(app.db, begun!, 0, new Date(now.getTime() + HOUR))
    await next.tick()
    await next.idle()
    expect(await counts(ids)).toEqual({ runs: 1, n: 1 })
    expect(await waiting(ids)).toEqual([])
    await next.close()
  })

  it('that take longer than their lease are not begun a second time', async () => {
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    const endpoint = await startWebhookServer(async () => {
      await released
      return { status: 200 }
    })
    const ids = await on(jobs(`await fetch('${endpoint.url}'); await utils.cursor.increment('runs', 1)`))
    await order(ids, {})
    await app.plugins.tick()
    await until(() => expect(endpoint.requests).toHaveLength(1))
    app.advance(3 * MINUTE)
    await app.plugins.tick()
    expect(await waiting(ids)).toEqual([1])
    release()
    await app.plugins.idle()
    await pass(HOUR)
    expect(await counts(ids)).toEqual({ runs: 1 })
    expect(await waiting(ids)).toEqual([])
    expect(endpoint.requests).toHaveLength(1)
    await endpoint.close()
  })

  it('that ask for it are run five times in all, after 5, 10, 20 and 40 seconds', async () => {
    const ids = await on(jobs(`await utils.cursor.increment('runs', 1); throw new RetryError('later')`))
    await order(ids, {})
    await pass(0)
    let runs = 1
    for (const pause of [5, 10, 20, 40]) {
      expect(await counts(ids)).toEqual({ runs })
      await pass((pause - 2) * SECOND)
      expect(await counts(ids)).toEqual({ runs })
      await pass(3 * SECOND)
      expect(await counts(ids)).toEqual({ runs: ++runs })
    }
    expect(await waiting(ids)).toEqual([])
    await pass(HOUR)
    expect(await counts(ids)).toEqual({ runs: 5 })
  })

  it('that throw are gone', async () => {
    const ids = await on(jobs(`await utils.cursor.increment('runs', 1); throw new Error('never')`))
    await order(ids, {})
    await pass(0)
    await pass(HOUR)
    expect(await counts(ids)).toEqual({ runs: 1 })
    expect(await waiting(ids)).toEqual([])
    expect(await logLines(app, ids)).toEqual([expect.stringMatching(/^ERROR job work failed: Error: never/)])
  })

  it('wait while their config is off', async () => {
    const ids = await on(COUNTS)
    await order(ids, { n: 2 })
    await switchOff(app, ids)
    await pass(HOUR)
    expect(await counts(ids)).toEqual({})
    await app.db.run(sql`UPDATE plugin_config SET enabled = true WHERE id = ${ids.config_id}`)
    await app.services.changes.tell(app.db, 'plugin-config', ids.config_id)
    await app.plugins.idle()
    await pass(SECOND)
    expect(await counts(ids)).toEqual({ runs: 1, n: 2 })
  })

  it('of which too many wait are refused', async () => {
    const ids = await on(COUNTS)
    const later = { name: 'work', payload: '{}', run_at: new Date(app.services.now().getTime() + HOUR) }
    const now = app.services.now()
    for (let added = 0; added < 1000; added++) await addJob(app.db, ids, later, 1000, now)
    await expect(order(ids, { n: 1 })).rejects.toThrow(/1000/)
    expect(await waiting(ids)).toHaveLength(1000)
  })
})

describe('an edit', () => {
  const versioned = (version: string) => `
    export async function setupPlugin({ utils }) { await utils.cursor.increment('setups', 1) }
    export function processEvent(event) { event.event = '${version}'; return event }`

  it('of the code takes effect by itself, and touches no other app', async () => {
    const ids = await on(versioned('old'))
    const other = await createOrganization(app)
    const untouched = await switchOn(app, other, versioned('other'))
    const neighbour = app.plugins.current(untouched.config_id)
    await capture(app, workspace, { event: 'x' })
    await replaceCode(app, ids.plugin_id, versioned('new'))
    const sent = async () => {
      await capture(app, workspace, { event: 'x' })
      return (await storedEvents(app, workspace)).at(-1)!.event
    }
    await expect.poll(sent).toBe('new')
    await app.plugins.idle()
    expect((await storedEvents(app, workspace))[0]!.event).toBe('old')
    expect(await counts(ids)).toEqual({ setups: 2 })
    expect(app.plugins.current(untouched.config_id)).toBe(neighbour)
    expect(await counts(untouched)).toEqual({ setups: 1 })
  })

  it('of the code lets no event pass without the app', async () => {
    const ids = await on(versioned('old'))
    await capture(app, workspace, { event: 'x' })
    await replaceCode(app, ids.plugin_id, versioned('new'))
    for (let sent = 0; sent < 5; sent++) await capture(app, workspace, { event: 'x' })
    await app.plugins.idle()
    await capture(app, workspace, { event: 'x' })
    const events = await storedEvents(app, workspace)
    expect(events.filter(({ properties }) => '$plugins_failed' in properties)).toEqual([])
    expect(events.filter(({ event }) => event === 'x')).toEqual([])
    expect(events.at(-1)!.event).toBe('new')
  })

  it('nobody told of is found by looking', async () => {
    const ids = await on(versioned('one'))
    await app.db.run(sql`
      UPDATE plugin_config SET "order" = 5, updated_at = ${app.services.now()} WHERE id = ${ids.config_id}`)
    await app.plugins.refresh()
    expect(app.plugins.current(ids.config_id)!.order).toBe(5)
    await app.db.run(sql`UPDATE plugin_config SET enabled = false WHERE id = ${ids.config_id}`)
    await app.plugins.refresh()
    expect(app.plugins.current(ids.config_id)).toBeUndefined()
  })

  it('of an organization that may no longer use plugins stops its apps', async () => {
    const ids = await on(versioned('one'))
    await app.db.run(
      sql`UPDATE organization SET plugins_access_level = 0 WHERE id = ${workspace.organization.id}`,
    )
    await app.plugins.refresh()
    expect(app.plugins.current(ids.config_id)).toBeUndefined()
    await capture(app, workspace, { event: 'plain' })
    expect((await storedEvents(app, workspace)).map(({ event }) => event)).toEqual(['plain'])
  })

  it('that takes the app away tears it down', async () => {
    const ids = await on(`
      export async function teardownPlugin({ storage }) { await storage.set('gone', 1) }
      export function processEvent(event) { return event }`)
    await capture(app, workspace, { event: 'x' })
    await switchOff(app, ids)
    expect(await counts(ids)).toEqual({ gone: 1 })
  })

  it('of a folder on the server is read when the app is loaded', async () => {
    const write = async (code: string) => {
      await mkdir(join(folder, 'own'), { recursive: true })
      await writeFile(join(folder, 'own/plugin.json'), '{"name":"Own"}')
      await writeFile(join(folder, 'own/index.ts'), code)
    }
    await write(versioned('from disk'))
    const ids = await on(versioned('stored'), { enabled: false })
    await app.db.run(sql`
      UPDATE plugin SET plugin_type = 'local', url = ${pathToFileURL(join(folder, 'own')).href}
      WHERE id = ${ids.plugin_id}`)
    await app.db.run(sql`UPDATE plugin_config SET enabled = true WHERE id = ${ids.config_id}`)
    const sendOne = async () => {
      await app.services.changes.tell(app.db, 'plugin', ids.plugin_id)
      await app.plugins.idle()
      await capture(app, workspace, { event: 'x' })
      return (await storedEvents(app, workspace)).at(-1)!.event
    }
    expect(await sendOne()).toBe('from disk')
    await write(versioned('from disk again'))
    expect(await sendOne()).toBe('from disk again')
    await rm(join(folder, 'own'), { recursive: true })
    expect(await sendOne()).toBe('x')
    expect((await configState(app, ids)).error).toMatchObject({ message: expect.stringContaining('folder') })
  })
})
