// Several processes that work for apps on one database: each project is one's alone, whatever becomes of the others.
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { until } from '../../../../test/harness/until.ts'
import { Changes } from '../../../platform/changes.ts'
import { sql } from '../../../platform/db/sql.ts'
import { followChanges, type Following } from '../../../platform/following.ts'
import { deleteRetry, insertRetries, openCursor, updateRetry } from '../delivery/queries.ts'
import { capture, replaceCode, switchOff, switchOn } from './fixture/apps.ts'
import { LeaseLost } from './leases.ts'
import type { AppIds } from './running-app.ts'
import { PluginRuntime } from './runtime.ts'

const BEAT = 3_000
const LEASE = 26_000
const MINUTE = 60_000
const CODE = `export async function runEveryMinute({ utils }) { await utils.cursor.increment('runs', 1) }
  export function processEvent(event) { event.properties.seen = true; return event }`

let app: TestApp
const workspaces: Workspace[] = []
const apps: AppIds[] = []
const followings: Following[] = []
let processes: PluginRuntime[] = []

beforeAll(async () => {
  app = await startTestApp()
  for (let n = 0; n < 3; n++) {
    workspaces.push(await createOrganization(app))
    apps.push(await switchOn(app, workspaces[n]!, CODE, { on_failure: 'hold' }))
  }
  // At the beginning of a minute.
  app.advance(MINUTE - (app.services.now().getTime() % MINUTE))
})
afterEach(async () => {
  for (const each of processes) await each.close()
  for (const following of followings.splice(0)) await following.stop()
  processes = []
})
afterAll(() => app.close())

/** As another process has them: with its own ears. */
async function start(accept: () => Promise<void> = async () => {}): Promise<PluginRuntime> {
  const changes = new Changes()
  followings.push(await followChanges(app.db, changes, app.services.log))
  const ingest = { accept, store: async () => {} }
  const one = new PluginRuntime({ ...app.services, changes }, ingest)
  await one.load()
  processes.push(one)
  return one
}

const held = (one: PluginRuntime) =>
  apps.flatMap(({ project_id }) => (one.leases.of(project_id) ? [project_id] : []))

async function tickAll(...some: PluginRuntime[]): Promise<void> {
  app.advance(BEAT)
  for (const one of some) await one.tick()
  for (const one of some) await one.idle()
}

async function runsOf({ config_id }: AppIds): Promise<number> {
  const row = await app.db.row<{ value: string }>(
    sql`SELECT value FROM plugin_storage WHERE plugin_config_id = ${config_id} AND key = 'runs'`,
  )
  return Number(row?.value ?? 0)
}

it('one that comes gets its share, one that stops hands over, one that dies is followed within half a minute', async () => {
  const one = await start()
  await tickAll(one)
  expect(held(one)).toHaveLength(3)
  const two = await start()
  await tickAll(two, one, two)
  await tickAll(two)
  expect([held(one).length, held(two).length]).toEqual([2, 1])
  expect(new Set([...held(one), ...held(two)]).size).toBe(3)
  await two.close()
  processes.pop()
  await tickAll(one)
  expect(held(one)).toHaveLength(3)

  const three = await start()
  await tickAll(three, one, three)
  await tickAll(three)
  expect(held(three)).toHaveLength(1)
  app.advance(LEASE)
  // Its time is over: until it has asked it begins nothing.
  expect([held(one), held(three)]).toEqual([[], []])
  await tickAll(three)
  expect(held(three)).toHaveLength(3)
})

it('one that was asleep finds its lease lost, writes nothing, and is given its share anew', async () => {
  const asleep = await start()
  await tickAll(asleep)
  const { project_id, config_id } = apps[0]!
  const lease = asleep.leases.of(project_id)!
  const key = { project_id, config_id, method: 'onEvent' as const }
  await openCursor(app.db, key, 0)
  const retry = { id: randomUUID(), seqs: [1], request: null, due_at: app.services.now() }
  await insertRetries(app.db, key, [retry], app.services.now())
  app.advance(40_000)
  const awake = await start()
  await tickAll(awake)
  expect(held(awake)).toHaveLength(3)

  expect(held(asleep)).toEqual([])
  await expect(app.db.transaction((tx) => asleep.leases.assert(tx, lease))).rejects.toThrow(LeaseLost)
  expect(await updateRetry(app.db, lease, { ...retry, attempt: 9 }, retry.due_at)).toBe(false)
  await deleteRetry(app.db, lease, retry.id)
  const rows = await app.db.rows(sql`SELECT attempt FROM plugin_delivery_retry WHERE id = ${retry.id}`)
  expect(rows).toEqual([{ attempt: 1 }])
  const own = awake.leases.of(project_id)!
  expect(await updateRetry(app.db, own, { ...retry, attempt: 2 }, retry.due_at)).toBe(true)
  await deleteRetry(app.db, own, retry.id)

  await tickAll(asleep, awake)
  await tickAll(asleep)
  expect(held(asleep)).toHaveLength(1)
  expect(new Set([...held(asleep), ...held(awake)]).size).toBe(3)
})

