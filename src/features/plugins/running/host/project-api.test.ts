// posthog.api inside this server: what an app reads and writes with it, and what it never reaches.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../../test/harness/app.ts'
import { capture, switchOn } from '../fixture/apps.ts'
import type { AppIds } from '../running-app.ts'

let app: TestApp
let workspace: Workspace
let ids: AppIds
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  ids = await switchOn(
    app,
    workspace,
    `export const jobs = { call: async ({ method, path, data }) => {
      try {
        const answer = await posthog.api[method](path, data && { data })
        return { status: answer.status, body: await answer.json() }
      } catch (error) { return error.message }
    } }`,
  )
  await capture(app, workspace, { event: 'seen', distinct_id: 'ann', $set: { email: 'ann@example.com' } })
})
afterAll(() => app.close())

const call = (method: string, path: string, data?: object) =>
  app.plugins.call(app.plugins.current(ids.config_id)!, {
    method: 'job',
    name: 'call',
    payload: { method, path, data: data ?? null },
  })

it('reads events and persons of its own project', async () => {
  expect(await call('get', '/api/projects/@current/events/')).toMatchObject({
    status: 200,
    body: { results: [{ event: 'seen', distinct_id: 'ann' }] },
  })
  const path = `/api/projects/${workspace.project.id}/persons?distinct_id=ann`
  expect(await call('get', path)).toMatchObject({
    status: 200,
    body: { results: [{ distinct_ids: ['ann'] }] },
  })
})

it('writes annotations, which say which app wrote them', async () => {
  const path = '/api/projects/@current/annotations'
  const data = { content: 'v1', scope: 'organization', date_marker: '2026-11-01T00:00:00Z' }
  expect(await call('post', path, data)).toMatchObject({
    status: 201,
    body: { content: 'v1', created_by: null },
  })
  const log = await app.get(`/api/projects/${workspace.project.id}/activity_log/`, {
    key: workspace.owner.key,
  })
  expect(log.body.results[0]).toMatchObject({
    scope: 'Annotation',
    actor: { name: 'service key Made', key_id: `app:${ids.config_id}` },
  })
})

it('finds no feature flags, as there are none', async () => {
  for (const name of ['feature_flags', 'feature_flags/', 'cohorts/'])
    expect(await call('get', `/api/projects/@current/${name}`)).toMatchObject({ body: { results: [] } })
  expect(await call('get', '/api/projects/@current/groups/related?id=1')).toEqual({ status: 200, body: [] })
})

it.each([
  ['get', '/api/users/@me/'],
  ['get', '/api/organizations/@current/members/'],
  ['get', '/api/projects/@current'],
  ['get', '//evil.example/api/projects/@current/events/'],
  ['get', 'https://evil.example/api/projects/@current/events/'],
  ['get', '/api/projects/@current/../../users/@me/'],
  ['get', '/api/projects/@current/%2e%2e/%2e%2e/users/@me/'],
])('reaches nothing but its project: %s %s', async (method, path) => {
  expect(await call(method, path)).toMatch(/reaches .* only/)
})

it('has no right to anything else there, and none to another project', async () => {
  const base = '/api/projects/@current'
  for (const [method, path] of [
    ['get', `${base}/plugin_configs/`],
    ['get', `${base}/batch_exports/`],
    ['post', `${base}/plugin_configs/`],
    ['patch', `${base}/plugin_configs/${ids.config_id}/`],
    ['get', `${base}/activity_log/`],
  ] as const)
    expect(await call(method, path, method === 'get' ? undefined : {}), path).toMatchObject({ status: 403 })
  const stranger = await createOrganization(app)
  expect(await call('get', `/api/projects/${stranger.project.id}/events/`)).toMatch(/reaches .* only/)
})
