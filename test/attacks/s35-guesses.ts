// Guessing over many accounts, links and keys at the running program: what one address and one network get to try, that
// a restart buys nothing, and that those who guess nothing go on beside it.
import { Secret, TOTP } from 'otpauth'
import { expect } from 'vitest'
import { post, request, signIn, type Answer } from '../end-to-end/http.ts'
import { buildProgram, type Env, type Running } from '../end-to-end/program.ts'
import { startSmtpServer } from '../stand-ins/smtp.ts'
import { attack, attackEach, type Attack } from './attack.ts'

const KEY = `phx_${'k'.repeat(40)}`
const OWNER = { email: 'owner@example.com', password: 'x9$Kq2!vZ of the owner' }
const NOBODY = '00000000-0000-4000-8000-000000000000'

/** A server that is started anew in between. */
export type GuessWorld = {
  smtp: Awaited<ReturnType<typeof startSmtpServer>>
  url: string
  restart(more?: Env): Promise<void>
  close(): Promise<void>
}

export async function openGuessWorld(): Promise<GuessWorld> {
  const [program, smtp] = await Promise.all([buildProgram(), startSmtpServer()])
  const env = {
    DATA_DIR: program.newDataDir(),
    SMTP_URL: smtp.url,
    TRUSTED_PROXIES: 'loopback',
    BOOTSTRAP_EMAIL: OWNER.email,
    BOOTSTRAP_PASSWORD: OWNER.password,
    BOOTSTRAP_API_KEY: KEY,
  }
  let server: Running = program.serve(env)
  const world: GuessWorld = {
    smtp,
    url: await server.url,
    async restart(more = {}) {
      server.kill('SIGTERM')
      expect((await server.ended).code).toBe(0)
      server = program.serve({ ...env, ...more })
      world.url = await server.url
    },
    async close() {
      await program.remove()
      await smtp.close()
    },
  }
  return world
}

/** We are the proxy: whom a request comes from is what its header says. */
const from = (client: string) => ({ headers: { 'x-forwarded-for': client } })

/** Sends many, twenty at a time; how often each status came. */
async function storm(
  count: number,
  send: (index: number) => Promise<Answer>,
): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {}
  for (let sent = 0; sent < count; sent += 20) {
    const batch = Array.from({ length: Math.min(20, count - sent) }, (_, index) => send(sent + index))
    for (const { status } of await Promise.all(batch)) statuses[status] = (statuses[status] ?? 0) + 1
  }
  return statuses
}

const sprayFrom = (url: string, client: (index: number) => string) => (index: number) =>
  post(
    `${url}/api/login/`,
    { email: `user-${index}@example.com`, password: 'Summer2026!' },
    from(client(index)),
  )
const keyFrom = (url: string, client: string, key: string) =>
  request('GET', `${url}/api/personal_api_keys/@current/`, { key, ...from(client) })
const linkFrom = (url: string, client: string, index = 0) =>
  request('GET', `${url}/api/signup/${String(index).padStart(66, 'm')}/`, from(client))

const SPRAYER = '198.51.100.1'

const NETWORKS: [string, (index: number) => string, fresh: string, elsewhere: string][] = [
  ['a /24 of IPv4', (index) => `192.0.2.${index % 250}`, '192.0.2.251', '192.0.3.1'],
  ['a /64 of IPv6', (index) => `2001:db8:a::${index}`, '2001:db8:a::ffff', '2001:db8:b::1'],
  ['a /48 of IPv6', (index) => `2001:db8:c:${index}::1`, '2001:db8:c:ffff::1', '2001:db8:d::1'],
]

const networks = attackEach<GuessWorld, (typeof NETWORKS)[number]>(
  'S35',
  NETWORKS,
  ([name]) => `${name} guesses no more by changing addresses`,
  async ({ url }, [name, client, fresh, elsewhere]) => {
    const limit = name === 'a /64 of IPv6' ? 40 : 200
    expect(await storm(260, (index) => linkFrom(url, client(index), index))).toEqual({
      400: limit,
      429: 260 - limit,
    })
    expect((await linkFrom(url, fresh)).status).toBe(429)
    expect((await linkFrom(url, elsewhere)).status).toBe(400)
  },
)

