// `npm run prove -- queries`: processes that answer questions are killed PROVE_KILLS times (100) at random while events
// come in and exports run. Nothing may be lost or twice, and whoever asks is answered. PROVE_SEED repeats the choices.
import { randomInt } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildProgram } from '../../../test/end-to-end/program.ts'
import { percentile } from '../../bench/paced.ts'
import { Sender } from '../../crash/events/sender.ts'
import { ask, call, firstToken, KEY } from '../../crash/first-project.ts'
import { Random } from '../../crash/random.ts'
import { childrenOf } from '../../process-tree.ts'

const HOUR_MS = 3_600_000
const PAST_EVENTS = 20_000
const PER_REQUEST = 1_000
const ASKERS = 3
const EXPORTS = 5
const LONGEST_ANSWER_MS = 2_000
const RUN_LIMIT_MS = 300_000
const QUESTIONS = [
  'select count() from events',
  'select event, count() from events group by event order by event',
  'select person.properties.n, count() from events group by 1 order by 1 limit 10',
]

export async function proveQueries(): Promise<boolean> {
  const kills = Number(process.env.PROVE_KILLS ?? 100)
  const seed = Number(process.env.PROVE_SEED ?? randomInt(2 ** 31))
  console.log(`${kills} kills with PROVE_SEED=${seed}`)
  const random = new Random(seed)
  const program = await buildProgram()
  try {
    const data_dir = program.newDataDir()
    const env = { DATA_DIR: data_dir, RATE_LIMITS: 'off', LOG_LEVEL: 'error', BOOTSTRAP_API_KEY: KEY }
    const server = program.serve(env)
    const url = await server.url
    const token = await firstToken(data_dir)
    const faults: string[] = []
    const past = await sendPast(url, token)
    const sender = new Sender('sender', token, random.fork(), (text) => void faults.push(text))
    sender.url = url
    const stop = new AbortController()
    const latencies_ms: number[] = []
    const work = Promise.all([
      sender.work(stop.signal, 20),
      ...Array.from({ length: ASKERS }, () => keepAsking(url, stop.signal, latencies_ms, faults)),
    ])
    const exporting = exportAll(url)
    for (let count = 0; count < kills; count++) await killOne(server.pid, random)
    const exports = await exporting
    stop.abort()
    await work
    await sender.retry()
    faults.push(...(await checkEvents(url, sender, past)))
    for (const id of exports) faults.push(...(await checkFiles(join(data_dir, 'exports'), id, past)))
    server.kill('SIGTERM')
    const { code } = await server.ended
    if (code !== 0) faults.push(`an ordered stop gave exit code ${code}`)
    for (const fault of faults.slice(0, 20)) console.log(`  FAULT ${fault}`)
    const sorted = latencies_ms.toSorted((one, other) => one - other)
    console.log(
      `${sorted.length} questions answered, p50 ${percentile(sorted, 0.5).toFixed(0)} ms, p99 ${percentile(sorted, 0.99).toFixed(0)} ms, ` +
        `slowest ${sorted.at(-1)!.toFixed(0)} ms; ${sender.batches.length} batches sent meanwhile; ` +
        `${exports.length} exports of ${past.length} events; ${faults.length} faults`,
    )
    return faults.length === 0
  } finally {
    await program.remove()
  }
}

/** Events of two hours ago, for the exports. */
async function sendPast(url: string, token: string): Promise<string[]> {
  const uuids = Array.from({ length: PAST_EVENTS }, () => crypto.randomUUID())
  const timestamp = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 1.5 * HOUR_MS).toISOString()
  for (let from = 0; from < uuids.length; from += PER_REQUEST) {
    const batch = uuids
      .slice(from, from + PER_REQUEST)
      .map((uuid, index) => ({ uuid, event: 'past', distinct_id: `past-${index}`, timestamp }))
    await call(url, 'POST', '/batch/', { api_key: token, batch })
  }
  return uuids
}

async function keepAsking(
  url: string,
  signal: AbortSignal,
  latencies_ms: number[],
  faults: string[],
): Promise<void> {
  for (let at = 0; !signal.aborted; at++) {
    const began = performance.now()
    try {
      await ask(url, QUESTIONS[at % QUESTIONS.length]!)
    } catch (error) {
      faults.push(`a question got no answer: ${String(error).slice(0, 200)}`)
    }
    const took_ms = performance.now() - began
    latencies_ms.push(took_ms)
    if (took_ms > LONGEST_ANSWER_MS) faults.push(`a question was answered after ${took_ms.toFixed(0)} ms`)
  }
}

/** One export after another, each with files of its own, all over the same events. */
async function exportAll(url: string): Promise<string[]> {
  const hour = (ago: number) => new Date((Math.floor(Date.now() / HOUR_MS) - ago) * HOUR_MS).toISOString()
  const exports: string[] = []
  for (let count = 0; count < EXPORTS; count++) {
    const destination = { type: 'File', config: { prefix: 'out/{export_id}' } }
    const body = { name: `Export ${count}`, interval: 'hour', destination }
    const { id } = await call(url, 'POST', '/api/projects/@current/batch_exports/', body)
    const path = `/api/projects/@current/batch_exports/${String(id)}`
    await call(url, 'POST', `${path}/backfill/`, { start_at: hour(2), end_at: hour(1) })
    await waitForRun(url, path)
    exports.push(String(id))
  }
  return exports
}

async function waitForRun(url: string, path: string): Promise<void> {
  const limit = Date.now() + RUN_LIMIT_MS
  for (;;) {
    const { results } = await call(url, 'GET', `${path}/runs/`)
    if ((results as { status: string }[]).some(({ status }) => status === 'Completed')) return
    if (Date.now() > limit) throw new Error(`no run of ${path} got through: ${JSON.stringify(results)}`)
    await sleep(200)
  }
}

/** Waits until there is one. */
async function killOne(server: number, random: Random): Promise<void> {
  await sleep(500 + random.below(1500))
  for (;;) {
    const processes = await queryProcesses(server)
    if (processes.length > 0) {
      process.kill(random.pick(processes), 'SIGKILL')
      return
    }
    await sleep(20)
  }
}

async function queryProcesses(server: number): Promise<number[]> {
  const found: number[] = []
  for (const pid of childrenOf(server)) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (command.includes('query.js')) found.push(pid)
  }
  return found
}

async function checkEvents(url: string, sender: Sender, past: readonly string[]): Promise<string[]> {
  const expected = sender.batches.flatMap(({ uuids }) => uuids).length + past.length
  const [row] = await ask(url, 'select count(), count(distinct uuid) from events')
  return String(row) === `${expected},${expected}`
    ? []
    : [`${String(row)} events and ids are there instead of ${expected}`]
}

async function checkFiles(folder: string, id: string, past: readonly string[]): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && entry.parentPath.includes(id))
  const uuids: string[] = []
  for (const { parentPath, name } of files) {
    const lines = (await readFile(join(parentPath, name), 'utf8')).trimEnd().split('\n')
    for (const line of lines) uuids.push((JSON.parse(line) as { uuid: string }).uuid)
  }
  const there = new Set(uuids)
  const missing = past.filter((uuid) => !there.has(uuid)).length
  return missing === 0 && uuids.length === there.size
    ? []
    : [`export ${id}: ${missing} events are missing, ${uuids.length - there.size} are there twice`]
}
