// Rounds of ending the server while events come in, and what must be stored in the end.
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { sql } from '../../../src/platform/db/sql.ts'
import { connectionOf, type Program, type Running } from '../../../test/end-to-end/program.ts'
import { call, KEY } from '../../crash/first-project.ts'
import { Random } from '../../crash/random.ts'
import { makeProject } from './apps.ts'
import { checkProject, type StoredRow } from './check.ts'
import { GuardedSender } from './sender.ts'

export type RestartRound = {
  round: number
  signal: 'SIGKILL' | 'SIGTERM'
  after_ms: number
  start_ms: number
  held: number
  acknowledged: number
}
export type RestartProof = { faults: string[]; sent: number; stored: number; held: number; dropped: number }

export type RestartOptions = {
  program: Program
  rounds: number
  seed: number
  onRound?(round: RestartRound): void
}

const SENDERS = 2
const LONGEST_MS = 3_000
const LOOK_MS = 250
const SETTLE_LIMIT_MS = 300_000
const PAGE = 20_000

export async function runRestarts({ program, rounds, seed, onRound }: RestartOptions): Promise<RestartProof> {
  const random = new Random(seed)
  const plan = random.fork()
  const env = {
    DATA_DIR: program.newDataDir(),
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'error',
    BOOTSTRAP_API_KEY: KEY,
  }
  const faults: string[] = []
  let most_held = 0
  let server: Running = program.serve(env)
  let url = await server.url
  const projects = [await makeProject(url, 'hold'), await makeProject(url, 'drop')]
  const senders = projects.flatMap((project) =>
    Array.from({ length: SENDERS }, () => new GuardedSender(project, random.fork())),
  )
  const stop = new AbortController()
  for (const sender of senders) sender.url = url
  const load = Promise.all(senders.map((sender) => sender.work(stop.signal)))
  for (let round = 1; round <= rounds; round++) {
    const after_ms = plan.below(LONGEST_MS)
    const signal = plan.chance(50) ? 'SIGKILL' : 'SIGTERM'
    await sleep(after_ms)
    const held = await countHeld(env.DATA_DIR)
    most_held = Math.max(most_held, held)
    server.kill(signal)
    const { code, stderr } = await server.ended
    if (signal === 'SIGTERM' && code !== 0) faults.push(`an ordered stop gave exit code ${code}: ${stderr}`)
    const began = Date.now()
    server = program.serve(env)
    url = await server.url
    for (const sender of senders) sender.url = url
    const acknowledged = senders.reduce((sum, sender) => sum + sender.acknowledged.length, 0)
    onRound?.({ round, signal, after_ms, start_ms: Date.now() - began, held, acknowledged })
  }
  stop.abort()
  await load
  if (!(await settle(env.DATA_DIR))) faults.push('events still wait for their app')
  let [sent, stored_count, dropped] = [0, 0, 0]
  for (const project of projects) {
    const own = senders.filter((sender) => sender.project === project)
    const acknowledged = own.flatMap((sender) => sender.acknowledged)
    const stored = await storedRows(url, project.id)
    const account = checkProject(project, acknowledged, stored)
    faults.push(...account.faults, ...own.flatMap((sender) => sender.faults))
    sent += acknowledged.length
    stored_count += stored.length
    dropped += account.dropped
  }
  server.kill('SIGTERM')
  await server.ended
  return { faults, sent, stored: stored_count, held: most_held, dropped }
}

/** The database is away for a moment during an ordered stop. */
async function countHeld(dataDir: string): Promise<number> {
  const db = openDatabase({ ...connectionOf(dataDir), max: 1 })
  try {
    return (await db.only<{ count: number }>(sql`SELECT count(*)::int AS count FROM plugin_held_event`)).count
  } finally {
    await db.close()
  }
}

async function settle(dataDir: string): Promise<boolean> {
  const limit = Date.now() + SETTLE_LIMIT_MS
  while (Date.now() < limit) {
    if ((await countHeld(dataDir)) === 0) return true
    await sleep(LOOK_MS)
  }
  return false
}

async function storedRows(url: string, project_id: number): Promise<StoredRow[]> {
  const rows: StoredRow[] = []
  for (;;) {
    const query = `select uuid, event, properties from events order by uuid limit ${PAGE} offset ${rows.length}`
    const path = `/api/projects/${project_id}/query/`
    const { results } = await call(url, 'POST', path, { query: { kind: 'HogQLQuery', query } })
    const page = results as [string, string, string][]
    for (const [uuid, event, properties] of page) {
      rows.push({ uuid, event, properties: JSON.parse(properties) as StoredRow['properties'] })
    }
    if (page.length < PAGE) return rows
  }
}
