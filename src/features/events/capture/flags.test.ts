import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'

let app: TestApp
let token: string
beforeAll(async () => {
  app = await startTestApp()
  token = (await createOrganization(app)).project.api_token
})
afterAll(() => app.close())

const NO_FLAGS = {
  config: { enable_collect_everything: true },
  toolbarParams: {},
  isAuthenticated: false,
  supportedCompression: ['gzip', 'gzip-js'],
  featureFlags: {},
  featureFlagPayloads: {},
  flags: {},
  errorsWhileComputingFlags: false,
  sessionRecording: false,
  capturePerformance: false,
  autocapture_opt_out: false,
  autocaptureExceptions: false,
  analytics: { endpoint: '/i/v0/e/' },
  elementsChainAsString: true,
  surveys: false,
  heatmaps: false,
  siteApps: [],
}

describe('flags', () => {
  it.each(['/decide/?v=3', '/decide?v=2', '/flags/?v=2', '/flags', '/flags/?v=2&config=true'])(
    'POST %s: there are none',
    async (url) => {
      for (const body of [{ token, distinct_id: 'd' }, { api_key: ` ${token} ` }])
        expect(await app.post(url, body)).toMatchObject({ status: 200, body: NO_FLAGS })
    },
  )

  it.each(['/decide/', '/decide/?v=1'])('POST %s: libraries from before variants get a list', async (url) => {
    const body = { ...NO_FLAGS, featureFlags: [] }
    expect((await app.post(url, { token, distinct_id: 'd' })).body).toEqual(body)
  })

  it('packed as events are', async () => {
    const data = Buffer.from(JSON.stringify({ token, distinct_id: 'd' })).toString('base64')
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect(
      (await app.post('/flags/?v=2&compression=base64', `data=${encodeURIComponent(data)}`, { headers }))
        .status,
    ).toBe(200)
    const response = await app.http.inject({
      method: 'POST',
      url: '/flags/?v=2',
      payload: gzipSync(JSON.stringify({ token })),
    })
    expect(response.json()).toEqual(NO_FLAGS)
  })

  it.each(['token', 'api_key'])('GET with %s', async (name) => {
    expect(await app.get(`/flags/?v=2&${name}=${token}`)).toMatchObject({ status: 200, body: NO_FLAGS })
  })

  it.each<[string, unknown, number, string]>([
    ['unknown', { token: 'phc_nobody' }, 401, 'invalid_api_key'],
    ['a personal key', { token: 'phx_1' }, 401, 'invalid_api_key'],
    ['missing', { distinct_id: 'd' }, 401, 'missing_api_key'],
    ['no JSON', 'hello!', 400, 'invalid_payload'],
    ['a list', [], 401, 'missing_api_key'],
  ])('token %s', async (_, body, status, code) => {
    expect(await app.post('/flags/?v=2', body)).toMatchObject({ status, body: { code } })
  })

  it('GET without a token', async () => {
    expect(await app.get('/decide/')).toMatchObject({ status: 401, body: { code: 'missing_api_key' } })
  })
})

describe('remote config', () => {
  it('as JSON', async () => {
    expect(await app.get(`/array/${token}/config`)).toMatchObject({
      status: 200,
      body: { token, supportedCompression: ['gzip', 'gzip-js'], sessionRecording: false },
    })
  })

  it('says nothing that makes posthog-js fetch more scripts', async () => {
    const { body } = await app.get(`/array/${token}/config`)
    expect(body).not.toHaveProperty('surveys')
    const { capturePerformance, autocaptureExceptions, captureDeadClicks, sessionRecording, siteApps } = body
    expect([capturePerformance, autocaptureExceptions, captureDeadClicks, sessionRecording]).toEqual(
      Array(4).fill(false),
    )
    expect(siteApps).toEqual([])
  })

  it('has pages capture exceptions and web vitals where the project says so', async () => {
    const { owner, project } = await createOrganization(app)
    const fields = { autocapture_exceptions_opt_in: true, autocapture_web_vitals_opt_in: true }
    const url = `/api/projects/${project.id}/`
    expect(await app.patch(url, fields, { key: owner.key })).toMatchObject({ status: 200, body: fields })
    const wanted = { autocaptureExceptions: true, capturePerformance: { web_vitals: true } }
    expect((await app.get(`/array/${project.api_token}/config`)).body).toMatchObject(wanted)
    expect((await app.post('/flags/?v=2', { token: project.api_token })).body).toMatchObject(wanted)
  })

  it('as a script that leaves it where the library looks', async () => {
    const { status, body, headers } = await app.get(`/array/${token}/config.js`)
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('application/javascript; charset=utf-8')
    const window: Record<string, unknown> = {}
    runInNewContext(body as string, { window })
    const { body: config } = await app.get(`/array/${token}/config`)
    expect(JSON.parse(JSON.stringify(window))).toEqual({
      _POSTHOG_REMOTE_CONFIG: { [token]: { config, siteApps: [] } },
    })
  })

  it.each(['config', 'config.js'])('of an unknown token: %s', async (name) => {
    expect(await app.get(`/array/phc_nobody/${name}`)).toMatchObject({
      status: 401,
      body: { code: 'invalid_api_key' },
    })
  })
})
