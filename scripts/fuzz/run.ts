// Sends generated requests and holds every answer against the document. Called by main.ts and by test/fuzz.test.ts.
import fc from 'fast-check'
import { sql } from '../../src/platform/db/sql.ts'
import { openOutbound, type Outbound } from '../../src/platform/outbound/outbound.ts'
import type { FuzzApp } from './app.ts'
import { captureOperations } from './capture.ts'
import { checkAnswer } from './check.ts'
import { operations } from './operations.ts'
import { requests, type FuzzRequest } from './requests.ts'
import { learn, makeWorld, type World } from './world.ts'
import { inject } from '../../test/harness/inject.ts'

export type Tally = {
  requests: number
  by_status: Map<number, number>
  /** Successes of each operation: none at all would mean that the fuzz never got past the door. */
  by_operation: Map<string, number>
  slowest: { ms: number; name: string }
}

export type FuzzOptions = {
  seed: number
  count: number
  /** Names of the operations to ask for, such as `POST /batch`; all unless told. */
  only?: RegExp
  onProgress?(tally: Tally): void
  /** Given: the run goes on after a failure. */
  onFailure?(failure: Failure): void
}

/** Some requests at a time, so that they also meet in the database. */
const AT_ONCE = 4
/** Public, so that it is saved, and given back by those who had it, so that nobody is called. */
const NOWHERE = '3ffe::1'
const BATCH = 250
// The fuzz deletes organizations, closes sessions and deactivates people: after so many requests it gets new ones.
const WORLD_LASTS = 2_000
const TOO_SLOW_MS = 10_000
// No query is kept, so none is ever found: that answer is the one to reach.
const ALWAYS_404 = /\/query\/\{id\}\/$/

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
export async function fuzz(app: FuzzApp, options: FuzzOptions): Promise<Tally> {
  const { seed, count, only = /./, onProgress } = options
  const tally: Tally = {
    requests: 0,
    by_status: new Map(),
    by_operation: new Map(
      [...operations.map(({ name }) => name), ...captureOperations]
        .filter((name) => only.test(name))
        .map((name) => [name, 0]),
    ),
    slowest: { ms: 0, name: '' },
  }
  // Destinations are named and tested, but nobody is called: no name resolves.
  app.services.outbound = silentOutbound()
  let world = await makeWorld(app)
  for (let sent = 0; sent < count; sent += BATCH) {
    if (sent > 0 && (sent % WORLD_LASTS === 0 || !(await isHomeLeft(app, world))))
      world = await makeWorld(app)
    const batch = fc.sample(requests(world, only), {
      seed: seed + sent,
      numRuns: Math.min(BATCH, count - sent),
    })
    await Promise.all(
      Array.from({ length: AT_ONCE }, (_, lane) =>
        sendEach(
          app,
          world,
          batch.filter((__, at) => at % AT_ONCE === lane),
          tally,
          options.onFailure,
        ),
      ),
    )
    await assertOwnersLeft(app)
    onProgress?.(tally)
  }
  return tally
}

async function sendEach(
  app: FuzzApp,
  world: World,
  batch: FuzzRequest[],
  tally: Tally,
  onFailure: FuzzOptions['onFailure'],
): Promise<void> {
  for (const request of batch) {
    try {
      await sendOne(app, world, request, tally)
    } catch (error) {
      if (!onFailure || !(error instanceof Failure)) throw error
      onFailure(error)
    }
  }
}

async function sendOne(app: FuzzApp, world: World, request: FuzzRequest, tally: Tally): Promise<void> {
  const { method, url, headers, payload, operation } = request
  const began = performance.now()
  const response = await inject(app.http, {
    method: method as 'GET',
    url,
    headers,
    ...(payload === undefined ? {} : { payload }),
  })
  const ms = performance.now() - began
  const status = response.statusCode
  try {
    const body = checkAnswer(request, response)
    app.canary.assertAbsent(response.body, 'the answer')
    if (ms > TOO_SLOW_MS) throw new Error(`${method} ${url} took ${Math.round(ms)} ms`)
    const session = /^sessionid=([^;]+)/.exec(String(response.headers['set-cookie'] ?? ''))?.[1]
    learn(world, world[request.side], url, status, body, session)
  } catch (error) {
    throw new Failure((error as Error).message, request)
  }
  tally.requests++
  tally.by_status.set(status, (tally.by_status.get(status) ?? 0) + 1)
  const isReached = status < 400 || (status === 404 && ALWAYS_404.test(operation))
  if (isReached && operation.startsWith(`${method} `))
    tally.by_operation.set(operation, tally.by_operation.get(operation)! + 1)
  if (ms > tally.slowest.ms) tally.slowest = { ms, name: operation }
}

/** Without its project there are no events to ask for, without its token none can be sent; its export has the runs. */
async function isHomeLeft(app: FuzzApp, { home }: World): Promise<boolean> {
  const [id, token] = [Number(home.ids.project[0]), home.tokens[0]!]
  const found = await app.db.rows(sql`
    SELECT project.id FROM project JOIN batch_export ON batch_export.project_id = project.id
    WHERE project.id = ${id} AND api_token = ${token} AND batch_export.id = ${home.ids.batch_export[0]!}
      AND deleted_at IS NULL`)
  return found.length > 0
}

/** Whatever happens, nobody can leave an organization without an owner. */
async function assertOwnersLeft(app: FuzzApp): Promise<void> {
  const orphans = await app.db.rows(sql`
    SELECT id FROM organization WHERE NOT EXISTS (SELECT FROM membership WHERE organization_id = organization.id AND level = 15)`)
  if (orphans.length > 0) throw new Error(`organizations without an owner: ${JSON.stringify(orphans)}`)
}

/** Names resolve where a host is saved. Clients that try again and again find that they do not, and fail at once. */
function silentOutbound(): Outbound {
  const named = openOutbound({ allow: [], lookup: async (name) => addressesOf(name) })
  const closed = openOutbound({ allow: [], lookup: async () => [] })
  return { ...closed, checkedAddress: (host) => named.checkedAddress(host) }
}

/** Snowflake's driver asks the real DNS once it is let through, so its names do not resolve. */
function addressesOf(name: string): { address: string }[] {
  return /\.snowflakecomputing\./.test(name) ? [] : [{ address: NOWHERE }]
}
