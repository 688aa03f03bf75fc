// Exports in `/metrics`, read as strictly as Prometheus and its linter do.
// @module-tag slow
import { readFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { HOUR_MS, setTenPastTheHour } from '../fixture/clock.ts'
import { parseMetrics, type Family } from './fixture/prometheus.ts'

const NAME = 'Wörtlich "geheim" {name}'

let app: TestApp
let workspace: Workspace
let key: string
let base: string
let endpoint: Endpoint
beforeEach(async () => {
  app = await startTestApp({ OUTBOUND_ALLOW: '127.0.0.0/8' })
  workspace = await createOrganization(app)
  key = workspace.owner.key
  base = `/api/projects/${workspace.project.id}/batch_exports`
  endpoint = await startEndpoint()
  setTenPastTheHour(app)
  // A scrape waits for a few seconds at most, and the store is opened when it is first used.
  await app.services.eventStore.lastPosition(workspace.project.id)
})
afterEach(async () => {
  await endpoint.close()
  await app.close()
})

type Endpoint = Awaited<ReturnType<typeof startEndpoint>>

/** Answers with the status that is set; without one it holds the answer back. */
async function startEndpoint() {
  const held: ServerResponse[] = []
  let arrived: () => void = () => undefined
  const endpoint = {
    url: '',
    status: 200 as number | null,
    request: () => new Promise<void>((resolve) => (arrived = resolve)),
    async close() {
      for (const response of held) response.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (endpoint.status === null) held.push(response)
      else response.writeHead(endpoint.status).end()
      arrived()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  endpoint.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/batch/`
  return endpoint
}

async function create(fields: object = {}): Promise<string> {
  const config = { url: endpoint.url, token: app.canary.plant('token', 'token-of-the-destination') }
  const destination = { type: 'HTTP', config }
  const reply = await app.post(`${base}/`, { name: NAME, interval: 'hour', destination, ...fields }, { key })
  expect(reply.status).toBe(201)
  return reply.body.id
}

async function capture(count: number): Promise<void> {
  const batch = Array.from({ length: count }, () => ({ event: 'seen', distinct_id: 'somebody' }))
  await app.post('/batch/', { api_key: workspace.project.api_token, batch })
}

async function pass(): Promise<void> {
  app.advance(HOUR_MS)
  await app.exports.tick()
  await app.exports.idle()
}

async function scrape(): Promise<Map<string, Family>> {
  const { status, body } = await app.get('/metrics')
  expect(status).toBe(200)
  for (const text of [NAME, 'geheim', workspace.project.name, workspace.organization.name, endpoint.url]) {
    expect(body).not.toContain(text)
  }
  expect(body).not.toContain(workspace.owner.email)
  return parseMetrics(body)
}

/** The values of a metric by the value of its label; '' without one. */
const valuesOf = (families: Map<string, Family>, name: string) =>
  Object.fromEntries(
    families
      .get(`longshore_export_${name}`)!
      .samples.map(({ labels, value }) => [Object.values(labels)[0] ?? '', value]),
  )

describe('what this process has done', () => {
  it('is counted by how runs and attempts ended', async () => {
    const id = await create()
    const before = await scrape()
    expect(valuesOf(before, 'runs_total')).toMatchObject({ Completed: 0, Failed: 0, Cancelled: 0 })
    expect(valuesOf(before, 'rows_total')).toEqual({ '': 0 })
    await capture(3)
    await pass()
    endpoint.status = 500
    await capture(1)
    await pass()
    expect(valuesOf(await scrape(), 'attempts_total')).toEqual({
      completed: 1,
      failed: 0,
      retried: 1,
      stopped: 0,
    })
    endpoint.status = 403
    app.advance(600_000)
    await app.exports.tick()
    await app.exports.idle()
    endpoint.status = null
    await capture(1)
    app.advance(HOUR_MS)
    const requested = endpoint.request()
    await app.exports.tick()
    await requested
    expect(valuesOf(await scrape(), 'runs')).toEqual({ waiting: 0, running: 1 })
    const { body } = await app.get(`${base}/${id}/runs/`, { key })
    await app.post(`${base}/${id}/runs/${body.results[0].id}/cancel/`, {}, { key })
    await app.exports.beat()
    await app.exports.idle()

    const families = await scrape()
    expect(valuesOf(families, 'runs_total')).toEqual({
      Completed: 1,
      Failed: 1,
      FailedRetryable: 0,
      Cancelled: 1,
      Terminated: 0,
      TimedOut: 0,
    })
    expect(valuesOf(families, 'attempts_total')).toEqual({ completed: 1, failed: 1, retried: 1, stopped: 1 })
    expect(valuesOf(families, 'rows_total')).toEqual({ '': 3 })
    const run = body.results.find(({ status }: { status: string }) => status === 'Completed')
    expect(valuesOf(families, 'bytes_total')).toEqual({ '': run.bytes_exported })
    expect(run.bytes_exported).toBeGreaterThan(0)
    expect(valuesOf(families, 'runs')).toEqual({ waiting: 0, running: 0 })
  })
})

describe('each export', () => {
  it('has its freshness under its id', async () => {
    const id = await create()
    await capture(2)
    await pass()
    await capture(3)
    const destination = { type: 'File', config: { prefix: 'persons' } }
    const persons = await create({ model: 'persons', destination })
    app.advance(3 * HOUR_MS)
    const families = await scrape()
    const { results, as_of } = (await app.get(`${base}/status/`, { key })).body
    const shown = results.find((each: { id: string }) => each.id === id)
    const age_s = (text: string) => (Date.parse(as_of) - Date.parse(text)) / 1000
    const near = (seconds: number) => expect.closeTo(seconds, -2)
    expect(valuesOf(families, 'newest_delivered_age_seconds')).toEqual({
      [id]: near(age_s(shown.newest_delivered_at)),
    })
    expect(valuesOf(families, 'oldest_pending_age_seconds')).toEqual({
      [id]: near(age_s(shown.oldest_pending_at)),
    })
    expect(valuesOf(families, 'rows_behind')).toEqual({ [id]: 3 })
    expect(valuesOf(families, 'runs_behind')).toEqual({ [id]: 3, [persons]: 3 })
    expect(valuesOf(families, 'late')).toEqual({ [id]: 1, [persons]: 1 })
    expect(valuesOf(families, 'paused')).toEqual({ [id]: 0, [persons]: 0 })
  })

  it('is read at most every ten seconds, and is gone with the export', async () => {
    const id = await create()
    let now = app.services.now()
    app.services.now = () => now
    const passTenSeconds = () => (now = new Date(now.getTime() + 10_000))
    expect(valuesOf(await scrape(), 'rows_behind')).toEqual({ [id]: 0 })
    await capture(1)
    expect(valuesOf(await scrape(), 'rows_behind')).toEqual({ [id]: 0 })
    passTenSeconds()
    const waiting = await scrape()
    expect(valuesOf(waiting, 'rows_behind')).toEqual({ [id]: 1 })
    expect(valuesOf(waiting, 'oldest_pending_age_seconds')).toEqual({ [id]: 10 })
    await app.post(`${base}/${id}/pause/`, {}, { key })
    passTenSeconds()
    expect(valuesOf(await scrape(), 'paused')).toEqual({ [id]: 1 })
    await app.delete(`${base}/${id}/`, { key })
    passTenSeconds()
    expect(valuesOf(await scrape(), 'rows_behind')).toEqual({})
  })

  it('is missing while it cannot be read, and the rest is there', async () => {
    const id = await create()
    await app.db.pool.query('ALTER TABLE batch_export RENAME TO out_of_reach')
    const families = await scrape()
    expect(valuesOf(families, 'rows_behind')).toEqual({})
    expect(valuesOf(families, 'runs_total')).toMatchObject({ Completed: 0 })
    expect(families.get('process_cpu_seconds_total')!.samples).toHaveLength(1)
    await app.db.pool.query('ALTER TABLE out_of_reach RENAME TO batch_export')
    expect(valuesOf(await scrape(), 'rows_behind')).toEqual({ [id]: 0 })
  })
})

describe('the names of all metrics of ours', () => {
  it('are in the documentation, and its rules name no others', async () => {
    const page = await readFile(new URL('../../../../docs/operations.md', import.meta.url), 'utf8')
    const named = new Set(page.match(/longshore_export_\w+/g))
    const families = [...(await scrape()).keys()].filter((name) => name.startsWith('longshore_export_'))
    expect([...named].toSorted()).toEqual(families.toSorted())
  })

  it('are as Prometheus wants them', async () => {
    await create()
    const own = [...(await scrape())].filter(([name]) => name.startsWith('longshore_'))
    expect(own.length).toBeGreaterThan(10)
    for (const [name, { type, help }] of own) {
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter'])
      expect(name).not.toMatch(
        /_(ms|milliseconds|minutes|hours|kilobytes|megabytes|count|sum|bucket|gauge|counter)$/,
      )
      expect(help).toMatch(/^[A-Z].*\.$/)
    }
  })
})
