// Taking events in and listing them, beside what DuckDB alone needs for the same, on millions of events.
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bareInsert, bareQuery, type Cost } from './bare.ts'
import { fill } from './fill.ts'
import { MeasuredServer } from './measured-server.ts'
import { freshEvents, PER_REQUEST, requestsOf } from './requests.ts'

const MILLIONS = Number(process.env.BENCH_MILLIONS ?? 5)
const CAPTURED = Number(process.env.BENCH_CAPTURED ?? 120_000)
const LISTINGS = 60
/** Rows per commit when nobody waits for it: the best DuckDB can do. */
const BULK = 2000
const FILTER = encodeURIComponent(JSON.stringify([{ key: '$browser', value: 'Firefox' }]))
const LISTING = `/api/projects/@current/events/?event=%24pageview&limit=100&properties=${FILTER}`

type Loaded = {
  rest_mb: number
  busy_mb: number
  capture: Cost
  loop_p99_ms: number
  capture_p99_ms: number
  listing: Cost
  listing_query: NonNullable<Awaited<ReturnType<MeasuredServer['report']>>['last_query']>
}

export async function benchEvents(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'longshore-bench-events-'))
  try {
    const { project_id } = await firstStart(folder)
    await fill(folder, project_id, 1_000_000, 1)
    const small = await load(folder, 1)
    const extra = Math.round((MILLIONS - 1) * 1_000_000)
    if (extra > 0) await fill(folder, project_id, extra, 2)
    const bytes = await storeSize(folder)
    const bare = await bareInsert(folder, project_id, freshEvents(CAPTURED, 3), PER_REQUEST)
    const bulk = await bareInsert(folder, project_id, freshEvents(CAPTURED, 5), BULK)
    const large = await load(folder, 4)
    const bareListing = await bareQuery(folder, large.listing_query, LISTINGS)
    return print({ small, large, bare, bulk, bareListing, bytes })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function firstStart(folder: string): Promise<{ project_id: number }> {
  const server = await MeasuredServer.start(folder)
  await server.stop()
  return server.ready
}

/** One server from start to stop: at rest, taking events in, listing. Every answer is checked. */
async function load(folder: string, seed: number): Promise<Loaded> {
  const server = await MeasuredServer.start(folder)
  await sleep(3000)
  const rest_mb = (await server.report()).memory_mb
  const before = Number((await server.query('select count() from events'))[0]![0])
  const bodies = requestsOf(freshEvents(CAPTURED, seed), server.ready.token)
  await server.capture(bodies.slice(0, bodies.length / 6))
  const timed = bodies.slice(bodies.length / 6)
  const start = await server.report()
  const { seconds, latencies_ms } = await server.capture(timed)
  const end = await server.report()
  const after = Number((await server.query('select count() from events'))[0]![0])
  if (after - before !== CAPTURED)
    throw new Error(`${CAPTURED} events were acknowledged, ${after - before} are there`)
  for (let warm = 0; warm < 5; warm++) await server.get(LISTING)
  const listingStart = await server.report()
  const wall = performance.now()
  for (let count = 0; count < LISTINGS; count++) assertListed(await server.get(LISTING))
  const listingEnd = await server.report()
  const listing_wall_us = ((performance.now() - wall) * 1000) / LISTINGS
  await server.stop()
  const count = timed.length * PER_REQUEST
  latencies_ms.sort((a, b) => a - b)
  return {
    rest_mb,
    busy_mb: Math.max(end.memory_mb, listingEnd.memory_mb),
    capture: { cpu_us: (end.cpu_us - start.cpu_us) / count, wall_us: (seconds * 1e6) / count },
    loop_p99_ms: end.loop_p99_ms,
    capture_p99_ms: latencies_ms[Math.floor(latencies_ms.length * 0.99)]!,
    listing: { cpu_us: (listingEnd.cpu_us - listingStart.cpu_us) / LISTINGS, wall_us: listing_wall_us },
    listing_query: listingEnd.last_query!,
  }
}

function assertListed({ results }: Record<string, unknown>): void {
  const events = results as { event: string; timestamp: string; properties: Record<string, unknown> }[]
  const isRight = events.every(
    ({ event, properties }) => event === '$pageview' && properties.$browser === 'Firefox',
  )
  const isOrdered = events.every(
    ({ timestamp }, index) => index === 0 || timestamp <= events[index - 1]!.timestamp,
  )
  if (events.length !== 100 || !isRight || !isOrdered) throw new Error('a listing is wrong')
}

/** Size of the event store: its files and its journal. */
async function storeSize(folder: string): Promise<number> {
  const entries = await readdir(join(folder, 'events'), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

type Figures = {
  small: Loaded
  large: Loaded
  bare: Cost
  bulk: Cost
  bareListing: Cost
  bytes: number
}

function print({ small, large, bare, bulk, bareListing, bytes }: Figures): boolean {
  const perSecond = ({ wall_us }: Cost) => Math.round(1e6 / wall_us)
  const goal = (isMet: boolean) => (isMet ? 'met' : 'NOT met')
  const speedRatio = bare.wall_us / large.capture.wall_us
  const bulkRatio = bulk.wall_us / large.capture.wall_us
  const listingRatio = large.listing.cpu_us / bareListing.cpu_us
  const growth = large.busy_mb / small.busy_mb
  const lines = [
    `${MILLIONS} million events, ${CAPTURED} captured over HTTP in requests of ${PER_REQUEST}; every count and listing was checked`,
    '',
    `capture    ${perSecond(large.capture)} events/s, ${large.capture.cpu_us.toFixed(0)} µs CPU each with PostgreSQL`,
    `           bare appender, ${PER_REQUEST} rows to a commit: ${perSecond(bare)}/s, ${bare.cpu_us.toFixed(0)} µs; ${BULK} to a commit: ${perSecond(bulk)}/s, ${bulk.cpu_us.toFixed(0)} µs`,
    `           speed ${speedRatio.toFixed(2)} of bare with the same batches; goal: at least 0.5: ${goal(speedRatio >= 0.5)}; ${bulkRatio.toFixed(2)} of bare with batches of ${BULK}`,
    `           p99 of a request ${large.capture_p99_ms.toFixed(0)} ms; event loop late by ${large.loop_p99_ms.toFixed(1)} ms at p99; goal: below 50: ${goal(large.loop_p99_ms < 50)}`,
    `listing    newest 100 by event and property: ${(large.listing.cpu_us / 1000).toFixed(1)} ms CPU; the same SQL bare ${(bareListing.cpu_us / 1000).toFixed(1)} ms`,
    `           ratio ${listingRatio.toFixed(2)}; goal: at most 2: ${goal(listingRatio <= 2)}`,
    `store      ${(bytes / 1e6 / MILLIONS).toFixed(0)} MB per million events`,
    `memory     at rest ${small.rest_mb.toFixed(0)} MB with 1 million events, ${large.rest_mb.toFixed(0)} MB with ${MILLIONS}; after the load ${small.busy_mb.toFixed(0)} and ${large.busy_mb.toFixed(0)} MB`,
    `           ratio ${growth.toFixed(2)}; goal: does not grow (at most 1.15): ${goal(growth <= 1.15)}`,
  ]
  console.log(lines.join('\n'))
  return speedRatio >= 0.5 && large.loop_p99_ms < 50 && listingRatio <= 2 && growth <= 1.15
}
