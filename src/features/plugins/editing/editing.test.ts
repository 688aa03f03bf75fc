// The files of plugins through HTTP: written, seen, and what follows from them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { ADDS_PROPERTY, DOES_NOT_LOAD, manifest, SENDS_EVENTS, SYNTAX_ERROR } from '../fixture/code.ts'
import { configure, insertFixturePlugin, listLogMessages } from '../fixture/plugins.ts'

let app: TestApp
let home: Workspace
let key: string
let base: string
beforeAll(async () => {
  app = await startTestApp()
  home = await createOrganization(app)
  key = home.owner.key
  base = `/api/organizations/${home.organization.id}/plugins/`
})
afterAll(() => app.close())

const createId = async (fields: object = {}): Promise<number> =>
  (await app.post(base, { name: 'My app', ...fields }, { key })).body.id
const update = (id: number, body: object, family = 'plugins') =>
  app.patch(`${base.replace('plugins', family)}${id}/update_source/`, body, { key })
const get = async (id: number) => (await app.get(`${base}${id}/`, { key })).body
const filesOf = async (id: number) => (await app.get(`${base}${id}/source/?format=posthog`, { key })).body
const rowOf = (id: number) =>
  app.db.only<{ updated_at: Date }>(sql`SELECT updated_at FROM plugin WHERE id = ${id}`)
const lastEntry = async () => (await app.get(`${base}activity/?limit=1`, { key })).body.results[0]

/** The plugins that were told to have changed meanwhile. */
async function toldDuring(work: () => Promise<unknown>): Promise<(number | null)[]> {
  const told: (number | null)[] = []
  const stop = app.services.changes.listen('plugin', (id) => told.push(id))
  await work()
  stop()
  return told
}

