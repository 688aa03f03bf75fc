// Limits on guessing: which routes they hold for, what counts as one place, and what a client meets within the process.
// The attacks on the running program are in test/attacks/guesses.test.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createUser } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { routes } from '../../app/http.ts'
import { sql } from '../db/sql.ts'
import { createUserWithDevice, login } from '../../features/two-factor/fixture/authenticator.ts'
import type { Route } from './route.ts'
import { forgetOldTries } from './tries.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

describe('routes', () => {
  /** Fields that present a secret of an account; the settings of exports and plugins are secrets of others. */
  const SECRETS = ['password', 'current_password', 'token', 'code']
  /** Open to anybody, and nothing to guess: how a domain signs in is public. */
  const NO_SECRET = ['POST /api/login/precheck/', 'GET /_preflight/', 'GET /login/saml/metadata/:domain_id/']
  /** Counts a try only where a current password is sent along: the attacks on S35 hold that. */
  const COUNTS_BY_ITSELF = ['PATCH /api/users/:uuid/']
  const nameOf = ({ method, path }: Route) => `${method} ${path}`

  function fieldsOf(schema: z.ZodType | undefined): string[] {
    const { properties = {} } = schema ? z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) : {}
    return Object.keys(properties)
  }

  it('that take a secret, or need no credential at all, say what they take tries at', () => {
    const takesSecret = (route: Route) =>
      route.access === 'anyone' ||
      [route.body, route.query].flatMap(fieldsOf).some((field) => SECRETS.includes(field))
    const taking = routes.filter((route) => takesSecret(route) && !NO_SECRET.includes(nameOf(route)))
    expect(taking.length).toBeGreaterThan(9)
    expect(taking.filter((route) => !route.guesses).map(nameOf)).toEqual(COUNTS_BY_ITSELF)
  })
})

describe('through HTTP', () => {
  let app: TestApp
  beforeAll(async () => {
    app = await startTestApp({ RATE_LIMITS: 'on', METRICS_TOKEN: 'right-metrics-token' })
  })
  afterAll(() => app.close())

  const reset = (ip: string) =>
    app.get('/api/reset/00000000-0000-4000-8000-000000000000/?token=guess', { ip })
  const statuses = async (count: number, send: () => Promise<{ status: number }>) => {
    const replies = await Promise.all(Array.from({ length: count }, send))
    return replies.map(({ status }) => status).toSorted((a, b) => a - b)
  }

  it('429 for all but 40 of many sent at once, until the time that Retry-After names', async () => {
    expect(await statuses(100, () => reset('198.51.100.1'))).toEqual([
      ...Array<number>(40).fill(400),
      ...Array<number>(60).fill(429),
    ])
    const refused = await reset('198.51.100.1')
    const wait_s = Number(refused.headers['retry-after'])
    expect(refused.body).toMatchObject({ type: 'throttled_error', code: 'throttled' })
    expect((await reset('198.51.100.2')).status).toBe(400)
    app.advance((wait_s - 1) * 1000)
    expect((await reset('198.51.100.1')).status).toBe(429)
    app.advance(1000)
    expect((await reset('198.51.100.1')).status).toBe(400)
  })

  it('429 for a network with 200 wrong ones, from an address of it that never tried', async () => {
    for (let host = 1; host <= 5; host++) await statuses(40, () => reset(`203.0.113.${host}`))
    expect((await reset('203.0.113.6')).status).toBe(429)
    expect((await reset('203.0.114.6')).status).toBe(400)
  })

  it('429 with 200 wrong ones in a day, however slowly they come', async () => {
    for (let round = 0; round < 5; round++) {
      expect(new Set(await statuses(40, () => reset('192.0.2.9')))).toEqual(new Set([400]))
      app.advance(10 * MINUTE_MS)
    }
    const refused = await reset('192.0.2.9')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(23 * 60 * 60 - 10 * 60)
  })

  it('a right password uses nothing up, also where a second factor is still to come; a wrong one does', async () => {
    const [user, careful] = [await createUser(app), await createUserWithDevice(app)]
    const used = () => app.db.only<{ sum: number }>(sql`SELECT coalesce(sum(used), 0)::int AS sum FROM tries`)
    const before = await used()
    expect((await login(app, user)).status).toBe(200)
    expect((await login(app, careful)).status).toBe(401)
    expect(await used()).toEqual(before)
    expect((await login(app, { ...user, password: 'wrong' })).status).toBe(400)
    // Two windows each of address and network, and that of the account.
    expect(await used()).toEqual({ sum: before.sum + 5 })
  })

  it('a wrong metrics token is a guess, the right one is none', async () => {
    const metrics = (token: string) =>
      app.get('/metrics', { ip: '192.0.2.60', headers: { authorization: `Bearer ${token}` } })
    expect(await statuses(61, () => metrics('wrong'))).toEqual([...Array<number>(60).fill(403), 429])
    expect((await metrics('right-metrics-token')).status).toBe(200)
  })

  it('windows that have ended are swept out', async () => {
    const count = () =>
      app.db.only<{ count: number }>(sql`SELECT count(*)::int AS count FROM tries`).then((row) => row.count)
    await reset('192.0.2.70')
    expect(await count()).toBeGreaterThan(0)
    await forgetOldTries(app.db, app.services.now())
    expect(await count()).toBeGreaterThan(0)
    await forgetOldTries(app.db, new Date(app.services.now().getTime() + DAY_MS))
    expect(await count()).toBe(0)
  })
})
