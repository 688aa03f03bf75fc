// Events whose app cannot run, by what its config says: each is stored once and only as the app leaves it, or not at all,
// and whatever happens is said.
// @module-tag slow
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../../test/harness/app.ts'
import { until } from '../../../../../test/harness/until.ts'
import { startWebhookServer } from '../../../../../test/stand-ins/webhook-server.ts'
import { sql } from '../../../../platform/db/sql.ts'
import { insertProject } from '../../../projects/queries.ts'
import { Ingest } from '../../../events/ingest.ts'
import {
  capture,
  configState,
  logLines,
  replaceCode,
  storedEvents,
  switchOff,
  switchOn,
  type AppFields,
} from '../fixture/apps.ts'
import type { AppIds } from '../running-app.ts'
import { PluginRuntime } from '../runtime.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

const GUARD = `export function processEvent(event) { delete event.properties.ssn; return event }`
const HANGS = `export async function processEvent(event) { await new Promise(() => {}); return event }`
const BURNS = `export function processEvent(event) { while (true) {} }`
const THROWS = `export function processEvent(event) { throw new Error('boom') }`
const DOES_NOT_LOAD = `throw new Error('not today')`
const DOES_NOT_PARSE = `export function processEvent(event { return event }`

let app: TestApp
let workspace: Workspace
beforeAll(async () => void (app = await startTestApp({ OUTBOUND_ALLOW: '127.0.0.1' })))
afterAll(() => app.close())
beforeEach(async () => void (workspace = await createOrganization(app)))

const on = (code: string, fields?: AppFields) => switchOn(app, workspace, code, fields)
const stored = () => storedEvents(app, workspace)
const names = async () => (await stored()).map(({ event }) => event)
const send = (...events: string[]) =>
  capture(app, workspace, ...events.map((event) => ({ event, properties: { ssn: '123', kept: 1 } })))

async function become(ids: AppIds, code: string): Promise<void> {
  await replaceCode(app, ids.plugin_id, code)
  await app.plugins.idle()
}

/** Time passes, and what is due is done. */
async function pass(ms: number): Promise<void> {
  app.advance(ms)
  await app.plugins.tick()
  await app.plugins.idle()
}

