// Batch exports of a project through the API: making, reading, deleting. Changes are in change.test.ts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, createOrganization, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../test/harness/app.ts'
import { sql } from '../../platform/db/sql.ts'
import { insertProject } from '../projects/queries.ts'
import { hourly, noOp, postgres, PUBLIC_HOST, s3 } from './fixture/bodies.ts'
import type { ExportRow } from './rows.ts'

const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000'

let app: TestApp
let workspace: Workspace
let key: string
let project_id: number
let elsewhere: number
beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  key = workspace.owner.key
  project_id = workspace.project.id
  elsewhere = (await insertProject(app.db, workspace.organization.id, {}, app.services.now())).id
})
afterAll(() => app.close())

const path = (rest = '', project = project_id) => `/api/projects/${project}/batch_exports/${rest}`
const create = (fields: object = {}, call: object = {}) => app.post(path(), hourly(fields), { key, ...call })
const createdId = async (fields: object = {}): Promise<string> => (await create(fields)).body.id
const storedRow = (id: string) => app.db.only<ExportRow>(sql`SELECT * FROM batch_export WHERE id = ${id}`)
const countRows = async () =>
  (await app.db.only<{ count: number }>(sql`SELECT count(*)::int AS count FROM batch_export`)).count

describe('POST batch_exports/', () => {
  it('201 with all fields of the export, and without its secrets', async () => {
    const before = app.services.now()
    const reply = await create({ name: ' Warehouse ', destination: postgres(app, { port: '6543' }) })
    expect(reply).toMatchObject({ status: 201 })
    expect(reply.body).toEqual({
      id: expect.any(String),
      team_id: project_id,
      name: 'Warehouse',
      destination: {
        type: 'Postgres',
        config: {
          host: PUBLIC_HOST,
          port: 6543,
          database: 'warehouse',
          schema: 'public',
          table_name: 'events',
          has_self_signed_cert: false,
          include_person_properties: false,
          include_events: null,
          exclude_events: null,
        },
        integration: null,
      },
      model: 'events',
      interval: 'hour',
      timezone: 'UTC',
      offset_day: null,
      offset_hour: null,
      paused: false,
      created_at: expect.any(String),
      last_updated_at: reply.body.created_at,
      last_paused_at: null,
      start_at: null,
      end_at: null,
      latest_runs: [],
      hogql_query: null,
      schema: null,
      filters: null,
    })
    const row = await storedRow(reply.body.id)
    expect(row).toMatchObject({ project_id, created_by: workspace.owner.id, deleted_at: null })
    expect(row.next_due_at.getTime() % 3_600_000).toBe(0)
    expect(row.next_due_at.getTime() - before.getTime()).toBeLessThanOrEqual(3_600_000)
    expect(row.next_due_at > before).toBe(true)
  })

  it('201 and an entry in the activity log that holds no secret', async () => {
    const { body } = await create({ destination: s3(app) })
    const log = await app.get(`/api/projects/${project_id}/activity_log/?item_id=${body.id}`, { key })
    expect(log.body.results).toMatchObject([
      { activity: 'created', scope: 'BatchExport', detail: { name: 'Nightly', changes: [] } },
    ])
  })

  it('201 with what an export may be given', async () => {
    const fields = {
      model: null,
      interval: 'week',
      timezone: 'Europe/Berlin',
      offset_day: 2,
      offset_hour: '5',
      start_at: '2023-07-19 00:00:00',
      end_at: '2033-07-19T02:00:00+02:00',
      team_id: elsewhere,
      id: UNKNOWN_ID,
      created_at: '2001-01-01',
      nonsense: { any: 'thing' },
    }
    const reply = await create(fields)
    expect(reply).toMatchObject({
      status: 201,
      body: {
        model: 'events',
        interval: 'week',
        timezone: 'Europe/Berlin',
        offset_day: 2,
        offset_hour: 5,
        start_at: '2023-07-19T00:00:00.000Z',
        end_at: '2033-07-19T00:00:00.000Z',
        team_id: project_id,
      },
    })
    expect(reply.body.id).not.toBe(UNKNOWN_ID)
  })

  it('201 paused, since now or since it is said', async () => {
    const now = await create({ paused: true })
    expect(now.body).toMatchObject({ paused: true, last_paused_at: now.body.created_at })
    const earlier = await create({ paused: 'true', last_paused_at: '2024-01-01' })
    expect(earlier.body).toMatchObject({ paused: true, last_paused_at: '2024-01-01T00:00:00.000Z' })
  })

  it.each(['hour', 'day', 'week', 'every 5 minutes', 'every 15 minutes'])(
    '201 every %s',
    async (interval) => {
      expect((await create({ interval })).body.interval).toBe(interval)
    },
  )

  it.each<[object, string, string | null]>([
    [{ name: undefined }, 'required', 'name'],
    [{ name: '  ' }, 'blank', 'name'],
    [{ name: null }, 'null', 'name'],
    [{ name: 'x'.repeat(401) }, 'max_length', 'name'],
    [{ interval: undefined }, 'required', 'interval'],
    [{ interval: 'month' }, 'invalid_choice', 'interval'],
    [{ model: 'groups' }, 'invalid_choice', 'model'],
    [{ destination: undefined }, 'required', 'destination'],
    [{ destination: 'NoOp' }, 'invalid_input', 'destination'],
    [{ destination: { config: {} } }, 'required', 'destination__type'],
    [{ destination: { type: 'noop', config: {} } }, 'invalid_choice', 'destination__type'],
    [{ destination: { type: 'NoOp' } }, 'required', 'destination__config'],
    [{ destination: { type: 'NoOp', config: [] } }, 'invalid_input', 'destination__config'],
    [{ destination: { type: 'NoOp', config: null } }, 'null', 'destination__config'],
    [{ destination: { type: 'NoOp', config: { argument: 1 } } }, 'invalid_input', 'destination'],
    [{ destination: { type: 'NoOp', config: { arg: 1 } } }, 'invalid_input', 'destination__arg'],
    [{ paused: 'maybe' }, 'invalid_input', 'paused'],
    [{ start_at: 'tomorrow' }, 'invalid_input', 'start_at'],
    [{ end_at: 5 }, 'invalid_input', 'end_at'],
    [{ start_at: '2024-01-02', end_at: '2024-01-01' }, 'invalid_input', 'end_at'],
    [{ start_at: '2024-01-02', end_at: '2024-01-02T00:00Z' }, 'invalid_input', 'end_at'],
    [{ paused: true, last_paused_at: '9999-01-01' }, 'invalid_input', 'last_paused_at'],
    [{ timezone: 'Mars/Olympus' }, 'invalid_choice', 'timezone'],
    [{ timezone: '+02:00' }, 'invalid_choice', 'timezone'],
    [{ offset_hour: 3 }, 'invalid_input', 'offset_hour'],
    [{ interval: 'day', offset_day: 1 }, 'invalid_input', 'offset_day'],
    [{ interval: 'week', offset_day: 7 }, 'max_value', 'offset_day'],
    [{ interval: 'day', offset_hour: -1 }, 'min_value', 'offset_hour'],
  ])('400 for %j', async (fields, code, attr) => {
    const before = await countRows()
    const reply = await create(fields)
    expect(reply).toMatchObject({ status: 400, body: { type: 'validation_error', code, attr } })
    expect(await countRows()).toBe(before)
  })

  it('400 for people to HTTP, which takes events alone', async () => {
    const destination = { type: 'HTTP', config: { url: `https://${PUBLIC_HOST}/batch`, token: 'the-token' } }
    for (const model of ['persons', 'sessions']) {
      expect(await create({ destination, model })).toMatchObject({ status: 400, body: { attr: 'model' } })
    }
    expect((await create({ destination })).status).toBe(201)
  })

  it.each(['127.0.0.1', 'localhost', '0x7f000001', '10.0.0.1'])('400 for the host %s', async (host) => {
    const reply = await create({ destination: postgres(app, { host }) })
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: 'destination' } })
    expect(reply.body.detail).not.toContain(host)
  })

  it('400 for a host whose name does not resolve, told apart from an inner one; nothing is saved', async () => {
    const before = await countRows()
    const reply = await create({ destination: postgres(app, { host: 'db.example.invalid' }) })
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: 'destination' } })
    expect(reply.body.detail).toMatch(/does not resolve/)
    expect(reply.body.detail).not.toContain('db.example')
    expect(await countRows()).toBe(before)
  })

  it('400 and no word of what was sent for a connection string in a field', async () => {
    const sent = app.canary.plant('connection string', 'postgres://u:hunter2-hunter2@db.example/d')
    const reply = await create({ destination: postgres(app, { host: sent }) })
    expect(reply).toMatchObject({ status: 400, body: { attr: 'destination__host' } })
  })

  it('201 once for one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'one-export' }
    const first = await create({}, { headers })
    const before = await countRows()
    expect((await create({}, { headers })).body.id).toBe(first.body.id)
    expect(await countRows()).toBe(before)
  })

  it('400 beyond a hundred in the project, deleted ones not counted', async () => {
    const project = (await insertProject(app.db, workspace.organization.id, {}, app.services.now())).id
    const add = () => app.post(path('', project), hourly(), { key })
    const ids = await Promise.all(Array.from({ length: 100 }, async () => (await add()).body.id as string))
    expect(await add()).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: null } })
    await app.delete(path(`${ids[0]}/`, project), { key })
    const [one, other] = await Promise.all([add(), add()])
    expect([one.status, other.status].toSorted((a, b) => a - b)).toEqual([201, 400])
  })
})

