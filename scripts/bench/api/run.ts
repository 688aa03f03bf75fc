// What our checks cost: requests to us beside the same statements without them.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { migrateAll } from '../../../src/app/services.ts'
import { openDatabase } from '../../../src/platform/db/database.ts'
import { openEmbeddedPostgres } from '../../../src/platform/db/embedded/embedded.ts'
import { sql } from '../../../src/platform/db/sql.ts'
import { openLog } from '../../../src/platform/log/log.ts'
import { startAgain } from '../../start-again.ts'
import { cases, type BenchCase } from './cases.ts'
import type { ServerOrder } from './server.ts'
import { makeWorkspace, type BenchWorkspace } from './workspace.ts'

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7)
const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 1500)
const CONNECTIONS = 8
const GOAL = 1.6

type Measured = { cpu_us: number; p99_ms: number }
/** Invites asked for so far, over all rounds: each has an address of its own. */
let invited = 0

type Server = { kind: 'ours' | 'bare'; child: ChildProcess; pool: Pool }

/** Whether the goal was met. */
export async function benchApi(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'longshore-bench-'))
  const postgres = await openEmbeddedPostgres({
    dataDir: folder,
    log: openLog({ level: 'error', format: 'json' }),
    role: 'server',
  })
  const db = openDatabase(postgres.connection)
  await migrateAll(db)
  const workspace = await makeWorkspace(db)
  const servers = [
    await startServer('ours', postgres.connection, workspace),
    await startServer('bare', postgres.connection, workspace),
  ]
  try {
    console.log(
      `${ROUNDS} rounds of ${REQUESTS} requests over ${CONNECTIONS} connections, turn by turn; the median round counts\n`,
    )
    console.log('case                 ours µs CPU   bare µs CPU   ratio   ours p99 ms   bare p99 ms')
    let isWithinGoal = true
    for (const benchCase of cases) {
      const { ours, bare } = await measure(servers, workspace, benchCase)
      const ratio = ours.cpu_us / bare.cpu_us
      isWithinGoal &&= ratio <= GOAL
      console.log(
        [
          benchCase.name.padEnd(20),
          ...[ours.cpu_us, bare.cpu_us].map((us) => us.toFixed(0).padStart(11)),
          ratio.toFixed(2).padStart(7),
          ...[ours.p99_ms, bare.p99_ms].map((ms) => ms.toFixed(1).padStart(13)),
        ].join(' '),
      )
    }
    await assertInvitesThere(db)
    console.log(
      `\nevery answer was checked; goal: at most ${GOAL} times the bare route's CPU: ${isWithinGoal ? 'met' : 'NOT met'}`,
    )
    return isWithinGoal
  } finally {
    for (const { child, pool } of servers) {
      child.kill('SIGKILL')
      await pool.close()
    }
    await db.close()
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function startServer(
  kind: 'ours' | 'bare',
  connection: ServerOrder['connection'],
  workspace: BenchWorkspace,
): Promise<Server> {
  const order: ServerOrder = { kind, connection, workspace }
  const child = startAgain({ BENCH_SERVER: JSON.stringify(order) })
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { kind, child, pool: new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS }) }
}

/** Turn by turn, so that whatever else the machine does hits both alike; a first round only warms up. */
async function measure(
  servers: readonly Server[],
  workspace: BenchWorkspace,
  benchCase: BenchCase,
): Promise<Record<'ours' | 'bare', Measured>> {
  const rounds: Record<'ours' | 'bare', Measured[]> = { ours: [], bare: [] }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const server of servers) {
      const measured = await runRound(server, workspace, benchCase)
      if (round > 0) rounds[server.kind].push(measured)
    }
  }
  return { ours: middle(rounds.ours), bare: middle(rounds.bare) }
}

/** The median of each figure: the best round of one side may be a lucky one. */
function middle(rounds: readonly Measured[]): Measured {
  const median = (figures: number[]) => figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)]!
  return {
    cpu_us: median(rounds.map((round) => round.cpu_us)),
    p99_ms: median(rounds.map((round) => round.p99_ms)),
  }
}

async function runRound(
  { child, pool }: Server,
  workspace: BenchWorkspace,
  benchCase: BenchCase,
): Promise<Measured> {
  const times: number[] = []
  let left = REQUESTS
  const before = await cpuOf(child)
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (left-- > 0) times.push(await timedRequest(pool, workspace, benchCase))
    }),
  )
  const after = await cpuOf(child)
  times.sort((a, b) => a - b)
  return { cpu_us: (after - before) / REQUESTS, p99_ms: times[Math.floor(times.length * 0.99)]! }
}

async function timedRequest(pool: Pool, workspace: BenchWorkspace, benchCase: BenchCase): Promise<number> {
  const body = benchCase.body ? JSON.stringify(benchCase.body(invited++)) : null
  const start = performance.now()
  const response = await pool.request({
    method: benchCase.method,
    path: benchCase.path(workspace),
    headers: {
      authorization: `Bearer ${workspace.key}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    body,
  })
  const answer = (await response.body.json()) as Record<string, unknown>
  const elapsed_ms = performance.now() - start
  if (response.statusCode !== benchCase.status || !benchCase.isRight(answer)) {
    throw new Error(
      `${benchCase.name}: a wrong answer, ${response.statusCode} ${JSON.stringify(answer).slice(0, 200)}`,
    )
  }
  return elapsed_ms
}

async function cpuOf(child: ChildProcess): Promise<number> {
  child.send('cpu')
  const [{ cpu_us }] = (await once(child, 'message')) as [{ cpu_us: number }]
  return cpu_us
}

/** Every invite that was acknowledged is a row with its own address. */
async function assertInvitesThere(db: ReturnType<typeof openDatabase>): Promise<void> {
  const { count } = await db.only<{ count: number }>(sql`
    SELECT count(DISTINCT target_email)::int AS count FROM invite WHERE target_email ~ '^guest-[0-9]+@'`)
  if (count !== invited) throw new Error(`${invited} invites were acknowledged, ${count} are there`)
}
