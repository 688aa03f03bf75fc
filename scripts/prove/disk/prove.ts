// `npm run prove -- disk`: the disk of the data folder is full for a while, during which events come in and a run falls
// due; then there is room again. What was acknowledged is delivered once, and the server has not ended. Needs root: the
// disk is a small one in memory.
import { execFile } from 'node:child_process'
import { mkdir, open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { buildProgram } from '../../../test/end-to-end/program.ts'
import { waitUntilSettled } from '../crash/runs.ts'
import { buildServer } from '../crash/server-process.ts'
import { Tenants, type Tenant } from '../fairness/tenants.ts'
import { withServer, type OnServer } from '../on-server.ts'

const SIZE_MB = 700
const INTERVAL_MS = 300_000
/** From the start until an interval ends: the disk is full by then. */
const UNTIL_INTERVAL_MS = 25_000
/** Runs are spread over the first part of an interval. */
const SPREAD_MS = 65_000
const FULL_MS = 100_000
const SETTLE_MS = 300_000
const PAUSE_MS = 100

/** True: nothing is missing or twice. */
export async function proveDisk(): Promise<boolean> {
  const program = await buildProgram()
  const DATA_DIR = program.newDataDir()
  await mkdir(DATA_DIR)
  await promisify(execFile)('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MB}m,mode=755`, 'tmpfs', DATA_DIR])
  try {
    const main = await buildServer(program)
    const faults = await play(main, DATA_DIR)
    for (const fault of faults) console.log(`  FAULT ${fault}`)
    return faults.length === 0
  } finally {
    await promisify(execFile)('umount', [DATA_DIR])
    await program.remove()
  }
}

async function play(main: string, DATA_DIR: string): Promise<string[]> {
  const faults: string[] = []
  const sender = new EventSender()
  let offset_ms = INTERVAL_MS - ((Date.now() + UNTIL_INTERVAL_MS) % INTERVAL_MS)
  const tenant = await withServer(main, { DATA_DIR }, offset_ms, async (server) => {
    const made = await makeExport(server)
    await sender.send(server.url, made, 5_000)
    await fill(join(DATA_DIR, 'ballast'))
    const full = await sender.send(server.url, made, FULL_MS)
    console.log(`disk full for ${FULL_MS / 1000} s: ${full}`)
    if (full.includes(' 500')) faults.push('a full disk is taken for a fault of the server')
    await rm(join(DATA_DIR, 'ballast'))
    console.log(`room again: ${await sender.send(server.url, made, 10_000)}`)
    const stuck = await waitUntilSettled(server.db, server.now, SETTLE_MS)
    if (stuck !== null) faults.push(`stuck: ${stuck}`)
    return made
  })
  offset_ms += INTERVAL_MS + SPREAD_MS
  await withServer(main, { DATA_DIR }, offset_ms, async ({ db, now }) => {
    const stuck = await waitUntilSettled(db, now, SETTLE_MS)
    if (stuck !== null) faults.push(`stuck: ${stuck}`)
  })
  const delivered = await readDelivered(join(DATA_DIR, 'exports', String(tenant.id), 'out'))
  return [...faults, ...sender.compare(delivered)]
}

async function makeExport({ url, now }: OnServer): Promise<Tenant> {
  const client = new Tenants(url, now)
  const tenant = await client.make('project', 0)
  const destination = { type: 'File', config: { prefix: 'out' } }
  await client.export(tenant, destination, { interval: 'every 5 minutes', paused: false })
  return tenant
}

/** To the last byte. */
async function fill(path: string): Promise<void> {
  const file = await open(path, 'w')
  try {
    for (let size = 1024 * 1024; size >= 1;) {
      const { bytesWritten } = await file.write(Buffer.alloc(size)).catch(() => ({ bytesWritten: 0 }))
      if (bytesWritten < size) size = Math.floor(size / 2)
    }
  } finally {
    await file.close()
  }
}

async function readDelivered(folder: string): Promise<string[]> {
  const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')))
  return texts
    .flatMap((text) => text.trimEnd().split('\n'))
    .map((line) => (JSON.parse(line) as { uuid: string }).uuid)
}

/** Sends small batches, and remembers what became of each. */
class EventSender {
  readonly #sent = new Set<string>()
  readonly #acknowledged = new Set<string>()

  /** What the server said, and how often. */
  async send(url: string, { token }: Tenant, for_ms: number): Promise<string> {
    const answers = new Map<string, number>()
    for (const end = Date.now() + for_ms; Date.now() < end; await sleep(PAUSE_MS)) {
      const answer = await this.#sendBatch(url, token)
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
    return [...answers].map(([answer, count]) => `${count} times ${answer}`).join(', ')
  }

  /** What must not be. */
  compare(delivered: readonly string[]): string[] {
    const unique = new Set(delivered)
    const missing = [...this.#acknowledged].filter((uuid) => !unique.has(uuid))
    const unknown = [...unique].filter((uuid) => !this.#sent.has(uuid))
    console.log(
      `${this.#sent.size} events sent, ${this.#acknowledged.size} acknowledged, ${delivered.length} delivered`,
    )
    return [
      ...(missing.length > 0 ? [`${missing.length} acknowledged events are missing`] : []),
      ...(unique.size < delivered.length ? [`${delivered.length - unique.size} events are there twice`] : []),
      ...(unknown.length > 0 ? [`${unknown.length} events were never sent`] : []),
    ]
  }

  async #sendBatch(url: string, api_key: string): Promise<string> {
    const batch = Array.from({ length: 10 }, () => ({
      uuid: crypto.randomUUID(),
      event: 'seen',
      distinct_id: 'somebody',
    }))
    for (const { uuid } of batch) this.#sent.add(uuid)
    const response = await fetch(`${url}/batch/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key, batch }),
    }).catch(() => null)
    if (response?.ok) for (const { uuid } of batch) this.#acknowledged.add(uuid)
    await response?.text()
    return response === null ? 'no answer' : String(response.status)
  }
}