describe('choosing rows and columns', () => {
  it('201 with the query as it was sent, and what it selects', async () => {
    const { status, body } = await create({
      hogql_query: 'select event, properties.$browser as browser from events',
    })
    expect(status).toBe(201)
    expect(body.schema.fields.map(({ alias }: { alias: string }) => alias)).toEqual(['event', 'browser'])
    expect(body.hogql_query).toBe('select event, properties.$browser as browser from events')
    expect(body.schema.hogql_query).toMatch(/^SELECT /)
  })

  it('201 with filters', async () => {
    const filters = [{ key: '$browser', operator: 'exact', type: 'event', value: ['Firefox'] }]
    expect((await create({ filters })).body.filters).toEqual(filters)
    expect((await create({ filters: null })).body.filters).toBeNull()
  })

  it.each<[object, string]>([
    [{ hogql_query: 'selct event' }, 'hogql_query'],
    [{ hogql_query: '' }, 'hogql_query'],
    [{ hogql_query: 5 }, 'hogql_query'],
    [{ hogql_query: 'select event from events', model: 'persons' }, 'hogql_query'],
    [{ hogql_query: 'select event from events', model: 'sessions' }, 'hogql_query'],
    [{ filters: 'all' }, 'filters'],
    [{ filters: {} }, 'filters'],
  ])('400 for %j', async (fields, attr) => {
    expect(await create(fields)).toMatchObject({ status: 400, body: { attr } })
  })

  it('400 for a query over columns that HTTP has fixed', async () => {
    const destination = { type: 'HTTP', config: { url: `https://${PUBLIC_HOST}/batch`, token: 'the-token' } }
    const reply = await create({ destination, hogql_query: 'select event from events' })
    expect(reply).toMatchObject({ status: 400, body: { attr: 'hogql_query' } })
  })

  it('400 for person properties beside a query, or for another model than events', async () => {
    const destination = postgres(app, { include_person_properties: true })
    const attr = 'destination__include_person_properties'
    const query = await create({ destination, hogql_query: 'select event from events' })
    expect(query).toMatchObject({
      status: 400,
      body: { attr, detail: expect.stringContaining('hogql_query') },
    })
    for (const model of ['persons', 'sessions']) {
      expect(await create({ destination, model })).toMatchObject({ status: 400, body: { attr } })
    }
    const taken = await create({ destination })
    expect(taken.body.destination.config).toMatchObject({ include_person_properties: true })
    const added = { hogql_query: 'select event from events' }
    const changed = await app.patch(path(`${taken.body.id}/`), added, { key })
    expect(changed).toMatchObject({ status: 400, body: { attr } })
  })
})

