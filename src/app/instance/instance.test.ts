// The server's own status: for staff alone, without secrets, and whole where one part fails.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createKey,
  createOrganization,
  createUser,
  type TestUser,
  type Workspace,
} from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { VERSION } from '../version.ts'
import { readDisk } from './disk.ts'

const PATH = '/api/instance_status/'
const SECRETS = {
  SECRET_KEY: 'a-secret-key-of-more-than-thirty-two-letters',
  SMTP_URL: 'smtp://postman:hunter2-secret@mail.example.com:587',
  METRICS_TOKEN: 'metrics-token-nobody-may-see',
  GITHUB_TOKEN: 'ghp_token_nobody_may_see',
}

let app: TestApp
let home: Workspace
let staff: TestUser
beforeAll(async () => {
  app = await startTestApp({ ...SECRETS, OUTBOUND_ALLOW: '10.0.0.0/8,db.internal' })
  home = await createOrganization(app)
  staff = await createUser(app, { is_staff: true })
})
afterAll(() => app.close())

const status = async () => {
  const reply = await app.get(PATH, { session: staff.session })
  expect(reply.status).toBe(200)
  return reply.body
}

describe('GET /api/instance_status/', () => {
  it('200: every part, each from where /metrics and doctor have it', async () => {
    const event = { api_key: home.project.api_token, event: 'seen', distinct_id: 'ann' }
    expect((await app.post('/capture/', event)).status).toBe(200)
    app.advance(60_000)
    const body = await status()
    expect(body).toMatchObject({ version: VERSION, failed: [] })
    expect(body.stores).toEqual([
      { what: 'database', state: 'ok', detail: expect.stringMatching(/^PostgreSQL \d+/) },
      { what: 'migrations', state: 'ok', detail: 'up to date' },
      { what: 'events', state: 'ok', detail: 'the store answers' },
    ])
    expect(body.ingestion).toMatchObject({
      waiting: { events: 0, bytes: 0 },
      held_events: { in_line: 0, alone: 0 },
      stored_events: 1,
    })
    expect(body.ingestion.events_per_minute).toHaveLength(15)
    expect(body.ingestion.events_per_minute.at(-1)).toBe(1)
    expect(body.queues.export_runs).toEqual({ waiting: 0, running: 0 })
    expect(body.database.bytes).toBeGreaterThan(1_000_000)
    expect(body.disk.free_bytes).toBeGreaterThan(0)
    const partOf = (name: string) => body.disk.parts.find((part: { name: string }) => part.name === name)
    expect(partOf('events').bytes).toBeGreaterThan(0)
    expect(body.memory.bytes).toBeGreaterThan(10_000_000)
    expect(body.memory.processes.map(({ name }: { name: string }) => name)).toContain('server')
    expect(body.memory.event_store_limit_bytes).toBe(512 * 1024 * 1024)
    const bearer = { authorization: `Bearer ${SECRETS.METRICS_TOKEN}` }
    const metrics = await app.get('/metrics', { headers: bearer })
    expect(metrics.body).toMatch(/^longshore_events_stored_total 1$/m)
    expect(metrics.body).toMatch(/^longshore_ingest_waiting\{unit="events"\} 0$/m)
  })

  it('settings in force, and of secrets only whether they are set', async () => {
    const body = await status()
    const settings = Object.fromEntries(
      body.settings.map(({ name, ...rest }: { name: string }) => [name, rest]),
    )
    expect(settings.OUTBOUND_ALLOW).toEqual({
      value: '10.0.0.0/8, db.internal',
      is_set: true,
      is_secret: false,
    })
    expect(settings.OPEN_SIGNUP).toMatchObject({ value: 'off' })
    expect(settings.SITE_URL).toEqual({ value: null, is_set: false, is_secret: false })
    expect(settings.SMTP_URL).toEqual({ value: null, is_set: true, is_secret: true })
    expect(settings.NPM_TOKEN).toEqual({ value: null, is_set: false, is_secret: true })
    const text = JSON.stringify(body)
    for (const secret of [...Object.values(SECRETS), 'hunter2-secret']) expect(text).not.toContain(secret)
  })

  it('403 for owners who are not staff, and for any key, also of staff', async () => {
    expect((await app.get(PATH, { session: home.owner.session })).status).toBe(403)
    expect((await app.get(PATH, { key: home.owner.key })).status).toBe(403)
    expect((await app.get(PATH, { key: staff.key })).status).toBe(403)
    const narrow = await createKey(app, staff, { scopes: ['user:read'] })
    expect((await app.get(PATH, { key: narrow })).status).toBe(403)
    expect((await app.get(PATH)).status).toBe(401)
  })

  it('200 without the part that fails, and with a store that does not answer', async () => {
    const { instance, eventStore } = app.services
    const disk = instance.get('disk')!
    instance.set('disk', () => Promise.reject(new Error('EIO: the disk is gone')))
    app.services.eventStore = { ...eventStore, ping: () => Promise.reject(new Error('fell over')) }
    const body = await status()
    instance.set('disk', disk)
    app.services.eventStore = eventStore
    expect(body).toMatchObject({
      disk: null,
      failed: [{ part: 'disk', reason: 'EIO: the disk is gone' }],
      memory: expect.any(Object),
      queues: expect.any(Object),
    })
    expect(body.stores[2]).toEqual({ what: 'events', state: 'wrong', detail: 'fell over' })
    expect(body.stores[0].state).toBe('ok')
    expect((await status()).failed).toEqual([])
  })

  it('sizes are looked up once for all who ask within a while', async () => {
    const before = (await status()).disk
    const { folder } = before
    await writeFile(join(folder, 'large'), 'x'.repeat(1_000_000))
    expect((await status()).disk).toEqual(before)
    app.advance(31_000)
    const other = ({ parts }: typeof before) => parts.find((part: { name: string }) => part.name === 'other')
    expect(other((await status()).disk).bytes).toBeGreaterThanOrEqual(other(before).bytes + 1_000_000)
  })
})

describe('readDisk', () => {
  it('follows no link out of the folder, and stops where there are too many files', async () => {
    const [folder, outside] = await Promise.all(
      ['disk-', 'outside-'].map((name) => mkdtemp(join(tmpdir(), name))),
    )
    await writeFile(join(outside!, 'large'), 'x'.repeat(1_000_000))
    await mkdir(join(folder!, 'events'))
    await symlink(outside!, join(folder!, 'events', 'link'))
    const whole = await readDisk(folder!)
    expect(whole.is_complete).toBe(true)
    expect(whole.parts.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(500_000)
    for (let file = 0; file < 5; file++) await writeFile(join(folder!, 'events', String(file)), 'x')
    expect((await readDisk(folder!, 3)).is_complete).toBe(false)
    await Promise.all([folder!, outside!].map((path) => rm(path, { recursive: true })))
  })
})
