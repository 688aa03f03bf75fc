// Apps that fail, wait for ever, burn time or must be killed: no event is lost or doubled or held up, and the app is dealt
// with as documented.
// @module-tag slow
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMember, createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { until } from '../../../../test/harness/until.ts'
import { startSmtpServer, type SmtpStandIn } from '../../../../test/stand-ins/smtp.ts'
import { sql } from '../../../platform/db/sql.ts'
import {
  capture,
  configState,
  logLines,
  replaceCode,
  storedEvents,
  switchOn,
  type AppFields,
} from './fixture/apps.ts'
import { AppIdle, type AppIds } from './running-app.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

const BURNS = `export function processEvent(event) { while (true) {} }`
const WAITS = `export async function processEvent(event) { await new Promise(() => {}); return event }`
const THROWS = `export function processEvent(event) { throw new Error('boom') }`
// Work inside one call of the engine, where nothing looks at the time.
const CANNOT_BE_STOPPED = `export function processEvent(event) { return new Array(5e8).join('abc') }`

let smtp: SmtpStandIn
let app: TestApp
let workspace: Workspace
beforeAll(async () => {
  smtp = await startSmtpServer()
  app = await startTestApp({ SMTP_URL: smtp.url, PLUGIN_THREADS: '1' })
})
afterAll(async () => {
  await app.close()
  await smtp.close()
})
beforeEach(async () => void (workspace = await createOrganization(app)))
// The thread is shared by all: no app of one test may run into the next.
afterEach(async () => {
  await app.db.run(sql`UPDATE plugin_config SET enabled = false`)
  for (const { config_id } of app.plugins.list())
    await app.services.changes.tell(app.db, 'plugin-config', config_id)
  await until(() => expect(app.plugins.list()).toEqual([]))
})

const on = (code: string, fields?: AppFields) => switchOn(app, workspace, code, fields)
const named = ({ config_id }: AppIds) => `Made (${config_id})`

/** Sends events one after the other, in requests of their own. */
async function sendEach(names: readonly string[]): Promise<void> {
  for (const event of names) await capture(app, workspace, { event })
}

/** Besides what became of its events. */
async function faultLines(ids: AppIds): Promise<string[]> {
  return (await logLines(app, ids)).filter((line) => line.startsWith('ERROR'))
}

/** With an app that cannot be stopped that takes a while. */
async function faultWritten(ids: AppIds, count: number): Promise<void> {
  await until(async () => expect((await faultLines(ids)).length).toBeGreaterThanOrEqual(count))
  await app.plugins.idle()
}

