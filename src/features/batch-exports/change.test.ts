// PATCH and PUT of an export through the API: what is merged, what is refused, what is stored and what is recorded.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import { hourly, noOp, postgres, PUBLIC_HOST, s3 } from './fixture/bodies.ts'
import type { ExportRow } from './rows.ts'
import { configWithSecrets } from './secrets.ts'

const HOUR_MS = 3_600_000

let app: TestApp
let key: string
let base: string
let project_id: number
beforeAll(async () => {
  app = await startTestApp()
  const workspace = await createOrganization(app)
  key = workspace.owner.key
  project_id = workspace.project.id
  base = `/api/projects/${project_id}/batch_exports/`
})
afterAll(() => app.close())

const create = async (fields: object = {}): Promise<string> => {
  const { body } = await app.post(base, hourly(fields), { key })
  app.advance(1000)
  return body.id
}
const patch = (id: string, body: object) => app.patch(`${base}${id}/`, body, { key })
const put = (id: string, body: object) => app.call('PUT', `${base}${id}/`, { key, body })
const storedRow = (id: string) => app.db.only<ExportRow>(sql`SELECT * FROM batch_export WHERE id = ${id}`)
const storedConfig = async (id: string) => configWithSecrets(app.services, await storedRow(id))
const activity = async (id: string) =>
  (await app.get(`/api/projects/${project_id}/activity_log/?item_id=${id}`, { key })).body.results

/** Nothing of it: not the row, not a line in the log. */
async function expectUntouched(id: string, change: () => Promise<unknown>): Promise<void> {
  const before = [await storedRow(id), await activity(id)]
  await change()
  expect([await storedRow(id), await activity(id)]).toEqual(before)
}

