// What is tried again, when, and what stops it.
// @module-tag slow
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  startWebhookServer,
  type Reaction,
  type Received,
  type WebhookStandIn,
} from '../../../../test/stand-ins/webhook-server.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { openScene, type Scene } from './fixture/scene.ts'

const OK: Reaction = { status: 200 }
const DOWN: Reaction = { status: 503 }

let app: TestApp
let scene: Scene
let endpoint: WebhookStandIn
let react: (request: Received) => Reaction | Promise<Reaction>
/** By the application's clock. */
let answered_at: number
let key: string
beforeAll(async () => {
  app = await startTestApp({ OUTBOUND_ALLOW: '127.0.0.1' })
  key = app.canary.plant('key of a webhook', 'whk_0c2f8a11d5e94b7f')
})
afterAll(() => app.close())
beforeEach(async () => {
  react = () => OK
  endpoint = await startWebhookServer(async (request) => {
    const reaction = await react(request)
    answered_at = app.services.now().getTime()
    return reaction
  })
  scene = await openScene(app)
})
afterEach(async () => {
  await scene.close()
  await endpoint.close()
})

const WEBHOOK = `
  export function composeWebhook(event, { config }) {
    return { url: config.url, headers: { 'x-key': config.key }, body: { event: event.event, now: String(Math.random()) } }
  }`

const ON_EVENT = `
  export async function onEvent(event, { config }) {
    const headers = { 'x-longshore-event-id': event.uuid }
    const { status } = await fetch(config.url, { method: 'POST', body: '', headers })
    if (status === 503) throw new RetryError('not now')
    if (status !== 200) throw new Error('answered ' + status)
  }`

const EXPORT = `
  export async function exportEvents(events, { config }) {
    const body = JSON.stringify(events.map(({ uuid }) => uuid))
    const { status } = await fetch(config.url, { method: 'POST', body })
    if (status !== 200) throw new RetryError('not now')
  }`

const config = () => ({ url: endpoint.url, key })
const tries = () => endpoint.requests.length

/** It waits so long, and is tried once the wait is over. */
async function expectNextTry(config_id: number, wait_s: number, longest_s = wait_s * 1.2) {
  const before = tries()
  const [retry] = await scene.retries(config_id)
  const wait_ms = retry!.due_at.getTime() - answered_at
  expect(wait_ms).toBeGreaterThanOrEqual(wait_s * 1000)
  // The machine may have taken its time to answer.
  expect(wait_ms).toBeLessThan(longest_s * 1000 + 5_000)
  app.advance(wait_s * 700)
  await scene.work()
  // The clock runs by itself too: by now it may have taken all that was left of the wait.
  if (app.services.now() < retry!.due_at) expect(tries()).toBe(before)
  app.advance((longest_s - 0.7 * wait_s) * 1000)
  await scene.work()
  expect(tries()).toBe(before + 1)
}

