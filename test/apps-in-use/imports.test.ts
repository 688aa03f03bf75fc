// Apps that bring events in, on a timetable and by jobs.
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startListener, Workbench } from './workbench.ts'

let bench: Workbench
beforeEach(async () => {
  bench = await Workbench.open()
})
afterEach(() => bench.close())

it('invoice-import (runEveryMinute, storage): each invoice once, with its own time and customer', async () => {
  const invoices = [1, 2, 3].map((id) => ({
    id,
    customer: `c${id}`,
    amount: id * 10,
    paid_at: `2026-11-0${id}T00:00:00Z`,
  }))
  const shop = await startListener(({ url }) => {
    const after = Number(new URL(url, 'http://shop').searchParams.get('after'))
    return { json: { invoices: invoices.filter(({ id }) => id > after).slice(0, 2) } }
  })
  const plugin = await bench.installLocal('invoice-import')
  expect(plugin.capabilities.scheduled_tasks).toEqual(['runEveryMinute'])
  const config = await bench.switchOn(plugin, { url: shop.url })
  for (const count of [1, 2, 3]) {
    bench.app.advance(60_000)
    await bench.work(
      async () => (await bench.logs(config)).filter(({ source }) => source === 'CONSOLE').length === count,
    )
  }
  expect(shop.heard.map(({ url }) => url)).toEqual(['/?after=0', '/?after=2', '/?after=3'])
  await bench.work(async () => (await bench.stored('invoice paid')).length === 3)
  const stored = await bench.stored('invoice paid')
  expect(stored.map(({ distinct_id, properties }) => [distinct_id, properties.amount])).toEqual([
    ['c3', 30],
    ['c2', 20],
    ['c1', 10],
  ])
  expect(stored.map(({ timestamp }) => timestamp.slice(0, 10))).toEqual([
    '2026-11-03',
    '2026-11-02',
    '2026-11-01',
  ])
  await shop.close()
})

it('archive-replay (jobs): a public job is started by hand, goes on by itself, and is tried again', async () => {
  const answers = [503]
  const archive = await startListener(({ url }) => {
    const page = Number(new URL(url, 'http://archive').searchParams.get('page'))
    return { status: answers.shift() ?? 200, json: { events: [{ name: 'replayed', who: `w${page}` }] } }
  })
  const plugin = await bench.installLocal('archive-replay')
  expect(plugin.capabilities.jobs).toEqual(['replay'])
  const config = await bench.switchOn(plugin, { url: archive.url })
  const start = (payload: object) =>
    bench.app.post(
      `${bench.projectUrl}/plugin_configs/${config}/job/`,
      { job: { type: 'replay', payload, operation: 'start' } },
      { key: bench.key },
    )
  expect((await start({ from: 1 })).status).toBe(400)
  expect((await start({ from: 1, to: 2 })).status).toBe(200)
  await bench.work(() => archive.heard.length === 1)
  expect(await bench.stored('replayed')).toEqual([])
  bench.app.advance(6_000)
  await bench.work(() => archive.heard.length === 2)
  bench.app.advance(61_000)
  await bench.work(() => archive.heard.length === 3)
  await bench.work(async () => (await bench.stored('replayed')).length === 2)
  expect(archive.heard.map(({ url }) => url)).toEqual(['/?page=1', '/?page=1', '/?page=2'])
  expect((await bench.stored('replayed')).map(({ distinct_id }) => distinct_id).toSorted()).toEqual([
    'w1',
    'w2',
  ])
  await archive.close()
})
