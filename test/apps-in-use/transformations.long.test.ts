// Apps that change events before they are stored, each in another form of module.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startListener, Workbench } from './workbench.ts'

let bench: Workbench
beforeEach(async () => {
  bench = await Workbench.open()
})
afterEach(() => bench.close())

const only = async (event: string) => {
  const events = await bench.stored(event)
  expect(events).toHaveLength(1)
  return events[0]!.properties
}

describe('bare functions', () => {
  it('drop-events keeps events of a kind out, and tells nobody else apart', async () => {
    const plugin = await bench.write('drop-events')
    expect(plugin.capabilities).toEqual({ methods: ['processEvent'], jobs: [], scheduled_tasks: [] })
    const config = await bench.switchOn(plugin, { property: 'internal' })
    await bench.capture('inside', { internal: true })
    await bench.capture('outside', { internal: false })
    expect(await bench.stored('inside')).toEqual([])
    expect((await only('outside')).$plugins_succeeded).toEqual([`Drop events (${config})`])
  })
})

describe('CommonJS', () => {
  it('first-time-events remembers in storage, also after it was switched off and on', async () => {
    const plugin = await bench.installLocal('first-time-events')
    expect(plugin.capabilities.methods).toEqual(['setupPlugin', 'processEvent'])
    const config = await bench.switchOn(plugin)
    await bench.capture('bought')
    await bench.capture('looked')
    await bench.switchOff(config)
    await bench.app.patch(
      `${bench.projectUrl}/plugin_configs/${config}/`,
      { enabled: true },
      { key: bench.key },
    )
    await bench.app.plugins.idle()
    await bench.capture('bought')
    expect((await bench.stored('bought')).map(({ properties }) => properties.is_first_of_its_kind)).toEqual([
      false,
      true,
    ])
    expect(await only('looked')).not.toHaveProperty('is_first_of_its_kind')
  })

  it('campaign-parser reads addresses, and changes the person', async () => {
    await bench.switchOn(await bench.installLocal('campaign-parser'))
    await bench.capture('seen', {
      $current_url: 'https://example.com/shop/?utm_source=mail&utm_medium=x&q=1',
    })
    const properties = await only('seen')
    expect(properties).toMatchObject({ page: '/shop/', $set: { utm_source: 'mail', utm_medium: 'x' } })
    const persons = await bench.app.get(`${bench.projectUrl}/persons/`, { key: bench.key })
    expect(persons.body.results[0].properties).toMatchObject({ utm_source: 'mail' })
    expect(persons.body.results[0].properties).not.toHaveProperty('q')
  })
})

describe('ES modules', () => {
  it('time-parts splits the time of an event', async () => {
    await bench.switchOn(await bench.write('time-parts'))
    await bench.capture('then', {}, { timestamp: '2026-11-01T07:30:00Z' })
    expect(await only('then')).toMatchObject({ day_of_the_week: 'sunday', hour: '07', year: '2026' })
  })

  it('visit-counter counts in the cache, and its metrics become an event', async () => {
    const config = await bench.switchOn(await bench.installLocal('visit-counter'))
    for (const distinct_id of ['ann', 'bob', 'ann']) await bench.capture('visit', {}, { distinct_id })
    const [third, second] = await bench.stored('visit')
    expect(third!.properties).toMatchObject({ visit: 2, latest: ['ann', 'bob'], visitors_seen: 3 })
    expect(second!.properties).toMatchObject({ visit: 1, latest: ['bob', 'ann'], visitors_seen: 2 })
    bench.app.advance(61_000)
    await bench.work(async () => (await bench.stored('$plugin_metrics')).length > 0)
    expect(await only('$plugin_metrics')).toMatchObject({
      visits: 3,
      longest_name: 5,
      $plugin_config_id: config,
    })
  })
})

describe('TypeScript', () => {
  it('currency fetches its rates before the first event and every hour, with a secret', async () => {
    let eur = 0.5
    const rates = await startListener(() => ({ json: { rates: { EUR: eur, USD: 1 } } }))
    const plugin = await bench.installLocal('currency')
    expect(plugin.capabilities).toEqual({
      methods: ['setupPlugin', 'processEvent'],
      jobs: [],
      scheduled_tasks: ['runEveryHour'],
    })
    const app_id = bench.app.canary.plant('app id', 'a-very-secret-app-id')
    await bench.switchOn(plugin, { rates_url: rates.url, app_id })
    await bench.capture('bought', { amount: 10, currency: 'USD' })
    expect((await only('bought')).normalized_amount).toBe(5)
    expect(rates.heard.map(({ url }) => url)).toEqual([`/?app_id=${app_id}`])
    eur = 0.25
    bench.app.advance(3_600_000)
    await bench.work(() => rates.heard.length === 2)
    await bench.capture('bought again', { amount: 10, currency: 'USD' })
    expect((await only('bought again')).normalized_amount).toBe(2.5)
    await rates.close()
  })

  it('schema-keeper reads its attachment; what it throws at is stored as it was, if its config says so', async () => {
    const plugin = await bench.installLocal('schema-keeper')
    const form = new FormData()
    form.append('plugin', String(plugin.id))
    form.append('enabled', 'true')
    form.append('config', '{}')
    form.append('on_failure', 'pass')
    const schema = JSON.stringify({ bought: ['amount'] })
    form.append('add_attachment[schema]', new File([schema], 'schema.json', { type: 'application/json' }))
    const request = new Request('http://localhost', { method: 'POST', body: form })
    const reply = await bench.app.http.inject({
      method: 'POST',
      url: `${bench.projectUrl}/plugin_configs/`,
      headers: { authorization: `Bearer ${bench.key}`, 'content-type': request.headers.get('content-type')! },
      payload: Buffer.from(await request.arrayBuffer()),
    })
    expect(reply.statusCode).toBe(201)
    const { id } = reply.json<{ id: number }>()
    await bench.app.plugins.idle()
    await bench.capture('bought', { amount: 1 })
    await bench.capture('bought', { price: 1 })
    await bench.capture('unknown', { a: 1 })
    expect((await only('bought')).amount).toBe(1)
    const unknown = await only('unknown')
    expect(unknown).toMatchObject({ a: 1, $plugins_failed: [`Schema keeper (${id})`] })
    expect(unknown).not.toHaveProperty('$plugins_succeeded')
    const lines = await bench.logs(id)
    expect(lines).toContainEqual(
      expect.objectContaining({
        source: 'CONSOLE',
        type: 'WARN',
        message: 'dropped bought {"missing":["amount"]}',
      }),
    )
    expect(
      lines.some(({ type, message }) => type === 'ERROR' && message.includes('no rule for unknown')),
    ).toBe(true)
  })
})

it('a chain of apps runs in order, each on what the one before made', async () => {
  const dropped = await bench.switchOn(await bench.write('drop-events'), {
    property: 'page',
    value: '/admin/',
  })
  await bench.switchOn(await bench.installLocal('campaign-parser'))
  await bench.capture('kept', { $current_url: 'https://example.com/admin/' })
  expect(await bench.stored('kept')).toHaveLength(1)
  await bench.app.call('PATCH', `${bench.projectUrl}/plugin_configs/rearrange/`, {
    key: bench.key,
    body: { orders: { [dropped]: 99 } },
  })
  await bench.app.plugins.idle()
  await bench.capture('gone', { $current_url: 'https://example.com/admin/' })
  expect(await bench.stored('gone')).toEqual([])
})
