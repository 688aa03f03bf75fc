// Exports of two organizations in one application. The attacker owns a project and exports of his own, and knows every id
// of the victim's: of exports, runs, backfills and verifications. He asks for them, changes, steers and tests them at every path there
// is, before the victim has any and after: no answer may change by a byte, and nothing of hers may change at all.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addBackfill, addExport, addLog, addRun } from '../src/features/batch-exports/runs/fixture/rows.ts'
import { addVerification } from '../src/features/batch-exports/verification/fixture/rows.ts'
import { sealSecrets } from '../src/features/batch-exports/secrets.ts'
import { routes } from '../src/app/http.ts'
import { uuid7 } from '../src/lib/uuid.ts'
import { sql } from '../src/platform/db/sql.ts'
import { createKey, createOrganization, createServiceKey, type Workspace } from './factories.ts'
import { startTestApp, type Reply, type TestApp } from './harness/app.ts'

const SECRET = `zq${randomBytes(6).toString('hex')}`
const NOW = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 + 60_000)
const HOUR_MS = 3_600_000
const newThings = () => ({
  batch_export: uuid7(NOW),
  run: uuid7(NOW),
  backfill: uuid7(NOW),
  verification: uuid7(NOW),
})
const HERS = newThings()
const NOBODYS = newThings()

type Things = typeof HERS
type Request = { method: string; url: string; body?: unknown }

let app: TestApp
let victim: Workspace
let attacker: Workspace
let his: Things
/** Where the victim's export goes: only she may have it called. */
let endpoint: Server
let calls: number
/** Every credential that is not the victim's. */
let credentials: Record<string, string>

beforeAll(async () => {
  app = await startTestApp({ OUTBOUND_ALLOW: '127.0.0.1' })
  app.services.now = () => NOW
  calls = 0
  endpoint = createServer((_request, response) => {
    calls += 1
    response.end('{}')
  })
  await once(endpoint.listen(0, '127.0.0.1'), 'listening')
  victim = await createOrganization(app, { name: `Org ${SECRET}` })
  attacker = await createOrganization(app)
  credentials = {
    'his own key': attacker.owner.key,
    'a key for his project': await createKey(app, attacker.owner, {
      scopes: ['*'],
      scoped_teams: [attacker.project.id],
    }),
    'a key that he has limited to hers': await createKey(app, attacker.owner, {
      scopes: ['*'],
      scoped_teams: [victim.project.id],
    }),
    'a service key of his organization': await createServiceKey(app, attacker.organization, {
      scopes: ['*'],
    }),
  }
  his = await makeHis()
  for (const [name, request] of probes()) before.set(name, await askAll(request))
  await makeHers()
})
afterAll(async () => {
  endpoint.close()
  await app.close()
})

const config = { include_events: null, exclude_events: null }

async function makeHis(): Promise<Things> {
  const files = {
    ...config,
    prefix: 'same',
    file_format: 'JSONLines',
    compression: null,
    max_file_size_mb: null,
  }
  const row = await addExport(app.db, attacker.project.id, NOW, {
    destination_type: 'File',
    config: files,
    ...sealed('his'),
  })
  const run = await addRun(app.db, row, NOW, { status: 'Failed' })
  const backfill = await addBackfill(app.db, row, NOW, { status: 'Completed', finished_at: NOW })
  await addLog(app.db, row, { run_id: run.id, timestamp: NOW, message: 'Run started.' })
  const verification = await addVerification(app.db, row, NOW)
  return { batch_export: row.id, run: run.id, backfill: backfill.id, verification }
}

function sealed(whose: 'his' | 'hers') {
  const id = whose === 'hers' ? HERS.batch_export : uuid7(NOW)
  const secrets = whose === 'hers' ? { token: `${SECRET}-token` } : {}
  return { id, secrets: sealSecrets(app.services, id, secrets) }
}

