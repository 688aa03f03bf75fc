// What else can be asked of a config: its module for the interface, its history, and jobs.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, createMember, createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { addPlugin } from './fixture/plugins.ts'

let app: TestApp
let workspace: Workspace
let key: string
let base: string
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  key = workspace.owner.key
  base = `/api/projects/${workspace.project.id}/plugin_configs/`
})
afterAll(() => app.close())

async function makeConfig(
  fields: Parameters<typeof addPlugin>[2] = {},
): Promise<{ id: number; plugin: number }> {
  const plugin = await addPlugin(app, workspace.organization.id, { config_schema: [], ...fields })
  return { id: (await app.post(base, { plugin }, { key })).body.id, plugin }
}

describe('GET plugin_configs/:id/frontend/', () => {
  const frontend = async (status: string | null, transpiled: string | null, error: string | null = null) => {
    const { id, plugin } = await makeConfig({ capabilities: {} })
    await app.db.run(sql`
      INSERT INTO plugin_source_file (plugin_id, filename, source, hash, transpiled, status, error, updated_at)
      VALUES (${plugin}, 'frontend.tsx', 'the source', 'hash', ${transpiled}, ${status}, ${error}, ${app.services.now()})`)
    return app.get(`${base}${id}/frontend/`, { key })
  }
  const saying = (what: string) => `export function getFrontendApp () { return ${what} }`

  it('200 with the module as JavaScript', async () => {
    const reply = await frontend('TRANSPILED', '"use strict"; export function getFrontendApp () {}')
    expect(reply).toMatchObject({ status: 200, body: '"use strict"; export function getFrontendApp () {}' })
    expect(reply.headers['content-type']).toBe('application/javascript; charset=UTF-8')
  })

  it('200 with a module that says why there is none', async () => {
    const { id } = await makeConfig()
    expect((await app.get(`${base}${id}/frontend/`, { key })).body).toBe(saying('{"no_frontend": true}'))
    expect((await frontend('LOCKED', null)).body).toBe(saying('{"transpiling": true}'))
    expect((await frontend(null, null)).body).toBe(saying('{"transpiling": true}'))
    expect((await frontend('ERROR', null, 'Line 1: "x"\n')).body).toBe(
      saying(String.raw`{"error": "Line 1: \"x\"\n"}`),
    )
  })
})

describe('GET plugin_configs/:id/activity/', () => {
  it('200 by pages, newest first, of this config alone', async () => {
    const { id } = await makeConfig()
    await makeConfig()
    for (let order = 100; order < 112; order++) await app.patch(`${base}${id}/`, { order }, { key })
    const first = await app.get(`${base}${id}/activity/`, { key })
    expect(first.body).toMatchObject({ count: 13, total_count: 13, previous: null })
    expect(first.body.results).toHaveLength(10)
    expect(first.body.results[0]).toMatchObject({
      activity: 'order_changed',
      item_id: String(id),
      is_system: false,
      user: { email: workspace.owner.email },
      detail: { changes: [{ before: 110, after: 111 }] },
    })
    const second = await app.get(first.body.next, { key })
    expect(second.body).toMatchObject({ next: null, previous: expect.stringContaining('page=1') })
    expect(second.body.results.at(-1)).toMatchObject({ activity: 'created', scope: 'PluginConfig' })
    expect((await app.get(`${base}${id}/activity/?limit=3&page=x`, { key })).body.results).toHaveLength(3)
  })

  it('200 also for one that was deleted', async () => {
    const { id } = await makeConfig()
    await app.delete(`${base}${id}/`, { key })
    expect((await app.get(`${base}${id}/activity/`, { key })).body.count).toBe(2)
  })
})

