// One simulation, from a seed: exports live through a stormy half hour, then all settles, and then everything must be
// where it belongs. `npm run prove` runs thousands of them.
import { reapRuns } from '../../src/features/batch-exports/runs/queries.ts'
import { sql } from '../../src/platform/db/sql.ts'
import { addEvents, setUp } from './scenario.ts'
import { steer } from './acts.ts'
import { checkWorld } from './check.ts'
import { replaceDestinations } from './destinations.ts'
import { fixChance } from './fixed-chance.ts'
import type { Proof } from './proof.ts'
import { Tally } from './tally.ts'
import type { Actor, Fate } from './turnstile.ts'
import { isMeant, Worker } from './worker.ts'
import { World, type Mutation } from './world.ts'

/** How the commit of a claim is called. */
const CLAIMED = '  COMMIT after UPDATE batch_export_slot'

export type Outcome = { seed: number; wrongs: string[]; trace: string[]; tally: Tally }

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const MAX_STEPS = 3_000
const MAX_ROUNDS = 400
/** Longer than a lease. */
const STALL_MS = 31 * SECOND_MS

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
    world.wrong(`the simulation fell: ${error instanceof Error ? error.stack : String(error)}`)
  } finally {
    undoTimers()
    undoDestinations()
    undoChance()
    await world.remove()
  }
  const { wrongs, trace, tally } = world
  return { seed, wrongs, trace, tally }
}

async function storm(world: World): Promise<void> {
  const { clock, random, turnstile } = world
  const end = clock.now().getTime() + (1 + random.below(2)) * 15 * MINUTE_MS
  for (let step = 0; step < MAX_STEPS && clock.now().getTime() < end && world.wrongs.length === 0; step++) {
    await turnstile.quiet()
    const calls = turnstile.eligible()
    if (process.env.DBG)
      world.note('DBG', calls.map((c) => c.actor.name + c.label.trim().slice(0, 20)).join(' | '))
    if (calls.length > 0 && random.chance(88)) {
      await letThrough(world, pickCall(world, calls))
    } else {
      await act(world, calls.length === 0)
    }
  }
}

/** Transactions are often left to run on: whoever waits for their locks costs time and shows little. */
function pickCall(
  { random }: World,
  calls: ReturnType<World['turnstile']['eligible']>,
): (typeof calls)[number] {
  const inside = calls.filter(({ is_inside }) => is_inside)
  return random.pick(inside.length > 0 && random.chance(70) ? inside : calls)
}

async function letThrough(
  world: World,
  call: ReturnType<World['turnstile']['eligible']>[number],
): Promise<void> {
  const { faults, turnstile, tally, clock, random } = world
  const { actor } = call
  const fate = fateFor(actor, faults.draw(call))
  const said = fate.kind === 'go' ? '' : ` → ${fate.kind} ${fate.when}`
  world.note(actor.name, `${call.label}${said}`)
  if (fate.kind !== 'go') tally.add(`${fate.kind} ${fate.when} a call to the ${call.place}`)
  // All stand still with it, or the others go on meanwhile.
  if (fate.kind === 'freeze' && random.chance(40)) clock.pass(STALL_MS + random.below(60) * SECOND_MS)
  if (!(await turnstile.release(call, fate))) {
    tally.add('waits for a lock')
    world.note(actor.name, '… has to wait for a lock')
  }
  if (fate.kind === 'crash') replaceWorker(world, actor)
  if (call.label.startsWith(CLAIMED)) await world.assertSlots()
}

/** People do not freeze: their requests would end by themselves. */
function fateFor({ kind }: Actor, fate: Fate): Fate {
  return fate.kind === 'freeze' && kind === 'person' ? { kind: 'go' } : fate
}

/** At once, or later; alone in the world it knows that all leases are of the dead. */
function replaceWorker(world: World, actor: Actor): void {
  const index = world.workers.findIndex((worker) => worker.actor === actor)
  if (index === -1) return
  const worker = new Worker(world, `${actor.name.slice(0, 2)}${'+'.repeat(1 + actor.name.length - 2)}`)
  world.workers[index] = worker
  if (world.workers.length > 1 || world.random.chance(50)) return
  const { db, now } = worker.services
  reapRuns(db, new Date(8.64e15), now()).catch((error: unknown) => {
    if (!isMeant(error)) throw error
  })
}

