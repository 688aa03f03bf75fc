// `npm run prove -- many`: a thousand hourly exports in a hundred projects. Hours pass, some of them without a server; then
// every interval has had one run, every event is in the files of each export of its project once, and the server's own
// verifications say so. At last, what such a server costs while nothing is due or being verified, beside one without
// exports.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../../../src/platform/db/sql.ts'
import { buildProgram, postmasterOf } from '../../../test/end-to-end/program.ts'
import { postgresCpuS, processCpuS } from '../../bench/exports/process-figures.ts'
import { waitUntilSettled } from '../crash/runs.ts'
import { buildServer } from '../crash/server-process.ts'
import { Tenants, type MadeExport, type Tenant } from '../fairness/tenants.ts'
import { withServer, type OnServer } from '../on-server.ts'

const PROJECTS = Number(process.env.PROVE_PROJECTS ?? 100)
const EXPORTS = 10
const EVENTS = 20
const HOUR_MS = 3_600_000
/** How many hours end before each start of the server. */
const HOURS = [1, 1, 3]
/** Runs are spread over the first quarter of an hour. */
const PAST_THE_HOUR_MS = 20 * 60_000
const SETTLE_MS = 15 * 60_000
const REST_S = 30
const WARM_UP_MS = 5_000
const POLL_MS = 500

type World = { tenants: Tenant[]; exports: MadeExport[] }

/** True: no interval is missing or twice, and no event; and the server found the same. */
export async function proveMany(): Promise<boolean> {
  const program = await buildProgram()
  try {
    const main = await buildServer(program)
    const idle = await measureRest(main, program.newDataDir(), 0)
    const DATA_DIR = program.newDataDir()
    const world = await withServer(main, { DATA_DIR }, 0, make)
    console.log(`${world.exports.length} exports in ${world.tenants.length} projects`)
    const { faults, offset_ms } = await passHours(main, DATA_DIR, world)
    for (const fault of faults) console.log(`  FAULT ${fault}`)
    const rest = await measureRest(main, DATA_DIR, offset_ms)
    console.log(
      `at rest: ${percent(rest)} of a core with ${world.exports.length} exports, ${percent(idle)} with none`,
    )
    return faults.length === 0
  } finally {
    await program.remove()
  }
}

async function make({ url, now }: OnServer): Promise<World> {
  const client = new Tenants(url, now)
  const world: World = { tenants: [], exports: [] }
  for (let project = 0; project < PROJECTS; project++) {
    const tenant = await client.make(`project ${project}`, 1)
    world.tenants.push(tenant)
    for (let index = 0; index < EXPORTS; index++) {
      const destination = { type: 'File', config: { prefix: 'out/{export_id}' } }
      world.exports.push(await client.export(tenant, destination, { interval: 'hour', paused: false }))
    }
  }
  return world
}

/** Gives how far the clock is ahead at the end. */
async function passHours(
  main: string,
  DATA_DIR: string,
  world: World,
): Promise<{ faults: string[]; offset_ms: number }> {
  const faults: string[] = []
  let offset_ms = 0
  for (const hours of HOURS) {
    const now = Date.now() + offset_ms
    offset_ms += (hours - 1) * HOUR_MS + HOUR_MS - (now % HOUR_MS) + PAST_THE_HOUR_MS
    await withServer(main, { DATA_DIR }, offset_ms, async (server) => {
      const began = Date.now()
      const stuck = await waitUntilSettled(server.db, server.now, SETTLE_MS)
      if (stuck !== null) faults.push(`stuck: ${stuck.slice(0, 500)}`)
      console.log(`after ${hours} h: all settled in ${((Date.now() - began) / 1000).toFixed(1)} s`)
      const client = new Tenants(server.url, server.now)
      for (const tenant of world.tenants) await client.capture(tenant, Array(EVENTS).fill(0) as number[])
    })
  }
  offset_ms += HOUR_MS
  await withServer(main, { DATA_DIR }, offset_ms, async (server) => {
    await waitUntilSettled(server.db, server.now, SETTLE_MS)
    await waitUntilVerified(server)
    faults.push(...(await listBadIntervals(server)), ...(await listBadVerdicts(server)))
  })
  faults.push(...(await listBadFiles(DATA_DIR, world)))
  return { faults, offset_ms }
}

