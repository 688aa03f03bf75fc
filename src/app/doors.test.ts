// Processes that have some of the roles: which paths each answers, and what it says of the others.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization } from '../../test/factories.ts'
import { startTestApp, type TestApp } from '../../test/harness/app.ts'
import { switchOn } from '../features/plugins/running/fixture/apps.ts'

const SHARED = {
  DATABASE_URL: 'postgres://db.example/longshore',
  CLICKHOUSE_URL: 'http://127.0.0.1:9',
  SECRET_KEY: 'k'.repeat(32),
  SITE_URL: 'http://longshore.test',
}

const API = ['/api/users/@me/', '/_preflight/', '/login', '/docs', '/api/schema/', '/mcp', '/scim/v2/x']
const CAPTURE = [
  '/capture/',
  '/e',
  '/batch/',
  '/flags/',
  '/decide',
  '/array/x/array.js',
  '/static/array.js',
  '/site_app/1/x/y',
]
const EVERYWHERE = ['/_livez', '/metrics']

const apps = new Map<string, TestApp>()
beforeAll(async () => {
  const first = await startTestApp({ ...SHARED, ROLES: 'api' })
  apps.set('api', first)
  for (const roles of ['capture', 'plugins', 'worker'])
    apps.set(roles, await startTestApp({ ...SHARED, ROLES: roles }, first))
})
afterAll(async () => {
  for (const app of [...apps.values()].toReversed()) await app.close()
})

const closed = (served: string, role: string, own: string) => ({
  status: 404,
  body: {
    type: 'invalid_request',
    code: 'not_found',
    detail: `${served} served by processes with the role ${role}; this one has the role ${own}.`,
    attr: null,
  },
})

describe.each(['api', 'capture', 'worker', 'plugins'])('a process with the role %s', (role) => {
  it('tells how it is', async () => {
    for (const path of EVERYWHERE) expect((await apps.get(role)!.get(path)).status, path).toBe(200)
  })

  it.each([
    ['api', 'The API and the console are', API],
    ['capture', 'Capture is', CAPTURE],
  ])(
    'opens the paths of %s if it has that role, and says who does otherwise',
    async (door, served, paths) => {
      for (const path of paths) {
        const answer = await apps.get(role)!.get(path)
        if (role === door) expect(String(answer.body?.detail), path).not.toContain('role')
        else expect(answer, path).toMatchObject(closed(served, door, role))
      }
    },
  )
})

it('apps reach the API of their project in a process that does not serve it, others do not', async () => {
  const app = apps.get('plugins')!
  const workspace = await createOrganization(app)
  const ids = await switchOn(
    app,
    workspace,
    `export const jobs = { call: async () => (await posthog.api.get('/api/projects/@current/annotations/')).status }`,
  )
  const running = app.plugins.current(ids.config_id)!
  expect(await app.plugins.call(running, { method: 'job', name: 'call', payload: {} })).toBe(200)
  const url = `/api/projects/${workspace.project.id}/annotations/`
  expect((await app.get(url, { key: workspace.owner.key })).status).toBe(404)
  expect((await apps.get('api')!.get(url, { key: workspace.owner.key })).status).toBe(200)
})
