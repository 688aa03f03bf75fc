// The promise where two things meet that were made for themselves: two names of one file or server, two projects in one
// table, a slow run and a newer one, an export that goes while another comes.
// @module-tag slow
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../../../test/harness/until.ts'
import {
  startPostgresServer,
  type PostgresProxy,
  type PostgresStandIn,
} from '../../../../test/stand-ins/postgres.ts'
import { sql } from '../../../platform/db/sql.ts'
import { Passing, Refused, type Delivery } from '../destinations/destination.ts'
import { DESTINATIONS } from '../destinations/index.ts'
import { neighbourOf, openWorkbench, type Workbench } from '../fixture/workbench.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

let first: Workbench
let bench: Workbench
let server: PostgresStandIn
let proxy: PostgresProxy
beforeAll(async () => {
  server = await startPostgresServer()
  proxy = await server.openProxy()
  await server.admin.query('GRANT ALL ON SCHEMA public TO exporter')
  first = await openWorkbench({ OUTBOUND_ALLOW: '127.0.0.0/8 localhost ::1', ALLOW_PLAINTEXT: 'on' })
}, 120_000)
afterAll(async () => {
  await first.app.close()
  await proxy.close()
  await server.close()
})
beforeEach(async () => void (bench = await neighbourOf(first)))
afterEach(() => bench.deleteExports())

type Event = { event: string; uuid?: string; timestamp?: string; distinct_id?: string; properties?: object }

async function send(to: Workbench, ...events: Event[]): Promise<void> {
  const batch = events.map((event) => ({
    distinct_id: 'somebody',
    uuid: crypto.randomUUID(),
    timestamp: to.app.services.now().toISOString(),
    properties: {},
    ...event,
  }))
  const reply = await to.app.post('/batch/', { api_key: to.workspace.project.api_token, batch })
  expect(reply.status).toBe(200)
}

const file = (prefix: string, more: object = {}) => ({ type: 'File', config: { prefix, ...more } })

async function change(id: string, destination: object): Promise<void> {
  const reply = await bench.app.patch(`${bench.base}/${id}/`, { destination }, { key: bench.key })
  expect(reply.status).toBe(200)
}

/** Does the oldest run again. */
async function retry(id: string): Promise<void> {
  const [run] = await bench.runs(id)
  const path = `${bench.base}/${id}/runs/${run!.id}/retry/`
  expect((await bench.app.post(path, {}, { key: bench.key })).status).toBe(200)
}

/** Makes an export that delivers the hour before it was made. */
async function createLate(destination: object): Promise<string> {
  const id = await bench.create(destination)
  const body = { paused: true, last_paused_at: bench.hour(-1) }
  expect((await bench.app.patch(`${bench.base}/${id}/`, body, { key: bench.key })).status).toBe(200)
  await bench.act(id, 'unpause', { backfill: true })
  return id
}

async function filesOnDisk(): Promise<string[]> {
  const { export_folder } = bench.app.services.settings
  const root = join(export_folder, String(bench.workspace.project.id))
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
}

const intact = { verdict: 'intact', problems: [] }

/** Replaces how deliveries of the kind end until the test is over. */
function whenFinishing(type: string, finish: (delivery: Delivery) => Delivery['finish']): () => void {
  const kind = DESTINATIONS.get(type)!
  const { load } = kind
  kind.load = async () => {
    const real = await load()
    return {
      ...real,
      async open(context) {
        const delivery = await real.open(context)
        return { ...delivery, finish: finish(delivery) }
      },
    }
  }
  return () => void (kind.load = load)
}

/** Something that waits until it is let go. */
function newGate() {
  let letGo = () => {}
  const opened = new Promise<void>((resolve) => (letGo = resolve))
  const gate = {
    is_reached: false,
    letGo,
    async pass() {
      gate.is_reached = true
      await opened
    },
  }
  return gate
}

const isOver = ({ status }: { status: string }) => status === 'Completed' || status === 'Failed'

