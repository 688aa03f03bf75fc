// What must go on while an attack is under way: the server answers that it lives, and a neighbour's events are stored.
import { expect } from 'vitest'
import type { Answer, Target } from './target.ts'

const LIVEZ_LIMIT_MS = 250
const CAPTURE_LIMIT_MS = 1_000
/** On a machine that does other things too, an idle server also takes its time now and then. */
const TIMES_IDLE = 10
const ROUNDS = 3

type Pace = { livez_ms: number; capture_ms: number }

/** A neighbour who calls one thing after the other, for as long as the work takes and three times at least. */
async function paceDuring<T>(target: Target, work: Promise<T>): Promise<Pace & { result: T }> {
  let isOver = false
  const ended = work.finally(() => (isOver = true))
  ended.catch(() => undefined)
  const pace: Pace = { livez_ms: 0, capture_ms: 0 }
  for (let calls = 0; calls < 3 || !isOver; calls++) {
    pace.livez_ms = Math.max(pace.livez_ms, await timed(target.send({ method: 'GET', path: '/_livez' })))
    pace.capture_ms = Math.max(pace.capture_ms, await timed(capture(target)))
  }
  return { ...pace, result: await ended }
}

async function timed(call: Promise<Answer>): Promise<number> {
  const start = performance.now()
  expect((await call).status).toBe(200)
  return performance.now() - start
}

/** One event of the neighbour. */
export function capture(target: Target, fields: object = {}): Promise<Answer> {
  const event = { api_key: target.token, event: 'neighbour', distinct_id: 'ada', ...fields }
  return target.send({ path: '/capture/', body: JSON.stringify(event) })
}

/**
 * Runs the attack, with the neighbour beside it, and gives back what the attacker was told. Each of the neighbour's calls
 * must succeed. How long they take is held against the limits, or against the same calls while nothing happens where the
 * machine is slow; and the best of three rounds counts, since a stall that the attack causes comes in each of them and one
 * of the machine's own does not.
 */
export async function withstand<T>(target: Target, attack: () => Promise<T>): Promise<T> {
  const idle = await paceDuring(target, Promise.resolve())
  for (let round = 1; ; round++) {
    const { livez_ms, capture_ms, result } = await paceDuring(target, attack())
    const isInTime =
      livez_ms <= Math.max(LIVEZ_LIMIT_MS, TIMES_IDLE * idle.livez_ms) &&
      capture_ms <= Math.max(CAPTURE_LIMIT_MS, TIMES_IDLE * idle.capture_ms)
    if (isInTime) return result
    if (round === ROUNDS) expect({ livez_ms, capture_ms, idle }).toBe('in time')
  }
}
