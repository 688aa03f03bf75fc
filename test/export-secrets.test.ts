// Every secret of every kind of destination, planted: made, changed, shown, run to failure against servers that repeat
// what they were sent, mailed about. None of them may turn up in an answer, and at the end in no log line and no table.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DESTINATIONS } from '../src/features/batch-exports/destinations/index.ts'
import { everyConfig, TYPES, withHost } from '../src/features/batch-exports/fixture/every-kind.ts'
import type { JsonObject } from '../src/lib/json-object.ts'
import { sql } from '../src/platform/db/sql.ts'
import { openOutbound } from '../src/platform/outbound/outbound.ts'
import { createOrganization, type Workspace } from './factories.ts'
import { startTestApp, type TestApp } from './harness/app.ts'
import { startPostgresServer, type PostgresProxy, type PostgresStandIn } from './stand-ins/postgres.ts'
import { startSmtpServer, type SmtpStandIn } from './stand-ins/smtp.ts'
import { HOUR_MS, setTenPastTheHour } from '../src/features/batch-exports/fixture/clock.ts'

const HOST = '127.0.0.1'

let app: TestApp
let workspace: Workspace
let key: string
let base: string
let smtp: SmtpStandIn
let database: PostgresStandIn
let proxy: PostgresProxy
let echo: Server
/** What reached the echo, so that it is known to have had something to repeat. */
let heard: string
/** How often a name still resolves. Those that have one are saved by it, and must not be dialled. */
let resolves = Infinity
beforeAll(async () => {
  smtp = await startSmtpServer()
  app = await startTestApp({ OUTBOUND_ALLOW: HOST, ALLOW_PLAINTEXT: 'on', SMTP_URL: smtp.url })
  setTenPastTheHour(app)
  app.services.outbound = openOutbound({
    allow: [HOST],
    lookup: async () => (resolves-- > 0 ? [{ address: HOST }] : []),
  })
  workspace = await createOrganization(app)
  key = workspace.owner.key
  base = `/api/projects/${workspace.project.id}/batch_exports/`
  database = await startPostgresServer()
  proxy = await database.openProxy()
  heard = ''
  echo = createServer((request, response) => {
    void read(request).then((text) => {
      heard += text
      response
        .writeHead(400, { 'content-type': 'application/xml', 'x-ms-error-code': 'InvalidInput' })
        .end(said(text))
    })
  })
  await once(echo.listen(0, HOST), 'listening')
})
afterAll(async () => {
  echo.close()
  await proxy.close()
  await database.close()
  // Looks through the log and the tables.
  await app.close()
  await smtp.close()
})

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [Buffer.from(`${request.url} ${JSON.stringify(request.rawHeaders)} `)]
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** As servers repeat what they do not like: plain, and escaped for JSON, HTML and addresses. */
function said(text: string): string {
  const known = [...planted.values()].flat().filter((secret) => text.includes(secret))
  const repeated = [...known, ...known.map((secret) => encodeURIComponent(secret).replaceAll('-', '&#45;'))]
  return `<Error><Code>InvalidAccessKeyId</Code><Message>no ${repeated.join(', ')}</Message></Error>${text}`
}

const planted = new Map<string, string[]>()
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

/** A secret of this type that nothing else is called. Keys must be good, or nobody would be called with them. */
function plant(type: string, name: string): string {
  const isKey = type === 'BigQuery' && name === 'private_key'
  const isBase64 = name === 'account_key'
  const random = `${name}-${randomBytes(9).toString('hex')}`
  const value = isKey
    ? privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    : isBase64
      ? randomBytes(30).toString('base64')
      : random
  const parts = isKey ? value.split('\n').filter((line) => !line.startsWith('-') && line !== '') : [value]
  for (const part of parts) app.canary.plant(`${type} ${name}`, part)
  planted.set(type, [...(planted.get(type) ?? []), ...parts])
  return value
}

const configOf = (type: string) => everyConfig((name) => plantOnce(type, name))[type]!