describe('files', () => {
  it('under a prefix with two slashes have one name, however it is written', async () => {
    const id = await bench.create(file('/out//events'))
    await bench.capture(['a', 'b'])
    await bench.pass()
    await change(id, file('out/events'))
    await bench.capture(['c'])
    await bench.pass()
    expect(await bench.verify(id)).toMatchObject({ ...intact, files: 2 })
    await retry(id)
    await bench.work()
    expect(await filesOnDisk()).toHaveLength(2)
    await bench.act(id, 'repair', { start_at: bench.hour(-2), end_at: bench.hour(0) })
    await bench.work()
    expect(await bench.verify(id)).toMatchObject({ ...intact, files: 2, rows: 3 })
  })

  it('that a run is about to remove are not written by another export meanwhile', async () => {
    const gate = newGate()
    let mode: 'die' | 'wait' | 'go' = 'die'
    const restore = whenFinishing('File', (delivery) => async (confirm) => {
      const own = mode
      const done = await delivery.finish(async (names) => {
        const allowed = await confirm(names)
        if (own === 'wait') await gate.pass()
        return allowed
      })
      if (own === 'die') throw new Refused('The answer was lost.')
      return done
    })
    const one = await bench.create(file('out'))
    await bench.capture(['x', 'y'])
    await bench.pass()
    await change(one, file('elsewhere'))
    mode = 'wait'
    await retry(one)
    await bench.app.exports.tick()
    await until(() => gate.is_reached)
    mode = 'go'
    const two = await createLate(file('out'))
    await until(async () => {
      await bench.app.exports.tick()
      return (await bench.runs(two)).some((run) => run.status === 'FailedRetryable' || isOver(run))
    })
    expect((await bench.runs(two)).filter(isOver)).toEqual([])
    gate.letGo()
    await bench.app.exports.idle()
    restore()
    bench.app.advance(5 * MINUTE_MS)
    await bench.work()
    for (const id of [one, two]) expect(await bench.verify(id)).toMatchObject(intact)
  }, 60_000)

  it('of an export that is deleted while it publishes them are not mixed with those of the next', async () => {
    const gate = newGate()
    let is_first = true
    const restore = whenFinishing('File', (delivery) => async (confirm) => {
      const waits = is_first
      is_first = false
      if (waits) await gate.pass()
      return delivery.finish(confirm)
    })
    const one = await bench.create(file('out', { include_events: ['x'] }))
    await bench.capture(['x', 'y'])
    bench.app.advance(60 * MINUTE_MS)
    await bench.app.exports.tick()
    await until(() => gate.is_reached)
    expect((await bench.app.delete(`${bench.base}/${one}/`, { key: bench.key })).status).toBe(204)
    const two = await createLate(file('out'))
    await until(async () => {
      await bench.app.exports.tick()
      return (await bench.runs(two)).some((run) => run.status === 'FailedRetryable' || isOver(run))
    })
    gate.letGo()
    await bench.app.exports.idle()
    restore()
    bench.app.advance(5 * MINUTE_MS)
    await bench.work()
    expect(await bench.verify(two)).toMatchObject({ ...intact, rows: 2 })
  }, 60_000)
})

