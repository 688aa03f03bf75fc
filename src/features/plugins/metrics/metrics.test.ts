import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { AppFault } from '../../../platform/sandbox/sandbox.ts'
import { addExport, addRun } from '../../batch-exports/runs/fixture/rows.ts'
import { addConfig } from '../fixture/rows.ts'
import type { AppIds } from '../running/running-app.ts'
import { forgetOldPluginMetrics } from './forget.ts'
import { PluginMetrics } from './plugin-metrics.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const NO_ID = '00000000-0000-7000-8000-000000000000'
const NOTHING = { successes: 0, successes_on_retry: 0, failures: 0 }

let app: TestApp
let workspace: Workspace
let key: string
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  key = workspace.owner.key
})
afterAll(() => app.close())

const get = (url: string) => app.get(url, { key })
const urlOf = (id: number | string, project_id = workspace.project.id) =>
  `/api/projects/${project_id}/app_metrics/${id}/`

/** Counts what `work` says, at that time. */
async function at(time: Date, work: (metrics: PluginMetrics) => void): Promise<void> {
  const metrics = new PluginMetrics({ ...app.services, now: () => time })
  work(metrics)
  await metrics.close()
}

describe('GET …/app_metrics/:plugin_config_id/', () => {
  const first = new Date('2024-06-01T10:15:00Z')
  const second = new Date('2024-06-01T12:59:59Z')
  const days_later = new Date('2024-06-04T00:00:00Z')
  let ids: AppIds
  let url: string
  beforeAll(async () => {
    ids = await addConfig(app, workspace.project.id)
    url = urlOf(ids.config_id)
    await at(first, (metrics) => {
      metrics.count(ids, 'onEvent', 'success', { by: 3 })
      metrics.count(ids, 'onEvent', 'failure', { by: 2, job_id: 'job-1' })
      metrics.count(ids, 'processEvent', 'success', { by: 7 })
      for (const name of ['TypeError', 'TypeError', 'RangeError'])
        metrics.error(ids, 'onEvent', new AppFault('threw', 'bad', { name }), { event: name }, 'job-1')
      metrics.error(ids, 'processEvent', new AppFault('threw', 'of another'), null)
    })
    await at(second, (metrics) => metrics.count(ids, 'onEvent', 'success_on_retry'))
    await at(days_later, (metrics) => {
      metrics.count(ids, 'onEvent', 'success')
      metrics.error(ids, 'onEvent', new AppFault('threw', 'later', { name: 'TypeError' }), null)
    })
  })

  it('200 by the hour for less than two days, with hours in which nothing happened', async () => {
    const range = 'date_from=2024-06-01T10:30:00Z&date_to=2024-06-01T12:30:00Z'
    for (const base of [url, url.replace('projects', 'environments')]) {
      const { status, body } = await get(`${base}?category=onEvent&${range}`)
      expect(status).toBe(200)
      expect(body).toEqual({
        metrics: {
          dates: ['2024-06-01 10:00:00', '2024-06-01 11:00:00', '2024-06-01 12:00:00'],
          successes: [3, 0, 0],
          successes_on_retry: [0, 0, 1],
          failures: [2, 0, 0],
          totals: { successes: 3, successes_on_retry: 1, failures: 2 },
        },
        errors: [
          { error_type: 'TypeError', count: 2, last_seen: first.toISOString() },
          { error_type: 'RangeError', count: 1, last_seen: first.toISOString() },
        ],
      })
    }
  })

  it('200 by the day for more', async () => {
    const { body } = await get(`${url}?category=onEvent&date_from=2024-05-31&date_to=2024-06-04`)
    expect(body.metrics).toEqual({
      dates: ['2024-05-31', '2024-06-01', '2024-06-02', '2024-06-03', '2024-06-04'],
      successes: [0, 3, 0, 0, 1],
      successes_on_retry: [0, 1, 0, 0, 0],
      failures: [0, 2, 0, 0, 0],
      totals: { successes: 4, successes_on_retry: 1, failures: 2 },
    })
    expect(body.errors[0]).toEqual({ error_type: 'TypeError', count: 3, last_seen: days_later.toISOString() })
  })

  it('200 of one job, and of another category', async () => {
    const range = 'date_from=2024-06-01T10:00:00Z&date_to=2024-06-01T10:30:00Z'
    const { body: ofJob } = await get(`${url}?category=onEvent&job_id=job-1&${range}`)
    expect(ofJob.metrics.totals).toEqual({ ...NOTHING, failures: 2 })
    expect(ofJob.errors).toHaveLength(2)
    const { body: ofNone } = await get(`${url}?category=onEvent&job_id=job-2&${range}`)
    expect([ofNone.metrics.totals, ofNone.errors]).toEqual([NOTHING, []])
    const { body: other } = await get(`${url}?category=processEvent&${range}`)
    expect(other.metrics.totals).toEqual({ ...NOTHING, successes: 7 })
    expect(other.errors).toMatchObject([{ error_type: 'Error', count: 1 }])
  })

  it('200 for the last 30 days unless told', async () => {
    const { body } = await get(`${url}?category=webhook`)
    expect(body.metrics.dates).toHaveLength(31)
    expect(body.metrics.dates.at(-1)).toBe(app.services.now().toISOString().slice(0, 10))
    expect([body.metrics.totals, body.errors]).toEqual([NOTHING, []])
  })

  it.each([
    ['', 'category', 'required'],
    ['category=', 'category', 'required'],
    ['category=everything', 'category', 'invalid_choice'],
    ['category=onEvent&date_from=soon', 'date_from', 'invalid_input'],
    ['category=onEvent&date_from=-5y', 'date_from', 'invalid_input'],
    ['category=onEvent&date_to=x', 'date_to', 'invalid_input'],
    ['category=onEvent&job_id=%00', 'job_id', 'invalid_input'],
  ])('400 for ?%s', async (query, attr, code) => {
    expect(await get(`${url}?${query}`)).toMatchObject({ status: 400, body: { attr, code } })
  })

  it('404 for a config of another project, and for none', async () => {
    const other = await createOrganization(app)
    const foreign = urlOf(ids.config_id, other.project.id)
    expect((await app.get(`${foreign}?category=onEvent`, { key: other.owner.key })).status).toBe(404)
    for (const id of ['nonsense', '0', '99999999999', NO_ID])
      expect((await get(`${urlOf(id)}?category=onEvent`)).status).toBe(404)
  })

  describe('…/error_details/', () => {
    it('200 with what is known of each, newest first', async () => {
      const { status, body } = await get(`${url}error_details/?category=onEvent&error_type=TypeError`)
      expect(status).toBe(200)
      const error = { name: 'TypeError', message: 'bad', stack: '' }
      const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/) as string
      const early = {
        timestamp: first.toISOString(),
        error_uuid: uuid,
        error_type: 'TypeError',
        error_details: { error, event: { event: 'TypeError' } },
      }
      expect(body).toEqual({
        result: [
          {
            ...early,
            timestamp: days_later.toISOString(),
            error_details: { error: { ...error, message: 'later' }, event: null },
          },
          early,
          early,
        ],
      })
      const { body: ofJob } = await get(
        `${url}error_details/?category=onEvent&error_type=TypeError&job_id=job-1`,
      )
      expect(ofJob.result).toHaveLength(2)
    })

    it('200 with none for a type that nobody has seen', async () => {
      const { body } = await get(`${url}error_details/?category=onEvent&error_type=Unseen`)
      expect(body).toEqual({ result: [] })
    })

    it.each([
      ['error_type=TypeError', 'category', 'required'],
      ['category=x&error_type=TypeError', 'category', 'invalid_choice'],
      ['category=onEvent', 'error_type', 'required'],
    ])('400 for ?%s', async (query, attr, code) => {
      expect(await get(`${url}error_details/?${query}`)).toMatchObject({ status: 400, body: { attr, code } })
    })

    it('404 for a batch export: its errors are in the log of its runs', async () => {
      const { id } = await addExport(app.db, workspace.project.id, app.services.now())
      const { status } = await get(`${urlOf(id)}error_details/?category=onEvent&error_type=x`)
      expect(status).toBe(404)
    })
  })
})

