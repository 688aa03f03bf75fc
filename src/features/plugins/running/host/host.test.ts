// What apps get from their host: storage, captured events, figures and calls to the outside.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../../test/harness/app.ts'
import { sql } from '../../../../platform/db/sql.ts'
import { capture, storedEvents, switchOn } from '../fixture/apps.ts'
import type { AppIds } from '../running-app.ts'

const MINUTE = 60_000

let app: TestApp
let workspace: Workspace
let server: Server
let requests: IncomingMessage[] = []
let url: string
beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(request)
    if (request.url === '/again') response.writeHead(302, { location: '/again' }).end()
    else if (request.url === '/large') response.end('x'.repeat(6 * 1024 * 1024))
    else response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  app = await startTestApp({ OUTBOUND_ALLOW: '127.0.0.1' })
})
afterAll(async () => {
  await app.close()
  await new Promise((resolve) => server.close(resolve))
})
beforeEach(async () => {
  workspace = await createOrganization(app)
  requests = []
})

const on = (code: string, fields?: Parameters<typeof switchOn>[3]) => switchOn(app, workspace, code, fields)

/** An app with one job, whose body is given. */
const withJob = (body: string) => on(`export const jobs = { run: async (payload, meta) => { ${body} } }`)
const run = (ids: AppIds, payload: unknown = null) =>
  app.plugins.call(app.plugins.current(ids.config_id)!, { method: 'job', name: 'run', payload })

describe('storage', () => {
  it('keeps JSON values per config over edits and restarts', async () => {
    const body = `
      const before = await meta.storage.get('seen', [])
      await meta.storage.set('seen', [...before, payload])
      return before`
    const ids = await withJob(body)
    const other = await withJob(body)
    expect(await run(ids, { a: 1 })).toEqual([])
    await app.services.sandbox.dispose(ids.config_id)
    expect(await run(ids, 'b')).toEqual([{ a: 1 }])
    expect(await run(other)).toEqual([])
  })

  it('forgets what is deleted', async () => {
    const ids = await withJob(`
      await meta.storage.set('a', 1)
      await meta.storage.set('b', 2)
      await meta.storage.del('a')
      await meta.storage.set('b', undefined)
      return [await meta.storage.get('a', null), await meta.storage.get('b', null)]`)
    expect(await run(ids)).toEqual([null, null])
    expect(
      await app.db.rows(sql`SELECT key FROM plugin_storage WHERE plugin_config_id = ${ids.config_id}`),
    ).toEqual([])
  })

  it('counts without losing a step', async () => {
    const ids = await withJob(`return await meta.utils.cursor.increment('n', payload)`)
    const results = await Promise.all(Array.from({ length: 20 }, () => run(ids, 2)))
    expect(results.toSorted((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 20 }, (_, index) => 2 * (index + 1)),
    )
    expect(await run(ids, -0.5)).toBe(39.5)
    expect(await run(ids, 1e21).catch((error: Error) => error.message)).toMatch(/number/)
  })

  it('sets a counter up only once, and counts only what is a number', async () => {
    const ids = await withJob(`
      await meta.utils.cursor.init('n', 5)
      await meta.utils.cursor.increment('n', 1)
      await meta.utils.cursor.init('n', 5)
      await meta.storage.set('text', 'abc')
      const fault = await meta.utils.cursor.increment('text', 1).catch((error) => error.message)
      return [await meta.storage.get('n', null), fault]`)
    expect(await run(ids)).toEqual([6, 'What is stored under this key is not a number.'])
  })

  it('refuses long keys, large values and more than 20 MB in all, but not what takes their place', async () => {
    const ids = await withJob(`
      const tried = async (work) => { try { await work(); return 'done' } catch (error) { return 'refused' } }
      const megabyte = 'x'.repeat(1000000)
      const outcomes = []
      for (let n = 0; n < 21; n++) outcomes.push(await tried(() => meta.storage.set('n' + n, megabyte)))
      return {
        key: await tried(() => meta.storage.set('k'.repeat(201), 1)),
        value: await tried(() => meta.storage.set('large', 'x'.repeat(1100000))),
        outcomes,
        again: await tried(() => meta.storage.set('n0', megabyte)),
        small: await tried(() => meta.storage.set('n0', 1)),
      }`)
    expect(await run(ids)).toEqual({
      key: 'refused',
      value: 'refused',
      outcomes: [...Array(20).fill('done'), 'refused'],
      again: 'done',
      small: 'done',
    })
  })
})