/** In this order: later ones find what earlier ones left. */
export const attacks: Attack<GuessWorld>[] = [
  attack<GuessWorld>('S35', '200 accounts with one password each: 40 are tried', async ({ url }) => {
    expect(
      await storm(
        200,
        sprayFrom(url, () => SPRAYER),
      ),
    ).toEqual({ 400: 40, 429: 160 })
    const refused = await sprayFrom(url, () => SPRAYER)(0)
    const wait_s = Number(refused.headers.get('retry-after'))
    expect(wait_s > 500 && wait_s <= 600, String(wait_s)).toBe(true)
    expect(refused.body).toMatchObject({ type: 'throttled_error', code: 'throttled' })
  }),

  attack<GuessWorld>(
    'S35',
    'the right password is not tried there either, and signs in elsewhere',
    async ({ url }) => {
      expect((await post(`${url}/api/login/`, OWNER, from(SPRAYER))).status).toBe(429)
      expect((await post(`${url}/api/login/`, OWNER, from('203.0.113.1'))).status).toBe(200)
    },
  ),

  attack<GuessWorld>(
    'S35',
    'keys, links and who is signed in already go on from that address',
    async ({ url }) => {
      expect((await keyFrom(url, SPRAYER, KEY)).status).toBe(200)
      expect((await linkFrom(url, SPRAYER)).status).toBe(400)
      const { cookie } = await signIn(url, OWNER.email, OWNER.password)
      const account = await request('GET', `${url}/api/users/@me/`, { cookie, ...from(SPRAYER) })
      expect(account).toMatchObject({ status: 200, body: { email: OWNER.email } })
      const change = (body: object) =>
        request('PATCH', `${url}/api/users/@me/`, { body, cookie, ...from(SPRAYER) })
      expect(await change({ first_name: 'Ada' })).toMatchObject({ status: 200, body: { first_name: 'Ada' } })
      const guess = { current_password: OWNER.password, password: `${OWNER.password} again` }
      expect((await change(guess)).status).toBe(429)
    },
  ),

  attack<GuessWorld>('S35', 'a restart gives nothing back', async (world) => {
    await world.restart()
    const { url } = world
    expect(
      await storm(
        20,
        sprayFrom(url, () => SPRAYER),
      ),
    ).toEqual({ 429: 20 })
    expect((await post(`${url}/api/login/`, OWNER, from('203.0.113.1'))).status).toBe(200)
  }),

  attack<GuessWorld>(
    'S35',
    'an address that the client makes up before its own is not looked at',
    async ({ url }) => {
      expect(
        await storm(
          20,
          sprayFrom(url, (index) => `192.0.2.${index}, ${SPRAYER}`),
        ),
      ).toEqual({ 429: 20 })
    },
  ),

  attack<GuessWorld>('S35', '120 links of invites: 40 are looked at', async ({ url }) => {
    expect(await storm(120, (index) => linkFrom(url, '198.51.100.2', index))).toEqual({ 400: 40, 429: 80 })
  }),

  attack<GuessWorld>('S35', 'links of resets and of verifications: 40 of both together', async ({ url }) => {
    const client = from('198.51.100.3')
    const reset = (index: number) => request('GET', `${url}/api/reset/${NOBODY}/?token=x-${index}`, client)
    const verify = (index: number) =>
      post(`${url}/api/users/${NOBODY}/verify_email/`, { uuid: NOBODY, token: `x-${index}` }, client)
    expect(await storm(80, (index) => (index % 2 === 0 ? reset(index) : verify(index)))).toEqual({
      400: 40,
      429: 40,
    })
  }),

  attack<GuessWorld>('S35', '60 mails asked for, each to another person: 20 are', async ({ url, smtp }) => {
    const ask = (email: string, client: string) => post(`${url}/api/reset/`, { email }, from(client))
    expect(await storm(60, (index) => ask(`user-${index}@example.com`, '198.51.100.4'))).toEqual({
      204: 20,
      429: 40,
    })
    expect((await ask(OWNER.email, '203.0.113.4')).status).toBe(204)
    expect((await smtp.waitForMail(OWNER.email)).subject).toBe('Set a new password for Longshore')
  }),

  attack<GuessWorld>(
    'S35',
    '700 wrong keys: 60 are told so, the right one works all along',
    async ({ url }) => {
      const client = '198.51.100.5'
      expect(await storm(700, (index) => keyFrom(url, client, `phx_${index}`))).toEqual({ 401: 60, 429: 640 })
      expect(await storm(100, () => keyFrom(url, client, KEY))).toEqual({ 200: 100 })
    },
  ),

  attack<GuessWorld>(
    'S35',
    'the pages of the links are no way round: they say nothing of a link',
    async ({ url }) => {
      const page = (secret: string) => request('GET', `${url}/signup/${secret}`, from('198.51.100.6'))
      const pages = await Promise.all(['p'.repeat(66), 'q'.repeat(66), 'short'].map(page))
      expect(pages.map(({ status }) => status)).toEqual([200, 200, 200])
      const texts = pages.map(({ body }) => String(body).replace(/name="nonce" content="[^"]+"/, ''))
      expect(new Set(texts).size).toBe(1)
      expect((await linkFrom(url, '198.51.100.6')).status).not.toBe(429)
    },
  ),

  ...networks,
  attack<GuessWorld>('S35', 'with RATE_LIMITS=off, the limits per address are off', async (world) => {
    await world.restart({ RATE_LIMITS: 'off' })
    const { url } = world
    expect(
      await storm(
        50,
        sprayFrom(url, () => '198.51.100.1'),
      ),
    ).toEqual({ 400: 50 })
    expect(await storm(80, (index) => keyFrom(url, '198.51.100.5', `phx_${index}`))).toEqual({ 401: 80 })
  }),

  attack<GuessWorld>(
    'S35',
    'with RATE_LIMITS=off, 60 passwords for one account at once: 30 are tried',
    async ({ url }) => {
      const guess = () => post(`${url}/api/login/`, { ...OWNER, password: 'wrong' }, from(SPRAYER))
      const replies = await Promise.all(Array.from({ length: 60 }, guess))
      expect(replies.filter(({ status }) => status === 400)).toHaveLength(30)
      const refused = replies.filter(({ status }) => status === 403)
      expect(refused).toHaveLength(30)
      for (const { body, headers } of refused) {
        expect(body.code).toBe('too_many_failed_attempts')
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(500)
      }
    },
  ),

  attack<GuessWorld>(
    'S35',
    'with RATE_LIMITS=off, 60 codes for one second factor at once, from 60 places: 10 are tried, and then not the right one',
    async ({ url }) => {
      const { cookie } = await signIn(url, OWNER.email, OWNER.password)
      const { secret } = (await request('GET', `${url}/api/users/@me/start_2fa_setup/`, { cookie })).body
      const totp = new TOTP({ secret: Secret.fromBase32(secret) })
      const confirmed = await post(
        `${url}/api/users/@me/validate_2fa/`,
        { token: totp.generate() },
        { cookie },
      )
      expect(confirmed.status).toBe(200)
      const pending = await signIn(url, OWNER.email, OWNER.password)
      expect(pending).toMatchObject({ status: 401, body: { code: '2fa_required' } })
      const present = (token: string, place: number) =>
        post(`${url}/api/login/token/`, { token }, { cookie: pending.cookie, ...from(`203.0.${place}.1`) })
      const replies = await Promise.all(Array.from({ length: 60 }, (_, place) => present('000000', place)))
      expect(replies.filter(({ body }) => body.code === '2fa_invalid')).toHaveLength(10)
      expect(replies.filter(({ body }) => body.code === '2fa_too_many_attempts')).toHaveLength(50)
      expect((await present(confirmed.body.backup_codes[0], 61)).body.code).toBe('2fa_too_many_attempts')
    },
  ),
]