describe('ingestion goes on', () => {
  // The store is opened at its first use.
  beforeEach(() => capture(app, workspace, { event: 'warm' }))

  it.each([
    ['throws', THROWS],
    ['waits for ever', WAITS],
    ['burns its time', BURNS],
    ['cannot be stopped', CANNOT_BE_STOPPED],
    ['does not load', `throw new Error('not today')`],
    ['fails to set up', `${THROWS}; export function setupPlugin() { throw new Error('no key') }`],
    [
      'takes its time to set up',
      `${THROWS}; export async function setupPlugin({ storage }) { while (!(await storage.get('open', false))) {} }`,
    ],
  ])('with an app that %s', async (_, code) => {
    const neighbour = await on(
      `export function processEvent(event) { event.properties.neighbour = true; return event }`,
      { order: 2 },
    )
    const ids = await on(`export function processEvent(event) { return event }`, { order: 1 })
    const before = app.plugins.current(ids.config_id)
    await replaceCode(app, ids.plugin_id, code)
    await until(() => expect(app.plugins.current(ids.config_id)).not.toBe(before))
    const names = ['one', 'two', 'three', 'four', 'five']
    await sendEach(names)
    const stored = (await storedEvents(app, workspace)).filter(({ event }) => event !== 'warm')
    expect(stored.map(({ event }) => event)).toEqual(names)
    for (const { properties } of stored) {
      expect(properties.$plugins_failed).toContain(named(ids))
      expect(properties.$plugins_succeeded ?? []).not.toContain(named(ids))
    }
    await app.db.run(sql`
      INSERT INTO plugin_storage (project_id, plugin_config_id, key, value)
      VALUES (${ids.project_id}, ${ids.config_id}, 'open', 'true')`)
    // The thread may have been lost; another takes its place, and the neighbour works on without the app.
    await app.db.run(sql`UPDATE plugin_config SET enabled = false WHERE id = ${ids.config_id}`)
    await app.services.changes.tell(app.db, 'plugin-config', ids.config_id)
    await until(async () => {
      app.advance(11 * SECOND)
      await capture(app, workspace, { event: 'after' })
      const { properties } = (await storedEvents(app, workspace)).at(-1)!
      expect(properties).toMatchObject({ neighbour: true, $plugins_succeeded: [named(neighbour)] })
      expect(properties).not.toHaveProperty('$plugins_failed')
    })
  })

  it('for all who send at once, each event stored once', async () => {
    await on(WAITS)
    const names = Array.from({ length: 40 }, (_, index) => `event ${index}`)
    await Promise.all(names.map((event) => capture(app, workspace, { event })))
    const stored = (await storedEvents(app, workspace)).map(({ event }) => event)
    expect(stored.toSorted()).toEqual([...names, 'warm'].toSorted())
  })
})

describe('an app that is late', () => {
  it('sits out for ten seconds and is then called again', async () => {
    const ids = await on(
      `export async function processEvent(event) {
        if (event.event === 'slow') await new Promise(() => {})
        return event
      }`,
    )
    await sendEach(['slow', 'meanwhile'])
    app.advance(11 * SECOND)
    await sendEach(['later'])
    const failed = (await storedEvents(app, workspace)).map(({ event, properties }) => [
      event,
      (properties.$plugins_failed as string[] | undefined) ?? [],
    ])
    expect(failed).toEqual([
      ['slow', [named(ids)]],
      ['meanwhile', [named(ids)]],
      ['later', []],
    ])
    await app.plugins.idle()
    expect(await configState(app, ids)).toMatchObject({
      enabled: true,
      error: {
        message: expect.stringMatching(/^Events are stored without this app: it did not end within \d+ ms$/),
      },
    })
    app.advance(MINUTE)
    await app.plugins.tick()
    await app.plugins.idle()
    expect((await configState(app, ids)).error).toBeNull()
  })

  it('gets no more events while it has not answered those it has', async () => {
    // The store is opened at its first use.
    await capture(app, workspace, { event: 'warm' })
    const ids = await on(CANNOT_BE_STOPPED)
    const handed = vi.spyOn(app.services.sandbox, 'processEvents')
    // It is still in there when the first is stored without it.
    await sendEach(['first', 'second', 'third'])
    await faultWritten(ids, 1)
    expect(handed).toHaveBeenCalledOnce()
    handed.mockRestore()
    const stored = (await storedEvents(app, workspace)).slice(1)
    expect(stored.map(({ event, properties }) => [event, properties.$plugins_failed])).toEqual(
      ['first', 'second', 'third'].map((event) => [event, [named(ids)]]),
    )
  })
})

