// A destination that fails again and again, as its owner meets it: real runs to a real endpoint, by a clock that is moved.
// @module-tag slow
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createOrganization, type Workspace } from '../../../../test/factories.ts'
import { startTestApp, type TestApp } from '../../../../test/harness/app.ts'
import { sql } from '../../../platform/db/sql.ts'
import { HOUR_MS, setTenPastTheHour } from '../fixture/clock.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS

let app: TestApp
let workspace: Workspace
let endpoint: Awaited<ReturnType<typeof startEndpoint>>
beforeEach(async () => {
  app = await startTestApp({ OUTBOUND_ALLOW: '127.0.0.0/8' })
  workspace = await createOrganization(app)
  endpoint = await startEndpoint()
  setTenPastTheHour(app)
})
afterEach(async () => {
  await endpoint.close()
  await app.close()
})

/** Answers with `status`, or, when that is null, hangs up; and not before so many calls are there `together`. */
async function startEndpoint() {
  const state: { status: number | null; asks_s: string | null; calls: number; together: number } = {
    status: 200,
    asks_s: null,
    calls: 0,
    together: 1,
  }
  const waiting: (() => void)[] = []
  const server = createServer((request, response) => {
    state.calls += 1
    waiting.push(() => {
      if (state.status === null) request.socket.destroy()
      else
        response.writeHead(state.status, state.asks_s === null ? {} : { 'retry-after': state.asks_s }).end()
    })
    request.resume().on('end', () => {
      if (waiting.length < state.together) return
      for (const answer of waiting.splice(0)) answer()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/batch/`
  const close = () => new Promise((resolve) => server.close(resolve))
  return Object.assign(state, { url, close })
}

const baseOf = ({ project }: Workspace) => `/api/projects/${project.id}/batch_exports/`

async function create(of = workspace, url = endpoint.url): Promise<string> {
  const destination = { type: 'HTTP', config: { url, token: 'a-token' } }
  const body = { name: 'n', interval: 'hour', destination }
  return (await app.post(baseOf(of), body, { key: of.owner.key })).body.id
}

async function capture(of = workspace, timestamp?: string): Promise<void> {
  const batch = [{ event: 'seen', distinct_id: 'd', ...(timestamp ? { timestamp } : {}) }]
  await app.post('/batch/', { api_key: of.project.api_token, batch })
}

/** Events arrive, an hour ends, and its run is begun. */
async function nextHour(...of: Workspace[]): Promise<void> {
  for (const each of of.length > 0 ? of : [workspace]) await capture(each)
  await pass(HOUR_MS)
}

async function pass(ms: number): Promise<void> {
  app.advance(ms)
  await app.exports.tick()
  await app.exports.idle()
}

/** One attempt after the other, until the endpoint was asked so often. */
async function failUntil(calls: number): Promise<void> {
  while (endpoint.calls < calls) await pass(2 * MINUTE_MS)
}

type Run = { status: string; waiting_for: string | null; waiting_since: string | null }
const runsOf = async (id: string, of = workspace): Promise<Run[]> =>
  (await app.get(`${baseOf(of)}${id}/runs/`, { key: of.owner.key })).body.results
const logsOf = async (id: string): Promise<string[]> =>
  (await app.get(`${baseOf(workspace)}${id}/logs/`, { key: workspace.owner.key })).body.results.map(
    ({ message }: { message: string }) => message,
  )

describe('five failures in a row', () => {
  it.each([
    ['of an endpoint that is overloaded', 503],
    ['of one that hangs up', null],
  ])('%s leave it alone: one run at a time tries it, after ever longer pauses', async (_what, status) => {
    const id = await create()
    endpoint.status = status
    await nextHour()
    await nextHour()
    await failUntil(5)
    const failed = 'the destination: it failed 5 times in a row, the next try is at '
    const waiting = (await runsOf(id)).map(({ waiting_for }) => waiting_for)
    expect(waiting).toEqual([expect.stringContaining(failed), expect.stringContaining(failed)])
    for (const seconds of [30, 60, 120]) {
      const { calls } = endpoint
      await pass((seconds - 1) * SECOND_MS)
      expect(endpoint.calls).toBe(calls)
      await pass(SECOND_MS)
      expect(endpoint.calls).toBe(calls + 1)
    }
    expect((await logsOf(id)).filter((line) => line.includes('in a row'))).toEqual(
      [8, 7, 6, 5].map((failures) =>
        expect.stringContaining(`has failed ${failures} times in a row: the runs`),
      ),
    )
  })

  it('leave it alone for as long as it asks for, whichever run would be next', async () => {
    const id = await create()
    endpoint.status = 503
    endpoint.asks_s = '3000'
    await nextHour()
    for (let attempt = 0; attempt < 4; attempt++) await pass(3_000 * SECOND_MS)
    expect(endpoint.calls).toBe(5)
    const said = (await runsOf(id)).find(({ waiting_for }) => waiting_for)!.waiting_for!
    const [, at] = /it failed 5 times in a row, the next try is at (.*)$/.exec(said)!
    const wait_ms = Date.parse(at!) - app.services.now().getTime()
    expect(wait_ms).toBeGreaterThan(2_900 * SECOND_MS)
    expect((await logsOf(id)).filter((line) => line.includes(`one tries it again at ${at}`))).toHaveLength(1)
    await capture()
    const { key } = workspace.owner
    expect((await app.post(`${baseOf(workspace)}${id}/runs/`, {}, { key })).status).toBe(200)
    await pass(wait_ms - MINUTE_MS)
    expect(endpoint.calls).toBe(5)
    endpoint.status = 200
    await pass(MINUTE_MS)
    await pass(0)
    expect(endpoint.calls).toBe(7)
  })

  it('are over with the first success: all runs go out at once', async () => {
    const id = await create()
    endpoint.status = 503
    await nextHour()
    await failUntil(5)
    await nextHour()
    endpoint.status = 200
    await pass(MINUTE_MS)
    await pass(0)
    expect(await runsOf(id)).toMatchObject([
      { status: 'Completed', waiting_for: null, waiting_since: null },
      { status: 'Completed', waiting_for: null, waiting_since: null },
    ])
    endpoint.status = 503
    const { calls } = endpoint
    await nextHour()
    await failUntil(calls + 4)
    expect((await runsOf(id))[0]!.waiting_for).toContain('the next attempt at')
  })

  it('of several runs together make one pause', async () => {
    const id = await create()
    endpoint.status = 503
    endpoint.together = 4
    for (let hour = 0; hour < 5; hour++) {
      await capture()
      app.advance(HOUR_MS)
    }
    // Four at a time: the fifth failure is one of four that began before it.
    for (let attempt = 0; attempt < 2; attempt++) await pass(2 * MINUTE_MS)
    expect(endpoint.calls).toBe(8)
    expect((await runsOf(id))[0]!.waiting_for).toContain('it failed 5 times in a row')
  })
})

describe('no breaker opens', () => {
  it('for what the owner must mend', async () => {
    await create()
    endpoint.status = 401
    for (let hour = 0; hour < 6; hour++) await nextHour()
    expect(endpoint.calls).toBe(6)
    const { count } = await app.db.only<{ count: number }>(
      sql`SELECT count(*)::int AS count FROM batch_export_breaker`,
    )
    expect(count).toBe(0)
  })

  it('for another tenant with the same address', async () => {
    const theirs = await createOrganization(app)
    const [id, other] = [await create(), await create(theirs)]
    endpoint.status = 503
    await nextHour()
    await failUntil(5)
    endpoint.status = 200
    await capture(theirs)
    await pass(25 * SECOND_MS)
    expect((await runsOf(id))[0]!.status).toBe('Running')
    await nextHour(theirs)
    expect((await runsOf(other, theirs))[0]).toMatchObject({ status: 'Completed' })
  })

  it('for an address that was mended meanwhile', async () => {
    const key = workspace.owner.key
    const id = await create()
    endpoint.status = 503
    await nextHour()
    await failUntil(5)
    endpoint.status = 200
    const path = `${baseOf(workspace)}${id}/`
    const backfill = async () => {
      await capture(workspace, new Date(app.services.now().getTime() - HOUR_MS).toISOString())
      const [start_at, end_at] = [2 * HOUR_MS, 0].map((ago) =>
        new Date(app.services.now().getTime() - ago).toISOString(),
      )
      await app.post(`${path}backfill/`, { start_at, end_at }, { key })
      await pass(0)
    }
    await backfill()
    expect(endpoint.calls).toBe(5)
    const config = { url: `${endpoint.url}elsewhere`, token: 'another' }
    expect((await app.patch(path, { destination: { config } }, { key })).status).toBe(200)
    await pass(0)
    expect(endpoint.calls).toBe(6)
  })
})