describe('PATCH', () => {
  it('200 with the new fields, and a record of what was changed', async () => {
    const id = await create()
    const { created_at } = await storedRow(id)
    const fields = {
      name: 'Daily',
      interval: 'day',
      timezone: 'Asia/Kathmandu',
      offset_hour: 4,
      start_at: '2024-01-01T00:00:00Z',
      end_at: '2034-01-01 00:00',
    }
    const reply = await patch(id, fields)
    expect(reply).toMatchObject({
      status: 200,
      body: {
        ...fields,
        start_at: '2024-01-01T00:00:00.000Z',
        end_at: '2034-01-01T00:00:00.000Z',
        created_at: created_at.toISOString(),
      },
    })
    expect(Date.parse(reply.body.last_updated_at)).toBeGreaterThan(created_at.getTime())
    const [entry] = await activity(id)
    expect(entry).toMatchObject({ activity: 'updated', scope: 'BatchExport', detail: { name: 'Daily' } })
    expect(entry.detail.changes.map(({ field }: { field: string }) => field).toSorted()).toEqual(
      Object.keys(fields).toSorted(),
    )
    expect(entry.detail.changes).toContainEqual({
      type: 'BatchExport',
      action: 'changed',
      field: 'interval',
      before: 'hour',
      after: 'day',
    })
  })

  it('200 and nothing stored when nothing changes', async () => {
    const filters = [{ key: 'plan', operator: 'exact', type: 'event', value: 'paid' }]
    const sent = {
      destination: postgres(app, { include_events: ['a', 'b'] }),
      filters,
      start_at: '2024-01-01',
    }
    const id = await create(sent)
    await expectUntouched(id, async () => {
      expect((await patch(id, {})).status).toBe(200)
      const same = {
        name: 'Nightly ',
        interval: 'hour',
        model: null,
        paused: false,
        timezone: 'UTC',
        nonsense: 1,
      }
      expect((await patch(id, { ...sent, ...same, id: 'x', team_id: 5 })).status).toBe(200)
      expect((await patch(id, { destination: { type: 'Postgres', config: { port: '5432' } } })).status).toBe(
        200,
      )
      expect((await patch(id, { destination: {} })).status).toBe(200)
      expect((await patch(id, { start_at: '2024-01-01T01:00+01:00', end_at: null })).status).toBe(200)
    })
  })

  it('400 and nothing stored when one of several fields is wrong', async () => {
    const id = await create({ start_at: '2024-01-01' })
    await expectUntouched(id, async () => {
      const wrong: [object, string][] = [
        [{ name: 'New', interval: 'month' }, 'interval'],
        [{ name: 'New', paused: true, end_at: '2023-01-01' }, 'end_at'],
        [{ name: 'New', destination: { config: { nonsense: 1 } } }, 'destination'],
        [{ name: 'New', destination: { config: { arg: {} } } }, 'destination__arg'],
        [{ name: 'New', offset_hour: 3 }, 'offset_hour'],
        [{ name: 'New', timezone: 'Nowhere' }, 'timezone'],
        [{ name: 'New', destination: null }, 'destination'],
        [{ paused: true, last_paused_at: '2199-01-01' }, 'last_paused_at'],
      ]
      for (const [body, attr] of wrong) {
        expect(await patch(id, body), attr).toMatchObject({ status: 400, body: { attr } })
      }
    })
  })

  it('200 for two changes at once, and both are kept', async () => {
    const id = await create({ destination: postgres(app) })
    await Promise.all([
      patch(id, { destination: { config: { table_name: 'one' } } }),
      patch(id, { destination: { config: { include_events: ['x'] } } }),
    ])
    expect((await storedRow(id)).config).toMatchObject({ table_name: 'one', include_events: ['x'] })
  })

  describe('of the destination', () => {
    it('200 merged into the stored configuration, whose secrets stay', async () => {
      const id = await create({ destination: s3(app, { compression: 'gzip' }) })
      const before = await storedConfig(id)
      const reply = await patch(id, { destination: { config: { prefix: 'new/', compression: null } } })
      expect(reply.body.destination).toMatchObject({
        type: 'S3',
        config: { prefix: 'new/', compression: null },
      })
      expect(await storedConfig(id)).toEqual({ ...before, prefix: 'new/', compression: null })
      expect(before.aws_secret_access_key).toBe('planted/secret+access/key')
    })

    it('200 with a new secret, recorded without it', async () => {
      const id = await create({ destination: postgres(app) })
      const password = app.canary.plant('next password', 'next-password-4711')
      expect((await patch(id, { destination: { config: { password } } })).status).toBe(200)
      expect(await storedConfig(id)).toMatchObject({ password, user: 'exporter-role-77' })
      const [entry] = await activity(id)
      expect(entry.detail.changes).toEqual([
        { type: 'BatchExport', action: 'changed', field: 'secrets', before: null, after: null },
      ])
    })

    it('200 with types kept: a flag stays a flag through changes of others', async () => {
      const id = await create({ destination: postgres(app, { has_self_signed_cert: 'True', port: '6000' }) })
      await patch(id, { destination: { config: { table_name: 'visits' } } })
      expect(await storedConfig(id)).toMatchObject({ has_self_signed_cert: true, port: 6000 })
    })

    it('400 for a secret sent blank', async () => {
      const id = await create({ destination: postgres(app) })
      await expectUntouched(id, async () => {
        for (const blank of [null, '']) {
          const reply = await patch(id, { destination: { config: { password: blank, table_name: 'x' } } })
          expect(reply).toMatchObject({ status: 400, body: { attr: 'destination__password' } })
        }
      })
    })

    it('400 for sending stored secrets elsewhere', async () => {
      const id = await create({ destination: postgres(app) })
      await expectUntouched(id, async () => {
        const reply = await patch(id, { destination: { config: { host: '1.1.1.1' } } })
        expect(reply).toMatchObject({ status: 400, body: { attr: 'destination__user' } })
      })
      const { user, password } = postgres(app).config
      const moved = await patch(id, { destination: { config: { host: '1.1.1.1', user, password } } })
      expect(moved).toMatchObject({ status: 200, body: { destination: { config: { host: '1.1.1.1' } } } })
    })

    it('400 for a host that may not be called', async () => {
      const id = await create({ destination: postgres(app) })
      const { config } = postgres(app, { host: '127.0.0.1' })
      await expectUntouched(id, async () => {
        const reply = await patch(id, { destination: { config } })
        expect(reply).toMatchObject({ status: 400, body: { attr: 'destination' } })
      })
    })

    it('400 for another type', async () => {
      const id = await create()
      await expectUntouched(id, async () => {
        for (const destination of [s3(app), { type: 'Nonsense' }, { type: 'File' }]) {
          const reply = await patch(id, { destination })
          expect(reply).toMatchObject({ status: 400, body: { attr: 'destination__type' } })
        }
      })
    })

    it('400 for the type of JSON columns in BigQuery once a run has delivered', async () => {
      const secrets = { private_key: 'pem-text', private_key_id: 'id-1', client_email: 'a@b.example' }
      const config = {
        ...secrets,
        project_id: 'p',
        dataset_id: 'd',
        token_uri: `https://${PUBLIC_HOST}/token`,
      }
      const id = await create({ destination: { type: 'BigQuery', config } })
      const flip = (use_json_type: boolean) => patch(id, { destination: { config: { use_json_type } } })
      expect((await flip(true)).status).toBe(200)
      await app.db.run(sql`
        INSERT INTO batch_export_run (id, project_id, batch_export_id, status, data_interval_end, selection,
          records_completed, run_after, created_at, finished_at, last_updated_at)
        VALUES (gen_random_uuid(), ${project_id}, ${id}, 'Completed', now(), 'arrival', 1, now(), now(), now(), now())`)
      expect(await flip(false)).toMatchObject({ status: 400, body: { attr: 'destination__use_json_type' } })
      expect((await flip(true)).status).toBe(200)
    })
  })

  describe('of the schedule', () => {
    it('200 with offsets that the new interval has no use for dropped', async () => {
      const id = await create({ interval: 'week', offset_day: 3, offset_hour: 7 })
      expect((await patch(id, { interval: 'day' })).body).toMatchObject({ offset_day: null, offset_hour: 7 })
      expect((await patch(id, { interval: 'hour' })).body).toMatchObject({
        offset_day: null,
        offset_hour: null,
      })
      const refused = await patch(id, { interval: 'day', offset_day: 1 })
      expect(refused).toMatchObject({ status: 400, body: { attr: 'offset_day' } })
    })

    it('200 due by the new interval, and due as before after other changes', async () => {
      const id = await create({ interval: 'day' })
      const daily = (await storedRow(id)).next_due_at
      await patch(id, { name: 'Renamed' })
      expect((await storedRow(id)).next_due_at).toEqual(daily)
      await patch(id, { interval: 'every 5 minutes' })
      const { next_due_at } = await storedRow(id)
      expect(next_due_at.getTime() % 300_000).toBe(0)
      expect(next_due_at < daily || daily.getTime() - app.services.now().getTime() < 300_000).toBe(true)
    })

    it('200 due from a later start on, and again at once without it', async () => {
      const id = await create()
      await patch(id, { start_at: '2190-01-01T00:30:00Z' })
      expect((await storedRow(id)).next_due_at.toISOString()).toBe('2190-01-01T01:00:00.000Z')
      await patch(id, { start_at: null })
      const { next_due_at } = await storedRow(id)
      expect(next_due_at.getTime() - app.services.now().getTime()).toBeLessThanOrEqual(HOUR_MS)
    })

    it('200 paused as of now, or as of when it is said, and going on from now', async () => {
      const id = await create()
      const paused = await patch(id, { paused: true, name: 'Paused' })
      expect(paused.body).toMatchObject({ paused: true, last_paused_at: paused.body.last_updated_at })
      expect((await activity(id))[0].detail.changes).toMatchObject([
        { field: 'name' },
        { field: 'last_paused_at', before: null },
        { field: 'paused', before: false, after: true },
      ])
      app.advance(HOUR_MS * 5)
      await expectUntouched(id, () => patch(id, { paused: true }))
      const resumed = await patch(id, { paused: false })
      expect(resumed.body).toMatchObject({ paused: false, last_paused_at: paused.body.last_paused_at })
      expect((await storedRow(id)).next_due_at > app.services.now()).toBe(true)
      const told = await patch(id, { paused: true, last_paused_at: '2024-05-05T00:00:00Z' })
      expect(told.body).toMatchObject({ paused: true, last_paused_at: '2024-05-05T00:00:00.000Z' })
    })
  })

  describe('of rows and columns', () => {
    it('200 with another query, without touching it, and back to the columns of the destination', async () => {
      const id = await create({ hogql_query: 'select event from events' })
      const other = await patch(id, { hogql_query: 'select uuid, event as name from events' })
      expect(other.body.schema.fields.map(({ alias }: { alias: string }) => alias)).toEqual(['uuid', 'name'])
      const kept = await patch(id, { name: 'Other' })
      expect(kept.body).toMatchObject({ schema: other.body.schema, hogql_query: other.body.hogql_query })
      await expectUntouched(id, () => patch(id, { hogql_query: other.body.hogql_query }))
      const cleared = await patch(id, { hogql_query: null })
      expect(cleared.body).toMatchObject({ schema: null, hogql_query: null })
    })

    it('400 for what is no query and no filter', async () => {
      const id = await create({ hogql_query: 'select event from events' })
      await expectUntouched(id, async () => {
        expect(await patch(id, { hogql_query: 'no query' })).toMatchObject({ status: 400 })
        expect(await patch(id, { filters: 'x' })).toMatchObject({ status: 400, body: { attr: 'filters' } })
      })
    })
  })
})

