// Organizations beside each other on one thread of the sandbox.
// @module-tag slow
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOrganization } from '../../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../../test/harness/app.ts'
import { insertProject } from '../../../projects/queries.ts'
import { capture, storedEvents, switchOn } from '../fixture/apps.ts'

let app: TestApp
beforeAll(async () => void (app = await startTestApp({ PLUGIN_THREADS: '1', PLUGIN_PATIENCE_MS: '60000' })))
afterAll(() => app.close())

it('one with many projects does not make events of another late', async () => {
  const noisy = await createOrganization(app)
  const busy = `export function processEvent(event) { const end = Date.now() + 50; while (Date.now() < end); return event }`
  const crowd = await Promise.all(
    Array.from({ length: 12 }, async () => {
      const project = await insertProject(app.db, noisy.organization.id, {}, app.services.now())
      const place = { ...noisy, project }
      await switchOn(app, place, busy)
      return place
    }),
  )
  const quiet = await createOrganization(app)
  await switchOn(
    app,
    quiet,
    `export function processEvent(event) { delete event.properties.ssn; return event }`,
  )
  await capture(app, quiet, { event: 'warm' })

  const ended: string[] = []
  const send = async (place: typeof quiet) => {
    await capture(app, place, { event: 'seen', properties: { ssn: '123' } })
    ended.push(place.organization.id)
  }
  await Promise.all([...crowd, quiet].map(send))

  // Before it: the one at work, those that lay ready, and what is stored in the same moment.
  expect(ended.indexOf(quiet.organization.id)).toBeLessThan(crowd.length / 2)
  expect((await storedEvents(app, quiet)).at(-1)).toMatchObject({
    event: 'seen',
    properties: { $ip: '127.0.0.1' },
  })
  expect((await storedEvents(app, quiet)).at(-1)!.properties).not.toHaveProperty('ssn')
})