describe('tables', () => {
  let tables = 0
  const table = () => ({
    type: 'Postgres',
    config: {
      ...server.login,
      host: '127.0.0.1',
      port: proxy.port,
      schema: 'public',
      table_name: `side_door_${(tables += 1)}`,
    },
  })
  const rowsOf = async ({ config }: ReturnType<typeof table>, columns: string) =>
    (await server.admin.query(`SELECT ${columns} FROM ${config.table_name} ORDER BY 1`)).rows as object[]
  const renamed = () => ({ type: 'Postgres', config: { ...server.login, host: 'localhost' } })

  it('of a server that has another name now hold no rows to delete', async () => {
    const destination = table()
    const id = await bench.create(destination)
    await bench.capture(['a', 'b'])
    await bench.pass()
    await change(id, renamed())
    await bench.capture(['c'])
    await bench.pass()
    expect(await bench.verify(id)).toMatchObject({
      verdict: 'unclear',
      problems: [],
      notes: expect.arrayContaining([
        expect.stringMatching(/^Rows that this export has not delivered here: 2\./),
      ]),
    })
  })

  it('take a run once whose commit was not answered, also under another name of their server', async () => {
    let dies = false
    const restore = whenFinishing('Postgres', (delivery) => async (confirm) => {
      const done = await delivery.finish(confirm)
      if (!dies) return done
      dies = false
      throw new Passing('The connection was lost.')
    })
    const destination = table()
    const id = await bench.create(destination)
    await bench.capture(['z'])
    await bench.pass()
    dies = true
    await bench.capture(['a', 'b'])
    bench.app.advance(60 * MINUTE_MS)
    await bench.app.exports.tick()
    await bench.app.exports.idle()
    await change(id, renamed())
    bench.app.advance(2 * MINUTE_MS)
    await bench.work()
    const run = (await bench.runs(id)).at(-1)!
    expect(run).toMatchObject({ status: 'Failed' })
    const path = `${bench.base}/${id}/runs/${run.id}/retry/`
    expect((await bench.app.post(path, {}, { key: bench.key })).status).toBe(200)
    await bench.work()
    restore()
    expect(await rowsOf(destination, 'event')).toEqual(['a', 'b', 'z'].map((event) => ({ event })))
  })

  it('keep the events of two projects that bear the same uuids', async () => {
    const other = await neighbourOf(first)
    const destination = table()
    const ids = [
      [bench, await bench.create(destination)],
      [other, await other.create(destination)],
    ] as const
    const events = ['x', 'y'].map((event) => ({ event, uuid: crypto.randomUUID() }))
    for (const [owner] of ids) await send(owner, ...events)
    await bench.pass()
    expect(await rowsOf(destination, 'event')).toHaveLength(4)
    for (const [owner, id] of ids) {
      await owner.act(id, 'repair', { start_at: owner.hour(-1), end_at: owner.hour(0) })
      await owner.work()
    }
    expect(await rowsOf(destination, 'event')).toHaveLength(4)
    for (const [owner, id] of ids) expect(await owner.verify(id)).toMatchObject(intact)
    await other.deleteExports()
  })

  it('lead a distinct id to whom it belongs, though an older run ends last', async () => {
    const destination = table()
    const id = await bench.create(destination, { model: 'persons', interval: 'every 5 minutes' })
    for (let step = 0; step < 6; step++) {
      await send(bench, { event: 'e', distinct_id: 'anon', properties: { $set: { step } } })
    }
    await send(bench, { event: 'e', distinct_id: 'user', properties: { $set: { name: 'U' } } })
    const { app } = bench
    const { eventStore } = app.services
    const gate = newGate()
    let is_first = true
    app.services.eventStore = {
      ...eventStore,
      async exportRows(...args) {
        const staged = await eventStore.exportRows(...args)
        const waits = is_first
        is_first = false
        if (waits) await gate.pass()
        return staged
      },
    }
    // The slow run keeps its lease.
    const walk = async () => {
      for (let passed = 0; passed < 7 * MINUTE_MS; passed += 10_000) {
        app.advance(10_000)
        await app.exports.beat()
        await app.exports.tick()
      }
    }
    await walk()
    await until(() => gate.is_reached)
    await send(bench, { event: '$identify', distinct_id: 'user', properties: { $anon_distinct_id: 'anon' } })
    await walk()
    await until(async () => {
      await app.exports.tick()
      const runs = (await bench.runs(id)) as { status: string; records_completed?: number }[]
      return runs.some((run) => run.status === 'Completed' && (run.records_completed ?? 0) > 0)
    })
    gate.letGo()
    await app.exports.idle()
    await bench.work()
    app.services.eventStore = eventStore
    const { person } = await app.db.only<{ person: string }>(sql`
      SELECT person::text FROM person_distinct_id
      WHERE project_id = ${bench.workspace.project.id} AND distinct_id = 'anon'`)
    const [anon] = await rowsOf(destination, `distinct_id, person_id`)
    expect(anon).toEqual({ distinct_id: 'anon', person_id: person })
  }, 60_000)

  it('have a session with the events that came late, however late', async () => {
    const destination = table()
    const id = await bench.create(destination, { model: 'sessions' })
    const $session_id = '018f0000-0000-7000-8000-000000000001'
    const began = Date.parse(bench.hour(0))
    const view = (minute: number, path: string): Event => ({
      event: '$pageview',
      timestamp: new Date(began + minute * MINUTE_MS).toISOString(),
      properties: { $session_id, $current_url: `https://a/${path}` },
    })
    const session = async () => {
      const columns = 'pageview_count::int AS views, entry_current_url AS entry, end_current_url AS last'
      return (await rowsOf(destination, columns))[0]
    }
    await send(bench, view(1, '1'), view(9, '9'))
    await bench.pass()
    // Neither moves the end.
    await send(bench, view(5, '5'), view(0.5, '0'))
    await bench.pass()
    expect(await session()).toEqual({ views: 4, entry: 'https://a/0', last: 'https://a/9' })
    await bench.act(id, 'pause')
    bench.app.advance(5 * DAY_MS)
    await bench.act(id, 'unpause')
    await bench.pass()
    await send(bench, view(20, '20'))
    await bench.pass()
    expect(await session()).toEqual({ views: 5, entry: 'https://a/0', last: 'https://a/20' })
  })

  it('with years of five digits are intact', async () => {
    const destination = table()
    const hogql_query =
      'SELECT uuid, timestamp, event, fromUnixTimestamp(toInt(properties.ms)) AS sent_at FROM events'
    const id = await bench.create(destination, { hogql_query })
    await send(bench, { event: 'x', properties: { ms: '1700000000000' } })
    await bench.pass()
    expect(await bench.verify(id)).toMatchObject({ ...intact, rows: 1 })
  })
})

it('HTTP: a run goes to the project of another token from its first event on', async () => {
  const taken = new Map<string, number>()
  let requests = 0
  type Body = { api_key: string; batch: object[] }
  const endpoint = createServer((request, response) => {
    void text(request).then((sent) => {
      const { api_key, batch } = JSON.parse(sent) as Body
      if (batch.length > 0 && ++requests === 2) {
        response.writeHead(400).end('quota')
        return
      }
      taken.set(api_key, (taken.get(api_key) ?? 0) + batch.length)
      response.end('{}')
    })
  }).listen(0, '127.0.0.1')
  await once(endpoint, 'listening')
  const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/batch/`
  const [old, other] = ['old', 'new'].map((name) => bench.app.canary.plant(name, `phc_${name}_token`))
  const id = await bench.create({ type: 'HTTP', config: { url, token: old } })
  for (let part = 0; part < 6; part++) {
    await send(bench, ...Array.from({ length: 1_000 }, () => ({ event: 'e' })))
  }
  await bench.pass()
  expect(await bench.runs(id)).toMatchObject([{ status: 'Failed' }])
  expect(taken.get(old!)).toBeGreaterThan(0)
  await change(id, { type: 'HTTP', config: { token: other } })
  await retry(id)
  await bench.work()
  expect(taken.get(other!)).toBe(6_000)
  endpoint.close()
})