describe('PUT', () => {
  it('200 with everything that is required; the rest stays, secrets and pause included', async () => {
    const id = await create({ destination: s3(app), paused: true, start_at: '2024-01-01' })
    const before = await storedConfig(id)
    const place = { bucket_name: 'events', region: 'eu-west-1', prefix: 'elsewhere' }
    const body = { name: 'Put', interval: 'day', destination: { type: 'S3', config: place } }
    expect(await put(id, body)).toMatchObject({
      status: 200,
      body: { name: 'Put', interval: 'day', paused: true, start_at: '2024-01-01T00:00:00.000Z' },
    })
    expect(await storedConfig(id)).toEqual({ ...before, prefix: 'elsewhere' })
  })

  it('400 without one of them, or with an incomplete configuration', async () => {
    const id = await create({ destination: postgres(app) })
    const { password: _, ...incomplete } = postgres(app).config
    const body = hourly({ name: 'Put', destination: postgres(app) })
    const wrong: [object, string, string][] = [
      [{ ...body, name: undefined }, 'required', 'name'],
      [{ ...body, interval: undefined }, 'required', 'interval'],
      [{ ...body, destination: undefined }, 'required', 'destination'],
      [{ ...body, destination: { config: {} } }, 'required', 'destination__type'],
      [{ ...body, destination: noOp }, 'invalid_input', 'destination__type'],
      [
        { ...body, destination: { type: 'Postgres', config: incomplete } },
        'invalid_input',
        'destination__password',
      ],
    ]
    await expectUntouched(id, async () => {
      for (const [sent, code, attr] of wrong) {
        expect(await put(id, sent), attr).toMatchObject({ status: 400, body: { code, attr } })
      }
    })
  })
})