describe('PATCH update_source', () => {
  it('200 with plugin and files; code is looked at on the spot', async () => {
    const id = await createId()
    let reply: Awaited<ReturnType<typeof update>>
    const told = await toldDuring(async () => {
      reply = await update(id, { 'index.ts': SENDS_EVENTS, 'notes.md': 'Hello.' })
    })
    expect(told).toEqual([id])
    const { status, body } = reply!
    expect(status).toBe(200)
    expect(body).toMatchObject({ id, name: 'My app', 'index.ts': SENDS_EVENTS, 'notes.md': 'Hello.' })
    expect(body.capabilities).toEqual({ scheduled_tasks: [], jobs: [], methods: ['onEvent'] })
    expect((await app.get(`${base}${id}/source/`, { key })).body).toEqual(body)
    expect(await filesOf(id)).toEqual({ 'index.ts': SENDS_EVENTS, 'notes.md': 'Hello.' })
    const entry = await lastEntry()
    expect(entry).toMatchObject({ activity: 'source_updated', item_id: String(id) })
    expect(entry.detail.changes.at(-1)).toMatchObject({ field: 'source', after: ['index.ts', 'notes.md'] })
    expect(JSON.stringify(entry)).not.toContain('console.log')
  })

  it('files that are not named stay, null deletes, unknown ones are no matter', async () => {
    const id = await createId()
    await update(id, { 'a.txt': 'A', 'b.txt': 'B' })
    const { body } = await app.patch(
      `${base}${id}/update_source/?format=posthog`,
      { 'b.txt': null, 'c.txt': null, 'd.txt': '' },
      { key },
    )
    expect(body).toEqual({ 'a.txt': 'A', 'd.txt': '' })
  })

  it('a plugin moves to the family of its code, and its code is told what it offers', async () => {
    const id = await createId()
    const code = `
      export const metrics = { sent: 'sum' }
      export const jobs = { sync() {} }
      export function runEveryMinute() {}
      export function processEvent(event) { return event }
      export function setupPlugin() {}`
    const { body } = await update(id, { 'index.ts': code })
    expect(body.capabilities).toEqual({
      scheduled_tasks: ['runEveryMinute'],
      jobs: ['sync'],
      methods: ['setupPlugin', 'processEvent'],
    })
    expect(body.metrics).toEqual({ sent: 'sum' })
    for (const [family, status] of [
      ['pipeline_import_apps', 200],
      ['pipeline_transformations', 200],
      ['pipeline_destinations', 404],
      ['pipeline_frontend_apps', 404],
    ]) {
      const url = `/api/organizations/${home.organization.id}/${family}/${id}/source/`
      expect((await app.get(url, { key })).status, String(family)).toBe(status)
    }
    const gone = await update(id, { 'index.ts': null })
    expect([gone.body.capabilities, gone.body.metrics]).toEqual([{}, {}])
  })

  it('plugin.json says what the plugin is called and asks for, whatever the fields say', async () => {
    const id = await createId()
    const config = [{ key: 'token', type: 'string', secret: true }]
    const text = manifest({
      config,
      description: 'Described',
      icon: 'https://example.com/i.png',
      publicJobs: { sync: { payload: {} } },
    })
    const { body } = await update(id, { 'plugin.json': text, name: 'Overruled', tag: 'mine' })
    expect(body).toMatchObject({
      name: 'From the manifest',
      description: 'Described',
      icon: 'https://example.com/i.png',
      config_schema: config,
      public_jobs: { sync: { payload: {} } },
      tag: 'mine',
      'plugin.json': text,
    })
  })

  it('keys without a dot are fields, and act as PATCH does', async () => {
    const id = await createId()
    const { body } = await update(id, {
      name: 'Renamed',
      unknown: 'x',
      capabilities: { methods: ['onEvent'] },
    })
    expect(body).toMatchObject({ name: 'Renamed', capabilities: { methods: ['onEvent'] } })
    expect(body).not.toHaveProperty('unknown')
    expect((await lastEntry()).activity).toBe('updated')
    expect(await update(id, { name: 'x'.repeat(201), 'a.txt': 'A' })).toMatchObject({
      status: 400,
      body: { code: 'max_length', attr: 'name' },
    })
    expect(await filesOf(id)).toEqual({})
  })

  it('the same again changes nothing, tells nobody and is not logged', async () => {
    const id = await createId()
    const files = {
      'index.ts': ADDS_PROPERTY,
      'plugin.json': manifest(),
      'site.ts': 'export const inject = 1',
    }
    const first = await update(id, files)
    const { updated_at } = await rowOf(id)
    const { id: entry } = await lastEntry()
    app.advance(1000)
    const told = await toldDuring(async () => {
      expect((await update(id, files)).body).toEqual(first.body)
      expect((await update(id, {})).body).toEqual(first.body)
    })
    expect(told).toEqual([])
    expect((await rowOf(id)).updated_at).toEqual(updated_at)
    expect((await lastEntry()).id).toBe(entry)
  })

  it.each([
    ['a number as file', { 'a.txt': 1 }, 'invalid_input', 'a.txt'],
    ['an object as file', { 'a.txt': {} }, 'invalid_input', 'a.txt'],
    ['unreadable plugin.json', { 'plugin.json': '{' }, 'invalid_input', 'plugin.json'],
    ['a list as plugin.json', { 'plugin.json': '[]' }, 'invalid_input', 'plugin.json'],
    ['a wrong config in plugin.json', { 'plugin.json': '{"config": "x"}' }, 'invalid_input', 'plugin.json'],
    ['a long name of a file', { [`${'x'.repeat(200)}.ts`]: '' }, 'max_length', null],
    [
      'too many files',
      Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`${i}.txt`, ''])),
      'invalid_input',
      null,
    ],
  ])('400 for %s, and nothing is stored', async (_name, body, code, attr) => {
    const id = await createId()
    await update(id, { 'kept.txt': 'kept' })
    const before = await rowOf(id)
    const reply = await update(id, { 'index.ts': SENDS_EVENTS, 'kept.txt': 'lost', name: 'Lost', ...body })
    expect(reply).toMatchObject({ status: 400, body: { code, attr } })
    expect(await filesOf(id)).toEqual({ 'kept.txt': 'kept' })
    expect([(await get(id)).name, (await get(id)).capabilities]).toEqual(['My app', {}])
    expect(await rowOf(id)).toEqual(before)
  })

  it('5 MB in all, more is 400; a body of more than 12 MB is 413', async () => {
    const id = await createId()
    const MB = 1024 * 1024
    expect((await update(id, { 'a.txt': 'x'.repeat(3 * MB), 'b.txt': 'x'.repeat(2 * MB) })).status).toBe(200)
    expect(await update(id, { 'c.txt': 'x' })).toMatchObject({
      status: 400,
      body: { code: 'max_length', attr: 'a.txt' },
    })
    expect(await update(id, { 'c.txt': 'x'.repeat(12 * MB) })).toMatchObject({
      status: 413,
      body: { code: 'request_too_large' },
    })
    const big = await app.patch(`${base}${id}/`, { description: 'x'.repeat(MB) }, { key })
    expect(big.status).toBe(413)
    expect(Object.keys(await filesOf(id))).toEqual(['a.txt', 'b.txt'])
  })

  it('400 for a plugin that was installed', async () => {
    const id = await insertFixturePlugin(app.db, {
      organization_id: home.organization.id,
      plugin_type: 'custom',
      url: 'https://github.com/acme/app',
    })
    expect(await update(id, { 'a.txt': 'A' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_input', attr: null },
    })
    expect(await filesOf(id)).toEqual({})
  })

  it.each([
    ['does not parse', SYNTAX_ERROR, { line: 1, column: 27, message: /found end of file$/ }],
    ['does not load', `type A = 1\n\n  ${DOES_NOT_LOAD}`, { line: 3, column: 13, message: 'not today' }],
    [
      'imports what is not there',
      "import 'left-pad'",
      { line: 1, column: 1, message: /^left-pad cannot be/ },
    ],
    ['never ends', 'while (true) {}', { line: null, column: null, message: 'it used up its CPU time' }],
  ])(
    'code that %s is kept, told to every config, and leaves standing what was known',
    async (_n, code, { message, ...place }) => {
      const id = await createId()
      await update(id, { 'index.ts': SENDS_EVENTS })
      const configs = [
        await configure(app, home.project.id, key, { plugin: id }),
        await configure(app, home.project.id, key, { plugin: id, enabled: false }),
      ]
      const { status, body } = await update(id, { 'index.ts': code })
      expect([status, body['index.ts']]).toEqual([200, code])
      expect(body.capabilities.methods).toEqual(['onEvent'])
      expect(body.errors).toEqual([{ file: 'index.ts', ...place, message: expect.stringMatching(message) }])
      const where = place.line === null ? 'index.ts' : `index.ts:${place.line}:${place.column}`
      for (const config of configs) {
        const lines = await listLogMessages(app.db, config)
        expect(lines).toContain(`SYSTEM ERROR The code does not run: ${where}: ${body.errors[0].message}`)
      }
      const renamed = await app.patch(`${base}${id}/`, { name: 'Other' }, { key })
      expect([renamed.status, renamed.body.errors]).toEqual([200, body.errors])
      expect((await get(id)).errors).toEqual(body.errors)
      const mended = await update(id, { 'index.ts': ADDS_PROPERTY })
      expect(mended.body.capabilities.methods).toEqual(['processEvent'])
      expect(mended.body.errors).toEqual([])
    },
  )

  it('files for pages and console are translated, with errors kept beside them', async () => {
    const id = await createId()
    const files = { 'site.ts': 'export function inject() {}', 'frontend.tsx': 'export const x =\n <' }
    const { body } = await update(id, files)
    const error = { file: 'frontend.tsx', line: 2, column: 3, message: expect.any(String) }
    expect(body.errors).toEqual([error])
    const rows = await app.db.rows(sql`
      SELECT filename, status, transpiled IS NULL AS has_none, error IS NULL AS is_fine FROM plugin_source_file
      WHERE plugin_id = ${id} ORDER BY filename`)
    expect(rows).toEqual([
      { filename: 'frontend.tsx', status: 'ERROR', has_none: true, is_fine: false },
      { filename: 'site.ts', status: 'TRANSPILED', has_none: false, is_fine: true },
    ])
    expect((await get(id)).capabilities).toEqual({})
    const more = await update(id, { 'index.ts': 'let a = ;' })
    expect(more.body.errors).toMatchObject([
      { file: 'frontend.tsx' },
      { file: 'index.ts', line: 1, column: 9 },
    ])
    expect((await update(id, { 'frontend.tsx': null, 'index.ts': null })).body.errors).toEqual([])
  })

  const CALLED =
    'processEvent, onEvent, composeWebhook, exportEvents, runEveryMinute, runEveryHour, runEveryDay, jobs'
  it.each([
    [
      'export function procesEvent(e) { return e }',
      'only procesEvent',
      'Did you mean processEvent for procesEvent?',
    ],
    [
      'export function processevent(e) { return e }',
      'only processevent',
      'Did you mean processEvent for processevent?',
    ],
    [
      'export const setupPlugin = () => {}\nexport const OnEvents = () => {}',
      'only OnEvents, setupPlugin',
      'Did you mean onEvent for OnEvents?',
    ],
    ['export default { onevnt() {} }', 'only onevnt', 'Did you mean onEvent for onevnt?'],
    [
      'export function runEveryMinut() {}',
      'only runEveryMinut',
      'Did you mean runEveryMinute for runEveryMinut?',
    ],
    ['export const processEvent = { on: true }', 'only processEvent', '`processEvent` must be a function.'],
    ['export const jobs = []', 'only jobs', '`jobs` must be an object of functions.'],
    ['export const helper = () => 1', 'only helper', ''],
    ['function scrub(e) { return e }', 'nothing', ''],
  ])('code of which nothing is called is kept, and an error: %s', async (code, found, hint) => {
    const id = await createId()
    const { status, body } = await update(id, { 'index.ts': code })
    const message = `index.ts exports ${found}: none of the functions that are called (${CALLED}).`
    expect([status, body.errors]).toEqual([
      200,
      [{ file: 'index.ts', line: null, column: null, message: hint === '' ? message : `${message} ${hint}` }],
    ])
    const tried = await app.post(`${base}${id}/test/`, { event: {} }, { key })
    expect(tried.body).toMatchObject({ error: { message: body.errors[0].message }, errors: body.errors })
    const empty = await createId()
    const sent = await app.post(`${base}${empty}/test/`, { event: {}, files: { 'index.ts': code } }, { key })
    expect(sent.body).toMatchObject({ error: tried.body.error, errors: body.errors })
    const enabled = { plugin: id, enabled: true }
    expect(
      (await app.post(`/api/projects/${home.project.id}/plugin_configs/`, enabled, { key })).status,
    ).toBe(201)
  })

  it.each([
    ['only pages', { 'site.ts': 'export function inject() {}' }],
    ['only the console', { 'frontend.tsx': 'export const scene = {}' }],
    ['pages and types beside them', { 'site.ts': 'export function inject() {}', 'index.ts': 'export {}' }],
    ['jobs alone', { 'index.ts': 'export const jobs = { sync() {} }' }],
    ['a schedule alone', { 'index.ts': 'export function runEveryDay() {}' }],
    ['setting up alone', { 'index.ts': 'export function setupPlugin() {}\nexport const helper = 1' }],
    ['the old batch function', { 'index.ts': 'export const processEventBatch = (events) => events' }],
    ['functions without export', { 'index.ts': 'function onEvent() {}' }],
  ])('an app of %s has no error', async (_name, files) => {
    expect((await update(await createId(), files)).body.errors).toEqual([])
  })

  it('of very many errors the first ones are told', async () => {
    const { body } = await update(await createId(), { 'index.ts': 'const a = 1; const a = 2;\n'.repeat(50) })
    expect(body.errors).toHaveLength(20)
    expect(body.errors[19]).toMatchObject({ file: 'index.ts', line: 11 })
  })

  it('code that never loaded is in no family but where it was made', async () => {
    const families = ['pipeline_destinations', 'pipeline_frontend_apps', 'pipeline_import_apps']
    const statusIn = async (family: string, id: number) =>
      (await app.get(`${base.replace('plugins', family)}${id}/`, { key })).status
    // What its owner said of it when it had no code is no word of the code.
    const id = await createId({ capabilities: { methods: ['onEvent'] } })
    expect((await update(id, { 'index.ts': SYNTAX_ERROR })).body.capabilities).toEqual({})
    for (const family of [...families, 'pipeline_transformations'])
      expect(await statusIn(family, id)).toBe(404)
    expect(await statusIn('plugins', id)).toBe(200)
    await update(id, { 'index.ts': ADDS_PROPERTY })
    expect(await statusIn('pipeline_transformations', id)).toBe(200)
  })

  it('edits at once are all there in the end', async () => {
    const id = await createId()
    const names = ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt']
    const replies = await Promise.all(names.map((name) => update(id, { [name]: name })))
    expect(replies.map(({ status }) => status)).toEqual(names.map(() => 200))
    expect(Object.keys(await filesOf(id))).toEqual(names)
  })

  it('names that mean something to JavaScript are names of files', async () => {
    const id = await createId()
    const files = { 'constructor.prototype': 'x', 'toString.ts': 'y' }
    expect((await update(id, files)).body).toMatchObject(files)
    expect(await filesOf(id)).toEqual(files)
    expect((await update(id, JSON.parse('{"__proto__": "x"}'))).status).toBe(400)
  })
})