/** `everyConfig` makes all of them; those of one type are wanted. */
function plantOnce(type: string, name: string): string {
  const isOwn = DESTINATIONS.get(type)!.secrets.includes(name)
  return isOwn ? plant(type, name) : 'unused'
}

/** Where somebody listens who repeats what he hears. */
function aimed(type: string): JsonObject {
  const config = configOf(type)
  const port = ['Postgres', 'Redshift'].includes(type) ? proxy.port : (echo.address() as AddressInfo).port
  const path = planted.get(type)?.find((secret) => secret.startsWith('token_uri'))
  const there = withHost(type, config, HOST, port) ?? config
  return path ? { ...there, token_uri: `${String(there.token_uri)}${path}` } : there
}

const body = (type: string, config: JsonObject, name = 'Quiet') => ({
  name,
  interval: 'hour',
  destination: { type, config },
})
const organizationLevel = () => `/api/organizations/${workspace.organization.id}/batch_exports/`

describe('no answer shows a secret', () => {
  it.each(TYPES)('%s: made, changed, shown and steered', async (type) => {
    const config = configOf(type)
    const made = await app.post(base, body(type, config), { key })
    expect(made.status).toBe(201)
    const { secrets } = DESTINATIONS.get(type)!
    for (const secret of secrets) expect(made.body.destination.config).not.toHaveProperty(secret)
    const places = [base, base.replace('projects', 'environments'), organizationLevel()]
    const range = { start_at: '2024-01-01', end_at: '2024-01-02' }
    for (const place of places) {
      const one = `${place}${made.body.id}/`
      const again = configOf(type)
      for (const [reply, status] of [
        [await app.get(place, { key }), 200],
        [await app.get(one, { key }), 200],
        [await app.patch(one, { name: `Quiet ${place}`, destination: { config: again } }, { key }), 200],
        [await app.call('PUT', one, { key, body: body(type, again) }), 200],
        [await app.patch(one, { destination: { config: { ...again, nonsense: 1 } } }, { key }), 400],
        [await app.post(`${one}pause/`, {}, { key }), 200],
        [await app.post(`${one}unpause/`, {}, { key }), 200],
        [await app.post(`${one}backfill/`, range, { key }), 200],
      ] as const) {
        expect(reply.status).toBe(status)
        // Users are looked for by their values: that of ClickHouse is no secret.
        expect(JSON.stringify(reply.body)).not.toMatch(/"(password|\w*secret\w*|private_key\w*|token)":/)
      }
    }
    const log = await app.get(`/api/organizations/${workspace.organization.id}/activity_log/?limit=100`, {
      key,
    })
    expect(log.status).toBe(200)
    expect(JSON.stringify(log.body)).toContain(made.body.id)
    await app.delete(`${base}${made.body.id}/`, { key })
  })

  it.each(TYPES)('%s: refused, with a secret in every field that it does not belong to', async (type) => {
    const config = configOf(type)
    const stray = app.canary.plant('stray secret', `stray-${randomBytes(9).toString('hex')}`)
    const { secrets } = DESTINATIONS.get(type)!
    for (const field of Object.keys(config)) {
      const wrong = [[stray], { [field]: stray }, `${stray}\u0000`]
      // A secret may be any text, and as long as it likes.
      if (!secrets.includes(field)) wrong.push(`//${stray}@ {x} ${'/../'.repeat(2_000)}`)
      for (const value of wrong) {
        const reply = await app.post(base, body(type, { ...config, [field]: value }), { key })
        expect([field, reply.status]).toEqual([field, 400])
      }
    }
    const unknown = { destination: { type: `${type} ${stray}`, config: {} }, name: 'x', interval: 'hour' }
    expect((await app.post(base, unknown, { key })).status).toBe(400)
  })
})

