// What people who mean no good, or clients that know no better, send to exports: names that lead out of a folder, keys
// that mean something to JavaScript, instants at the ends of time, the same thing many times at once. All is answered,
// nothing is done twice, and nothing is left behind.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization, createServiceKey, type Workspace } from '../../../test/factories.ts'
import { startTestApp, type Reply, type TestApp } from '../../../test/harness/app.ts'
import { hashTables } from '../../../test/harness/tables.ts'
import { sql } from '../../platform/db/sql.ts'
import { hourly, noOp } from './fixture/bodies.ts'
import { addRun } from './runs/fixture/rows.ts'
import { HOUR_MS, setTenPastTheHour } from './fixture/clock.ts'
import { REFUSED_PREFIXES } from './fixture/hostile-values.ts'

const DAY_MS = 24 * HOUR_MS

let app: TestApp
let workspace: Workspace
let key: string
let base: string
beforeAll(async () => {
  app = await startTestApp({ OUTBOUND_ALLOW: '127.0.0.1' })
  setTenPastTheHour(app)
  workspace = await createOrganization(app)
  key = workspace.owner.key
  base = `/api/projects/${workspace.project.id}/batch_exports/`
})
afterAll(() => app.close())

const create = (fields: object = {}) => app.post(base, hourly(fields), { key })
const file = (prefix: string) => ({ destination: { type: 'File', config: { prefix } } })

async function capture(event: object = {}): Promise<void> {
  const batch = [{ event: 'seen', distinct_id: 'ann', ...event }]
  await app.post('/batch/', { api_key: workspace.project.api_token, batch })
}

/** Two hours pass, and what is due then is done. */
async function pass(): Promise<void> {
  app.advance(2 * HOUR_MS)
  let live = 1
  while (live > 0) {
    await app.exports.tick()
    await app.exports.idle()
    const now = app.services.now()
    const row = await app.db.only<{ live: number }>(sql`
      SELECT count(*)::int AS live FROM batch_export_run WHERE finished_at IS NULL AND run_after <= ${now}`)
    live = row.live
  }
}

const runsOf = async (id: string) => (await app.get(`${base}${id}/runs/`, { key })).body.results

describe('prefixes of files', () => {
  it.each(REFUSED_PREFIXES)('400 for %j', async (prefix) => {
    expect(await create(file(prefix))).toMatchObject({ status: 400, body: { code: 'invalid_input' } })
  })

  const ODD = [
    '/etc/passwd',
    '//x//y//',
    '%2e%2e/%2e%2e/x',
    '..%2f..%2fx',
    String.raw`..\..\x`,
    '．．/x',
    '‥/x',
    '...',
    '.. /x',
    '..{table}',
    '.{year}.',
    'a/{data_interval_start}/{data_interval_end}',
    '\u202e/..x',
    '~/x',
    '$HOME/`id`',
    '-rf',
    '2/x',
    'x'.repeat(200),
  ]

  it('201 for what only looks like it: all files lie in the folder of the project', async () => {
    const root = app.services.settings.export_folder
    const ids: string[] = []
    for (const prefix of ODD) ids.push((await create(file(prefix))).body.id)
    await capture()
    await pass()
    for (const [index, id] of ids.entries()) {
      const [run] = (await runsOf(id)).filter((each: { files: unknown[] | null }) => each.files?.length)
      expect([ODD[index], run?.status]).toEqual([ODD[index], 'Completed'])
    }
    expect(await readdir(root)).toEqual([String(workspace.project.id)])
    const files = await readdir(join(root, String(workspace.project.id)), {
      recursive: true,
      withFileTypes: true,
    })
    expect(files.filter((entry) => entry.isFile())).toHaveLength(ODD.length)
    for (const id of ids) await app.delete(`${base}${id}/`, { key })
  })

  it('a segment that no disk takes fails the run, not the program', async () => {
    const { id } = (await create(file('x'.repeat(300)))).body
    await capture()
    await pass()
    const failed = (await runsOf(id)).filter((run: { status: string }) => run.status === 'Failed')
    expect(failed).toMatchObject([{ latest_error: 'The file names are too long. Use a shorter prefix.' }])
    await app.delete(`${base}${id}/`, { key })
  })
})