describe('GET …/app_metrics/:batch_export_id/', () => {
  it('200 counts how its runs ended', async () => {
    const owner = await addExport(app.db, workspace.project.id, app.services.now())
    const neighbour = await addExport(app.db, workspace.project.id, app.services.now())
    const end = (hour: number) => new Date(Date.UTC(2024, 5, 1, hour, 30))
    await addRun(app.db, owner, end(9))
    await addRun(app.db, owner, end(10))
    await addRun(app.db, owner, end(10), { failures: 2, data_interval_end: end(8) })
    await addRun(app.db, owner, end(11), { status: 'Failed' })
    await addRun(app.db, owner, end(11), { status: 'TimedOut', data_interval_end: end(7) })
    await addRun(app.db, owner, end(11), { status: 'Cancelled', data_interval_end: end(6) })
    await addRun(app.db, owner, end(11), { status: 'Running', data_interval_end: end(5) })
    await addRun(app.db, neighbour, end(11))
    const { status, body } = await get(
      `${urlOf(owner.id)}?date_from=2024-06-01T10:00:00Z&date_to=2024-06-01T11:00:00Z`,
    )
    expect(status).toBe(200)
    expect(body).toEqual({
      metrics: {
        dates: ['2024-06-01 10:00:00', '2024-06-01 11:00:00'],
        successes: [1, 0],
        successes_on_retry: [1, 0],
        failures: [0, 2],
        totals: { successes: 1, successes_on_retry: 1, failures: 2 },
      },
      errors: null,
    })
  })

  it('403 for a key that may not read exports, 404 for another project', async () => {
    const { id } = await addExport(app.db, workspace.project.id, app.services.now())
    const plugins = await createKey(app, workspace.owner, { scopes: ['plugin:read'] })
    const both = await createKey(app, workspace.owner, { scopes: ['plugin:read', 'batch_export:read'] })
    expect((await app.get(urlOf(id), { key: plugins })).status).toBe(403)
    expect((await app.get(urlOf(id), { key: both })).status).toBe(200)
    const other = await createOrganization(app)
    expect((await app.get(urlOf(id, other.project.id), { key: other.owner.key })).status).toBe(404)
  })
})

describe('forgetOldPluginMetrics', () => {
  it('forgets what is older than 90 days, and nothing else', async () => {
    const ids = await addConfig(app, workspace.project.id)
    await app.db.run(sql`DELETE FROM plugin_metric`)
    await app.db.run(sql`DELETE FROM plugin_metric_error`)
    const now = new Date('2024-06-01T10:00:00Z')
    for (const age_ms of [90 * DAY + HOUR, 90 * DAY, 0]) {
      await at(new Date(now.getTime() - age_ms), (metrics) => {
        metrics.count(ids, 'onEvent', 'failure')
        metrics.error(ids, 'onEvent', new AppFault('threw', 'no'), null)
      })
    }
    expect(await forgetOldPluginMetrics(app.db, now)).toBe(2)
    expect(await app.db.rows(sql`SELECT 1 FROM plugin_metric`)).toHaveLength(2)
    expect(await app.db.rows(sql`SELECT 1 FROM plugin_metric_error`)).toHaveLength(2)
    expect(await forgetOldPluginMetrics(app.db, now)).toBe(0)
  })
})
