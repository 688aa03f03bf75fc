// Streams and the life of a server: it stops although they are open, and whoever comes back to the next one misses nothing.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStream } from '../harness/stream.ts'
import { readFirstStart } from './first-start.ts'
import { post } from './http.ts'
import { buildProgram, type Program } from './program.ts'

let program: Program
beforeAll(async () => {
  program = await buildProgram()
})
afterAll(() => program.remove())

test('SIGTERM ends streams at once, and after the restart they go on where they were', async () => {
  const DATA_DIR = program.newDataDir()
  const first = program.serve({ DATA_DIR })
  const { url, key, token } = await readFirstStart(first)
  const capture = async (at: string, from: number, to: number) => {
    const batch = Array.from({ length: to - from + 1 }, (_, index) => ({
      event: 'n',
      distinct_id: 'a',
      properties: { n: from + index },
    }))
    expect((await post(`${at}/batch/`, { api_key: token, batch })).status).toBe(200)
  }
  const path = '/api/projects/@current/events/stream/'
  const streams = await Promise.all(Array.from({ length: 15 }, () => openStream(`${url}${path}`, { key })))
  await capture(url, 1, 5)
  for (const stream of streams) await stream.until('event', 5)
  await capture(url, 6, 8)
  const begun = performance.now()
  first.kill('SIGTERM')
  await Promise.all(streams.map((stream) => stream.untilOver()))
  // The rest is what any stop takes; nobody waits for the ten seconds that requests have.
  expect(performance.now() - begun).toBeLessThan(2_000)
  expect((await first.ended).code).toBe(0)
  expect(performance.now() - begun).toBeLessThan(9_000)

  const second = program.serve({ DATA_DIR })
  const again = await second.url
  await capture(again, 9, 10)
  const [stream] = streams
  const resumed = await openStream(`${again}${path}`, { key, 'last-event-id': stream!.lastId() })
  await capture(again, 11, 12)
  const numbers = () =>
    [...stream!.told, ...resumed.told]
      .filter(({ event }) => event === 'event')
      .map(({ data }) => data.properties.n)
  await expect.poll(numbers).toContain(12)
  expect(numbers()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
  second.kill('SIGTERM')
  expect((await second.ended).code).toBe(0)
}, 120_000)
