// Request limits: the counting itself, and what a client meets.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, createOrganization, createServiceKey, createUser } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { ApiError } from './errors.ts'
import { Throttle, type Rate } from './throttle.ts'

const MINUTE_MS = 60_000
const START = new Date('2026-03-01T12:00:00Z').getTime()

describe('counting', () => {
  const RATES: Rate[] = [
    { count: 3, window_ms: MINUTE_MS },
    { count: 5, window_ms: 10 * MINUTE_MS },
  ]

  /** Seconds to wait as told to the client, or 0 when the request passed. */
  function attempt(
    throttle: Throttle,
    at_ms: number,
    { who = 'a', bucket = 'requests', amount = 1, rates = RATES } = {},
  ): number {
    try {
      throttle.take(bucket, who, rates, new Date(START + at_ms), amount)
      return 0
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return Number(error.headers['retry-after'])
    }
  }

  it('lets a window’s worth through, then says how long to wait, then lets through again', () => {
    const throttle = new Throttle(true)
    const answers = [0, 1000, 2000, 3000, 59_999, 60_000].map((at) => attempt(throttle, at))
    expect(answers).toEqual([0, 0, 0, 57, 1, 0])
  })

  it('counts every rate, and the longest wait is told', () => {
    const throttle = new Throttle(true)
    const used = [0, 0, 0, MINUTE_MS, MINUTE_MS].map((at) => attempt(throttle, at))
    expect(used).toEqual([0, 0, 0, 0, 0])
    expect(attempt(throttle, MINUTE_MS)).toBe(540)
    expect(attempt(throttle, 5 * MINUTE_MS)).toBe(300)
    expect(attempt(throttle, 10 * MINUTE_MS)).toBe(0)
  })

  it('does not count what it refuses, in no rate', () => {
    const throttle = new Throttle(true)
    for (let tries = 0; tries < 100; tries++) attempt(throttle, 0)
    // Only three of the five requests in ten minutes are used up.
    expect([MINUTE_MS, MINUTE_MS, MINUTE_MS].map((at) => attempt(throttle, at))).toEqual([0, 0, 540])
  })

  it('keeps callers and buckets apart', () => {
    const throttle = new Throttle(true)
    for (let tries = 0; tries < 4; tries++) attempt(throttle, 0)
    expect(attempt(throttle, 0)).toBe(60)
    expect(attempt(throttle, 0, { who: 'b' })).toBe(0)
    expect(attempt(throttle, 0, { bucket: 'invites' })).toBe(0)
  })

  it('takes several at once or none', () => {
    const throttle = new Throttle(true)
    expect(attempt(throttle, 0, { amount: 2 })).toBe(0)
    expect(attempt(throttle, 0, { amount: 2 })).toBe(60)
    expect(attempt(throttle, 0, { amount: 1 })).toBe(0)
    expect(attempt(throttle, 0, { amount: 1 })).toBe(60)
  })

  it('lets everything through when it is off', () => {
    const throttle = new Throttle(false)
    for (let tries = 0; tries < 100; tries++) expect(attempt(throttle, 0)).toBe(0)
  })

  it('forgets nobody who still counts, however many come by', () => {
    const throttle = new Throttle(true)
    const once = [{ count: 1, window_ms: MINUTE_MS }]
    for (let who = 0; who < 25_000; who++)
      attempt(throttle, who < 12_500 ? 0 : 30_000, { who: String(who), rates: once })
    expect(attempt(throttle, MINUTE_MS, { who: '0', rates: once })).toBe(0)
    expect(attempt(throttle, MINUTE_MS, { who: '24999', rates: once })).toBe(30)
  })
})

