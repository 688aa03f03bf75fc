// Requests of PostHog's libraries of other languages, replayed: each event is stored as it was meant, and each answer is
// one that the library can read. The events of all are listed once.
import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, createOrganization, type Workspace } from '../factories.ts'
import { startTestApp, type TestApp } from '../harness/app.ts'
import { GROUP, PERSON, PROPERTIES, type Dump, type Replayed, type Scene } from './dump.ts'
import { MOBILE_DUMPS } from './mobile-dumps.ts'
import { NEWER_DUMPS } from './newer-dumps.ts'
import { SERVER_DUMPS } from './server-dumps.ts'

const DUMPS = Object.entries<Dump>({ ...SERVER_DUMPS, ...NEWER_DUMPS, ...MOBILE_DUMPS })
const PACK = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync }
const HOUR_MS = 3_600_000
/** The clock of every device is wrong by this much. */
const SKEW_MS = 24 * HOUR_MS

type Listed = { event: string; distinct_id: string; timestamp: string; properties: Record<string, unknown> }

let app: TestApp
let workspace: Workspace
let key: string
let url: string
let started: number
const listed = new Map<string, Listed[]>()
const persons = new Map<string, Record<string, unknown>>()

const userOf = (name: string) => `user of ${name}`

beforeAll(async () => {
  app = await startTestApp()
  workspace = await createOrganization(app)
  key = await createKey(app, workspace.owner, { scopes: ['*'] })
  await app.http.listen({ host: '127.0.0.1', port: 0 })
  url = `http://127.0.0.1:${(app.http.server.address() as AddressInfo).port}`
  started = Date.now()
  for (const [name, dump] of DUMPS) {
    for (const request of dump.requests(sceneOf(name, dump))) await replay(name, request)
  }
  const { body } = await app.get(`/api/projects/@current/events/?limit=1000`, { key })
  for (const event of body.results as Listed[])
    listed.set(event.distinct_id, [...(listed.get(event.distinct_id) ?? []), event])
  const people = (await app.get('/api/projects/@current/persons/?limit=1000', { key })).body.results
  for (const person of people as { distinct_ids: string[] }[])
    for (const id of person.distinct_ids) persons.set(id, person)
})
afterAll(() => app.close())

function sceneOf(name: string, { tells_sent_at }: Dump): Scene {
  const skew = tells_sent_at ? SKEW_MS : 0
  return {
    token: workspace.project.api_token,
    key,
    user: userOf(name),
    before: `before ${name}`,
    company: `company of ${name}`,
    at: new Date(started - HOUR_MS - skew),
    sent_at: new Date(started - skew),
    uuid: randomUUID,
  }
}

async function replay(name: string, { method = 'POST', path, headers = {}, body, packed, answer }: Replayed) {
  const json = Buffer.from(JSON.stringify(body) ?? '')
  const response = await fetch(url + path, {
    method,
    headers,
    ...(method === 'GET' ? {} : { body: packed ? PACK[packed](json) : json }),
  })
  const text = await response.text()
  expect([name, path, response.status, text.slice(0, 300)]).toEqual([name, path, 200, expect.any(String)])
  expect(response.headers.get('content-type'), `${name} ${path}`).toMatch(/^application\/json/)
  expect(JSON.parse(text), `${name} ${path}`).toMatchObject(answer)
}

it('has every language', () => {
  expect(DUMPS.map(([name]) => name)).toHaveLength(14)
})

describe.each(DUMPS)('%s', (name, { lib, has_alias, has_groups }) => {
  const named = (event: string) => (listed.get(userOf(name)) ?? []).filter((each) => each.event === event)

  it('stores the event as it was meant, once', () => {
    const [event, ...others] = named('sdk event')
    expect(others).toEqual([])
    expect(event!.properties).toMatchObject({ ...PROPERTIES, ...(lib === null ? {} : { $lib: lib }) })
    // An hour ago by the clock of the library, whatever that clock says now.
    expect(Math.abs(Date.parse(event!.timestamp) - (started - HOUR_MS))).toBeLessThan(60_000)
  })

  it('knows the person', () => {
    expect(persons.get(userOf(name))).toMatchObject({ properties: PERSON })
    if (has_alias) expect(persons.get(`before ${name}`)).toBe(persons.get(userOf(name)))
  })

  it.runIf(has_groups)('knows the group', async () => {
    const [group] = named('$groupidentify')
    expect(group!.properties).toMatchObject({ $group_key: `company of ${name}`, $group_set: GROUP })
  })
})
