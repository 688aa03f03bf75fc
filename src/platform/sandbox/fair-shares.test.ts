// Who comes first when several tenants share a thread.
// @module-tag slow
import { afterAll, expect, it } from 'vitest'
import { kindsOf, makeApp, makeEvent, TestHost } from './fixture/apps.ts'
import { openSandbox } from './open.ts'

const sandbox = openSandbox({ threads: 1, geoip_database: null })
afterAll(() => sandbox.close())

const PATIENT_MS = 60_000

it('a tenant with many apps does not keep another tenant waiting', async () => {
  const host = new TestHost()
  const busy = `exports.processEvent = (event) => { const end = Date.now() + 20; while (Date.now() < end); return event }`
  const crowd = Array.from({ length: 30 }, () => makeApp(busy, { tenant: 'crowd' }))
  const quiet = makeApp('exports.processEvent = (event) => event', { tenant: 'quiet' })
  await Promise.all([...crowd, quiet].map((app) => sandbox.prepare(app, host)))

  const ended: string[] = []
  const process = async (app: typeof quiet) => {
    await sandbox.processEvents(app, host, [makeEvent()], PATIENT_MS)
    ended.push(app.tenant!)
  }
  await Promise.all([...crowd, quiet].map(process))

  // Before it: the one at work, and those that lay ready at the thread.
  expect(ended.indexOf('quiet')).toBeLessThanOrEqual(4)
  expect(ended).toHaveLength(31)
})

it('an app that was set apart does not wait for code that is only looked at', async () => {
  const host = new TestHost()
  const app = makeApp(`exports.processEvent = (event) => { while (event.event === 'burn'); return event }`)
  const process = (event: string) => sandbox.processEvents(app, host, [makeEvent({}, { event })], PATIENT_MS)
  expect(kindsOf(await process('burn'))).toEqual(['cpu'])
  await process('seen')
  const ended: string[] = []
  const look = sandbox
    .inspect('const end = Date.now() + 900; while (Date.now() < end);')
    .then(() => ended.push('look'))
  await process('seen')
  ended.push('event')
  await look
  expect(ended).toEqual(['event', 'look'])
})