describe('POST plugin_configs/:id/job/', () => {
  const public_jobs = {
    export: { payload: { size: { type: 'number', default: 10 }, note: { type: 'json' } } },
  }
  const start = (id: number, job: unknown, call: object = {}) =>
    app.post(`${base}${id}/job/`, { job }, { key, ...call })
  const jobsOf = (id: number) =>
    app.db.rows(sql`
      SELECT project_id, name, payload, attempt, run_at = created_at AS is_due FROM plugin_job
      WHERE plugin_config_id = ${id} ORDER BY created_at`)

  it('200 with nothing to say: it waits, and the log says who started it, not with what', async () => {
    const { id } = await makeConfig({ public_jobs })
    const note = ['some', 'list']
    const reply = await start(id, { type: 'export', payload: { note }, operation: 'start' })
    expect(reply).toMatchObject({ status: 200, body: null })
    expect(await jobsOf(id)).toEqual([
      {
        project_id: workspace.project.id,
        name: 'export',
        payload: { size: 10, note },
        attempt: 0,
        is_due: true,
      },
    ])
    const { results } = (await app.get(`${base}${id}/activity/`, { key })).body
    expect(results[0]).toMatchObject({
      activity: 'job_triggered',
      detail: { changes: [{ field: 'job', after: 'export' }] },
    })
    expect(JSON.stringify(results[0])).not.toContain('some')
  })

  it.each([
    ['no type', {}, 'invalid_input', null],
    ['a job that is not offered', { type: 'other' }, 'invalid_input', 'job'],
    ['an unknown key', { type: 'export', payload: { x: 1 } }, 'invalid_input', 'job'],
    ['a wrong value', { type: 'export', payload: { size: 'x' } }, 'invalid_input', 'job__payload__size'],
    [
      'a large payload',
      { type: 'export', payload: { note: 'x'.repeat(65_536) } },
      'max_length',
      'job__payload',
    ],
  ])('400 for %s, and nothing waits', async (_what, job, code, attr) => {
    const { id } = await makeConfig({ public_jobs })
    expect(await start(id, job)).toMatchObject({ status: 400, body: { code, attr } })
    expect(await jobsOf(id)).toEqual([])
  })

  it('400 when no job is named at all, or a thousand wait', async () => {
    const { id } = await makeConfig({ public_jobs })
    expect(await app.post(`${base}${id}/job/`, {}, { key })).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', attr: null },
    })
    await app.db.run(sql`
      INSERT INTO plugin_job (id, project_id, plugin_config_id, name, payload, run_at, created_at)
      SELECT gen_random_uuid(), ${workspace.project.id}, ${id}, 'export', '{}', now(), now()
      FROM generate_series(1, 999)`)
    expect((await start(id, { type: 'export' })).status).toBe(200)
    expect(await start(id, { type: 'export' })).toMatchObject({ status: 400, body: { attr: 'job' } })
  })

  it('403 to a key that may only read, 404 elsewhere and for what is deleted', async () => {
    const { id } = await makeConfig({ public_jobs })
    const reader = await createKey(app, workspace.owner, { scopes: ['plugin:read'] })
    expect((await start(id, { type: 'export' }, { key: reader })).status).toBe(403)
    const member = await createMember(app, workspace.organization)
    expect((await start(id, { type: 'export' }, { key: member.key })).status).toBe(200)
    const foreign = await createOrganization(app)
    const there = `/api/projects/${foreign.project.id}/plugin_configs/${id}/job/`
    const job = { job: { type: 'export' } }
    expect((await app.post(there, job, { key: foreign.owner.key })).status).toBe(404)
    await app.delete(`${base}${id}/`, { key })
    expect((await start(id, { type: 'export' })).status).toBe(404)
    expect(await jobsOf(id)).toHaveLength(1)
  })

  it('200 once for an Idempotency-Key', async () => {
    const { id } = await makeConfig({ public_jobs })
    const headers = { 'idempotency-key': 'one-job' }
    for (let time = 0; time < 2; time++) {
      expect((await start(id, { type: 'export' }, { headers })).status).toBe(200)
    }
    expect(await jobsOf(id)).toHaveLength(1)
  })
})
