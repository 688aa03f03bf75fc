// Person properties in a table by choice, from capture to a real PostgreSQL.
// @module-tag slow
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../../test/harness/app.ts'
import {
  startPostgresServer,
  type PostgresProxy,
  type PostgresStandIn,
} from '../../../../../test/stand-ins/postgres.ts'
import { HOUR_MS, setTenPastTheHour } from '../../fixture/clock.ts'

let server: PostgresStandIn
let proxy: PostgresProxy
beforeAll(async () => {
  server = await startPostgresServer()
  proxy = await server.openProxy()
})
afterAll(async () => {
  await proxy.close()
  await server.close()
})

let app: TestApp
let workspace: Workspace
let key: string
let base: string
beforeEach(async () => {
  app = await startTestApp({ OUTBOUND_ALLOW: '127.0.0.1', ALLOW_PLAINTEXT: 'on' })
  workspace = await createOrganization(app)
  key = workspace.owner.key
  base = `/api/projects/${workspace.project.id}/batch_exports`
  setTenPastTheHour(app)
})
afterEach(async () => {
  await app.close()
  await server.admin.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public AUTHORIZATION exporter')
})

/** One event of a person with a plan, exported to `public.events`. The id of the export. */
async function exportEvent(config: object): Promise<string> {
  const destination = {
    type: 'Postgres',
    config: { ...server.login, host: '127.0.0.1', port: proxy.port, ...config },
  }
  const { body } = await app.post(`${base}/`, { name: 'Hourly', interval: 'hour', destination }, { key })
  const event = { event: 'paid', distinct_id: 'ada', properties: { amount: 3, $set: { plan: 'pro' } } }
  await app.post('/batch/', { api_key: workspace.project.api_token, batch: [event] })
  app.advance(HOUR_MS)
  await app.exports.tick()
  await app.exports.idle()
  const runs = await app.get(`${base}/${body.id}/runs/`, { key })
  expect(runs.body.results).toMatchObject([{ status: 'Completed', records_completed: 1, latest_error: null }])
  return body.id
}

const rows = async () => (await server.admin.query<Record<string, unknown>>('SELECT * FROM events')).rows
const warningsOf = async (id: string) =>
  (await app.get(`${base}/${id}/logs/?level=WARNING`, { key })).body.results.map(
    ({ message }: { message: string }) => message,
  )

describe('include_person_properties', () => {
  it('adds the person of the event at the end of the table', async () => {
    await exportEvent({ include_person_properties: true })
    const [row] = await rows()
    expect(Object.keys(row!).slice(-3)).toEqual(['timestamp', 'person_properties', 'person_id'])
    expect(row).toMatchObject({
      event: 'paid',
      person_properties: { plan: 'pro' },
      person_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  })

  it('is off unless it is asked for', async () => {
    await exportEvent({})
    expect(Object.keys((await rows())[0]!).at(-1)).toBe('timestamp')
  })

  it('leaves out, with a warning, what a table of before lacks', async () => {
    await server.admin.query(
      'CREATE TABLE events (uuid text, event text, timestamp timestamptz); ALTER TABLE events OWNER TO exporter',
    )
    const id = await exportEvent({ include_person_properties: true })
    expect(await rows()).toMatchObject([{ event: 'paid' }])
    expect((await warningsOf(id)).join()).toMatch(/lacks the columns .*person_properties, person_id/)
  })
})