/** Each begins where the one before ended, all have got through, and none of an export's is missing at the end. */
async function listBadIntervals({ db }: OnServer): Promise<string[]> {
  const runs = await db.rows<{ batch_export_id: string; text: string }>(sql`
    SELECT batch_export_id, concat_ws(' ', status, data_interval_start, data_interval_end) AS text FROM (
      SELECT *, lag(data_interval_end) OVER (PARTITION BY batch_export_id ORDER BY data_interval_end) AS before
      FROM batch_export_run) AS run
    WHERE status <> 'Completed' OR before IS NOT NULL AND before <> data_interval_start`)
  const counts = await db.rows<{ runs: number; exports: number; last: Date }>(sql`
    SELECT runs, count(*)::int AS exports, max(last) AS last FROM (
      SELECT export.id, count(run.id)::int AS runs, max(data_interval_end) AS last
      FROM batch_export AS export LEFT JOIN batch_export_run AS run ON run.batch_export_id = export.id
      GROUP BY export.id) AS each GROUP BY runs`)
  const [first] = counts
  console.log(counts.map(({ runs: each, exports }) => `${exports} exports have had ${each} runs`).join('; '))
  return [
    ...runs.map(({ batch_export_id, text }) => `export ${batch_export_id}: ${text}`),
    ...(counts.length === 1 && first!.runs > 0 ? [] : ['not all exports have had the same intervals']),
  ]
}

/** Every delivery is read back after its run, one after the other, which takes longer than the runs do. */
async function waitUntilVerified({ db }: OnServer): Promise<void> {
  const countLeft = async () =>
    (
      await db.only<{ count: number }>(
        sql`SELECT count(*)::int AS count FROM batch_export_verification WHERE finished_at IS NULL`,
      )
    ).count
  let [deadline, before] = [Date.now() + SETTLE_MS, Infinity]
  for (let left = await countLeft(); left > 0; left = await countLeft()) {
    if (left < before) deadline = Date.now() + SETTLE_MS
    if (Date.now() > deadline) throw new Error(`${left} verifications do not come to an end`)
    before = left
    await sleep(POLL_MS)
  }
}

async function listBadVerdicts({ db }: OnServer): Promise<string[]> {
  const verdicts = await db.rows<{ verdict: string; count: number }>(sql`
    SELECT coalesce(verdict, status) AS verdict, count(*)::int AS count FROM batch_export_verification GROUP BY 1`)
  console.log(`verifications: ${verdicts.map(({ verdict, count }) => `${count} ${verdict}`).join(', ')}`)
  return verdicts
    .filter(({ verdict }) => verdict !== 'intact')
    .map(({ verdict, count }) => `${count} verifications say ${verdict}`)
}

async function listBadFiles(DATA_DIR: string, { exports }: World): Promise<string[]> {
  const expected = 1 + EVENTS * HOURS.length
  const faults: string[] = []
  for (const { id, tenant } of exports) {
    const folder = join(DATA_DIR, 'exports', String(tenant.id), 'out', id)
    const uuids: string[] = []
    for (const name of await readdir(folder)) {
      const lines = (await readFile(join(folder, name), 'utf8')).trimEnd().split('\n')
      for (const line of lines) uuids.push((JSON.parse(line) as { uuid: string }).uuid)
    }
    const unique = new Set(uuids).size
    if (unique !== expected || uuids.length !== expected)
      faults.push(`export ${id}: ${uuids.length} rows, ${unique} of ${expected} events`)
  }
  return faults
}

/** Seconds of CPU a second, of the server and its PostgreSQL together. */
function measureRest(main: string, DATA_DIR: string, offset_ms: number): Promise<number> {
  return withServer(main, { DATA_DIR }, offset_ms, async (server) => {
    const { pid, db, now } = server
    await waitUntilSettled(db, now, SETTLE_MS)
    await waitUntilVerified(server)
    await sleep(WARM_UP_MS)
    const postmaster = (await postmasterOf(DATA_DIR))!
    const cpuS = () => processCpuS(pid) + postgresCpuS(postmaster)
    const before = cpuS()
    await sleep(REST_S * 1000)
    return (cpuS() - before) / REST_S
  })
}

const percent = (part: number) => `${(part * 100).toFixed(1)} %`
