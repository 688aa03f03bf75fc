// Every path that a client library asks for a feature that is not here: a valid answer that there is none of it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'

const ORIGIN = { origin: 'https://shop.example' }
const NO_DEFINITIONS = { flags: [], group_type_mapping: {}, cohorts: {} }

let app: TestApp
let workspace: Workspace
let token: string
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  token = workspace.project.api_token
})
afterAll(() => app.close())

describe('for pages, with the token of a project', () => {
  const LISTS: [string, object][] = [
    ['/api/early_access_features/', { earlyAccessFeatures: [] }],
    ['/api/product_tours/', { product_tours: [] }],
    ['/api/surveys/', { surveys: [] }],
    ['/api/web_experiments/', { experiments: [] }],
  ]

  it.each(LISTS)('%s', async (path, body) => {
    const answer = await app.get(`${path}?token=${token}`, { headers: ORIGIN })
    expect(answer).toMatchObject({
      status: 200,
      headers: { 'access-control-allow-origin': ORIGIN.origin, 'cache-control': 'no-store' },
    })
    expect(answer.body).toEqual(body)
    const preflight = await app.call('OPTIONS', path, {
      headers: { ...ORIGIN, 'access-control-request-headers': 'content-type' },
    })
    expect(preflight).toMatchObject({
      status: 204,
      headers: { 'access-control-allow-headers': 'content-type' },
    })
  })

  it.each(LISTS)('%s: a wrong token shows at once', async (path) => {
    expect(await app.get(`${path}?token=phc_nobody`)).toMatchObject({
      status: 401,
      body: { code: 'invalid_api_key' },
    })
    expect(await app.get(path)).toMatchObject({ status: 401, body: { code: 'missing_api_key' } })
  })
})

describe('what is taken and thrown away', () => {
  it.each(['/s/', '/i/v1/logs', '/i/v1/metrics/', '/i/v1/traces'])('%s', async (path) => {
    for (const body of ['no json at all', { resourceLogs: [] }, 'x'.repeat(1_100_000)])
      expect(await app.post(`${path}?token=${token}`, body, { headers: ORIGIN })).toMatchObject({
        status: 200,
        body: { status: 1 },
        headers: { 'access-control-allow-origin': ORIGIN.origin },
      })
  })

  it.each(['POST', 'DELETE'])('%s /api/push_subscriptions/', async (method) => {
    const body = { api_key: token, distinct_id: 'd', device_token: 't', platform: 'ios', app_id: 'a' }
    expect(await app.call(method, '/api/push_subscriptions/', { body })).toMatchObject({ status: 200 })
    expect((await app.get('/api/push_subscriptions/')).status).toBe(405)
  })
})

describe('for servers, with a personal key', () => {
  const PATHS = ['/api/feature_flag/local_evaluation', '/flags/definitions', '/api/feature_flag']

  it.each(PATHS.flatMap((path) => [path, `${path}/`]))('%s', async (path) => {
    const key = await createKey(app, workspace.owner, { scopes: ['feature_flag:read'] })
    const answer = await app.get(`${path}?token=${token}&send_cohorts`, { key })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject(NO_DEFINITIONS)
  })

  it('the oldest libraries read a list', async () => {
    const key = await createKey(app, workspace.owner, { scopes: ['feature_flag:read'] })
    const page = { count: 0, next: null, previous: null, results: [] }
    expect((await app.get('/api/feature_flag/', { key })).body).toEqual({ ...NO_DEFINITIONS, ...page })
    expect((await app.get('/api/projects/@current/feature_flags/', { key })).body).toEqual(page)
  })

  it('a key limited to a project has it too; one without the scope, and none, do not', async () => {
    const limited = await createKey(app, workspace.owner, {
      scopes: ['feature_flag:read'],
      scoped_teams: [workspace.project.id],
    })
    const other = await createKey(app, workspace.owner, { scopes: ['query:read'] })
    for (const path of PATHS) {
      expect((await app.get(path, { key: limited })).status).toBe(200)
      expect((await app.get(path, { key: other })).status).toBe(403)
      expect((await app.get(path)).status).toBe(401)
      expect((await app.get(path, { key: token })).status).toBe(401)
    }
  })
})
