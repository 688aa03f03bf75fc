// What must go on while attacks are under way: the server answers that it lives, a neighbour's events are stored, its
// event loop is free, and afterwards its memory is what it was. Times are held against limits that no machine misses
// unless something hangs; ATTACKS_STRICT=1 holds them against what is promised, and prints what was measured.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect } from 'vitest'
import { until } from '../harness/until.ts'
import { NEIGHBOUR, type Answer, type Target } from './target.ts'

export const isStrict = process.env.ATTACKS_STRICT === '1'
const LIMITS = isStrict
  ? { livez_ms: 250, capture_ms: 1_000, loop_p99_ms: 50, grown_mb: 400 }
  : { livez_ms: 5_000, capture_ms: 15_000, loop_p99_ms: 2_000, grown_mb: 1_000 }

export type Watch = {
  /** Runs the attack with the neighbour beside it. Each of the neighbour's calls must succeed, in time. */
  during(attack: () => Promise<unknown>): Promise<void>
  close(): Promise<void>
}

type Pace = { livez_ms: number; capture_ms: number }

export async function openWatch(target: Target): Promise<Watch> {
  const livez: number[] = []
  const captures: number[] = []
  // Whatever is started on first use is there before the first figures are taken.
  await capture(target)
  await target.call('POST', '/api/projects/@current/query/', {
    query: { kind: 'HogQLQuery', query: 'select 1' },
  })
  await loopP99(target)
  const before_mb = await target.memoryMb()
  const neighbour = openNeighbour(target)
  return {
    async during(attack) {
      const pace = await besideNeighbour(neighbour, attack)
      livez.push(pace.livez_ms)
      captures.push(pace.capture_ms)
      expect(pace.livez_ms, 'the slowest _livez, in ms').toBeLessThan(LIMITS.livez_ms)
      expect(pace.capture_ms, "the slowest of the neighbour's events, in ms").toBeLessThan(LIMITS.capture_ms)
    },
    async close() {
      await neighbour.terminate()
      const loop_p99_ms = await loopP99(target)
      await until(async () => expect((await target.memoryMb()) - before_mb).toBeLessThan(LIMITS.grown_mb))
      if (isStrict) print(livez, captures, loop_p99_ms, before_mb, await target.memoryMb())
      expect(loop_p99_ms, 'p99 of the delay of the event loop, in ms').toBeLessThan(LIMITS.loop_p99_ms)
    },
  }
}

/** A neighbour is no flood, and its calls take time from the attacks. */
const PAUSE_MS = isStrict ? 20 : 200

/** neighbour.js, on its thread. */
function openNeighbour({ port, token }: Target): Worker {
  const workerData = { port, token, address: NEIGHBOUR, pause_ms: PAUSE_MS }
  return new Worker(new URL('./neighbour.js', import.meta.url), { workerData })
}

/** The neighbour calls for as long as the work takes. */
async function besideNeighbour(neighbour: Worker, attack: () => Promise<unknown>): Promise<Pace> {
  const told = once(neighbour, 'message') as Promise<[Pace | { error: string }]>
  neighbour.postMessage('begin')
  try {
    await attack()
  } finally {
    neighbour.postMessage('end')
    await told
  }
  const [pace] = await told
  if ('error' in pace) throw new Error(pace.error)
  return pace
}

/** One event of the neighbour. */
export function capture(target: Target, fields: object = {}): Promise<Answer> {
  const event = { api_key: target.token, event: 'neighbour', distinct_id: 'ada', ...fields }
  return target.send({ path: '/capture/', body: JSON.stringify(event) })
}

/** Since it was asked for the last time, as the server itself measures it. */
async function loopP99(target: Target): Promise<number> {
  const { body } = await target.send({ method: 'GET', path: '/metrics' })
  return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(body as string)![1]) * 1000
}

function print(
  livez: number[],
  captures: number[],
  loop_p99_ms: number,
  before_mb: number,
  after_mb: number,
) {
  const [alive, stored] = [livez, captures].map((all) => all.toSorted((a, b) => a - b))
  const at = (sorted: number[], part: number) => Math.round(sorted[Math.floor((sorted.length - 1) * part)]!)
  console.log(
    `${livez.length} attacks; slowest call of each, p50/p99/max: _livez ${[0.5, 0.99, 1].map((part) => at(alive!, part)).join('/')} ms, ` +
      `capture ${[0.5, 0.99, 1].map((part) => at(stored!, part)).join('/')} ms; event loop p99 ${Math.round(loop_p99_ms)} ms; ` +
      `memory ${Math.round(before_mb)} MB before, ${Math.round(after_mb)} MB after`,
  )
}
