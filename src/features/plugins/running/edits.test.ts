// An event that comes after the answer to an edit finds the app as it was edited.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { IS_LONG } from '../../../../test/harness/long.ts'
import { EditQueue } from './edit-queue.ts'
import { capture, storedEvents, switchOn } from './fixture/apps.ts'
import type { Scope } from './queries.ts'

let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  // However busy the machine is.
  app = await startTestApp({ PLUGIN_PATIENCE_MS: '30000' })
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