describe('captured events', () => {
  it('go into the project, by the name of the plugin unless told otherwise', async () => {
    const ids = await withJob(`
      await posthog.capture('plain', { a: 1 })
      await posthog.capture('given', { distinct_id: 'ada', timestamp: '2021-01-02T03:04:05.000Z' })`)
    await run(ids)
    expect(await storedEvents(app, workspace)).toMatchObject([
      {
        event: 'plain',
        distinct_id: 'Made',
        properties: { a: 1, $lib: 'posthog-plugin-server', $plugin_config_id: ids.config_id },
      },
      { event: 'given', distinct_id: 'ada' },
    ])
  })

  it('never come back to the app that sent them, but go through the others', async () => {
    const echo = await on(
      `export async function processEvent(event) {
        await posthog.capture('echo of ' + event.event, {})
        event.properties.echoed = true
        delete event.properties.$plugin_config_id
        return event
      }`,
      { order: 1 },
    )
    await on(
      `export function processEvent(event) {
        event.properties.passed = true
        delete event.properties.$plugin_config_id
        return event
      }`,
      { order: 2 },
    )
    await capture(app, workspace, { event: 'call' })
    const events = await storedEvents(app, workspace)
    expect(events.map(({ event }) => event)).toEqual(['echo of call', 'call'])
    expect(events[0]!.properties).toMatchObject({ passed: true, $plugin_config_id: echo.config_id })
    expect(events[0]!.properties).not.toHaveProperty('echoed')
    expect(events[1]!.properties).toMatchObject({ passed: true, echoed: true })
    expect(events[1]!.properties).not.toHaveProperty('$plugins_failed')
  })

  it('cannot be feigned from outside', async () => {
    const ids = await on(`export function processEvent(event) { event.event += '!'; return event }`)
    await capture(app, workspace, { event: 'sly', properties: { $plugin_config_id: ids.config_id } })
    const plain = await createOrganization(app)
    await capture(app, plain, { event: 'sly', properties: { $plugin_config_id: 1 } })
    const [event] = await storedEvents(app, workspace)
    expect(event!.event).toBe('sly!')
    expect(event!.properties).not.toHaveProperty('$plugin_config_id')
    expect((await storedEvents(app, plain))[0]!.properties).not.toHaveProperty('$plugin_config_id')
  })

  it('are refused when they are none', async () => {
    const ids = await withJob(`
      try { await posthog.capture('', {}); return 'taken' } catch (error) { return error.message }`)
    expect(await run(ids)).toMatch(/event/)
    expect(await storedEvents(app, workspace)).toEqual([])
  })
})

describe('figures', () => {
  it('become one event per minute, which the app itself does not get', async () => {
    const ids = await on(`
      export const metrics = { seen: 'sum', longest: 'max', shortest: 'min' }
      export function processEvent(event, { metrics }) {
        metrics.seen.increment(1)
        metrics.longest.max(event.properties.ms)
        metrics.shortest.min(event.properties.ms)
        event.properties.counted = true
        return event
      }`)
    await app.plugins.tick()
    const sent = [5, 3, 9].map((ms) => ({ event: 'timed', properties: { ms } }))
    await capture(app, workspace, ...sent)
    app.advance(MINUTE)
    await app.plugins.tick()
    app.advance(MINUTE)
    await app.plugins.tick()
    await app.plugins.idle()
    const events = await storedEvents(app, workspace)
    expect(events.map(({ event }) => event)).toEqual(['timed', 'timed', 'timed', '$plugin_metrics'])
    expect(events[3]!.properties).toMatchObject({
      seen: 3,
      longest: 9,
      shortest: 3,
      $plugin_config_id: ids.config_id,
    })
    expect(events[3]!.properties).not.toHaveProperty('counted')
  })
})

describe('calls to the outside', () => {
  const asking = `
    try {
      const answer = await fetch(payload.url, payload.init)
      return { status: answer.status, body: await answer.text() }
    } catch (error) { return error.message }`

  it('bring the answer, under our name and without headers about the connection', async () => {
    const ids = await withJob(asking)
    const init = {
      method: 'POST',
      body: 'hello',
      headers: {
        'X-Own': 'yes',
        Host: 'evil.example',
        Cookie: 'a=b',
        'User-Agent': 'Sneaky',
        Connection: 'close',
      },
    }
    expect(await run(ids, { url: `${url}/hook`, init })).toEqual({ status: 200, body: '{"ok":true}' })
    expect(requests).toHaveLength(1)
    expect(requests[0]!.method).toBe('POST')
    expect(requests[0]!.headers).toMatchObject({
      'x-own': 'yes',
      'user-agent': 'Longshore-App',
      host: url.slice(7),
    })
    expect(requests[0]!.headers).not.toHaveProperty('cookie')
  })

  it.each([
    ['a private address', 'http://10.0.0.1/', /may not be called/],
    ['something else than http', 'file:///etc/passwd', /may not be called|http/],
  ])('are refused to %s, without telling more', async (_, target, message) => {
    const ids = await withJob(asking)
    const answer = await run(ids, { url: target })
    expect(answer).toMatch(message)
    expect(answer).not.toContain('passwd')
    expect(requests).toEqual([])
  })

  it('end with too many redirects, or too large an answer', async () => {
    const ids = await withJob(asking)
    expect(await run(ids, { url: `${url}/again` })).toMatch(/redirected too often/)
    expect(requests).toHaveLength(4)
    expect(await run(ids, { url: `${url}/large` })).toMatch(/larger than its size limit/)
  })
})
