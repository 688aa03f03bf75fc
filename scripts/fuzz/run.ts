// Sends generated requests and holds every answer against the document. Called by main.ts and by test/fuzz.test.ts.
import fc from 'fast-check'
import { sql } from '../../src/platform/db/sql.ts'
import { assertMatchesDocument } from '../../test/harness/contract.ts'
import type { FuzzApp } from './app.ts'
import { operations } from './operations.ts'
import { requests, type FuzzRequest } from './requests.ts'
import { learn, makeWorld, type World } from './world.ts'

export type Tally = {
  requests: number
  by_status: Map<number, number>
  /** Successes of each operation: none at all would mean that the fuzz never got past the door. */
  by_operation: Map<string, number>
  slowest: { ms: number; name: string }
}

export type FuzzOptions = { seed: number; count: number; onProgress?(tally: Tally): void }

/** Some requests at a time, so that they also meet in the database. */
const AT_ONCE = 4
const BATCH = 500
// The fuzz deletes organizations, closes sessions and deactivates people: after so many requests it gets new ones.
const WORLD_LASTS = 2_000
const TOO_SLOW_MS = 10_000

/** An answer that should not be, with the request that caused it. */
export class Failure extends Error {
  readonly request: string
  constructor(message: string, { payload, ...rest }: FuzzRequest) {
    super(message)
    const body = Buffer.isBuffer(payload) ? { payload_base64: payload.toString('base64') } : { payload }
    this.request = JSON.stringify({ ...rest, ...body }, null, 2).slice(0, 20_000)
  }
}

/** The same seed gives the same requests, apart from ids, names and keys, which are made up by the application. */
export async function fuzz(app: FuzzApp, { seed, count, onProgress }: FuzzOptions): Promise<Tally> {
  const tally: Tally = {
    requests: 0,
    by_status: new Map(),
    by_operation: new Map(operations.map(({ name }) => [name, 0])),
    slowest: { ms: 0, name: '' },
  }
  let world = await makeWorld(app)
  for (let sent = 0; sent < count; sent += BATCH) {
    if (sent > 0 && sent % WORLD_LASTS === 0) world = await makeWorld(app)
    const batch = fc.sample(requests(world), { seed: seed + sent, numRuns: Math.min(BATCH, count - sent) })
    await Promise.all(
      Array.from({ length: AT_ONCE }, (_, lane) =>
        sendEach(
          app,
          world,
          batch.filter((__, at) => at % AT_ONCE === lane),
          tally,
        ),
      ),
    )
    await assertOwnersLeft(app)
    onProgress?.(tally)
  }
  return tally
}

async function sendEach(app: FuzzApp, world: World, batch: FuzzRequest[], tally: Tally): Promise<void> {
  for (const request of batch) await sendOne(app, world, request, tally)
}

async function sendOne(app: FuzzApp, world: World, request: FuzzRequest, tally: Tally): Promise<void> {
  const { method, url, headers, payload, operation } = request
  const began = performance.now()
  const response = await app.http.inject({
    method: method as 'GET',
    url,
    headers,
    ...(payload === undefined ? {} : { payload }),
  })
  const ms = performance.now() - began
  const status = response.statusCode
  try {
    if (status >= 500) throw new Error(`${method} ${url} answered ${status}: ${response.body}`)
    const body: unknown = response.body === '' || method === 'HEAD' ? null : JSON.parse(response.body)
    // `inject` resolves `..` in a path, as browsers do; what counts is where the request went.
    const { pathname, search } = new URL(`http://longshore.test${url}`)
    assertMatchesDocument(method, pathname + search, status, body)
    assertHeaders(status, body, response.headers)
    app.canary.assertAbsent(response.body, 'the answer')
    if (ms > TOO_SLOW_MS) throw new Error(`${method} ${url} took ${Math.round(ms)} ms`)
    const session = /^sessionid=([^;]+)/.exec(String(response.headers['set-cookie'] ?? ''))?.[1]
    learn(world, world[request.side], url, status, body, session)
  } catch (error) {
    throw new Failure((error as Error).message, request)
  }
  tally.requests++
  tally.by_status.set(status, (tally.by_status.get(status) ?? 0) + 1)
  if (status < 400 && operation.startsWith(`${method} `))
    tally.by_operation.set(operation, tally.by_operation.get(operation)! + 1)
  if (ms > tally.slowest.ms) tally.slowest = { ms, name: operation }
}

function assertHeaders(status: number, body: unknown, headers: Record<string, unknown>): void {
  // After the right password the second factor is asked for: no header names a scheme for that.
  const isHalfWay = (body as { code?: unknown } | null)?.code === '2fa_required'
  const demanded = isHalfWay
    ? undefined
    : { 401: 'www-authenticate', 405: 'allow', 429: 'retry-after' }[status]
  for (const name of ['x-request-id', 'x-content-type-options', ...(demanded ? [demanded] : [])]) {
    if (headers[name] === undefined) throw new Error(`the answer of ${status} has no header ${name}`)
  }
}

/** Whatever happens, nobody can leave an organization without an owner. */
async function assertOwnersLeft(app: FuzzApp): Promise<void> {
  const orphans = await app.db.rows(sql`
    SELECT id FROM organization WHERE NOT EXISTS (SELECT FROM membership WHERE organization_id = organization.id AND level = 15)`)
  if (orphans.length > 0) throw new Error(`organizations without an owner: ${JSON.stringify(orphans)}`)
}