async function heldCount(): Promise<number> {
  const { count } = await app.db.only<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM plugin_held_event WHERE project_id = ${workspace.project.id}`,
  )
  return count
}

async function metric(name: string): Promise<number> {
  const { body } = await app.get('/metrics')
  const lines = String(body)
    .split('\n')
    .filter((line) => line.startsWith(name))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

async function expectTransformed(expected: readonly string[]): Promise<void> {
  const events = await stored()
  expect(events.map(({ event }) => event)).toEqual(expected)
  for (const { properties } of events) {
    expect(properties).toMatchObject({ kept: 1 })
    expect(properties).not.toHaveProperty('ssn')
    expect(properties).not.toHaveProperty('$plugins_failed')
  }
  expect(await heldCount()).toBe(0)
}

describe('hold', () => {
  it.each([
    ['waits for ever', HANGS],
    ['burns its time', BURNS],
    ['throws', THROWS],
    ['does not load', DOES_NOT_LOAD],
    ['cannot even be read', DOES_NOT_PARSE],
  ])('with an app that %s, events wait and are stored once it is mended', async (_, code) => {
    const before = await metric('longshore_app_lapses_total{became="held"}')
    const ids = await on(GUARD, { on_failure: 'hold' })
    await become(ids, code)
    await send('one', 'two')
    await send('three')
    expect(await names()).toEqual([])
    const { key } = workspace.owner
    const url = `/api/projects/${workspace.project.id}/plugin_configs/${ids.config_id}/`
    const { body: config } = await app.get(url, { key })
    expect(config).toMatchObject({ enabled: true, on_failure: 'hold', held_events: 3 })
    expect(config.error).not.toBeNull()
    expect(await logLines(app, ids)).toContainEqual(
      expect.stringMatching(/^WARN \d events? waits? for this app: /),
    )
    expect(await metric('longshore_app_lapses_total{became="held"}')).toBe(before + 3)
    expect(await metric('longshore_held_events')).toBeGreaterThan(0)
    const seen = await app.get(`/api/projects/${workspace.project.id}/events/`, { key })
    expect(seen.body.results).toEqual([])

    await become(ids, GUARD)
    await pass(SECOND)
    await expectTransformed(['one', 'two', 'three'])
    await pass(2 * MINUTE)
    expect((await app.get(url, { key })).body).toMatchObject({ held_events: 0, error: null })
    await send('four')
    await expectTransformed(['one', 'two', 'three', 'four'])
  })

  it('keeps the order of events that come while others wait', async () => {
    const ids = await on(GUARD, { on_failure: 'hold' })
    await become(ids, DOES_NOT_LOAD)
    await send('one')
    await become(ids, GUARD)
    await send('two')
    expect(await names()).toEqual([])
    await pass(SECOND)
    await send('three')
    await expectTransformed(['one', 'two', 'three'])
  })

  it('lets nothing wait behind one event that the app cannot take, and tries that again', async () => {
    const picky = `export function processEvent(event) {
      if (event.event === 'bad') throw new Error('bad')
      delete event.properties.ssn
      return event
    }`
    const ids = await on(picky, { on_failure: 'hold' })
    await send('one', 'bad', 'two')
    await send('three')
    expect(await names()).toEqual(['one', 'two', 'three'])
    await pass(2 * MINUTE)
    expect(await names()).toEqual(['one', 'two', 'three'])
    expect(await heldCount()).toBe(1)
    await app.plugins.metrics.flush()
    const counted = sql`
      SELECT successes::int, failures::int FROM plugin_metric WHERE plugin_config_id = ${ids.config_id}`
    // However often it was tried.
    expect(await app.db.row(counted)).toEqual({ successes: 3, failures: 1 })
    await become(ids, GUARD)
    await pass(SECOND)
    await expectTransformed(['one', 'two', 'three', 'bad'])
  })

  it('counts a failure on an event that waited for another app, or for code that loads', async () => {
    const failures = async ({ config_id }: AppIds) => {
      await app.plugins.metrics.flush()
      const counted = sql`
        SELECT coalesce(sum(failures), 0)::int AS count FROM plugin_metric WHERE plugin_config_id = ${config_id}`
      return (await app.db.only<{ count: number }>(counted)).count
    }
    const first = await on(DOES_NOT_PARSE, { order: 1, on_failure: 'hold' })
    const second = await on(THROWS, { order: 2, on_failure: 'hold' })
    await send('one')
    expect([await failures(first), await failures(second)]).toEqual([0, 0])
    await become(first, THROWS)
    await pass(SECOND)
    await become(first, GUARD)
    for (let minute = 0; minute < 5; minute++) await pass(MINUTE)
    expect(await heldCount()).toBe(1)
    expect([await failures(first), await failures(second)]).toEqual([1, 1])
  })

  it('sets an event aside that burns all its time, and is not switched off for it', async () => {
    const ids = await on(
      `export function processEvent(event) {
        while (event.event === 'bad');
        delete event.properties.ssn
        return event
      }`,
      { on_failure: 'hold' },
    )
    await send('bad', 'one', 'two')
    expect(await names()).toEqual([])
    // On the way in, then by itself, then once more: three times within ten minutes.
    await pass(11 * SECOND)
    await pass(11 * SECOND)
    expect(await names()).toEqual(['one', 'two'])
    await pass(2 * MINUTE)
    expect(await heldCount()).toBe(1)
    expect((await configState(app, ids)).enabled).toBe(true)
  })

  it('goes on without an app that somebody switches off', async () => {
    const ids = await on(GUARD, { on_failure: 'hold' })
    await become(ids, THROWS)
    await send('one')
    await switchOff(app, ids)
    await pass(SECOND)
    expect(await names()).toEqual(['one'])
    expect(await heldCount()).toBe(0)
  })

  it('calls the apps before it once, and those after it at last', async () => {
    const append = (letter: string) =>
      `export function processEvent(event) { event.event += '${letter}'; return event }`
    const first = await on(append('a'), { order: 1, name: 'First' })
    const guard = await on(DOES_NOT_LOAD, { order: 2, name: 'Guard', on_failure: 'hold' })
    const last = await on(append('c'), { order: 3, name: 'Last' })
    await send('x')
    await become(guard, append('b'))
    await pass(SECOND)
    expect(await stored()).toMatchObject([
      {
        event: 'xabc',
        properties: {
          $plugins_succeeded: [first, guard, last].map(
            ({ config_id }, index) => `${['First', 'Guard', 'Last'][index]} (${config_id})`,
          ),
        },
      },
    ])
  })

  it('outlives the process, and what was cut off after storing is not stored twice', async () => {
    const ids = await on(GUARD, { on_failure: 'hold' })
    await become(ids, DOES_NOT_LOAD)
    await send('one', 'two')
    const rows = await app.db.rows(
      sql`SELECT * FROM plugin_held_event WHERE project_id = ${workspace.project.id}`,
    )
    await become(ids, GUARD)
    const ingest = new Ingest(app.services, { transform: (...batch) => next.transform(...batch) })
    const next = new PluginRuntime(app.services, ingest)
    await next.load()
    await next.transform(workspace.project, [
      {
        uuid: crypto.randomUUID(),
        event: 'three',
        distinct_id: 'ada',
        properties: { ssn: '123', kept: 1 },
        timestamp: 1_700_000_000_000_000n,
        created_at: 1_700_000_000_000_000n,
      },
    ])
    await next.tick()
    await next.idle()
    await next.close()
    await expectTransformed(['one', 'two', 'three'])
    // As if the process had ended before the rows were gone.
    for (const { contents, uuid, timestamp, created_at } of rows as Record<string, unknown>[]) {
      await app.db.run(sql`
        INSERT INTO plugin_held_event (project_id, uuid, timestamp, contents, alone, due_at, created_at)
        VALUES (${workspace.project.id}, ${uuid}, ${timestamp}, ${contents}, false, ${created_at}, ${created_at})`)
    }
    const again = new PluginRuntime(app.services, ingest)
    await again.load()
    await again.tick()
    await again.idle()
    await again.close()
    await expectTransformed(['one', 'two', 'three'])
  })

  it('finds out what it holds after a write that may have ended either way', async () => {
    const ids = await on(GUARD, { on_failure: 'hold' })
    await become(ids, DOES_NOT_LOAD)
    const { services } = app
    const { transaction } = services.db
    services.db.transaction = async (work) => {
      let holds = false
      const result = await transaction.call(services.db, (tx) =>
        work({
          ...tx,
          rows: (statement) => {
            holds ||= statement.text.includes('INSERT INTO plugin_held_event')
            return tx.rows(statement)
          },
        }),
      )
      if (holds) throw new Error('Connection terminated unexpectedly')
      return result as never
    }
    const sent = {
      event: 'one',
      uuid: crypto.randomUUID(),
      distinct_id: 'ada',
      properties: { ssn: '123', kept: 1 },
    }
    const post = () => app.post('/batch/', { api_key: workspace.project.api_token, batch: [sent] })
    expect((await post()).status).toBe(503)
    services.db.transaction = transaction
    expect((await post()).status).toBe(200)
    await become(ids, GUARD)
    await pass(SECOND)
    await expectTransformed(['one'])
    await send('two')
    await expectTransformed(['one', 'two'])
  })

  it('shows nowhere what the app was to hide', async () => {
    const ids = await on(THROWS, { on_failure: 'hold' })
    await send('one')
    await app.plugins.metrics.flush()
    const url = `/api/projects/${workspace.project.id}/app_metrics/${ids.config_id}`
    const query = 'category=processEvent&error_type=Error'
    const { body } = await app.get(`${url}/error_details/?${query}`, { key: workspace.owner.key })
    expect(body.result).toHaveLength(1)
    expect(body.result[0].error_details.event).toMatchObject({ event: 'one' })
    expect(JSON.stringify(body)).not.toContain('ssn')
  })

  it('holds and stores what a sender repeats once, whatever uuid an app gives it each time', async () => {
    await on(`import { randomUUID } from 'crypto'
      export function processEvent(event) { event.uuid = randomUUID(); return event }`)
    const ids = await on(THROWS, { on_failure: 'hold', order: 2 })
    const again = () =>
      capture(app, workspace, { event: 'one', uuid: '6ba7b812-9dad-41d1-80b4-00c04fd430c8' })
    await again()
    await again()
    expect(await heldCount()).toBe(1)
    await become(ids, GUARD)
    await pass(2 * MINUTE)
    expect(await heldCount()).toBe(0)
    await again()
    expect(await names()).toEqual(['one'])
  })

  it('holds what a sender repeats once', async () => {
    await on(DOES_NOT_LOAD, { on_failure: 'hold' })
    const event = { event: 'one', uuid: crypto.randomUUID() }
    await capture(app, workspace, event)
    await capture(app, workspace, event)
    expect(await heldCount()).toBe(1)
  })
})

describe('a project that holds as much as it may', () => {
  let small: TestApp
  beforeAll(async () => void (small = await startTestApp({ PLUGIN_HOLD_MB: '1' })))
  afterAll(() => small.close())

  it('refuses more with 503 and Retry-After, and stores none of it', async () => {
    const place = await createOrganization(small)
    const ids = await switchOn(small, place, DOES_NOT_LOAD, { on_failure: 'hold' })
    const large = () => ({
      event: 'large',
      distinct_id: 'ada',
      properties: { text: 'x'.repeat(400_000), kept: 1 },
    })
    const post = (count: number) =>
      small.post('/batch/', { api_key: place.project.api_token, batch: Array.from({ length: count }, large) })
    expect((await post(2)).status).toBe(200)
    const refused = await post(1)
    expect(refused.status).toBe(503)
    expect(refused.body).toMatchObject({
      code: 'store_busy',
      detail: expect.stringContaining('wait for an app'),
    })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(await storedEvents(small, place)).toEqual([])

    await replaceCode(small, ids.plugin_id, GUARD)
    await small.plugins.idle()
    await small.plugins.tick()
    await small.plugins.idle()
    expect(await storedEvents(small, place)).toHaveLength(2)
    expect((await post(1)).status).toBe(200)
    expect(await storedEvents(small, place)).toHaveLength(3)
  })
})

describe('drop', () => {
  it.each([
    ['throws', THROWS],
    ['does not load', DOES_NOT_LOAD],
  ])('with an app that %s, nothing is stored, and it is said', async (_, code) => {
    const before = await metric('longshore_app_lapses_total{became="dropped"}')
    const ids = await on(code, { on_failure: 'drop' })
    await send('one', 'two')
    await pass(SECOND)
    expect(await names()).toEqual([])
    expect(await heldCount()).toBe(0)
    expect(await metric('longshore_app_lapses_total{became="dropped"}')).toBe(before + 2)
    expect(await logLines(app, ids)).toContainEqual(
      expect.stringMatching(/^WARN 2 events were dropped because this app could not run: /),
    )
    expect((await configState(app, ids)).error).not.toBeNull()
    await app.plugins.metrics.flush()
    expect(
      await app.db.row(sql`
        SELECT successes::int, failures::int FROM plugin_metric WHERE plugin_config_id = ${ids.config_id}`),
    ).toEqual({ successes: 0, failures: 2 })
  })
})

describe('pass', () => {
  it('says the reason of now while it lasts', async () => {
    const ids = await on('export function processEvent(event) { throw new Error(event.event) }', {
      on_failure: 'pass',
    })
    for (const name of ['one', 'two']) {
      await send(name)
      await pass(40 * SECOND)
    }
    await app.plugins.idle()
    expect((await configState(app, ids)).error?.message).toBe('Events are stored without this app: two')
  })

  it('stores events without the app, and says so until it is over', async () => {
    const before = await metric('longshore_app_lapses_total{became="passed"}')
    const ids = await on(THROWS, { on_failure: 'pass' })
    await send('one', 'two')
    const events = await stored()
    expect(events.map(({ event, properties }) => [event, properties.$plugins_failed])).toEqual([
      ['one', [`Made (${ids.config_id})`]],
      ['two', [`Made (${ids.config_id})`]],
    ])
    expect(await metric('longshore_app_lapses_total{became="passed"}')).toBe(before + 2)
    expect(await logLines(app, ids)).toContain('WARN 2 events were stored without this app: boom')
    await app.plugins.idle()
    expect((await configState(app, ids)).error?.message).toBe('Events are stored without this app: boom')
    await pass(30 * SECOND)
    expect((await configState(app, ids)).error).not.toBeNull()
    await pass(40 * SECOND)
    expect((await configState(app, ids)).error).toBeNull()
  })

  it('is no longer the default for an app that was seen to remove something', async () => {
    const ids = await on(
      `export function processEvent(event, { config }) {
      for (const name of config.names) delete event.properties[name]
      return event
    }`,
      { config: { names: ['ssn'] } },
    )
    await send('one')
    await app.plugins.idle()
    await become(ids, THROWS)
    await send('two')
    expect(await names()).toEqual(['one'])
    expect(await heldCount()).toBe(1)
  })

  it('stays the default for an app whose calculation failed', async () => {
    const ids = await on(
      'export function processEvent(e) { e.properties.eur = e.properties.usd * 0.9; return e }',
    )
    await send('one')
    await app.plugins.idle()
    await become(ids, THROWS)
    await send('two')
    expect(await names()).toEqual(['one', 'two'])
  })
})

describe('the first events after a start', () => {
  it('find no error that an earlier process left', async () => {
    const ids = await on(THROWS, { on_failure: 'pass' })
    await send('one')
    await app.plugins.idle()
    expect((await configState(app, ids)).error).not.toBeNull()
    const next = new PluginRuntime(app.services, new Ingest(app.services))
    await next.load()
    await next.close()
    expect((await configState(app, ids)).error).toBeNull()
  })

  it('find their apps loaded', async () => {
    await on(GUARD, { on_failure: 'pass' })
    const next = new PluginRuntime(app.services, new Ingest(app.services))
    await next.load()
    const loads = app.services.sandbox.prepare
    let count = 0
    app.services.sandbox.prepare = (...args) => {
      count++
      return loads.apply(app.services.sandbox, args)
    }
    const [event] = await next.transform(workspace.project, [
      {
        uuid: crypto.randomUUID(),
        event: 'first',
        distinct_id: 'ada',
        properties: { ssn: '123' },
        timestamp: 1n,
        created_at: 1n,
      },
    ])
    app.services.sandbox.prepare = loads
    await next.close()
    expect(event!.properties).not.toHaveProperty('ssn')
    expect(count).toBe(0)
  })
})

describe('slow projects of others', () => {
  const slow = (url: string) =>
    `export async function processEvent(event) { await fetch('${url}'); return event }`

  /** Projects of one organization, each with events that wait by themselves for an app that has become slow. */
  async function slowProjects(count: number, events: number, url: string): Promise<Workspace[]> {
    const owner = await createOrganization(app)
    return Promise.all(
      Array.from({ length: count }, async () => {
        const project = await insertProject(app.db, owner.organization.id, {}, app.services.now())
        const place = { ...owner, project }
        const ids = await switchOn(app, place, THROWS, { on_failure: 'hold' })
        await capture(app, place, ...Array.from({ length: events }, () => ({ event: 'slow' })))
        await become(ids, slow(url))
        return place
      }),
    )
  }

  async function quietProject(): Promise<void> {
    const ids = await on(THROWS, { on_failure: 'hold' })
    await send('quiet')
    await become(ids, GUARD)
  }

  it('take their share of the places and no more', async () => {
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    const endpoint = await startWebhookServer(async () => {
      await released
      return { status: 200 }
    })
    await slowProjects(8, 1, endpoint.url)
    await quietProject()
    app.advance(MINUTE)
    await app.plugins.tick()
    await until(async () => expect(await names()).toEqual(['quiet']))
    expect(endpoint.requests.filter(({ answered_at }) => answered_at !== null)).toEqual([])
    expect(endpoint.requests.length).toBeLessThanOrEqual(4)
    release()
    await app.plugins.idle()
    await endpoint.close()
  })

  it('make room after their turn, with events left', async () => {
    let release = () => {}
    const released = new Promise<void>((resolve) => (release = resolve))
    let asked = 0
    // Two turns of each of the eight; what is left of them is answered once the other project is through.
    const endpoint = await startWebhookServer(async () => {
      await (++asked <= 16 ? sleep(1_200) : released)
      return { status: 200 }
    })
    await slowProjects(4, 3, endpoint.url)
    await slowProjects(4, 3, endpoint.url)
    await quietProject()
    app.advance(MINUTE)
    await app.plugins.tick()
    await until(async () => expect(await names()).toEqual(['quiet']))
    release()
    // A slow machine has spent a turn before its second event.
    await until(async () => {
      await app.plugins.tick()
      await app.plugins.idle()
      expect(endpoint.requests).toHaveLength(24)
    })
    await endpoint.close()
  })
})
