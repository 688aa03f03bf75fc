import { afterAll, beforeAll, expect, it } from 'vitest'
import { openMetrics } from '../platform/http/metrics.ts'
import { buildServer } from '../platform/http/server.ts'
import { startTestApp, type TestApp } from '../../test/harness/app.ts'
import { hasAnyUser } from '../features/users/queries.ts'
import { closedUntilReady } from './closed-until-ready.ts'
import { access, routes } from './http.ts'
import { addHealth } from './pages.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())

it('lets nobody in, and nobody sign up as the first user, until the server is ready', async () => {
  const { services } = app
  const metrics = openMetrics()
  const http = buildServer({ services, access, routes, metrics, trusted_proxies: [], public_url: null })
  addHealth(http, services, metrics, null)
  const open = closedUntilReady(http)
  const signUp = () =>
    http.inject({
      method: 'POST',
      url: '/api/signup/',
      payload: { first_name: 'Eve', email: 'eve@example.com', password: 'a quite long and odd passphrase 7' },
    })
  const early = await signUp()
  expect([early.statusCode, early.json().code, early.headers['retry-after']]).toEqual([
    503,
    'unavailable',
    '1',
  ])
  const notReady = await http.inject('/_readyz')
  expect([notReady.statusCode, notReady.json()]).toEqual([503, { status: 'not ready', missing: ['start'] }])
  expect(app.logs.filter((line) => JSON.parse(line).level >= 50)).toEqual([])
  expect((await http.inject('/_livez')).statusCode).toBe(200)
  expect(await hasAnyUser(app.db)).toBe(false)
  open()
  await expect.poll(async () => (await http.inject('/_readyz')).statusCode).toBe(200)
  expect((await signUp()).statusCode).toBe(201)
  await http.close()
})
