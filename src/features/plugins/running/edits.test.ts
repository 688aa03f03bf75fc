// An event that comes after the answer to an edit finds the app as it was edited.
// @module-tag slow
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { IS_LONG } from '../../../../test/harness/long.ts'
import { until, untilTrue } from '../../../../test/harness/until.ts'
import { startWebhookServer } from '../../../../test/stand-ins/webhook-server.ts'
import { withTimeout } from '../../../lib/with-timeout.ts'
import { sql } from '../../../platform/db/sql.ts'
import { EditQueue } from './edit-queue.ts'
import { capture, logLines, replaceCode, storedEvents, switchOn } from './fixture/apps.ts'
import type { Scope } from './queries.ts'
import type { AppIds } from './running-app.ts'

let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  // However busy the machine is.
  app = await startTestApp({ PLUGIN_PATIENCE_MS: '30000', OUTBOUND_ALLOW: '127.0.0.1' })
  workspace = await createOrganization(app)
})
afterAll(() => app.close())

const edit = (config_id: number, body: object) =>
  app.patch(`/api/projects/${workspace.project.id}/plugin_configs/${config_id}/`, body, {
    key: workspace.owner.key,
  })

const ROUNDS = IS_LONG ? 50 : 12

/** Keeps the registry busy, so that edits are not in force by chance. */
async function busyNeighbour(): Promise<() => void> {
  const neighbour = await createOrganization(app)
  const ids = await switchOn(app, neighbour, `export function processEvent(event) { return event }`)
  return () => {
    for (let n = 0; n < 20; n++)
      app.services.changes.hear({ topic: 'plugin-config', id: ids.config_id, project_id: ids.project_id })
  }
}

it('enabled, and an event right away: none without the app; disabled: none with it', async () => {
  const { config_id } = await switchOn(
    app,
    workspace,
    `export function processEvent(event) { event.properties.seen = true; return event }`,
    { enabled: false },
  )
  const keepBusy = await busyNeighbour()
  for (let round = 0; round < ROUNDS; round++) {
    keepBusy()
    expect((await edit(config_id, { enabled: true })).status).toBe(200)
    await capture(app, workspace, { event: 'on' })
    expect((await edit(config_id, { enabled: false })).status).toBe(200)
    await capture(app, workspace, { event: 'off' })
  }
  const events = await storedEvents(app, workspace)
  expect(events).toHaveLength(2 * ROUNDS)
  expect(events.filter(({ event, properties }) => (event === 'on') !== (properties.seen === true))).toEqual(
    [],
  )
})

it('an app that cannot load is enabled all the same, and its events do as its config says', async () => {
  const { config_id } = await switchOn(app, workspace, `throw new Error('not today')`, {
    enabled: false,
    on_failure: 'drop',
  })
  expect(await edit(config_id, { enabled: true })).toMatchObject({ status: 200, body: { enabled: true } })
  await capture(app, workspace, { event: 'guarded' })
  expect((await storedEvents(app, workspace)).map(({ event }) => event)).not.toContain('guarded')
})

it('edits that events wait for come first, and those of other projects hold nobody up', async () => {
  const queue = new EditQueue()
  for (let config_id = 1; config_id <= 3; config_id++) queue.add({ config_id }, [config_id])
  expect([queue.concern(3), queue.concern(4)]).toEqual([true, false])
  const taken: Scope[] = []
  const told: string[] = []
  const own = queue.done(3).then(() => told.push(`3 after ${taken.length}`))
  await queue.done(4)
  await expect(
    queue.work(async (scope) => {
      if (taken.length === 2) throw new Error('the database is away')
      taken.push(scope)
    }),
  ).rejects.toThrow('away')
  await own
  expect(taken).toEqual([{ config_id: 3 }, { config_id: 1 }])
  expect(told).toEqual(['3 after 2'])
  expect([queue.concern(3), queue.concern(2), queue.isEmpty()]).toEqual([false, true, false])
  await queue.work(async (scope) => void taken.push(scope))
  expect([taken.at(-1), queue.isEmpty()]).toEqual([{ config_id: 2 }, true])
})

