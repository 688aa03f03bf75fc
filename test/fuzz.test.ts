// A short run of `npm run fuzz`: no answer of 500 or above, every answer as the document says. The check sends a few requests, so
// that a change of the document cannot break the generators unseen; the long run sends enough to see what they reach.
import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fuzzSettings } from '../scripts/fuzz/app.ts'
import { Failure, fuzz } from '../scripts/fuzz/run.ts'
import { startTestApp, type TestApp } from './harness/app.ts'
import { IS_LONG } from './harness/long.ts'
import { startSmtpServer, type SmtpStandIn } from './stand-ins/smtp.ts'

const COUNT = IS_LONG ? 3_000 : 250

let app: TestApp
let smtp: SmtpStandIn
beforeAll(async () => {
  smtp = await startSmtpServer()
  app = await startTestApp(fuzzSettings(smtp.url))
})
afterAll(async () => {
  await app.close()
  await smtp.close()
})

it(`${COUNT} generated requests are answered as the document says`, async () => {
  const seed = randomInt(2 ** 31)
  const tally = await fuzz(app, { seed, count: COUNT }).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error
    throw new Error(`${error.message}\nFUZZ_SEED=${seed} FUZZ_COUNT=${COUNT} npm run fuzz\n${error.request}`)
  })
  expect(tally.requests).toBe(COUNT)
  expect(tally.by_status.get(200) ?? 0).toBeGreaterThan(0)
  if (!IS_LONG) return
  // A fuzz that never gets in or never meets a check tests nothing.
  const reached = ([, successes]: [string, number]) => successes > 0
  const operations = [...tally.by_operation]
  expect(operations.filter(reached).length).toBeGreaterThan(operations.length / 2)
  // Events have paths of their own, in no document, and good questions about them always find something.
  const ofEvents = operations.filter(([name]) => /\/(events|persons|query)\b|^[A-Z]+ \/(?!api)/.test(name))
  expect(ofEvents.length).toBeGreaterThan(30)
  expect(ofEvents.filter(reached).length).toBeGreaterThan(ofEvents.length * 0.75)
  // Destinations have configurations of their own, of which no document says a word.
  const ofExports = operations.filter(([name]) => name.includes('/batch_exports/'))
  expect(ofExports.length).toBeGreaterThan(50)
  expect(ofExports.filter(reached).length).toBeGreaterThan(ofExports.length * 0.75)
  // Each family of plugins, and of their configs, has calls of its own.
  const ofPlugins = operations.filter(([name]) => /\/(plugins|plugin_config|pipeline_)/.test(name))
  expect(ofPlugins.length).toBeGreaterThan(100)
  expect(ofPlugins.filter(reached).length).toBeGreaterThan(ofPlugins.length / 2)
  for (const status of [200, 201, 400, 401, 403, 404, 405])
    expect(tally.by_status.get(status) ?? 0, String(status)).toBeGreaterThan(0)
}, 120_000)
