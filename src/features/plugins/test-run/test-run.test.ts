// Trying out plugins through HTTP: what comes back, and that nothing else happens.
// @module-tag slow
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { hashTables } from '../../../../test/harness/tables.ts'
import { SYNTAX_ERROR } from '../fixture/code.ts'
import { insertFixturePlugin } from '../fixture/plugins.ts'

let app: TestApp
let home: Workspace
let base: string
let outside: Server
const visits: string[] = []
beforeAll(async () => {
  app = await startTestApp({ OUTBOUND_ALLOW: '127.0.0.1' })
  home = await createOrganization(app)
  base = `/api/organizations/${home.organization.id}/plugins/`
  outside = createServer((request, response) => {
    visits.push(request.url!)
    response.end('reached')
  })
  await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await app.close()
  await new Promise((resolve) => outside.close(resolve))
})

const outsideUrl = (path: string) => `http://127.0.0.1:${(outside.address() as AddressInfo).port}${path}`

async function make(code: string, fields: object = {}): Promise<number> {
  const { key } = home.owner
  const { id } = (await app.post(base, { name: 'Tried', ...fields }, { key })).body
  await app.patch(`${base}${id}/update_source/`, { 'index.ts': code }, { key })
  return id
}

async function tryOut(id: number, request: object) {
  const { status, body } = await app.post(`${base}${id}/test/`, request, { key: home.owner.key })
  expect(status).toBe(200)
  return body
}