describe('while an app waits for an answer', () => {
  const endpoint = { url: '', answer: () => {}, close: async () => {} }
  beforeEach(async () => {
    const answered = new Promise<void>((resolve) => (endpoint.answer = resolve))
    const server = await startWebhookServer(async () => {
      await answered
      return { status: 200 }
    })
    Object.assign(endpoint, server)
  })
  afterEach(() => endpoint.close())

  const marking = (mark: string) => `
    let calls = 0
    export async function processEvent(event) {
      if (event.event === 'first') await fetch('${endpoint.url}')
      Object.assign(event.properties, { mark: '${mark}', call: ++calls })
      return event
    }`
  const rename = (ids: AppIds) => edit(ids.config_id, { name: 'renamed', order: 7 })
  const replace = (ids: AppIds) => replaceCode(app, ids.plugin_id, marking('new'))
  const disable = (ids: AppIds) => edit(ids.config_id, { enabled: false })

  // What comes behind goes by the app as it is by then.
  it.each([
    ['another name and order', rename, 'old', 1],
    ['other code', replace, 'new', 2],
    ['switching it off', disable, undefined, 1],
  ])('%s costs no event', async (_, change, last, instances) => {
    workspace = await createOrganization(app)
    const place = workspace
    const { dropped } = app.plugins.lapses.totals
    const ids = await switchOn(app, place, marking('old'), { on_failure: 'drop' })
    const others = Array.from({ length: 400 }, (_, n) => ({ event: 'seen', properties: { n } }))
    const sending = capture(app, place, { event: 'first' }, ...others)
    await until(() => expect(endpoint).toMatchObject({ requests: [{ path: '/' }] }))
    const before = app.plugins.current(ids.config_id)
    await change(ids)
    await untilTrue(() => app.plugins.current(ids.config_id) !== before)
    endpoint.answer()
    await sending

    const events = await storedEvents(app, place)
    expect(events.map(({ properties }) => properties.n)).toEqual([undefined, ...others.map((_, n) => n)])
    expect([events[0]!.properties.mark, events.at(-1)!.properties.mark]).toEqual(['old', last])
    expect(events.filter(({ properties }) => properties.call === 1)).toHaveLength(instances)
    expect(events.filter(({ properties }) => properties.$plugins_failed)).toEqual([])
    expect((await logLines(app, ids)).filter((line) => !line.includes('waits for something'))).toEqual([])
    expect(app.plugins.lapses.totals.dropped).toBe(dropped)
  })
})

it('events that meet an app which leaves wait for the list without it', async () => {
  workspace = await createOrganization(app)
  const code = (mark: string) =>
    `export function processEvent(event) { event.properties.${mark} = true; return event }`
  const leaving = await switchOn(app, workspace, code('left'), { on_failure: 'drop' })
  const other = await switchOn(app, workspace, code('stayed'), { order: 2 })
  // While the other app is built anew, this one has left and is in the list still.
  const isBuilding = () =>
    app.db.row(sql`SELECT FROM pg_locks WHERE NOT granted AND relation = 'plugin_attachment'::regclass`)
  let sending = Promise.resolve()
  let refreshing = Promise.resolve()
  await app.db.transaction(async (tx) => {
    await tx.run(sql`LOCK TABLE plugin_attachment IN ACCESS EXCLUSIVE MODE`)
    const at = new Date(app.services.now().getTime() + 1)
    await app.db.run(sql`UPDATE plugin_config SET enabled = false WHERE id = ${leaving.config_id}`)
    await app.db.run(sql`UPDATE plugin_config SET updated_at = ${at} WHERE id = ${other.config_id}`)
    refreshing = app.plugins.refresh()
    await untilTrue(async () => (await isBuilding()) !== undefined)
    sending = capture(app, workspace, { event: 'seen' })
    // It is answered now if the event was dropped, and later otherwise.
    await withTimeout(sending, 300, () => undefined)
  })
  await Promise.all([refreshing, sending])
  const [event] = await storedEvents(app, workspace)
  expect(event?.properties).toMatchObject({ stayed: true })
  expect(event?.properties).not.toHaveProperty('left')
  expect(event?.properties).not.toHaveProperty('$plugins_failed')
})
