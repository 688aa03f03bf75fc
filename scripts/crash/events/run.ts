// Rounds of ingestion under kill -9: after each one every acknowledged event must be there, once, with its person.
import { DuckDBInstance } from '@duckdb/node-api'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Program, Running } from '../../../test/end-to-end/program.ts'
import { Random } from '../random.ts'
import { ask, firstToken, KEY } from '../first-project.ts'
import { Sender } from './sender.ts'

export type EventRound = {
  round: number
  after_ms: number
  start_ms: number
  acknowledged: number
  again: number
  events: number
  faults: string[]
}

export type EventCrashOptions = {
  program: Program
  rounds: number
  seed: number
  onRound?(round: EventRound): void
}

const SENDERS = 6
const PAGE = 20_000

export async function runEventCrashes({
  program,
  rounds,
  seed,
  onRound,
}: EventCrashOptions): Promise<EventRound[]> {
  const random = new Random(seed)
  const plan = random.fork()
  const env = {
    DATA_DIR: program.newDataDir(),
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'error',
    BOOTSTRAP_API_KEY: KEY,
  }
  let faults: string[] = []
  const fault = (text: string) => void faults.push(text)
  let server: Running = program.serve(env)
  let url = await server.url
  const token = await firstToken(env.DATA_DIR)
  const senders = Array.from(
    { length: SENDERS },
    (_, index) => new Sender(`sender-${index}`, token, random.fork(), fault),
  )
  const done: EventRound[] = []
  for (let round = 1; round <= rounds; round++) {
    faults = []
    for (const sender of senders) sender.url = url
    const after_ms = 50 + plan.below(1200)
    const stop = new AbortController()
    const load = Promise.all(senders.map((sender) => sender.work(stop.signal)))
    await sleep(after_ms)
    server.kill('SIGKILL')
    await server.ended
    stop.abort()
    await load
    const began = Date.now()
    server = program.serve(env)
    url = await server.url
    const start_ms = Date.now() - began
    for (const sender of senders) sender.url = url
    await check(url, senders, false, fault)
    const again = (await Promise.all(senders.map((sender) => sender.retry()))).reduce(
      (sum, count) => sum + count,
      0,
    )
    const events = await check(url, senders, true, fault)
    const acknowledged = senders.flatMap(({ batches }) => batches).length
    done.push({ round, after_ms, start_ms, acknowledged, again, events, faults })
    if (round === rounds) await stopInOrder(server, env.DATA_DIR, events, fault)
    onRound?.(done.at(-1)!)
  }
  return done
}

/** Before the retries what was not acknowledged may be there or not; after them everything is there. */
async function check(
  url: string,
  senders: readonly Sender[],
  isSettled: boolean,
  fault: (text: string) => void,
): Promise<number> {
  const stored = await storedEvents(url)
  const batches = senders.flatMap((sender) => sender.batches)
  const sent = new Set(batches.flatMap(({ uuids }) => uuids))
  const promised = batches
    .filter(({ is_acknowledged }) => isSettled || is_acknowledged)
    .flatMap(({ uuids }) => uuids)
  const missing = promised.filter((uuid) => !stored.has(uuid))
  if (missing.length > 0) fault(`${missing.length} acknowledged events are missing, ${missing[0]} among them`)
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

async function storedEvents(url: string): Promise<Stored> {
  const stored: Stored = new Map()
  for (let offset = 0; ; offset += PAGE) {
    const query = `select uuid, count(), min(person.created_at) is not null from events group by uuid order by uuid limit ${PAGE} offset ${offset}`
    const rows = await ask(url, query)
    for (const [uuid, count, has_person] of rows)
      stored.set(String(uuid), { count: Number(count), has_person: Boolean(has_person) })
    if (rows.length < PAGE) return stored
  }
}

/** With the server away the file itself shows that positions have no gap and arrival never runs backwards. */
async function stopInOrder(
  server: Running,
  dataDir: string,
  events: number,
  fault: (text: string) => void,
): Promise<void> {
  server.kill('SIGTERM')
  const { code, stderr } = await server.ended
  if (code !== 0) fault(`the ordered stop at the end gave exit code ${code}: ${stderr}`)
  const instance = await DuckDBInstance.create(join(dataDir, 'events/events.duckdb'), {
    access_mode: 'READ_ONLY',
  })
  const connection = await instance.connect()
  const rows = await connection.run(`
    SELECT count(*), min(seq), max(seq), count(DISTINCT seq), bool_and(is_in_order)
    FROM (SELECT seq, inserted_at >= lag(inserted_at, 1, inserted_at) OVER (ORDER BY seq) AS is_in_order FROM ev_1)`)
  const [row] = await rows.getRows()
  const expected = [BigInt(events), 1n, BigInt(events), BigInt(events), true]
  if (String(row) !== String(expected)) fault(`positions: ${String(row)} instead of ${String(expected)}`)
  connection.closeSync()
  instance.closeSync()
}
