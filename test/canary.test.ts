// The search for secrets itself: it must find what stands in the open, or its silence over the whole suite means nothing.
import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { sql } from '../src/platform/db/sql.ts'
import { TOTP, Secret } from 'otpauth'
import { createOrganization } from './factories.ts'
import { startTestApp, type TestApp } from './harness/app.ts'

const newSecret = () => `secret-${randomBytes(12).toString('hex')}`

it.each<[string, (app: TestApp, secret: string) => Promise<void>, RegExp]>([
  [
    'a table',
    async (app, secret) => {
      await createOrganization(app, { name: secret.slice(0, 60) })
    },
    /a password stands in plain text in table public\./,
  ],
  [
    'a background job',
    async (app, secret) => {
      await app.db.run(sql`INSERT INTO pgboss.job (name, data) VALUES ('invite-email', ${{ note: secret }})`)
    },
    /in table pgboss\./,
  ],
  ['the log', async (app, secret) => app.services.log.info({ note: secret }, 'said too much'), /in the log/],
])('a secret in %s fails the test file that planted it', async (_where, leak, message) => {
  const app = await startTestApp()
  const secret = app.canary.plant('password', newSecret())
  await leak(app, secret)
  await expect(app.close()).rejects.toThrow(message)
})

it('a secret in an answer fails the call', async () => {
  const app = await startTestApp()
  const { owner } = await createOrganization(app, { name: 'Not a secret' })
  const url = '/api/organizations/@current/'
  expect((await app.get(url, { key: owner.key })).status).toBe(200)
  app.canary.plant('password', 'Not a secret')
  await expect(app.get(url, { key: owner.key })).rejects.toThrow(
    /a password stands in plain text in the answer/,
  )
  await expect(app.close()).rejects.toThrow(/in table/)
})

it('one life with every kind of secret leaves none of them in the open', async () => {
  const app = await startTestApp()
  const { owner, organization, project } = await createOrganization(app)
  const session = { session: owner.session }
  const own = (path: string) => `/api/organizations/${organization.id}/${path}`

  const key = await app.post('/api/personal_api_keys/', { label: 'ci', scopes: ['*'] }, session)
  app.canary.plant('API key', key.body.value)
  const rolled = await app.post(`/api/personal_api_keys/${key.body.id}/roll/`, {}, session)
  app.canary.plant('API key', rolled.body.value)
  const headers = { 'idempotency-key': newSecret() }
  const service = await app.post(
    own('service_keys/'),
    { label: 'bot', scopes: ['*'] },
    { ...session, headers },
  )
  app.canary.plant('service key', service.body.value)

  const secret = { token: app.canary.plant('destination token', newSecret()) }
  const exported = await app.post(
    `/api/projects/${project.id}/batch_exports/`,
    {
      name: 'out',
      interval: 'hour',
      destination: { type: 'HTTP', config: { url: 'https://8.8.8.8/', ...secret } },
    },
    { ...session, headers: { 'idempotency-key': newSecret() } },
  )
  expect(exported.status).toBe(201)
  const fresh = { token: app.canary.plant('destination token', newSecret()) }
  const one = `/api/projects/${project.id}/batch_exports/${exported.body.id}/`
  expect((await app.patch(one, { destination: { config: fresh } }, session)).status).toBe(200)

  const setup = await app.get('/api/users/@me/start_2fa_setup/', session)
  const seed = app.canary.plant('TOTP seed', setup.body.secret)
  const token = new TOTP({ secret: Secret.fromBase32(seed) }).generate({
    timestamp: app.services.now().getTime(),
  })
  const confirmed = await app.post('/api/users/@me/validate_2fa/', { token }, session)
  for (const code of confirmed.body.backup_codes) app.canary.plant('backup code', code)

  const password = app.canary.plant('password', `${newSecret()} and more`)
  const change = { password, current_password: owner.password }
  expect((await app.patch('/api/users/@me/', change, session)).status).toBe(200)
  const wrong = app.canary.plant('wrong password', newSecret())
  expect((await app.post('/api/login/', { email: owner.email, password: wrong })).status).toBe(400)
  const wrongKey = app.canary.plant('wrong key', `phx_${newSecret()}`)
  expect((await app.get(`/api/organizations/?personal_api_key=${wrongKey}`)).status).toBe(401)

  expect(app.canary.size).toBeGreaterThan(15)
  await app.close()
})
