// One step of a simulation: a call is let through with its fate, and what follows from that.
import { reapRuns } from '../../src/features/batch-exports/runs/queries.ts'
import type { Actor, Fate, Waiting } from './turnstile.ts'
import { isMeant, Worker } from './worker.ts'
import type { World } from './world.ts'

/** How the commit of a claim is called. */
const CLAIMED = '  COMMIT after UPDATE batch_export_slot'
/** Longer than a lease. */
const STALL_MS = 31_000

/** Transactions are often left to run on: whoever waits for their locks costs time and shows little. */
export function pickCall({ random }: World, calls: readonly Waiting[]): Waiting {
  const inside = calls.filter(({ is_inside }) => is_inside)
  return random.pick(inside.length > 0 && random.chance(70) ? inside : calls)
}

export async function letThrough(world: World, call: Waiting): Promise<void> {
  const { faults, turnstile, tally, clock, random } = world
  const { actor } = call
  const fate = fateFor(actor, faults.draw(call))
  const said = fate.kind === 'go' ? '' : ` → ${fate.kind} ${fate.when}`
  world.note(actor.name, `${call.label}${said}`)
  if (fate.kind !== 'go') tally.add(`${fate.kind} ${fate.when} a call to the ${call.place}`)
  // All stand still with it, or the others go on meanwhile.
  if (fate.kind === 'freeze' && random.chance(40)) clock.pass(STALL_MS + random.below(60) * 1000)
  if (!(await turnstile.release(call, fate))) {
    tally.add('waits for a lock')
    world.note(actor.name, '… has to wait for a lock')
  }
  if (!actor.is_alive) replaceWorker(world, actor)
  if (call.label.startsWith(CLAIMED)) await world.assertSlots()
}

/** People do not freeze: their requests would end by themselves. */
function fateFor({ kind }: Actor, fate: Fate): Fate {
  return fate.kind === 'freeze' && kind === 'person' ? { kind: 'go' } : fate
}

/** One that is alone in the world may know at once that all leases are of the dead; others wait until they run out. */
function replaceWorker(world: World, actor: Actor): void {
  const index = world.workers.findIndex((worker) => worker.actor === actor)
  if (index === -1) return
  const worker = new Worker(world, `${actor.name}+`)
  world.workers[index] = worker
  if (world.workers.length > 1 || world.random.chance(50)) return
  const { db, now } = worker.services
  reapRuns(db, new Date(8.64e15), now()).catch((error: unknown) => {
    if (!isMeant(error)) throw error
  })
}

/** Until nobody has anything under way. */
export async function finishAll(world: World): Promise<void> {
  const { turnstile } = world
  for (;;) {
    await turnstile.quiet()
    const calls = turnstile.eligible()
    if (calls.length > 0) await letThrough(world, pickCall(world, calls))
    else if (!(await breakDeadlock(world))) return
  }
}

export async function breakDeadlock({ turnstile, tally }: World): Promise<boolean> {
  const isBroken = await turnstile.breakDeadlock()
  if (isBroken) tally.add('deadlocks')
  return isBroken
}