describe.each(['/api/projects', '/api/environments'])('GET %s/:project_id/batch_exports/', (base) => {
  it('200 newest first, in pages, of that project alone', async () => {
    const project = (await insertProject(app.db, workspace.organization.id, {}, app.services.now())).id
    const below = `${base}/${project}/batch_exports/`
    const ids: string[] = []
    for (const name of ['a', 'b', 'c']) {
      app.advance(1000)
      const destination = s3(app, { prefix: `${project}/${name}` })
      ids.unshift((await app.post(below, hourly({ name, destination }), { key })).body.id)
    }
    const first = await app.get(`${below}?limit=2`, { key })
    expect(first.body).toMatchObject({ count: 3, previous: null, results: [{ id: ids[0] }, { id: ids[1] }] })
    const second = await app.get(first.body.next.replace('http://longshore.test', ''), { key })
    expect(second.body).toMatchObject({ next: null, results: [{ id: ids[2], name: 'a' }] })
    const one = await app.get(`${below}${ids[2]}/`, { key })
    expect(second.body.results[0]).toEqual(one.body)
    expect(Object.keys(one.body.destination.config)).not.toContain('aws_access_key_id')
  })

  it('200 with the ten newest runs of each, newest first', async () => {
    const project = (await insertProject(app.db, workspace.organization.id, {}, app.services.now())).id
    const below = `${base}/${project}/batch_exports/`
    const add = async () => (await app.post(below, hourly(), { key })).body.id as string
    const [many, few, none] = [await add(), await add(), await add()]
    await insertRuns(project, many, 12)
    await insertRuns(project, few, 2)
    const { body } = await app.get(below, { key })
    const runsOf = (id: string) => body.results.find((each: { id: string }) => each.id === id).latest_runs
    expect(runsOf(many).map((run: { records_completed: number }) => run.records_completed)).toEqual([
      12, 11, 10, 9, 8, 7, 6, 5, 4, 3,
    ])
    expect(runsOf(few)).toMatchObject([
      { status: 'Completed', batch_export: few, records_completed: 2 },
      { records_completed: 1 },
    ])
    expect(runsOf(none)).toEqual([])
    expect((await app.get(`${below}${many}/`, { key })).body.latest_runs).toEqual(runsOf(many))
  })
})

