// What the first start leaves behind: an owner whose key opens everything, and its trace in the activity log.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '../../test/harness/app.ts'
import { readConfig } from './config.ts'
import { makeFirstOwner, type FirstStart } from './first-start.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.close())

it('makes one owner, however often, and records the key without its value', async () => {
  const kept: FirstStart[] = []
  const start = () => makeFirstOwner(app.services, readConfig({}), (first) => void kept.push(first))
  await Promise.all([start(), start()])
  await start()
  expect(kept).toHaveLength(1)
  const { email, key } = kept[0]!
  expect((await app.get('/api/users/@me/', { key })).body).toMatchObject({ email, is_staff: true })
  const log = await app.get('/api/organizations/@current/activity_log/?scope=PersonalAPIKey', { key })
  expect(log.body.results).toMatchObject([
    { activity: 'created', is_system: true, detail: { changes: [{ field: 'scopes', after: ['*'] }] } },
  ])
  expect(JSON.stringify(log.body)).not.toContain(key)
})