describe('POST test', () => {
  it('200 with the event as it would be, what was said, and how long it took', async () => {
    const id = await make(
      `export function processEvent(event, { config }) {
        console.log('hello', config.word, config.mark)
        event.properties.shout = config.word + config.mark
        delete event.properties.old
        return event
      }`,
      { config_schema: [{ key: 'word' }, { key: 'mark', default: '!' }] },
    )
    const before = await hashTables(app.db)
    const event = { event: 'said', distinct_id: 'me', properties: { old: 1, kept: { deep: true } } }
    const body = await tryOut(id, { event, config: { word: 'hey' } })
    expect(body).toMatchObject({
      error: null,
      event: { event: 'said', distinct_id: 'me', properties: { kept: { deep: true }, shout: 'hey!' } },
    })
    expect(body.event.properties).not.toHaveProperty('old')
    expect(body.logs).toEqual([{ source: 'CONSOLE', type: 'LOG', message: 'hello hey !' }])
    expect(body.ms).toBeGreaterThan(0)
    expect(await hashTables(app.db)).toEqual(before)
  })

  it('a time sent as a number reaches the app as one, as in ingestion', async () => {
    const id = await make(`export function processEvent(event) {
      event.properties.year = new Date(event.timestamp).getUTCFullYear()
      return event
    }`)
    const timestamp = Date.UTC(2020, 4, 6)
    expect((await tryOut(id, { event: { timestamp } })).event).toMatchObject({
      timestamp,
      properties: { year: 2020 },
    })
  })

  it.each([
    ["event.distinct_id = ''", '`distinct_id` must be given and not empty.'],
    ['delete event.event', '`event` must be given and not empty.'],
    ['event.properties = 5', 'the properties of the event are not an object'],
  ])('the error of ingestion and the event as it was, after `%s`', async (change, message) => {
    const id = await make(`export function processEvent(event) { ${change}; return event }`)
    const body = await tryOut(id, { event: { event: 'said', distinct_id: 'me', properties: { a: 1 } } })
    expect(body).toMatchObject({
      error: { message },
      event: { event: 'said', distinct_id: 'me', properties: { a: 1 } },
    })
  })

  it('what an app sets is as ingestion stores it', async () => {
    const id = await make(`export function processEvent(event) {
      event.event = 5
      event.timestamp = 'nope'
      event.uuid = 'nope'
      event.$set = { plan: 'gold' }
      return event
    }`)
    const uuid = '6ba7b812-9dad-51d1-80b4-00c04fd430c8'
    const { event, logs, error } = await tryOut(id, {
      event: { uuid, timestamp: '2020-02-03T04:05:06.789Z' },
    })
    expect(error).toBeNull()
    expect(event).toMatchObject({ event: '5', uuid, properties: { $set: { plan: 'gold' } } })
    expect(new Date(event.timestamp)).toEqual(new Date(event.now))
    const message = '1 event keeps its own uuid: what the app has set is none, such as "nope"'
    expect(logs).toEqual([{ source: 'SYSTEM', type: 'WARN', message }])
  })

  it('the event that was sent is read as capture reads it', async () => {
    const id = await make('export function processEvent(event) { return event }')
    const properties = { distinct_id: 'ada' }
    expect((await tryOut(id, { event: { event: 5, properties } })).event).toMatchObject({
      event: '5',
      distinct_id: 'ada',
    })
    expect((await tryOut(id, { event: {} })).event).toMatchObject({
      event: 'test event',
      distinct_id: 'test',
    })
    for (const [event, detail] of [
      [{ properties: 'y' }, '`properties` must be an object.'],
      [{ event: '' }, '`event` must be given and not empty.'],
      [{ uuid: 'nope' }, '`uuid` is not a UUID.'],
    ] as const) {
      const reply = await app.post(`${base}${id}/test/`, { event }, { key: home.owner.key })
      expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_input', attr: 'event', detail } })
    }
  })

  it('null for an event that is dropped', async () => {
    const id = await make('export function processEvent() { return null }')
    expect(await tryOut(id, { event: {} })).toMatchObject({ event: null, error: null })
  })

  it('the fault and the event as it was, when the code throws, never ends or does not parse', async () => {
    const event = { event: 'said', properties: { a: 1 } }
    const throws = await make(
      `interface Sent { properties: { a: number } }\n
       export function processEvent(event: Sent) { event.properties.a = 2; throw new TypeError('no') }`,
    )
    const thrown = await tryOut(throws, { event })
    expect(thrown).toMatchObject({ event, error: { name: 'TypeError', message: 'no' } })
    expect(thrown.error.stack).toContain('at processEvent (index.ts:3:86)')
    const endless = await make('export function processEvent() { while (true) {} }')
    expect((await tryOut(endless, { event })).error.message).not.toBe('')
    const broken = await make(SYNTAX_ERROR)
    expect((await tryOut(broken, { event })).error.message).toContain('index.ts:1:')
  })

  it('storage lasts as long as the test, captures and jobs are told and not done', async () => {
    const id = await make(`
      export const jobs = { later() {} }
      export async function onEvent(event, { storage, jobs, utils, cache }) {
        await storage.set('seen', { times: 1 })
        console.log(JSON.stringify(await storage.get('seen', null)), await utils.cursor.increment('c', 2))
        await posthog.capture('again', { from: event.event })
        await jobs.later({ x: 1 }).runNow()
      }`)
    const before = await hashTables(app.db)
    const { logs, error, event } = await tryOut(id, { event: { event: 'said' } })
    expect([error, event.event]).toEqual([null, 'said'])
    const messages = logs.map((line: { message: string }) => line.message)
    expect(messages).toContain('{"times":1} 2')
    expect(messages.some((message: string) => message.startsWith('capture: {"event":"again"'))).toBe(true)
    expect(
      messages.some((message: string) => message.startsWith('job: {"name":"later","payload":{"x":1}')),
    ).toBe(true)
    expect(await hashTables(app.db)).toEqual(before)
    const again = await tryOut(id, { event: { event: 'said' } })
    expect(again.logs[0].message).toBe('{"times":1} 2')
  })

  it('a job and a schedule run in place of an event, and nothing comes of them', async () => {
    const id = await make(`
      export const jobs = { retry: async ({ batch }, { storage }) => {
        await storage.set('batch', batch)
        console.log('batch', await storage.get('batch', null))
      } }
      export async function runEveryMinute() { await posthog.capture('imported', { n: 1 }) }
      export function processEvent(event) { throw new Error('no event was sent') }`)
    const before = await hashTables(app.db)
    const job = await tryOut(id, { job: { type: 'retry', payload: { batch: 7 } } })
    expect(job).toMatchObject({ event: null, error: null, logs: [{ message: 'batch 7' }] })
    const minute = await tryOut(id, { schedule: 'runEveryMinute' })
    expect(minute).toMatchObject({ event: null, error: null })
    expect(minute.calls).toEqual([{ kind: 'capture', target: 'imported', detail: { n: 1 }, was_made: false }])
    for (const [name, absent] of [
      ['other', { job: { type: 'other' } }],
      ['runEveryDay', { schedule: 'runEveryDay' }],
    ] as const)
      expect((await tryOut(id, absent)).error.message).toBe(`the app has no such function: ${name}`)
    expect(await hashTables(app.db)).toEqual(before)
  })

  it('a webhook is composed and not sent', async () => {
    const url = outsideUrl('/hook')
    const id = await make(
      `export function composeWebhook(event) { return { url: '${url}', body: event.event } }`,
    )
    const { logs, error } = await tryOut(id, { event: { event: 'said' } })
    expect(error).toBeNull()
    expect(logs[0].message).toContain(url)
    expect(visits).not.toContain('/hook')
  })

  it('nobody outside is called, unless it is allowed', async () => {
    const id = await make(
      `export async function onEvent() { console.log(await (await fetch('${outsideUrl('/called')}')).text()) }`,
    )
    const refused = await tryOut(id, { event: {} })
    expect(refused.error.message).toContain('fetch is switched off for this test: send `"fetch": true`')
    expect(visits).not.toContain('/called')
    const allowed = await tryOut(id, { event: {}, fetch: true })
    expect(allowed).toMatchObject({ error: null, logs: [{ message: 'reached' }] })
    expect(visits).toContain('/called')
  })

  it('an app that comes with the server is tried out as it is', async () => {
    const id = await insertFixturePlugin(app.db, {
      plugin_type: 'inline',
      url: 'inline:downsampling',
      is_global: true,
      capabilities: { methods: ['processEvent'] },
    })
    expect(await tryOut(id, { event: {}, config: { percentage: '0' } })).toMatchObject({ event: null })
    expect((await tryOut(id, { event: {}, config: { percentage: 'x' } })).error.message).not.toBe('')
  })

  it('400 without event, with wrong ones, and where there is no code', async () => {
    const { key } = home.owner
    const { id } = (await app.post(base, { name: 'Empty' }, { key })).body
    for (const [body, code, attr] of [
      [{}, 'required', 'event'],
      [{ event: 'x' }, 'invalid_input', 'event'],
      [{ event: {}, config: [] }, 'invalid_input', 'config'],
      [{ event: {}, fetch: 'maybe' }, 'invalid_input', 'fetch'],
      [{ event: {}, schedule: 'runEveryDay' }, 'invalid_input', null],
      [{ schedule: 'runEveryYear' }, 'invalid_choice', 'schedule'],
      [{ job: {} }, 'required', 'job__type'],
      [{ event: {} }, 'invalid_input', null],
    ] as const) {
      const reply = await app.post(`${base}${id}/test/`, body, { key })
      expect(reply).toMatchObject({ status: 400, body: { code, attr } })
    }
  })
})