describe('a webhook', () => {
  it('that is not taken is tried six times, at the times promised, and then given up', async () => {
    react = () => DOWN
    const { config_id } = await scene.addDestination(WEBHOOK, { config: config() })
    const [uuid] = await scene.capture({})
    await scene.work()
    for (const wait_s of [1, 5, 30, 120, 600]) await expectNextTry(config_id, wait_s)
    app.advance(3_600_000)
    await scene.work()
    expect(tries()).toBe(6)
    expect(new Set(endpoint.requests.map(({ event_id }) => event_id))).toEqual(new Set([uuid]))
    // Composed once: each would have a random number of its own.
    expect(new Set(endpoint.requests.map(({ body }) => body)).size).toBe(1)
    expect(await scene.retries(config_id)).toEqual([])
    expect(await scene.metrics(config_id)).toEqual([
      { category: 'composeWebhook', successes: 0, successes_on_retry: 0, failures: 1 },
    ])
    expect((await scene.errors(config_id)).map(({ error_type }) => error_type)).toEqual(['WebhookError'])
    expect((await scene.logs(config_id)).at(-1)).toBe(
      `ERROR Event ${uuid} ("order"): not delivered after 6 tries. The endpoint answered with status 503.`,
    )
  })

  it.each<[string, Reaction]>([
    ['408', { status: 408 }],
    ['429', { status: 429 }],
    ['500', { status: 500 }],
    ['a broken connection', 'cut'],
  ])('is tried again after %s', async (_, first) => {
    react = () => (tries() === 1 ? first : OK)
    const { config_id } = await scene.addDestination(WEBHOOK, { config: config() })
    await scene.capture({})
    await scene.work()
    app.advance(1_200)
    await scene.work()
    await scene.work()
    expect(tries()).toBe(2)
    expect(await scene.metrics(config_id)).toMatchObject([
      { successes: 0, successes_on_retry: 1, failures: 0 },
    ])
  })

  it('that is refused is not tried again, and what the endpoint said is told without the key', async () => {
    react = ({ headers }) => ({ status: 403, body: `no such key: ${String(headers['x-key'])}` })
    const { config_id } = await scene.addDestination(WEBHOOK, { config: config() })
    await scene.capture({})
    await scene.work()
    app.advance(3_600_000)
    await scene.work()
    expect(tries()).toBe(1)
    expect(await scene.metrics(config_id)).toMatchObject([{ failures: 1 }])
    expect((await scene.logs(config_id)).at(-1)).toMatch(/status 403: no such key: \*\*\*$/)
  })

  it('waits as long as Retry-After asks, up to ten minutes', async () => {
    const asked = ['20', '86400']
    react = () => (asked.length > 0 ? { status: 429, headers: { 'retry-after': asked.shift()! } } : OK)
    const { config_id } = await scene.addDestination(WEBHOOK, { config: config() })
    await scene.capture({})
    await scene.work()
    await expectNextTry(config_id, 20, 20)
    await expectNextTry(config_id, 600, 600)
    expect(endpoint.requests.at(-1)!.reaction).toEqual(OK)
  })

  it('that fails holds up no other event', async () => {
    const { config_id } = await scene.addDestination(WEBHOOK, { config: config() })
    react = ({ body }) => (body.includes('bad') ? DOWN : OK)
    const uuids = await scene.capture({ event: 'bad' }, {}, {}, { event: 'bad' }, {})
    await scene.work()
    const later = await scene.capture({})
    await scene.work()
    const taken = endpoint.requests.filter(({ reaction }) => reaction === OK).map(({ event_id }) => event_id)
    expect(new Set(taken)).toEqual(new Set([uuids[1], uuids[2], uuids[4], ...later]))
    expect(taken).toHaveLength(3 + later.length)
    expect(await scene.retries(config_id)).toHaveLength(2)
  })

  it('keeps its request sealed, and as it was when the settings are edited meanwhile', async () => {
    const other = await startWebhookServer()
    react = () => (tries() === 1 ? DOWN : OK)
    const { config_id } = await scene.addDestination(WEBHOOK, { config: config() })
    await scene.capture({})
    await scene.work()
    const [retry] = await scene.retries(config_id)
    expect(retry!.request).toMatch(/^v1\./)
    await scene.change(config_id, { config: { url: other.url, key } })
    app.advance(1_200)
    await scene.work()
    expect(endpoint.requests.map(({ body }) => body)).toHaveLength(2)
    expect(endpoint.requests[1]!.body).toBe(endpoint.requests[0]!.body)
    expect(other.requests).toEqual([])
    const uuids = await scene.capture({})
    await scene.work()
    expect(other.requests.map(({ event_id }) => event_id)).toEqual(uuids)
    await other.close()
  })

  it('waits while the config is switched off, and goes on when it is on again', async () => {
    react = () => (tries() === 1 ? DOWN : OK)
    const { config_id } = await scene.addDestination(WEBHOOK, { config: config() })
    await scene.capture({})
    await scene.work()
    await scene.change(config_id, { enabled: false })
    app.advance(3_600_000)
    await scene.work()
    expect(tries()).toBe(1)
    await scene.change(config_id, { enabled: true })
    await scene.work()
    await scene.work()
    expect(tries()).toBe(2)
    expect(await scene.retries(config_id)).toEqual([])
  })

  it('goes with its config', async () => {
    react = () => DOWN
    const { config_id, plugin_id } = await scene.addDestination(WEBHOOK, { config: config() })
    await scene.capture({})
    await scene.work()
    const plugin = `/api/organizations/${scene.organization.id}/plugins/${plugin_id}/`
    expect((await app.delete(plugin, { key: scene.owner.key })).status).toBe(204)
    await app.plugins.idle()
    app.advance(3_600_000)
    await scene.work()
    expect([tries(), await scene.retries(config_id)]).toEqual([1, []])
  })
})

describe('an endpoint that is down', () => {
  it('is offered a thousand events or so; the others wait behind the cursor and lose nothing', async () => {
    react = () => DOWN
    const { config_id } = await scene.addDestination(WEBHOOK, { config: config() })
    const start = await scene.cursor(config_id)
    // All in one turn, however busy the machine is.
    scene.forget(60_000)
    const uuids = await scene.capture(...Array.from({ length: 1_300 }, () => ({})))
    await scene.work()
    expect(await scene.retries(config_id)).toHaveLength(1_000)
    expect(await scene.cursor(config_id)).toBe(start + 1_000)
    react = () => OK
    app.advance(1_200)
    await scene.work()
    await scene.work()
    const taken = endpoint.requests.filter(({ reaction }) => reaction === OK).map(({ event_id }) => event_id)
    expect(taken.toSorted()).toEqual(uuids.toSorted())
  })

  it('or slow holds up no neighbour', async () => {
    const slow = await startWebhookServer(() => new Promise(() => undefined))
    await scene.addDestination(WEBHOOK, { config: { url: slow.url, key } })
    await scene.addDestination(WEBHOOK, { config: config() })
    const uuids = await scene.capture(...Array.from({ length: 300 }, () => ({})))
    await scene.tick()
    await expect.poll(tries).toBe(300)
    expect(endpoint.requests.map(({ event_id }) => event_id).toSorted()).toEqual(uuids.toSorted())
    expect(slow.requests).toHaveLength(10)
    await slow.close()
    await scene.close()
  })
})