describe('no failure tells a secret', () => {
  const outward = TYPES.filter((type) => !['File', 'NoOp'].includes(type))

  it.each(outward)('%s: the test of a destination', async (type) => {
    const destination = { type, config: aimed(type) }
    const { steps } = (await app.get(`${base}test/?destination=${type}`, { key })).body
    heard = ''
    for (const step of steps.keys()) {
      resolves = 1
      const reply = await app.post(`${base}run_test_step_new/`, { destination, step }, { key })
      expect(reply).toMatchObject({ status: 200, body: { result: { status: 'Failed' } } })
      assertNothingOf(type, reply.body.result.message)
    }
    // The others speak another protocol, or have no host that can be chosen.
    const hears = {
      HTTP: 'token-',
      S3: 'aws_access_key_id-',
      BigQuery: 'token_uri-',
      AzureBlob: 'SharedKey account',
    }
    expect(heard).toContain(hears[type as keyof typeof hears] ?? '')
  })

  it('runs, their logs, and the mails about them', async () => {
    const ids = new Map<string, string>()
    resolves = Infinity
    for (const type of outward) {
      const reply = await app.post(
        base,
        body(type, aimed(type), `Failing ${type}\r\nBcc: evil@example.com`),
        { key },
      )
      expect(reply.status).toBe(201)
      ids.set(type, reply.body.id)
    }
    resolves = 0
    const event = { event: 'seen', distinct_id: 'ann' }
    await app.post('/batch/', { api_key: workspace.project.api_token, batch: [event] })
    app.advance(2 * HOUR_MS)
    await work()
    for (const [type, id] of ids) {
      const { body: runs } = await app.get(`${base}${id}/runs/?status=Failed`, { key })
      expect([type, runs.results.length]).toEqual([type, 1])
      assertNothingOf(type, runs.results[0].latest_error)
      const { body: lines } = await app.get(`${base}${id}/logs/?level=error`, { key })
      expect([type, lines.count]).toEqual([type, 1])
      for (const place of [base, organizationLevel()])
        expect((await app.get(`${place}${id}/`, { key })).status).toBe(200)
      const mail = await smtp.waitForMail((each) => each.subject.includes(`Failing ${type}`))
      expect(mail.recipients).toEqual([workspace.owner.email])
      expect(mail.header_names).not.toContain('bcc')
      app.canary.assertAbsent(
        `${mail.raw} ${mail.subject} ${mail.text} ${mail.html}`,
        `the mail about ${type}`,
      )
      assertNothingOf(type, mail.text)
    }
    expect(smtp.mails).toHaveLength(ids.size)
  })
})

/** Every message says something, and of a secret not even a part that would help, nor in another form. */
function assertNothingOf(type: string, text: string): void {
  expect(text.length).toBeGreaterThan(10)
  for (const secret of planted.get(type) ?? []) {
    const parts = [secret.slice(0, 16), secret.slice(-12), encodeURIComponent(secret)]
    parts.push(Buffer.from(secret).toString('base64').slice(0, 20))
    for (const part of parts) expect(text).not.toContain(part)
  }
}

async function work(): Promise<void> {
  let live = 1
  while (live > 0) {
    await app.exports.tick()
    await app.exports.idle()
    const row = await app.db.only<{ live: number }>(sql`
      SELECT count(*)::int AS live FROM batch_export_run
      WHERE finished_at IS NULL AND run_after <= ${app.services.now()}`)
    live = row.live
  }
}

it('what is kept is sealed: neither the secret nor its key stands in the row', async () => {
  const rows = await app.db.rows<{ config: JsonObject; secrets: string; destination_type: string }>(
    sql`SELECT config, secrets, destination_type FROM batch_export`,
  )
  expect(rows.length).toBeGreaterThan(TYPES.length)
  for (const { config, secrets, destination_type } of rows) {
    for (const name of DESTINATIONS.get(destination_type)!.secrets) expect(config).not.toHaveProperty(name)
    app.canary.assertAbsent(Buffer.from(secrets, 'base64').toString('latin1'), 'a sealed value')
  }
})