async function act(world: World, is_idle: boolean): Promise<void> {
  const { random, turnstile } = world
  const frozen = world.workers.map((worker) => worker.actor).filter((actor) => actor.is_frozen)
  const draw = random.below(100)
  if (frozen.length > 0 && draw < (is_idle ? 30 : 4)) return turnstile.thaw(random.pick(frozen))
  if (is_idle && frozen.length === 0 && (await breakDeadlock(world))) return
  if (draw < 73) return is_idle ? turnToNext(world) : workOn(world)
  if (draw < 87) return arrive(world)
  if (draw < 98) return steer(world)
  return setClock(world)
}

/** Nothing is under way: on to when something will be, and everybody looks. */
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
  if (by_ms < 0) world.has_jumped_back = true
  clock.set(new Date(clock.now().getTime() + by_ms))
  tally.add(by_ms < 0 ? 'clocks set back' : 'clocks set ahead')
  world.note('----', `the clock is set by ${by_ms / MINUTE_MS} minutes`)
}

/** All goes well from here on: what is under way ends, everybody is set going again, and a last interval passes. */
async function settle(world: World): Promise<void> {
  const { clock, faults, turnstile } = world
  world.note('----', 'the storm is over')
  faults.end()
  for (const { actor } of world.workers) await turnstile.thaw(actor)
  await finishAll(world)
  for (const { id } of world.exports) await steer(world, 'unpause', id)
  await finishAll(world)
  // Later than any run that was made when the clock was ahead.
  clock.set(new Date(clock.highest().getTime() + 16 * MINUTE_MS))
  await workUntilIdle(world)
}

async function workUntilIdle(world: World): Promise<void> {
  let runs = -1
  for (let round = 0; round < MAX_ROUNDS && world.wrongs.length === 0; round++) {
    const worker = world.random.pick(world.workers)
    worker.tick()
    worker.beat()
    await finishAll(world)
    const before = runs
    const standing = await standingOf(world)
    runs = standing.runs
    if (!standing.is_live && runs === before) return
    const wait_ms = (standing.next?.getTime() ?? 0) - world.clock.now().getTime()
    // What could begin and does not waits for somebody's lease.
    world.clock.pass(wait_ms > 0 ? wait_ms : 5 * SECOND_MS)
  }
  const left = await world.look(sql`
    SELECT id, status, backfill_id, data_interval_end, run_after, lease_until, attempt, failures,
      (SELECT active FROM batch_export_slot WHERE project_id = ${world.project.id}) AS slots
    FROM batch_export_run
    WHERE project_id = ${world.project.id} AND (finished_at IS NULL OR lease_owner IS NOT NULL) ORDER BY id`)
  world.wrong(`it does not come to rest: ${JSON.stringify(left)}`)
}

type Standing = { runs: number; is_live: boolean; next: Date | null; due: Date | null }

/** How many runs there are, whether any work is left, and when the next is to be done: under way, or still to be made. */
function standingOf({ proof, project }: World): Promise<Standing> {
  return proof.db.only(sql`
    SELECT (SELECT count(*)::int FROM batch_export_run WHERE project_id = ${project.id}) AS runs,
      EXISTS (SELECT 1 FROM batch_export_backfill WHERE project_id = ${project.id} AND finished_at IS NULL)
        OR EXISTS (SELECT 1 FROM batch_export_run
          WHERE project_id = ${project.id} AND (finished_at IS NULL OR lease_owner IS NOT NULL)) AS is_live,
      (SELECT min(CASE WHEN lease_until IS NULL THEN run_after ELSE lease_until + interval '1 ms' END)
        FROM batch_export_run
        WHERE project_id = ${project.id} AND (finished_at IS NULL OR lease_owner IS NOT NULL)) AS next,
      (SELECT min(next_due_at) FROM batch_export
        WHERE project_id = ${project.id} AND deleted_at IS NULL AND NOT paused) AS due`)
}

async function finishAll(world: World): Promise<void> {
  const { turnstile } = world
  for (;;) {
    await turnstile.quiet()
    const calls = turnstile.eligible()
    if (process.env.DBG)
      world.note('DBG', calls.map((c) => c.actor.name + c.label.trim().slice(0, 20)).join(' | '))
    if (calls.length > 0) await letThrough(world, pickCall(world, calls))
    else if (!(await breakDeadlock(world))) return
  }
}

async function breakDeadlock({ turnstile, tally }: World): Promise<boolean> {
  const isBroken = await turnstile.breakDeadlock()
  if (isBroken) tally.add('deadlocks')
  return isBroken
}