it('what is being written under a lease ends before another process takes over', async () => {
  const slow = await start()
  await tickAll(slow)
  const { project_id } = apps[0]!
  const next = await start()
  await app.db.transaction(async (tx) => {
    await slow.leases.assert(tx, slow.leases.of(project_id)!)
    app.advance(LEASE)
    await tickAll(next)
    expect(held(next)).toHaveLength(2)
    expect(next.leases.of(project_id)).toBeUndefined()
  })
  await tickAll(next)
  expect(held(next)).toHaveLength(3)
})

it('a timetable is begun once, and made up for when its process dies before', async () => {
  const [one, two] = [await start(), await start()]
  await tickAll(one, two)
  const before = await runsOf(apps[0]!)
  app.advance(MINUTE - (app.services.now().getTime() % MINUTE))
  await Promise.all([one.tick(), two.tick()])
  await one.idle()
  await two.idle()
  expect(await runsOf(apps[0]!)).toBe(before + 1)
  // `one` dies before the minute is over, and `two` is there after it.
  const dead = one.leases.of(apps[0]!.project_id) ? one : two
  const other = dead === one ? two : one
  app.advance(MINUTE - 5_000)
  await tickAll(other)
  app.advance(LEASE)
  await tickAll(other)
  expect(await runsOf(apps[0]!)).toBe(before + 2)
  await tickAll(other)
  expect(await runsOf(apps[0]!)).toBe(before + 2)
})

it('events held by one process are taken up by another, and the first lets the next ones pass again', async () => {
  const capture = await start()
  const worker = await start()
  const { plugin_id, project_id } = apps[2]!
  const [project] = [workspaces[2]!.project]
  const hasCode = async (code: string) => {
    await replaceCode(app, plugin_id, code)
    await app.plugins.idle()
    for (const one of [capture, worker])
      await until(async () => {
        await one.refresh()
        await one.idle()
      })
  }
  const send = (event: string) =>
    capture.transform(project, [
      { uuid: randomUUID(), event, distinct_id: 'ada', properties: {}, timestamp: 1n, created_at: 1n },
    ])
  await hasCode(`throw new Error('not today')`)
  expect(await send('one')).toEqual([])
  await until(async () => {
    await worker.tick()
    expect(worker.holding.hasLine(project_id)).toBe(true)
  })
  await hasCode(CODE)
  // The line is still there, and its order is kept.
  expect(await send('two')).toEqual([])
  await until(async () => {
    await tickAll(worker, capture)
    expect(capture.holding.has(project_id)).toBe(false)
  })
  expect(await send('three')).toMatchObject([{ event: 'three', properties: { seen: true } }])
})

it('that an app has removed something is known to all: its events wait for it everywhere', async () => {
  const other = await start()
  const [workspace] = workspaces
  const code = `export function processEvent(event) { delete event.properties.secret; return event }`
  const ids = await switchOn(app, workspace!, code)
  await until(() => expect(other.current(ids.config_id)?.on_failure).toBe('pass'))
  await capture(app, workspace!, { event: 'signed up', properties: { secret: 1 } })
  await until(() => expect(other.current(ids.config_id)?.on_failure).toBe('hold'))
  await switchOff(app, ids)
})

it('metrics of an app that cannot be captured hold up nothing else', async () => {
  let tries = 0
  const one = await start(async () => {
    tries++
    throw new Error('not today')
  })
  const [workspace] = workspaces
  const code = `export const metrics = { n: 'sum' }
    export function onEvent(event, { metrics }) { metrics.n.increment(1) }`
  const ids = await switchOn(app, workspace!, code)
  await until(() => expect(one.current(ids.config_id)).toBeDefined())
  await one.call(one.current(ids.config_id)!, { method: 'onEvent', event: { event: 'e', properties: {} } })
  app.advance(2 * MINUTE)
  await one.tick()
  await one.idle()
  expect(tries).toBe(1)
  expect(held(one)).not.toEqual([])
  await switchOff(app, ids)
})