describe('keys that mean something to JavaScript', () => {
  const raw = (text: string) =>
    app.call('POST', base, { key, body: text, headers: { 'content-type': 'application/json' } })

  it('400 in a configuration, and nothing gains a field', async () => {
    for (const name of ['constructor', 'toString', 'prototype', 'hasOwnProperty']) {
      const reply = await create({ destination: { type: 'NoOp', config: { [name]: { password: 'x' } } } })
      expect(reply).toMatchObject({ status: 400, body: { attr: 'destination' } })
      expect(reply.body.detail).toContain(`\`${name}\``)
    }
    for (const place of ['"config":{"__proto__":{"arg":"x"}}', '"config":{},"__proto__":{"config":{}}']) {
      const text = `{"name":"n","interval":"hour","destination":{"type":"NoOp",${place}}}`
      expect((await raw(text)).status).toBe(400)
    }
    const { arg, password } = {} as { arg?: unknown; password?: unknown }
    expect([arg, password]).toEqual([undefined, undefined])
  })

  it('400 as a type, an interval, a model, a zone, a type or an operator of a filter', async () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      for (const fields of [
        { destination: { type: name, config: {} } },
        { interval: name },
        { model: name },
        { timezone: name },
        { filters: [{ key: 'x', value: 1, type: name }] },
        { filters: [{ key: 'x', value: 1, operator: name }] },
      ]) {
        expect([fields, (await create(fields)).status]).toEqual([fields, 400])
      }
    }
  })

  it('are properties like any other to filters and queries', async () => {
    const { id } = (
      await create({
        ...file('named'),
        hogql_query: 'select event as seq, properties.constructor as toString, timestamp from events',
        filters: [{ key: 'constructor', value: 'q', operator: 'exact', type: 'event' }],
      })
    ).body
    await capture({ properties: { constructor: 'q' } })
    await capture({ properties: { constructor: 'p' } })
    await capture()
    await pass()
    const counts = (await runsOf(id)).map((run: { records_completed: number }) => run.records_completed)
    expect(counts.toSorted()).toEqual([0, 1])
    await app.delete(`${base}${id}/`, { key })
  })
})

describe('the ends of time', () => {
  const FIRST = '0001-01-01T00:00:00.000Z'
  const LAST = '9999-12-31T23:59:59.999Z'

  it.each([
    ['week', 'Pacific/Kiritimati'],
    ['day', 'America/Los_Angeles'],
    ['every 5 minutes', 'UTC'],
  ])('201 for a start or an end there, by %s in %s, and all calls work', async (interval, timezone) => {
    for (const times of [{ start_at: LAST }, { end_at: FIRST }, { start_at: FIRST, end_at: LAST }]) {
      const made = await create({ interval, timezone, ...times })
      expect(made).toMatchObject({ status: 201, body: times })
      const one = `${base}${made.body.id}/`
      expect((await app.get(one, { key })).body).toMatchObject(made.body)
      expect((await app.get(`${base}status/`, { key })).status).toBe(200)
      expect((await app.get(`${one}reconciliation/`, { key })).status).toBe(200)
      for (const change of [{ interval: 'hour' }, { start_at: null }, { end_at: null }, { paused: true }]) {
        expect([change, (await app.patch(one, change, { key })).status]).toEqual([change, 200])
      }
      const range = { start_at: '0001-01-01', end_at: '0001-01-02' }
      expect((await app.post(`${one}backfills/`, range, { key })).status).toBe(201)
      expect((await app.get(`${one}backfills/?ordering=start_at`, { key })).status).toBe(200)
      expect((await app.post(`${one}unpause/`, { backfill: true }, { key })).status).toBe(200)
      expect((await app.delete(one, { key })).status).toBe(204)
    }
  })

  it.each([
    '10000-01-01',
    '0000-01-01',
    '0001-01-01T00:00:00+14:00',
    '9999-12-31T23:59:59-01:00',
    '2024-13-01',
  ])('400 for %s, which is none', async (start_at) => {
    expect(await create({ start_at })).toMatchObject({ status: 400, body: { attr: 'start_at' } })
  })
})

describe('one Idempotency-Key', () => {
  const day = (days: number) => new Date(app.services.now().getTime() - days * DAY_MS).toISOString()

  it('does each thing once, and refuses another body', async () => {
    const { id } = (await create()).body
    const owner = { id, project_id: workspace.project.id }
    const [failed, live] = [
      await addRun(app.db, owner, new Date(day(1)), { status: 'Failed' }),
      await addRun(app.db, owner, new Date(day(2)), { status: 'Running' }),
    ]
    const range = { start_at: day(3), end_at: day(2) }
    const calls: [string, object][] = [
      ['pause/', {}],
      ['unpause/', { backfill: true }],
      ['backfill/', range],
      ['backfills/', { ...range, start_at: day(4) }],
      [`runs/${failed.id}/retry/`, {}],
      [`runs/${live.id}/cancel/`, {}],
    ]
    for (const [path, body] of calls) {
      const headers = { 'idempotency-key': `once ${path}` }
      const send = (sent: object) => app.post(`${base}${id}/${path}`, sent, { key, headers })
      const first = await send(body)
      expect([path, first.status < 300]).toEqual([path, true])
      const before = await hashTables(app.db)
      const [again, andAgain] = await Promise.all([send(body), send(body)])
      expect([again.status, again.body]).toEqual([first.status, first.body])
      expect(andAgain.body).toEqual(first.body)
      expect((await send({ ...body, more: 1 })).status).toBe(422)
      expect(await hashTables(app.db)).toEqual(before)
    }
  })

  it('of one caller means nothing to another', async () => {
    const headers = { 'idempotency-key': 'shared' }
    const other = await createServiceKey(app, workspace.organization, { scopes: ['*'] })
    const [mine, theirs] = [
      await app.post(base, hourly(), { key, headers }),
      await app.post(base, hourly(), { key: other, headers }),
    ]
    expect([mine.status, theirs.status]).toEqual([201, 201])
    expect(mine.body.id).not.toBe(theirs.body.id)
  })
})