describe('an app that hits its limits', () => {
  it.each([
    ['time', BURNS],
    [
      'memory',
      `export function processEvent(event) { const all = []; while (true) all.push('x'.repeat(1000000) + all.length) }`,
    ],
    ['time, and cannot be stopped', CANNOT_BE_STOPPED],
    [
      'time, after its answer',
      `export function processEvent(event) {
        void fetch('http://127.0.0.1:1/').catch(() => { while (true) {} })
        return event
      }`,
    ],
  ])('of %s three times within ten minutes is switched off', async (_, code) => {
    const admin = await createMember(app, workspace.organization, { level: 'admin' })
    const member = await createMember(app, workspace.organization)
    const ids = await on(code)
    const sent: string[] = []
    // A busy machine may call one of them late instead.
    while ((await configState(app, ids)).enabled && sent.length < 8) {
      sent.push(`event ${sent.length}`)
      await sendEach(sent.slice(-1))
      await faultWritten(ids, sent.length)
      app.advance(MINUTE)
    }
    expect(sent.length).toBeGreaterThanOrEqual(3)
    expect((await configState(app, ids)).enabled).toBe(false)
    expect((await configState(app, ids)).error).toEqual({
      message: expect.any(String),
      time: expect.stringMatching(/Z$/),
    })
    // The server learns it from the row.
    await expect.poll(() => app.plugins.list()).toEqual([])
    const mail = await smtp.waitForMail(admin.email)
    expect(mail.subject).toBe(`App Made of ${workspace.project.name} was switched off`)
    expect(smtp.mails.some(({ recipients }) => recipients.includes(member.email))).toBe(false)
    const { body } = await app.get(
      `/api/organizations/${workspace.organization.id}/activity_log/?scope=PluginConfig&item_id=${ids.config_id}`,
      { key: workspace.owner.key },
    )
    expect(body.results).toEqual([
      expect.objectContaining({ activity: 'disabled', is_system: true, user: null }),
    ])
    await sendEach(['last'])
    const stored = await storedEvents(app, workspace)
    expect(stored.map(({ event }) => event)).toEqual([...sent, 'last'])
    expect(stored.at(-1)!.properties).not.toHaveProperty('$plugins_failed')
  })

  it('now and then stays on', async () => {
    const ids = await on(BURNS)
    for (const event of ['one', 'two', 'three', 'four']) {
      await sendEach([event])
      app.advance(6 * MINUTE)
    }
    await app.plugins.tick()
    await app.plugins.idle()
    expect(await configState(app, ids)).toEqual({ enabled: true, error: null })
  })
})

describe('code that does not load', () => {
  it('leaves the config on but idle, says so once by mail, and is tried again after an edit', async () => {
    const admin = await createMember(app, workspace.organization, { level: 'admin' })
    const quiet = await createMember(app, workspace.organization, { level: 'admin' })
    const settings = { notification_settings: { plugin_disabled: false } }
    await app.patch('/api/users/@me/', settings, { key: quiet.key })
    const good = `export function processEvent(event) { event.event += '!'; return event }`
    const ids = await on(good)
    await replaceCode(app, ids.plugin_id, `throw new Error('not today')`)
    await app.plugins.idle()
    expect(await configState(app, ids)).toEqual({
      enabled: true,
      error: { message: expect.stringContaining('not today'), time: expect.any(String) },
    })
    expect(await logLines(app, ids)).toEqual([expect.stringContaining('not today')])
    await smtp.waitForMail(admin.email)
    await sendEach(['one', 'two'])
    expect(await faultLines(ids)).toHaveLength(1)

    await replaceCode(app, ids.plugin_id, `throw new Error('nor tomorrow')`)
    await app.plugins.idle()
    await replaceCode(app, ids.plugin_id, good)
    await app.plugins.idle()
    expect((await configState(app, ids)).error).toBeNull()
    await sendEach(['three'])
    expect((await storedEvents(app, workspace)).map(({ event }) => event)).toEqual(['one', 'two', 'three!'])
    const mails = await app.db.rows<{ email: string }>(sql`
      SELECT data->>'email' AS email FROM pgboss.job
      WHERE name = 'plugin-fault-email' AND data->>'email' IN (${admin.email}, ${quiet.email})`)
    expect(mails).toEqual([{ email: admin.email }])
  })

  it.each([
    ['pass', 'Events are stored as they came, without it.'],
    ['hold', 'Events wait for it: they are stored once it runs.'],
    ['drop', 'Events are dropped until it runs.'],
  ] as const)('says by mail what becomes of events: %s', async (on_failure, sentence) => {
    const admin = await createMember(app, workspace.organization, { level: 'admin' })
    const ids = await on(`export function processEvent(event) { return event }`, { on_failure })
    await replaceCode(app, ids.plugin_id, `throw new Error('not today')`)
    await app.plugins.idle()
    const { text } = await smtp.waitForMail(admin.email)
    expect(text.replaceAll(/\s+/g, ' ')).toContain(`its settings are edited. ${sentence}`)
  })

  it('because it cannot even be read, is said as well', async () => {
    const ids = await on(`export function processEvent(event) { return event }`)
    await replaceCode(app, ids.plugin_id, `export function processEvent(event { return event }`)
    await until(async () => {
      await app.plugins.idle()
      expect((await configState(app, ids)).error?.message).toMatch(/index\.ts:1:/)
    })
    expect(app.plugins.current(ids.config_id)).toBeUndefined()
    await sendEach(['untouched'])
    expect((await storedEvents(app, workspace))[0]!.properties.$plugins_failed).toEqual([named(ids)])
  })
})

