// Apps that carry stored events elsewhere.
import { createHmac } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startListener, Workbench, type Heard } from './workbench.ts'

let bench: Workbench
beforeEach(async () => {
  bench = await Workbench.open()
})
afterEach(() => bench.close())

const read = ({ body }: Heard) => JSON.parse(body.toString())

it('crm-webhook (TypeScript, composeWebhook): each event is one request, by its own method and headers', async () => {
  const crm = await startListener()
  const token = bench.app.canary.plant('token', 'a-very-secret-token')
  await bench.switchOn(await bench.installLocal('crm-webhook'), { url: crm.url, token })
  await bench.capture('$pageview')
  await bench.capture('signed up', { plan: 'free' }, { timestamp: '2026-11-01T07:30:00Z' })
  await bench.work(() => crm.heard.length > 0)
  const [stored] = (await bench.stored('signed up')) as unknown as { id: string }[]
  expect(crm.heard).toHaveLength(1)
  expect(crm.heard[0]).toMatchObject({
    method: 'PUT',
    url: '/people/ann',
    headers: { authorization: `Bearer ${token}`, 'x-longshore-event-id': stored!.id },
  })
  expect(read(crm.heard[0]!)).toMatchObject({
    name: 'signed up',
    at: Date.parse('2026-11-01T07:30:00Z'),
    data: { plan: 'free' },
  })
  await crm.close()
})

it('chat-messages (ES module, onEvent, node-fetch): tries again what passes, gives up what does not', async () => {
  const answers = [503, 200, 400]
  const chat = await startListener(() => ({ status: answers.shift() ?? 200 }))
  const plugin = await bench.write('chat-messages')
  expect(plugin.capabilities.methods).toEqual(['onEvent'])
  const config = await bench.switchOn(plugin, { url: chat.url, events: 'bought,left' })
  await bench.capture('bought')
  await bench.work(() => chat.heard.length === 1)
  bench.app.advance(2_000)
  await bench.work(() => chat.heard.length === 2)
  expect(read(chat.heard[1]!)).toEqual(read(chat.heard[0]!))
  await bench.capture('left')
  await bench.work(() => chat.heard.length === 3)
  bench.app.advance(3_600_000)
  await bench.work(async () =>
    (await bench.logs(config)).some(({ type, message }) => type === 'ERROR' && message.includes('refused')),
  )
  expect(chat.heard).toHaveLength(3)
  await bench.app.plugins.metrics.flush()
  const metrics = await bench.app.get(`${bench.projectUrl}/app_metrics/${config}/?category=onEvent`, {
    key: bench.key,
  })
  expect(metrics.body.metrics.totals).toEqual({ successes: 0, successes_on_retry: 1, failures: 1 })
  await chat.close()
})

it('buffered-exporter (createBuffer): full bundles at once, the rest when it is taken down', async () => {
  const sink = await startListener()
  const config = await bench.switchOn(await bench.installLocal('buffered-exporter'), { url: sink.url })
  for (const event of ['a', 'b', 'c', 'd']) await bench.capture(event)
  await bench.work(() => sink.heard.length === 1)
  await bench.switchOff(config)
  await bench.work(() => sink.heard.length === 2)
  expect(sink.heard.flatMap((heard) => read(heard) as string[]).toSorted()).toEqual(['a', 'b', 'c', 'd'])
  await sink.close()
})

it('signed-exporter (exportEvents, crypto, zlib): bundles that are signed and packed, tried again when refused', async () => {
  const answers = [500]
  const sink = await startListener(() => ({ status: answers.shift() ?? 200 }))
  const secret = bench.app.canary.plant('signing secret', 'a-very-secret-signing-key')
  const plugin = await bench.installLocal('signed-exporter')
  expect(plugin.capabilities.methods).toEqual(['exportEvents', 'onEvent'])
  await bench.switchOn(plugin, { url: sink.url, secret })
  for (const event of ['a', 'b']) await bench.capture(event, { from: event })
  bench.app.advance(11_000)
  await bench.work(() => sink.heard.length === 1)
  bench.app.advance(7_000)
  await bench.work(() => sink.heard.length === 2)
  const unpacked = sink.heard.map(({ body }) => gunzipSync(body).toString())
  expect(unpacked[1]).toBe(unpacked[0])
  expect(JSON.parse(unpacked[1]!)).toMatchObject([
    { event: 'a', properties: { from: 'a' } },
    { event: 'b', properties: { from: 'b' } },
  ])
  const signature = createHmac('sha256', secret).update(unpacked[1]!).digest('hex')
  expect(sink.heard[1]!.headers['x-signature']).toBe(signature)
  await sink.close()
})

it('daily-report (two families): counts what it sees, and reports once a day without counting its own report', async () => {
  const plugin = await bench.installLocal('daily-report')
  for (const family of ['pipeline_destinations', 'pipeline_import_apps']) {
    const reply = await bench.app.get(`${bench.organizationUrl}/${family}/${plugin.id}/`, { key: bench.key })
    expect(reply.status, family).toBe(200)
  }
  const config = await bench.switchOn(plugin)
  for (const event of ['a', 'b', 'c']) await bench.capture(event)
  const isCounted = async () => {
    await bench.app.plugins.metrics.flush()
    const reply = await bench.app.get(`${bench.projectUrl}/app_metrics/${config}/?category=onEvent`, {
      key: bench.key,
    })
    return reply.body.metrics.totals.successes === 3
  }
  await bench.work(isCounted)
  bench.app.advance(24 * 3_600_000)
  await bench.work(async () => (await bench.stored('daily report')).length === 1)
  expect((await bench.stored('daily report'))[0]).toMatchObject({
    distinct_id: 'reports',
    properties: { period: 'day', count: 3, $lib: 'posthog-plugin-server' },
  })
  expect(await isCounted()).toBe(true)
})