describe('onEvent', () => {
  it('is called again after a RetryError, at the times promised', async () => {
    react = () => DOWN
    const { config_id } = await scene.addDestination(ON_EVENT, { config: config() })
    await scene.capture({})
    await scene.work()
    await expectNextTry(config_id, 1)
    await expectNextTry(config_id, 5)
    react = () => OK
    await expectNextTry(config_id, 30)
    expect(await scene.retries(config_id)).toEqual([])
    expect(await scene.metrics(config_id)).toEqual([
      { category: 'onEvent', successes: 0, successes_on_retry: 1, failures: 0 },
    ])
  })

  it('is not called again after any other error', async () => {
    react = () => ({ status: 500 })
    const { config_id } = await scene.addDestination(ON_EVENT, { config: config() })
    const [uuid] = await scene.capture({})
    await scene.work()
    app.advance(3_600_000)
    await scene.work()
    expect(tries()).toBe(1)
    expect(await scene.metrics(config_id)).toMatchObject([{ failures: 1 }])
    expect((await scene.errors(config_id)).map(({ details }) => details.event.uuid)).toEqual([uuid])
  })
})

describe('exportEvents', () => {
  it('gets a batch again three times after a RetryError, and new ones meanwhile', async () => {
    react = ({ body }) => (body.includes(uuids[0]!) ? DOWN : OK)
    const { config_id } = await scene.addDestination(EXPORT, { config: config() })
    const uuids = await scene.capture({}, {})
    await scene.work()
    app.advance(10_000)
    await scene.work()
    const later = await scene.capture({})
    await scene.work()
    for (const wait_s of [6, 12, 24]) {
      // The batch that gathers meanwhile goes out once, beside.
      const failed = () => endpoint.requests.filter(({ reaction }) => reaction === DOWN).length
      const before = failed()
      app.advance(wait_s * 700)
      await scene.work()
      expect(failed()).toBe(before)
      app.advance(wait_s * 500)
      await scene.work()
      expect(failed()).toBe(before + 1)
    }
    app.advance(3_600_000)
    await scene.work()
    const bodies = endpoint.requests.map(({ body }) => body)
    expect(bodies.filter((body) => body === JSON.stringify(uuids))).toHaveLength(4)
    expect(bodies.filter((body) => body === JSON.stringify(later))).toHaveLength(1)
    expect(bodies).toHaveLength(5)
    expect(await scene.metrics(config_id)).toEqual([
      { category: 'exportEvents', successes: 1, successes_on_retry: 0, failures: 2 },
    ])
  })
})

describe('after a crash', () => {
  it('what was not acknowledged comes again, under the same id', async () => {
    let lose = true
    react = () => (lose ? new Promise<Reaction>(() => undefined) : OK)
    const { config_id } = await scene.addDestination(WEBHOOK, { config: config() })
    const cursor = await scene.cursor(config_id)
    const uuids = await scene.capture({}, {})
    await scene.tick()
    await expect.poll(tries).toBe(2)
    expect(await scene.cursor(config_id)).toBe(cursor)
    scene.forget()
    lose = false
    await scene.work()
    await scene.work()
    expect(endpoint.requests.map(({ event_id }) => event_id).toSorted()).toEqual(
      [...uuids, ...uuids].toSorted(),
    )
    expect(await scene.cursor(config_id)).toBe(cursor + 2)
  })

  it('during a retry, the next one comes no sooner than if that had failed', async () => {
    react = () => (tries() === 2 ? new Promise<Reaction>(() => undefined) : tries() === 1 ? DOWN : OK)
    const { config_id } = await scene.addDestination(WEBHOOK, { config: config() })
    await scene.capture({})
    await scene.work()
    app.advance(1_200)
    await scene.tick()
    await expect.poll(tries).toBe(2)
    scene.forget()
    await scene.work()
    await expectNextTry(config_id, 15, 15)
    expect(await scene.retries(config_id)).toEqual([])
    expect(new Set(endpoint.requests.map(({ body }) => body)).size).toBe(1)
  })
})