async function makeHers(): Promise<void> {
  const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/${SECRET}`
  const row = await addExport(app.db, victim.project.id, NOW, {
    ...sealed('hers'),
    name: `Export ${SECRET}`,
    destination_type: 'HTTP',
    config: { ...config, url },
    filters: [{ key: SECRET, value: SECRET }],
  })
  await addRun(app.db, row, NOW, { id: HERS.run, status: 'Running', latest_error: `error ${SECRET}` })
  await addBackfill(app.db, row, NOW, { id: HERS.backfill })
  await addLog(app.db, row, { run_id: HERS.run, timestamp: NOW, message: `line ${SECRET}` })
  await addVerification(app.db, row, NOW, {
    id: HERS.verification,
    problems: [
      {
        kind: 'stray_file',
        run: HERS.run,
        file: `line ${SECRET}`,
        uuid: null,
        position: null,
        message: SECRET,
        what_to_do: SECRET,
      },
    ],
  })
  const batch = Array.from({ length: 9 }, () => ({ event: `${SECRET} event`, distinct_id: SECRET }))
  await app.post('/batch/', { api_key: victim.project.api_token, batch })
}

// ---------------------------------------------------------------------------------------------------------------------
// What he asks: every route of exports, with her ids in every place.

const BODIES: Record<string, unknown> = {
  'PATCH :id/': { name: 'pwned', paused: true, destination: { config: { include_events: ['x'] } } },
  'PUT :id/': {
    name: 'pwned',
    interval: 'day',
    destination: { type: 'HTTP', config: { url: 'http://x.example', token: 't' } },
  },
  'POST :id/unpause/': { backfill: true },
  'POST :id/backfill/': { start_at: '2024-01-01', end_at: '2024-01-02' },
  'POST :batch_export_id/backfills/': { start_at: '2024-01-01', end_at: '2024-01-02' },
  'POST :id/run_test_step/': { destination: { config: {} } },
  'POST run_test_step_new/': { destination: { type: 'File', config: { prefix: `../${SECRET}` } } },
}

const exportRoutes = routes.filter(({ path }) => path.includes('/batch_exports/'))

function idIn(call: string, things: Things): string {
  if (/runs\/:id/.test(call)) return things.run
  if (/backfills\/:id/.test(call)) return things.backfill
  return /verifications\/:id/.test(call) ? things.verification : things.batch_export
}

/** The route's address with these things in it, in this project or organization. */
function requestFor(route: (typeof exportRoutes)[number], workspace: Workspace, things: Things): Request {
  const call = route.path.slice(route.path.indexOf('/batch_exports/') + '/batch_exports/'.length)
  const ids = {
    project_id: String(workspace.project.id),
    organization_id: workspace.organization.id,
    batch_export_id: things.batch_export,
    run_id: things.run,
    id: idIn(call, things),
  }
  const url = route.path.replaceAll(/:(\w+)/g, (_, name: keyof typeof ids) => ids[name])
  const body =
    route.method === 'GET' || route.method === 'DELETE'
      ? undefined
      : (BODIES[`${route.method} ${call}`] ?? {})
  return { method: route.method, url, ...(body === undefined ? {} : { body }) }
}

const namesThing = ({ path }: { path: string }) => /\/batch_exports\/:/.test(path)

function probes(): [string, Request[]][] {
  const below = exportRoutes.filter(namesThing)
  const inside = below.filter(({ path }) => /\/(runs|backfills|verifications)\/:/.test(path))
  // A caller may have so many streams open, and what a stream says is no list.
  const lists = exportRoutes.filter(
    ({ method, path, messages }) => method === 'GET' && !messages && !/:(id|run_id)\//.test(path),
  )
  const parameters = [
    `team_id=${victim.project.id}&project_id=${victim.project.id}&organization_id=${victim.organization.id}`,
    `batch_export_id=${HERS.batch_export}&run_id=${HERS.run}&id=${HERS.run}`,
    `search=${SECRET}&after=0001-01-01&before=9999-12-31`,
    `cursor=n${HERS.run}&after=2000-01-01`,
    `cursor=p${HERS.backfill}`,
    `cursor=n${HERS.verification}`,
    `status=Running&ordering=data_interval_start&start=2000-01-01&end=2999-01-01`,
    `destination=HTTP&limit=1000&offset=0`,
  ]
  return [
    ['her paths', exportRoutes.map((route) => requestFor(route, victim, HERS))],
    ['his paths with her ids', below.map((route) => requestFor(route, attacker, HERS))],
    [
      'his export with the ids of her runs and backfills',
      inside.map((route) => requestFor(route, attacker, { ...HERS, batch_export: his.batch_export })),
    ],
    [
      'her ids, spelled otherwise',
      [HERS.batch_export.toUpperCase(), `%7B${HERS.batch_export}%7D`].flatMap((batch_export) =>
        below.map((route) => requestFor(route, attacker, { ...HERS, batch_export })),
      ),
    ],
    [
      'his lists, asked for hers',
      lists.flatMap((route) =>
        parameters.map((query) => {
          const { method, url } = requestFor(route, attacker, his)
          return { method, url: `${url}?${query}` }
        }),
      ),
    ],
    [
      'his organization, for her project',
      [victim.project.id, String(victim.project.id), [victim.project.id]].map((team_id) => ({
        method: 'POST',
        url: `/api/organizations/${attacker.organization.id}/batch_exports/`,
        body: { name: 'sly', interval: 'hour', destination: { type: 'NoOp', config: {} }, team_id },
      })),
    ],
    [
      'queries and filters over her tables',
      [`ev_${victim.project.id}`, `main.ev_${victim.project.id}`, 'persons', 'events, events e'].flatMap(
        (table) =>
          [
            { hogql_query: `select * from ${table}` },
            { hogql_query: `select (select count() from ${table}) as n from events` },
            { filters: [{ type: 'hogql', key: `1 in (select 1 from ${table})` }] },
            { filters: [{ type: 'hogql', key: `team_id = ${victim.project.id}; select * from ${table}` }] },
          ].map((fields) => ({
            method: 'POST',
            url: `/api/projects/${attacker.project.id}/batch_exports/`,
            body: { name: 'sly', interval: 'hour', destination: { type: 'NoOp', config: {} }, ...fields },
          })),
      ),
    ],
  ]
}

const before = new Map<string, string[]>()

/** Everything a client sees of an answer, but what differs from one to the next in any case. */
function seen({ status, headers, body }: Reply): string {
  const { date: _, 'x-request-id': __, ...rest } = headers
  return JSON.stringify({ status, headers: rest, body })
}

async function askAll(requests: readonly Request[]): Promise<string[]> {
  const answers: string[] = []
  for (const { method, url, body } of requests) {
    for (const key of Object.values(credentials)) {
      answers.push(seen(await app.call(method, url, { key, ...(body === undefined ? {} : { body }) })))
    }
  }
  return answers
}

const statusesOf = (answers: readonly string[]) =>
  [...new Set(answers.map((text): number => JSON.parse(text).status))].toSorted((a, b) => a - b)

/** All rows of hers. */
async function hers(): Promise<unknown> {
  const id = victim.project.id
  return [
    await app.db.rows(sql`SELECT * FROM batch_export WHERE project_id = ${id}`),
    await app.db.rows(sql`SELECT * FROM batch_export_run WHERE project_id = ${id}`),
    await app.db.rows(sql`SELECT * FROM batch_export_backfill WHERE project_id = ${id}`),
    await app.db.rows(sql`SELECT * FROM batch_export_verification WHERE project_id = ${id}`),
    await app.db.rows(sql`SELECT * FROM batch_export_log WHERE project_id = ${id}`),
    await app.db.rows(sql`SELECT * FROM activity_log WHERE project_id = ${id}`),
  ]
}

// ---------------------------------------------------------------------------------------------------------------------

describe('the victim has something to hide', () => {
  it('and sees it', async () => {
    const key = victim.owner.key
    const paths = [
      '',
      'runs/',
      'logs/',
      'backfills/',
      `runs/${HERS.run}/logs/`,
      'reconciliation/',
      'verifications/',
    ]
    for (const path of paths) {
      const url = `/api/projects/${victim.project.id}/batch_exports/${HERS.batch_export}/${path}`
      const reply = await app.get(url, { key })
      expect([path, reply.status]).toEqual([path, 200])
      if (!/backfills|reconciliation/.test(path)) expect(JSON.stringify(reply.body)).toContain(SECRET)
    }
  })
})

describe('the victim’s exports change no answer to the attacker', () => {
  const closed: Record<string, number[]> = {
    'her paths': [403],
    'his paths with her ids': [403, 404],
    'his export with the ids of her runs and backfills': [403, 404],
    'her ids, spelled otherwise': [403, 404],
    'his lists, asked for hers': [200, 400, 403, 404],
    'his organization, for her project': [400, 403],
    'queries and filters over her tables': [400, 403],
  }

  it.each(Object.entries(closed))('%s', async (name, statuses) => {
    const requests = probes().find(([each]) => each === name)![1]
    expect(requests.length).toBeGreaterThan(2)
    const untouched = await hers()
    const answers = await askAll(requests)
    expect(answers).toEqual(before.get(name))
    expect(statusesOf(answers)).toEqual(statuses)
    for (const text of answers) {
      expect(text).not.toContain(`Export ${SECRET}`)
      expect(text).not.toContain(`line ${SECRET}`)
    }
    expect(await hers()).toEqual(untouched)
    expect(calls).toBe(0)
  })

  it('her ids are as unknown as those of nobody', async () => {
    const own = { key: attacker.owner.key }
    for (const route of exportRoutes.filter(namesThing)) {
      const [theirs, none] = await Promise.all(
        [HERS, NOBODYS].map((things) => {
          const { method, url, body } = requestFor(route, attacker, things)
          return app.call(method, url, { ...own, ...(body === undefined ? {} : { body }) })
        }),
      )
      expect([route.path, theirs!.status]).toEqual([route.path, 404])
      expect(theirs!.body).toEqual(none!.body)
    }
  })

  it('nor does an Idempotency-Key of hers bring back her answer', async () => {
    const headers = { 'idempotency-key': 'one-and-the-same' }
    const body = { name: `Made ${SECRET}`, interval: 'hour', destination: { type: 'NoOp', config: {} } }
    const at = (workspace: Workspace) => `/api/projects/${workspace.project.id}/batch_exports/`
    const made = await app.post(at(victim), body, { key: victim.owner.key, headers })
    expect(made.status).toBe(201)
    expect((await app.post(at(victim), body, { key: attacker.owner.key, headers })).status).toBe(403)
    const his = await app.post(at(attacker), { ...body, name: 'Own' }, { key: attacker.owner.key, headers })
    expect([his.status, his.body.name, his.body.team_id]).toEqual([201, 'Own', attacker.project.id])
    for (const [workspace, reply] of [
      [victim, made],
      [attacker, his],
    ] as const) {
      await app.delete(`${at(workspace)}${reply.body.id}/`, { key: workspace.owner.key })
    }
  })
})

describe('files', () => {
  it('of one project lie apart from those of another, whatever the prefix', async () => {
    const [v, a] = [victim.project.id, attacker.project.id]
    const make = (workspace: Workspace, prefix: string) =>
      app.post(
        `/api/projects/${workspace.project.id}/batch_exports/`,
        { name: 'Files', interval: 'hour', destination: { type: 'File', config: { prefix } } },
        { key: workspace.owner.key },
      )
    expect((await make(victim, 'same')).status).toBe(201)
    expect((await make(attacker, `${v}/same`)).status).toBe(201)
    expect((await make(attacker, `/${v}/other`)).status).toBe(201)
    for (const prefix of [`../${v}/same`, `x/../../${v}`, `${v}/..`]) {
      expect((await make(attacker, prefix)).status).toBe(400)
    }
    await app.post('/batch/', {
      api_key: attacker.project.api_token,
      batch: [{ event: 'own', distinct_id: 'mallory' }],
    })
    const later = new Date(NOW.getTime() + 2 * HOUR_MS)
    app.services.now = () => later
    for (let ticks = 0; ticks < 8; ticks++) {
      await app.exports.tick()
      await app.exports.idle()
    }
    const root = app.services.settings.export_folder
    expect((await readdir(root)).toSorted()).toEqual([String(v), String(a)].toSorted())
    const [her, own] = [await textsBelow(join(root, String(v))), await textsBelow(join(root, String(a)))]
    expect([her.length, own.length]).toEqual([1, 2])
    expect(her.join()).toContain(SECRET)
    expect(her.join()).not.toContain('mallory')
    expect(own.join()).not.toContain(SECRET)
    expect(own.join()).toContain('mallory')
  })
})

async function textsBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return Promise.all(files.map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8')))
}
