// What an editor of HogQL is told: the language, and where a text is wrong.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'

let app: TestApp
let home: Workspace
let below: string
beforeAll(async () => {
  app = await startTestApp()
  home = await createOrganization(app)
  below = `/api/projects/${home.project.id}/query/`
})
afterAll(() => app.close())

const send = (path: string, query: string, rest: object = {}) =>
  app.post(`${below}${path}`, { query: { kind: 'HogQLQuery', query, ...rest } }, { key: home.owner.key })

type Fault = { text: string | null; did_you_mean: string | null }

/** The text, the part of it that is at fault, and what was meant. */
const FAULTS: [string, Fault][] = [
  ['select evnt from events', { text: 'evnt', did_you_mean: 'event' }],
  ["select '🦔', evnt from events", { text: 'evnt', did_you_mean: 'event' }],
  ['select event\nfrom evens', { text: 'evens', did_you_mean: 'events' }],
  ['select cuont(event) from events', { text: 'cuont', did_you_mean: 'count' }],
  ['select arayJoin([1])', { text: 'arayJoin', did_you_mean: 'arrayJoin' }],
  ['select event from events where xyzzyxyzzy', { text: 'xyzzyxyzzy', did_you_mean: null }],
  ['select event fro events', { text: 'fro', did_you_mean: 'FROM' }],
  ['select toString() from events', { text: 'toString()', did_you_mean: null }],
]

describe('errors say where in the text they are', () => {
  it.each(FAULTS)('%s', async (query, { text, did_you_mean }) => {
    const asked = await send('', query)
    expect([asked.status, asked.body.attr]).toEqual([400, 'query__query'])
    const { start, end } = asked.body.extra
    expect(asked.body.extra).toEqual({ start, end, did_you_mean })
    expect(query.slice(start, end)).toBe(text)
    const checked = await send('check/', query)
    expect([checked.status, checked.body]).toEqual([
      200,
      {
        valid: false,
        errors: [{ code: asked.body.code, detail: asked.body.detail, start, end, did_you_mean }],
        columns: null,
        hogql: null,
      },
    ])
  })

  it('what was given for a placeholder is at fault where the placeholder stands', async () => {
    const query = 'select event from events where event = 1 and {filters}'
    const properties = [{ type: 'hogql', key: "nope = 'x'" }]
    const { status, body } = await send('', query, { filters: { properties } })
    expect([status, body.code]).toEqual([400, 'hogql_query_error'])
    expect(query.slice(body.extra.start, body.extra.end)).toBe('{filters}')
  })

  it('a query of several texts is told which of them, and nothing is said of places when the fault is in none', async () => {
    const { body } = await app.post(
      below,
      { query: { kind: 'EventsQuery', select: ['evnt'] } },
      { key: home.owner.key },
    )
    expect(body).toMatchObject({ attr: 'query__select', extra: { start: 0, end: 4, did_you_mean: 'event' } })
    const missing = await app.post(below, {}, { key: home.owner.key })
    expect(missing.body).not.toHaveProperty('extra')
  })
})

describe('POST check', () => {
  it('200: a good query is valid, with its columns, and nothing is run', async () => {
    const { eventStore } = app.services
    const asked: unknown[] = []
    app.services.eventStore = {
      ...eventStore,
      query: async (query) => {
        asked.push(query)
        return eventStore.query(query)
      },
    }
    const reply = await send('check/', 'select event, count() as c from events where {filters} group by 1')
    app.services.eventStore = eventStore
    expect([reply.status, asked]).toEqual([200, []])
    expect(reply.body).toEqual({
      valid: true,
      errors: [],
      columns: ['event', 'c'],
      hogql: expect.stringMatching(/^SELECT event, count\(\) AS c FROM events/),
    })
  })

  it('400 for what is wrong beside the text', async () => {
    const values = await send('check/', 'select {o}', { values: { o: { a: 1 } } })
    expect([values.status, values.body.attr]).toEqual([400, 'query__values__o'])
    const filters = await send('check/', 'select 1', {
      filters: { properties: [{ type: 'hogql', key: 'a b c' }] },
    })
    expect([filters.status, filters.body.code]).toEqual([400, 'hogql_syntax_error'])
    const other = await app.post(
      `${below}check/`,
      { query: { kind: 'EventsQuery' } },
      { key: home.owner.key },
    )
    expect([other.status, other.body.attr]).toEqual([400, 'query__kind'])
  })

  it('says of a hostile text what query/ says of it', async () => {
    const { body } = await send('check/', `select '${'x'.repeat(70_000)}'`)
    expect(body).toMatchObject({ valid: false, errors: [{ code: 'hogql_syntax_error' }] })
    const deep = await send('check/', `select ${'('.repeat(20_000)}1${')'.repeat(20_000)}`)
    expect(deep.body.valid).toBe(false)
  })
})

describe('GET schema', () => {
  const get = (headers: Record<string, string> = {}) =>
    app.get(`${below}schema/`, { key: home.owner.key, headers })

  it('200: tables, functions and words, once for each version', async () => {
    const first = await get()
    expect(first.status).toBe(200)
    expect(first.body.tables.map(({ name }: { name: string }) => name)).toContain('events')
    expect(first.body.functions.length).toBeGreaterThan(200)
    expect(first.body.keywords).toContain('select')
    expect(first.headers['cache-control']).toBe('private, no-cache')
    const etag = String(first.headers.etag)
    const again = await get({ 'if-none-match': `W/"other", ${etag}` })
    expect([again.status, again.body, again.headers.etag]).toEqual([304, null, etag])
    expect((await get({ 'if-none-match': '"other"' })).status).toBe(200)
  })
})