describe('many at once', () => {
  it('changes, pauses and backfills beside a deletion: each is done or finds nothing', async () => {
    for (let round = 0; round < 3; round++) {
      const one = `${base}${(await create()).body.id}/`
      const range = { start_at: '2024-01-01', end_at: '2024-01-02' }
      const replies = await Promise.all<Reply>([
        app.patch(one, { name: 'a' }, { key }),
        app.patch(one, { interval: 'day' }, { key }),
        app.post(`${one}pause/`, {}, { key }),
        app.post(`${one}unpause/`, { backfill: true }, { key }),
        app.post(`${one}backfill/`, range, { key }),
        app.delete(one, { key }),
        app.delete(one, { key }),
        app.patch(one, { paused: true, destination: { config: { arg: 'y' } } }, { key }),
        app.get(`${one}reconciliation/`, { key }),
      ])
      const statuses = replies.map(({ status }) => status)
      expect(statuses.filter((status) => status === 204)).toHaveLength(1)
      expect(statuses.filter((status) => ![200, 204, 404].includes(status))).toEqual([])
      expect((await app.get(one, { key })).status).toBe(404)
    }
    const left = await app.db.rows(sql`
      SELECT 1 FROM batch_export JOIN batch_export_backfill AS backfill ON backfill.batch_export_id = batch_export.id
      WHERE deleted_at IS NOT NULL AND backfill.status IN ('Starting', 'Running')`)
    expect(left).toEqual([])
  })

  it('200 for a change that waited for a pause younger than itself', async () => {
    const { id } = (await create({ paused: true })).body
    const later = new Date(app.services.now().getTime() + 1_000)
    await app.db.run(sql`UPDATE batch_export SET last_paused_at = ${later} WHERE id = ${id}`)
    const reply = await app.patch(`${base}${id}/`, { name: 'b' }, { key })
    expect([reply.status, reply.body.last_paused_at]).toEqual([200, later.toISOString()])
    const ahead = await app.patch(`${base}${id}/`, { last_paused_at: '2999-01-01' }, { key })
    expect(ahead).toMatchObject({ status: 400, body: { attr: 'last_paused_at' } })
  })

  it('pausing and going on end in one of the two, with one time of the pause', async () => {
    const one = `${base}${(await create()).body.id}/`
    const paths = ['pause/', 'unpause/', 'pause/', 'unpause/', 'pause/']
    const replies = await Promise.all(paths.map((path) => app.post(`${one}${path}`, {}, { key })))
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const { body } = await app.get(one, { key })
    expect(body.paused ? body.last_paused_at : '').toEqual(expect.any(String))
  })
})

describe('secrets of a few characters', () => {
  it('200 for a test that fails, whatever characters they are', async () => {
    for (const token of ['-', 'a-b', '$&', '\\', '(', ']^', '***', '\ud83e\udd94']) {
      const destination = { type: 'HTTP', config: { url: 'http://127.0.0.1:1/', token } }
      const reply = await app.post(`${base}run_test_step_new/`, { destination }, { key })
      expect([token, reply.status, reply.body.result.status]).toEqual([token, 200, 'Failed'])
    }
  })
})

describe('too much of something', () => {
  it.each<[string, object, number]>([
    ['filters', { filters: Array.from({ length: 101 }, () => ({ key: 'a', value: 1 })) }, 400],
    ['values', { filters: [{ key: 'a', value: Array.from({ length: 10_001 }, (_, index) => index) }] }, 400],
    ['events', { destination: { type: 'NoOp', config: { include_events: Array(1001).fill('a') } } }, 400],
    ['a name', { name: 'x'.repeat(401) }, 400],
    ['a setting', { destination: { type: 'NoOp', config: { arg: 'x'.repeat(4097) } } }, 400],
    ['a query', { hogql_query: `select ${'1 + '.repeat(100_000)}1 as n from events` }, 400],
    ['nesting', { filters: JSON.parse('['.repeat(80) + ']'.repeat(80)) }, 400],
    [
      'keys',
      {
        destination: {
          type: 'NoOp',
          config: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i])),
        },
      },
      413,
    ],
    ['everything', { destination: noOp, more: 'x'.repeat(1024 * 1024) }, 413],
  ])('%s is refused', async (_what, fields, status) => {
    const reply = await create(fields)
    expect(reply.status).toBe(status)
    expect(JSON.stringify(reply.body).length).toBeLessThan(3_000)
  })
})