describe('setupPlugin', () => {
  const counting = (then: string) => `
    export async function setupPlugin({ storage }) {
      const tries = (await storage.get('tries', 0)) + 1
      await storage.set('tries', tries)
      ${then}
    }
    export function processEvent(event) { event.event += '!'; return event }`

  async function tries(ids: AppIds): Promise<number> {
    const row = await app.db.only<{ value: string }>(
      sql`SELECT value FROM plugin_storage WHERE plugin_config_id = ${ids.config_id} AND key = 'tries'`,
    )
    return Number(row.value)
  }

  async function pass(ms: number): Promise<void> {
    app.advance(ms)
    await app.plugins.tick()
    await app.plugins.idle()
  }

  it('that asks for it is tried again after 5, 10, 20 and 40 seconds, then every ten minutes', async () => {
    const ids = await on(counting(`throw new RetryError('not yet')`))
    expect(await tries(ids)).toBe(1)
    let expected = 1
    for (const pause of [5, 10, 20, 40]) {
      expect((await configState(app, ids)).error).toBeNull()
      await pass((pause - 2) * SECOND)
      expect(await tries(ids)).toBe(expected)
      await pass(3 * SECOND)
      expect(await tries(ids)).toBe(++expected)
    }
    expect(await configState(app, ids)).toMatchObject({ enabled: true, error: { message: 'not yet' } })
    await pass(9 * MINUTE)
    expect(await tries(ids)).toBe(5)
    await pass(2 * MINUTE)
    expect(await tries(ids)).toBe(6)
  })

  it('that succeeds at last lets the app work and clears its error', async () => {
    const ids = await on(counting(`if (tries < 6) throw new RetryError('not yet')`))
    for (const pause of [6, 11, 21, 41]) await pass(pause * SECOND)
    expect((await configState(app, ids)).error).not.toBeNull()
    await pass(11 * MINUTE)
    expect((await configState(app, ids)).error).toBeNull()
    await sendEach(['ready'])
    expect((await storedEvents(app, workspace)).map(({ event }) => event)).toEqual(['ready!'])
  })

  it('that throws is not tried again before the next edit', async () => {
    const ids = await on(counting(`throw new Error('no key')`))
    expect(await configState(app, ids)).toMatchObject({ enabled: true, error: { message: 'no key' } })
    await pass(20 * MINUTE)
    const running = app.plugins.current(ids.config_id)!
    await expect(app.plugins.call(running, { method: 'task', name: 'runEveryDay' })).rejects.toBeInstanceOf(
      AppIdle,
    )
    expect(await tries(ids)).toBe(1)
    await replaceCode(app, ids.plugin_id, counting(''))
    await app.plugins.idle()
    expect(await tries(ids)).toBe(2)
    expect((await configState(app, ids)).error).toBeNull()
  })
})
