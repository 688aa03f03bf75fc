// Rounds of kill -9 while events go out through a webhook: in the end every stored event has arrived, repeats under the
// same id, and nothing was tried again too soon.
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { sql } from '../../../src/platform/db/sql.ts'
import { connectionOf, type Program, type Running } from '../../../test/end-to-end/program.ts'
import type { WebhookStandIn } from '../../../test/stand-ins/webhook-server.ts'
import { Sender } from '../events/sender.ts'
import { ask, call, firstToken, KEY } from '../first-project.ts'
import { Random } from '../random.ts'
import { checkDeliveries, isTaken, type Account } from './check.ts'
import { startReceiver } from './receiver.ts'

export type PluginRound = { round: number; after_ms: number; start_ms: number; requests: number }
export type PluginProof = Account & { rounds: PluginRound[]; events: number; requests: number }

export type PluginCrashOptions = {
  program: Program
  rounds: number
  seed: number
  onRound?(round: PluginRound): void
}

const SENDERS = 2
const PAUSE_MS = 150
/** In percent: rounds in which deliveries are under way before the axe falls. */
const AT_WORK = 80
const LONGEST_MS = 2_000
const LOOK_MS = 100
/** A killed third try comes again after 40 s. */
const SETTLE_LIMIT_MS = 120_000
const PAGE = 20_000

const CODE = `
  export function composeWebhook(event, { config }) {
    return { url: config.url, body: { uuid: event.uuid, event: event.event, properties: event.properties } }
  }`

export async function runPluginCrashes(options: PluginCrashOptions): Promise<PluginProof> {
  const random = new Random(options.seed)
  const receiver = await startReceiver(random.fork())
  try {
    return await crash(options, random, receiver)
  } finally {
    await receiver.close()
  }
}

async function crash(
  { program, rounds, onRound }: PluginCrashOptions,
  random: Random,
  receiver: WebhookStandIn,
): Promise<PluginProof> {
  const plan = random.fork()
  const env = {
    DATA_DIR: program.newDataDir(),
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'error',
    BOOTSTRAP_API_KEY: KEY,
    OUTBOUND_ALLOW: '127.0.0.1',
  }
  const faults: string[] = []
  const kills: number[] = []
  const done: PluginRound[] = []
  let server: Running = program.serve(env)
  let url = await server.url
  await addDestination(url, env.DATA_DIR, receiver.url)
  const token = await firstToken(env.DATA_DIR)
  const senders = Array.from(
    { length: SENDERS },
    (_, index) => new Sender(`sender-${index}`, token, random.fork(), (text) => void faults.push(text)),
  )
  for (let round = 1; round <= rounds; round++) {
    for (const sender of senders) sender.url = url
    const ready_at = Date.now()
    const stop = new AbortController()
    const load = Promise.all(senders.map((sender) => sender.work(stop.signal, PAUSE_MS)))
    if (plan.chance(AT_WORK)) await nextRequest(receiver)
    await sleep(plan.below(LONGEST_MS))
    kills.push(Date.now())
    server.kill('SIGKILL')
    await server.ended
    stop.abort()
    await load
    const began = Date.now()
    server = program.serve(env)
    url = await server.url
    const after_ms = kills.at(-1)! - ready_at
    done.push({ round, after_ms, start_ms: Date.now() - began, requests: receiver.requests.length })
    onRound?.(done.at(-1)!)
  }
  for (const sender of senders) {
    sender.url = url
    await sender.retry()
  }
  const stored = await storedIds(url)
  await settle(env.DATA_DIR, stored, receiver)
  server.kill('SIGTERM')
  const { code, stderr } = await server.ended
  if (code !== 0) faults.push(`the ordered stop at the end gave exit code ${code}: ${stderr}`)
  const account = checkDeliveries(stored, receiver.requests, kills)
  return {
    ...account,
    faults: [...faults, ...account.faults],
    rounds: done,
    events: stored.size,
    requests: receiver.requests.length,
  }
}

async function nextRequest({ requests }: WebhookStandIn): Promise<void> {
  const before = requests.length
  const limit = Date.now() + SETTLE_LIMIT_MS
  while (requests.length === before && Date.now() < limit) await sleep(LOOK_MS)
}

/** An app from source with a config, and what is stored from now on is for it. */
async function addDestination(url: string, dataDir: string, receiver_url: string): Promise<void> {
  const plugins = '/api/organizations/@current/plugins/'
  const { id } = await call(url, 'POST', plugins, { name: 'Webhook', plugin_type: 'source' })
  await call(url, 'PATCH', `${plugins}${String(id)}/update_source/`, { 'index.ts': CODE })
  const config = { plugin: id, enabled: true, config: { url: receiver_url } }
  await call(url, 'POST', '/api/projects/@current/plugin_configs/', config)
  await until(dataDir, async (db) => (await db.rows(sql`SELECT FROM plugin_delivery`)).length > 0)
}

/** Until everything has arrived and nothing is to be tried again; what is missing then is a fault. */
async function settle(
  dataDir: string,
  stored: ReadonlySet<string>,
  { requests }: WebhookStandIn,
): Promise<void> {
  await until(dataDir, async (db) => {
    const taken = new Set(requests.filter(isTaken).map(({ event_id }) => event_id))
    const isThere = [...stored].every((uuid) => taken.has(uuid))
    return isThere && (await db.rows(sql`SELECT FROM plugin_delivery_retry LIMIT 1`)).length === 0
  })
}

async function until(
  dataDir: string,
  isSo: (db: ReturnType<typeof openDatabase>) => Promise<boolean>,
): Promise<void> {
  const db = openDatabase({ ...connectionOf(dataDir), max: 1 })
  const limit = Date.now() + SETTLE_LIMIT_MS
  while (!(await isSo(db)) && Date.now() < limit) await sleep(LOOK_MS)
  await db.close()
}

async function storedIds(url: string): Promise<Set<string>> {
  const ids = new Set<string>()
  for (let offset = 0; ; offset += PAGE) {
    const rows = await ask(url, `select uuid from events order by uuid limit ${PAGE} offset ${offset}`)
    for (const [uuid] of rows) ids.add(String(uuid))
    if (rows.length < PAGE) return ids
  }
}
