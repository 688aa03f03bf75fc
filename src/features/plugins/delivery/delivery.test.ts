// Destinations from capture to their endpoint: every stored event arrives, once in quiet times.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startWebhookServer, type WebhookStandIn } from '../../../../test/stand-ins/webhook-server.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { until } from '../../../../test/harness/until.ts'
import { openScene, type Scene } from './fixture/scene.ts'

let app: TestApp
let scene: Scene
let endpoint: WebhookStandIn
beforeAll(async () => {
  app = await startTestApp({ OUTBOUND_ALLOW: '127.0.0.1' })
})
afterAll(() => app.close())
beforeEach(async () => {
  endpoint = await startWebhookServer()
  scene = await openScene(app)
})
afterEach(async () => {
  await scene.close()
  await endpoint.close()
})

const WEBHOOK = `
  export function composeWebhook(event, { config }) {
    if (event.event === 'unwanted') return null
    if (event.event === 'broken') throw new Error('cannot compose this')
    if (event.event === 'nonsense') return 'nonsense'
    const at = event.timestamp instanceof Date ? event.timestamp.toISOString() : 'no date'
    return { url: config.url, headers: { 'X-Key': config.key }, body: JSON.stringify({ ...event, at }) }
  }`

const ON_EVENT = `
  export async function onEvent(event, { config }) {
    const body = JSON.stringify(event)
    const { status } = await fetch(config.url, { method: 'POST', body, headers: { 'x-longshore-event-id': event.uuid } })
    if (status === 503) throw new RetryError('not now')
    if (status !== 200) throw new Error('answered ' + status)
  }`

const EXPORT = `
  export async function exportEvents(events, { config }) {
    const { status } = await fetch(config.url, { method: 'POST', body: JSON.stringify(events) })
    if (status !== 200) throw new RetryError('not now')
  }`

const arrived = () => endpoint.requests.map(({ event_id }) => event_id)
const config = () => ({ url: endpoint.url, key: 'k1' })

describe('composeWebhook', () => {
  it('gets every event stored since it was switched on, and sends it once', async () => {
    await scene.capture({ event: 'before' })
    const { config_id } = await scene.addDestination(WEBHOOK, { config: config() })
    const uuids = await scene.capture(...Array.from({ length: 250 }, () => ({ properties: { a: 1 } })))
    await scene.work()
    expect(arrived().toSorted()).toEqual(uuids.toSorted())
    await scene.work()
    expect(endpoint.requests).toHaveLength(250)
    expect(await scene.metrics(config_id)).toEqual([
      { category: 'composeWebhook', successes: 250, successes_on_retry: 0, failures: 0 },
    ])
    expect(await scene.retries(config_id)).toEqual([])
  })

  it('gets the event in its form, with a Date', async () => {
    await scene.addDestination(WEBHOOK, { config: config() })
    const [uuid] = await scene.capture({ event: 'x', properties: { a: { b: 1 }, $set: { c: 2 } } })
    await scene.work()
    const [request] = endpoint.requests
    const { at, timestamp, ...body } = JSON.parse(request!.body)
    expect(at).toBe(timestamp)
    expect(body).toEqual({
      uuid,
      event: 'x',
      team_id: scene.project.id,
      distinct_id: 'ada',
      properties: expect.objectContaining({ a: { b: 1 }, $set: { c: 2 } }),
    })
    expect(request!.headers['x-key']).toBe('k1')
  })

  it('may have nothing to send; what it cannot compose fails, and the others go on', async () => {
    const { config_id } = await scene.addDestination(WEBHOOK, { config: config() })
    const names = ['unwanted', 'broken', 'nonsense', 'good']
    const uuids = await scene.capture(...names.map((event) => ({ event })))
    await scene.work()
    expect(arrived()).toEqual([uuids[3]])
    expect(await scene.metrics(config_id)).toEqual([
      { category: 'composeWebhook', successes: 2, successes_on_retry: 0, failures: 2 },
    ])
    const errors = await scene.errors(config_id)
    expect(errors.map(({ details }) => details.event.uuid).toSorted()).toEqual(uuids.slice(1, 3).toSorted())
    const logs = await scene.logs(config_id)
    expect(logs.filter((line) => line.includes(`${uuids[2]} ("nonsense"): not delivered`))).toHaveLength(1)
    expect(await scene.retries(config_id)).toEqual([])
  })

  it('to an address that may not be called fails at once and says why', async () => {
    const url = 'http://169.254.169.254/token'
    const { config_id } = await scene.addDestination(WEBHOOK, { config: { url, key: 'k' } })
    await scene.capture({})
    await scene.work()
    expect(await scene.retries(config_id)).toEqual([])
    expect((await scene.logs(config_id)).at(-1)).toMatch(
      /^ERROR .*not delivered\. This address may not be called/,
    )
    expect(await scene.metrics(config_id)).toMatchObject([{ failures: 1 }])
  })
})

