// Exports as PostHog's documentation and its clients write them: the query, the names of S3, blanks and unused keys.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import { hourly, postgres, PUBLIC_HOST, s3 } from './fixture/bodies.ts'
import type { ExportRow } from './rows.ts'
import { configWithSecrets } from './secrets.ts'

/** The query of PostHog's own tests and documentation, with the blanks of somebody's editor. */
const QUERY = "select toString(uuid) as uuid,\n  'test' as test, toInt(1+1) as n\nfrom events"
const ENDPOINT = `https://${PUBLIC_HOST}`

let app: TestApp
let key: string
let base: string
beforeAll(async () => {
  app = await startTestApp()
  const workspace = await createOrganization(app)
  key = workspace.owner.key
  base = `/api/projects/${workspace.project.id}/batch_exports/`
})
afterAll(() => app.close())

const create = (fields: object) => app.post(base, hourly(fields), { key })
const patch = (id: string, body: object) => app.patch(`${base}${id}/`, body, { key })
const stored = (id: string) => app.db.only<ExportRow>(sql`SELECT * FROM batch_export WHERE id = ${id}`)

describe('hogql_query', () => {
  it('is taken with toString(uuid), and reads as it was sent wherever it is read', async () => {
    const made = await create({ destination: postgres(app), hogql_query: QUERY })
    expect(made).toMatchObject({ status: 201, body: { hogql_query: QUERY } })
    expect(made.body.schema).toMatchObject({
      fields: [{ alias: 'uuid' }, { alias: 'test' }, { alias: 'n' }],
      hogql_query: "SELECT toString(uuid) AS uuid, 'test' AS test, toInt(1 + 1) AS n FROM events",
    })
    const list = await app.get(base, { key })
    expect(list.body.results[0]).toMatchObject({ hogql_query: QUERY, schema: made.body.schema })
    const again = await patch(made.body.id, { hogql_query: QUERY })
    expect(again.body).toMatchObject({ hogql_query: QUERY, last_updated_at: made.body.last_updated_at })
    const other = await patch(made.body.id, { hogql_query: 'select event from events' })
    expect(other.body).toMatchObject({ hogql_query: 'select event from events' })
  })
})

describe('model', () => {
  it.each([
    ['events', 'persons'],
    ['persons', 'events'],
    ['persons', null],
    ['events', 'sessions'],
  ])('400 when %s is to become %s, by PATCH and PUT; the same again is fine', async (model, other) => {
    const { body } = await create({ model, name: 'Stays' })
    const before = await stored(body.id)
    const change = { model: other, name: 'Other' }
    for (const reply of [
      await patch(body.id, change),
      await app.call('PUT', `${base}${body.id}/`, { key, body: hourly(change) }),
    ]) {
      expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: 'model' } })
    }
    expect(await stored(body.id)).toEqual(before)
    expect((await patch(body.id, { model, name: 'Other' })).body).toMatchObject({ model, name: 'Other' })
  })
})

describe('timezone', () => {
  it('null is UTC, when an export is made and when it is changed', async () => {
    const made = await create({ interval: 'day', timezone: null })
    expect(made).toMatchObject({ status: 201, body: { timezone: 'UTC' } })
    await patch(made.body.id, { timezone: 'Europe/Berlin' })
    expect(await patch(made.body.id, { timezone: null })).toMatchObject({
      status: 200,
      body: { timezone: 'UTC' },
    })
  })
})

describe('the names of S3', () => {
  it.each([
    ['AwsS3', {}],
    ['S3Compatible', { endpoint_url: ENDPOINT }],
  ])('%s is S3, and is shown under its name in lists, changes and the status', async (type, more) => {
    const { config } = s3(app, more)
    const made = await create({ name: type, destination: { type, config } })
    expect(made).toMatchObject({ status: 201, body: { destination: { type } } })
    expect(made.body.destination.config).not.toHaveProperty('aws_secret_access_key')
    expect(await stored(made.body.id)).toMatchObject({ destination_type: 'S3', destination_alias: type })
    const changed = await patch(made.body.id, { destination: { type, config: { compression: 'gzip' } } })
    expect(changed).toMatchObject({
      status: 200,
      body: { destination: { type, config: { compression: 'gzip' } } },
    })
    expect(await patch(made.body.id, { destination: { type: 'S3', config: {} } })).toMatchObject({
      status: 400,
      body: { attr: 'destination__type' },
    })
    const shown = await app.get(`${base}status/`, { key })
    expect(shown.body.results).toContainEqual(
      expect.objectContaining({ id: made.body.id, destination_type: type }),
    )
    expect((await app.get(`${base}test/?destination=${type}`, { key })).body.steps.length).toBeGreaterThan(0)
  })

  it('400 for files that bear the names of those of an export under another name of S3', async () => {
    const place = { bucket_name: 'shared', prefix: 'same' }
    expect((await create({ destination: s3(app, place) })).status).toBe(201)
    const twin = { type: 'AwsS3', config: s3(app, place).config }
    expect(await create({ destination: twin })).toMatchObject({
      status: 400,
      body: { attr: 'destination__prefix' },
    })
  })

  it('400 for S3Compatible without an endpoint, made or changed so', async () => {
    const type = 'S3Compatible'
    const refused = { status: 400, body: { attr: 'destination__endpoint_url' } }
    expect(await create({ destination: { type, config: s3(app).config } })).toMatchObject(refused)
    const { config } = s3(app, { endpoint_url: ENDPOINT })
    const { body } = await create({ destination: { type, config } })
    const without = { destination: { config: { ...config, endpoint_url: null } } }
    expect(await patch(body.id, without)).toMatchObject(refused)
  })
})

describe('copy_inputs of Redshift', () => {
  const redshift = (more: object) => ({ type: 'Redshift', config: { ...postgres(app).config, ...more } })
  const keys = (name: string) => ({
    aws_access_key_id: app.canary.plant('access key id', `AKIA-${name}-0002`),
    aws_secret_access_key: app.canary.plant('secret access key', `${name}/secret/of/copy`),
  })

  it('is taken with INSERT and dropped, when an export is made or changed', async () => {
    const copy_inputs = {
      s3_bucket: 'stage',
      region_name: 'eu-west-1',
      authorization: keys('auth'),
      bucket_credentials: keys('bucket'),
    }
    const made = await create({ destination: redshift({ mode: 'INSERT', copy_inputs }) })
    expect(made).toMatchObject({ status: 201, body: { destination: { config: { mode: 'INSERT' } } } })
    const changed = await patch(made.body.id, { destination: { config: { table_name: 't', copy_inputs } } })
    expect(changed).toMatchObject({ status: 200, body: { destination: { config: { table_name: 't' } } } })
    expect(changed.body.destination.config).not.toHaveProperty('copy_inputs')
    const whole = configWithSecrets(app.services, await stored(made.body.id))
    expect(whole).not.toHaveProperty('copy_inputs')
  })

  it('400 with COPY, and for other types', async () => {
    const copying = await create({ destination: redshift({ mode: 'COPY', copy_inputs: {} }) })
    expect(copying).toMatchObject({ status: 400, body: { attr: 'destination__mode' } })
    const elsewhere = await create({ destination: postgres(app, { copy_inputs: {} }) })
    expect(elsewhere).toMatchObject({ status: 400, body: { attr: 'destination' } })
  })
})
