// The paths beside the API, where it matters who asks.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '../../test/harness/app.ts'

let app: TestApp
let guarded: TestApp
const TOKEN = 'token-for-the-metrics'

beforeAll(async () => {
  app = await startTestApp({ TRUSTED_PROXIES: '10.0.0.1' })
  guarded = await startTestApp({ METRICS_TOKEN: TOKEN })
  guarded.canary.plant('metrics token', TOKEN)
})
afterAll(async () => {
  await app.close()
  await guarded.close()
})

describe('GET /metrics', () => {
  test.each(['127.0.0.1', '127.8.7.6', '::1', '::ffff:127.0.0.1'])(
    '200 from this machine: %s',
    async (ip) => {
      const answer = await app.get('/metrics', { ip })
      expect(answer.status).toBe(200)
      expect(answer.body).toContain('process_cpu_seconds_total')
    },
  )

  test.each([
    ['another machine', '192.0.2.7', {}],
    ['another machine that calls itself this one', '192.0.2.7', { 'x-forwarded-for': '127.0.0.1' }],
    ['a trusted proxy, on behalf of this machine', '10.0.0.1', { 'x-forwarded-for': '127.0.0.1' }],
    ['a proxy on this machine', '127.0.0.1', { 'x-forwarded-for': '192.0.2.7' }],
    ['one that names this machine', '127.0.0.1', { 'x-forwarded-for': '127.0.0.1' }],
    ['one that hides whom it asks for', '127.0.0.1', { forwarded: 'for=hidden' }],
    ['an address that only looks like ours', '::ffff:192.0.2.127', {}],
  ])('403 from %s', async (_who, ip, headers) => {
    const answer = await app.get('/metrics', { ip, headers })
    expect(answer).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
    expect(JSON.stringify(answer.body)).not.toContain('process_cpu')
  })

  test('with METRICS_TOKEN: the token decides, from wherever', async () => {
    const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
    expect((await guarded.get('/metrics', { ip: '192.0.2.7', ...bearer(TOKEN) })).status).toBe(200)
    expect((await guarded.get('/metrics', bearer(`${TOKEN}s`))).status).toBe(403)
    expect((await guarded.get('/metrics', bearer(TOKEN.toUpperCase()))).status).toBe(403)
    expect((await guarded.get('/metrics')).status).toBe(403)
  })
})

test.each(['/_livez', '/_readyz', '/metrics'])('405 for POST %s', async (path) => {
  const answer = await app.post(path, {})
  expect(answer).toMatchObject({
    status: 405,
    body: { code: 'method_not_allowed' },
    headers: { allow: 'GET, HEAD' },
  })
})

describe('GET /_readyz', () => {
  test('503 names the migrations that are due', async () => {
    // The store of a test is opened by the first who asks, which may take longer than readiness waits.
    await expect.poll(async () => (await app.get('/_readyz')).body).toEqual({ status: 'ok', missing: [] })
    const { rows } = await app.db.pool.query<{ name: string }>('DELETE FROM migration RETURNING name')
    const missing = rows.map(({ name }) => `migration ${name}`)
    expect(missing.length).toBeGreaterThan(0)
    const answer = await app.get('/_readyz')
    expect(answer).toMatchObject({ status: 503, body: { status: 'not ready' } })
    expect(answer.body.missing.toSorted()).toEqual(missing.toSorted())
    for (const { name } of rows) await app.db.pool.query('INSERT INTO migration (name) VALUES ($1)', [name])
    expect((await app.get('/_readyz')).status).toBe(200)
  })
})
