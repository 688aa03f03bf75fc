// "Export historical events": started by hand or by the app, in pages, and gone on with after a restart.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { capture, switchOn } from './fixture/apps.ts'

const NAME = 'Export historical events'

let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  const sent = Array.from({ length: 1_100 }, (_, n) => ({
    event: 'old',
    properties: { n },
    timestamp: n < 100 ? '2020-01-01T00:00:00Z' : '2026-06-01T00:00:00Z',
  }))
  await capture(app, workspace, ...sent)
})
afterAll(() => app.close())

/** Counts what it gets in storage, and throws at the numbers it is told to. */
const CODE = `
  export async function exportEvents(events, { storage }) {
    const isOld = events.every(({ properties }) => properties.$$is_historical_export_event === true)
    if (!isOld) return
    const fails = await storage.get('fails', 0)
    if (fails > 0) { await storage.set('fails', fails - 1); throw new RetryError('not now') }
    const seen = await storage.get('seen', [])
    await storage.set('seen', [...seen, ...events.map(({ properties }) => properties.n)])
    await storage.set('running', await storage.get('is_export_running', false))
  }
  export const jobs = {
    again: async (payload, { jobs }) => jobs['Export historical events'](payload).runNow(),
  }`

async function stored(config_id: number, key: string): Promise<unknown> {
  const row = await app.db.row<{ value: string }>(
    sql`SELECT value FROM plugin_storage WHERE plugin_config_id = ${config_id} AND key = ${key}`,
  )
  return row === undefined ? undefined : JSON.parse(row.value)
}
const waiting = (config_id: number) =>
  app.db.rows<{ payload: Record<string, unknown> }>(
    sql`SELECT payload FROM plugin_job WHERE plugin_config_id = ${config_id}`,
  )
async function turn(advance_ms = 0): Promise<void> {
  app.advance(advance_ms)
  await app.plugins.tick()
  await app.plugins.idle()
}
const start = (config_id: number, payload: object) =>
  app.post(
    `/api/projects/${workspace.project.id}/plugin_configs/${config_id}/job/`,
    { job: { type: NAME, payload, operation: 'start' } },
    { key: workspace.owner.key },
  )

it('hands over the events of that time, page by page, and goes on where it was', async () => {
  const { config_id } = await switchOn(app, workspace, CODE)
  expect((await start(config_id, { dateFrom: '2026-01-01', dateTo: 'soon' })).status).toBe(400)
  expect((await start(config_id, { dateFrom: '2026-01-01', dateTo: '2026-12-01' })).status).toBe(200)
  await turn()
  expect(await stored(config_id, 'running')).toBe(true)
  const [job] = await waiting(config_id)
  expect(job!.payload).toMatchObject({ count: 500, after: 600 })
  // A job that is still there after a restart has this payload: nothing is in memory.
  await app.services.sandbox.dispose(config_id)
  await turn()
  await turn()
  expect(await stored(config_id, 'seen')).toEqual(Array.from({ length: 1_000 }, (_, n) => n + 100))
  expect(await waiting(config_id)).toEqual([])
  expect(await stored(config_id, 'is_export_running')).toBeUndefined()
})

it('is begun by the app itself, and a page that it asks for again comes again', async () => {
  const { config_id, project_id } = await switchOn(app, workspace, CODE)
  await app.db.run(sql`
    INSERT INTO plugin_storage (project_id, plugin_config_id, key, value) VALUES (${project_id}, ${config_id}, 'fails', '1')`)
  const payload = { dateFrom: '2019-01-01', dateTo: '2021-01-01' }
  await app.plugins.call(app.plugins.current(config_id)!, { method: 'job', name: 'again', payload })
  await turn()
  expect(await stored(config_id, 'seen')).toBeUndefined()
  await turn(6_000)
  expect(await stored(config_id, 'seen')).toEqual(Array.from({ length: 100 }, (_, n) => n))
  expect(await waiting(config_id)).toEqual([])
})

it('is offered by apps with exportEvents, and by no others', async () => {
  const { plugin_id } = await switchOn(app, workspace, CODE, { enabled: false })
  const other = await switchOn(app, workspace, `export function onEvent() {}`, { enabled: false })
  const offered = async (id: number) =>
    (
      await app.get(`/api/organizations/${workspace.organization.id}/plugins/${id}/`, {
        key: workspace.owner.key,
      })
    ).body.public_jobs
  expect(await offered(plugin_id)).toMatchObject({ [NAME]: { payload: { dateFrom: { type: 'date' } } } })
  expect((await offered(other.plugin_id)) ?? {}).toEqual({})
  expect((await start(other.config_id, { dateFrom: '2026-01-01', dateTo: '2026-12-01' })).status).toBe(400)
})