describe('onEvent', () => {
  it('gets every event once, in its form', async () => {
    const { config_id } = await scene.addDestination(ON_EVENT, { config: config() })
    const uuids = await scene.capture(
      { event: 'x', properties: { a: 1, $set: { b: 2 }, $set_once: { c: 3 } } },
      ...Array.from({ length: 120 }, () => ({})),
    )
    await scene.work()
    expect(arrived().toSorted()).toEqual(uuids.toSorted())
    const first = endpoint.requests.find(({ event_id }) => event_id === uuids[0])!
    expect(JSON.parse(first.body)).toEqual({
      uuid: uuids[0],
      event: 'x',
      distinct_id: 'ada',
      ip: null,
      team_id: scene.project.id,
      properties: expect.objectContaining({ a: 1 }),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      $set: { b: 2 },
      $set_once: { c: 3 },
      elements: [],
    })
    expect(await scene.metrics(config_id)).toEqual([
      { category: 'onEvent', successes: 121, successes_on_retry: 0, failures: 0 },
    ])
  })

  it('does not get back what it captured itself, but a neighbour gets it', async () => {
    await scene.addDestination(
      `export async function onEvent(event) { await posthog.capture('echo', { of: event.uuid }) }`,
    )
    await scene.addDestination(ON_EVENT, { config: config() })
    const [uuid] = await scene.capture({ event: 'call' })
    for (let round = 0; round < 4; round++) await scene.work()
    const events = endpoint.requests.map(({ body }) => JSON.parse(body))
    expect(events.map(({ event, properties }) => [event, properties.of])).toEqual([
      ['call', undefined],
      ['echo', uuid],
    ])
  })
})

describe('exportEvents', () => {
  const batches = () =>
    endpoint.requests.map(({ body }) => (JSON.parse(body) as { uuid: string }[]).map(({ uuid }) => uuid))

  it('gets a batch after ten seconds, each event once and not by onEvent too', async () => {
    const { config_id } = await scene.addDestination(EXPORT, { config: config() })
    const first = await scene.capture({}, {})
    await scene.work()
    app.advance(9_000)
    const second = await scene.capture({})
    await scene.work()
    expect(batches()).toEqual([])
    app.advance(1_000)
    await scene.work()
    expect(batches()).toEqual([[...first, ...second]])
    app.advance(20_000)
    await scene.work()
    expect(batches()).toHaveLength(1)
    expect(await scene.metrics(config_id)).toEqual([
      { category: 'exportEvents', successes: 3, successes_on_retry: 0, failures: 0 },
    ])
  })

  it('gets a batch at once when it is full', async () => {
    await scene.addDestination(EXPORT, { config: config() })
    const heavy = { properties: { filler: 'x'.repeat(300_000) } }
    const uuids = await scene.capture(heavy, heavy, heavy, heavy)
    await scene.work()
    expect(batches()).toEqual([uuids.slice(0, 3)])
    app.advance(10_000)
    await scene.work()
    expect(batches()).toEqual([uuids.slice(0, 3), uuids.slice(3)])
  })
})

describe('which events', () => {
  it('only those that the filters let through', async () => {
    const filters = { events: [{ id: 'order', properties: [{ key: 'amount', value: 10, operator: 'gt' }] }] }
    const { config_id } = await scene.addDestination(WEBHOOK, { config: config(), filters })
    const uuids = await scene.capture(
      { properties: { amount: 5 } },
      { properties: { amount: 50 } },
      { event: 'other', properties: { amount: 50 } },
    )
    await scene.work()
    expect(arrived()).toEqual([uuids[1]])
    await scene.change(config_id, { filters: { events: [{ id: 'other' }] } })
    const [later] = await scene.capture({ event: 'other' })
    await scene.work()
    expect(arrived()).toEqual([uuids[1], later])
  })

  it('also those that came while it was switched off, once it is on again', async () => {
    const { config_id } = await scene.addDestination(WEBHOOK, { config: config() })
    await scene.change(config_id, { enabled: false })
    const uuids = await scene.capture({}, {})
    await scene.work()
    expect(arrived()).toEqual([])
    await scene.change(config_id, { enabled: true })
    await scene.work()
    expect(arrived().toSorted()).toEqual(uuids.toSorted())
  })

  it('none of another project', async () => {
    await scene.addDestination(WEBHOOK, { config: config() })
    const other = await openScene(app)
    await other.capture({})
    await scene.work()
    expect(arrived()).toEqual([])
    await other.close()
  })
})

it('an app that does not load keeps its place, and goes on once it is mended', async () => {
  const { config_id, plugin_id } = await scene.addDestination(WEBHOOK, { config: config() })
  const cursor = await scene.cursor(config_id)
  await scene.setCode(plugin_id, `throw new Error('not today')\n${WEBHOOK}`)
  const uuids = await scene.capture({}, {})
  await scene.work()
  expect(await scene.cursor(config_id)).toBe(cursor)
  await scene.setCode(plugin_id, WEBHOOK)
  app.advance(3_000)
  await scene.work()
  expect(arrived().toSorted()).toEqual(uuids.toSorted())
})

it('a page whose turn is over is written down as far as it came, and goes on with its next turn', async () => {
  await endpoint.close()
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  endpoint = await startWebhookServer(async () => {
    if (endpoint.requests.length > 10) await released
    return { status: 200 }
  })
  const { config_id } = await scene.addDestination(WEBHOOK, { config: config() })
  scene.forget(1)
  const start = await scene.cursor(config_id)
  const uuids = await scene.capture(...Array.from({ length: 50 }, () => ({})))
  await scene.tick()
  await until(async () => expect(await scene.cursor(config_id)).toBeGreaterThan(start))
  expect(endpoint.requests.length).toBeLessThan(50)
  release()
  await scene.idle()
  expect(arrived().toSorted()).toEqual(uuids.toSorted())
  expect((await scene.cursor(config_id)) - start).toBe(50)
})
