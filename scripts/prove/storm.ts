// The stormy part of a simulation: workers work, time passes, events arrive, people change exports, clocks are set, and every call
// may go wrong.
import { actOnExport } from './acts.ts'
import { addEvents } from './scenario.ts'
import { standingOf } from './standing.ts'
import { breakDeadlock, letThrough, pickCall } from './steps.ts'
import type { World } from './world.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const MAX_STEPS = 3_000

export async function storm(world: World): Promise<void> {
  const { clock, random, turnstile } = world
  const end = clock.now().getTime() + (1 + random.below(2)) * 15 * MINUTE_MS
  for (let step = 0; step < MAX_STEPS && clock.now().getTime() < end && world.wrongs.length === 0; step++) {
    await turnstile.quiet()
    const calls = turnstile.eligible()
    if (calls.length > 0 && random.chance(88)) await letThrough(world, pickCall(world, calls))
    else await act(world, calls.length === 0)
  }
}

async function act(world: World, is_idle: boolean): Promise<void> {
  const { random, turnstile } = world
  const frozen = world.workers.map((worker) => worker.actor).filter((actor) => actor.is_frozen)
  const draw = random.below(100)
  if (frozen.length > 0 && draw < (is_idle ? 15 : 2)) return turnstile.thaw(random.pick(frozen))
  if (is_idle && frozen.length === 0 && (await breakDeadlock(world))) return
  if (draw < 68) return is_idle ? turnToNext(world) : workOn(world)
  if (draw < 84) return arrive(world)
  if (draw < 98) return actOnExport(world)
  return setClock(world)
}

/** Nothing is under way: on to when something will be, and somebody looks. */
async function turnToNext(world: World): Promise<void> {
  const { clock, random, workers } = world
  const { next, due } = await standingOf(world)
  const moment = next ?? due ?? clock.now()
  const wait_ms = Math.min(moment.getTime() - clock.now().getTime(), 20 * MINUTE_MS)
  clock.pass(wait_ms > 0 ? wait_ms + random.below(10_000) : random.below(20_000))
  const awake = workers.filter(({ actor }) => !actor.is_frozen)
  for (const worker of random.chance(30) || awake.length < 2 ? awake : [random.pick(awake)]) worker.tick()
}

function workOn({ random, clock, workers }: World): void {
  const worker = random.pick(workers)
  const draw = random.below(10)
  if (worker.actor.is_frozen || draw < 3) clock.pass(random.below(6_000))
  else if (draw < 5) worker.tick()
  else worker.beat()
}

function arrive(world: World): void {
  const count = 1 + world.random.below(4)
  addEvents(world, count)
  world.note('----', `${count} events arrive, up to position ${world.store.events.length}`)
}

function setClock(world: World): void {
  const { clock, random, tally } = world
  const by_ms = random.pick([HOUR_MS, -HOUR_MS, -10 * MINUTE_MS, -MINUTE_MS])
  clock.set(new Date(clock.now().getTime() + by_ms))
  tally.add(by_ms < 0 ? 'clocks set back' : 'clocks set ahead')
  world.note('----', `the clock is set by ${by_ms / MINUTE_MS} minutes`)
}
