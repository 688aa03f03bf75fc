// What taking events in costs besides ClickHouse: CPU of our process, and what PostgreSQL and ClickHouse are asked for, by batch and by
// event. docs/scaling.md says what follows from it.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { postmasterOf } from '../../../test/end-to-end/program.ts'
import { measureTrees } from '../../process-tree.ts'
import { startAgain } from '../../start-again.ts'
import { freshEvents, requestsOf } from '../events/requests.ts'
import type { Received } from './no-clickhouse.ts'
import type { Counters, ScalingOrder, ScalingReady } from './server.ts'

const EVENTS = Number(process.env.BENCH_CAPTURED ?? 60_000)
const CONNECTIONS = 64
/** PostgreSQL's processes may keep their last counts to themselves for ten seconds. */
const COUNTED_MS = 11_000

type Asked = { name: string; projects: number }
const CASES: readonly Asked[] = [
  { name: 'one project', projects: 1 },
  { name: '20 projects', projects: 20 },
]

const ask = async <Answer>(child: ChildProcess, message = 'report'): Promise<Answer> => {
  child.send(message)
  return ((await once(child, 'message')) as [Answer])[0]
}

export async function benchScaling(): Promise<boolean> {
  let isRight = true
  for (const asked of CASES) isRight = (await measure(asked)) && isRight
  return isRight
}

async function measure({ name, projects }: Asked): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'longshore-bench-scaling-'))
  const clickhouse = startAgain({ BENCH_NO_CLICKHOUSE: '1' })
  const [port] = (await once(clickhouse, 'message')) as [number]
  const order: ScalingOrder = { folder, clickhouse_url: `http://127.0.0.1:${port}`, projects }
  const server = startAgain({ BENCH_SCALING_SERVER: JSON.stringify(order) })
  const [ready] = (await once(server, 'message')) as [ScalingReady]
  try {
    // Persons of these people are known afterwards, as in a server that has been running.
    await capture(ready, 20_000, 1)
    const counters = async () => {
      await sleep(COUNTED_MS)
      const { cpu_s } = measureTrees([(await postmasterOf(folder))!])
      return { ...(await ask<Counters>(server)), postgres_us: cpu_s * 1e6 }
    }
    await ask<Received>(clickhouse)
    const before = await counters()
    await capture(ready, EVENTS, 1)
    const after = await counters()
    const received = await ask<Received>(clickhouse)
    return print(name, (key) => after[key] - before[key], received)
  } finally {
    server.send('stop')
    await once(server, 'exit')
    clickhouse.send('stop')
    await rm(folder, { recursive: true, force: true })
  }
}

async function capture({ port, tokens }: ScalingReady, count: number, seed: number): Promise<void> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS })
  const by_token = tokens.map((token, index) =>
    requestsOf(freshEvents(Math.ceil(count / tokens.length), seed + index), token),
  )
  const bodies = by_token[0]!.flatMap((_, index) => by_token.map((list) => list[index]!))
  const left = bodies.values()
  const send = async () => {
    for (const body of left) {
      const headers = { 'content-type': 'application/json' }
      const answer = await pool.request({ method: 'POST', path: '/batch/', headers, body })
      const text = await answer.body.text()
      if (answer.statusCode !== 200) throw new Error(`capture answered ${answer.statusCode}: ${text}`)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, send))
  await pool.close()
}

type Key = keyof Counters | 'postgres_us'

function print(name: string, of: (key: Key) => number, { inserts, insert_bytes, others }: Received): boolean {
  const batches = inserts.events ?? 0
  const copies = Object.values(inserts).reduce((sum, count) => sum + count, 0) - batches
  const shown = (value: number) => value.toFixed(value < 10 ? 2 : 0)
  console.log(`${name}: ${EVENTS} events in ${batches} batches of ${shown(EVENTS / batches)}`)
  const figures: [string, number][] = [
    ['CPU of the server by event, µs', of('cpu_us') / EVENTS],
    ['CPU of PostgreSQL by event, µs', of('postgres_us') / EVENTS],
    ['bytes of WAL by event', of('wal_bytes') / EVENTS],
    ['bytes sent to ClickHouse by event', insert_bytes / EVENTS],
    ['rows written in PostgreSQL by batch', of('rows_written') / batches],
    ['transactions in PostgreSQL by batch, reading ones included', of('commits') / batches],
    ['inserts of copies by batch', copies / batches],
    ['questions to ClickHouse by batch', others / batches],
  ]
  for (const [what, value] of figures) console.log(`  ${what.padEnd(60)}${shown(value).padStart(8)}`)
  return batches > 0
}
