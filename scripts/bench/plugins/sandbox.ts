// What crossing into the sandbox costs, beside the same function called directly; and what an app costs to start and keep.
import { once } from 'node:events'
import { startAgain } from '../../start-again.ts'
import type { SandboxOrder, Speed, Start } from './sandbox-process.ts'

const ROUNDS = Number(process.env.PLUGIN_BENCH_ROUNDS ?? 5)
const EVENTS = 5_000
const BATCH = 100
const APPS = 100

export async function benchSandbox(): Promise<boolean> {
  const order: SandboxOrder = { kind: 'speed', events: EVENTS, batch: BATCH, rounds: ROUNDS }
  const { event_bytes, direct, one_by_one, in_batches } = await carryOut<Speed>(order)
  const beside = (per_s: number) => `${per_s.toFixed(0)} (${(per_s / direct).toFixed(3)} of direct)`
  console.log(
    [
      `sandbox  events of ${event_bytes.toFixed(0)} bytes through an app that sets one property, per CPU second; every outcome as in the direct call`,
      `         direct with parse and stringify ${direct.toFixed(0)}; one by one ${beside(one_by_one)}; in batches of ${BATCH} ${beside(in_batches)}`,
    ].join('\n'),
  )
  return true
}

export async function benchStart(): Promise<boolean> {
  const { first, cpu_ms, loaded_mb, called_mb } = await carryOut<Start>({ kind: 'start', apps: APPS })
  console.log(
    [
      `start    the first app with its thread ${first.cpu_ms.toFixed(0)} ms CPU, ${first.wall_ms.toFixed(0)} ms in all; ${APPS - 1} more ${cpu_ms.toFixed(1)} ms CPU each`,
      `         memory of each ${loaded_mb.toFixed(2)} MB, ${called_mb.toFixed(2)} MB after a call; each did its own`,
    ].join('\n'),
  )
  return true
}

async function carryOut<Answer>(order: SandboxOrder): Promise<Answer> {
  const child = startAgain({ BENCH_SANDBOX_ORDER: JSON.stringify(order) }, { execArgv: ['--expose-gc'] })
  const left = once(child, 'disconnect').then(() => {
    throw new Error(`the sandbox (${order.kind}) ended without an answer`)
  })
  // Also when it has answered it ends at some time.
  left.catch(() => undefined)
  const [answer] = (await Promise.race([once(child, 'message'), left])) as [Answer]
  await once(child, 'exit')
  return answer
}