describe('per key', () => {
  let app: TestApp
  beforeAll(async () => {
    app = await startTestApp({ RATE_LIMITS: 'on' })
  })
  afterAll(() => app.close())

  const ITSELF = '/api/personal_api_keys/@current/'

  /** Many quick requests; the statuses that came, with their number. */
  async function send(
    count: number,
    credential: { key: string } | { session: string },
    url = ITSELF,
  ): Promise<Record<string, number>> {
    const headers =
      'key' in credential
        ? { authorization: `Bearer ${credential.key}` }
        : { cookie: `sessionid=${credential.session}` }
    const statuses: Record<string, number> = {}
    for (let sent = 0; sent < count; sent += 20) {
      const batch = Array.from({ length: Math.min(20, count - sent) }, () =>
        app.http.inject({ method: 'GET', url, headers }),
      )
      for (const { statusCode } of await Promise.all(batch))
        statuses[statusCode] = (statuses[statusCode] ?? 0) + 1
    }
    return statuses
  }

  it(
    '480 a minute and 4800 an hour pass, whatever the path; then 429 tells when to come back',
    { tags: 'slow' },
    async () => {
      const { organization, owner } = await createOrganization(app)
      const as = { key: owner.key }
      expect(await send(240, as)).toEqual({ 200: 240 })
      expect(await send(240, as, `/api/organizations/${organization.id}/`)).toEqual({ 200: 240 })

      const refused = await app.get(ITSELF, as)
      expect(refused.status).toBe(429)
      const wait = Number(refused.headers['retry-after'])
      expect(Number.isInteger(wait) && wait >= 1 && wait <= 60).toBe(true)
      expect(refused.body).toEqual({
        type: 'throttled_error',
        code: 'throttled',
        detail: `Request was throttled. Expected available in ${wait} seconds.`,
        attr: null,
      })

      const other = await createKey(app, owner, { scopes: ['*'] })
      expect((await app.get(ITSELF, { key: other })).status).toBe(200)
      expect((await app.get('/api/organizations/', { session: owner.session })).status).toBe(200)

      // A refused request changes nothing and does not count, so nine more minutes' worth pass in this hour.
      const name = await app.patch(`/api/organizations/${organization.id}/`, { name: 'Too late' }, as)
      expect(name.status).toBe(429)
      for (let minute = 1; minute < 10; minute++) {
        app.advance(MINUTE_MS)
        expect(await send(480, as)).toEqual({ 200: 480 })
        expect(await send(20, as)).toEqual({ 429: 20 })
      }
      app.advance(MINUTE_MS)
      const late = await app.get(ITSELF, as)
      expect(late.status).toBe(429)
      expect(Number(late.headers['retry-after'])).toBeGreaterThan(45 * 60)
      app.advance(50 * MINUTE_MS)
      expect((await app.get(`/api/organizations/${organization.id}/`, as)).body.name).toBe(organization.name)
    },
  )

  it('service keys are limited as personal ones', async () => {
    const { organization } = await createOrganization(app)
    const key = await createServiceKey(app, organization, { scopes: ['*'] })
    expect(await send(500, { key })).toEqual({ 200: 480, 429: 20 })
  })

  it('sessions are not limited', async () => {
    const { owner } = await createOrganization(app)
    expect(await send(520, { session: owner.session }, '/api/personal_api_keys/')).toEqual({ 200: 520 })
  })
})

describe('KEY_LIMITS_PERCENT', () => {
  it('moves what a key may ask for, and all keys of an organization together', async () => {
    const app = await startTestApp({ RATE_LIMITS: 'on', KEY_LIMITS_PERCENT: '1' })
    const ask = async (key: string, organization: { id: string }) =>
      (await app.get(`/api/organizations/${organization.id}/`, { key })).status
    try {
      const { organization, owner } = await createOrganization(app)
      const neighbour = await createOrganization(app)
      const statuses: number[] = []
      for (let keys = 0; keys < 10; keys++) {
        const key = await createServiceKey(app, organization, { scopes: ['*'] })
        for (let asked = 0; asked < 5; asked++) statuses.push(await ask(key, organization))
      }
      // Each may ask five times a minute, all of them 48 times.
      expect(statuses).toEqual([...Array(48).fill(200), 429, 429])
      const key = await createServiceKey(app, organization, { scopes: ['*'] })
      expect(await ask(key, organization)).toBe(429)
      expect(await ask(neighbour.owner.key, organization)).toBe(404)
      expect(await ask(neighbour.owner.key, neighbour.organization)).toBe(200)
      const visit = await app.get(`/api/organizations/${organization.id}/`, { session: owner.session })
      expect(visit.status).toBe(200)
    } finally {
      await app.close()
    }
  })

  it('counts for an organization what is about it, not what comes behind that in one batch of tools', async () => {
    const app = await startTestApp({ RATE_LIMITS: 'on', KEY_LIMITS_PERCENT: '1' })
    const call = (id: number, name: string, fields: object) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name, arguments: fields },
    })
    try {
      const { organization, owner } = await createOrganization(app)
      for (let keys = 0; keys < 10; keys++) {
        const key = await createKey(app, owner, { scopes: ['*'] })
        const others = Array.from({ length: 4 }, (_, index) => call(index + 1, 'list_organizations', {}))
        const batch = [call(0, 'list_members', { organization_id: organization.id }), ...others]
        const { body } = await app.post('/mcp', batch, { key })
        expect(body.filter(({ result }: { result: { isError?: true } }) => result.isError)).toEqual([])
      }
    } finally {
      await app.close()
    }
  })
})

describe('RATE_LIMITS=off', () => {
  it('lets everything through', async () => {
    const app = await startTestApp({ RATE_LIMITS: 'off' })
    try {
      const { key } = await createUser(app)
      const authorization = `Bearer ${key}`
      const statuses = new Set<number>()
      for (let sent = 0; sent < 500; sent++) {
        const { statusCode } = await app.http.inject({
          url: '/api/personal_api_keys/@current/',
          headers: { authorization },
        })
        statuses.add(statusCode)
      }
      expect([...statuses]).toEqual([200])
    } finally {
      await app.close()
    }
  })
})
