// One simulation, from a seed: exports live through a stormy half hour, then all settles, and then everything must be
// where it belongs. `npm run prove` runs thousands of them.
import { actOnExport } from './acts.ts'
import { checkWorld } from './check.ts'
import { replaceDestinations } from './destinations.ts'
import { fixChance } from './fixed-chance.ts'
import type { Proof } from './proof.ts'
import { setUp } from './scenario.ts'
import { describeLive, standingOf } from './standing.ts'
import { finishAll } from './steps.ts'
import { storm } from './storm.ts'
import type { Tally } from './tally.ts'
import { describe } from './worker.ts'
import { World, type Mutation } from './world.ts'

export type Outcome = {
  seed: number
  /** What must not be; empty when all is well. */
  wrongs: string[]
  trace: string[]
  tally: Tally
}

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const MAX_ROUNDS = 400

export async function runSimulation(proof: Proof, seed: number, mutation: Mutation = {}): Promise<Outcome> {
  const undoChance = fixChance(seed)
  const undoDestinations = replaceDestinations()
  const world = await World.make(proof, seed, mutation)
  const undoTimers = world.clock.takeTimers()
  try {
    await setUp(world)
    await storm(world)
    if (world.wrongs.length === 0) await settle(world)
    if (world.wrongs.length === 0) await checkWorld(world)
  } catch (error) {
    world.wrong(`the simulation fell: ${describe(error)}`)
  } finally {
    undoTimers()
    undoDestinations()
    undoChance()
    await world.remove()
  }
  const { wrongs, trace, tally } = world
  return { seed, wrongs, trace, tally }
}

/** All goes well from here on: what is under way ends, everybody is set going again, and a last interval passes. */
async function settle(world: World): Promise<void> {
  const { clock, faults, turnstile } = world
  world.note('----', 'the storm is over')
  faults.end()
  for (const { actor } of world.workers) await turnstile.thaw(actor)
  await finishAll(world)
  for (const { id } of world.exports) await actOnExport(world, 'unpause', id)
  await finishAll(world)
  // Later than any run that was made when the clock was ahead.
  clock.set(new Date(clock.highest().getTime() + 16 * MINUTE_MS))
  await workUntilIdle(world)
  if (world.random.chance(60)) await healAll(world)
}

/** Everything that got lost goes out after all. */
async function healAll(world: World): Promise<void> {
  const healed_at = world.clock.now()
  for (const { id } of world.exports) {
    await actOnExport(world, 'backfill everything', id)
    world.healed.set(id, healed_at)
  }
  await workUntilIdle(world)
}

/** Nothing is left, and another look makes no more runs. */
async function workUntilIdle(world: World): Promise<void> {
  const { clock, random } = world
  let runs = -1
  for (let round = 0; round < MAX_ROUNDS && world.wrongs.length === 0; round++) {
    const worker = random.pick(world.workers)
    worker.tick()
    worker.beat()
    await finishAll(world)
    const standing = await standingOf(world)
    if (!standing.is_live && standing.runs === runs) return
    runs = standing.runs
    const wait_ms = (standing.next?.getTime() ?? 0) - clock.now().getTime()
    // What could begin and does not waits for somebody's lease.
    clock.pass(wait_ms > 0 ? wait_ms : 5 * SECOND_MS)
  }
  world.wrong(`it does not come to rest: ${await describeLive(world)}`)
}