/** Made one minute after the other, in an order unlike that of their ids. */
async function insertRuns(project: number, export_id: string, count: number): Promise<void> {
  await app.db.run(sql`
    INSERT INTO batch_export_run (id, project_id, batch_export_id, status, data_interval_end, selection,
      records_completed, run_after, created_at, finished_at, last_updated_at)
    SELECT gen_random_uuid(), ${project}, ${export_id}, 'Completed', at, 'arrival', number, at, at, at, at
    FROM generate_series(1, ${count}::int) AS number,
      LATERAL (SELECT '2024-01-01'::timestamptz + number * interval '1 minute' AS at) AS time`)
}

describe('one export', () => {
  it('404 for what is no id, unknown, deleted, or in another project', async () => {
    const id = await createdId()
    const gone = await createdId()
    expect((await app.delete(path(`${gone}/`), { key })).status).toBe(204)
    const calls: [string, string][] = [
      ['GET', ''],
      ['PATCH', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', 'pause/'],
      ['POST', 'unpause/'],
      ['POST', 'backfill/'],
    ]
    const before = await storedRow(id)
    for (const [method, action] of calls) {
      for (const url of [
        path(`no-id/${action}`),
        path(`${UNKNOWN_ID}/${action}`),
        path(`${gone}/${action}`),
        path(`${id}/${action}`, elsewhere),
      ]) {
        const reply = await app.call(method, url, { key, ...(method === 'GET' ? {} : { body: {} }) })
        expect(reply, `${method} ${url}`).toMatchObject({ status: 404, body: { code: 'not_found' } })
      }
    }
    expect(await storedRow(id)).toEqual(before)
  })

  it('403 for strangers and for keys without the scope', async () => {
    const id = await createdId()
    const stranger = (await createOrganization(app)).owner.key
    const reader = await createKey(app, workspace.owner, { scopes: ['batch_export:read'] })
    const other = await createKey(app, workspace.owner, { scopes: ['query:read', 'project:write'] })
    const denied = { status: 403, body: { type: 'authentication_error', code: 'permission_denied' } }
    expect(await app.get(path(`${id}/`), { key: stranger })).toMatchObject(denied)
    expect(await app.get(path(`${id}/`), { key: other })).toMatchObject(denied)
    expect((await app.get(path(`${id}/`), { key: reader })).status).toBe(200)
    for (const action of ['pause/', 'unpause/', 'backfill/']) {
      expect(await app.post(path(`${id}/${action}`), {}, { key: reader })).toMatchObject(denied)
    }
    expect(await app.delete(path(`${id}/`), { key: reader })).toMatchObject(denied)
    expect((await storedRow(id)).deleted_at).toBeNull()
  })
})

describe('what an installation has switched off', () => {
  it('403 for its creation, and for changes that lead there', async () => {
    const limited = await startTestApp({ DISABLED_DESTINATIONS: 'S3', SUB_HOURLY_EXPORTS: 'off' })
    try {
      const { project, owner } = await createOrganization(limited)
      const below = `/api/projects/${project.id}/batch_exports/`
      const post = (fields: object) => limited.post(below, hourly(fields), { key: owner.key })
      const denied = { status: 403, body: { code: 'permission_denied' } }
      expect(await post({ destination: s3(limited) })).toMatchObject(denied)
      expect(await post({ interval: 'every 5 minutes' })).toMatchObject(denied)
      const made = await post({ destination: noOp })
      expect(made.status).toBe(201)
      const patch = (body: object) => limited.patch(`${below}${made.body.id}/`, body, { key: owner.key })
      expect(await patch({ interval: 'every 15 minutes' })).toMatchObject(denied)
      expect((await patch({ interval: 'day' })).status).toBe(200)
    } finally {
      await limited.close()
    }
  })
})
