// Rounds of ingestion for many projects, each ended by kill -9 or by a power cut: after each one every acknowledged event
// must be there, once, with its person.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { sql } from '../../../src/platform/db/sql.ts'
import { openDuckDb } from '../../../src/platform/event-store/duckdb/open.ts'
import type { EventStore } from '../../../src/platform/event-store/event-store.ts'
import { connectionOf, type Program, type Running } from '../../../test/end-to-end/program.ts'
import { ask, call, KEY } from '../first-project.ts'
import { Random } from '../random.ts'
import { Power } from './power/cut.ts'
import { Sender } from './sender.ts'

export type EventRound = {
  round: number
  after_ms: number
  start_ms: number
  is_power_cut: boolean
  acknowledged: number
  again: number
  /** In the projects that got some this time. */
  events: number
  faults: string[]
}

export type EventCrashOptions = {
  program: Program
  rounds: number
  projects: number
  seed: number
  onRound?(round: EventRound): void
}

/** So many projects get events at the same time. */
const AT_ONCE = 12
const PAGE = 20_000

type Fault = (text: string) => void
type Client = { project_id: number; sender: Sender }

export async function runEventCrashes(options: EventCrashOptions): Promise<EventRound[]> {
  const { program, rounds, projects, seed, onRound } = options
  const random = new Random(seed)
  const plan = random.fork()
  const data_dir = program.newDataDir()
  const power = new Power(join(data_dir, 'events'), `${data_dir}-power`)
  const env = {
    ...power.env,
    DATA_DIR: data_dir,
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'error',
    BOOTSTRAP_API_KEY: KEY,
  }
  let faults: string[] = []
  const fault: Fault = (text) => void faults.push(text)
  let server: Running = program.serve(env)
  let url = await server.url
  const clients = (await makeProjects(url, data_dir, projects)).map(({ id, api_token }): Client => {
    return { project_id: id, sender: new Sender(`sender-${id}`, api_token, random.fork(), fault) }
  })
  const done: EventRound[] = []
  for (let round = 1; round <= rounds; round++) {
    faults = []
    const some = pickSome(clients, plan)
    for (const { sender } of clients) sender.url = url
    const after_ms = 50 + plan.below(1200)
    const is_power_cut = plan.chance(50)
    const stop = new AbortController()
    const load = Promise.all(some.map(({ sender }) => sender.work(stop.signal)))
    await sleep(after_ms)
    server.kill('SIGKILL')
    await server.ended
    stop.abort()
    await load
    if (is_power_cut) power.cut(plan)
    const began = Date.now()
    server = program.serve(env)
    url = await server.url
    const start_ms = Date.now() - began
    for (const { sender } of clients) sender.url = url
    await checkAll(url, some, false, fault)
    const again = sum(await Promise.all(some.map(({ sender }) => sender.retry())))
    const events = await checkAll(url, some, true, fault)
    if (round === rounds) {
      await checkAll(url, clients, true, fault)
      await stopInOrder(server, data_dir, clients, fault)
    }
    const acknowledged = sum(clients.map(({ sender }) => sender.batches.length))
    done.push({ round, after_ms, start_ms, is_power_cut, acknowledged, again, events, faults })
    onRound?.(done.at(-1)!)
  }
  return done
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

function pickSome(clients: readonly Client[], plan: Random): Client[] {
  return [...new Set(Array.from({ length: AT_ONCE }, () => plan.pick(clients)))]
}

async function makeProjects(url: string, data_dir: string, count: number) {
  for (let made = 1; made < count; made++)
    await call(url, 'POST', '/api/organizations/@current/projects/', { name: `Project ${made}` })
  const db = openDatabase({ ...connectionOf(data_dir), max: 1 })
  const projects = await db.rows<{ id: number; api_token: string }>(
    sql`SELECT id, api_token FROM project ORDER BY id`,
  )
  await db.close()
  return projects
}

/** Gives how many events there are. */
async function checkAll(
  url: string,
  clients: readonly Client[],
  isSettled: boolean,
  fault: Fault,
): Promise<number> {
  let events = 0
  for (const client of clients) events += await check(url, client, isSettled, fault)
  return events
}

/** Before the retries what was not acknowledged may be there or not; after them everything is there. */
async function check(
  url: string,
  { project_id, sender: { batches } }: Client,
  isSettled: boolean,
  fault: Fault,
): Promise<number> {
  const stored = await storedEvents(url, project_id)
  const sent = new Set(batches.flatMap(({ uuids }) => uuids))
  const promised = batches
    .filter(({ is_acknowledged }) => isSettled || is_acknowledged)
    .flatMap(({ uuids }) => uuids)
  const missing = promised.filter((uuid) => !stored.has(uuid))
  if (missing.length > 0)
    fault(`${missing.length} acknowledged events of ${project_id} are missing, ${missing[0]} among them`)
  for (const [uuid, { count, has_person }] of stored) {
    if (count !== 1) fault(`${uuid} is there ${count} times`)
    if (!sent.has(uuid)) fault(`${uuid} was never sent`)
    if (isSettled && !has_person) fault(`${uuid} has no person`)
  }
  for (const { uuids } of batches) {
    const there = uuids.filter((uuid) => stored.has(uuid)).length
    if (there !== 0 && there !== uuids.length)
      fault(`a batch of ${uuids.length} is there with ${there} events`)
  }
  return stored.size
}

type Stored = Map<string, { count: number; has_person: boolean }>

async function storedEvents(url: string, project_id: number): Promise<Stored> {
  const stored: Stored = new Map()
  for (let offset = 0; ; offset += PAGE) {
    const query = `select uuid, count(), min(person.created_at) is not null from events group by uuid order by uuid limit ${PAGE} offset ${offset}`
    const rows = await ask(url, query, project_id)
    for (const [uuid, count, has_person] of rows)
      stored.set(String(uuid), { count: Number(count), has_person: Boolean(has_person) })
    if (rows.length < PAGE) return stored
  }
}

/** With the server away the store itself shows that positions have no gap and arrival never runs backwards. */
async function stopInOrder(
  server: Running,
  data_dir: string,
  clients: readonly Client[],
  fault: Fault,
): Promise<void> {
  server.kill('SIGTERM')
  const { code, stderr } = await server.ended
  if (code !== 0) fault(`the ordered stop at the end gave exit code ${code}: ${stderr}`)
  const store = await openDuckDb({
    folder: join(data_dir, 'events'),
    memory_mb: 256,
    query_timeout_ms: 60_000,
  })
  for (const client of clients) await checkPositions(store, client, fault)
  await store.close()
}

async function checkPositions(
  store: EventStore,
  { project_id, sender }: Client,
  fault: Fault,
): Promise<void> {
  const events = sum(sender.batches.map(({ uuids }) => uuids.length))
  if (events === 0) return
  const sql = `
    SELECT count(*), min(seq), max(seq), count(DISTINCT seq), bool_and(is_in_order)
    FROM (SELECT seq, inserted_at >= lag(inserted_at, 1, inserted_at) OVER (ORDER BY seq) AS is_in_order
          FROM ev_${project_id})`
  const answer = await store.query({ project_id, sql, parameters: [], timezone: 'UTC', max_rows: 1 })
  const expected = [events, 1, events, events, true]
  if (String(answer.rows[0]) !== String(expected))
    fault(`positions of ${project_id}: ${String(answer.rows[0])} instead of ${String(expected)}`)
}
